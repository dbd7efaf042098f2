"""A snapshot in the parts that ``ir_datasets`` makes a dataset of: documents, queries, judgments, documentation."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import ir_datasets
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, TrecQrel
from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, Docstore
from ir_datasets.util import MetadataComponent, MetadataProvider, use_docstore

from freshstack_datasets import catalog
from freshstack_datasets.adapters.ir_datasets.docstore import DocumentStore
from freshstack_datasets.adapters.ir_datasets.records import (
    FreshStackDoc,
    FreshStackNugget,
    FreshStackQuery,
    doc,
    query,
)
from freshstack_datasets.adapters.ir_datasets.source import Source
from freshstack_datasets.adapters.nuggets import zeros_first
from freshstack_datasets.errors import UnknownNameError
from freshstack_datasets.evaluation import DEFAULT_MEASURES
from freshstack_datasets.tables.schema import CORPUS, NUGGET_QRELS, QUERIES


class FreshStackDataset(ir_datasets.Dataset):
    """A dataset of ``ir_datasets`` that can be handed to another process.

    Args:
        dataset_id: What it is called there.
        source: What it is made of.
    """

    def __init__(self, dataset_id: str, source: Source) -> None:
        parts = ir_datasets.Dataset(Docs(source), Queries(source), Qrels(source), Documentation(source))
        counts = MetadataProvider(partial(_counts, dataset_id, source))
        super().__init__(MetadataComponent(dataset_id, parts, counts), parts)
        self._id, self.source = dataset_id, source

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._id, self.source)


def _counts(dataset_id: str, source: Source) -> dict[str, dict[str, dict[str, int]]]:
    return {dataset_id: source.counts}


class _Part:
    """What handlers have in common: two that are made of the same snapshot are equal, as ids of parents ask for."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Part) and (type(self), self._source) == (type(other), other._source)

    def __hash__(self) -> int:
        return hash((type(self), self._source))


class Docs(_Part, BaseDocs):
    """The documents."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._store = DocumentStore(source)

    @use_docstore
    def docs_iter(self) -> Iterator[FreshStackDoc]:
        """Return all documents by ascending id, or with a slice some of them."""
        return map(doc, self._source.data.corpus)

    def docs_store(self, field: str = "doc_id", options: Any = DEFAULT_DOCSTORE_OPTIONS) -> DocumentStore:
        """Return the documents by id.

        Raises:
            UnknownNameError: They are to be found by something else.
        """
        if field != "doc_id":
            raise UnknownNameError("field to find documents by", field, ["doc_id"])
        return self._store

    def docs_cls(self) -> type[FreshStackDoc]:
        """Return the class of a document."""
        return FreshStackDoc

    def docs_count(self) -> int | None:
        """Return the number of documents; None where the metadata has it."""
        return self._source.rows(CORPUS.name)

    def docs_namespace(self) -> str:
        """Return within what an id is always of the same document."""
        return self._source.namespace

    def docs_lang(self) -> str | None:
        """Return the language, None when there are several."""
        return self._source.language


class Queries(_Part, BaseQueries):
    """The queries and their nuggets."""

    def queries_iter(self) -> Iterator[FreshStackQuery]:
        """Yield the queries in the order of the snapshot."""
        data = self._source.data
        for found in data.queries:
            yield query(found, data.nuggets_of(found.query_id))

    def queries_store(self) -> "QueryStore":
        """Return the queries by id."""
        return QueryStore(self)

    def queries_cls(self) -> type[FreshStackQuery]:
        """Return the class of a query."""
        return FreshStackQuery

    def queries_count(self) -> int | None:
        """Return the number of queries; None where the metadata has it."""
        return self._source.rows(QUERIES.name)

    def queries_namespace(self) -> str:
        """Return within what an id is always of the same query."""
        return self._source.namespace

    def queries_lang(self) -> str | None:
        """Return the language, None when there are several."""
        return self._source.language

    def nuggets_iter(self) -> Iterator[FreshStackNugget]:
        """Yield the nuggets, query by query, in the order of their numbers."""
        for found in self.queries_iter():
            yield from found.nuggets


class QueryStore(Docstore):
    """Queries by id, which ``ir_datasets lookup --qid`` asks for.

    Args:
        queries: Where they are from.
    """

    def __init__(self, queries: Queries) -> None:
        super().__init__(FreshStackQuery, "query_id")
        self._found = {found.query_id: found for found in queries.queries_iter()}

    def get_many_iter(self, query_ids: Any) -> Iterator[FreshStackQuery]:
        """Yield the queries of some ids."""
        return (self._found[query_id] for query_id in query_ids if query_id in self._found)


class Qrels(_Part, BaseQrels):
    """The judgments, nugget by nugget."""

    def qrels_iter(self) -> Iterator[Any]:
        """Yield the judgments query by query, those of 0 before those of 1."""
        for query_id, number, doc_id, score in zeros_first(self._source.data):
            yield TrecQrel(query_id, doc_id, score, str(number))

    def qrels_cls(self) -> Any:
        """Return the class of a judgment."""
        return TrecQrel

    def qrels_count(self) -> int | None:
        """Return the number of judgments, for which a snapshot is opened."""
        return self._source.rows(NUGGET_QRELS.name)

    def qrels_defs(self) -> Mapping[int, str]:
        """Return what each score means."""
        return {1: "the document supports the nugget", 0: "it was judged and does not"}


class Documentation:
    """What is told of a dataset.

    Args:
        source: What it is made of.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def documentation(self) -> dict[str, Any]:
        """Return name, description, measures and licence, and how to cite a catalogued dataset."""
        source = self._source
        entry = catalog.known().get(source.name.removesuffix(catalog.UNFILTERED)) if source.folder is None else None
        told = {
            "pretty_name": f"{source.name} {source.snapshot or ''}".strip(),
            "desc": entry.description if entry else "Questions, the facts of their answers, and what supports each.",
            "official_measures": [str(measure) for measure in DEFAULT_MEASURES],
        }
        if entry:
            return {**told, "license": entry.license, "bibtex": catalog.citation()}
        manifest = source.data.manifest  # it is on this machine
        return {**told, "license": manifest.license} if manifest else told
