"""What a system found for one query: which document, at which rank, supports which nugget."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from freshstack_datasets.report.points import WIDE


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document of a ranking.

    Args:
        doc_id: The document; foreign text.
        judged: Whether it was judged for this very query.
        supports: The nuggets that it supports, counted from 0 in the query's order.
    """

    doc_id: str
    judged: bool
    supports: frozenset[int] = field(default_factory=frozenset)

    @property
    def status(self) -> str:
        """``relevant``, ``not relevant`` or ``not judged``."""
        if self.supports:
            return "relevant"
        return "not relevant" if self.judged else "not judged"


def nugget_grid(nuggets: Sequence[str], ranked: Sequence[Ranked], *, title: str, about: str, width: int = WIDE) -> str:
    """Return a grid with a row for each nugget and a column for each rank; the first document of each nugget stands out.

    Args:
        nuggets: The query's nuggets; foreign text.
        ranked: The system's documents from the first rank on, as many as shall be shown (20 fit a phone).
        title: The chart's title.
        about: What it shows, for who cannot see it.
        width: ``WIDE`` or ``NARROW``.
    """
    raise NotImplementedError


def grid_table(caption: str, nuggets: Sequence[str], ranked: Sequence[Ranked]) -> str:
    """Return the same as a table: each rank with its document, its status and the numbers of its nuggets."""
    raise NotImplementedError
