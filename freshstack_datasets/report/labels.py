"""Where texts go in a chart, so that none lies on another one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from freshstack_datasets.report.svg import FONT

_HEIGHT = FONT


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a label goes: its base line, and the end of it that x belongs to."""

    x: float
    y: float
    anchor: str


@dataclass
class Placer:
    """Gives each label the first free place around its point.

    Args:
        area: Where labels may be.
        taken: What they must not cover.
    """

    area: Box
    taken: list[Box] = field(default_factory=list)
    _boxes: "np.ndarray[tuple[int, int], np.dtype[np.float64]]" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Turn the boxes into an array, which is searched at once."""
        rows = [(box.left, box.top, box.right, box.bottom) for box in self.taken]
        self._boxes = np.array(rows, dtype=np.float64).reshape(-1, 4)

    def place(self, x: float, y: float, width: float, ends: tuple[float, float]) -> Spot | None:
        """Return where the label of a point goes, and keep the place; None when all around it is taken.

        Args:
            x: The point.
            y: The point.
            width: How wide the label is.
            ends: The upper and the lower end of the point's interval; a label may also stand beyond them.
        """
        for spot, box in _around(x, y, width, ends):
            if self._is_free(box):
                self._boxes = np.vstack([self._boxes, [[box.left, box.top, box.right, box.bottom]]])
                return spot
        return None

    def _is_free(self, box: Box) -> bool:
        area, taken = self.area, self._boxes
        if box.left < area.left or box.right > area.right or box.top < area.top or box.bottom > area.bottom:
            return False
        beside = (taken[:, 0] >= box.right) | (taken[:, 2] <= box.left)
        apart = beside | (taken[:, 1] >= box.bottom) | (taken[:, 3] <= box.top)
        return bool(apart.all())


def _around(x: float, y: float, width: float, ends: tuple[float, float]) -> Iterable[tuple[Spot, Box]]:
    """Right, left, above and below the sign, beyond the ends of its interval, then the corners."""
    top, bottom = ends
    over, under = y - 7 - _HEIGHT / 2, y + 7 + _HEIGHT / 2
    yield _spot(x + 9, y, width, "")
    yield _spot(x - 9, y, width, "end")
    for middle in (over, under, top - 3 - _HEIGHT / 2, bottom + 3 + _HEIGHT / 2):
        yield _spot(x, middle, width, "middle")
    for middle in (over, under):
        yield _spot(x + 5, middle, width, "")
        yield _spot(x - 5, middle, width, "end")


def _spot(x: float, middle: float, width: float, anchor: str) -> tuple[Spot, Box]:
    left = x - {"": 0.0, "middle": width / 2, "end": width}[anchor]
    box = Box(left, middle - _HEIGHT / 2, left + width, middle + _HEIGHT / 2)
    return Spot(x, middle + FONT * 0.35, anchor), box


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move places along a line apart, each as little as need be.

    Args:
        places: Where they are, in rising order.
        gap: How far apart they have to be; less where there is no room for it.
        low: Where the first may be.
        high: Where the last may be.
    """
    if len(places) > 1:
        gap = min(gap, (high - low) / (len(places) - 1))
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + gap if moved else low))
    for index in range(len(moved) - 1, -1, -1):
        moved[index] = min(moved[index], moved[index + 1] - gap if index + 1 < len(moved) else high)
    return moved
