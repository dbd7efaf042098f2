"""BM25 in Lucene's variant, on bm25s, with stop words and stems by language."""

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Self

import numpy as np

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.progress import track
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import bm25_index
from freshstack_datasets.retrieval.cut import best, check_k
from freshstack_datasets.retrieval.given import queries_given
from freshstack_datasets.retrieval.index_folder import FORMAT, NOTE, damaged, read_note, versions, write_note
from freshstack_datasets.retrieval.language import chosen_language, languages_of, query_language, terms

LIBRARIES = ("bm25s", "PyStemmer")


class BM25:
    """Lexical search by BM25 (Robertson and Zaragoza 2009) as Lucene computes it.

    The score of a document is the sum over the query's terms, a term as often as the query holds it, of
    ``log(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * length / mean length))``: N documents, n of them
    with the term, f times in this one. As in Lucene since version 8, and in bm25s, there is no factor ``k1 + 1``
    (Kamphuis et al., ECIR 2020). Scores are sums of 32-bit floats.

    A language decides on stop words and stems. Where a corpus has several, those of its dataset's queries:

    - A document is read in the language whose stop words it holds most of, every occurrence counted, and a word that
      two languages share for both. Of equals, or where there are none, the language of more queries is taken. A
      language without a list of stop words is taken only when it is that of most queries.
    - A query is read in its ``language``, or in that of most queries when no document can be in it. A query that says
      none is read by its stop words, like a document.
    - Terms of all languages are one vocabulary. What no stemmer changes, such as a code, is found across languages;
      a word may have another stem in another language, and then is not.

    Args:
        language: ISO 639-1 code of the one language that all is read in. None takes the ``languages`` of the documents
            that are indexed, or their ``language``, and English when they say neither.
        k1: How slowly further occurrences of a term stop to count, from 0 to 1000.
        b: How much the length of a document counts, from 0 to 1.

    Raises:
        InputError: An argument is out of its range.
    """

    def __init__(self, language: str | None = None, k1: float = 0.9, b: float = 0.4) -> None:
        self.language = None if language is None else chosen_language(language)
        self.k1, self.b = _within("k1", k1, 1000), _within("b", b, 1)
        self._index: bm25_index.Index | None = None

    def __repr__(self) -> str:
        return f"BM25(language={self.language!r}, k1={self.k1!r}, b={self.b!r})"

    def cache_key(self) -> str:
        """Return all that decides on an index beside the documents."""
        return json.dumps([repr(self), FORMAT, versions(*LIBRARIES)])

    def index(self, documents: Collection[Document]) -> Self:
        """Index documents by their ``default_text``, in place of any indexed before.

        Args:
            documents: The corpus; each id once. It is read once, a document at a time.

        Raises:
            InputError: Something in the corpus is no document.
            RecordError: A document id comes twice.
        """
        languages = languages_of(documents) if self.language is None else (self.language,)
        self._index = bm25_index.build(documents, languages, self.k1, self.b)
        return self

    def search(self, queries: Iterable[Query], k: int = 100) -> Run:
        """Return the documents with the highest scores for each query's text.

        Args:
            queries: The queries; each id once.
            k: The most documents a query may have, at least 1.

        Raises:
            InputError: ``k`` is no whole number or below 1, something is no query, or nothing was indexed.
            RunError: A query comes twice.
        """
        k, index = check_k(k), self._indexed()
        queries = queries_given(queries)
        codes, scores = [np.empty(0, np.intp)], [np.empty(0, np.float32)]
        for query in track(queries, len(queries), "searching"):
            language = query_language(query.language, query.text, index.languages)
            found = index.scores(terms(query.text, language))
            codes.append(best(found, k))
            scores.append(found[codes[-1]])
        return Run.from_codes(
            [query.query_id for query in queries],
            np.cumsum([len(found) for found in codes]),  # the first is empty, so this begins with 0
            index.doc_ids,
            np.concatenate(codes).astype(np.int32),
            np.concatenate(scores).astype(np.float64),
            "bm25",
        )

    def save(self, folder: Path) -> None:
        """Write the index into a new folder.

        Args:
            folder: Where it goes; it must not exist, or be an empty folder.

        Raises:
            InputError: Something is there already, or nothing was indexed.
        """
        index = self._indexed()
        parameters = {"language": self.language, "k1": self.k1, "b": self.b, "read_as": index.languages}
        with atomic_folder(folder) as work:
            bm25_index.write(index, work)
            write_note(work, "BM25", parameters, versions(*LIBRARIES))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the retriever that was saved into a folder; its large arrays stay on disk.

        Args:
            folder: A folder that ``save`` wrote, which must stay as it is.

        Raises:
            InputError: The folder is something else, is damaged, or another release of bm25s or PyStemmer made it.
        """
        folder = Path(folder)
        parameters = read_note(folder, "BM25", versions(*LIBRARIES))
        self = cls(parameters.get("language"), parameters.get("k1", -1), parameters.get("b", -1))
        read_as = parameters.get("read_as")
        if not isinstance(read_as, list) or not read_as:
            raise damaged(folder / NOTE, "the languages of the documents", shown(read_as))
        self._index = bm25_index.read(folder, tuple(map(chosen_language, read_as)), self.k1, self.b)
        return self

    def _indexed(self) -> bm25_index.Index:
        if self._index is None:
            raise InputError("BM25 has no index", hint="call index(documents) first")
        return self._index


def _within(name: str, value: object, most: int) -> float:
    if isinstance(value, int | float) and 0 <= value <= most:
        return float(value)
    raise InputError(f"the parameter {name} of BM25", expected=f"a number from 0 to {most}", got=shown(value))
