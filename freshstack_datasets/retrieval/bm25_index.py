"""What BM25 keeps of a corpus: built while documents stream by, written with bm25s, read memory-mapped."""

import json
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from operator import length_hint
from pathlib import Path
from tokenize import TokenError
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.errors import InputError, RecordError, shown
from freshstack_datasets.progress import track
from freshstack_datasets.records import Document
from freshstack_datasets.retrieval.given import collection
from freshstack_datasets.retrieval.index_folder import damaged
from freshstack_datasets.retrieval.language import TermNumbers

IDS, TERMS = "doc_ids.json", "vocab.index.json"
ARRAYS = {"data": "f4", "indices": "i4", "indptr": "i8"}
"""The arrays of bm25s, each in a file ``<name>.csc.index.npy``: for each term the documents that hold it."""


@dataclass(frozen=True)
class Index:
    """A corpus that can be searched.

    Args:
        doc_ids: The documents in ascending order.
        languages: The languages in which texts were read, the main one first.
        scorer: The ``bm25s.BM25`` whose documents are numbered as ``doc_ids``; None when no document holds a term.
    """

    doc_ids: tuple[str, ...]
    languages: tuple[str, ...]
    scorer: Any

    def scores(self, terms: list[str]) -> NDArray[np.float32]:
        """Return the score of every document for the terms of a query; 0 where it holds none of them."""
        if self.scorer is None:
            return np.zeros(len(self.doc_ids), np.float32)
        scores: NDArray[np.float32] = self.scorer.get_scores_from_ids(self.scorer.get_tokens_ids(terms))
        return scores


def build(documents: Collection[Document], languages: tuple[str, ...], k1: float, b: float) -> Index:
    """Index documents, taking one at a time.

    Args:
        documents: The corpus.
        languages: The languages that a document may be in, the main one first.
        k1: How slowly further occurrences of a term stop to count.
        b: How much the length of a document counts.

    Raises:
        InputError: Something in the corpus is no document.
        RecordError: A document id comes twice.
    """
    terms = TermNumbers(languages)
    collection(documents, "the corpus", "documents")
    numbers, ends, doc_ids = array("i"), [0], []
    for document in track(documents, length_hint(documents) or None, "reading documents"):
        if not isinstance(document, Document):
            raise InputError("the corpus", expected="documents", got=f"{shown(document)} ({type(document).__name__})")
        numbers.extend(terms.of(document.default_text()))
        ends.append(len(numbers))
        doc_ids.append(document.doc_id)
    order = _order(doc_ids)
    ascending = tuple(doc_ids[i] for i in order)
    if not len(numbers):
        return Index(ascending, languages, None)
    vocabulary = terms.vocabulary
    del terms, doc_ids  # bm25s needs the memory more
    scorer = _scorer(_TokenLists(np.frombuffer(numbers, np.int32), ends), vocabulary, k1, b)
    if order != list(range(len(order))):
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        scorer.scores["indices"] = place[scorer.scores["indices"]]
    return Index(ascending, languages, scorer)


def _order(doc_ids: list[str]) -> list[int]:
    """Return the places of ids in ascending order, when each comes once."""
    order = sorted(range(len(doc_ids)), key=doc_ids.__getitem__)
    for a, z in pairwise(order):
        if doc_ids[a] == doc_ids[z]:
            raise RecordError(f"document {shown(doc_ids[a])}", expected="each id once in the corpus", got="it twice")
    return order


@dataclass(frozen=True)
class _TokenLists:
    """The token lists of all documents, as bm25s wants them, each made when it is asked for."""

    numbers: NDArray[np.int32]
    ends: list[int]

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __iter__(self) -> Iterator[list[int]]:
        bounds = track(pairwise(self.ends), len(self), "counting terms")
        return (self.numbers[start:end].tolist() for start, end in bounds)


def _scorer(token_lists: _TokenLists, vocabulary: dict[str, int], k1: float, b: float) -> Any:
    import bm25s

    scorer = bm25s.BM25(k1=k1, b=b, method="lucene")
    tokens = SimpleNamespace(ids=token_lists, vocab=vocabulary)
    scorer.index(tokens, create_empty_token=False, show_progress=False)
    return scorer


def write(index: Index, folder: Path) -> None:
    """Write an index into a folder that is there."""
    (folder / IDS).write_text(json.dumps(index.doc_ids), encoding="utf-8")
    if index.scorer is not None:
        index.scorer.save(folder, show_progress=False)


def read(folder: Path, languages: tuple[str, ...], k1: float, b: float) -> Index:
    """Return the index that was written into a folder, with its large arrays left on disk.

    Args:
        folder: The folder, with nothing changed in it since.
        languages: As it was built with.
        k1: As it was built with.
        b: As it was built with.

    Raises:
        InputError: The files do not fit together.
    """
    doc_ids = _json(folder / IDS)
    whole = isinstance(doc_ids, list) and all(isinstance(doc_id, str) for doc_id in doc_ids)
    if not whole or any(a >= z for a, z in pairwise(doc_ids)):
        raise damaged(folder / IDS, "document ids in ascending order", "something else")
    if not (folder / TERMS).exists():
        return Index(tuple(doc_ids), languages, None)
    import bm25s

    scorer = bm25s.BM25(k1=k1, b=b, method="lucene")
    arrays = {name: _mapped(folder / f"{name}.csc.index.npy", kind) for name, kind in ARRAYS.items()}
    vocabulary = _json(folder / TERMS)
    if not _fit(arrays, vocabulary, len(doc_ids)):
        raise damaged(folder, "files that fit together", "others")
    scorer.scores = {**arrays, "num_docs": len(doc_ids)}
    scorer.vocab_dict, scorer.nonoccurrence_array = vocabulary, None
    return Index(tuple(doc_ids), languages, scorer)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        raise damaged(path, "JSON", "something else") from None


def _mapped(path: Path, kind: str) -> NDArray[Any]:
    """Return a file's array without reading it; unlike ``numpy.load`` this never meets a pickle."""
    try:
        found = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, TokenError):  # the last from a damaged header, which numpy parses as Python
        raise damaged(path, "an array of numpy", "something else") from None
    if found.ndim != 1 or found.dtype != np.dtype(kind):
        raise damaged(path, f"numbers of the type {np.dtype(kind)}", f"{found.dtype} of shape {found.shape}")
    return found.view(np.ndarray)  # slices of a plain array are much cheaper than those of a memmap


def _fit(arrays: dict[str, NDArray[Any]], vocabulary: Any, documents: int) -> bool:
    """Return whether no look-up can leave the arrays."""
    data, indices, indptr = arrays["data"], arrays["indices"], arrays["indptr"]
    return (
        len(data) == len(indices) > 0
        and len(indptr) > 1
        and indptr[0] == 0
        and indptr[-1] == len(data)
        and bool((indptr[1:] >= indptr[:-1]).all())
        and int(indices.min()) >= 0
        and int(indices.max()) < documents
        and isinstance(vocabulary, dict)
        and list(vocabulary.values()) == list(range(len(indptr) - 1))
    )
