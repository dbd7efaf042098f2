"""What is odd about the order of a run file without being wrong, since a run is ranked by its scores."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.runs.survey import Columns


@dataclass(frozen=True, slots=True)
class Order:
    """How a file orders its entries.

    Args:
        apart: Entries that come back to a query after another one, int64 in rising order.
        rising: Entries with a higher score than the one of the same query right before them.
        misranked: Entries whose rank is not their place by score: another one than its place among the ranks of its
            query, or one that comes behind a lower score. Empty where there are no ranks.
        places: int64, as many as ``misranked``: the rank that each should have by the order of its query's ranks.
    """

    apart: NDArray[np.int64]
    rising: NDArray[np.int64]
    misranked: NDArray[np.int64]
    places: NDArray[np.int64]


def order_of(columns: Columns) -> Order:
    """Return what is odd about the order of a file.

    Ranks may start at 1 or at 0, the same for the whole file.
    """
    queries, scores = columns.queries, columns.scores
    same = queries[1:] == queries[:-1]
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(queries)), bool), ~same]))
    apart = starts[columns.first(queries)[queries[starts]] != starts]
    rising = np.flatnonzero(same & (scores[1:] > scores[:-1])) + 1
    misranked, places = _misranked(columns)
    return Order(apart, rising, misranked, places)


def _misranked(columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    nothing = np.zeros(0, np.int64)
    ranks = columns.ranks
    if ranks is None or not len(ranks):
        return nothing, nothing
    order = np.lexsort((ranks, columns.queries))
    queries, ranked, scores = columns.queries[order], ranks[order], columns.scores[order]
    counts = np.bincount(queries)
    counts = counts[counts > 0]
    starts = np.cumsum(counts) - counts
    base = 0 if (ranked[starts] == 0).all() else 1
    expected = np.arange(len(ranks)) - np.repeat(starts, counts) + base
    behind = np.zeros(len(ranks), bool)
    behind[1:] = (queries[1:] == queries[:-1]) & (scores[1:] > scores[:-1])
    wrong = np.flatnonzero((ranked != expected) | behind)
    at = np.argsort(order[wrong])
    return order[wrong][at], expected[wrong][at]
