"""Measures of the ranks at which relevant documents stand.

A document is relevant when it supports at least one nugget of the query.

    RR@k = 1 / rank of the first relevant document, 0 when there is none within k
    AP@k = sum over relevant documents within k of (relevant documents until its rank / its rank) / all relevant ones

RR: Voorhees, The TREC-8 question answering track report, 1999. AP: Buckley and Voorhees, Evaluating evaluation
measure stability, SIGIR 2000; it divides by all relevant documents, as trec_eval's map_cut does, also when there are
more than k. A query without a relevant document scores 0.
"""

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats, Ints, places, sums
from freshstack_datasets.evaluation.judgments import Judgments
from freshstack_datasets.evaluation.top import Top


def reciprocal_rank(top: Top, judgments: Judgments, k: int) -> Floats:
    """Return RR@k of every query, float64 of shape (queries,)."""
    query, rank = _relevant(top, judgments, k)
    first = places(query) == 0
    return sums(query[first], 1.0 / rank[first], len(judgments.query_ids))


def average_precision(top: Top, judgments: Judgments, k: int) -> Floats:
    """Return AP@k of every query, float64 of shape (queries,)."""
    query, rank = _relevant(top, judgments, k)
    total = sums(query, (places(query) + 1) / rank, len(judgments.query_ids))
    return total / np.maximum(judgments.relevant_counts, 1)


def _relevant(top: Top, judgments: Judgments, k: int) -> tuple[Ints, Ints]:
    query, rank, pair = top.until(k)
    relevant = judgments.gains[pair] > 0
    return query[relevant], rank[relevant]
