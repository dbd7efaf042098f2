"""Systems against topics as a map of coloured numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from freshstack_datasets.report.points import WIDE


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a heat map.

    Args:
        name: The system; foreign text.
        values: Its value in each column, None where it has none.
        fingerprint: The data that it was scored on; that of all rows is the same.
    """

    name: str
    values: tuple[float | None, ...]
    fingerprint: str


def heat_map(rows: Sequence[Row], columns: Sequence[str], y: str, *, title: str, about: str, width: int = WIDE) -> str:
    """Return a map with a row for each system, in the order given, and a column for each topic.

    Args:
        rows: The systems.
        columns: The topics' titles.
        y: What the values are, such as ``alpha_nDCG@10``.
        title: The chart's title.
        about: What it shows, for who cannot see it.
        width: ``WIDE`` or ``NARROW``.

    Raises:
        NotComparableError: The rows were scored on different data.
    """
    raise NotImplementedError


def heat_table(caption: str, rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Return the numbers of a heat map as a table."""
    raise NotImplementedError
