"""Runs, and the one ranking: score descending, then document id descending (trec_eval's rule).

Every run is put into that order once, when it is made; whoever takes a ``Run`` may rely on it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import lt
from pathlib import PurePath
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.checks import bad_score, check_ids, checked_scores, refuse_repeats
from freshstack_datasets.errors import RunError, UnknownNameError, shown

_READ_BY_AN_ADAPTER = ("pandas", "ranx")
"""Libraries whose runs the adapter of the same name reads."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The rankings that one system gave for some queries, in arrays.

    Made by ``from_dict``, ``from_columns`` or ``from_codes``, which check what they are given and put the documents
    of each query into the one ranking. A query may have no document. Two runs are equal when they rank the same
    documents with the same scores: the name, the order of the queries and queries without document do not count.

    Args:
        query_ids: The queries, each once, in the order they came.
        offsets: int64 of shape (queries + 1,); query ``i`` has the entries ``offsets[i]:offsets[i + 1]``.
        doc_ids: The vocabulary: document ids in ascending order, each once; it may hold ids that no query uses.
        codes: int32 of shape (entries,), each entry's place in ``doc_ids``.
        scores: float64 of shape (entries,), finite.
        name: The system's name.
    """

    query_ids: tuple[str, ...]
    offsets: NDArray[np.int64]
    doc_ids: Sequence[str]
    codes: NDArray[np.int32]
    scores: NDArray[np.float64]
    name: str = "run"

    @classmethod
    def from_dict(cls, run: Mapping[str, Mapping[str, float]], name: str = "run") -> Self:
        """Make a run of query id to document id to score.

        Raises:
            RunError: An id or a score is not allowed; the first offender is named.
        """
        if not isinstance(run, Mapping):
            raise RunError("a run", expected="a mapping of mappings", got=f"{shown(run)} ({type(run).__name__})")
        counts = []
        for query_id, documents in run.items():
            if not isinstance(documents, Mapping):
                raise RunError(
                    f"query {shown(query_id)}",
                    expected="a mapping from document id to score",
                    got=f"{shown(documents)} ({type(documents).__name__})",
                )
            counts.append(len(documents))
        query_ids, offsets = tuple(run), _offsets(counts)
        doc_ids = list(chain.from_iterable(run.values()))
        scores = list(chain.from_iterable(documents.values() for documents in run.values()))
        numbers = np.repeat(np.arange(len(query_ids)), counts)
        values = checked_scores(query_ids, numbers, doc_ids, scores)
        return cls.from_codes(query_ids, offsets, *_encoded(doc_ids), values, name)

    @classmethod
    def from_columns(
        cls, query_ids: Sequence[str], doc_ids: Sequence[str], scores: Sequence[float], name: str = "run"
    ) -> Self:
        """Make a run of three columns of one length, a row an entry, in any order.

        Raises:
            RunError: The columns differ in length, an id or a score is not allowed, or a document comes twice for a
                query; the first offender is named.
        """
        if not len(query_ids) == len(doc_ids) == len(scores):
            raise RunError(
                "the columns of a run",
                expected="one length",
                got=f"{len(query_ids)} query ids, {len(doc_ids)} document ids, {len(scores)} scores",
            )
        try:
            known = tuple(dict.fromkeys(query_ids))
        except TypeError:  # one has no hash, so it is no text
            check_ids(query_ids, "query")
            raise
        number = {query_id: i for i, query_id in enumerate(known)}
        numbers = np.fromiter(map(number.__getitem__, query_ids), np.int64, len(query_ids))
        values = checked_scores(known, numbers, doc_ids, scores)
        vocabulary, codes = _encoded(doc_ids)
        refuse_repeats(known, numbers, vocabulary, codes)  # before they are put in order, to name the first row
        order = np.argsort(numbers, kind="stable")
        return cls.from_codes(known, _offsets(np.bincount(numbers)), vocabulary, codes[order], values[order], name)

    @classmethod
    def from_codes(
        cls,
        query_ids: Sequence[str],
        offsets: NDArray[np.int64],
        doc_ids: Sequence[str],
        codes: NDArray[np.int32],
        scores: NDArray[np.float64],
        name: str = "run",
    ) -> Self:
        """Make a run of arrays as the class describes them, with the entries of a query in any order.

        The arrays are copied.

        Raises:
            RunError: The arrays do not fit together, an id or a score is not allowed, a query or a document comes
                twice; the first offender is named.
        """
        query_ids, doc_ids = tuple(query_ids), tuple(doc_ids)
        try:
            for numbers in (np.asarray(offsets), np.asarray(codes)):
                if numbers.size and numbers.dtype.kind not in "iu":  # numpy would cut 0.5 to 0
                    raise ValueError(f"numbers of the type {numbers.dtype}")
            offsets, codes = np.array(offsets, np.int64), np.array(codes, np.int32)
            scores = np.array(scores, np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise RunError(
                "the arrays of a run", expected="whole numbers, and scores in double precision", got=shown(str(error))
            ) from None
        fits = (
            offsets.shape == (len(query_ids) + 1,)
            and codes.shape == scores.shape == (int(offsets[-1]),)
            and offsets[0] == 0
            and bool((np.diff(offsets) >= 0).all())
            and (not len(codes) or (int(codes.min()) >= 0 and int(codes.max()) < len(doc_ids)))
        )
        if not fits:
            raise RunError(
                "the arrays of a run do not fit together",
                expected=f"{len(query_ids) + 1} offsets and as many codes as scores, each below {len(doc_ids)}",
                got=f"offsets {offsets.shape}, codes {codes.shape}, scores {scores.shape}",
            )
        check_ids(query_ids, "query")
        check_ids(doc_ids, "document")
        if not all(map(lt, doc_ids, doc_ids[1:])):
            raise RunError("the vocabulary of a run", expected="ids in ascending order, each once", got="another order")
        number = {query_id: i for i, query_id in reversed(list(enumerate(query_ids)))}
        if len(number) < len(query_ids):
            twice = next(query_id for i, query_id in enumerate(query_ids) if number[query_id] < i)
            raise RunError(f"query {shown(twice)}", expected="each query once", got="it twice")
        queries = np.repeat(np.arange(len(query_ids)), np.diff(offsets))
        if not np.isfinite(scores).all():
            i = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise bad_score(query_ids[queries[i]], doc_ids[codes[i]], float(scores[i]))
        refuse_repeats(query_ids, queries, doc_ids, codes)
        same = queries[1:] == queries[:-1]
        falling = scores[1:] < scores[:-1]
        tied = (scores[1:] == scores[:-1]) & (codes[1:] < codes[:-1])
        if (same & ~falling & ~tied).any():
            order = np.lexsort((-codes, -scores, queries))
            codes, scores = codes[order], scores[order]
        for array in (offsets, codes, scores):
            array.flags.writeable = False
        return cls(query_ids, offsets, doc_ids, codes, scores, name)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {query_id: i for i, query_id in enumerate(self.query_ids)}

    def __len__(self) -> int:
        return len(self.query_ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.query_ids)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._place

    def __getitem__(self, query_id: str) -> dict[str, float]:
        """Return the documents of one query with their scores, best first.

        Raises:
            UnknownNameError: The run has no such query.
        """
        i = self._place.get(query_id)
        if i is None:
            raise UnknownNameError("query", query_id, self.query_ids)
        entries = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        ids = (self.doc_ids[code] for code in self.codes[entries].tolist())
        return dict(zip(ids, self.scores[entries].tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return {q: d for q, d in self.to_dict().items() if d} == {q: d for q, d in other.to_dict().items() if d}

    __hash__ = None  # type: ignore[assignment]  # equality looks into arrays

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickle by way of ``from_codes``: arrays that were pickled come back writable."""
        parts = (self.query_ids, self.offsets, self.doc_ids, self.codes, self.scores, self.name)
        return type(self).from_codes, parts

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {len(self)} queries, {len(self.codes)} documents>"

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return query id to document id to score, documents best first."""
        return {query_id: self[query_id] for query_id in self.query_ids}

    def named(self, name: str) -> Self:
        """Return the same run under another name."""
        return type(self)(self.query_ids, self.offsets, self.doc_ids, self.codes, self.scores, name)

    def collapse(self, mapping: Mapping[str, str] | Callable[[str], str]) -> "Run":
        """Return a run of larger units, such as files for chunks, each with the best score of its parts.

        Args:
            mapping: From a document id to the id of its unit; every document of the run must have one.

        Raises:
            RunError: A document has no unit.
        """
        unit_of = mapping if callable(mapping) else mapping.__getitem__
        collapsed: dict[str, dict[str, float]] = {}
        for query_id, documents in self.to_dict().items():
            best = collapsed.setdefault(query_id, {})
            for doc_id, score in documents.items():  # best first, so the first of a unit counts
                try:
                    best.setdefault(unit_of(doc_id), score)
                except LookupError:
                    raise RunError(f"document {shown(doc_id)}", expected="a unit in the mapping", got="none") from None
        return Run.from_dict(collapsed, self.name)


def as_run(run: Run | Mapping[str, Mapping[str, float]]) -> Run:
    """Return a run, whether it came as one or as a nested mapping.

    Raises:
        RunError: It is neither, or its content is not allowed.
    """
    if isinstance(run, Run):
        return run
    if not isinstance(run, Mapping):
        raise no_run(run)
    return Run.from_dict(run)


def no_run(given: object) -> RunError:
    """Return the error for something that is neither a run nor a mapping, with how to make one of it.

    Args:
        given: What was given.
    """
    got, hint = type(given).__name__, "make one with Run.from_dict or Run.from_columns"
    library = type(given).__module__.partition(".")[0]
    if isinstance(given, str | PurePath):
        got, hint = f"{shown(str(given))} ({got})", "read it with read_run"
    elif hasattr(given, "judgments"):
        hint = "runs come first, the dataset after them"
    elif library in _READ_BY_AN_ADAPTER:
        got, hint = f"{library}.{got}", f"read it with adapters.{library}.read"
    return RunError("a run", expected="a Run or a mapping of mappings", got=got, hint=hint)


def _encoded(doc_ids: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the vocabulary of some ids, and the place of each in it."""
    vocabulary = tuple(sorted(set(doc_ids)))
    code = {doc_id: i for i, doc_id in enumerate(vocabulary)}
    return vocabulary, np.fromiter(map(code.__getitem__, doc_ids), np.int32, len(doc_ids))


def _offsets(counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
