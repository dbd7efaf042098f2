"""Retrieval tasks of MTEB: one for each snapshot that is known by name, and one for any other dataset."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import islice
from typing import Any, ClassVar

import pyarrow as pa
from datasets import Dataset as Table
from mteb.abstasks.retrieval import AbsTaskRetrieval

from freshstack_datasets import catalog
from freshstack_datasets.adapters.given import check_for_c
from freshstack_datasets.adapters.ir_datasets.source import Source
from freshstack_datasets.adapters.mteb import metadata
from freshstack_datasets.adapters.mteb.metadata import SPLIT, Metadata
from freshstack_datasets.adapters.mteb.scores import CUTOFFS, Scores, scores_of
from freshstack_datasets.catalog import snapshot_order
from freshstack_datasets.errors import InputError
from freshstack_datasets.loading import Dataset, load

_ROWS = 10_000
"""Documents that are turned into Arrow at once."""

_TEXTS = pa.schema([("id", pa.string()), ("title", pa.string()), ("text", pa.string())])


class SnapshotTask(AbsTaskRetrieval):
    """A retrieval task on one snapshot of a dataset.

    Titles are put before the texts, where models read them anyway, and the column of titles is left empty: some of
    MTEB's wrappers would put a title there twice.
    """

    data_loaded: bool
    k_values = CUTOFFS
    dataset_name: ClassVar[str]
    snapshot: ClassVar[str]
    _open: ClassVar[Callable[[], Dataset]]
    _source: ClassVar[Source | None] = None
    _data: Dataset | None = None

    def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:
        """Load the snapshot, which is downloaded now if it is not on this machine.

        Args:
            num_proc: Passed on to ``dataset_transform``.
            **kwargs: What MTEB hands over for its own way of loading.

        Raises:
            HubError: The snapshot cannot be had.
            SnapshotError: It cannot be read.
            RecordError: An id has a NUL, at which trec_eval within MTEB would stop the process.
        """
        if self.data_loaded:
            return
        data = type(self)._open()
        check_for_c(data.qrels, data.corpus.ids, *data.qrels.values())
        (subset,) = self.metadata.hf_subsets
        tables = {
            "corpus": _table((document.doc_id, document.default_text()) for document in data.corpus),
            "queries": _table((query.query_id, query.text) for query in data.queries).remove_columns("title"),
            "relevant_docs": {query_id: dict(documents) for query_id, documents in data.qrels.items()},
            "top_ranked": None,
        }
        self.dataset = {subset: {SPLIT: tables}}
        self._data = data
        self.dataset_transform(num_proc=num_proc)
        self.data_loaded = True

    def unload_data(self) -> None:
        """Let go of everything that was loaded."""
        super().unload_data()
        self._data = None

    def task_specific_scores(
        self, scores: Any, qrels: Any, results: dict[str, dict[str, float]], hf_split: str, hf_subset: str
    ) -> Scores:
        """Return this package's scores of what a model returned; they replace those of MTEB that have their names.

        Args:
            scores: MTEB's own, of the queries that the model returned something for.
            qrels: The number of nuggets that each document supports.
            results: Query id to document id to score.
            hf_split: The split.
            hf_subset: The subset.

        Raises:
            RunError: A score is not finite, or an id is not allowed.
        """
        if self._data is None:
            raise InputError(f"task {self.metadata.name}", expected="loaded data", got="none", hint="call load_data")
        return scores_of(results, self._data)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle everything but the snapshot, which another process opens for itself."""
        state = {**self.__dict__, "_data": None}
        source = type(self)._source
        return (type(self), (), state) if source is None else (_task_on, (source,), state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.data_loaded:
            self._data = type(self)._open()


def _table(rows: Iterable[tuple[str, str]]) -> Table:
    """Return ids and texts as MTEB reads them.

    What ``map`` makes of a table is kept under its fingerprint. Left to itself, ``datasets`` pickles the table to make
    one, which takes four times the memory of the texts.
    """
    table = pa.Table.from_batches(_batches(rows), _TEXTS)
    digest = hashlib.sha256()
    for column in table.columns:
        for chunk in column.chunks:  # each made above, so its buffers hold what it has and no more
            for buffer in filter(None, chunk.buffers()):
                digest.update(len(buffer).to_bytes(8))
                digest.update(buffer)
    return Table(table, fingerprint=digest.hexdigest())


def _batches(rows: Iterable[tuple[str, str]]) -> Iterator[pa.RecordBatch]:
    left = iter(rows)
    while some := list(islice(left, _ROWS)):
        ids, texts = zip(*some, strict=True)
        yield pa.record_batch([ids, [""] * len(ids), texts], schema=_TEXTS)


def task_of(data: Dataset) -> SnapshotTask:
    """Return a task on a dataset that was loaded.

    Raises:
        InputError: The dataset was made of judgments alone.
    """
    made = _made(metadata.of_dataset(data), data.name, data.snapshot, lambda: data)
    made._source = Source.of(data)
    return made()


def _task_on(source: Source) -> SnapshotTask:
    return task_of(source.data)


@cache
def known_tasks() -> tuple[type[SnapshotTask], ...]:
    """Return the classes of all tasks that are known by name: the catalog's snapshots, and what is bundled."""
    catalogued = [
        _made(metadata.of_topic(name, snapshot), name, snapshot, partial(load, name, snapshot))
        for name in sorted(catalog.known())
        for snapshot in sorted(catalog.published(name), key=snapshot_order)
    ]
    bundled = [
        _made(metadata.of_bundled(data), data.name, data.snapshot, partial(load, data.name, data.snapshot))
        for data in map(load, sorted(catalog.bundled()))
    ]
    return (*catalogued, *bundled)


def _made(told: Metadata, name: str, snapshot: str, opened: Callable[[], Dataset]) -> type[SnapshotTask]:
    """Return the class of a task; MTEB keeps classes, each with its metadata, and makes tasks of them."""
    parts = {"metadata": told, "dataset_name": name, "snapshot": snapshot, "_open": opened}
    return type(told.name, (SnapshotTask,), parts | {"__module__": __name__, "__doc__": told.description})


def __getattr__(name: str) -> type[SnapshotTask]:
    """Return the class of a task that is known by name, which is how a pickled one is found again."""
    for known in known_tasks():
        if known.__name__ == name:
            return known
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
