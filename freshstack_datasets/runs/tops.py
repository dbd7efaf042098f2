"""The first ranks of each query of a run file, for who shows no more: the others are looked at and let go at once."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from freshstack_datasets.errors import RunFileError
from freshstack_datasets.runs.formats import format_of, scanner_of
from freshstack_datasets.runs.vocabulary import Ids


def read_top(path: Path | str, depth: int, format: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return the first documents of each query: those that ``read_run`` puts first, in a part of its time and memory.

    For a file that was read as a whole before: a document that comes twice for a query is not noticed here, nor is a
    file without any query.

    Args:
        path: The file.
        depth: Documents a query, at least 1.
        format: One of ``FORMATS``; by the suffix when not given.

    Raises:
        RunFileError: The file cannot be read, or an entry is not allowed; the first fault is named with its line.
        InputError: Neither the suffix nor ``format`` is known.
    """
    path = Path(path)
    kind, _ = format_of(path, format)
    scan, _ = scanner_of(kind)
    best = _Best(depth)
    scan(path, best)
    return {query_id: tuple(doc_id for _, doc_id in found) for query_id, found in best.found.items()}


class _Best:
    """Takes the entries of a file, and keeps the best ones of each query.

    Args:
        depth: How many.
    """

    notes = None
    most_bytes = inf
    overflowed = False

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self.found: dict[str, list[tuple[float, str]]] = {}

    def refuse(self, error: RunFileError) -> NoReturn:
        """Raise a fault."""
        raise error

    def add_query(self, query_id: str) -> None:
        """Note a query, which may get no entry."""
        self.found.setdefault(query_id, [])

    def add(self, query_ids: Ids, doc_ids: Ids, scores: Sequence[float] | NDArray[np.float64]) -> None:
        """Take entries, in three columns of one length, in any order."""
        known, queries = _numbered(query_ids)
        order = np.arange(len(queries))
        values = np.asarray(scores, np.float64)
        if (queries[1:] < queries[:-1]).any():  # the entries of a query do not stand together
            order = np.argsort(queries, kind="stable")
            queries, values = queries[order], values[order]
        starts = np.searchsorted(queries, np.arange(len(known) + 1))
        places = np.flatnonzero(values >= self._least(values, starts)[queries])
        pairs = list(zip(values[places].tolist(), _taken(doc_ids, order[places]), strict=True))
        ends = np.searchsorted(places, starts).tolist()
        for query_id, start, end in zip(known, ends[:-1], ends[1:], strict=True):
            pairs_of = [*self.found.get(query_id, ()), *pairs[start:end]]
            self.found[query_id] = sorted(pairs_of, reverse=True)[: self._depth]  # the one ranking: both fall

    def _least(self, values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return for each query a score that its best entries have at least: the least of the first ones.

        In a file that is in order, no other entry has it but those that tie with the last one.
        """
        if not len(values):
            return np.zeros(0)
        spans = np.stack([starts[:-1], np.minimum(starts[:-1] + self._depth, starts[1:])], axis=1)
        least: NDArray[np.float64] = np.minimum.reduceat(np.append(values, inf), spans.ravel())[::2]
        return least


def _numbered(ids: Ids) -> tuple[list[str], NDArray[np.int32]]:
    """Return each id once, in the order they came, and for each entry its number."""
    encoded = (ids if isinstance(ids, pa.Array) else pa.array(ids, pa.large_string())).dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()


def _taken(ids: Ids, places: NDArray[np.int64]) -> list[str]:
    if isinstance(ids, pa.Array):
        taken: list[str] = ids.take(pa.array(places)).to_pylist()
        return taken
    return [ids[place] for place in places.tolist()]
