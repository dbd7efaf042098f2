"""Sorting documents that do not fit into memory: they wait in a file, only their ids and sizes are kept."""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from freshstack_datasets.errors import SnapshotError, shown
from freshstack_datasets.records import Document
from freshstack_datasets.tables.conversion import BATCH_CHARACTERS, batches
from freshstack_datasets.tables.schema import CORPUS

_BATCH_ROWS = 4_096


class Spool:
    """Documents in a file, in the order they came.

    Args:
        path: Where the file goes.
        documents: The documents, read once.

    Raises:
        SnapshotError: Two documents have one id.
    """

    def __init__(self, path: Path, documents: Iterable[Document]) -> None:
        self._path = path
        self._ids: list[str] = []
        self._sizes = array("q")
        self._starts = [0]  # the first row of every batch, and the number of all rows
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, CORPUS.schema) as writer:
            for batch in batches(CORPUS, documents, _BATCH_ROWS):
                writer.write_batch(batch)
                self._ids += batch.column("_id").to_pylist()
                # Bytes of the texts stand for the row: titles and metadata are small beside them.
                self._sizes.extend(pc.binary_length(batch.column("text")).to_pylist())
                self._starts.append(len(self._ids))
        self._order = sorted(range(len(self._ids)), key=self._ids.__getitem__)
        for a, b in zip(self._order, self._order[1:], strict=False):
            if self._ids[a] == self._ids[b]:
                raise SnapshotError(f"document {shown(self._ids[a])}", expected="each document once", got="it twice")

    @property
    def ids(self) -> list[str]:
        """The documents' ids, in the order they came."""
        return self._ids

    def sorted_groups(self, rows: int) -> Iterator[pa.Table]:
        """Yield the documents by ascending id, in tables of at most so many rows, fewer where texts are long."""
        with pa.memory_map(str(self._path)) as file:
            reader = pa.ipc.open_file(file)
            group: list[int] = []
            held = 0
            for row in self._order:
                if group and (len(group) == rows or held + self._sizes[row] > BATCH_CHARACTERS):
                    yield self._gathered(reader, np.asarray(group))
                    group, held = [], 0
                group.append(row)
                held += self._sizes[row]
            if group:
                yield self._gathered(reader, np.asarray(group))

    def _gathered(self, reader: pa.RecordBatchFileReader, rows: NDArray[np.int64]) -> pa.Table:
        """Return some rows in the order asked, touching no more of the file than them.

        Taking from a table of all batches would join them first, which neither memory nor 32-bit offsets allow.
        """
        homes = np.searchsorted(self._starts, rows, "right") - 1
        parts, places = [], []
        for home in np.unique(homes):
            mine = np.flatnonzero(homes == home)
            parts.append(reader.get_batch(int(home)).take(pa.array(rows[mine] - self._starts[home])))
            places.append(mine)
        together = pa.Table.from_batches(parts).combine_chunks()
        return together.take(pa.array(np.argsort(np.concatenate(places))))
