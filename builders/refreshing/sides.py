"""A snapshot as its drift is measured: documents, questions, nuggets, and what supports them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from builders.assembling.parts import parts_of
from builders.pipeline.reading import topic_corpus
from builders.pipeline.work import Work
from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import Document, Query


@dataclass(frozen=True)
class Side:
    """One of two snapshots.

    Args:
        name: What it is called, with the snapshot.
        documents: Its documents.
        queries: Its questions, by id.
        nuggets: The nuggets of each question: ids and texts, in their order.
        support: The documents that support each nugget, by its id; none where nothing does.
        judged: The documents that were judged for each question.
        fingerprint: Its fingerprint; "" before there is one.
    """

    name: str
    documents: Collection[Document]
    queries: Mapping[str, Query]
    nuggets: Mapping[str, Sequence[tuple[str, str]]]
    support: Mapping[str, frozenset[str]]
    judged: Mapping[str, frozenset[str]]
    fingerprint: str = field(default="")


def side_of(data: Dataset) -> Side:
    """Return a snapshot as one of two.

    Args:
        data: The snapshot.
    """
    judgments = zip(*data.judgments.columns("query_id", "nugget_id", "doc_id", "score"), strict=True)
    nuggets = {
        query_id: [(one.nugget_id, one.text) for one in data.nuggets_of(query_id)]
        for query_id in data.queries.columns("query_id")[0]
    }
    name = f"{data.name}@{data.snapshot}"
    queries = {query.query_id: query for query in data.queries}
    return Side(name, data.corpus, queries, nuggets, *_judged(judgments), data.fingerprint)


def side_of_work(work: Work, name: str) -> Side:
    """Return the unfiltered snapshot that a build is about to make as one of two.

    Args:
        work: The folder of the build, all of whose stages are done.
        name: What the snapshot is called.

    Raises:
        InputError: A stage is not done, or its files cannot be read.
    """
    parts = parts_of(work)
    judgments = ((one.query_id, one.nugget_id, one.doc_id, one.score) for one in parts.judgments())
    nuggets = {query_id: [(one.nugget_id, one.text) for one in of] for query_id, of in parts.nuggets.items()}
    queries = {query.query_id: query for query in parts.questions}
    return Side(name, topic_corpus(work), queries, nuggets, *_judged(judgments))


def _judged(
    rows: Iterable[tuple[str, str, str, int]],
) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Return the documents that support each nugget, and those that were judged for each question."""
    support: dict[str, set[str]] = {}
    judged: dict[str, set[str]] = {}
    for query_id, nugget_id, doc_id, score in rows:
        judged.setdefault(query_id, set()).add(doc_id)
        if score:
            support.setdefault(nugget_id, set()).add(doc_id)
    frozen = ({key: frozenset(of) for key, of in found.items()} for found in (support, judged))
    return next(frozen), next(frozen)
