"""Quality against size or time: the further up and to the left, the better."""

from collections.abc import Iterable, Sequence

from freshstack_datasets.report.points import WIDE, Axis, Line, Point


def pareto(points: Iterable[Point]) -> list[Point]:
    """Return the points that no other one beats on both axes, by rising x.

    Args:
        points: Systems; those of an unknown x cannot be on the front.
    """
    raise NotImplementedError


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
    raise NotImplementedError
