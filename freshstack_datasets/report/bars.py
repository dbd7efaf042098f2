"""Small horizontal bars that start at 0: wins, ties and losses, or shares of documents."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshstack_datasets.report.points import WIDE


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar.

    Args:
        name: What it counts, such as ``wins``.
        amount: How much, 0 or more.
        text: The amount as it is written.
    """

    name: str
    amount: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar.

    Args:
        name: What it belongs to; foreign text.
        parts: Its parts from 0 on; the same names in the same order in every bar of a chart.
    """

    name: str
    parts: tuple[Part, ...]


def bars(rows: Sequence[Bar], *, title: str, about: str, width: int = WIDE) -> str:
    """Return horizontal bars, a row each, in the order given, all on one scale.

    Args:
        rows: The bars.
        title: The chart's title.
        about: What it shows, for who cannot see it.
        width: ``WIDE`` or ``NARROW``.
    """
    raise NotImplementedError


def bars_table(caption: str, rows: Sequence[Bar]) -> str:
    """Return the same amounts as a table."""
    raise NotImplementedError
