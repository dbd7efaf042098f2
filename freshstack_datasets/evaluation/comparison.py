"""Comparing two runs on the same queries."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from freshstack_datasets.errors import NotComparableError
from freshstack_datasets.evaluation.evaluator import evaluate
from freshstack_datasets.evaluation.judgments import Scorable
from freshstack_datasets.evaluation.measures import Measure
from freshstack_datasets.evaluation.result import ByMeasure
from freshstack_datasets.evaluation.statistics import (
    RESAMPLES,
    SEED,
    bootstrap_intervals,
    detectable_difference,
    holm,
    sign_flip_p,
)
from freshstack_datasets.ranking import Run

SAME = 1e-9
"""Values of a query that differ by no more count as a tie."""


@dataclass(frozen=True)
class Difference:
    """How two systems differ in one measure; the sign is that of the first minus the second.

    Args:
        difference: The mean difference over all queries.
        low: The low end of its 95 % paired bootstrap interval.
        high: The high end.
        p: The two-sided p-value of the paired sign-flip permutation test.
        p_holm: The same, adjusted by Holm's method for all measures of the comparison.
        wins: Queries on which the first system is better.
        ties: Queries on which both are the same.
        losses: Queries on which the second system is better.
        detectable: The smallest difference that so many queries would show with a power of 80 %.
    """

    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int
    detectable: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two systems on one dataset.

    Args:
        dataset: The dataset's name.
        snapshot: Its snapshot.
        fingerprint: What that snapshot holds; only comparisons with the same one may be set side by side.
        systems: The names of the first and the second system.
        queries: How many queries both were scored on.
        measures: For each measure the difference, first minus second.
        warnings: What the reader should know, a line each.
        resamples: Resamples of the bootstrap, and sign flips of the permutation test.
        seed: Where their random numbers started.
    """

    dataset: str
    snapshot: str
    fingerprint: str
    systems: tuple[str, str]
    queries: int
    measures: ByMeasure[Difference]
    warnings: tuple[str, ...]
    resamples: int
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON can hold it."""
        return {"measures": {name: asdict(found) for name, found in self.measures.items()}}

    def __str__(self) -> str:
        width = max(map(len, self.measures))
        first, second = self.systems
        lines = [f"{first} minus {second} on {self.dataset}@{self.snapshot}, {self.queries} queries"]
        for name, found in self.measures.items():
            lines.append(
                f"  {name:<{width}}  {found.difference:+.4f}  [{found.low:+.4f}, {found.high:+.4f}]"
                f"  p {found.p:.4f}, Holm {found.p_holm:.4f}  {found.wins} won, {found.ties} tied, {found.losses} lost"
                f"  detectable (80 % power) {found.detectable:.4f}"
            )
        return "\n".join(lines + [f"  {warning}" for warning in self.warnings])


def compare(
    run_a: Run | Mapping[str, Mapping[str, float]],
    run_b: Run | Mapping[str, Mapping[str, float]],
    dataset: Scorable,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    names: tuple[str, str] | None = None,
) -> Comparison:
    """Compare two runs, query by query.

    Args:
        run_a: The first run, or query id to document id to score.
        run_b: The second one.
        dataset: The dataset that both were made for.
        measures: What to compute; ``DEFAULT_MEASURES`` when not given.
        resamples: Resamples of the bootstrap, and sign flips of the permutation test.
        seed: Where their random numbers start.
        names: What to call the two systems; by their runs' names when not given.

    Raises:
        NotComparableError: The dataset has fewer than two queries.
        RunError: A run is none, holds something that is not allowed, or shares no query with the dataset.
        InputError: The dataset is none.
        MeasureError: A measure cannot be parsed.
    """
    called = names or (None, None)
    measures = measures if measures is None or isinstance(measures, str | Measure) else tuple(measures)
    a, b = (
        evaluate(run, dataset, measures, intervals=False, name=name)
        for run, name in zip((run_a, run_b), called, strict=True)
    )
    if a.queries < 2:
        raise NotComparableError("a comparison", expected="at least two queries", got=str(a.queries))
    differences = a.values - b.values
    p = sign_flip_p(differences, resamples, seed)
    columns = (
        differences.mean(axis=1),
        *bootstrap_intervals(differences, resamples, seed).T,
        p,
        holm(p),
        (differences > SAME).sum(axis=1),
        (np.abs(differences) <= SAME).sum(axis=1),
        (differences < -SAME).sum(axis=1),
        detectable_difference(differences),
    )
    rows = [Difference(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    warnings = tuple(f"{result.system}: {warning}" for result in (a, b) for warning in result.warnings)
    return Comparison(
        dataset=a.dataset,
        snapshot=a.snapshot,
        fingerprint=a.fingerprint,
        systems=(a.system, b.system),
        queries=a.queries,
        measures=ByMeasure(a.measures, rows.__getitem__),
        warnings=warnings,
        resamples=resamples,
        seed=seed,
    )
