"""Values by date, with the best of each day and before."""

from collections.abc import Sequence

from freshstack_datasets.report.points import WIDE, Line, Point


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
    """Return a scatter of values by ``Point.day``, with a step line of the running best; points without a day are left out.

    The arguments are those of ``scatter``.

    Raises:
        NotComparableError: The points were scored on different data.
    """
    raise NotImplementedError
