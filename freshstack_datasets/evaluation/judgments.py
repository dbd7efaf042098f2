"""A dataset's judgments as arrays, made once per dataset and dropped with it."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress, repeat
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.evaluation.arrays import Floats, Ints

_NOT_YET, _NOWHERE = -2, -1
"""Of a document of a run: not looked up yet; judged for no query."""

MANY = 6
"""If more than one in so many ids of a vocabulary is asked for, walking through all is quicker than picking those."""

_PARTS = ("name", "snapshot", "fingerprint", "queries", "nuggets", "judgments")


class Table(Protocol):
    """Records that can be read by column."""

    def columns(self, *fields: str) -> tuple[list[Any], ...]:
        """Return the named fields of all records, a list each."""
        ...


class Scorable(Protocol):
    """What scoring needs of a dataset. It must compare by identity and allow weak references."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def snapshot(self) -> str:
        """The name of its snapshot."""
        ...

    @property
    def fingerprint(self) -> str:
        """What scores are tied to."""
        ...

    @property
    def queries(self) -> Table:
        """Its queries, with ``query_id``."""
        ...

    @property
    def nuggets(self) -> Table:
        """All nuggets, with ``query_id`` and ``nugget_id``."""
        ...

    @property
    def judgments(self) -> Table:
        """All judgments, with ``query_id``, ``nugget_id``, ``doc_id`` and ``score``."""
        ...


@dataclass(frozen=True, eq=False)
class Judgments:
    """What is known about which document supports what.

    Queries are numbered in the order of the dataset, nuggets across all queries, and so are *pairs*: a query and a
    document judged for it. The pairs of a query stand together, the larger document id first; a pair's nuggets
    stand together too. Nothing is padded, so that one query with many nuggets costs no more than its own.

    Args:
        query_ids: The queries.
        numbers: The number of each query.
        documents: For each query, its judged documents, each with its pair.
        pair_query: int64 of shape (pairs,), each pair's query.
        gains: int64 of shape (pairs,), how many nuggets the document supports.
        nuggets: int64 of shape (sum of gains,), the nuggets that each pair supports, pair after pair.
        nugget_query: int64 of shape (nuggets,), each nugget's query; it may be a nugget that nothing supports.
    """

    query_ids: tuple[str, ...]
    numbers: Mapping[str, int]
    documents: Sequence[dict[str, int]]
    pair_query: Ints
    gains: Ints
    nuggets: Ints
    nugget_query: Ints
    _known: dict[Hashable, Floats] = field(default_factory=dict)
    _vocabularies: list[tuple[Sequence[str], Ints]] = field(default_factory=list)

    @cached_property
    def starts(self) -> Ints:
        """Where the nuggets of each pair begin, int64 of shape (pairs,)."""
        return np.cumsum(self.gains) - self.gains

    @cached_property
    def nugget_counts(self) -> Ints:
        """How many nuggets each query has, supported or not, int64 of shape (queries,)."""
        return np.bincount(self.nugget_query, minlength=len(self.query_ids))

    @cached_property
    def relevant_counts(self) -> Ints:
        """How many documents support at least one nugget of each query, int64 of shape (queries,)."""
        return np.bincount(self.pair_query[self.gains > 0], minlength=len(self.query_ids))

    def once(self, key: Hashable, compute: Callable[[], Floats]) -> Floats:
        """Return what ``compute`` gives, computed the first time only: the ideals that measures divide by."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def pairs_of(self, doc_ids: Sequence[str], codes: Ints, query: Ints) -> Ints:
        """Return the pairs of documents of a run, -1 where a document was not judged for that query.

        Ids are looked up once per document; those of the vocabulary seen last are kept, since the runs of one
        retriever, and of all that search the same corpus, share theirs.

        Args:
            doc_ids: The run's vocabulary.
            codes: int64 of shape (entries,), places in it.
            query: int64 of shape (entries,), the query of each.
        """
        table = self._table(doc_ids)
        asked = np.zeros(len(doc_ids), bool)
        asked[codes] = True
        asked &= table == _NOT_YET
        new = np.flatnonzero(asked)  # in the order of the vocabulary, mostly that of memory
        many = len(new) * MANY > len(doc_ids)
        ids = compress(doc_ids, asked.tobytes()) if many else map(doc_ids.__getitem__, new.tolist())
        table[new] = np.fromiter(map(self._numbered_documents.get, ids, repeat(_NOWHERE)), np.int64, len(new))
        keys = query * max(1, len(self._numbered_documents)) + table[codes]
        sorted_keys, pairs = self._keys
        candidates = np.flatnonzero(table[codes] != _NOWHERE)
        at = np.searchsorted(sorted_keys, keys[candidates])
        at[at == len(sorted_keys)] = 0
        judged = sorted_keys[at] == keys[candidates]
        found = np.full(len(codes), -1)
        found[candidates[judged]] = pairs[at[judged]]
        return found

    def _table(self, doc_ids: Sequence[str]) -> Ints:
        """Return the number of each document of a vocabulary as far as it was looked up, to be filled further."""
        latest = self._vocabularies[-1:]  # one look, because another thread may put in its own
        if latest and latest[0][0] is doc_ids:
            return latest[0][1]
        table = np.full(len(doc_ids), _NOT_YET)
        self._vocabularies[:] = [(doc_ids, table)]
        return table

    @cached_property
    def _numbered_documents(self) -> dict[str, int]:
        """All judged documents, numbered in ascending order.

        A run's vocabulary is in that order too. The ids are copied one after the other, so that looking up many walks
        through memory instead of jumping in it, which takes most of the time.
        """
        ascending = sorted(set(chain.from_iterable(self.documents)))
        return {doc_id[:1] + doc_id[1:]: number for number, doc_id in enumerate(ascending)}

    @cached_property
    def _keys(self) -> tuple[Ints, Ints]:
        """Query and document of each pair as one number, in rising order, and the pairs in that order."""
        numbers = map(self._numbered_documents.__getitem__, chain.from_iterable(self.documents))
        code = np.fromiter(numbers, np.int64, len(self.pair_query))
        keys = self.pair_query * max(1, len(self._numbered_documents)) + code
        order = np.argsort(keys)
        return keys[order], order


_cache: WeakKeyDictionary[Scorable, Judgments] = WeakKeyDictionary()


def judgments_of(dataset: Scorable) -> Judgments:
    """Return the arrays of a dataset, the same ones for the same dataset object.

    Raises:
        InputError: It is no dataset, or a judgment names a query or a nugget that the dataset does not have.
    """
    try:
        known = dataset in _cache
    except TypeError:  # it has no hash, or no weak references
        raise _no_dataset(dataset) from None
    if not known:
        if not all(hasattr(dataset, part) for part in _PARTS):
            raise _no_dataset(dataset)
        (query_ids,) = dataset.queries.columns("query_id")
        nuggets = dataset.nuggets.columns("query_id", "nugget_id")
        judged = dataset.judgments.columns("query_id", "nugget_id", "doc_id", "score")
        _cache[dataset] = _compiled(tuple(query_ids), *nuggets, *judged)
    return _cache[dataset]


def _no_dataset(given: object) -> InputError:
    return InputError(
        "the dataset to score on",
        expected=f"an object with {', '.join(_PARTS)}, compared by identity",
        got=f"{shown(given)} ({type(given).__name__})",
        hint="load makes a dataset of a name or a folder; runs come first, the dataset after them",
    )


def _compiled(
    query_ids: tuple[str, ...],
    nugget_queries: list[str],
    nugget_ids: list[str],
    judged_queries: list[str],
    judged_nuggets: list[str],
    judged_documents: list[str],
    scores: list[int],
) -> Judgments:
    numbers = {query_id: i for i, query_id in enumerate(query_ids)}
    nugget_query = _numbers(numbers, nugget_queries, "query of a nugget")
    nugget_numbers = {key: i for i, key in enumerate(zip(nugget_queries, nugget_ids, strict=True))}
    query_of_row = _numbers(numbers, judged_queries, "query of a judgment").tolist()
    documents = _pairs(len(query_ids), query_of_row, judged_documents)
    counts = np.fromiter(map(len, documents), np.int64, len(documents))
    supports = [score > 0 for score in scores]  # one row that says so is enough, whatever others say
    keys = zip(compress(judged_queries, supports), compress(judged_nuggets, supports), strict=True)
    nuggets = _numbers(nugget_numbers, keys, "nugget of a judgment")
    supporting = zip(compress(query_of_row, supports), compress(judged_documents, supports), strict=True)
    pairs = np.fromiter((documents[query][document] for query, document in supporting), np.int64, len(nuggets))
    edges = np.unique(pairs * max(1, len(nugget_numbers)) + nuggets)  # by pair; a row that comes twice counts once
    pairs, nuggets = np.divmod(edges, max(1, len(nugget_numbers)))
    gains = np.bincount(pairs, minlength=int(counts.sum()))
    return Judgments(
        query_ids, numbers, documents, np.repeat(np.arange(len(counts)), counts), gains, nuggets, nugget_query
    )


def _pairs(queries: int, query_of_row: list[int], documents: list[str]) -> tuple[dict[str, int], ...]:
    """Number the judged documents of every query, the larger id first."""
    judged: list[set[str]] = [set() for _ in range(queries)]
    for query, document in zip(query_of_row, documents, strict=True):
        judged[query].add(document)
    numbered = []
    first = 0
    for ids in judged:
        numbered.append({doc_id: i for i, doc_id in enumerate(sorted(ids, reverse=True), first)})
        first += len(ids)
    return tuple(numbered)


def _numbers(numbers: Mapping[Any, int], keys: Iterable[Hashable], what: str) -> Ints:
    try:
        return np.fromiter(map(numbers.__getitem__, keys), np.int64)
    except KeyError as error:
        raise InputError(f"the {what}", expected="one that the dataset has", got=shown(error.args[0])) from None
