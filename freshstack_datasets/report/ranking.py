"""Systems by falling value, a row each, with their intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from freshstack_datasets.report.groups import Groups
from freshstack_datasets.report.numbers import interval_text, score_text
from freshstack_datasets.report.plane import key, letters
from freshstack_datasets.report.points import WIDE, Line, Point, by_value, check_comparable
from freshstack_datasets.report.scales import Scale, linear
from freshstack_datasets.report.svg import FONT, LINE, element, flowed, label, line, number, picture, rectangle, titled
from freshstack_datasets.report.text import width_of

_NAMES = 270.0
_VALUE = 42.0


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where the rows are: on a desk the name stands before its interval, on a phone above it."""

    wide: bool
    left: float
    right: float
    top: float
    pitch: float
    count: int
    width: float

    @property
    def bottom(self) -> float:
        return self.top + self.pitch * self.count

    def base(self, row: int) -> float:
        """Return the middle of a row's interval."""
        return self.top + self.pitch * row + (LINE / 2 + 2 if self.wide else LINE + 9)


def ranking(
    points: Sequence[Point],
    y: str,
    *,
    title: str,
    about: str,
    lines: Sequence[Line] = (),
    groups: Sequence[str] = (),
    width: int = WIDE,
) -> str:
    """Return a dot plot with a row for each system: its name, its interval, its value and its note.

    The arguments are those of ``scatter``.

    Raises:
        NotComparableError: The points were scored on different data.
    """
    check_comparable(point.fingerprint for point in points)
    coloured = Groups.of(points, groups)
    ordered = by_value(points)
    legend, top = flowed(coloured.legend(points), width, 0.0)
    rows = _rows(ordered, top + 2 * LINE + (LINE if lines else 4), width)
    values = [point.value for point in points] + [reference.value for reference in lines]
    values += [end for point in points for end in (point.low, point.high) if end is not None]
    scale, marks = linear(values, rows.left, rows.right, 6 if rows.wide else 4)
    body = [*legend, label(0, top + 13, f"{y}, better is to the right", "fs-soft", room=width)]
    body += _frame(rows, marks, lettered=bool(lines))
    body += _references(rows, scale, lines)
    for row, point in enumerate(ordered):
        body += _row(rows, row, point, scale, coloured)
    if not points:
        body.append(label(width / 2, rows.top + 13, "no system has a value here", "fs-soft", "middle"))
    below, bottom = flowed(key(letters(lines)), width, rows.bottom + 8)
    return picture(width, bottom, title, about, [*body, *below])


def _rows(points: Sequence[Point], top: float, width: int) -> _Rows:
    wide = width >= WIDE
    notes = max((width_of(point.note, FONT) + 12 for point in points if point.note), default=0.0)
    right = width - _VALUE - 8 - (min(notes, 220.0) if wide else 0.0)
    left = _NAMES + 10 if wide else 10.0
    return _Rows(wide, left, right, top, LINE + 4 if wide else 2 * LINE + 2, max(len(points), 1), width)


def _frame(rows: _Rows, marks: Sequence[tuple[float, str]], *, lettered: bool) -> Iterator[str]:
    for row in range(0, rows.count, 2):
        yield rectangle(0, rows.top + rows.pitch * row, rows.width, rows.pitch, "fs-band")
    for at, text in marks:
        yield line(at, rows.top, at, rows.bottom, "fs-grid")
        yield label(at, rows.top - (LINE + 4 if lettered else 5), text, "fs-soft fs-number", "middle")


def _references(rows: _Rows, scale: Scale, lines: Sequence[Line]) -> Iterator[str]:
    last = -1e9
    for letter, reference in reversed(letters(lines)):
        at = scale.at(reference.value)
        drawn = line(at, rows.top, at, rows.bottom, "fs-reference")
        place = max(at, last + 12)
        name = label(place, rows.top - 5, letter, "fs-strong", "middle")
        yield titled(f"{reference.name}: {score_text(reference.value)}", drawn, name)
        last = place


def _row(rows: _Rows, row: int, point: Point, scale: Scale, groups: Groups) -> Iterator[str]:
    base = rows.base(row)
    text = base + FONT * 0.35
    if rows.wide:
        yield label(4, text, point.name, room=_NAMES - 4)
    else:
        yield label(4, base - LINE + 5, point.name, room=rows.width - 8)
    mark = groups.marked(scale.at(point.value), base, point.group, hollow=point.low is None)
    shown = f"{point.name}: {score_text(point.value)}, {interval_text(point.low, point.high)} {point.note}".rstrip()
    yield titled(shown, *_interval(point, base, scale, groups), mark, class_="fs-point")
    yield label(rows.right + 8 + _VALUE - 2, text, score_text(point.value), "fs-number", "end")
    if rows.wide and point.note:
        yield label(
            rows.right + 8 + _VALUE + 10, text, point.note, "fs-soft", room=rows.width - rows.right - _VALUE - 18
        )


def _interval(point: Point, base: float, scale: Scale, groups: Groups) -> Iterator[str]:
    if point.low is not None and point.high is not None:
        low, high, middle = number(scale.at(point.low)), number(scale.at(point.high)), number(base)
        above, below = number(base - 3), number(base + 3)
        path = f"M{low} {above}V{below}M{low} {middle}H{high}M{high} {above}V{below}"
        yield element("path", d=path, class_=f"fs-whisker {groups.colour(point.group)}")
