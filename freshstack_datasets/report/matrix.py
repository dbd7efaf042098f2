"""How alike several orders of the same systems are: a matrix of Kendall's tau."""

from collections.abc import Sequence

from freshstack_datasets.report.points import WIDE


def tau_matrix(
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    title: str,
    about: str,
    width: int = WIDE,
) -> str:
    """Return a square of coloured numbers between -1 and 1.

    Args:
        names: What is compared: measures, topics, snapshots.
        values: Tau of each two, None where it is not defined.
        title: The chart's title.
        about: What it shows, for who cannot see it.
        width: ``WIDE`` or ``NARROW``.
    """
    raise NotImplementedError


def matrix_table(caption: str, names: Sequence[str], values: Sequence[Sequence[float | None]]) -> str:
    """Return the same numbers as a table."""
    raise NotImplementedError
