"""What a card counts in a snapshot: judgments, questions by quarter, lengths in tokens."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from builders.cards.tokens import count
from freshstack_datasets.loading import Dataset
from freshstack_datasets.progress import track

Quarter = tuple[int, int]
"""Year, and 1 to 4."""

_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])(?![0-9])")


@dataclass(frozen=True)
class Lengths:
    """How long the texts of one kind are.

    Args:
        tokens: The tokens of each, ascending; at least one text.
    """

    tokens: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return sum(self.tokens) / len(self.tokens)

    @property
    def median(self) -> float:
        """The middle one, or the mean of the two in the middle."""
        return float(median(self.tokens))


@dataclass(frozen=True)
class Statistics:
    """What is counted in a snapshot.

    Args:
        nuggets_per_query: The mean number of nuggets.
        relevant_per_nugget: The mean number of documents that support a nugget.
        relevant_per_query: The mean number of documents that support any nugget of a query.
        judged_per_query: The mean number of documents that were judged for a query.
        queries: How long the queries are.
        answers: How long the accepted answers are; None when there is none.
        documents: How long the documents are, title and text; None when there is none.
        quarters: How many questions were asked in each quarter in which any was.
        undated: How many questions have no date.
        types: How many questions are of each type; those without are left out.
        by_language: The same by language, as the dataset writes it.
    """

    nuggets_per_query: float
    relevant_per_nugget: float
    relevant_per_query: float
    judged_per_query: float
    queries: Lengths
    answers: Lengths | None
    documents: Lengths | None
    quarters: Mapping[Quarter, int]
    undated: int
    types: Mapping[str, int]
    by_language: Mapping[str, int]


def statistics(data: Dataset) -> Statistics:
    """Count a snapshot through; every text is read once.

    Args:
        data: The snapshot.

    Raises:
        MissingExtraError: A package that counts tokens is not installed.
        SnapshotError: The snapshot cannot be read.
    """
    texts, answers, dates, types, languages = data.queries.columns("text", "answer_text", "date", "type", "language")
    (scores,) = data.judgments.columns("score")
    judged = [score for documents in data.qrels.values() for score in documents.values()]
    asked = Counter(quarter for quarter in map(quarter_of, dates) if quarter)
    documents = track(data.corpus, len(data.corpus), "counting tokens of documents")
    return Statistics(
        nuggets_per_query=len(data.nuggets) / len(texts),
        relevant_per_nugget=sum(scores) / len(data.nuggets),
        relevant_per_query=sum(score > 0 for score in judged) / len(texts),
        judged_per_query=len(judged) / len(texts),
        queries=Lengths(tuple(sorted(map(count, texts)))),  # a snapshot has at least one
        answers=_lengths(text for text in answers if text is not None),
        documents=_lengths(document.default_text() for document in documents),
        quarters=dict(sorted(asked.items())),
        undated=len(dates) - asked.total(),
        types=_counted(types),
        by_language=_counted(languages),
    )


def quarter_of(day: str | None) -> Quarter | None:
    """Return the quarter that a date lies in; None where there is no date, or one without a month.

    Args:
        day: A date in ISO 8601, with or without day and time; or whatever stands in its place.
    """
    found = _MONTH.match(day or "")
    return (int(found[1]), (int(found[2]) + 2) // 3) if found else None


def _lengths(texts: Iterable[str]) -> Lengths | None:
    tokens = tuple(sorted(map(count, texts)))
    return Lengths(tokens) if tokens else None


def _counted(values: Iterable[str | None]) -> dict[str, int]:
    """Return how often each value comes, the most frequent one first."""
    counts = Counter(value for value in values if value)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
