"""What a snapshot says of itself in numbers: the paper's first table, what its filters dropped, and what it took."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from builders.assembling.filtering import Filtered
from builders.assembling.parts import Parts
from builders.judging.stage import AGREEMENT
from builders.pipeline.reading import labels_of
from builders.pipeline.work import SUPPORT, Work
from builders.pooling import contribution
from builders.statistics.counts import count_documents, count_judged, count_questions
from builders.statistics.given import Given
from builders.statistics.lengths import Lengths
from builders.statistics.report import Report, row
from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.loading import Dataset
from freshstack_datasets.progress import track
from freshstack_datasets.recipe import Source
from freshstack_datasets.tables.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Documents:
    """What is counted in the documents, which both snapshots of a build have.

    Args:
        number: How many there are.
        repositories: Of how many repositories they are.
        lengths: How long they are; None when there is none.
    """

    number: int
    repositories: int
    lengths: Lengths | None


def count_corpus(corpus: Corpus, sources: Sequence[Source]) -> Documents:
    """Count the documents; every text is read once.

    Args:
        corpus: The documents.
        sources: What the snapshot was made from.

    Raises:
        MissingExtraError: A package that counts tokens is not installed.
    """
    texts = (one.default_text() for one in track(corpus, len(corpus), "counting tokens of documents", "documents"))
    return Documents(len(corpus), sum(source.commit is not None for source in sources), count_documents(texts))


def table1(parts: Parts, documents: Documents, scored: Dataset) -> dict[str, float | None]:
    """Return the row of the paper's first table; lengths are in tokens of ``o200k_base``.

    Args:
        parts: The questions and what was judged for them.
        documents: What was counted in the documents.
        scored: The judgments as a dataset.

    Raises:
        MissingExtraError: A package that counts tokens is not installed.
    """
    asked = ((q.text, q.answer_text, q.date, q.type, q.language) for q in parts.questions)
    given = Given(scored.name, len(parts.questions), documents.number, documents.repositories)
    return row(Report(given, count_questions(asked), documents.lengths, count_judged(scored)))


def filters(filtered: Filtered, questions: int) -> dict[str, Any]:
    """Return what the rules dropped, with shares of all questions.

    Args:
        filtered: What the stage ``filter`` decided.
        questions: How many questions there were.
    """
    scores = list(filtered.closed_book.values())
    return {
        "questions": questions,
        "kept": len(filtered.kept),
        "rules": [
            {"name": rule.name, "dropped": rule.dropped, "percent": 100 * rule.dropped / questions, "why": rule.reason}
            for rule in filtered.filters
        ],
        "closed_book": {"questions": len(scores), "coverage": sum(scores) / len(scores) if scores else None},
    }


def brought(work: Work) -> dict[str, Any]:
    """Return what each retriever brought to the pools, of all questions of a build, also those that were dropped.

    Args:
        work: The folder of the build.

    Raises:
        InputError: A stage is not done, or its files cannot be read.
    """
    relevant = sum(bool(label.supports) for label in labels_of(work))
    return {"relevant": relevant, "retrievers": [asdict(one) for one in contribution(work)]}


def agreement(work: Work) -> dict[str, Any] | None:
    """Return how far the second pass agrees with the first, None where there was none.

    Args:
        work: The folder of the build.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    path = work.folder(SUPPORT) / AGREEMENT
    if not path.is_file():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return dict(told)
    except (OSError, ValueError, TypeError, RecursionError):
        hint = "run the stage again"
        raise InputError(shown_path(path), expected="what support wrote", got="something else", hint=hint) from None
