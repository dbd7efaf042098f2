"""The canonical digest of a table, and the fingerprint of all of them.

A digest is sha256 over the rows as JSON lines, sorted by the table's key in code-point order. A line is the row as
one JSON object in UTF-8, keys sorted (those of nested objects too), no space between tokens, null members written,
no character escaped but those that JSON demands, and ends with one line feed, the last line too. The files, their
order of columns, their compression and the program that wrote them do not matter.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_SLICE = 16_384
"""Rows whose lines are made together."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


class TableDigest:
    """The digest of a table, from its sorted rows as they come by."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256()

    def update(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Take the next rows, of at most some hundred megabytes."""
        batches = rows.to_batches() if isinstance(rows, pa.Table) else [rows]
        for batch in batches:
            for start in range(0, batch.num_rows, _SLICE):
                self._sha.update(_lines(batch.slice(start, _SLICE)))

    def hexdigest(self) -> str:
        """Return the digest of all rows so far, in 64 hexadecimal digits."""
        return self._sha.hexdigest()


def fingerprint(digests: Mapping[str, str]) -> str:
    """Return the sha256 over lines of a table's name, a space and its digest, sorted by table, in hexadecimal."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _lines(batch: pa.RecordBatch) -> memoryview:
    """Return the canonical lines of some rows."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    lines = pc.binary_join_element_wise(_object(columns), _scalar(""), _scalar("\n"))  # the last joins the others
    offsets = np.frombuffer(lines.buffers()[1], np.int64)
    first, last = int(offsets[lines.offset]), int(offsets[lines.offset + len(lines)])
    return memoryview(lines.buffers()[2])[first:last]


def _object(columns: Mapping[str, pa.Array]) -> pa.Array:
    """Return a JSON object a row, made of the columns' values."""
    parts: list[Any] = []
    for i, name in enumerate(sorted(columns)):
        parts += [_scalar(("," if i else "{") + _encode(name) + ":"), _values(columns[name])]
    return pc.binary_join_element_wise(*parts, _scalar("}"), _scalar(""))


def _values(column: pa.Array) -> pa.Array:
    """Return every value of a column as JSON."""
    kind = column.type
    if pa.types.is_struct(kind):
        members = {kind.field(i).name: column.field(i) for i in range(kind.num_fields)}
        return pc.if_else(column.is_valid(), _object(members), _scalar("null"))
    if pa.types.is_integer(kind):
        return column.cast(pa.large_string()).fill_null("null")
    if pa.types.is_string(kind):
        # Ids repeat, texts do not: either way each value is encoded once.
        unique = column.dictionary_encode()
        encoded = pa.array([_encode(value) for value in unique.dictionary.to_pylist()], pa.large_string())
        return encoded.take(unique.indices).fill_null("null")
    return pa.array([_encode(value) for value in column.to_pylist()], pa.large_string())


def _scalar(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())
