"""From the run files of a submission to its scores."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from freshstack_datasets import __version__
from freshstack_datasets.errors import FreshStackError, HubError, InputError, shown, shown_path
from freshstack_datasets.evaluation.statistics import RESAMPLES, SEED
from freshstack_datasets.evaluation.strata import macro_means, stratified_intervals
from freshstack_datasets.loading import Dataset, load
from leaderboard.boards.definition import DefinedTopic, Definition
from leaderboard.boards.places import RUN_SUFFIXES, SUBMISSION, Place, place_of_submission, run_files
from leaderboard.scoring.files import digest_of, lines_of, write_files
from leaderboard.scoring.records import (
    JUDGED,
    Bounded,
    Evaluator,
    MacroScores,
    PerQueryFile,
    ScoresFile,
)
from leaderboard.scoring.topics import Rules, ScoredTopic, score_topic
from leaderboard.submission.reading import read_submission

Datasets: TypeAlias = Callable[[str, str], Dataset]
"""What gives a dataset by its name and snapshot, such as ``load``."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """Both files of a submission's scores."""

    scores: ScoresFile
    per_query: bytes


def score(
    folder: Path, definition: Definition, *, datasets: Datasets = load, resamples: int = RESAMPLES, seed: int = SEED
) -> ScoresFile:
    """Score a submission, and write nothing.

    The same runs on the same snapshot give the same scores, to the last bit.

    Args:
        folder: The submission's folder, ``…/<board>/<snapshot>/<submission>``.
        definition: The board.
        datasets: What gives a dataset by its name and snapshot.
        resamples: Resamples of the bootstrap.
        seed: Where its random numbers start.

    Raises:
        InputError: The submission or a run cannot be read, a topic has two runs or all have none, or a dataset is not
            at hand.
        NotComparableError: A dataset is not the one that the board is made for.
    """
    return _scored(folder, definition, datasets, Rules(definition.parsed_measures, resamples, seed), {}).scores


def write_scores(
    folder: Path,
    definition: Definition,
    *,
    datasets: Datasets = load,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    ready: Mapping[Path, ScoredTopic] = MappingProxyType({}),
) -> ScoresFile:
    """Score a submission, write ``scores.json`` and ``per_query.jsonl`` into its folder, and return the scores.

    Args:
        folder: The submission's folder.
        definition: The board.
        datasets: What gives a dataset by its name and snapshot.
        resamples: Resamples of the bootstrap.
        seed: Where its random numbers start.
        ready: Runs that were scored already by the same rules, by their files.

    Raises:
        InputError: As of ``score``, or the files cannot be written.
        NotComparableError: As of ``score``.
    """
    found = _scored(folder, definition, datasets, Rules(definition.parsed_measures, resamples, seed), ready)
    write_files(folder, found.scores, found.per_query)
    return found.scores


def _scored(
    folder: Path, definition: Definition, datasets: Datasets, rules: Rules, ready: Mapping[Path, ScoredTopic]
) -> _Scored:
    place = place_of_submission(folder)
    told = digest_of(folder / SUBMISSION, "a submission")
    submission = read_submission(folder / SUBMISSION)
    runs = runs_of(folder, definition)
    topics = {}
    for topic in definition.topics:
        path = runs.get(topic.name)
        if path is not None and path in ready:
            topics[topic.name] = ready[path]
        elif path is not None:
            topics[topic.name] = score_topic(path, topic, dataset_of(topic, place, datasets), submission, rules)
    per_query = b"".join(line for name, one in topics.items() for line in lines_of(name, one.per_query))
    missing = tuple(name for name in definition.topic_names if name not in topics)
    scores = ScoresFile(
        schema_version=1,
        board=place.board,
        snapshot=place.snapshot,
        submission=place.submission,
        submission_sha256=told,
        evaluator=Evaluator(name="freshstack-datasets", version=__version__),
        resamples=rules.resamples,
        seed=rules.seed,
        topics={name: one.scores for name, one in topics.items()},
        macro=None if missing else _macro(topics, rules),
        missing=missing,
        per_query=PerQueryFile(file="per_query.jsonl", sha256=hashlib.sha256(per_query).hexdigest()),
    )
    return _Scored(scores, per_query)


def runs_of(folder: Path, definition: Definition) -> dict[str, Path]:
    """Return the run file of each topic that has one.

    Args:
        folder: The folder with the files.
        definition: The board.

    Raises:
        InputError: A topic has several, or no topic has one.
    """
    runs = {}
    for name in definition.topic_names:
        files = run_files(folder, name)
        if len(files) > 1:
            got = " and ".join(path.name for path in files)
            raise InputError(f"{shown_path(folder)}: topic {name}", expected="one run file", got=got)
        if files:
            runs[name] = files[0]
    if not runs:
        wanted = f"a run file a topic, such as {definition.topic_names[0]}{RUN_SUFFIXES[0]}"
        raise InputError(f"the folder {shown_path(folder)}", expected=wanted, got="none")
    return runs


def dataset_of(topic: DefinedTopic, place: Place, datasets: Datasets) -> Dataset:
    """Return the dataset of a topic.

    Args:
        topic: The topic.
        place: The board, whose snapshot it is.
        datasets: What gives a dataset by its name and snapshot.

    Raises:
        InputError: It is not at hand.
    """
    try:
        return datasets(topic.dataset, place.snapshot)
    except FreshStackError as error:
        step = f"freshstack download {topic.dataset}@{place.snapshot}" if isinstance(error, HubError) else error.hint
        raise InputError(
            f"the topic {topic.name} of {place.board} cannot be scored",
            expected=f"the snapshot {shown(f'{topic.dataset}@{place.snapshot}')} at hand",
            got=": ".join(filter(None, (error.what, error.got))),
            hint=step,
        ) from error


def _macro(topics: Mapping[str, ScoredTopic], rules: Rules) -> MacroScores:
    """Return the means over all topics, each counting the same, and intervals by the stratified bootstrap."""
    names = tuple(map(str, rules.measures))
    strata = [one.per_query.values[: len(names)] for one in topics.values()]
    means, bounds = macro_means(strata), stratified_intervals(strata, rules.resamples, rules.seed)
    measures = {
        name: Bounded(value=value, low=low, high=high)
        for name, value, (low, high) in zip(names, means.tolist(), bounds.tolist(), strict=True)
    }
    every = [one.scores for one in topics.values()]
    return MacroScores(
        measures=measures,
        judged={name: float(np.mean([one.judged[name] for one in every])) for name in JUDGED},
        condensed={name: float(np.mean([one.condensed[name] for one in every])) for name in names},
    )
