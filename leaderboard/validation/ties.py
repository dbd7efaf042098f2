"""What ties can change: the scores of a run under the best and the worst order of documents that have the same score."""

from collections.abc import Sequence

import numpy as np

from freshstack_datasets.evaluation import Measure, evaluate
from freshstack_datasets.evaluation.judgments import Judgments
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run


def range_of(
    run: Run, data: Dataset, judgments: Judgments, measures: Sequence[Measure]
) -> dict[str, tuple[float, float]]:
    """Return the lowest and the highest mean of each measure, by its printed form.

    Tied documents are put in the order of how many nuggets they support, the fewest first and then the most first. Of
    measures that look at single documents these are the extremes; alpha-nDCG and Coverage may go a little further.

    Args:
        run: The run, which shares a query with the dataset.
        data: The dataset.
        judgments: Its judgments.
        measures: The measures.
    """
    numbers = np.array([judgments.numbers.get(query_id, -1) for query_id in run.query_ids], np.int64)
    queries = np.repeat(np.arange(len(run)), np.diff(run.offsets))
    known = np.flatnonzero(numbers[queries] >= 0)
    pairs = judgments.pairs_of(run.doc_ids, run.codes[known].astype(np.int64), numbers[queries[known]])
    gains = np.zeros(len(run.codes), np.int64)
    gains[known[pairs >= 0]] = judgments.gains[pairs[pairs >= 0]]
    means = []
    for sign in (1, -1, 0):
        order = np.lexsort((sign * gains, -run.scores, queries))
        falling = -np.arange(len(order), dtype=np.float64)
        ordered = Run.from_codes(run.query_ids, run.offsets, run.doc_ids, run.codes[order], falling, run.name)
        means.append(evaluate(ordered, data, measures, intervals=False).mean)
    return {str(measure): _ends([mean[str(measure)] for mean in means]) for measure in measures}


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)
