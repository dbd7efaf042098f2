"""Values by date, with the best of each day and before."""

from collections.abc import Sequence
from datetime import date

from freshstack_datasets.report.groups import Groups
from freshstack_datasets.report.plane import (
    Placed,
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
from freshstack_datasets.report.points import WIDE, Line, Point, by_value, check_comparable
from freshstack_datasets.report.scales import days
from freshstack_datasets.report.svg import line, picture

_SWARM = 40.0
"""How far from their day points may stand, so that they do not lie upon each other."""


def running_best(points: Sequence[Point]) -> list[Point]:
    """Return the points that were better than all of an earlier day and of theirs, by rising day.

    Args:
        points: Systems; those without a day are left out.
    """
    best: list[Point] = []
    for _, point in sorted(_dated(points), key=lambda pair: pair[0]):
        if not best or point.value > best[-1].value:
            best.append(point)
    return best


def history(
    points: Sequence[Point],
    y: str,
    *,
    title: str,
    about: str,
    lines: Sequence[Line] = (),
    groups: Sequence[str] = (),
    width: int = WIDE,
) -> str:
    """Return a scatter of values by ``Point.day``, with a step line of the running best.

    Points without a day are left out. The arguments are those of ``scatter``.

    Raises:
        NotComparableError: The points were scored on different data.
    """
    check_comparable(point.fingerprint for point in points)
    dated = _dated(points)
    kept = [point for _, point in dated]
    coloured = Groups.of(kept, groups)
    best = running_best(kept)
    legend = coloured.legend(kept)
    if best:
        legend.append((line(-9, 0, 9, 0, "fs-front"), "best so far"))
    box = plane(kept, lines, legend, width)
    scale, marks = days([day for day, _ in dated], box.area.left, box.area.right, 10 if box.wide else 5)
    body = [*box.legend, *value_axis(box, y, "better is up"), *place_axis(box, marks if kept else [], "Date")]
    body += references(box, lines)
    if kept:
        days_of = [Placed(point, scale.at(day.toordinal())) for day, point in dated]
        placed = beside(box, days_of, [True] * len(days_of), _SWARM)
        first = joined(placed, best)
        body += steps(box, first, box.area.right)
        body += signs(box, placed, coloured, [day.isoformat() for day, _ in dated])
        body += names(box, placed, lines, first)
    else:
        body += nothing(box)
    return picture(box.width, box.height, title, about, [*body, *box.key])


def _dated(points: Sequence[Point]) -> list[tuple[date, Point]]:
    return [(point.day, point) for point in by_value(points) if point.day is not None]
