"""What charts are drawn from: systems with a value, and lines of reference. All of one figure share their data."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from freshstack_datasets.errors import InputError, NotComparableError, shown
from freshstack_datasets.report.numbers import MISSING, checked, interval_text, score_text, size_text, time_text
from freshstack_datasets.report.tables import Column, table

WIDE = 960
"""The width of a figure on a desk, in pixels."""

NARROW = 358
"""Its width on a phone of 390 pixels."""


@dataclass(frozen=True, slots=True)
class Point:
    """A system in a chart.

    Args:
        name: What it is called; foreign text.
        value: Its mean.
        fingerprint: The data that it was scored on; that of all points of a figure is the same.
        low: The low end of the mean's interval, None where it has none.
        high: The high end.
        group: The class that gives it colour and shape, such as its kind; "" where nobody said.
        x: Where it stands on the other axis: parameters, milliseconds; None where that is not known.
        day: Its day in a history.
        note: A few words beside it, such as its rank.
    """

    name: str
    value: float
    fingerprint: str
    low: float | None = None
    high: float | None = None
    group: str = ""
    x: float | None = None
    day: date | None = None
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse numbers that no axis holds."""
        what = f"the value of {shown(self.name)}"
        checked(self.value, what)
        if self.x is not None and checked(self.x, f"the place of {shown(self.name)}") < 0:
            raise InputError(
                f"the place of {shown(self.name)} cannot be drawn", expected="0 or more", got=shown(self.x)
            )
        if (self.low is None) != (self.high is None):
            raise InputError(f"{what} has half an interval", expected="both ends, or none")
        if self.low is not None and self.high is not None and checked(self.low, what) > checked(self.high, what):
            raise InputError(f"the interval of {shown(self.name)} is turned round", expected="its low end first")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of reference across a chart, such as an oracle.

    Args:
        name: What it is called; foreign text.
        value: The value that it stands for.
    """

    name: str
    value: float

    def __post_init__(self) -> None:
        """Refuse numbers that no axis holds."""
        checked(self.value, f"the value of {shown(self.name)}")


@dataclass(frozen=True, slots=True)
class Axis:
    """The logarithmic axis that quality is set against.

    Args:
        title: What it says.
        text: How its numbers are written.
        zero: What the strip for 0 is called.
        unknown: What the strip for unknown places is called.
    """

    title: str
    text: Callable[[float], str]
    zero: str
    unknown: str

    def place(self, x: float | None) -> str:
        """Return a place on it as text."""
        if x is None:
            return self.unknown
        return self.text(x) if x else self.zero


SIZE = Axis("Parameters of all models together", size_text, "none", "not known")
LATENCY = Axis("Median time of a query", time_text, "0 ms", "not measured")


def check_comparable(fingerprints: Iterable[str]) -> None:
    """Refuse systems that were scored on different data.

    Raises:
        NotComparableError: There are several fingerprints.
    """
    found = sorted(set(fingerprints))
    if len(found) > 1:
        raise NotComparableError(
            "systems scored on different data cannot be drawn in one figure",
            expected=f"fingerprint {shown(found[0])} for all",
            got=shown(found[1]),
            hint="draw a figure for each snapshot",
        )


def points_table(
    caption: str, points: Sequence[Point], value: str, x: Axis | None = None, lines: Sequence[Line] = ()
) -> str:
    """Return the numbers of a scatter, a ranking or a history as a table, by falling value.

    Args:
        caption: What it holds.
        points: The systems.
        value: What the values are, such as ``alpha_nDCG@10``.
        x: The other axis, where there is one.
        lines: The lines of reference; they come last.
    """
    dated, noted = any(point.day for point in points), any(point.note for point in points)
    columns = [Column("System"), Column("Kind"), Column(value, numeric=True), Column("95 % interval", numeric=True)]
    columns += [Column(x.title, numeric=True)] if x else []
    columns += [Column("Date")] if dated else []
    columns += [Column("Note")] if noted else []
    rows = [_cells(point, x, dated=dated, noted=noted) for point in by_value(points)]
    for line in sorted(lines, key=lambda line: (-line.value, line.name)):
        cells = [line.name, "line of reference", score_text(line.value)]
        rows.append(cells + [MISSING] * (len(columns) - len(cells)))
    return table(caption, columns, rows)


def by_value(points: Iterable[Point]) -> list[Point]:
    """Return the points by falling value, those of the same value by name."""
    return sorted(points, key=lambda point: (-point.value, point.name))


def _cells(point: Point, x: Axis | None, *, dated: bool, noted: bool) -> list[str]:
    cells = [point.name, point.group or "not stated", score_text(point.value), interval_text(point.low, point.high)]
    cells += [x.place(point.x)] if x else []
    cells += [point.day.isoformat() if point.day else MISSING] if dated else []
    return cells + ([point.note] if noted else [])
