"""Small horizontal bars that start at 0: wins, ties and losses, shares of documents, or times with their tail."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.report.numbers import MISSING, checked
from freshstack_datasets.report.points import WIDE
from freshstack_datasets.report.svg import (
    FONT,
    LINE,
    element,
    flowed,
    label,
    line,
    number,
    picture,
    rectangle,
    titled,
)
from freshstack_datasets.report.tables import Column, table
from freshstack_datasets.report.text import plain, width_of

_COLOURS = ("fs-c0", "fs-rest", "fs-c1", "fs-c2", "fs-c3", "fs-c4", "fs-c5", "fs-c6", "fs-c7")
_HEIGHT = 16.0


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

    def __post_init__(self) -> None:
        """Refuse amounts that have no length."""
        if checked(self.amount, f"the amount of {shown(self.name)}") < 0:
            raise InputError(f"{shown(self.name)} has no length", expected="0 or more", got=shown(self.amount))


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar.

    Args:
        name: What it belongs to; foreign text.
        parts: Its parts from 0 on; the same names in the same order in every bar of a chart.
        whisker: What a line leads to from the end of the bar, such as the 95th percentile of what the bar has the
            median of; None where it is not known. All whiskers of a chart have the same name.
    """

    name: str
    parts: tuple[Part, ...]
    whisker: Part | None = None

    @property
    def length(self) -> float:
        """How far it reaches: all its parts together, or its whisker."""
        return max(self.end, self.whisker.amount if self.whisker else 0.0)

    @property
    def end(self) -> float:
        """All its parts together."""
        return sum(part.amount for part in self.parts)


def bars(rows: Sequence[Bar], *, title: str, about: str, width: int = WIDE) -> str:
    """Return horizontal bars, a row each, in the order given, all on one scale; their texts stand at the right.

    Args:
        rows: The bars.
        title: The chart's title.
        about: What it shows, for who cannot see it.
        width: ``WIDE`` or ``NARROW``.

    Raises:
        InputError: The bars have different parts or whiskers.
    """
    parts, whisker = _parts(rows), _whisker(rows)
    wide = width >= WIDE
    pitch = LINE + 4 if wide else 2 * LINE + 2
    signs = [(_sign(place), name) for place, name in enumerate(parts)]
    signs += [(_line(-7, 0, 7), whisker)] if whisker else []
    legend, top = flowed(signs, width, 0.0)
    written = [" / ".join(_texts(row, whisker)) for row in rows]
    right = width - max((width_of(plain(text), FONT) for text in written), default=0.0) - 8
    left = min(max((width_of(plain(row.name), FONT) for row in rows), default=0.0) + 10, 240.0) if wide else 0.0
    scale = (max(right, left + 40) - left) / (max((row.length for row in rows), default=0.0) or 1.0)
    body = list(legend)
    for count, row in enumerate(rows):
        base = top + 6 + pitch * count + (0 if wide else LINE - 2)
        body.append(label(0, base + 13 - (0 if wide else LINE), row.name, room=left - 8 if wide else width))
        body += _drawn(row, left, base, scale)
        body.append(label(width, base + 13, written[count], "fs-number", "end"))
    bottom = top + 10 + pitch * max(len(rows), 1)
    if not rows:
        body.append(label(0, top + 16, "nothing to show", "fs-soft"))
    else:
        body.append(line(left, top + 2, left, bottom - 4, "fs-edge"))
    return picture(width, bottom, title, about, body)


def bars_table(caption: str, rows: Sequence[Bar]) -> str:
    """Return the same amounts as a table."""
    whisker = _whisker(rows)
    heads = [Column("Name"), *(Column(name, numeric=True) for name in (*_parts(rows), *([whisker] if whisker else [])))]
    return table(caption, heads, [[row.name, *_texts(row, whisker)] for row in rows])


def _texts(row: Bar, whisker: str) -> list[str]:
    """Return what is written of a bar; of its whisker where any bar of the chart has one."""
    texts = [part.text for part in row.parts]
    return [*texts, row.whisker.text if row.whisker else MISSING] if whisker else texts


def _whisker(rows: Sequence[Bar]) -> str:
    """Return what the whiskers of a chart are called, "" where there is none."""
    found = sorted({row.whisker.name for row in rows if row.whisker})
    if len(found) > 1:
        raise InputError("the bars of a chart have different whiskers", expected=shown(found[0]), got=shown(found[1]))
    return found[0] if found else ""


def _parts(rows: Sequence[Bar]) -> tuple[str, ...]:
    found = [tuple(part.name for part in row.parts) for row in rows]
    for names in found:
        if names != found[0]:
            what = "the bars of a chart have different parts"
            raise InputError(what, expected=shown(found[0]), got=shown(names))
    return found[0] if found else ()


def _drawn(row: Bar, left: float, base: float, scale: float) -> Iterator[str]:
    for place, part in enumerate(row.parts):
        if part.amount:
            block = rectangle(left, base, part.amount * scale, _HEIGHT, f"fs-part {_colour(place)}")
            yield titled(f"{row.name}, {part.name}: {part.text}", block)
        left += part.amount * scale
    if row.whisker:
        there = left + (row.whisker.amount - row.end) * scale
        yield titled(f"{row.name}, {row.whisker.name}: {row.whisker.text}", _line(left, base + _HEIGHT / 2, there))


def _line(start: float, y: float, end: float) -> str:
    """Return a whisker: a line with a stroke across its end."""
    path = f"M{number(start)} {number(y)}H{number(end)}M{number(end)} {number(y - 4)}V{number(y + 4)}"
    return element("path", d=path, class_="fs-whisker fs-c7")


def _sign(place: int) -> str:
    return rectangle(-7, -6, 14, 12, f"fs-part {_colour(place)}")


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]
