"""Quality against size or time: the further up and to the left, the better."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from freshstack_datasets.report.groups import Groups
from freshstack_datasets.report.labels import Box
from freshstack_datasets.report.plane import (
    Placed,
    Plane,
    beside,
    joined,
    names,
    nothing,
    place_axis,
    plane,
    references,
    signs,
    steps,
    value_axis,
)
from freshstack_datasets.report.points import WIDE, Axis, Line, Point, by_value, check_comparable
from freshstack_datasets.report.scales import Scale, logarithmic
from freshstack_datasets.report.svg import FONT, element, label, line, picture
from freshstack_datasets.report.text import width_of

_STRIP = {True: 84.0, False: 52.0}
_GAP = 11.0
_HINT = {True: "better is up and to the left", False: "better: up, left"}


def pareto(points: Iterable[Point]) -> list[Point]:
    """Return the points that no other one beats, by rising x: none is at least as good on both axes and better on one.

    Args:
        points: Systems; those of an unknown x cannot be on the front.
    """
    front: list[Point] = []
    known = ((point.x, point) for point in by_value(points) if point.x is not None)
    for x, point in sorted(known, key=lambda pair: pair[0]):
        last = front[-1] if front else None
        if last is None or point.value > last.value or (point.value == last.value and x == last.x):
            front.append(point)
    return front


@dataclass(frozen=True, slots=True)
class _Across:
    """The axis across: strips at both sides where there are points for them, and a logarithmic scale between.

    Args:
        left: Where the scale's area begins.
        right: Where it ends.
        zero: The middle of the strip for 0, None without one.
        unknown: The middle of the strip for unknown places, None without one.
        scale: The scale, of decimal logarithms.
        marks: Round values on it.
    """

    left: float
    right: float
    zero: float | None
    unknown: float | None
    scale: Scale
    marks: list[float]


def scatter(
    points: Sequence[Point],
    x: Axis,
    y: str,
    *,
    title: str,
    about: str,
    lines: Sequence[Line] = (),
    groups: Sequence[str] = (),
    width: int = WIDE,
) -> str:
    """Return a scatter of values against a logarithmic axis, with intervals, the Pareto front and lines of reference.

    Systems at 0 and those of an unknown place stand in strips at the sides.

    Args:
        points: The systems; oracles belong to the lines.
        x: The other axis, where less is better: ``SIZE`` or ``LATENCY``.
        y: What the values are, such as ``alpha_nDCG@10``.
        title: The chart's title.
        about: What it shows, for who cannot see it.
        lines: Lines of reference.
        groups: All groups in a fixed order, so that each has the same colour in every chart; those of the points by
            name when not given.
        width: ``WIDE`` or ``NARROW``.

    Raises:
        NotComparableError: The points were scored on different data.
    """
    check_comparable(point.fingerprint for point in points)
    coloured = Groups.of(points, groups)
    front = pareto(points)
    legend = coloured.legend(points)
    if len(front) > 1:
        legend.append((line(-9, 0, 9, 0, "fs-front"), "Pareto front"))
    box = plane(points, lines, legend, width)
    across = _across(box, points)
    placed = _placed(box, across, points)
    body = [*box.legend, *value_axis(box, y, _HINT[box.wide]), *_strips(box, across, x)]
    body += place_axis(box, [(across.scale.at(_log(mark)), x.text(mark)) for mark in across.marks], x.title)
    body += references(box, lines)
    if points:
        best = joined(placed, front) if len(front) > 1 else []
        body += steps(box, best, across.right)
        body += signs(box, placed, coloured, [x.place(point.x) for point in points])
        body += names(box, placed, lines, best)
    else:
        body += nothing(box)
    return picture(box.width, box.height, title, about, [*body, *box.key])


def _across(box: Plane, points: Sequence[Point]) -> _Across:
    found = [point.x for point in points]
    strip = _STRIP[box.wide]
    left, right = box.area.left, box.area.right
    zero = left + strip / 2 if 0 in found else None
    unknown = right - strip / 2 if None in found else None
    left += strip + _GAP if zero is not None else 0.0
    right -= strip + _GAP if unknown is not None else 0.0
    scale, marks = logarithmic([x for x in found if x], left, right, 9 if box.wide else 4)
    return _Across(left, right, zero, unknown, scale, marks if any(found) else [])


def _log(value: float) -> float:
    return math.log10(value)


def _placed(box: Plane, across: _Across, points: Sequence[Point]) -> list[Placed]:
    """Place each point; those of a strip beside each other, where they would lie upon each other."""
    at = [across.scale.at(_log(point.x)) if point.x else _strip(across, point) for point in points]
    crowded = [not point.x for point in points]
    return beside(
        box, [Placed(point, x) for point, x in zip(points, at, strict=True)], crowded, _STRIP[box.wide] / 2 - 8
    )


def _strip(across: _Across, point: Point) -> float:
    return (across.unknown if point.x is None else across.zero) or 0.0


def _strips(box: Plane, across: _Across, x: Axis) -> Iterator[str]:
    half = _STRIP[box.wide] / 2
    for middle, name in ((across.zero, x.zero), (across.unknown, x.unknown)):
        if middle is not None:
            height = box.area.bottom - box.area.top
            yield element("rect", x=middle - half, y=box.area.top, width=2 * half, height=height, class_="fs-band")
            yield from _strip_name(middle, half, box.area, name)


def _strip_name(middle: float, half: float, area: Box, name: str) -> Iterator[str]:
    """Write the strip's name below it, a word a line where it is too long for one."""
    words = [name] if width_of(name, FONT) <= 2 * half + _GAP else name.split(" ")
    for count, word in enumerate(words):
        yield label(middle, area.bottom + 16 + 13 * count, word, "fs-soft", "middle", room=2 * half + _GAP)
