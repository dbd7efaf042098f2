"""Records as rows of their tables, checked, and rows as records."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from freshstack_datasets.errors import RecordError, shown
from freshstack_datasets.records import check_id
from freshstack_datasets.tables.schema import CORPUS, IMPORTANCE, NUGGET_QRELS, QUERIES, Table

BATCH_CHARACTERS = 16_000_000
"""Characters that rows held together may have: at most 64 MB, far from the 2 GB where Arrow's string offsets end."""

MAX_CHARACTERS = 64_000_000
"""Characters that one row may have: its canonical JSON, six bytes a character at worst, stays under 2 GB."""


def batches(table: Table, records: Iterable[Any], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield records as Arrow batches, in the order they come.

    Args:
        table: The table they are for.
        records: Records of the table's kind.
        rows: Rows of a batch at most; fewer where texts are long.

    Raises:
        RecordError: A record is of another kind, or holds a value that the table cannot.
    """
    held: list[dict[str, Any]] = []
    characters = 0
    for record in records:
        row, size = to_row(table, record)
        if held and (len(held) == rows or characters + size > BATCH_CHARACTERS):
            yield _batch(table, held)
            held, characters = [], 0
        held.append(row)
        characters += size
    if held:
        yield _batch(table, held)


def _batch(table: Table, rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """Return rows in Arrow; a struct member by member, which is several times as fast as dict by dict."""
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
    for name, column in table.fields.items():
        value = getattr(record, name)
        try:
            row[column], length = _checked(value, table.schema.field(column).type, column in table.required)
            _check_domain(table, column, value)
        except _UnfitError as unfit:
            raise _bad_field(table, record, name, unfit) from None
        size += length
    if size > MAX_CHARACTERS:
        raise _bad_field(table, record, "text", _UnfitError(f"at most {MAX_CHARACTERS} characters in all", str(size)))
    return row, size


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


class _UnfitError(Exception):
    """A value does not fit its column."""

    def __init__(self, expected: str, got: str) -> None:
        self.expected, self.got = expected, got
        super().__init__(expected)


def _bad_field(table: Table, record: Any, name: str, unfit: _UnfitError) -> RecordError:
    key = next(iter(table.fields)) if table is not NUGGET_QRELS else "nugget_id"
    which = f"{type(record).__name__.lower()} {shown(getattr(record, key))}"
    return RecordError(f"{which}: {name}", expected=unfit.expected, got=unfit.got)


def _checked(value: Any, kind: pa.DataType, required: bool) -> tuple[Any, int]:
    """Return a value as its column holds it, and how many characters it has."""
    if value is None and not required and not pa.types.is_struct(kind):
        return None, 0
    if pa.types.is_string(kind):
        return _text(value), len(value)
    if pa.types.is_integer(kind):
        return _integer(value, kind.bit_width), 0
    if pa.types.is_list(kind):
        if not isinstance(value, tuple | list):
            raise _UnfitError("a tuple of strings", _got(value))
        return [_text(item) for item in value], sum(map(len, value))
    if not isinstance(value, Mapping):
        raise _UnfitError("a mapping", _got(value))
    unknown = [key for key in value if not isinstance(key, str) or kind.get_field_index(key) < 0]
    if unknown:
        raise _UnfitError("only " + ", ".join(field.name for field in kind), _got(unknown[0]))
    members = {}
    size = 0
    for field in kind:
        try:
            members[field.name], length = _checked(value.get(field.name), field.type, required=False)
        except _UnfitError as unfit:
            raise _UnfitError(f"{field.name} to be {unfit.expected}", unfit.got) from None
        size += length
    return members, size


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _UnfitError("a string", _got(value))
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _UnfitError("valid Unicode", "half a surrogate pair") from None
    return value


def _integer(value: Any, bits: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise _UnfitError(f"a whole number of {bits} bits", _got(value))
    return int(value)


def _check_domain(table: Table, column: str, value: Any) -> None:
    """Check what a column's type does not say."""
    if column in table.key or column.endswith("-id"):
        try:
            if value is not None:
                check_id(value, column)
        except RecordError as error:
            raise _UnfitError(error.expected, error.got) from None
    elif column == "score" and table is NUGGET_QRELS and value not in (0, 1):
        raise _UnfitError("0 or 1", _got(value))
    elif column == "position" and value < 0:
        raise _UnfitError("0 or more", _got(value))
    elif column == "importance" and value not in IMPORTANCE:
        raise _UnfitError("'vital', 'okay' or None", _got(value))


def _got(value: Any) -> str:
    return f"{shown(value)} ({type(value).__name__})"
