"""What is judged, and what comes of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from builders.pipeline.records import Label, Lacking
from builders.pipeline.work import Work
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.records import Nugget, Query


@dataclass(frozen=True, slots=True)
class Group:
    """The documents that are judged for one question.

    Args:
        query: The question.
        nuggets: Its nuggets, by position.
        doc_ids: The documents, in any order, which changes nothing.

    Raises:
        InputError: There is no nugget, or a document stands there twice.
    """

    query: Query
    nuggets: tuple[Nugget, ...]
    doc_ids: tuple[str, ...]

    def __post_init__(self) -> None:
        what = f"documents to judge for the question {shown(self.query.query_id)}"
        if not self.nuggets:
            raise InputError(what, expected="nuggets", got="none")
        if len(set(self.doc_ids)) < len(self.doc_ids):
            twice = next(one for one, count in Counter(self.doc_ids).items() if count > 1)
            raise InputError(what, expected="each once", got=f"{shown(twice)} twice")


@dataclass(frozen=True, slots=True)
class Shown:
    """The documents of one call, which the model knew by their numbers.

    Args:
        call_id: The call.
        query_id: The question.
        documents: The documents in the order shown; the first is number 1.
    """

    call_id: str
    query_id: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before anything is asked, as from an earlier snapshot.

    Args:
        labels: What documents support; these documents are judged with those of the pools.
        orders: What was shown in the calls that said so.
        prompts: The digests of the prompts of these calls, by ``name@version``, as far as their names are known.
    """

    labels: tuple[Label, ...] = ()
    orders: tuple[Shown, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)


class Source(Protocol):
    """Where judgments come from that are taken as they are."""

    @property
    def digest(self) -> str:
        """What they depend on, beside what the stages made."""
        ...

    def known(self, work: Work) -> Known:
        """Return them.

        Args:
            work: The folder of the build, with the pool.
        """
        ...


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of judging; each document of each group is in a label or lacking, and in one of these alone.

    Args:
        labels: What the documents support, those carried over included, sorted by question and document.
        lacking: The documents that nobody judged, and why, sorted alike.
        orders: What was shown in each call that was answered, sorted by question and call.
        counts: How many of what there are: see ``judge``.
    """

    labels: tuple[Label, ...]
    lacking: tuple[Lacking, ...]
    orders: tuple[Shown, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
