"""The fields that corrections may speak of, and how a cell of text stands for a value of each."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from freshstack_datasets.records import Judgment, Nugget, Query

Record = Judgment | Nugget | Query

_WHOLE = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record.

    Args:
        expected: What a cell of it holds, in words.
        read: From a cell to the value; a ValueError says that it is none.
    """

    expected: str
    read: Callable[[str], Any]


def _needed(cell: str) -> str:
    if not cell:
        raise ValueError
    return cell


def _maybe(cell: str) -> str | None:
    return cell or None


def _whole(low: int, high: int, cell: str) -> int:
    if not _WHOLE.fullmatch(cell) or not low <= int(cell) <= high:
        raise ValueError
    return int(cell)


def _importance(cell: str) -> str | None:
    if cell not in ("", "vital", "okay"):
        raise ValueError
    return cell or None


def _tags(cell: str) -> tuple[str, ...] | None:
    if not cell:
        return None
    try:
        tags = json.loads(cell)
    except RecursionError:
        raise ValueError from None
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ValueError
    "".join(tags).encode()  # half a surrogate pair is a UnicodeEncodeError, which is a ValueError
    return tuple(tags)


_TEXT = Field("a text", _needed)
_ANY_TEXT = Field("a text, or an empty cell for none", _maybe)

FIELDS: Mapping[str, Mapping[str, Field]] = {
    "judgment": {"score": Field("0 or 1", lambda cell: _whole(0, 1, cell))},
    "nugget": {
        "text": _TEXT,
        "position": Field("a whole number from 0 on", lambda cell: _whole(0, 2**31 - 1, cell)),
        "importance": Field("vital, okay or an empty cell", _importance),
    },
    "question": {
        **{field.name: _ANY_TEXT for field in fields(Query) if field.name != "query_id"},
        "text": _TEXT,
        "tags": Field('a JSON list such as ["a", "b"], or an empty cell', _tags),
        "score": Field(
            "a whole number, or an empty cell", lambda cell: _whole(-(2**63), 2**63 - 1, cell) if cell else None
        ),
    },
}
"""From a kind of record to its fields, as the records call them."""


def cell_of(value: Any) -> str:
    """Return the cell that stands for a value.

    Args:
        value: A value of a field.
    """
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else str(value)


def is_allowed(field: Field, cell: str) -> bool:
    """Tell whether a cell stands for some value of a field.

    Args:
        field: The field.
        cell: The cell.
    """
    try:
        field.read(cell)
    except ValueError:
        return False
    return True


def is_meant(field: Field, cell: str, value: Any) -> bool:
    """Tell whether a cell stands for a value.

    Args:
        field: The field.
        cell: The cell.
        value: The value.
    """
    return cell == cell_of(value) or (is_allowed(field, cell) and bool(field.read(cell) == value))
