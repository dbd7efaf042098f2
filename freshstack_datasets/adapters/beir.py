"""A dataset as a BEIR folder: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/test.tsv``, and a note for people."""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from freshstack_datasets.adapters.lines import write_json_lines, write_tab_lines
from freshstack_datasets.adapters.note import JsonTable, write_note
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import Query
from freshstack_datasets.tables.schema import CORPUS, QUERIES

_QUERY_METADATA = [field.name for field in fields(Query) if field.name not in ("query_id", "text")]
_METADATA = pa.struct([QUERIES.schema.field(name) for name in _QUERY_METADATA])
_TABLES = [
    JsonTable("corpus", "corpus", CORPUS.schema),
    JsonTable("queries", "queries", pa.schema([*map(QUERIES.schema.field, ("_id", "text")), ("metadata", _METADATA)])),
]


def export(dataset: Dataset, folder: Path | str) -> None:
    """Write the folder that BEIR's ``GenericDataLoader`` and those who follow it read.

    The score of a row in ``qrels/test.tsv`` is the number of the query's nuggets that the document supports; judged
    documents that support none are there with 0. Nuggets themselves have no place in this layout.

    That file is read by a csv reader, for which a quotation mark at the beginning of a field opens a quoted field.
    So an id that begins with one is quoted, and no other, which those who split on tabs alone read as it is.

    ``README.md`` says whose the texts are, and lets ``datasets.load_dataset`` read ``corpus`` and ``queries`` from the
    folder, in splits of the same names as in BEIR's own repositories.

    Args:
        dataset: The dataset.
        folder: Where the files go; it must not exist, or be empty.

    Raises:
        InputError: The folder is taken.
        SnapshotError: The dataset has no corpus, or its files cannot be read.
    """
    with atomic_folder(folder) as work:
        write_json_lines(work / "corpus.jsonl", _documents(dataset))
        write_json_lines(work / "queries.jsonl", map(_query, dataset.queries))
        write_tab_lines(work / "qrels" / "test.tsv", _qrels(dataset))
        texts = "Author, address and licence of a text, where known, stand in `metadata` of its line."
        write_note(work, dataset, "as a BEIR folder", texts, _TABLES)


def _documents(dataset: Dataset) -> Iterator[dict[str, Any]]:
    for document in dataset.corpus:
        row = {"_id": document.doc_id, "title": document.title, "text": document.text}
        yield {**row, "metadata": dict(document.metadata)}


def _query(query: Query) -> dict[str, Any]:
    metadata = {name: getattr(query, name) for name in _QUERY_METADATA}
    known = {name: value for name, value in metadata.items() if value is not None}
    return {"_id": query.query_id, "text": query.text, "metadata": known}


def _qrels(dataset: Dataset) -> Iterator[tuple[str | int, ...]]:
    yield "query-id", "corpus-id", "score"
    for query_id, documents in dataset.qrels.items():
        for doc_id, score in documents.items():
            yield _quoted(query_id), _quoted(doc_id), score


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if value.startswith('"') else value
