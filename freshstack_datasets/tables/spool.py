"""Sorting records that do not fit into memory: they wait in a file, only their ids and sizes are kept.

The file is made of sorted runs, so that the records of a few neighbouring ids are one piece of each run.
"""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from freshstack_datasets.errors import SnapshotError, shown
from freshstack_datasets.tables.conversion import BATCH_CHARACTERS, batches
from freshstack_datasets.tables.schema import Table

_BATCH_ROWS = 4_096


class Spool:
    """Records with an id in a file.

    Args:
        path: Where the file goes.
        table: The records' table.
        records: The records, read once.

    Raises:
        SnapshotError: Two records have one id, or there is no record.
    """

    def __init__(self, path: Path, table: Table, records: Iterable[Any]) -> None:
        self._path = path
        self._ids: list[str] = []
        self._sizes = array("q")
        self._starts = [0]  # the first row of every run, and the number of all rows
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            for run in batches(table, records, _BATCH_ROWS, by="_id"):
                writer.write_batch(run)
                self._take(run)
                del run  # before the next one is made
        kind = table.record.__name__.lower() if table.record else "row"
        if not self._ids:
            raise SnapshotError(f"the table {table.name}", expected=f"at least one {kind}", got="none")
        self._order = sorted(range(len(self._ids)), key=self._ids.__getitem__)
        for a, b in zip(self._order, self._order[1:], strict=False):
            if self._ids[a] == self._ids[b]:
                raise SnapshotError(f"{kind} {shown(self._ids[a])}", expected=f"each {kind} once", got="it twice")

    def _take(self, run: pa.RecordBatch) -> None:
        """Keep ids and sizes of the next run."""
        self._ids += run.column("_id").to_pylist()
        # Bytes of the texts stand for the row: tags and metadata are small beside them.
        texts = (column for column in run.columns if pa.types.is_string(column.type))
        sizes = [pc.fill_null(pc.binary_length(text), 0).to_numpy() for text in texts]
        self._sizes.extend(np.sum(sizes, axis=0).tolist())
        self._starts.append(len(self._ids))

    @property
    def ids(self) -> list[str]:
        """The records' ids, in the order of the file."""
        return self._ids

    def sorted_groups(self, rows: int) -> Iterator[pa.Table]:
        """Yield the records by ascending id, in tables of at most so many rows, fewer where texts are long."""
        group: list[int] = []
        held = 0
        for row in self._order:
            if group and (len(group) == rows or held + self._sizes[row] > BATCH_CHARACTERS):
                yield self._gathered(np.asarray(group))
                group, held = [], 0
            group.append(row)
            held += self._sizes[row]
        if group:
            yield self._gathered(np.asarray(group))

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink()

    def _gathered(self, rows: NDArray[np.int64]) -> pa.Table:
        """Return some rows that follow one another by id, in that order, touching no more of the file than them.

        Taking from a table of all runs would join them first, which neither memory nor 32-bit offsets allow. The file
        is mapped anew each time, since pages that were touched stay in memory for as long as it is.
        """
        homes = np.searchsorted(self._starts, rows, "right") - 1
        parts, places = [], []
        with pa.memory_map(str(self._path)) as file:
            reader = pa.ipc.open_file(file)
            for home in np.unique(homes):
                mine = np.flatnonzero(homes == home)
                first = int(rows[mine[0]]) - self._starts[home]
                parts.append(reader.get_batch(int(home)).slice(first, len(mine)))
                places.append(mine)
            together = pa.Table.from_batches(parts).combine_chunks()
            return together.take(pa.array(np.argsort(np.concatenate(places))))
