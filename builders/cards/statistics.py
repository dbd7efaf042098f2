"""What a card counts in a snapshot: judgments, questions by quarter, lengths in tokens."""

from dataclasses import dataclass

from builders.statistics.counts import COLUMNS, Judged, Questions, count_documents, count_judged, count_questions
from builders.statistics.lengths import Lengths
from freshstack_datasets.loading import Dataset
from freshstack_datasets.progress import track


@dataclass(frozen=True)
class Statistics:
    """What is counted in a snapshot.

    Args:
        judged: Its judgments.
        questions: Its questions.
        documents: How long the documents are, title and text; None when there is none.
    """

    judged: Judged
    questions: Questions
    documents: Lengths | None


def statistics(data: Dataset) -> Statistics:
    """Count a snapshot through; every text is read once.

    Args:
        data: The snapshot.

    Raises:
        MissingExtraError: A package that counts tokens is not installed.
        SnapshotError: The snapshot cannot be read.
    """
    documents = track(data.corpus, len(data.corpus), "counting tokens of documents")
    return Statistics(
        judged=count_judged(data),
        questions=count_questions(zip(*data.queries.columns(*COLUMNS), strict=True)),
        documents=count_documents(document.default_text() for document in documents),
    )
