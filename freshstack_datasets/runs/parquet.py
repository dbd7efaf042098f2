"""Runs as Parquet: the columns query_id, doc_id and score, a row an entry; other columns do not count."""

from math import isfinite
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from freshstack_datasets.errors import RunFileError, shown
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs.entries import Entries, run_name
from freshstack_datasets.runs.source import ID_LIMIT, checked_id

COLUMNS = ("query_id", "doc_id", "score")

_BATCH = 1 << 16
_BUFFER = 1 << 20
_GROUP = 1 << 17
_FOOTER_LIMIT = 1 << 24
_GROUP_LIMIT = 1 << 29


def read(path: Path) -> Run:
    """Read a run from Parquet.

    Ids are strings, scores whole or floating-point numbers, and no value is null.

    Raises:
        RunFileError: The file does not hold a run.
    """
    entries = Entries(path, "row")
    try:
        _check_footer(path)
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True) as file:
            _check_columns(path, file)
            start = 0
            for batch in file.iter_batches(_BATCH, columns=list(COLUMNS), use_threads=False):
                entries.add(*_checked(path, start, batch))
                start += len(batch)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RunFileError(path, 0, "a Parquet file that cannot be read", got=shown(reason)) from None
    return entries.run(run_name(path))


def write(run: Run, path: Path) -> None:
    """Write a run, a query's documents best first."""
    schema = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())])
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
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - 8))
        end = file.read(8)
    size = int.from_bytes(end[:4], "little")
    if end[4:] != b"PAR1" or size > _FOOTER_LIMIT:
        got = "an empty file" if not end else f"{size} bytes" if end[4:] == b"PAR1" else "another file's end"
        expected = f"a footer of at most {_FOOTER_LIMIT} bytes and the mark PAR1"
        raise RunFileError(path, 0, "the end of a Parquet file", expected=expected, got=got)


def _check_columns(path: Path, file: pq.ParquetFile) -> None:
    schema, metadata = file.schema_arrow, file.metadata
    for column in COLUMNS:
        found = [field for field in schema if field.name == column]
        if len(found) != 1:
            got = ", ".join(shown(name) for name in schema.names[:10])
            raise RunFileError(path, 0, f"column {column}", expected="it once", got=f"the columns {got}")
        if not _fits(column, found[0].type):
            expected = "numbers" if column == "score" else "strings"
            raise RunFileError(path, 0, f"column {column}", expected=expected, got=shown(str(found[0].type)))
    places = [i for i in range(metadata.num_columns) if metadata.schema.column(i).path in COLUMNS]
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        size = sum(group.column(place).total_uncompressed_size for place in places)
        limit = min(_GROUP_LIMIT, _BUFFER + 8 * ID_LIMIT * group.num_rows)
        if size > limit:
            expected = f"at most {limit} bytes in {group.num_rows} rows"
            raise RunFileError(path, 0, "a Parquet file", expected=expected, got=f"{size}")


def _fits(column: str, kind: pa.DataType) -> bool:
    if column == "score":
        return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _checked(path: Path, start: int, batch: pa.RecordBatch) -> tuple[list[str], list[str], list[float]]:
    """Return the three columns of a batch, which begins after ``start`` rows."""
    query_ids, doc_ids, scores = (batch.column(column).to_pylist() for column in COLUMNS)
    for kind, ids in (("query", query_ids), ("document", doc_ids)):
        last = start + len(ids)
        first_row = {value: last - back for back, value in enumerate(reversed(ids))}
        for value, row in first_row.items():
            checked_id(path, 0, value, f"row {row}: {kind}")
    for row, score in enumerate(scores, start + 1):
        if score is None or not isfinite(score):
            raise RunFileError(path, 0, f"row {row}: score", expected="a finite number", got=shown(score))
    return query_ids, doc_ids, scores
