"""Measures of the set of documents within the first k ranks, whatever their order there.

A document is relevant when it supports at least one nugget of the query. With R the relevant documents of the query
and T those within the first k ranks (van Rijsbergen, Information Retrieval, 1979, chapter 7):

    Recall@k = |T ∩ R| / |R|        P@k = |T ∩ R| / k        Success@k = 1 if T ∩ R is not empty, else 0
    Judged@k = share of T that was judged for this very query, relevant or not

A query without a relevant document scores 0 in the first three. P divides by k for a shorter ranking too, as
trec_eval does; Judged divides by the documents that were returned, and is 0 where none was.
"""

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats, Ints
from freshstack_datasets.evaluation.judgments import Judgments
from freshstack_datasets.evaluation.top import Top


def recall(top: Top, judgments: Judgments, k: int) -> Floats:
    """Return Recall@k of every query, float64 of shape (queries,)."""
    return _relevant(top, judgments, k) / np.maximum(judgments.relevant_counts, 1)


def precision(top: Top, judgments: Judgments, k: int) -> Floats:
    """Return P@k of every query, float64 of shape (queries,)."""
    return _relevant(top, judgments, k) / k


def success(top: Top, judgments: Judgments, k: int) -> Floats:
    """Return Success@k of every query, float64 of shape (queries,)."""
    return (_relevant(top, judgments, k) > 0).astype(np.float64)


def judged(top: Top, judgments: Judgments, k: int) -> Floats:
    """Return Judged@k of every query, float64 of shape (queries,)."""
    query, _, _ = top.until(k)
    found = np.bincount(query, minlength=len(judgments.query_ids))
    return found / np.clip(top.returned, 1, k)


def _relevant(top: Top, judgments: Judgments, k: int) -> Ints:
    query, _, pair = top.until(k)
    return np.bincount(query[judgments.gains[pair] > 0], minlength=len(judgments.query_ids))
