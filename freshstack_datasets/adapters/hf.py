"""A dataset as ``datasets`` has it, table by table, without the Hub and without another copy in memory."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from freshstack_datasets.adapters import arrow_file
from freshstack_datasets.adapters.given import check_dataset
from freshstack_datasets.adapters.libraries import Library
from freshstack_datasets.errors import InputError, RecordError, SnapshotError, UnknownNameError
from freshstack_datasets.tables.records import Records
from freshstack_datasets.tables.schema import CORPUS, NUGGET_QRELS, NUGGETS, QRELS, QUERIES, TABLES, Table

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset

__all__ = ["dataset_dict"]

_DATASETS = Library("datasets", "hf")

log = logging.getLogger(__name__)

_ROWS = 1_000
"""Rows of a batch: what is looked up at once when a document is asked for by its number."""


def dataset_dict(data: "Dataset", config: str | None = None) -> Any:
    """Return a table of a dataset as a ``datasets.DatasetDict``.

    Splits, columns, features and rows are those that ``datasets.load_dataset(name, config)`` gives of the same
    snapshot on the Hub or in a folder.

    The documents are written once to a file below ``FRESHSTACK_HOME``, and read from there as they are asked for; what
    ``map`` and ``filter`` make of them is kept beside it. The other tables are small, and shared with ``data``.

    Args:
        data: The dataset.
        config: ``qrels``, ``corpus``, ``queries``, ``nuggets`` or ``nugget_qrels``; ``qrels`` when not given.

    Raises:
        MissingExtraError: datasets is not installed.
        InputError: It is no dataset.
        UnknownNameError: There is no such config.
        SnapshotError: The dataset has no corpus, or the table cannot be read.
    """
    datasets = _DATASETS.load("datasets")
    check_dataset(data)
    if config is not None and config not in TABLES:
        raise UnknownNameError("config", config, TABLES)
    table = TABLES[config or QRELS.name]
    split = datasets.NamedSplit(table.split)
    made = _documents(datasets, data, split) if table is CORPUS else datasets.Dataset(_rows(data, table), split=split)
    return datasets.DatasetDict({table.split: made})


def _rows(data: "Dataset", table: Table) -> pa.Table:
    """Return one of the small tables."""
    if table is QRELS:
        judged = [(q, d, n) for q, documents in sorted(data.qrels.items()) for d, n in sorted(documents.items())]
        columns = zip(*judged, strict=True) if judged else ((), (), ())
        return pa.table(list(map(pa.array, columns, table.schema.types)), table.schema)
    records: Mapping[str, Records[Any]]
    records = {QUERIES.name: data.queries, NUGGETS.name: data.nuggets, NUGGET_QRELS.name: data.judgments}
    return records[table.name].arrow.cast(table.schema)  # ids of judgments made in memory are kept as numbers


def _documents(datasets: Any, data: "Dataset", split: Any) -> Any:
    """Return the documents, mapped from a file; in memory where no file can be written."""
    corpus = data.corpus
    try:
        path = arrow_file.path_of(data)
        arrow_file.ensure(data, path)
        return datasets.Dataset.from_file(str(path), split=split)
    except (RecordError, SnapshotError):
        raise
    except (InputError, OSError) as error:
        log.warning("the documents are held in memory: %s", error)
        return datasets.Dataset(pa.Table.from_batches(corpus.batches(_ROWS), CORPUS.schema), split=split)
