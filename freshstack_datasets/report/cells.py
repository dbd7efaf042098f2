"""Maps of coloured numbers: what a heat map and a matrix of tau share."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from freshstack_datasets.report.numbers import MISSING, checked
from freshstack_datasets.report.points import WIDE
from freshstack_datasets.report.svg import FONT, LINE, element, label, number, rectangle, titled
from freshstack_datasets.report.text import escaped, plain, shortened, width_of

ROW = 22.0
_LEAST = 40.0
_MOST = 96.0
_TURNED = math.sqrt(0.5)
_HEAD = 110.0
_NAMES_WIDE = 280.0
_NAMES_NARROW = 120.0


@dataclass(frozen=True, slots=True)
class Shades:
    """Classes of colours from one value to another.

    Args:
        prefix: What the classes begin with; their numbers follow.
        count: How many there are.
        low: Where the first one begins.
        high: Where the last one ends.
        dark: The classes that are dark, on which letters are white.
    """

    prefix: str
    count: int
    low: float
    high: float
    dark: frozenset[int]

    def place(self, value: float) -> int:
        """Return the number of the class that a value has."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return min(max(int(share * self.count), 0), self.count - 1)

    def text_class(self, place: int) -> str:
        """Return the class of letters on a colour."""
        return "fs-on-dark" if place in self.dark else "fs-on-light"


@dataclass(frozen=True, slots=True)
class Map:
    """Where the cells of a map go.

    Args:
        left: Where the cells begin.
        cell: The width of a cell.
        head: The height of the columns' headings.
        lean: How far the last of them, when they are turned for want of room, leans out; else 0.
        top: Where all begins.
        pitch: The height of a row; on a phone its name may stand above it.
    """

    left: float
    cell: float
    head: float
    lean: float
    top: float
    pitch: float

    @classmethod
    def of(cls, rows: Sequence[str], columns: Sequence[str], top: float, width: int) -> "Map":
        """Return where the cells go in a chart of that width; it is wider than asked when its cells need it."""
        longest = max((width_of(plain(name), FONT) for name in rows), default=0.0) + 12
        stacked = width < WIDE and longest > _NAMES_NARROW
        left = 0.0 if stacked else min(longest, _NAMES_WIDE)
        needed = [min(width_of(plain(name), FONT) + 8, _HEAD) for name in columns] or [0.0]
        cell = min((width - left) / len(needed), _MOST)
        pitch = ROW + (LINE if stacked else 0.0)
        if max(needed) <= cell:
            return cls(left, max(cell, _LEAST), 20.0, 0.0, top, pitch)
        lean = needed[-1] * _TURNED
        cell = max(_LEAST, min((width - left - lean) / (len(needed) - 0.5), _MOST))
        return cls(left, cell, max(needed) * _TURNED + 14, lean, top, pitch)

    @property
    def stacked(self) -> bool:
        """Whether the names of rows stand above them."""
        return self.pitch > ROW

    def width(self, columns: int) -> float:
        """Return the width of all."""
        return self.left + self.cell * columns + max(0.0, self.lean - self.cell / 2)

    def row(self, row: int) -> float:
        """Return where the cells of a row begin."""
        return self.top + self.head + self.pitch * row + (self.pitch - ROW)

    def bottom(self, rows: int) -> float:
        """Return where the last row ends."""
        return self.top + self.head + self.pitch * rows


def headings(place: Map, columns: Sequence[str]) -> Iterator[str]:
    """Draw the headings of the columns."""
    base = place.top + place.head - 6
    for count, name in enumerate(columns):
        middle = place.left + place.cell * (count + 0.5)
        if not place.lean:
            yield label(middle, base, name, "fs-soft", "middle")
            continue
        turned = f"rotate(-45 {number(middle)} {number(base)})"
        text = element("title", escaped(name)) + escaped(shortened(name, _HEAD, FONT))
        yield element("text", text, x=middle, y=base, class_="fs-soft", transform=turned)


def cells(
    place: Map,
    names: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    shades: Shades,
    written: Callable[[float | None], str],
    best: Sequence[float | None] = (),
) -> Iterator[str]:
    """Draw the rows: their names, and a coloured number for each column; bold where it is the column's best."""
    for row, name in enumerate(names):
        top = place.row(row)
        if place.stacked:
            yield label(0, top - 4, name, room=place.width(len(columns)))
        else:
            yield label(0, top + 15, name, room=place.left - 8)
        for column, value in enumerate(values[row]):
            left = place.left + place.cell * column
            strong = " fs-strong" if best and value is not None and value == best[column] else ""
            shown = f"{name}, {columns[column]}: {written(value)}"
            yield titled(shown, *_cell(place, left, top, value, shades, written(value), strong))


def _cell(
    place: Map, left: float, top: float, value: float | None, shades: Shades, text: str, strong: str
) -> Iterator[str]:
    middle = left + place.cell / 2
    if value is None:
        yield rectangle(left, top, place.cell - 1, ROW - 1, "fs-missing")
        yield label(middle, top + 15, MISSING, "fs-soft", "middle")
        return
    shade = shades.place(checked(value, "a cell"))
    yield rectangle(left, top, place.cell - 1, ROW - 1, f"{shades.prefix}{shade}")
    yield label(middle, top + 15, text, f"fs-number {shades.text_class(shade)}{strong}", "middle")


def shade_legend(shades: Shades, top: float, low: str, high: str) -> list[str]:
    """Draw all colours in a row between the values that they stand for."""
    left = width_of(low, FONT) + 6
    drawn = [label(0, top + 13, low, "fs-soft")]
    drawn += [rectangle(left + 18 * count, top + 3, 18, 12, f"{shades.prefix}{count}") for count in range(shades.count)]
    return [*drawn, label(left + 18 * shades.count + 6, top + 13, high, "fs-soft")]
