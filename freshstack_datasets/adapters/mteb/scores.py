"""The scores of a task: of what a model returned, by this package's evaluator, under MTEB's names."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from freshstack_datasets.evaluation import Measure, evaluate
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run

log = logging.getLogger(__name__)

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)

METRIC_VERSION = 1
"""Raised when a release computes another number from the same ranking and revision of the data; see ``stale``."""

MAIN_SCORE = "alpha_ndcg_at_10"

HEADLINE = (MAIN_SCORE, "coverage_at_20", "recall_at_50", "ndcg_at_10", "judged_at_10")
"""The scores that aggregates and benchmarks have a mean of."""

_FAMILIES = {
    "alpha_ndcg": "alpha_nDCG",
    "coverage": "Coverage",
    "judged": "Judged",
    "ndcg": "nDCG",
    "map": "AP",
    "recall": "Recall",
    "precision": "P",
    "mrr": "RR",
    "hit_rate": "Success",
}
"""MTEB's name of each family and ours. The last six replace MTEB's own, which leave out queries without result."""

Scores: TypeAlias = dict[str, Any]
"""What a result of MTEB holds for a subset: plain numbers and texts by name."""


def measures() -> Iterator[tuple[str, Measure]]:
    """Yield each score's name with its measure."""
    for name, family in _FAMILIES.items():
        for cutoff in CUTOFFS:
            yield f"{name}_at_{cutoff}", Measure.parse(f"{family}@{cutoff}")


def scores_of(results: Mapping[str, Mapping[str, float]], data: Dataset) -> Scores:
    """Score what a model returned; every mean runs over all queries of the dataset.

    Args:
        results: Query id to document id to score.
        data: The dataset.

    Returns:
        The scores by MTEB's names; ``accuracy``, which is MTEB's other name of ``recall_at_1``; the number of
        ``queries`` and of ``ties``; and what the scores are of: ``dataset``, ``fingerprint``, ``metric_version``.

    Raises:
        RunError: A score is not finite, an id is not allowed, or no query is one of the dataset.
    """
    named = dict(measures())
    result = evaluate(Run.from_dict(results), data, list(named.values()), intervals=False)
    for warning in result.warnings:
        log.warning("%s@%s: %s", data.name, data.snapshot, warning)
    values = {name: result.mean[measure] for name, measure in named.items()}
    return {
        **values,
        "accuracy": values["recall_at_1"],
        "queries": result.queries,
        "ties": result.ties,
        "dataset": f"{data.name}@{data.snapshot}",
        "fingerprint": data.fingerprint,
        "metric_version": METRIC_VERSION,
    }
