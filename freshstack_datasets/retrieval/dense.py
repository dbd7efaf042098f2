"""Dense search: every document's vector is compared with the query's, and none is passed over."""

import json
from collections.abc import Collection, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.progress import track
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval.cut import best, check_k
from freshstack_datasets.retrieval.encoders import Encoder, SentenceEncoder, encoder_told
from freshstack_datasets.retrieval.given import queries_given
from freshstack_datasets.retrieval.index_folder import damaged, read_note, write_note
from freshstack_datasets.retrieval.vectors import Maker, Vectors, default_folder, encoded, mapped, unit

Similarity = Literal["cosine", "dot"]

_IDS, _VECTORS = "doc_ids.json", "vectors.npy"
_AT_ONCE = 1 << 24
"""Scores that are held at once: 64 MB."""
_ROWS = 8192
_ROUNDING = 2.0**-24
"""The largest relative error of one operation in single precision."""


class Dense:
    """Exact search by the vectors of an encoder.

    The score of a document is the cosine of its vector and the query's, or their dot product: computed in double
    precision from 32-bit vectors, so that it depends on nothing but the two. A document or a query that says nothing
    has no vector; it is never found, and finds nothing.

    Vectors are kept under ``home()``, a block of documents at a time, by the model and the texts: an ``index`` that was
    interrupted, or one of a corpus that is the same in most places, goes on from there. Memory holds the scores of some
    queries, and the blocks as the system sees fit.

    Args:
        encoder: Makes vectors of texts; of a text, the name of a model of sentence-transformers or its folder.
        similarity: What is compared.
        query_prefix: What is put before a query; what the model itself asks for when not given.
        document_prefix: What is put before a document; what the model itself asks for when not given.
        name: The name of its runs.
        keep: Where vectors are kept: a folder, or False for memory alone.

    Raises:
        InputError: An argument is none that can be.
        MissingExtraError: sentence-transformers is not installed, and a name was given.
    """

    def __init__(
        self,
        encoder: Encoder | str,
        similarity: Similarity = "cosine",
        query_prefix: str | None = None,
        document_prefix: str | None = None,
        name: str = "dense",
        keep: Path | str | Literal[False] | None = None,
    ) -> None:
        if similarity not in ("cosine", "dot"):
            raise InputError("the similarity of vectors", expected="cosine or dot", got=shown(similarity))
        if encoder == "" or not (isinstance(encoder, str) or callable(getattr(encoder, "encode", None))):
            raise InputError("an encoder", expected="one, or the name or folder of a model", got=shown(encoder))
        self.encoder: Encoder = SentenceEncoder(encoder) if isinstance(encoder, str) else encoder
        self.similarity, self.name = similarity, name
        self.query_prefix, self.document_prefix = query_prefix, document_prefix
        self._keep = keep
        self._vectors: Vectors | None = None
        self.cut_queries = 0

    def __repr__(self) -> str:
        return f"Dense({dict(self.encoder.told)!r}, similarity={self.similarity!r})"

    @property
    def cut_documents(self) -> int:
        """How many documents of the index are longer than the model takes, so that their ends do not count."""
        return self._indexed().cut

    def index(self, documents: Collection[Document]) -> Self:
        """Encode documents by their ``default_text``, in place of any indexed before.

        Args:
            documents: The corpus; each id once. It is read once, a block at a time.

        Raises:
            InputError: Something in the corpus is no document, or the model cannot be used.
            RecordError: A document id comes twice.
            EndpointError: The server does not embed a document.
        """
        keep = None if self._keep is False else default_folder() if self._keep is None else Path(self._keep)
        maker = Maker(self.encoder, self.document_prefix, normalised=self.similarity == "cosine", keep=keep)
        self._vectors = maker.made(documents)
        return self

    def search(self, queries: Iterable[Query], k: int = 100) -> Run:
        """Return the documents whose vectors are the nearest to that of each query's text.

        Args:
            queries: The queries; each id once.
            k: The most documents a query may have, at least 1.

        Raises:
            InputError: ``k`` is no whole number or below 1, something is no query, or nothing was indexed.
            RunError: A query comes twice.
            EndpointError: The server does not embed a query.
        """
        k, vectors = check_k(k), self._indexed()
        taken = queries_given(queries)
        matrix = vectors.matrix
        asked = self._asked([query.text for query in taken], matrix.shape[1])
        codes, scores = [np.empty(0, np.intp)], [np.empty(0, np.float64)]
        step = max(1, _AT_ONCE // max(1, len(matrix)))
        for at in track(range(0, len(taken), step), -(-len(taken) // step), "searching"):
            some = asked[at : at + step]
            with np.errstate(over="ignore", invalid="ignore"):  # what is too large is computed again
                products = some @ matrix.T
            for query, row in zip(some, products, strict=True):
                places, found = _best(query, row, vectors, k)
                codes.append(places)
                scores.append(found)
        return Run.from_codes(
            [query.query_id for query in taken],
            np.cumsum([len(found) for found in codes]),  # the first is empty, so this begins with 0
            vectors.doc_ids,
            np.concatenate(codes).astype(np.int32),
            np.concatenate(scores),
            self.name,
        )

    def save(self, folder: Path) -> None:
        """Write the vectors into a new folder.

        Args:
            folder: Where it goes; it must not exist, or be an empty folder.

        Raises:
            InputError: Something is there already, or nothing was indexed.
        """
        vectors = self._indexed()
        parameters = {
            "encoder": dict(self.encoder.told),
            "similarity": self.similarity,
            "query_prefix": self.query_prefix,
            "document_prefix": self.document_prefix,
            "name": self.name,
            "cut": vectors.cut,
        }
        with atomic_folder(folder) as work:
            (work / _IDS).write_text(json.dumps(list(vectors.doc_ids)), encoding="utf-8")
            if vectors.matrix.size:
                np.save(work / _VECTORS, vectors.matrix, allow_pickle=False)
            write_note(work, "Dense", parameters)

    @classmethod
    def load(cls, folder: Path, encoder: Encoder | None = None) -> Self:
        """Return the retriever that was saved into a folder; its vectors stay on disk.

        Args:
            folder: A folder that ``save`` wrote, which must stay as it is.
            encoder: The encoder of the queries; made again as the folder tells it when not given.

        Raises:
            InputError: The folder is something else or damaged, or its encoder cannot be made again.
        """
        folder = Path(folder)
        told = read_note(folder, "Dense")
        given = encoder or encoder_told(told.get("encoder") or {})
        self = cls(given, told["similarity"], told.get("query_prefix"), told.get("document_prefix"), told["name"])
        try:
            doc_ids = json.loads((folder / _IDS).read_bytes())
        except (OSError, ValueError, RecursionError):
            raise damaged(folder / _IDS, "JSON", "something else") from None
        whole = isinstance(doc_ids, list) and all(isinstance(doc_id, str) for doc_id in doc_ids)
        if not whole or any(a >= z for a, z in pairwise(doc_ids)):
            raise damaged(folder / _IDS, "document ids in ascending order", "something else")
        there = (folder / _VECTORS).is_file()
        rows = mapped(folder / _VECTORS) if there else np.zeros((len(doc_ids), 0), np.float32)
        if rows is None or len(rows) != len(doc_ids):
            raise damaged(folder / _VECTORS, f"{len(doc_ids)} vectors", "others")
        self._vectors = Vectors(tuple(doc_ids), rows, told["cut"])
        return self

    def _asked(self, texts: list[str], dimensions: int) -> NDArray[np.float32]:
        """Return the vectors of queries; zeros where there is nothing to search in."""
        if not dimensions:
            return np.zeros((len(texts), dimensions), np.float32)
        made = encoded(self.encoder, texts, "query", self.query_prefix)
        self.cut_queries += made.cut
        rows = made.vectors if made.vectors.shape[1] else np.zeros((len(texts), dimensions), np.float32)
        if rows.shape[1] != dimensions:
            got = f"{rows.shape[1]} of the query"
            raise InputError("an encoder's vectors", expected=f"{dimensions} dimensions as the documents have", got=got)
        return unit(rows) if self.similarity == "cosine" else rows

    def _indexed(self) -> Vectors:
        if self._vectors is None:
            raise InputError("Dense has no index", hint="call index(documents) first")
        return self._vectors


def _best(query: NDArray[np.float32], products: NDArray[np.float32], vectors: Vectors, k: int) -> tuple[Any, Any]:
    """Return the places and the scores of the best documents.

    Products in single precision are off by no more than a bound. All documents that could be among the best by it are
    computed again in double precision, each by itself, so that equal vectors have equal scores.
    """
    doubles = query.astype(np.float64)
    near = np.arange(len(products))
    if not doubles.any():
        return near[:0], doubles[:0]
    if np.isfinite(products).all():
        length = float(np.sqrt((doubles * doubles).sum()))
        error = 2 * _ROUNDING * len(query) * length * vectors.longest  # twice what theory allows
        certain = products[np.abs(products) > error]  # others may be zero, and are then not found
        if len(certain) > k:
            near = np.flatnonzero(products >= np.partition(certain, -k)[-k] - 2 * error)
    scores = np.empty(len(near), np.float64)
    for at in range(0, len(near), _ROWS):
        some = near[at : at + _ROWS]
        scores[at : at + _ROWS] = (vectors.matrix[some].astype(np.float64) * doubles).sum(axis=1)
    places = best(scores, k)
    return near[places], scores[places]
