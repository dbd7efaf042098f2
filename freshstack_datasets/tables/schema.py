"""The five tables of a snapshot: their columns, their keys, and which field of a record each column holds.

This is the only place that knows both the names of the columns (``_id``, ``corpus-id``) and those of the records'
fields (``doc_id``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from freshstack_datasets.records import Document, Judgment, Nugget, Query

_METADATA = pa.struct(
    [(name, pa.string()) for name in ("url", "repository", "path", "commit", "license", "author", "date")]
    + [(name, pa.int64()) for name in ("score", "start_char", "end_char", "start_byte", "end_byte", "tokens")]
)


@dataclass(frozen=True)
class Table:
    """One of the tables: a config of the dataset repository.

    Args:
        name: Its name, and its folder's.
        split: Its only split, with which its files' names begin.
        schema: Its columns.
        key: The columns that identify a row, by which the rows are sorted.
        required: The columns that are never null.
        fields: From the field of a record to the column that holds it.
        record: What a row is in Python; None for ``qrels``, which is derived.
        group_rows: Rows of a row group, the smallest piece that can be read alone.
    """

    name: str
    split: str
    schema: pa.Schema
    key: tuple[str, ...]
    required: tuple[str, ...]
    fields: Mapping[str, str]
    record: type[Any] | None
    group_rows: int

    def file(self) -> str:
        """Return the path of the table's file, as this version writes it, relative to the snapshot."""
        return f"{self.name}/{self.split}-00000-of-00001.parquet"


# A row group of texts is what one look-up of a document reads and unpacks: 1,000 documents are about 5 MB and 10 ms.
# Smaller ones make look-ups quicker, but the file's index larger and the compression worse.
_TEXT_ROWS, _ID_ROWS = 1_000, 65_536

QRELS = Table(
    "qrels",
    "test",
    pa.schema([("query-id", pa.string()), ("corpus-id", pa.string()), ("score", pa.int32())]),
    ("query-id", "corpus-id"),
    ("query-id", "corpus-id", "score"),
    {},
    None,
    _ID_ROWS,
)
CORPUS = Table(
    "corpus",
    "corpus",
    pa.schema([("_id", pa.string()), ("title", pa.string()), ("text", pa.string()), ("metadata", _METADATA)]),
    ("_id",),
    ("_id", "title", "text"),
    {"doc_id": "_id", "title": "title", "text": "text", "metadata": "metadata"},
    Document,
    _TEXT_ROWS,
)
_QUERY_FIELDS = [field.name for field in fields(Query) if field.name != "query_id"]
QUERIES = Table(
    "queries",
    "test",
    pa.schema(
        [(name, pa.string()) for name in ("_id", "text", "title", "body", "answer_id", "answer_text", "date")]
        + [("tags", pa.list_(pa.string())), ("url", pa.string()), ("author", pa.string()), ("score", pa.int64())]
        + [(name, pa.string()) for name in ("license", "language", "type", "difficulty")]
    ),
    ("_id",),
    ("_id", "text"),
    {"query_id": "_id", **{name: name for name in _QUERY_FIELDS}},
    Query,
    _TEXT_ROWS,
)
NUGGETS = Table(
    "nuggets",
    "test",
    pa.schema(
        [
            ("_id", pa.string()),
            ("query-id", pa.string()),
            ("position", pa.int32()),
            ("text", pa.string()),
            ("importance", pa.string()),
        ]
    ),
    ("_id",),
    ("_id", "query-id", "position", "text"),
    {"nugget_id": "_id", "query_id": "query-id", "position": "position", "text": "text", "importance": "importance"},
    Nugget,
    _ID_ROWS,
)
NUGGET_QRELS = Table(
    "nugget_qrels",
    "test",
    pa.schema(
        [
            ("query-id", pa.string()),
            ("nugget-id", pa.string()),
            ("corpus-id", pa.string()),
            ("score", pa.int32()),
            ("call-id", pa.string()),
        ]
    ),
    ("query-id", "nugget-id", "corpus-id"),
    ("query-id", "nugget-id", "corpus-id", "score"),
    {
        "query_id": "query-id",
        "nugget_id": "nugget-id",
        "doc_id": "corpus-id",
        "score": "score",
        "call_id": "call-id",
    },
    Judgment,
    _ID_ROWS,
)

TABLES: Mapping[str, Table] = {t.name: t for t in (QRELS, CORPUS, QUERIES, NUGGETS, NUGGET_QRELS)}

IMPORTANCE = (None, "vital", "okay")
