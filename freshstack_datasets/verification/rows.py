"""Looking at every row of one table: nulls, values, order, duplicates, count and digest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from freshstack_datasets.errors import SnapshotError, shown
from freshstack_datasets.manifest import TableEntry
from freshstack_datasets.tables.digest import TableDigest
from freshstack_datasets.tables.parquet import TableReader, columns_in_words, opened
from freshstack_datasets.tables.schema import IMPORTANCE, NUGGET_QRELS, NUGGETS, Table
from freshstack_datasets.verification.problems import Report

SHOWN_ID = 200
"""Characters of an id that a problem holds."""

POINTS_TO: Mapping[str, str] = {"query-id": "queries", "nugget-id": "nuggets", "corpus-id": "corpus"}
"""The table that a column of ids points into."""


@dataclass
class Seen:
    """What is kept of a table whose rows went by: its ids, never its texts.

    Args:
        table: The table.
        complete: Whether every row of it could be read.
        rows: How many rows were read.
        ids: Its ``_id`` column, or None where it has none; after it, ids that may be pointed to though no row has them.
        codes: For each column that points into another table, the place of each row's id among that table's ids,
            int32; -1 where there is none. Only columns whose table was read whole.
        scores: Its score column, where it has ids of documents; null is -1.
        starts: The first row of every file.
        files: The files.
    """

    table: Table
    complete: bool = True
    rows: int = 0
    ids: pa.Array | None = None
    codes: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    scores: NDArray[np.int32] | None = None
    starts: list[int] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def by_file(self, rows: NDArray[np.int64]) -> Iterator[tuple[str, list[int]]]:
        """Yield each file that holds some of the rows, with those rows, ascending."""
        homes = np.searchsorted(self.starts, rows, "right") - 1
        for home in np.unique(homes):
            yield self.files[home], np.sort(rows[homes == home]).tolist()

    def key(self, row: int, seen: "Mapping[str, Seen]") -> str:
        """Return what a problem calls a row: the ids of its key, with spaces between them."""
        if self.ids is not None:
            return str(self.ids[row].as_py())[:SHOWN_ID]
        return " ".join(seen[POINTS_TO[c]].key(int(self.codes[c][row]), seen) for c in self.table.key)


def check_table(
    folder: Path,
    table: Table,
    entry: TableEntry,
    before: Mapping[str, Seen],
    report: Report,
    root: Path | None = None,
) -> Seen:
    """Look at every row of a table and report what is wrong within it, or where it points to nothing.

    Args:
        folder: The snapshot's folder.
        table: The table.
        entry: What the manifest says of it.
        before: The tables that it points into, already seen.
        report: Takes the problems.
        root: Below which links of the folder may lead; below the folder when not given.
    """
    seen = Seen(table)
    digest, order = TableDigest(), _Order(table)
    nothing = pa.RecordBatch.from_pylist([], table.schema)  # so that a table without rows keeps its columns too
    kept = {name: [column] for name, column in _references(nothing, table, "", before, report).items()}
    for path in sorted(file.path for file in entry.files):
        seen.files.append(path)
        seen.starts.append(seen.rows)
        for batch in _batches(folder, path, table, seen, report, root):
            _check_values(batch, table, path, seen.rows, report)
            order.check(batch, path, report)
            digest.update(batch)
            for name, column in _references(batch, table, path, before, report).items():
                kept[name].append(column)
            seen.rows += batch.num_rows
    if seen.complete:
        first = seen.files[0]
        if seen.rows != entry.rows:
            report.add("row-count", first, "", f"expected {entry.rows} rows of {table.name}, got {seen.rows}")
        if order.kept and digest.hexdigest() != entry.digest:
            report.add("digest", first, "", f"expected {entry.digest} for {table.name}, got {digest.hexdigest()}")
    _keep(seen, kept)
    return seen


def _batches(
    folder: Path, path: str, table: Table, seen: Seen, report: Report, root: Path | None
) -> Iterator[pa.RecordBatch]:
    """Yield a file's rows; when it cannot be read, report that and end."""
    try:
        schema = opened(folder, path, root).schema_arrow.remove_metadata()
        if not schema.equals(table.schema):
            seen.complete = False
            got, expected = columns_in_words(schema), columns_in_words(table.schema)
            report.add("wrong-columns", path, "", f"expected {expected}, got {shown(got)}")
            return
        yield from TableReader(folder, table, [path], root).batches(rows=table.group_rows)
    except SnapshotError as error:
        seen.complete = False
        if (folder / path).is_file():  # what is no file was reported as that
            report.add("unreadable", path, "", error.got)


def _check_values(batch: pa.RecordBatch, table: Table, path: str, start: int, report: Report) -> None:
    """Report values that a column must not hold."""

    def bad(column: str, mask: pa.Array, expected: str) -> None:
        def told(row: int) -> tuple[str, str]:
            got = shown(batch.column(column)[row].as_py())
            return key_of(batch, table, row), f"row {start + row}: {column}: expected {expected}, got {got}"

        report.add_rows("bad-value", path, _where(mask), told)

    for column in table.required:
        if batch.column(column).null_count:
            bad(column, batch.column(column).is_null(), "a value")
    for column in table.key:
        values = batch.column(column)
        marks = pc.match_substring_regex(values, "[\t\r\n]")
        bad(column, pc.or_(marks, pc.equal(pc.binary_length(values), 0)), "an id without tab or line break")
    if table is NUGGET_QRELS:
        bad("score", pc.invert(pc.is_in(batch.column("score"), pa.array([0, 1, None], pa.int32()))), "0 or 1")
    if table is NUGGETS:
        bad("position", pc.less(batch.column("position"), 0), "0 or more")
        known = pa.array(IMPORTANCE, pa.string())
        bad("importance", pc.invert(pc.is_in(batch.column("importance"), known)), "'vital', 'okay' or null")


def _where(mask: pa.Array) -> Sequence[int]:
    """Return the rows where a mask is true; null is not."""
    return list(map(int, np.flatnonzero(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))))


def key_of(rows: pa.RecordBatch, table: Table, row: int) -> str:
    """Return what a problem calls a row: the ids of its key."""
    return " ".join(str(rows.column(column)[row].as_py())[:SHOWN_ID] for column in table.key)


class _Order:
    """Whether the rows that come by are in the order of their key."""

    def __init__(self, table: Table) -> None:
        self.kept = True
        self._table = table
        self._last: pa.RecordBatch | None = None

    def check(self, batch: pa.RecordBatch, path: str, report: Report) -> None:
        """Compare each row with the one before it."""
        if not self.kept or not batch.num_rows:
            return
        keys = batch.select(list(self._table.key))
        rows = pa.Table.from_batches([*([self._last] if self._last is not None else []), keys]).combine_chunks()
        falls, same = np.zeros(max(0, len(rows) - 1), bool), np.ones(max(0, len(rows) - 1), bool)
        for column in self._table.key:
            values = pc.fill_null(rows[column], "").combine_chunks()
            falls |= same & pc.greater(values[:-1], values[1:]).to_numpy(zero_copy_only=False)
            same &= pc.equal(values[:-1], values[1:]).to_numpy(zero_copy_only=False)
        if falls.any():
            self.kept = False
            row = int(np.flatnonzero(falls)[0]) + 1
            which = " ".join(str(rows[column][row].as_py())[:SHOWN_ID] for column in self._table.key)
            report.add("unsorted", path, which, "comes after a larger key; the digest was not compared")
        self._last = keys.slice(keys.num_rows - 1)


def _references(
    batch: pa.RecordBatch, table: Table, path: str, before: Mapping[str, Seen], report: Report
) -> dict[str, pa.Array]:
    """Return the columns that are kept, ids of other tables as places there; report those that are not there."""
    kept: dict[str, pa.Array] = {}
    if table.key == ("_id",):
        kept["_id"] = batch.column("_id")
    if "corpus-id" in table.schema.names:
        kept["score"] = batch.column("score").fill_null(-1)
    for column, target in POINTS_TO.items():
        if column not in table.schema.names or not before[target].complete:
            continue
        places = pc.index_in(batch.column(column), before[target].ids).fill_null(-1)
        kept[column] = places

        def told(row: int, column: str = column, target: str = target) -> tuple[str, str]:
            which = str(batch.column(column)[row].as_py())[:SHOWN_ID]
            return which, f"no such row in {target}, in the row {shown(key_of(batch, table, row))}"

        report.add_rows("dangling", path, _where(pc.and_(pc.equal(places, -1), batch.column(column).is_valid())), told)
    return kept


def _keep(seen: Seen, kept: Mapping[str, Sequence[pa.Array]]) -> None:
    """Put what was kept of every batch together."""
    if seen.table.key == ("_id",):
        seen.ids = pa.concat_arrays([part.cast(pa.large_string()) for part in kept["_id"]])
    for name, parts in kept.items():
        if name == "score":
            seen.scores = np.concatenate([part.to_numpy() for part in parts])
        elif name != "_id":
            seen.codes[name] = np.concatenate([part.to_numpy() for part in parts])
