"""What a topic's dataset says that its runs are compared with, made once for all runs of the topic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from freshstack_datasets.errors import FreshStackError, UnknownNameError
from freshstack_datasets.evaluation import Measure
from freshstack_datasets.evaluation.judgments import Judgments, judgments_of
from freshstack_datasets.loading import Dataset
from leaderboard.boards.definition import DefinedTopic, Definition
from leaderboard.boards.places import SUBMISSION, submission_folders
from leaderboard.boards.reported import read_reported
from leaderboard.scoring import read_scores
from leaderboard.submission.reading import read_submission

Datasets: TypeAlias = Callable[[str, str], Dataset]
"""What gives a dataset by its name and snapshot, such as ``load``."""

JUDGED = Measure.parse("Judged@10")


@dataclass(frozen=True, eq=False)
class TopicData:
    """A topic of a board, with its dataset.

    Args:
        topic: The topic.
        data: Its dataset.
        measures: The board's measures.
        oracles: The best value that a system that saw answers has, by measure; empty where there is none.
    """

    topic: DefinedTopic
    data: Dataset = field(repr=False)
    measures: tuple[Measure, ...]
    oracles: Mapping[str, float]

    @cached_property
    def judgments(self) -> Judgments:
        """The dataset's judgments as arrays."""
        return judgments_of(self.data)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each document of the corpus, by its id."""
        return {doc_id: place for place, doc_id in enumerate(self.data.corpus.ids)}

    @property
    def depth(self) -> int:
        """How many documents of a query the board's measures look at."""
        return max(measure.cutoff for measure in self.measures)

    def near_document(self, doc_id: str) -> str:
        """Return a hint for a document that there is not: those that may be meant."""
        try:
            self.data.corpus[doc_id]
        except UnknownNameError as error:
            return error.hint
        return ""

    def near_query(self, query_id: str) -> str:
        """Return the same for a query."""
        return UnknownNameError("query", query_id, self.judgments.query_ids).hint


def oracles_of(board: Path, definition: Definition) -> dict[str, dict[str, float]]:
    """Return, by topic and measure, the best value that a system has which searched with answers or nuggets.

    Submissions that cannot be read do not count here: they have findings of their own.

    Args:
        board: The board's folder.
        definition: What it says.
    """
    best: dict[str, dict[str, float]] = {}
    for scores in (*_reported(board, definition), *_submitted(board)):
        for topic, values in scores.items():
            known = best.setdefault(topic, {})
            for measure, value in values.items():
                known[measure] = max(value, known.get(measure, value))
    return best


def _reported(board: Path, definition: Definition) -> list[dict[str, dict[str, float]]]:
    try:
        entries = read_reported(board, definition)
    except FreshStackError:
        return []
    return [
        {topic: {name: one.value for name, one in scores.measures.items()} for topic, scores in entry.topics.items()}
        for entry in entries
        if entry.setting == "oracle"
    ]


def _submitted(board: Path) -> list[dict[str, dict[str, float]]]:
    found = []
    for folder in submission_folders(board):
        try:
            if read_submission(folder / SUBMISSION).system.setting == "oracle" and (scores := read_scores(folder)):
                found.append(
                    {
                        topic: {name: one.value for name, one in told.measures.items()}
                        for topic, told in scores.topics.items()
                    }
                )
        except FreshStackError:
            continue
    return found
