"""Validating and scoring together, so that each run is read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from freshstack_datasets.errors import FreshStackError
from freshstack_datasets.evaluation.statistics import RESAMPLES, SEED
from freshstack_datasets.loading import load
from leaderboard.boards.definition import read_definition
from leaderboard.scoring.scoring import Datasets
from leaderboard.scoring.topics import Rules, ScoredTopic, score_topic
from leaderboard.validation import CheckedRun, Finding, validate


@dataclass(frozen=True, slots=True)
class Validated:
    """What came of submissions that were validated.

    Args:
        errors: The first error of each submission that has any, by its folder.
        ready: The scores of runs, by their files, for ``write_scores``.
    """

    errors: dict[Path, Finding]
    ready: dict[Path, ScoredTopic]


def score_validated(
    folders: Sequence[Path], *, datasets: Datasets = load, resamples: int = RESAMPLES, seed: int = SEED
) -> Validated:
    """Validate submissions, and score each run while it is at hand.

    Args:
        folders: Their folders, each once.
        datasets: What gives a dataset by its name and snapshot.
        resamples: Resamples of the bootstrap.
        seed: Where its random numbers start.

    Raises:
        MissingExtraError: license-expression is not installed.
    """
    ready: dict[Path, ScoredTopic] = {}

    @cache
    def rules_of(board: Path) -> Rules:
        return Rules(read_definition(board).parsed_measures, resamples, seed)

    def take(found: CheckedRun) -> None:
        try:
            rules = rules_of(found.path.absolute().parent.parent)
            ready[found.path] = score_topic(found.path, found.topic, found.data, found.submission, rules, found.run)
        except FreshStackError:
            return  # whoever scores the submission is told again

    report = validate(folders, datasets=datasets, take=take)
    places = dict(zip(report.checked, folders, strict=True))
    errors: dict[Path, Finding] = {}
    for finding in report.findings:
        labels = [one for one in places if finding.file == one or finding.file.startswith(f"{one}/")]
        if finding.severity == "error" and labels:  # what is wrong with a board is told by whoever scores it
            errors.setdefault(places[max(labels, key=len)], finding)
    return Validated(errors, ready)
