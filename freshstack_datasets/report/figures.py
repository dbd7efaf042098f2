"""A figure of a page: the chart for a desk and for a phone, what it shows, and the same numbers as a table."""

from collections.abc import Callable
from pathlib import Path

from freshstack_datasets.report.points import NARROW, WIDE
from freshstack_datasets.report.text import escaped


def figure(draw: Callable[[int], str], *, caption: str, twin: str) -> str:
    """Return a figure as HTML.

    Args:
        draw: Draws the chart at a width in pixels.
        caption: What it shows and what its bars mean; plain text.
        twin: The same numbers as a table, in HTML.
    """
    return (
        f'<figure class="fs-figure">\n<div class="fs-wide">{draw(WIDE)}</div>\n'
        f'<div class="fs-narrow">{draw(NARROW)}</div>\n<figcaption>{escaped(caption)}</figcaption>\n'
        f"<details><summary>The numbers as a table</summary>\n{twin}</details>\n</figure>\n"
    )


def stylesheet() -> str:
    """Return the CSS that charts, figures and tables of this package need; all its classes begin with ``fs-``."""
    return Path(__file__).with_name("style.css").read_text(encoding="utf-8")
