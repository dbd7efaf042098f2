"""What the stages of a build pass on, beside the records of a dataset."""

from dataclasses import dataclass, field
from typing import Any

QUESTION, SUB_QUESTIONS, CLOSED_BOOK, ANSWER, NUGGETS = "question", "sub-questions", "closed-book", "answer", "nuggets"

TECHNIQUES = (QUESTION, SUB_QUESTIONS, CLOSED_BOOK, ANSWER, NUGGETS)
"""What is searched for to find the documents to judge (section 3.4 of the paper): the question itself, two texts that
a model infers from it, and two of the oracle, its accepted answer and its nuggets."""
FUSION = "fusion"
"""The name, among the retrievers, of the lists of all of them put together."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for on behalf of a question, to find documents to judge.

    Args:
        query_id: The question.
        technique: One of ``TECHNIQUES``.
        text: What is searched for.
        calls: The ids of the model's calls that made it.
    """

    query_id: str
    technique: str
    text: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A document's place in one list.

    Args:
        query_id: The question.
        doc_id: The document.
        technique: What was searched for.
        retriever: Who found it, or ``FUSION``.
        rank: Its place, from 1.
        score: Its score in the list.
    """

    query_id: str
    doc_id: str
    technique: str
    retriever: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Label:
    """A document, judged against all nuggets of a question.

    Args:
        query_id: The question.
        doc_id: The document.
        supports: The positions of the nuggets that it supports, ascending; none when it supports none.
        call_id: The call that says so; "" where it was carried over from a snapshot that names none, as of people.
        corrected: The positions of those nuggets of which people, and not the call, say whether it supports them.
    """

    query_id: str
    doc_id: str
    supports: tuple[int, ...]
    call_id: str
    corrected: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a stage could not make, which is never the same as a "no".

    Args:
        query_id: The question.
        reason: Why, one of a few phrases, to be counted by; of a failed call, its reason.
        detail: More of it, for people.
        doc_id: The document, where it is one that was not judged.
        calls: The ids of the calls that were made for it.
    """

    query_id: str
    reason: str
    detail: str = ""
    doc_id: str = ""
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """What a stage says of itself when it is done.

    Args:
        counts: How many of what there are.
        models: From a kind of call to the names of the models that answered, sorted.
        prompts: From a prompt, ``name@version``, to its digest.
        settings: How the stage was set, as JSON values, for the manifest.
        warnings: What people should know, one line each.
    """

    counts: dict[str, int]
    models: dict[str, tuple[str, ...]] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
