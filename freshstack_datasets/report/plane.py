"""What a scatter and a history share: values upwards, their intervals, lines of reference and labels beside the points."""

import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from freshstack_datasets.report.groups import Groups
from freshstack_datasets.report.labels import Box, Placer, spread
from freshstack_datasets.report.numbers import interval_text, score_text
from freshstack_datasets.report.points import WIDE, Line, Point
from freshstack_datasets.report.scales import Scale, linear
from freshstack_datasets.report.svg import FONT, LINE, element, flowed, label, line, number, rectangle, titled
from freshstack_datasets.report.text import plain, shortened, width_of

_HEIGHTS = {True: 420.0, False: 320.0}
_LINE_LABEL = 290.0
_POINT_LABEL = {True: 210.0, False: 130.0}
_LEFT = 46.0
_BELOW = 42.0
_SIGN = 13.0


@dataclass(frozen=True, slots=True)
class Plane:
    """Where everything of a chart goes.

    Args:
        width: The whole chart's width.
        height: Its height.
        area: Where points are.
        scale: From values to pixels.
        marks: Where the value axis is marked, and the texts there.
        legend: The legend's elements.
        key: The elements of the key below, which names lines by their letters.
    """

    width: float
    height: float
    area: Box
    scale: Scale
    marks: list[tuple[float, str]]
    legend: list[str]
    key: list[str]

    @property
    def wide(self) -> bool:
        """Whether there is room for names at the side."""
        return self.width >= WIDE


@dataclass(frozen=True, slots=True)
class Placed:
    """A point and its place across."""

    point: Point
    x: float

    def text(self, place: str) -> str:
        """Return what shows below the pointer."""
        parts = [f"{self.point.name}: {score_text(self.point.value)}"]
        if self.point.low is not None:
            parts.append(f"({interval_text(self.point.low, self.point.high)})")
        return ", ".join(filter(None, (" ".join(parts), place, self.point.note)))


def plane(points: Sequence[Point], lines: Sequence[Line], legend: Iterable[tuple[str, str]], width: int) -> Plane:
    """Return where everything goes in a chart of that width."""
    wide = width >= WIDE
    drawn, top = flowed(legend, width, 0.0)
    top += LINE + 16
    bottom = top + _HEIGHTS[wide]
    beside = _beside(lines) if wide else (22.0 if lines else 12.0)
    area = Box(_LEFT, top, width - beside, bottom)
    scale, marks = linear(_values(points, lines), bottom, top, 8 if wide else 6)
    key, end = flowed(_key(lines), width, bottom + _BELOW) if not wide else ([], bottom + _BELOW)
    return Plane(width, end, area, scale, marks, drawn, key)


def _beside(lines: Sequence[Line]) -> float:
    """Return the room that the names of lines take at the side."""
    longest = max((width_of(_named(reference), FONT) for reference in lines), default=0.0)
    return min(longest + 14, _LINE_LABEL) if lines else 12.0


def _named(reference: Line) -> str:
    return f"{score_text(reference.value)} {plain(reference.name)}"


def _values(points: Sequence[Point], lines: Sequence[Line]) -> Iterator[float]:
    for point in points:
        yield point.value
        if point.low is not None and point.high is not None:
            yield from (point.low, point.high)
    yield from (reference.value for reference in lines)


def letters(lines: Sequence[Line]) -> list[tuple[str, Line]]:
    """Return the lines by falling value with a letter each; beyond the alphabet, a number."""
    ordered = sorted(lines, key=lambda reference: (-reference.value, reference.name))
    names = (*string.ascii_uppercase, *map(str, range(1, len(ordered))))
    return list(zip(names, ordered, strict=False))


def _key(lines: Sequence[Line]) -> list[tuple[str, str]]:
    return key(letters(lines))


def key(lettered: Sequence[tuple[str, Line]]) -> list[tuple[str, str]]:
    """Return the entries of a key that says what the letters of lines stand for."""
    return [
        (label(0, 4, letter, "fs-strong", "middle"), f"{reference.name}, {score_text(reference.value)}")
        for letter, reference in lettered
    ]


def value_axis(box: Plane, y: str, hint: str) -> Iterator[str]:
    """Draw the value axis: its marks, lines across, and what the values are."""
    yield label(0, box.area.top - 14, f"{y}, {hint}", "fs-soft", room=box.width)
    for at, text in box.marks:
        yield line(box.area.left, at, box.area.right, at, "fs-grid")
        yield label(box.area.left - 6, at + FONT * 0.35, text, "fs-soft fs-number", "end")


def place_axis(box: Plane, marks: Iterable[tuple[float, str]], title: str) -> Iterator[str]:
    """Draw the marks of the axis across, and what it says; a mark without room for its text has none."""
    last = -1e9
    for at, text in marks:
        yield line(at, box.area.top, at, box.area.bottom, "fs-grid")
        half = width_of(text, FONT) / 2
        middle = min(at, box.width - half)
        if middle - half > last:
            yield label(middle, box.area.bottom + 16, text, "fs-soft fs-number", "middle")
            last = middle + half + 6
    yield label(box.area.left, box.area.bottom + 34, title, "fs-soft", room=box.width - box.area.left)


def references(box: Plane, lines: Sequence[Line]) -> Iterator[str]:
    """Draw the lines of reference, each with its name, or on a phone its letter, at the side."""
    lettered = letters(lines)
    yield from (_reference(box, reference) for _, reference in lettered)
    fitting = lettered[: int((box.area.bottom - box.area.top) / FONT)]
    at = [box.scale.at(reference.value) for _, reference in fitting]
    for (letter, reference), old, new in zip(
        fitting, at, spread(at, FONT + 2, box.area.top, box.area.bottom), strict=True
    ):
        right = box.area.right
        yield element("path", d=f"M{number(right)} {number(old)}L{number(right + 8)} {number(new)}", class_="fs-leader")
        if box.wide:
            yield label(right + 10, new + FONT * 0.35, _named(reference), room=box.width - right - 10)
        else:
            yield label(right + 10, new + FONT * 0.35, letter, "fs-strong")


def _reference(box: Plane, reference: Line) -> str:
    at = box.scale.at(reference.value)
    drawn = line(box.area.left, at, box.area.right, at, "fs-reference")
    return titled(f"{reference.name}: {score_text(reference.value)}", drawn)


def signs(box: Plane, placed: Sequence[Placed], groups: Groups, places: Sequence[str]) -> Iterator[str]:
    """Draw all intervals and, above them, all signs, the best last.

    Args:
        box: The chart.
        placed: The points.
        groups: Their groups.
        places: Where each point is across, as text.
    """
    for one, place in sorted(zip(placed, places, strict=True), key=lambda pair: pair[0].point.value):
        sign = groups.marked(one.x, box.scale.at(one.point.value), one.point.group, hollow=one.point.low is None)
        yield titled(one.text(place), *_whisker(box, one, groups), sign, class_="fs-point")


def _whisker(box: Plane, placed: Placed, groups: Groups) -> Iterator[str]:
    if placed.point.low is not None and placed.point.high is not None:
        low, high = number(box.scale.at(placed.point.low)), number(box.scale.at(placed.point.high))
        left, middle, right = (number(placed.x + shift) for shift in (-3, 0, 3))
        path = f"M{left} {high}H{right}M{middle} {high}V{low}M{left} {low}H{right}"
        yield element("path", d=path, class_=f"fs-whisker {groups.colour(placed.point.group)}")


def names(box: Plane, placed: Sequence[Placed], lines: Sequence[Line], best: Sequence[Placed]) -> Iterator[str]:
    """Draw the names of as many points as there is room for, those that matter most first.

    Args:
        box: The chart.
        placed: The points.
        lines: Lines that no name may lie on.
        best: The points that ``steps`` joins; they matter most, then come the others by falling value.
    """
    placer = Placer(box.area, [*_taken(box, placed, lines), *_under(box, best)])
    front = {one.point for one in best}
    for one in sorted(placed, key=lambda one: (one.point not in front, -one.point.value, one.point.name)):
        text = shortened(one.point.name, _POINT_LABEL[box.wide], FONT)
        ends = _reach(box, one.point)
        spot = placer.place(one.x, box.scale.at(one.point.value), width_of(text, FONT) + 2, ends)
        if spot is not None:
            yield label(spot.x, spot.y, text, "fs-halo", spot.anchor)


def _taken(box: Plane, placed: Sequence[Placed], lines: Sequence[Line]) -> Iterator[Box]:
    for one in placed:
        y = box.scale.at(one.point.value)
        yield Box(one.x - 9, y - 6, one.x + 9, y + 6)  # a name so near would be taken for that of this point
        if one.point.low is not None and one.point.high is not None:
            yield Box(one.x - 3, box.scale.at(one.point.high), one.x + 3, box.scale.at(one.point.low))
    for reference in lines:
        at = box.scale.at(reference.value)
        yield Box(box.area.left, at - 1, box.area.right, at + 1)


def beside(box: Plane, placed: Sequence[Placed], crowded: Sequence[bool], room: float) -> list[Placed]:
    """Move points of the same place apart, the best ones least, so that signs and intervals can be told apart.

    Args:
        box: The chart.
        placed: The points.
        crowded: Which of them may be moved.
        room: How far they may be moved to each side; with no room left, they stay.
    """
    shifts = [0.0]
    shifts += [side * _SIGN * step for step in range(1, int(room // _SIGN) + 1) for side in (1, -1)]
    taken: dict[float, list[tuple[float, float, float]]] = {}
    moved = dict(enumerate(placed))
    for index in sorted(moved, key=lambda index: -placed[index].point.value):
        if crowded[index]:
            one = placed[index]
            top, bottom = _reach(box, one.point)
            others = taken.setdefault(one.x, [])
            near = {shift for shift, above, below in others if top < below and bottom > above}
            shift = next((shift for shift in shifts if shift not in near), 0.0)
            others.append((shift, top, bottom))
            moved[index] = Placed(one.point, one.x + shift)
    return [moved[index] for index in range(len(placed))]


def _reach(box: Plane, point: Point) -> tuple[float, float]:
    """Return the upper and the lower end of what is drawn of a point."""
    ends = [box.scale.at(value) for value in (point.value, point.low, point.high) if value is not None]
    return min(*ends, ends[0] - _SIGN / 2), max(*ends, ends[0] + _SIGN / 2)


def joined(placed: Sequence[Placed], best: Iterable[Point]) -> list[Placed]:
    """Return the best points with their places, from left to right."""
    wanted = set(best)
    return sorted((one for one in placed if one.point in wanted), key=lambda one: (one.x, one.point.value))


def steps(box: Plane, best: Sequence[Placed], end: float) -> Iterator[str]:
    """Draw the steps from one best point to the next, and on to the end.

    Args:
        box: The chart.
        best: The points, from left to right and upwards.
        end: How far the last step goes.
    """
    if best:
        start = f"M{number(best[0].x)} {number(box.scale.at(best[0].point.value))}"
        path = "".join(f"H{number(one.x)}V{number(box.scale.at(one.point.value))}" for one in best[1:])
        yield element("path", d=f"{start}{path}H{number(end)}", class_="fs-front")


def _under(box: Plane, best: Sequence[Placed]) -> Iterator[Box]:
    """Yield what the steps cover."""
    for one, after in pairwise(best):
        low, high = box.scale.at(one.point.value), box.scale.at(after.point.value)
        yield Box(one.x, low - 1, after.x, low + 1)
        yield Box(after.x - 1, high, after.x + 1, low)
    for one in best[-1:]:
        at = box.scale.at(one.point.value)
        yield Box(one.x, at - 1, box.area.right, at + 1)


def nothing(box: Plane) -> Iterator[str]:
    """Say that there is nothing to draw."""
    yield rectangle(
        box.area.left, box.area.top, box.area.right - box.area.left, box.area.bottom - box.area.top, "fs-band"
    )
    middle = (box.area.left + box.area.right) / 2
    yield label(middle, (box.area.top + box.area.bottom) / 2, "no system has a value here", "fs-soft", "middle")
