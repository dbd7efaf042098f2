"""What a snapshot holds of what corrections speak of."""

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass

from builders.correcting.corrections import Correction
from builders.correcting.fields import Record
from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import Judgment, Nugget

Key = tuple[str, tuple[str, ...]]
"""The kind of a record and its ids: question; question and nugget; question, nugget and document."""


@dataclass(frozen=True)
class State:
    """What a snapshot holds, as far as corrections need to know it.

    Args:
        records: The records that are named, and those that hang on what is to be removed.
        owner: From a nugget's id that is named to the question whose nugget it is.
        nuggets: How many nuggets each question has.
        judgments: How many judgments each nugget has, by its id.
        last: The largest position of the nuggets of each question.
        documents: The ids that judgments may name: those of the corpus, and of documents that it is known to lack.
    """

    records: dict[Key, Record]
    owner: dict[str, str]
    nuggets: Counter[str]
    judgments: Counter[str]
    last: dict[str, int]
    documents: "Documents"


class Documents:
    """The ids that judgments may name, read when one is asked for.

    Args:
        dataset: The snapshot.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._corpus: Container[object] = dataset.corpus
        self._missing = frozenset(dataset.manifest.missing if dataset.manifest else ())

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self._missing or doc_id in self._corpus


def key_of(record: Record) -> Key:
    """Return the kind of a record and its ids."""
    if isinstance(record, Judgment):
        return "judgment", (record.query_id, record.nugget_id, record.doc_id)
    if isinstance(record, Nugget):
        return "nugget", (record.query_id, record.nugget_id)
    return "question", (record.query_id,)


def parents(key: Key) -> tuple[Key, ...]:
    """Return what a record hangs on: its question, and its nugget."""
    kind, ids = key
    above: tuple[Key, ...] = (("question", ids[:1]), ("nugget", ids[:2]))
    return above[: {"question": 0, "nugget": 1, "judgment": 2}[kind]]


def state_of(dataset: Dataset, corrections: Sequence[Correction]) -> State:
    """Look up what corrections speak of; nothing else is kept.

    Args:
        dataset: The snapshot.
        corrections: The corrections.
    """
    keys = {correction.key for correction in corrections}
    removed = {correction.key for correction in corrections if correction.action == "remove"}
    queries = {correction.query_id for correction in corrections}
    nuggets = {correction.nugget_id for correction in corrections}
    state = State({}, {}, Counter(), Counter(), {}, Documents(dataset))

    def keep(record: Record) -> None:
        key = key_of(record)
        if key in keys or any(above in removed for above in parents(key)):
            state.records[key] = record

    for query in dataset.queries:
        state.nuggets[query.query_id] = 0
        if query.query_id in queries:
            state.records[key_of(query)] = query
    for nugget in dataset.nuggets:
        state.nuggets[nugget.query_id] += 1
        state.last[nugget.query_id] = max(nugget.position, state.last.get(nugget.query_id, 0))
        if nugget.nugget_id in nuggets:
            state.owner[nugget.nugget_id] = nugget.query_id
            state.records[key_of(nugget)] = nugget
        keep(nugget)
    for judgment in dataset.judgments:
        state.judgments[judgment.nugget_id] += 1
        keep(judgment)
    return state
