"""Judgments as they come in the qrels of ``ir_measures``, checked, and made ready for the evaluator."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ir_measures import Qrel
from ir_measures.util import QrelsConverter

from freshstack_datasets.adapters.judged import Columns, Judged
from freshstack_datasets.errors import RecordError, shown
from freshstack_datasets.records import check_id

_ONE_NUGGET: str = Qrel._field_defaults["iteration"]
"""What nugget a row is of that does not say so."""

Key = tuple[str, str, str]
"""Query id, nugget and document id."""


@dataclass(frozen=True)
class Rows:
    """Judgments, each of one query, nugget and document.

    Args:
        query_ids: All queries, those without a judgment too, in the order they came.
        relevance: Query id, nugget and document id to the relevance.
    """

    query_ids: tuple[str, ...]
    relevance: Mapping[Key, int]

    @classmethod
    def read(cls, qrels: Any) -> "Rows":
        """Read qrels in any form that ``ir_measures`` takes.

        Raises:
            RecordError: An id, a nugget or a relevance is not allowed, or two rows contradict each other; the first
                offender is named.
        """
        queries = dict.fromkeys(qrels) if isinstance(qrels, dict) else {}  # a query may have no judgment there
        relevance: dict[Key, int] = {}
        for key, value in map(_checked, QrelsConverter(qrels).as_namedtuple_iter()):
            queries[key[0]] = None
            if relevance.setdefault(key, value) != value:
                raise _contradiction(key, relevance[key], value)
        for query_id in queries:
            check_id(query_id, "query")
        return cls(tuple(queries), relevance)


def judged(rows: Rows, rel: int, *, supported: bool) -> Judged:
    """Return judgments at one level of relevance.

    Args:
        rows: The judgments.
        rel: From which relevance on a document supports a nugget.
        supported: Whether to leave out the nuggets that no document supports.
    """
    scores = {key: int(value >= rel) for key, value in rows.relevance.items()}
    if supported:
        scores = {key: score for key, score in scores.items() if score}
    nuggets = list(dict.fromkeys(key[:2] for key in scores))
    judgments = {name: [key[i] for key in scores] for i, name in enumerate(("query_id", "nugget_id", "doc_id"))}
    return Judged(
        Columns({"query_id": list(rows.query_ids)}),
        Columns({name: [key[i] for key in nuggets] for i, name in enumerate(("query_id", "nugget_id"))}),
        Columns({**judgments, "score": list(scores.values())}),
    )


def _checked(row: Any) -> tuple[Key, int]:
    """Return a row's query, nugget and document, and its relevance."""
    query_id, doc_id = check_id(row.query_id, "query"), check_id(row.doc_id, "document")
    nugget = getattr(row, "iteration", _ONE_NUGGET)
    try:
        nugget = nugget if isinstance(nugget, str) else str(operator.index(nugget))
    except TypeError:
        raise _refused(query_id, doc_id, "iteration", "text or a whole number", nugget) from None
    try:
        return (query_id, nugget, doc_id), operator.index(row.relevance)
    except TypeError:
        raise _refused(query_id, doc_id, "relevance", "a whole number", row.relevance) from None


def _refused(query_id: str, doc_id: str, what: str, expected: str, got: object) -> RecordError:
    where = f"query {shown(query_id)}, document {shown(doc_id)}: {what}"
    return RecordError(where, expected=expected, got=f"{shown(got)} ({type(got).__name__})")


def _contradiction(key: Key, first: int, then: int) -> RecordError:
    query_id, nugget, doc_id = map(shown, key)
    return RecordError(
        f"query {query_id}, iteration {nugget}, document {doc_id}",
        expected="one relevance",
        got=f"{first} and {then}",
        hint="a nugget's number goes into the rows as iteration",
    )
