"""The records that ``ir_datasets`` hands out, as it wants them: named tuples whose annotations are the types themselves.

Its exports and PyTerrier's loaders compare annotations with ``str`` and ``typing.Tuple``: annotations that are strings,
or ``tuple``, would make them leave the fields out.
"""

from typing import NamedTuple, Tuple  # noqa: UP035  # see above

from freshstack_datasets.records import Document, Nugget, Query


class FreshStackDoc(NamedTuple):
    """A document."""

    doc_id: str
    title: str
    text: str
    url: str

    def default_text(self) -> str:
        """Return title and text, as retrievers of this package read them."""
        return Document(self.doc_id, self.title, self.text).default_text()


class FreshStackNugget(NamedTuple):
    """A fact of a query's answer; ``number`` is its ``iteration`` in the judgments."""

    nugget_id: str
    query_id: str
    number: str
    text: str
    importance: str


class FreshStackQuery(NamedTuple):
    """A query; ``text`` is what is searched for."""

    query_id: str
    text: str
    title: str
    body: str
    answer: str
    tags: Tuple[str, ...]  # noqa: UP006  # see above
    nuggets: Tuple[FreshStackNugget, ...]  # noqa: UP006  # see above

    def default_text(self) -> str:
        """Return what is searched for."""
        return self.text


def doc(document: Document) -> FreshStackDoc:
    """Return a document as ``ir_datasets`` has it."""
    return FreshStackDoc(document.doc_id, document.title, document.text, str(document.metadata.get("url") or ""))


def query(found: Query, nuggets: Tuple[Nugget, ...]) -> FreshStackQuery:  # noqa: UP006  # as above
    """Return a query as ``ir_datasets`` has it.

    Args:
        found: The query.
        nuggets: Its nuggets by position.
    """
    numbered = tuple(
        FreshStackNugget(nugget.nugget_id, nugget.query_id, str(number), nugget.text, nugget.importance or "")
        for number, nugget in enumerate(nuggets, 1)
    )
    texts = (found.title or "", found.body or "", found.answer_text or "")
    return FreshStackQuery(found.query_id, found.text, *texts, found.tags or (), numbered)
