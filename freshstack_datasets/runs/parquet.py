"""Runs as Parquet: the columns query_id, doc_id and score, a row an entry; other columns do not count.

The name of the run is the schema's metadata under ``run``.
"""

from math import isfinite
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from freshstack_datasets.errors import RunFileError, shown
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs.entries import Taker, clean_name
from freshstack_datasets.runs.source import ID_LIMIT, OTHER_FORMAT, checked_id, opened

COLUMNS = ("query_id", "doc_id", "score")

_NAME = b"run"
_BATCH = 1 << 16
_BUFFER = 1 << 20
_GROUP = 1 << 17
_FOOTER_LIMIT = 1 << 24
_GROUP_LIMIT = 1 << 31
_MOST_BYTES = 4
"""Bytes of a character in UTF-8, at most."""


def scan(path: Path, entries: Taker) -> str:
    """Read Parquet into entries, and return the name in its metadata, "" when there is none.

    Ids are strings, scores whole or floating-point numbers, and no value is null.

    Raises:
        RunFileError: The file does not hold a run.
    """
    try:
        _check_footer(path)
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
            _check_columns(path, file)
            name = (file.schema_arrow.metadata or {}).get(_NAME, b"").decode("utf-8", "replace")
        # Ids stay numbers of words: one long word that a file of a few kilobytes repeats would need terabytes.
        with pq.ParquetFile(
            path,
            pre_buffer=False,
            buffer_size=_BUFFER,
            page_checksum_verification=True,
            read_dictionary=["query_id", "doc_id"],
        ) as file:
            start = 0
            for batch in file.iter_batches(_BATCH, columns=list(COLUMNS), use_threads=False):
                entries.add(*_checked(path, start, batch))
                start += len(batch)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        what, hint = "a Parquet file that cannot be read", "write the run again"
        raise RunFileError(
            path, 0, what, expected="a whole one", got=shown(reason), hint=hint, kind="parquet"
        ) from None
    return str(name)


def write(run: Run, path: Path) -> None:
    """Write a run, a query's documents best first."""
    fields = [("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())]
    schema = pa.schema(fields, metadata={_NAME: clean_name(run.name).encode()})
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
        for start in range(0, len(run.codes), _GROUP):
            stop = min(start + _GROUP, len(run.codes))
            queries = np.searchsorted(run.offsets, np.arange(start, stop), "right") - 1
            columns = [
                [run.query_ids[query] for query in queries.tolist()],
                [run.doc_ids[code] for code in run.codes[start:stop].tolist()],
                run.scores[start:stop],
            ]
            writer.write_table(pa.table(columns, schema))


def _check_footer(path: Path) -> None:
    """Refuse a file whose end is not Parquet's, or claims a size that only an attack has."""
    with opened(path) as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - 8))
        end = file.read(8)
    size = int.from_bytes(end[:4], "little")
    if end[4:] != b"PAR1" or size > _FOOTER_LIMIT:
        got = "an empty file" if not end else f"{size} bytes" if end[4:] == b"PAR1" else "another file's end"
        expected = f"a footer of at most {_FOOTER_LIMIT} bytes and the mark PAR1"
        raise RunFileError(
            path, 0, "the end of a Parquet file", expected=expected, got=got, hint=OTHER_FORMAT, kind="parquet"
        )


def _check_columns(path: Path, file: pq.ParquetFile) -> None:
    schema, metadata = file.schema_arrow, file.metadata
    for column in COLUMNS:
        found = [field for field in schema if field.name == column]
        if len(found) != 1:
            got = ", ".join(shown(name) for name in schema.names[:10])
            raise RunFileError(
                path, 0, f"column {column}", expected="it once", got=f"the columns {got}", kind="parquet"
            )
        if not _fits(column, found[0].type):
            expected = "numbers" if column == "score" else "strings"
            got = shown(str(found[0].type))
            raise RunFileError(path, 0, f"column {column}", expected=expected, got=got, kind="parquet")
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        size = group.total_byte_size  # not its columns' sizes: a damaged column ends the process when it is asked
        limit = min(_GROUP_LIMIT, _BUFFER + 8 * ID_LIMIT * group.num_rows)
        if size > limit:
            expected = f"at most {limit} bytes in {group.num_rows} rows"
            raise RunFileError(path, 0, "a Parquet file", expected=expected, got=f"{size}", kind="large")


def _fits(column: str, kind: pa.DataType) -> bool:
    if column == "score":
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _checked(path: Path, start: int, batch: pa.RecordBatch) -> tuple[list[str], list[str], list[float]]:
    """Return the three columns of a batch, which begins after ``start`` rows."""
    query_ids, doc_ids = (
        _checked_ids(path, start, batch.column(column), kind)
        for column, kind in (("query_id", "query"), ("doc_id", "document"))
    )
    scores = batch.column("score").to_pylist()
    for row, score in enumerate(scores, start + 1):
        if score is None or not isfinite(score):
            kind = "score" if score is None else "not-finite"
            raise RunFileError(path, 0, f"row {row}: score", expected="a finite number", got=shown(score), kind=kind)
    return query_ids, doc_ids, scores


def _checked_ids(path: Path, start: int, column: pa.DictionaryArray, kind: str) -> list[str]:
    """Return a column's ids; each is looked at once, however often it stands there."""
    if column.null_count:
        row = start + 1 + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        checked_id(path, 0, None, f"row {row}: {kind}")
    used, first, places = np.unique(column.indices.to_numpy(), return_index=True, return_inverse=True)
    words = column.dictionary.take(pa.array(used))
    lengths = pc.binary_length(words).to_numpy()
    if len(long := np.flatnonzero(lengths > _MOST_BYTES * ID_LIMIT)):
        i = long[np.argmin(first[long])]
        what, expected = f"row {start + 1 + first[i]}: {kind} id", f"at most {ID_LIMIT} characters"
        raise RunFileError(path, 0, what, expected=expected, got=f"{lengths[i]} bytes", kind="id")
    ids = words.to_pylist()
    for i in np.argsort(first).tolist():
        checked_id(path, 0, ids[i], f"row {start + 1 + first[i]}: {kind}")
    return [ids[place] for place in places.tolist()]
