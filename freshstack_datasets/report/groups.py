"""Colour and shape of each group of systems: never colour alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from freshstack_datasets.report.points import Point
from freshstack_datasets.report.svg import element, number

COLOURS = 8
"""Groups with a colour of their own, Okabe's and Ito's; the rest is grey."""

_SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z",  # circle
    "M-4.5-4.5h9v9h-9Z",  # square
    "M0-6L5.5 4.5h-11Z",  # triangle
    "M0-6.5L6.5 0L0 6.5L-6.5 0Z",  # diamond
    "M0 6L5.5-4.5h-11Z",  # triangle, its tip down
    "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4Z",  # plus
    "M0-6L5.7-1.9L3.5 4.9h-7L-5.7-1.9Z",  # pentagon
    "M0-6.5L1.8-2.5L6.2-2L2.9 .9L3.8 5.3L0 3.1L-3.8 5.3L-2.9 .9L-6.2-2L-1.8-2.5Z",  # star
)
_REST = "M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z"
"""A cross, for who has no group and for groups beyond the colours."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a chart.

    Args:
        names: All groups in the order of their colours.
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, points: Iterable[Point], known: Sequence[str]) -> "Groups":
        """Return the known groups in their order, then those of the points by name."""
        others = sorted({point.group for point in points} - set(known))
        return cls(tuple(name for name in (*known, *others) if name))

    def colour(self, group: str) -> str:
        """Return the class that colours a group."""
        place = self._place(group)
        return "fs-rest" if place is None else f"fs-c{place}"

    def sign(self, group: str, *, hollow: bool = False) -> str:
        """Return the shape of a group, drawn around the origin."""
        return self.marked(0.0, 0.0, group, hollow=hollow)

    def marked(self, x: float, y: float, group: str, *, hollow: bool = False) -> str:
        """Return the shape of a group at a place; hollow for a system without an interval."""
        place = self._place(group)
        moved = f"translate({number(x)} {number(y)})" if x or y else ""
        shape = element("path", d=_REST if place is None else _SHAPES[place], class_=f"fs-mark {self.colour(group)}")
        hole = element("circle", r=2.0, class_="fs-hole") if hollow else ""
        return element("g", shape + hole, transform=moved)

    def legend(self, points: Sequence[Point]) -> list[tuple[str, str]]:
        """Return the signs of the groups that the points have, and what each stands for."""
        present = {point.group for point in points}
        shown = [(self.sign(name), name) for name in self.names if name in present]
        if "" in present:
            shown.append((self.sign(""), "kind not stated"))
        if any(point.low is None for point in points):
            shown.append((self.sign(self.names[0] if self.names else "", hollow=True), "open centre: no interval"))
        return shown

    def _place(self, group: str) -> int | None:
        place = self.names.index(group) if group in self.names else COLOURS
        return place if place < COLOURS else None
