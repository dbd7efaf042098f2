"""What a value of a record must be to go into its column, decided once a column and not once a value."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from freshstack_datasets.errors import RecordError, shown
from freshstack_datasets.records import check_id
from freshstack_datasets.tables.schema import IMPORTANCE, NUGGET_QRELS, Table

Check = Callable[[Any], tuple[Any, int]]
"""Takes a value, and returns it as its column holds it and how many characters it has; else raises ``UnfitError``."""


class UnfitError(Exception):
    """A value does not fit its column."""

    def __init__(self, expected: str, got: str) -> None:
        self.expected, self.got = expected, got
        super().__init__(expected)


def check_of(table: Table, column: str) -> Check:
    """Return the check of one column's values."""
    kind = table.schema.field(column).type
    check = _of_type(kind)
    demand = _demand(table, column)
    if demand is not None:
        check = partial(_with_demand, check, demand)
    return check if column in table.required or pa.types.is_struct(kind) else partial(_optional, check)


def _of_type(kind: pa.DataType) -> Check:
    if pa.types.is_string(kind):
        return _text
    if pa.types.is_integer(kind):
        return partial(_integer, 2 ** (kind.bit_width - 1))
    if pa.types.is_list(kind):
        return _texts
    return partial(_struct, {field.name: _of_type(field.type) for field in kind})


def _optional(check: Check, value: Any) -> tuple[Any, int]:
    return (None, 0) if value is None else check(value)


def _with_demand(check: Check, demand: Callable[[Any], None], value: Any) -> tuple[Any, int]:
    held = check(value)
    demand(value)
    return held


def _text(value: Any) -> tuple[str, int]:
    if not isinstance(value, str):
        raise UnfitError("a string", _got(value))
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UnfitError("valid Unicode", "half a surrogate pair") from None
    return value, len(value)


def _texts(value: Any) -> tuple[list[str], int]:
    if not isinstance(value, tuple | list):
        raise UnfitError("a tuple of strings", _got(value))
    return [_text(item)[0] for item in value], sum(map(len, value))


def _integer(limit: int, value: Any) -> tuple[int, int]:
    if isinstance(value, bool) or not isinstance(value, int) or not -limit <= value < limit:
        raise UnfitError(f"a whole number of {limit.bit_length()} bits", _got(value))
    return int(value), 0


def _struct(checks: Mapping[str, Check], value: Any) -> tuple[dict[str, Any], int]:
    """Return a mapping with every member, None for those that it lacks."""
    if not isinstance(value, Mapping):
        raise UnfitError("a mapping", _got(value))
    if not checks.keys() >= value.keys():
        unknown = next(key for key in value if key not in checks)
        raise UnfitError("only " + ", ".join(checks), _got(unknown))
    members = dict.fromkeys(checks)
    size = 0
    for name, item in value.items():
        if item is not None:
            try:
                members[name], length = checks[name](item)
            except UnfitError as unfit:
                raise UnfitError(f"{name} to be {unfit.expected}", unfit.got) from None
            size += length
    return members, size


def _demand(table: Table, column: str) -> Callable[[Any], None] | None:
    """Return the check of what a column's type does not say, None where it says all."""
    if column in table.key or column.endswith("-id"):
        return partial(_allowed_id, column)
    if column == "score" and table is NUGGET_QRELS:
        return _judgment
    return {"position": _position, "importance": _importance}.get(column)


def _allowed_id(column: str, value: Any) -> None:
    try:
        check_id(value, column)
    except RecordError as error:
        raise UnfitError(error.expected, error.got) from None


def _judgment(value: Any) -> None:
    if value not in (0, 1):
        raise UnfitError("0 or 1", _got(value))


def _position(value: Any) -> None:
    if value < 0:
        raise UnfitError("0 or more", _got(value))


def _importance(value: Any) -> None:
    if value not in IMPORTANCE:
        raise UnfitError("'vital', 'okay' or None", _got(value))


def _got(value: Any) -> str:
    return f"{shown(value)} ({type(value).__name__})"
