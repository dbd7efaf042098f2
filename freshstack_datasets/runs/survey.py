"""A look at a whole run file at once: every fault with its line, and what is odd without being wrong.

One pass gives the run, the faults and the columns as they stand in the file. However large or bad the file is, it takes
bounded memory and time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.errors import RunFileError
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs.entries import KEPT_LIMIT, Entries
from freshstack_datasets.runs.formats import format_of, scanner_of
from freshstack_datasets.runs.notes import Faults, Notes

MOST_BYTES = 1 << 30
"""Bytes that a file may have, decompressed."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The entries of a file in its own order.

    Args:
        query_ids: The queries, each once.
        doc_ids: The documents, each once.
        queries: int32 of shape (entries,), places in ``query_ids``.
        docs: int32 of shape (entries,), places in ``doc_ids``.
        scores: float64 of shape (entries,).
        ranks: int64 of shape (entries,), as they are written; -1 for one of no use; None where there are none.
        lines: int64 of shape (entries,), None where entries have no line of their own.
    """

    query_ids: list[str] = field(repr=False)
    doc_ids: list[str] = field(repr=False)
    queries: NDArray[np.int32]
    docs: NDArray[np.int32]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int64] | None = None
    lines: NDArray[np.int64] | None = None

    def line(self, entry: int) -> int:
        """Return the line of an entry, 0 where it has none."""
        return 0 if self.lines is None else int(self.lines[entry])

    def counts(self) -> NDArray[np.int64]:
        """Return how many entries each query has, int64 of shape (queries,)."""
        return np.bincount(self.queries, minlength=len(self.query_ids))

    def first(self, places: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the entry at which each query, or each document, comes first; -1 for one that has none.

        Args:
            places: ``queries`` or ``docs``.
        """
        size = len(self.query_ids if places is self.queries else self.doc_ids)
        found = np.full(size, -1)
        found[places[::-1]] = np.arange(len(places) - 1, -1, -1)  # the last one that is put in stays
        return found


@dataclass(frozen=True, eq=False)
class Survey:
    """What was found in a file.

    Args:
        path: The file.
        run: The run; None where there is a fault.
        columns: The entries without fault.
        faults: By kind; see ``notes.KINDS``.
        tags: The line at which each tag comes first, of the first few tags; only TREC files have any.
        whole: Whether the file was looked at to its end; what is missing in it is known only then.
    """

    path: Path
    run: Run | None
    columns: Columns
    faults: Mapping[str, Faults]
    tags: Mapping[str, int]
    whole: bool


def survey_run(
    path: Path | str,
    format: str | None = None,
    *,
    most_bytes: float = MOST_BYTES,
    most_entries: float = float("inf"),
    most_kept: float = KEPT_LIMIT,
) -> Survey:
    """Look through a run file for all that is wrong with it.

    TREC and JSON lines are read on after a line with a fault; of nested JSON and Parquet the first fault is told.

    Args:
        path: The file.
        format: One of ``FORMATS``; by the suffix when not given.
        most_bytes: Bytes that it may have, decompressed.
        most_entries: Entries that it may have.
        most_kept: Bytes to keep of it, as estimated.

    Raises:
        InputError: Neither the suffix nor ``format`` is known.
    """
    path = Path(path)
    kind, _ = format_of(path, format)
    scan, unit = scanner_of(kind)
    notes = Notes()
    entries = Entries(path, unit, most_kept, notes, most_bytes, most_entries)
    name, ended = "", False
    try:
        name = scan(path, entries)
        ended = True
    except RunFileError as error:
        notes.add(error.kind, 1, [error])
    count, first = entries.duplicates()
    if count:
        notes.add("duplicate", count, first)
    columns = _columns(entries, notes)
    run = None
    if not notes.faults:
        try:
            run = entries.run(next(iter(notes.tags), name))
        except RunFileError as error:
            notes.add(error.kind, 1, [error])
    return Survey(path, run, columns, notes.faults, notes.tags, ended)


def _columns(entries: Entries, notes: Notes) -> Columns:
    queries, docs, scores = entries.columns()
    ranks = np.concatenate(notes.ranks)[: len(scores)] if notes.ranks else None
    lines = np.concatenate(notes.lines)[: len(scores)] if notes.lines else None
    return Columns(entries.query_ids, entries.doc_ids, queries, docs, scores, ranks, lines)
