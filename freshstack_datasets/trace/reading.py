"""Reading the trace of a snapshot, which is looked up by ids and never read whole; nothing in it is trusted."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from freshstack_datasets.errors import SnapshotError, shown
from freshstack_datasets.tables.parquet import VERIFY, TableReader, readable, regular_file
from freshstack_datasets.tables.schema import Table
from freshstack_datasets.trace.schema import CALLS, CALLS_FILE, DROPPED_FILE, POOL, POOL_FILE

_MOST_PLACES = 1_000
"""Places of a document in the lists of a question that are told; there are some tens."""
_LONGEST_LINE = 1_000_000
"""Bytes of a line of what was left out; what is longer is read as several, and is no JSON."""


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call of a model, as it was published.

    Args:
        call_id: Its id.
        query_id: The question on whose behalf it was made.
        stage: What it was made for: nuggets, support ….
        model: The model that answered.
        asked: The model that was asked.
        prompt: The digest of the prompt.
        parameters: What was sent beside the conversation.
        reply: What the model said.
        created: When: ISO 8601, in UTC.
        input_tokens: What it read; None where that is not known.
        output_tokens: What it wrote; None likewise.
        usd: What it cost; None likewise.
        documents: The ids of the documents that it was shown, in this order; none where it was shown none.
    """

    call_id: str
    query_id: str
    stage: str
    model: str
    asked: str
    prompt: str
    parameters: Mapping[str, Any]
    reply: str
    created: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float | None = None
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a document in a list that helped to bring it before the judge.

    Args:
        technique: What was searched for.
        retriever: Who found it.
        rank: Its place in the list, from 1.
    """

    technique: str
    retriever: str
    rank: int


@dataclass(frozen=True)
class Calls:
    """The calls that made a snapshot.

    Args:
        folder: The snapshot's folder.
        root: Below which its files may be links to; below the folder when None.

    Raises:
        SnapshotError: On reading: the file is missing, damaged, or another table.
    """

    folder: Path
    root: Path | None = None

    @cached_property
    def _reader(self) -> TableReader:
        return TableReader(self.folder, CALLS, [CALLS_FILE], self.root)

    @cached_property
    def _ids(self) -> pa.Table:
        return self._reader.read(["call-id", "query-id"])

    def get(self, call_id: str, query_id: str) -> TracedCall | None:
        """Return a call that was made on behalf of a question, None where there is none of that id.

        Raises:
            SnapshotError: The file cannot be read.
        """
        rows = _rows(self._ids, {"call-id": call_id, "query-id": query_id})
        return _call(_row(self._reader, CALLS, CALLS_FILE, rows[0])) if len(rows) else None

    def all(self) -> Iterator[TracedCall]:
        """Yield all calls, as they come in the file.

        Raises:
            SnapshotError: The file cannot be read.
        """
        for batch in self._reader.batches(rows=CALLS.group_rows):
            for row in batch.to_pylist():
                if None in map(row.__getitem__, CALLS.required):
                    raise _damaged(CALLS_FILE, "a value in every row", "a null")
                yield _call(row)


@dataclass(frozen=True)
class Pool:
    """What brought documents before the judge.

    Args:
        folder: The snapshot's folder.
        root: Below which its files may be links to; below the folder when None.

    Raises:
        SnapshotError: On reading: the file is missing, damaged, or another table.
    """

    folder: Path
    root: Path | None = None
    _kept: dict[int, pa.Table] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _reader(self) -> TableReader:
        return TableReader(self.folder, POOL, [POOL_FILE], self.root)

    @cached_property
    def _ids(self) -> pa.Table:
        return self._reader.read(["query-id", "corpus-id"])

    @cached_property
    def retrievers(self) -> frozenset[str]:
        """Who found documents: retrievers, and what all of them found together.

        Raises:
            SnapshotError: The file cannot be read.
        """
        return frozenset(filter(None, self._reader.read(["retriever"])["retriever"].unique().to_pylist()))

    def places(self, query_id: str, doc_id: str) -> list[Place]:
        """Return the places of a document in the lists of a question, as they come in the file.

        Raises:
            SnapshotError: The file cannot be read.
        """
        rows = _rows(self._ids, {"query-id": query_id, "corpus-id": doc_id})
        found = [_row(self._reader, POOL, POOL_FILE, row, self._kept) for row in rows[:_MOST_PLACES]]
        return [Place(row["technique"], row["retriever"], row["rank"]) for row in found]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a stage of the build left out.

    Args:
        stage: The stage.
        reason: Why.
        detail: More of it.
    """

    stage: str
    reason: str
    detail: str


def left_out(folder: Path, query_id: str, doc_id: str, root: Path | None = None) -> list[LeftOut]:
    """Return why no stage judged a document for a question, as far as that is known.

    Args:
        folder: The snapshot's folder.
        query_id: The question.
        doc_id: The document.
        root: Below which its files may be links to; below the folder when not given.

    Raises:
        SnapshotError: The file is missing or damaged.
    """
    path, found = regular_file(folder, DROPPED_FILE, root), []
    with readable(DROPPED_FILE), path.open("rb") as stream:
        while line := stream.readline(_LONGEST_LINE):
            if b'"document"' in line:
                item = _object(line)
                if (item.get("id"), item.get("document")) == (query_id, doc_id):
                    found.append(LeftOut(*(str(item.get(name, "")) for name in ("stage", "reason", "detail"))))
    return found


def _object(line: bytes) -> dict[str, Any]:
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        item = None
    if not isinstance(item, dict):
        raise _damaged(DROPPED_FILE, "a JSON object on each line", shown(line))
    return item


def _rows(ids: pa.Table, wanted: Mapping[str, str]) -> list[int]:
    """Return the rows that hold some values."""
    there = np.ones(ids.num_rows, bool)
    for column, value in wanted.items():
        there &= pc.fill_null(pc.equal(ids[column], value), False).to_numpy()
    return [int(row) for row in np.flatnonzero(there)]


def _row(
    reader: TableReader, table: Table, path: str, row: int, kept: dict[int, pa.Table] | None = None
) -> dict[str, Any]:
    """Return one row as plain values, of which none is null that must not be."""
    number, place = reader.group_of(row)
    rows = (kept or {}).get(number)
    if rows is None:
        rows = reader.group(number)
        if kept is not None:
            kept.clear()
            kept[number] = rows
    found: dict[str, Any] = rows.slice(place, 1).to_pylist()[0]
    for name in table.required:
        if found[name] is None:
            raise _damaged(path, f"a value in every row of {name}", "a null")
    return found


def _call(row: Mapping[str, Any]) -> TracedCall:
    """Return a row of the calls."""
    try:
        parameters = json.loads(row["parameters"])
    except (ValueError, RecursionError):
        parameters = None
    if not isinstance(parameters, dict):
        raise _damaged(CALLS_FILE, "a JSON object as parameters", shown(row["parameters"]))
    documents = row["documents"] or []
    if None in documents:
        raise _damaged(CALLS_FILE, "ids of documents", "a null")
    return TracedCall(
        call_id=row["call-id"],
        query_id=row["query-id"],
        **{name: row[name] for name in ("stage", "model", "asked", "prompt", "reply", "created", "usd")},
        parameters=parameters,
        input_tokens=row["input-tokens"],
        output_tokens=row["output-tokens"],
        documents=tuple(documents),
    )


def _damaged(path: str, expected: str, got: str) -> SnapshotError:
    return SnapshotError(f"{path} cannot be read", expected=expected, got=got, hint=VERIFY)
