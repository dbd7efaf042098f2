"""The scores of one run on one topic."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from freshstack_datasets.errors import NotComparableError
from freshstack_datasets.evaluation import Measure, Result, evaluate
from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.condensed import condensed
from freshstack_datasets.evaluation.statistics import bootstrap_intervals
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import read_run
from leaderboard.boards.definition import DefinedTopic
from leaderboard.boards.records import PerQuery
from leaderboard.scoring.cutoffs import cutoff_of, cutoff_scores
from leaderboard.scoring.files import digest_of
from leaderboard.scoring.pools import in_pool, pooled
from leaderboard.scoring.records import JUDGED, CutoffScores, Lengths, RunFile, Signed, TopicScores
from leaderboard.submission.model import Submission


@dataclass(frozen=True, slots=True)
class Rules:
    """How all topics of a board are scored.

    Args:
        measures: The board's measures.
        resamples: Resamples of the bootstrap.
        seed: Where its random numbers start.
    """

    measures: tuple[Measure, ...]
    resamples: int
    seed: int

    @property
    def computed(self) -> tuple[Measure, ...]:
        """The board's measures, and those of ``JUDGED`` that are not among them."""
        return tuple(dict.fromkeys((*self.measures, *map(Measure.parse, JUDGED))))


@dataclass(frozen=True, slots=True)
class ScoredTopic:
    """A topic's scores and the values that they are made of.

    Args:
        scores: What ``scores.json`` says.
        per_query: The values of the board's measures, then those of ``JUDGED``.

    """

    scores: TopicScores
    per_query: PerQuery


def score_topic(
    path: Path, topic: DefinedTopic, data: Dataset, submission: Submission, rules: Rules, run: Run | None = None
) -> ScoredTopic:
    """Score a run file.

    Args:
        path: The run file.
        topic: The topic as the board defines it.
        data: Its dataset.
        submission: What was submitted.
        rules: How it is scored.
        run: What is in the file, where it has been read.

    Raises:
        RunFileError: The file holds no run.
        RunError: The run shares no query with the dataset.
        NotComparableError: The dataset is not the one that the board is made for.
    """
    check_fingerprint(topic, data)
    file = RunFile(file=path.name, sha256=digest_of(path, "a run"), bytes=path.stat().st_size)
    run = read_run(path) if run is None else run
    result = evaluate(run, data, rules.computed, intervals=False)
    names = tuple(map(str, rules.measures))
    values = result.values[: len(names)]
    scores = TopicScores(
        dataset=result.dataset,
        snapshot=result.snapshot,
        fingerprint=result.fingerprint,
        queries=result.queries,
        run=file,
        ties=result.ties,
        warnings=result.warnings,
        lengths=_lengths(run, result.query_ids),
        measures=_signed(result, names, bootstrap_intervals(values, rules.resamples, rules.seed)),
        judged={name: result.mean[name] for name in JUDGED},
        condensed=dict(evaluate(condensed(run, data), data, rules.measures, intervals=False).mean),
        in_pool=in_pool(submission, pooled(data)),
        cutoff=_cutoff(submission, data, names, values, rules),
    )
    return ScoredTopic(scores, PerQuery(result.query_ids, tuple(map(str, rules.computed)), result.values))


def check_fingerprint(topic: DefinedTopic, data: Dataset) -> None:
    """Refuse a dataset that is not the one that a board is made for.

    Raises:
        NotComparableError: It is another one.
    """
    if topic.fingerprint not in (None, data.fingerprint):
        raise NotComparableError(
            f"the topic {topic.name}, {data.name}@{data.snapshot}",
            expected=f"the data {topic.fingerprint} of the board",
            got=data.fingerprint,
            hint="take the snapshot that the board is made for, or make a board of its own",
        )


def _lengths(run: Run, query_ids: Sequence[str]) -> Lengths:
    lengths = dict(zip(run.query_ids, np.diff(run.offsets).tolist(), strict=True))
    returned = np.array([lengths.get(query_id, 0) for query_id in query_ids])
    return Lengths(least=int(returned.min()), median=float(np.median(returned)), most=int(returned.max()))


def _signed(result: Result, names: Sequence[str], bounds: Floats) -> dict[str, Signed]:
    return {
        name: Signed(value=result.mean[name], low=low, high=high, signature=result.signature(name))
        for name, (low, high) in zip(names, bounds.tolist(), strict=True)
    }


def _cutoff(
    submission: Submission, data: Dataset, names: Sequence[str], values: Floats, rules: Rules
) -> CutoffScores | None:
    day = cutoff_of(submission.models)
    if day is None:
        return None
    (dates,) = data.queries.columns("date")
    return cutoff_scores(day, dates, names, values, rules.resamples, rules.seed)
