"""How good each list was that the pools were made of, in the layout of the paper's second table."""

from collections.abc import Sequence
from typing import Any

from builders.pipeline.records import FUSION
from builders.pipeline.work import POOL, Work
from builders.pooling.contribution import Settings
from builders.pooling.stage import read_runs
from freshstack_datasets.evaluation import DEFAULT_MEASURES, Measure, evaluate
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run


def table2(work: Work, dataset: Dataset, measures: Sequence[Measure] = DEFAULT_MEASURES) -> list[dict[str, Any]]:
    """Return the scores of every list: technique by technique, the retrievers in their order, the fusion last.

    Where a pool is judged whole, nothing in a list's top that nobody judged counts; these are scores of what found the
    judged documents, and not of systems that were not there.

    Args:
        work: The folder of the build, with pool done.
        dataset: What was built of it; its questions are the ones that count.
        measures: What is measured.

    Returns:
        Rows of technique, retriever and measures, which is from a measure's name to its mean.

    Raises:
        InputError: The stage is not done, or its files cannot be read.
    """
    settings, folder = Settings.of(work), work.folder(POOL)
    files = {**settings.files, FUSION: FUSION}
    rows = []
    for technique in settings.techniques:
        for label, file in files.items():
            run = _of_questions(read_runs(folder, technique, file), dataset)
            means = evaluate(run, dataset, measures, intervals=False).mean if any(run.to_dict().values()) else {}
            told = {str(measure): float(means.get(str(measure), 0.0)) for measure in measures}
            rows.append({"technique": technique, "retriever": label, "measures": told})
    return rows


def _of_questions(run: Run, dataset: Dataset) -> Run:
    """Return what a run has for the questions of a dataset, which lacks those that were dropped."""
    kept = [query.query_id for query in dataset.queries if query.query_id in run]
    return Run.from_dict({query_id: run[query_id] for query_id in kept}, run.name)
