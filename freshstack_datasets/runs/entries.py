"""The entries of a run file, gathered into arrays while the file is read, and the run that is made of them."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import inf
from pathlib import Path
from sys import getsizeof
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from freshstack_datasets.errors import RunFileError, shown
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs.notes import KEPT, MOST_FAULTS, Notes, too_many
from freshstack_datasets.runs.vocabulary import Ids, Vocabulary

KEPT_LIMIT = 1 << 28
"""Bytes that a file may make a reader keep before the whole of it was looked through."""

NAME_LIMIT = 200
"""Characters that the name of a run may have in a file."""

_FIRST_CHECK = 1 << 18
_ENTRY_BYTES, _ID_BYTES = 40, 150  # with what a search for duplicates takes; and an id's places beside its string
_NO_NAME = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Taker(Protocol):
    """What the readers of formats give entries to."""

    @property
    def notes(self) -> Notes | None:
        """Where faults are noted; None where the first one is raised."""
        ...

    @property
    def most_bytes(self) -> float:
        """Bytes that the file may have, decompressed."""
        ...

    @property
    def overflowed(self) -> bool:
        """Whether no more is kept of the file."""
        ...

    def refuse(self, error: RunFileError) -> None:
        """Note a fault, or raise it."""
        ...

    def add(self, query_ids: Ids, doc_ids: Ids, scores: Sequence[float] | NDArray[np.float64]) -> None:
        """Take entries, in three columns of one length."""
        ...

    def add_query(self, query_id: str) -> None:
        """Take a query, which may get no entry."""
        ...


class Entries:
    """Entries of one file, 16 bytes each, with every id kept once.

    Ids and scores come in checked; duplicates are found here. They are looked for at the end and each time the
    number of entries has doubled, so that a file that repeats itself for ever is refused early.

    Args:
        path: The file, for messages.
        unit: What an entry stands in, counted from 1: line or row.
        limit: Bytes to keep, as estimated; at more of them, all are let go and none is kept from then on.
        notes: Takes faults, so that reading goes on after them; then too much to keep is a fault as well.
        most_bytes: Bytes that the file may have, decompressed.
        most: Entries that it may have.
    """

    def __init__(
        self,
        path: Path,
        unit: str = "line",
        limit: float = inf,
        notes: Notes | None = None,
        most_bytes: float = inf,
        most: float = inf,
    ) -> None:
        self._path, self._unit, self._limit, self._most = path, unit, limit, most
        self.notes, self.most_bytes = notes, most_bytes
        self.overflowed = False
        self._queries: defaultdict[str, int] = defaultdict()
        self._queries.default_factory = self._queries.__len__  # a new id gets the next number
        self._docs = Vocabulary()
        self._parts: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
        self._count, self._next_check = 0, _FIRST_CHECK

    def refuse(self, error: RunFileError) -> None:
        """Note a fault, or raise it where none are noted."""
        if self.notes is None:
            raise error
        self.notes.refuse(error)

    def add(self, query_ids: Ids, doc_ids: Ids, scores: Sequence[float] | NDArray[np.float64]) -> None:
        """Add entries, in three columns of one length.

        Raises:
            RunFileError: A document has come twice for a query.
        """
        if self.overflowed:
            return
        known = len(self._queries)
        self._docs.add(doc_ids)
        self._parts.append((_numbers(self._queries, query_ids), np.asarray(scores, np.float64)))
        self._count += len(scores)
        if self._count >= self._next_check:
            self._check_duplicates(*self.columns()[:2])
            self._next_check = 2 * self._count
        self._spend(_ENTRY_BYTES * len(scores) + _last(self._queries, known))

    def add_query(self, query_id: str) -> None:
        """Note a query, which may get no entry."""
        if self.overflowed:
            return
        known = len(self._queries)
        self._queries[query_id]  # a look is enough: it makes the number
        self._spend(_last(self._queries, known))

    def run(self, name: str) -> Run:
        """Return the run.

        Raises:
            RunFileError: There is no query, or a document comes twice for one.
        """
        if not self._queries:
            raise RunFileError(
                self._path, 0, "a run", expected="at least one query", got="none: the file is empty", kind="empty"
            )
        queries, docs, scores = self.columns()
        self._parts.clear()
        self._check_duplicates(queries, docs)
        vocabulary, place = self._docs.in_order()
        if (queries[1:] < queries[:-1]).any():  # the entries of a query do not stand together
            order = np.argsort(queries, kind="stable")
            docs, scores = docs[order], scores[order]
        counts = np.bincount(queries, minlength=len(self._queries))
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Run.from_codes(tuple(self._queries), offsets, tuple(vocabulary), place[docs], scores, name)

    def _spend(self, size: int) -> None:
        self._limit -= size
        if self._docs.size > self._limit:
            self._docs.ids()  # counts each once
        if self._docs.size <= self._limit and self._count <= self._most:
            return
        if self.notes is not None:
            expected, hint = "fewer entries", "hand in the best documents of each query alone"
            raise RunFileError(self._path, 0, "a run", expected=expected, got="more", hint=hint, kind="large")
        self._check_duplicates(*self.columns()[:2])
        self.overflowed = True
        self._queries.clear()
        self._docs.clear()
        self._parts.clear()

    @property
    def query_ids(self) -> list[str]:
        """The queries, each once, in the order they came: what numbers of queries stand for."""
        return list(self._queries)

    @property
    def doc_ids(self) -> list[str]:
        """The documents, likewise."""
        ids: list[str] = self._docs.ids().to_pylist()
        return ids

    def columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Return the numbers of queries and documents, and the scores, of all entries as they came."""
        nothing = np.zeros(0, np.int32), np.zeros(0)
        queries, scores = zip(nothing, *self._parts, strict=True)
        return np.concatenate(queries), self._docs.codes(), np.concatenate(scores)

    def duplicates(self) -> tuple[int, list[RunFileError]]:
        """Return how many entries come again, and the errors of the first few."""
        queries, docs, _ = self.columns()
        seconds = _repeats(queries, docs, len(self._docs.ids()))
        return len(seconds), [self._twice(queries, docs, int(second)) for second in seconds[:KEPT]]

    def _check_duplicates(self, queries: NDArray[np.int32], docs: NDArray[np.int32]) -> None:
        """Refuse entries that come again; where faults are noted, only very many, since the others are noted at the end."""
        seconds = _repeats(queries, docs, len(self._docs.ids()))
        if self.notes is None and len(seconds):
            raise self._twice(queries, docs, int(seconds[0]))
        if len(seconds) > MOST_FAULTS:
            raise too_many(self._path, 0)

    def _twice(self, queries: NDArray[np.int32], docs: NDArray[np.int32], second: int) -> RunFileError:
        first = int(np.flatnonzero((queries == queries[second]) & (docs == docs[second]))[0])
        query_id, doc_id = list(self._queries)[queries[second]], self._docs.ids()[docs[second]].as_py()
        what = f"document {shown(doc_id)} of query {shown(query_id)}"
        numbers = first + 1, second + 1
        if self.notes is not None and self.notes.lines:  # lines at fault have no entry
            lines = np.concatenate(self.notes.lines)
            numbers = int(lines[first]), int(lines[second])
        line = numbers[1] if self._unit == "line" else 0
        if not line:
            what = f"{self._unit} {numbers[1]}: {what}"
        got = f"it a second time, after {self._unit} {numbers[0]}"
        return RunFileError(self._path, line, what, expected="it once", got=got, kind="duplicate")


def _repeats(queries: NDArray[np.int32], docs: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    """Return the places of entries that come again, in rising order."""
    keys = queries.astype(np.int64) * size + docs
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.zeros(0, np.int64)
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    return np.sort(order[again + 1])


def _numbers(known: Mapping[str, int], ids: Ids) -> NDArray[np.int32]:
    """Return the number of each id; ids in Arrow become Python strings only once each."""
    if isinstance(ids, pa.Array):
        encoded = ids.dictionary_encode()
        places: NDArray[np.int32] = encoded.indices.to_numpy()
        return _numbers(known, encoded.dictionary.to_pylist())[places]
    return np.fromiter(map(known.__getitem__, ids), np.int32, len(ids))


def _last(ids: dict[str, int], known: int) -> int:
    """Return about how many bytes the ids take that came after those that were known."""
    return sum(_ID_BYTES + getsizeof(value) for value in islice(reversed(ids), len(ids) - known))


def gathered(path: Path, scan: Callable[[Path, Entries], str], unit: str) -> Run:
    """Return the run that a file holds.

    A file that would make a reader keep more than ``KEPT_LIMIT`` bytes is looked through to its end with nothing kept,
    and only then read again; so a bad file of any size costs that much at most. What comes twice after the limit
    can only be found at the second time. A pipe can be read once only, and all of it is kept at once.

    Args:
        path: The file.
        scan: Reads the file, gives its entries away, and returns the name that it holds, "" for none.
        unit: What an entry stands in: line or row.

    Raises:
        RunFileError: The file does not hold a run.
    """
    entries = Entries(path, unit, KEPT_LIMIT if path.is_file() else inf)
    name = scan(path, entries)
    if entries.overflowed:
        entries = Entries(path, unit)
        name = scan(path, entries)
    return entries.run(clean_name(name) or clean_name(_file_name(path)))


def clean_name(name: str) -> str:
    """Return the name of a run without signs that steer a terminal or are no text, and cut to ``NAME_LIMIT``."""
    return _NO_NAME.sub("_", name[:NAME_LIMIT])


def _file_name(path: Path) -> str:
    """Return the name of a run whose file holds none: the file's name without its suffixes."""
    name = path.name
    for suffix in reversed(path.suffixes[-2:]):
        name = name.removesuffix(suffix)
    return name or "run"
