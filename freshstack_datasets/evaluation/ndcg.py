"""nDCG: gains that are discounted by rank, against the best possible ranking.

Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002, with trec_eval's discount:

    DCG@k = sum over ranks i <= k of gain(i) / log2(i + 1)        nDCG@k = DCG@k / DCG@k of the ideal ranking

The gain of a document is the number of the query's nuggets it supports, or with ``gain=binary`` 1 when it supports
any. The ideal ranking has all judged documents by falling gain. A query without a relevant document scores 0.
"""

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats, places, sums
from freshstack_datasets.evaluation.judgments import Judgments
from freshstack_datasets.evaluation.top import Top


def ndcg(top: Top, judgments: Judgments, k: int, gain: str) -> Floats:
    """Return nDCG@k of every query, float64 of shape (queries,).

    Args:
        top: The judged documents at the top of each ranking, at least ``k`` ranks.
        judgments: The dataset's judgments.
        k: The cutoff.
        gain: "graded" or "binary".
    """
    ideal = judgments.once(("nDCG", k, gain), lambda: _ideal(judgments, k, gain))
    query, rank, pair = top.until(k)
    dcg = sums(query, _gains(judgments, gain)[pair] / np.log2(rank + 1.0), len(ideal))
    return np.divide(dcg, ideal, out=np.zeros(len(ideal)), where=ideal > 0)


def _ideal(judgments: Judgments, k: int, gain: str) -> Floats:
    gains = _gains(judgments, gain)
    order = np.lexsort((-gains, judgments.pair_query))
    query = judgments.pair_query[order]
    rank = places(query) + 1
    worth = np.where(rank <= k, gains[order] / np.log2(rank + 1.0), 0.0)
    return sums(query, worth, len(judgments.query_ids))


def _gains(judgments: Judgments, gain: str) -> Floats:
    return (np.minimum(judgments.gains, 1) if gain == "binary" else judgments.gains).astype(np.float64)
