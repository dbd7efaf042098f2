"""The questions of a snapshot that people look at, drawn so that a sheet alone tells which they are.

Everything is put into the order of the digests of a seed and its id, and the first ones are taken. The same snapshot,
number and seed give the same sheet in every release, and a larger number gives the same questions and more.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Self

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import Document, Nugget, Query

MOST = 10_000
"""Questions that a sheet may have."""

_NAME = re.compile(r"(.+)@(\S+)#([0-9a-f]{64}) questions=([0-9]{1,5}) seed=([0-9]{1,18})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a sheet is called, which is all that is needed to draw it again.

    Args:
        dataset: The dataset's name.
        snapshot: The snapshot's name.
        fingerprint: Its fingerprint.
        questions: How many questions are drawn.
        seed: Where the draw starts.
    """

    dataset: str
    snapshot: str
    fingerprint: str
    questions: int
    seed: int

    def __str__(self) -> str:
        return f"{self.dataset}@{self.snapshot}#{self.fingerprint} questions={self.questions} seed={self.seed}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the sheet of a name, None where it is the name of none."""
        found = _NAME.fullmatch(text)
        return None if found is None else cls(found[1], found[2], found[3], int(found[4]), int(found[5]))


@dataclass(frozen=True, slots=True)
class Item:
    """A question to look at.

    Args:
        number: Its number on the sheet, from 1.
        query: The question, with its answer.
        nuggets: Its nuggets, by position.
        document: One of the documents that support a nugget; None where there is none.
    """

    number: int
    query: Query
    nuggets: tuple[Nugget, ...]
    document: Document | None


@dataclass(frozen=True, slots=True)
class Sample:
    """The questions of a sheet.

    Args:
        sheet: What the sheet is called.
        items: The questions.
    """

    sheet: Sheet
    items: tuple[Item, ...]


def draw(dataset: Dataset, questions: int, seed: int) -> Sample:
    """Draw questions of a snapshot, and for each one of its relevant documents.

    Args:
        dataset: The snapshot.
        questions: How many questions.
        seed: Where the draw starts, at least 0.

    Raises:
        InputError: The snapshot has fewer questions, or a number is out of range.
    """
    (ids,) = dataset.queries.columns("query_id")
    most = min(MOST, len(ids))
    if not 1 <= questions <= most:
        raise InputError("the number of questions", expected=f"1 to {most:,}", got=f"{questions:,}")
    if not 0 <= seed < 10**18:
        raise InputError("the seed", expected="a whole number from 0, of at most 18 digits", got=shown(seed))
    drawn = sorted(ids, key=lambda query_id: _place(seed, query_id))[:questions]
    documents = _documents(dataset, set(drawn), seed)
    items = tuple(
        Item(number, dataset.queries[query_id], dataset.nuggets_of(query_id), documents.get(query_id))
        for number, query_id in enumerate(drawn, start=1)
    )
    return Sample(Sheet(dataset.name, dataset.snapshot, dataset.fingerprint, questions, seed), items)


def _documents(dataset: Dataset, drawn: set[str], seed: int) -> dict[str, Document]:
    """Return one document of the corpus that supports a nugget for each question that has any."""
    first: dict[str, tuple[bytes, str]] = {}
    for query_id, doc_id, score in zip(*dataset.judgments.columns("query_id", "doc_id", "score"), strict=True):
        if score and query_id in drawn:
            place = _place(seed, query_id, doc_id)
            if (query_id not in first or place < first[query_id][0]) and doc_id in dataset.corpus:
                first[query_id] = (place, doc_id)
    found = dataset.corpus.get_many(doc_id for _, doc_id in first.values())
    return dict(zip(first, found, strict=True))


def _place(seed: int, *ids: str) -> bytes:
    """Return where ids stand in the order of a seed; no id holds a tab."""
    return hashlib.sha256("\t".join((str(seed), *ids)).encode()).digest()
