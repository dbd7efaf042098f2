"""Systems by falling value, a row each, with their intervals."""

from collections.abc import Sequence

from freshstack_datasets.report.points import WIDE, Line, Point


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
    raise NotImplementedError
