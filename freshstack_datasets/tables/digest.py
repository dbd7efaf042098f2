"""The canonical digest of a table, and the fingerprint of all of them.

A digest is sha256 over the rows as JSON lines, sorted by the table's key in code-point order. A line is the row as
one JSON object in UTF-8, keys sorted (those of nested objects too), no space between tokens, null members written,
no character escaped but those that JSON demands, and ends with one line feed, the last line too. The files, their
order of columns, their compression and the program that wrote them do not matter.
"""

import hashlib
import json
from collections.abc import Mapping
from json.encoder import encode_basestring
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
                part = batch.slice(start, _SLICE)
                columns = zip(part.schema.names, part.columns, strict=True)
                self.update_encoded({name: json_values(column) for name, column in columns})

    def update_encoded(self, columns: Mapping[str, pa.Array]) -> None:
        """Take the next rows as columns whose values are JSON already, see ``json_values``."""
        lines = pc.binary_join_element_wise(_objects(columns), _scalar(""), _scalar("\n"))  # the last joins the others
        offsets = np.frombuffer(lines.buffers()[1], np.int64)
        first, last = int(offsets[lines.offset]), int(offsets[lines.offset + len(lines)])
        self._sha.update(memoryview(lines.buffers()[2])[first:last])

    def hexdigest(self) -> str:
        """Return the digest of all rows so far, in 64 hexadecimal digits."""
        return self._sha.hexdigest()


def fingerprint(digests: Mapping[str, str]) -> str:
    """Return the sha256 over lines of a table's name, a space and its digest, sorted by table, in hexadecimal."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def json_values(column: pa.Array) -> pa.Array:
    """Return every value of a column as JSON, large_string."""
    kind = column.type
    if pa.types.is_struct(kind):
        members = {kind.field(i).name: json_values(column.field(i)) for i in range(kind.num_fields)}
        return pc.if_else(column.is_valid(), _objects(members), _scalar("null"))
    if pa.types.is_integer(kind):
        return column.cast(pa.large_string()).fill_null("null")
    if column.null_count == len(column):
        return pa.repeat(_scalar("null"), len(column))
    encode = encode_basestring if pa.types.is_string(kind) else _encode  # the same, without a look at what it is
    encoded = ["null" if value is None else encode(value) for value in column.to_pylist()]
    return pa.array(encoded, pa.large_string())


def _objects(columns: Mapping[str, pa.Array]) -> pa.Array:
    """Return a JSON object a row, made of columns whose values are JSON already."""
    parts: list[Any] = []
    for i, name in enumerate(sorted(columns)):
        parts += [_scalar(("," if i else "{") + _encode(name) + ":"), columns[name]]
    return pc.binary_join_element_wise(*parts, _scalar("}"), _scalar(""))


def _scalar(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())
