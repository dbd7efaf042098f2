"""Files as the originals of October 2024 have them, for tests: plain rows in, Parquet out."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# The types of the published cards: members of structs in alphabetical order, ids as strings.
CORPUS = pa.schema(
    [
        ("_id", pa.string()),
        ("text", pa.string()),
        ("metadata", pa.struct([("end_byte", pa.int64()), ("start_byte", pa.int64()), ("url", pa.string())])),
    ]
)
_IDS = pa.list_(pa.string())
NUGGET = pa.struct(
    [("_id", pa.string()), ("non_relevant_corpus_ids", _IDS), ("relevant_corpus_ids", _IDS), ("text", pa.string())]
)
QUERIES = pa.schema(
    [
        ("query_id", pa.string()),
        ("query_title", pa.string()),
        ("query_text", pa.string()),
        ("nuggets", pa.list_(NUGGET)),
        ("answer_id", pa.string()),
        ("answer_text", pa.string()),
        ("metadata", pa.struct([("date", pa.string()), ("tags", _IDS)])),
    ]
)

Row = dict[str, Any]


def document(doc_id: str | None, text: str | None = "text", **metadata: Any) -> Row:
    return {"_id": doc_id, "text": text, "metadata": metadata or None}


def nugget(nugget_id: str | None, relevant: list[str], other: list[str] | None = None, text: str | None = "f") -> Row:
    return {"_id": nugget_id, "text": text, "relevant_corpus_ids": relevant, "non_relevant_corpus_ids": other or []}


def query(query_id: str | None, *nuggets: Row | None, **changes: Any) -> Row:
    row = {"query_id": query_id, "query_title": "title", "query_text": "body", "nuggets": list(nuggets)}
    return row | {"answer_id": "a", "answer_text": "answer", "metadata": None} | changes


def write(path: Path, rows: list[Row], schema: pa.Schema) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return path


def write_corpus(path: Path, rows: list[Row], schema: pa.Schema = CORPUS) -> Path:
    return write(path, rows, schema)


def write_queries(path: Path, rows: list[Row], schema: pa.Schema = QUERIES) -> Path:
    return write(path, rows, schema)
