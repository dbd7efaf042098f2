"""Condensed lists: rankings without the documents that nobody judged for their query.

A document without a judgment counts as not relevant in every measure, which is hard on systems that find what no other
one found. On condensed lists only documents are counted of which something is known (Sakai, SIGIR 2007).
"""

from collections.abc import Mapping

import numpy as np

from freshstack_datasets.evaluation.arrays import ranges
from freshstack_datasets.evaluation.judgments import Scorable, judgments_of
from freshstack_datasets.evaluation.top import BLOCK
from freshstack_datasets.ranking import Run, as_run


def condensed(run: Run | Mapping[str, Mapping[str, float]], dataset: Scorable) -> Run:
    """Return a run without the documents that were not judged for that very query.

    The order of the others stays. All queries stay as well, also those that are left without a document.

    Args:
        run: A run, or query id to document id to score.
        dataset: The dataset with the judgments.

    Raises:
        RunError: The run is none, or holds something that is not allowed.
        InputError: The dataset is none.
    """
    run, judgments = as_run(run), judgments_of(dataset)
    numbers = np.fromiter((judgments.numbers.get(q, -1) for q in run.query_ids), np.int64, len(run))
    lengths = np.diff(run.offsets)
    kept = np.zeros(len(run.codes), bool)
    known = np.flatnonzero(numbers >= 0)
    for part in (known[at : at + BLOCK] for at in range(0, len(known), BLOCK)):
        entries = ranges(run.offsets[part], lengths[part])
        query = np.repeat(numbers[part], lengths[part])
        kept[entries] = judgments.pairs_of(run.doc_ids, run.codes[entries].astype(np.int64), query) >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    offsets, codes, scores = before[run.offsets], run.codes[kept], run.scores[kept]
    for array in (offsets, codes, scores):
        array.flags.writeable = False
    return Run(run.query_ids, offsets, run.doc_ids, codes, scores, run.name)
