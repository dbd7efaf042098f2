"""Records as rows of their tables, checked, and rows as records."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from operator import itemgetter
from typing import Any

import pyarrow as pa

from freshstack_datasets.errors import RecordError, shown
from freshstack_datasets.tables.schema import CORPUS, NUGGET_QRELS, QUERIES, TABLES, Table
from freshstack_datasets.tables.values import Check, UnfitError, check_of

BATCH_CHARACTERS = 16_000_000
"""Characters that rows held together may have: at most 64 MB, far from the 2 GB where Arrow's string offsets end."""

MAX_CHARACTERS = 64_000_000
"""Characters that one row may have: its canonical JSON, six bytes a character at worst, stays under 2 GB."""


def batches(table: Table, records: Iterable[Any], rows: int, by: str | None = None) -> Iterator[pa.RecordBatch]:
    """Yield records as Arrow batches, in the order they come.

    Args:
        table: The table they are for.
        records: Records of the table's kind.
        rows: Rows of a batch at most; fewer where texts are long.
        by: A column of text by which the rows of each batch are sorted; they stay as they come when not given.

    Raises:
        RecordError: A record is of another kind, or holds a value that the table cannot.
    """
    held: list[dict[str, Any]] = []
    characters = 0
    for record in records:
        row, size = to_row(table, record)
        if held and (len(held) == rows or characters + size > BATCH_CHARACTERS):
            yield _batch(table, held, by)
            held, characters = [], 0
        held.append(row)
        characters += size
    if held:
        yield _batch(table, held, by)


def _batch(table: Table, rows: list[dict[str, Any]], by: str | None) -> pa.RecordBatch:
    """Return rows in Arrow; a struct member by member, which is several times as fast as dict by dict."""
    if by is not None:
        rows.sort(key=itemgetter(by))
    arrays = []
    for column in table.schema:
        values = [row[column.name] for row in rows]
        if pa.types.is_struct(column.type):
            members = [pa.array([value[member.name] for value in values], member.type) for member in column.type]
            arrays.append(pa.StructArray.from_arrays(members, fields=list(column.type)))
        else:
            arrays.append(pa.array(values, column.type))
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def to_row(table: Table, record: Any) -> tuple[dict[str, Any], int]:
    """Return a record as a row of its table, and how many characters its texts have.

    Raises:
        RecordError: It is of another kind, or holds a value that the table cannot.
    """
    kind = table.record
    if kind is None or not isinstance(record, kind):
        raise RecordError(
            f"a record for the table {table.name}",
            expected=f"a {kind.__name__}" if kind else "none, its rows are derived",
            got=f"{shown(record)} ({type(record).__name__})",
        )
    row: dict[str, Any] = {}
    size = 0
    for name, column, check in _checks(table.name):
        try:
            row[column], length = check(getattr(record, name))
        except UnfitError as unfit:
            raise _bad_field(table, record, name, unfit) from None
        size += length
    if size > MAX_CHARACTERS:
        raise _bad_field(table, record, "text", UnfitError(f"at most {MAX_CHARACTERS} characters in all", str(size)))
    return row, size


@cache
def _checks(table: str) -> tuple[tuple[str, str, Check], ...]:
    """Return the fields of a table's records, each with its column and the check of its values."""
    fields = TABLES[table].fields.items()
    return tuple((name, column, check_of(TABLES[table], column)) for name, column in fields)


def to_record(table: Table, row: Mapping[str, Any]) -> Any:
    """Return a row as the record it stands for.

    Raises:
        RecordError: Its id is not allowed, or a value that it must have is null.
    """
    if None in map(row.__getitem__, table.required):
        missing = next(column for column in table.required if row[column] is None)
        raise RecordError(f"{table.name}, {shown(row[table.key[0]])}: {missing}", expected="a value", got="null")
    values = {name: row[column] for name, column in table.fields.items()}
    if table is CORPUS:
        values["metadata"] = {k: v for k, v in (values["metadata"] or {}).items() if v is not None}
    elif table is QUERIES and values["tags"] is not None:
        values["tags"] = tuple(values["tags"])
    assert table.record is not None, "qrels are no records"
    return table.record(**values)


def _bad_field(table: Table, record: Any, name: str, unfit: UnfitError) -> RecordError:
    key = next(iter(table.fields)) if table is not NUGGET_QRELS else "nugget_id"
    which = f"{type(record).__name__.lower()} {shown(getattr(record, key))}"
    return RecordError(f"{which}: {name}", expected=unfit.expected, got=unfit.got)
