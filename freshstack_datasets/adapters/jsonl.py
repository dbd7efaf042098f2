"""A dataset as JSON lines: the five tables of a snapshot, a file each, readable without Parquet."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from freshstack_datasets.adapters.given import check_dataset
from freshstack_datasets.adapters.lines import write_json_lines
from freshstack_datasets.adapters.note import JsonTable, write_note
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.loading import Dataset
from freshstack_datasets.tables.conversion import to_row
from freshstack_datasets.tables.records import Records
from freshstack_datasets.tables.schema import CORPUS, NUGGET_QRELS, NUGGETS, QRELS, QUERIES, TABLES

_BATCH = 1_000


def export(dataset: Dataset, folder: Path | str) -> None:
    """Write ``corpus``, ``queries``, ``nuggets``, ``nugget_qrels`` and ``qrels``, each with the suffix ``.jsonl``.

    Columns are named as in the snapshot, the rows come in its order, and nulls are written. The lines are those that
    the digests in ``snapshot.json`` are taken of, so the sha256 of a file is the digest of its table. ``README.md``
    says whose the texts are, and lets ``datasets.load_dataset`` read each table from the folder by its name.

    Args:
        dataset: The dataset.
        folder: Where the files go; it must not exist, or be empty.

    Raises:
        InputError: It is no dataset, or the folder is taken.
        SnapshotError: The dataset has no corpus, or its files cannot be read.
    """
    check_dataset(dataset)
    with atomic_folder(folder) as work:
        write_json_lines(work / f"{CORPUS.name}.jsonl", (to_row(CORPUS, document)[0] for document in dataset.corpus))
        write_json_lines(work / f"{QUERIES.name}.jsonl", _rows(dataset.queries))
        write_json_lines(work / f"{NUGGETS.name}.jsonl", _rows(dataset.nuggets))
        write_json_lines(work / f"{NUGGET_QRELS.name}.jsonl", _rows(dataset.judgments))
        write_json_lines(work / f"{QRELS.name}.jsonl", _qrels(dataset))
        texts = "Author, address and licence of a question or document, where known, stand in its line."
        tables = [JsonTable(name, table.split, table.schema) for name, table in TABLES.items()]
        write_note(work, dataset, "as JSON lines", texts, tables)


def _rows(records: Records[Any]) -> Iterator[dict[str, Any]]:
    for batch in records.arrow.to_batches(max_chunksize=_BATCH):
        yield from batch.to_pylist()


def _qrels(dataset: Dataset) -> Iterator[dict[str, Any]]:
    for query_id, documents in sorted(dataset.qrels.items()):
        for doc_id, score in sorted(documents.items()):
            yield {"query-id": query_id, "corpus-id": doc_id, "score": score}
