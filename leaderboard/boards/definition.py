"""What ``board.yaml`` says: the topics of a board, its measures, and what all others are held against."""

import re
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from freshstack_datasets.errors import InputError, MeasureError, shown, shown_path
from freshstack_datasets.evaluation import Measure
from freshstack_datasets.recipe import Model, Sha256, Short, as_tuple
from freshstack_datasets.typed_files.reading import bytes_of, content_of, validated
from freshstack_datasets.typed_files.refused import RefusedError
from leaderboard.boards.places import COMPUTED, DEFINITION, wrong_in_name
from leaderboard.boards.records import MACRO, Topic

_TOPIC = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_RESERVED = {MACRO, "board", "reported", "submission", *(name.partition(".")[0] for name in COMPUTED)}
"""Names that stand for something else: a scope, or a file that lies beside the runs."""


def _topic_name(text: str) -> str:
    if not _TOPIC.fullmatch(text) or len(text) > 60:
        raise RefusedError("a short name of small letters, digits and hyphens", shown(text))
    if text in _RESERVED:
        raise RefusedError("another name", shown(text), "it stands for something else")
    return text


def _measure_name(text: str) -> str:
    try:
        printed = str(Measure.parse(text))
    except MeasureError as error:
        raise RefusedError("a measure such as alpha_nDCG@10", shown(text), error.expected) from None
    if printed != text:
        raise RefusedError(f"{printed}, as it is printed", shown(text))
    return text


def _entry_name(text: str) -> str:
    if not text.startswith("reported-") and (wanted := wrong_in_name(text)) is not None:
        raise RefusedError(wanted, shown(text))
    return text


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise RefusedError("each once", f"{shown(name)} twice", place=(place,))
    return names


def _distinct_topics(topics: "tuple[DefinedTopic, ...]") -> "tuple[DefinedTopic, ...]":
    _distinct(tuple(topic.name for topic in topics))
    return topics


MeasureNames: TypeAlias = Annotated[
    tuple[Annotated[Short, AfterValidator(_measure_name)], ...],
    Field(min_length=1, max_length=20),
    BeforeValidator(as_tuple),
    AfterValidator(_distinct),
]


class DefinedTopic(Model):
    """One dataset of a board.

    Args:
        name: Its short name, that of its run files.
        title: What it is called for people.
        dataset: The dataset, as ``load`` takes it; its snapshot is the board's.
        fingerprint: What the snapshot holds; null until it is known.
    """

    name: Annotated[Short, AfterValidator(_topic_name)]
    title: Short
    dataset: Short
    fingerprint: Sha256 | None


class Definition(Model):
    """What a board measures.

    Args:
        title: What it is called for people.
        about: What it measures, in a paragraph of plain text.
        measures: The measures as they are printed, the one that it is sorted by first.
        baseline: The submission that all others are tested against; null where there is none yet.
        topics: Its datasets, in the order they are shown.
    """

    title: Short
    about: Short
    measures: MeasureNames
    baseline: Annotated[Short, AfterValidator(_entry_name)] | None
    topics: Annotated[
        tuple[DefinedTopic, ...],
        Field(min_length=1, max_length=100),
        BeforeValidator(as_tuple),
        AfterValidator(_distinct_topics),
    ]

    @property
    def parsed_measures(self) -> tuple[Measure, ...]:
        """The measures as values."""
        return tuple(Measure.parse(name) for name in self.measures)

    @property
    def topic_names(self) -> tuple[str, ...]:
        """The names of its topics, in order."""
        return tuple(topic.name for topic in self.topics)

    def topic(self, name: str) -> DefinedTopic:
        """Return one of its topics.

        Raises:
            KeyError: There is none of that name.
        """
        return {topic.name: topic for topic in self.topics}[name]

    def records(self) -> tuple[Topic, ...]:
        """Return its topics as a board has them."""
        return tuple(Topic(topic.name, topic.title, topic.dataset, topic.fingerprint) for topic in self.topics)


def read_definition(folder: Path) -> Definition:
    """Read ``board.yaml`` in the folder of a board.

    Raises:
        InputError: It cannot be read, or says something that is not allowed; the message has the line.
    """
    path = folder / DEFINITION
    if not path.is_file():
        raise InputError(
            f"{shown_path(folder)}", expected=f"the folder of a board, with {DEFINITION}", got="none there"
        )
    name = shown_path(path)[1:-1]
    return validated(Definition, content_of(bytes_of(path, "the definition of a board"), name), name)
