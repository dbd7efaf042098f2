"""Coverage: the share of a query's nuggets that the top of a ranking supports.

FreshStack, arXiv 2504.13128, section 4.2 and appendix C:

    Coverage@k = nuggets supported by a document within the first k ranks / all nuggets of the query

A nugget that no document supports counts in the denominator: nobody can find it, and the score says so.
A query without nuggets scores 0. Never falls when k grows.
"""

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats, ranges
from freshstack_datasets.evaluation.judgments import Judgments
from freshstack_datasets.evaluation.top import Top


def coverage(top: Top, judgments: Judgments, k: int) -> Floats:
    """Return Coverage@k of every query, float64 of shape (queries,).

    Args:
        top: The judged documents at the top of each ranking, at least ``k`` ranks.
        judgments: The dataset's judgments.
        k: The cutoff.
    """
    _, _, pair = top.until(k)
    covered = np.zeros(len(judgments.nugget_query), bool)
    covered[judgments.nuggets[ranges(judgments.starts[pair], judgments.gains[pair])]] = True
    found = np.bincount(judgments.nugget_query[covered], minlength=len(judgments.query_ids))
    return found / np.maximum(judgments.nugget_counts, 1)
