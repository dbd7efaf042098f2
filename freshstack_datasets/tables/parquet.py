"""A table's Parquet files: written with its digest in one pass, and read without trusting them."""

import stat
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from freshstack_datasets.errors import SnapshotError, shown
from freshstack_datasets.tables.digest import TableDigest
from freshstack_datasets.tables.schema import Table

_STEP = 64
"""Rows that are unpacked at once."""

_BATCH_BYTES = 32_000_000
"""Bytes of rows that are handed on at once."""

_ROOM = 512_000_000
"""Bytes that a row group may unpack to; the writer's groups stay far below."""

_MOST_UNPACKED = 200
"""How many times larger than its files a table may be; texts shrink to a tenth at best."""


class TableWriter:
    """Writes the sorted rows of a table to its file, and keeps count and digest of them.

    Args:
        folder: The snapshot's folder.
        table: The table.
    """

    def __init__(self, folder: Path, table: Table) -> None:
        self.rows = 0
        self._digest = TableDigest()
        path = folder / table.file()
        path.parent.mkdir()
        # Content-defined chunking cuts pages where the content says, not where the count does, so that a store that
        # keeps equal pieces once keeps two snapshots of nearly equal rows nearly once.
        self._writer = pq.ParquetWriter(
            path, table.schema, compression="zstd", write_page_index=True, use_content_defined_chunking=True
        )
        self._thread = ThreadPoolExecutor(1)

    def write_group(self, rows: pa.Table) -> None:
        """Write the next rows as one row group."""
        rows = rows.combine_chunks()  # how rows were chunked in memory must not show in the file's bytes
        written = self._thread.submit(self._writer.write_table, rows, row_group_size=max(1, rows.num_rows))
        self._digest.update(rows)  # meanwhile: compressing, which takes as long, needs no Python
        written.result()
        self.rows += rows.num_rows

    def digest(self) -> str:
        """Return the digest of all rows written."""
        return self._digest.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
        self._writer.close()


class TableReader:
    """Reads a table from its files.

    Args:
        folder: The snapshot's folder.
        table: The table.
        paths: The files' paths within the folder, in the order of their rows.
        root: Below which links of the folder may lead; below the folder when not given.

    Raises:
        SnapshotError: On opening or on reading: a file is missing, is a link out of the root, is no Parquet, or holds
            other columns than the table's.
    """

    def __init__(self, folder: Path, table: Table, paths: Iterable[str], root: Path | None = None) -> None:
        self._table = table
        self._folder = folder
        self._paths = tuple(paths)
        self._files = [_of_table(folder, path, table, root) for path in self._paths]

    @cached_property
    def _groups(self) -> list[tuple[int, int]]:
        """The file and the number within it of every row group."""
        return [(f, g) for f, file in enumerate(self._files) for g in range(file.metadata.num_row_groups)]

    @cached_property
    def _starts(self) -> list[int]:
        """The first row of every row group, and the number of all rows."""
        starts = [0]
        for file, group in self._groups:
            starts.append(starts[-1] + self._files[file].metadata.row_group(group).num_rows)
        return starts

    @property
    def rows(self) -> int:
        """The number of rows, as the files say."""
        return self._starts[-1]

    def group_of(self, row: int) -> tuple[int, int]:
        """Return the row group of a row, and the row's place in it."""
        group = bisect_right(self._starts, row) - 1
        return group, row - self._starts[group]

    def group(self, number: int) -> pa.Table:
        """Return the rows of one row group."""
        file, group = self._groups[number]
        return pa.Table.from_batches(list(self._steps(file, group)), self._table.schema)

    def batches(self, columns: Sequence[str] | None = None, rows: int = 1_000) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some columns of them, in batches of about so many rows, fewer where texts are long."""
        for file, group in self._groups:
            held: list[pa.RecordBatch] = []
            count = size = 0
            for step in self._steps(file, group, columns):
                held.append(step)
                count, size = count + step.num_rows, size + step.nbytes
                if count >= rows or size >= _BATCH_BYTES:
                    yield pa.concat_batches(held)
                    held, count, size = [], 0, 0
            if held:
                yield pa.concat_batches(held)

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return all rows, or some columns of them."""
        names = self._table.schema.names if columns is None else columns
        schema = pa.schema([self._table.schema.field(name) for name in names])
        room = _ROOM + _MOST_UNPACKED * sum(map(self._size, self._paths))
        parts = []
        for batch in self.batches(columns, rows=65_536):
            room -= batch.nbytes
            if room < 0:
                raise _too_large(f"the table {self._table.name}")
            parts.append(batch)
        rows = pa.Table.from_batches(parts, schema)
        pa.default_memory_pool().release_unused()  # else what unpacking took is kept: four times the judgments
        return rows

    def _size(self, path: str) -> int:
        with readable(path):
            return (self._folder / path).stat().st_size

    def _steps(self, file: int, group: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one group of one file, few at a time.

        A file of some kilobytes can hold one long text and a thousand references to it, and what its header says of
        sizes is whatever its writer liked. So rows are unpacked by the few, and no more than an honest group has.
        """
        path = self._paths[file]
        room = _ROOM
        with readable(path):
            unpacked = self._files[file].iter_batches(_STEP, row_groups=[group], columns=columns, use_threads=False)
            for batch in unpacked:
                room -= batch.nbytes
                if room < 0:
                    raise _too_large(f"row group {group} of {path}")
                batch.validate(full=True)  # Parquet says "string", only a look says UTF-8
                yield batch


def _too_large(what: str) -> SnapshotError:
    return SnapshotError(f"{what} cannot be read", expected="rows of a usual size", got="far larger ones", hint=VERIFY)


def regular_file(folder: Path, path: str, root: Path | None = None) -> Path:
    """Return a file of a folder, for reading.

    Args:
        folder: The folder.
        path: The file's path within it.
        root: Below which links may lead; below the folder when not given.

    Raises:
        SnapshotError: There is none, it is no regular file, or a link leads out of the root.
    """
    file = folder / path
    try:
        kind = file.stat().st_mode
        inside = file.resolve().is_relative_to((root or folder).resolve())
    except (OSError, RuntimeError):  # RuntimeError: a loop of links
        raise SnapshotError(f"{shown(path)} of {folder}", expected="a file", got="none", hint=VERIFY) from None
    if not inside or not stat.S_ISREG(kind):
        got = "a link out of the folder" if not inside else "something else"
        raise SnapshotError(f"{shown(path)} of {folder}", expected="a regular file in it", got=got, hint=VERIFY)
    return file


VERIFY = "freshstack verify lists what is wrong"


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turn what Arrow says of a broken file into an error of ours."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
        said = str(error).partition("\n")[0]
        raise SnapshotError(f"{path} cannot be read", got=shown(said), hint=VERIFY) from None


def opened(folder: Path, path: str, root: Path | None = None) -> Any:
    """Open one Parquet file of a folder.

    Args:
        folder: The folder.
        path: The file's path within it.
        root: Below which links may lead; below the folder when not given.

    Raises:
        SnapshotError: It is no file in the folder, or no Parquet.
    """
    file = regular_file(folder, path, root)
    with readable(path):
        return pq.ParquetFile(file, pre_buffer=False)  # True keeps what it read of every row group in memory


def _of_table(folder: Path, path: str, table: Table, root: Path | None) -> Any:
    """Open one Parquet file and look at its columns."""
    file = opened(folder, path, root)
    with readable(path):
        schema = file.schema_arrow.remove_metadata()
    if not schema.equals(table.schema):
        expected, got = columns_in_words(table.schema), columns_in_words(schema)
        raise SnapshotError(f"the columns of {path}", expected=expected, got=shown(got), hint=VERIFY)
    return file


def columns_in_words(schema: pa.Schema) -> str:
    """Return the columns and types of a schema, the members of structs left out."""
    return ", ".join(f"{f.name} {'struct' if pa.types.is_struct(f.type) else f.type}" for f in schema)
