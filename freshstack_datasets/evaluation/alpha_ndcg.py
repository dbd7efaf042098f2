"""alpha-nDCG: a document counts for the nuggets it supports, less for those that were seen above it.

Clarke et al., Novelty and diversity in information retrieval evaluation, SIGIR 2008; FreshStack, arXiv 2504.13128,
section 4.2. With c(n, i) the documents above rank i that support nugget n,

    DCG@k = sum over ranks i <= k of sum over nuggets n of the document of (1 - alpha)^c(n, i) / log2(i + 1)

and alpha-nDCG@k = DCG@k / DCG@k of the ideal ranking. The best ranking is expensive to find (it is a cover problem),
so the ideal is the greedy one, as everywhere: at each rank the document with the largest gain, of equal ones that
with the larger id. A ranking can be better than the greedy one, and then scores above 1.
A query without a relevant document scores 0; nuggets that nothing supports have no part.
"""

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats, Ints, places, ranges, sums
from freshstack_datasets.evaluation.judgments import Judgments
from freshstack_datasets.evaluation.top import Top

SAME_GAIN = 12
"""Decimals to which gains are compared: sums of the same powers in another order differ behind them."""


def alpha_ndcg(top: Top, judgments: Judgments, k: int, alpha: float) -> Floats:
    """Return alpha-nDCG@k of every query, float64 of shape (queries,).

    Args:
        top: The judged documents at the top of each ranking, at least ``k`` ranks.
        judgments: The dataset's judgments.
        k: The cutoff.
        alpha: How much a nugget loses each time it is seen, from 0 (nothing) to 1 (everything).
    """
    ideal = judgments.once(("alpha_nDCG", k, alpha), lambda: greedy_ideal(judgments, k, alpha))
    query, rank, pair = top.until(k)
    gains = judgments.gains[pair]
    nuggets = judgments.nuggets[ranges(judgments.starts[pair], gains)]
    order = np.argsort(nuggets, kind="stable")  # by nugget, then by rank
    seen = np.empty_like(nuggets)
    seen[order] = places(nuggets[order])
    left: Floats = np.power(1.0 - alpha, seen)
    worth = sums(np.repeat(np.arange(len(pair)), gains), left, len(pair))
    dcg = sums(query, worth / np.log2(rank + 1.0), len(ideal))  # in the order of the ideal, so that 1 is 1
    return np.divide(dcg, ideal, out=np.zeros(len(ideal)), where=ideal > 0)


def greedy_ideal(judgments: Judgments, k: int, alpha: float) -> Floats:
    """Return the DCG@k of the greedy ideal ranking of every query, float64 of shape (queries,).

    Each round picks the next document of all queries at once and takes it out of the arrays, which shrink.
    """
    relevant = judgments.gains > 0
    query, gains, nuggets = judgments.pair_query[relevant], judgments.gains[relevant], judgments.nuggets
    weight = np.ones(len(judgments.nugget_query))
    total = np.zeros(len(judgments.query_ids))
    for rank in range(1, k + 1):
        if not len(query):
            break
        starts = np.cumsum(gains) - gains
        worth: Floats = np.add.reduceat(weight[nuggets], starts)
        picked = _first_of_largest(np.round(worth, SAME_GAIN), query)
        total[query[picked]] += worth[picked] / np.log2(rank + 1.0)
        weight[nuggets[ranges(starts[picked], gains[picked])]] *= 1.0 - alpha
        left = np.ones(len(query), bool)
        left[picked] = False
        query, gains, nuggets = query[left], gains[left], nuggets[np.repeat(left, gains)]
    return total


def _first_of_largest(worth: Floats, groups: Ints) -> Ints:
    """Return for each group, whose entries stand together, where its largest value comes first."""
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    largest = np.repeat(np.maximum.reduceat(worth, starts), np.diff(np.append(starts, len(groups))))
    candidates = np.flatnonzero(worth == largest)
    first: Ints = candidates[places(groups[candidates]) == 0]
    return first
