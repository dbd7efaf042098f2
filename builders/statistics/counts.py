"""Counting questions, documents and judgments, each read once, in memory that does not grow with them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from builders.statistics.lengths import Lengths
from builders.statistics.quarters import Quarter, quarter_of
from builders.statistics.tokens import count
from freshstack_datasets.loading import Dataset

COLUMNS = ("text", "answer_text", "date", "type", "language")
"""Columns of queries that are counted, in the order of ``Asked``."""

Asked = tuple[str | None, str | None, str | None, str | None, str | None]
"""A question as it is counted: ``COLUMNS``."""

_FENCE = re.compile(r"^(?:[ \t]*(?:>|[-*+][ \t]|[0-9]{1,9}[.)][ \t]))*[ \t]*(?:`{3,}[^`\n]*$|~~~)", re.MULTILINE)
"""The first line of a block of code in Markdown (CommonMark 0.31, 4.5), within quotes and items of lists too."""


@dataclass(frozen=True)
class Questions:
    """What is counted in questions.

    Args:
        number: How many there are.
        lengths: How long they are; None when there is none.
        answers: How long their answers are; None when there is none.
        with_code: How many questions hold a block of code.
        answers_with_code: How many answers do.
        quarters: How many questions were asked in each quarter in which any was.
        undated: How many questions have no date.
        types: How many questions are of each type; those without are left out.
        by_language: The same by language, as the dataset writes it.
    """

    number: int
    lengths: Lengths | None
    answers: Lengths | None
    with_code: int
    answers_with_code: int
    quarters: Mapping[Quarter, int]
    undated: int
    types: Mapping[str, int]
    by_language: Mapping[str, int]


@dataclass(frozen=True)
class Judged:
    """What is counted in judgments.

    Args:
        nuggets_per_query: The mean number of nuggets.
        relevant_per_nugget: The mean number of documents that support a nugget.
        relevant_per_query: The mean number of documents that support any nugget of a query.
        judged_per_query: The mean number of documents that were judged for a query.
    """

    nuggets_per_query: float
    relevant_per_nugget: float
    relevant_per_query: float
    judged_per_query: float


def count_questions(asked: Iterable[Asked]) -> Questions:
    """Count questions.

    Args:
        asked: The questions, read once.

    Raises:
        MissingExtraError: A package that counts tokens is not installed.
    """
    lengths: Counter[int] = Counter()
    answers: Counter[int] = Counter()
    code: Counter[str] = Counter()
    quarters: Counter[Quarter | None] = Counter()
    types: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    for text, answer, day, kind, language in asked:
        lengths[count(text or "")] += 1
        code["questions"] += has_code(text or "")
        if answer is not None:
            answers[count(answer)] += 1
            code["answers"] += has_code(answer)
        quarters[quarter_of(day)] += 1
        types[kind or ""] += 1
        languages[language or ""] += 1
    undated = quarters.pop(None, 0)
    return Questions(
        number=lengths.total(),
        lengths=Lengths.counted(lengths),
        answers=Lengths.counted(answers),
        with_code=code["questions"],
        answers_with_code=code["answers"],
        quarters={quarter: number for quarter, number in sorted(quarters.items()) if quarter},
        undated=undated,
        types=_ordered(types),
        by_language=_ordered(languages),
    )


def count_documents(texts: Iterable[str]) -> Lengths | None:
    """Return how long documents are; None when there is none.

    Args:
        texts: Their texts, read once.

    Raises:
        MissingExtraError: A package that counts tokens is not installed.
    """
    return Lengths.of(map(count, texts))


def count_judged(data: Dataset) -> Judged:
    """Count the judgments of a snapshot.

    Args:
        data: The snapshot; it has a query, and a nugget.

    Raises:
        SnapshotError: The snapshot cannot be read.
    """
    (scores,) = data.judgments.columns("score")
    judged = [score for documents in data.qrels.values() for score in documents.values()]
    queries = len(data.queries)
    return Judged(
        nuggets_per_query=len(data.nuggets) / queries,
        relevant_per_nugget=sum(scores) / len(data.nuggets),
        relevant_per_query=sum(score > 0 for score in judged) / queries,
        judged_per_query=len(judged) / queries,
    )


def has_code(text: str) -> bool:
    """Return whether a text in Markdown holds a block of code, which begins with a line of backticks or tildes.

    Args:
        text: The text.
    """
    return ("```" in text or "~~~" in text) and _FENCE.search(text) is not None


def _ordered(counts: Counter[str]) -> dict[str, int]:
    """Return how often each value comes, the most frequent one first."""
    return dict(sorted(((v, n) for v, n in counts.items() if v), key=lambda item: (-item[1], item[0])))
