"""From a run and a dataset to a result."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from freshstack_datasets.errors import RunError, shown
from freshstack_datasets.evaluation import rank, sets
from freshstack_datasets.evaluation.alpha_ndcg import alpha_ndcg
from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.coverage import coverage
from freshstack_datasets.evaluation.judgments import Judgments, Scorable, judgments_of
from freshstack_datasets.evaluation.measures import DEFAULT_MEASURES, Measure, parse_measures
from freshstack_datasets.evaluation.ndcg import ndcg
from freshstack_datasets.evaluation.result import Result
from freshstack_datasets.evaluation.statistics import RESAMPLES, SEED, bootstrap_intervals
from freshstack_datasets.evaluation.top import Top, top_of
from freshstack_datasets.ranking import Run, no_run

COMPUTE: Mapping[str, Callable[..., Floats]] = {
    "alpha_nDCG": alpha_ndcg,
    "Coverage": coverage,
    "Recall": sets.recall,
    "nDCG": ndcg,
    "RR": rank.reciprocal_rank,
    "Success": sets.success,
    "P": sets.precision,
    "AP": rank.average_precision,
    "Judged": sets.judged,
}
"""The function of each measure: of the top, the judgments, the cutoff, and the parameters by name."""


def evaluate(
    run: Run | Mapping[str, Mapping[str, float]],
    dataset: Scorable,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    intervals: bool = True,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    name: str | None = None,
) -> Result:
    """Score a run.

    Documents are ranked by falling score, those of the same score by falling id. A query of the dataset that the run
    lacks scores 0; one that the dataset lacks is left out, with a warning in the result.

    Args:
        run: A run, or query id to document id to score.
        dataset: The dataset with its judgments. They are prepared the first time it is given.
        measures: What to compute; ``DEFAULT_MEASURES`` when not given.
        intervals: Whether to compute a 95 % interval of each mean, which takes longer than all the rest.
        resamples: Resamples of the bootstrap.
        seed: Where its random numbers start.
        name: The system's name; that of the run when not given.

    Raises:
        RunError: The run is none, holds something that is not allowed, or shares no query with the dataset.
        InputError: The dataset is none.
        MeasureError: A measure cannot be parsed.
    """
    if not isinstance(run, Run | Mapping):
        raise no_run(run)
    chosen = DEFAULT_MEASURES if measures is None else parse_measures(measures)
    judgments = judgments_of(dataset)
    top = top_of(run, judgments, max(measure.cutoff for measure in chosen))
    if top.missing == len(judgments.query_ids):
        raise _nothing_shared(dataset, judgments, top)
    values = np.empty((len(chosen), len(judgments.query_ids)))
    for row, measure in zip(values, chosen, strict=True):
        row[:] = COMPUTE[measure.name](top, judgments, measure.cutoff, **dict(measure.parameters))
    values.flags.writeable = False
    return Result(
        dataset=dataset.name,
        snapshot=dataset.snapshot,
        fingerprint=dataset.fingerprint,
        system=name if name is not None else run.name if isinstance(run, Run) else "run",
        ties=top.ties,
        measures=chosen,
        warnings=_warnings(top, judgments),
        query_ids=judgments.query_ids,
        values=values,
        bounds=bootstrap_intervals(values, resamples, seed) if intervals else None,
        resamples=resamples,
        seed=seed,
    )


def _nothing_shared(dataset: Scorable, judgments: Judgments, top: Top) -> RunError:
    return RunError(
        f"the run shares no query with {_called(dataset)}",
        expected=f"query ids such as {shown(judgments.query_ids[0])}" if judgments.query_ids else "",
        got=", ".join(map(shown, top.extra)) or "no query",
        hint="was it made for another dataset?",
    )


def _called(dataset: Scorable) -> str:
    return "@".join(filter(None, (dataset.name, dataset.snapshot))) or "the dataset"


def _warnings(top: Top, judgments: Judgments) -> tuple[str, ...]:
    found = []
    if top.extras:
        some = ", ".join(map(shown, top.extra)) + (", …" if top.extras > len(top.extra) else "")
        found.append(f"left out, because the dataset does not have them: {top.extras} of the run's queries ({some})")
    if top.missing:
        found.append(
            f"scored 0, because the run does not have them: {top.missing} of {len(judgments.query_ids)} queries"
        )
    return tuple(found)
