"""How alike several orders of the same systems are: a matrix of Kendall's tau."""

from collections.abc import Sequence

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.report.cells import Map, Shades, cells, headings, shade_legend
from freshstack_datasets.report.numbers import tau_text
from freshstack_datasets.report.points import WIDE
from freshstack_datasets.report.svg import LINE, label, picture
from freshstack_datasets.report.tables import Column, table

_SHADES = Shades("fs-d", 9, -1.0, 1.0, frozenset({0, 8}))


def tau_matrix(
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    title: str,
    about: str,
    width: int = WIDE,
) -> str:
    """Return a square of coloured numbers between -1 and 1.

    Args:
        names: What is compared: measures, topics, snapshots.
        values: Tau of each two, None where it is not defined.
        title: The chart's title.
        about: What it shows, for who cannot see it.
        width: ``WIDE`` or ``NARROW``.

    Raises:
        InputError: It is no square of numbers between -1 and 1.
    """
    _check(names, values)
    body = [label(0, 13, "Kendall's tau", "fs-soft", room=width)]
    body += shade_legend(_SHADES, LINE, "\N{MINUS SIGN}1: reversed", "1: same order")
    place = Map.of(names, names, 2 * LINE + 4, width)
    body += headings(place, names)
    body += cells(place, names, names, values, _SHADES, tau_text)
    return picture(max(width, place.width(len(names))), place.bottom(len(names)), title, about, body)


def matrix_table(caption: str, names: Sequence[str], values: Sequence[Sequence[float | None]]) -> str:
    """Return the same numbers as a table."""
    _check(names, values)
    heads = [Column("Kendall's tau"), *(Column(name, numeric=True) for name in names)]
    return table(caption, heads, [[name, *map(tau_text, row)] for name, row in zip(names, values, strict=True)])


def _check(names: Sequence[str], values: Sequence[Sequence[float | None]]) -> None:
    if len(values) != len(names) or any(len(row) != len(names) for row in values):
        raise InputError("a matrix of tau is no square", expected=f"{len(names)} rows of {len(names)} values")
    wrong = [value for row in values for value in row if value is not None and not -1 - 1e-9 <= value <= 1 + 1e-9]
    if wrong:
        raise InputError("a tau is out of range", expected="-1 to 1", got=shown(wrong[0]))
