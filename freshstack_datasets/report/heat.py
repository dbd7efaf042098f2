"""Systems against topics as a map of coloured numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.report.cells import Map, Shades, cells, headings, shade_legend
from freshstack_datasets.report.numbers import checked, score_text
from freshstack_datasets.report.points import WIDE, check_comparable
from freshstack_datasets.report.svg import LINE, label, picture
from freshstack_datasets.report.tables import Column, table

_COLOURS = 10
_DARK = frozenset(range(4))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a heat map.

    Args:
        name: The system; foreign text.
        values: Its value in each column, None where it has none.
        fingerprint: The data that it was scored on; that of all rows is the same.
        is_reference: Whether it is there to compare with, so that it cannot be the best.
    """

    name: str
    values: tuple[float | None, ...]
    fingerprint: str
    is_reference: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers that have no colour."""
        for value in self.values:
            if value is not None:
                checked(value, f"a value of {shown(self.name)}")


def heat_map(rows: Sequence[Row], columns: Sequence[str], y: str, *, title: str, about: str, width: int = WIDE) -> str:
    """Return a map with a row for each system, in the order given, and a column for each topic.

    The best of each column is bold, apart from references.

    Args:
        rows: The systems.
        columns: The topics' titles.
        y: What the values are, such as ``alpha_nDCG@10``.
        title: The chart's title.
        about: What it shows, for who cannot see it.
        width: ``WIDE`` or ``NARROW``.

    Raises:
        NotComparableError: The rows were scored on different data.
        InputError: A row has another number of values.
    """
    check_comparable(row.fingerprint for row in rows)
    _check_lengths(rows, columns)
    names = [row.name for row in rows]
    found = [value for row in rows for value in row.values if value is not None]
    shades = Shades("fs-h", _COLOURS, min(found, default=0.0), max(found, default=1.0), _DARK)
    best = "best beside references" if any(row.is_reference for row in rows) else "best of a column"
    body = [label(0, 13, f"{y}; bold: the {best}", "fs-soft", room=width)]
    body += shade_legend(shades, LINE, score_text(shades.low), score_text(shades.high)) if found else []
    place = Map.of(names, columns, 2 * LINE + 4, width)
    body += headings(place, columns)
    body += cells(place, names, columns, [row.values for row in rows], shades, score_text, _best(rows, columns))
    if not rows:
        body.append(label(0, place.bottom(1) - 7, "no system has a value here", "fs-soft"))
    return picture(max(width, place.width(len(columns))), place.bottom(max(len(rows), 1)), title, about, body)


def heat_table(caption: str, rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Return the numbers of a heat map as a table."""
    heads = [Column("System"), *(Column(name, numeric=True) for name in columns)]
    return table(caption, heads, [[row.name, *map(score_text, row.values)] for row in rows])


def _best(rows: Sequence[Row], columns: Sequence[str]) -> list[float | None]:
    across = [[row.values[column] for row in rows if not row.is_reference] for column in range(len(columns))]
    return [max((value for value in values if value is not None), default=None) for values in across]


def _check_lengths(rows: Sequence[Row], columns: Sequence[str]) -> None:
    for row in rows:
        if len(row.values) != len(columns):
            what = f"the values of {shown(row.name)} do not fit the columns"
            raise InputError(what, expected=str(len(columns)), got=shown(len(row.values)))
