"""The documents of a snapshot for quick access by id and by place, from the file that ``arrow_file`` keeps."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, Docstore

from freshstack_datasets.adapters import arrow_file
from freshstack_datasets.adapters.ir_datasets.records import FreshStackDoc
from freshstack_datasets.adapters.ir_datasets.source import Source
from freshstack_datasets.errors import InputError

_BATCH = 1_000
"""Documents that are made of rows at once."""


class DocumentStore(Docstore):
    """Documents by id and by place.

    Documents come in the order in which they are asked for; ids that there are not are left out.

    Args:
        source: The snapshot.
        options: What ``ir_datasets`` hands over; the file is mapped into memory whatever they say.
    """

    def __init__(self, source: Source, options: Any = DEFAULT_DOCSTORE_OPTIONS) -> None:
        super().__init__(FreshStackDoc, "doc_id", options=options)
        self._source = source
        self._kept: _Kept | None = None

    @property
    def path(self) -> Path:
        """Where the file is, or will be."""
        return arrow_file.path_of(self._source.data)

    def built(self) -> bool:
        """Tell whether there is a whole file."""
        if self._kept is None:
            rows = arrow_file.opened(self._source.data, self.path)
            self._kept = None if rows is None else _Kept(rows)
        return self._kept is not None

    def build(self) -> None:
        """Write the file, unless there is one.

        Raises:
            SnapshotError: The corpus cannot be read.
            RecordError: An id is not allowed.
            InputError: The file cannot be written.
        """
        self._whole()

    def clear_cache(self) -> None:
        """Remove the file."""
        self._kept = None
        self.path.unlink(missing_ok=True)

    def count(self) -> int:
        """Return the number of documents."""
        return self._whole().count

    def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[FreshStackDoc]:
        """Yield the documents of some ids, or of one."""
        kept = self._whole()
        for doc_id in (doc_ids,) if isinstance(doc_ids, str) else doc_ids:
            row = kept.row(doc_id)
            if row is not None:
                yield kept.document(row)

    def __iter__(self) -> "Documents":
        kept = self._whole()
        return Documents(kept, range(kept.count))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._source,)  # another process opens the file for itself

    def _whole(self) -> "_Kept":
        if self._kept is None:
            self._kept = _Kept(arrow_file.ensure(self._source.data, self.path))
        return self._kept


class Documents(Iterator[FreshStackDoc]):
    """Documents one after the other; with an index or a slice, those of the ones that are still to come.

    Args:
        kept: All documents.
        rows: The places of those that come.
    """

    def __init__(self, kept: "_Kept", rows: range) -> None:
        self._kept, self._rows = kept, rows
        self._coming = kept.documents(rows)

    def __next__(self) -> FreshStackDoc:
        found = next(self._coming)
        self._rows = self._rows[1:]
        return found

    def __getitem__(self, key: int | slice) -> Any:
        """Return one document, or those of a slice, whose ends may be shares of the whole: ``[:0.5]`` is one half."""
        if isinstance(key, slice):
            start, stop = (self._end(end) for end in (key.start, key.stop))
            return Documents(self._kept, self._rows[start : stop : key.step])
        return self._kept.document(self._rows[key])

    def _end(self, end: float | None) -> int | None:
        if not isinstance(end, float):
            return end
        if not 0 <= end <= 1:
            raise InputError("a share of the documents", expected="a number from 0 to 1", got=str(end))
        return math.floor(end * len(self._rows))


class _Kept:
    """A whole file, open.

    Args:
        rows: What it holds, columns named as in the snapshot.
    """

    def __init__(self, rows: pa.Table) -> None:
        metadata = rows["metadata"]
        url = metadata.flatten()[metadata.type.get_field_index("url")]
        self._columns = [rows["_id"], rows["title"], rows["text"], url]
        self._rows = pa.table(self._columns, FreshStackDoc._fields)
        self._row: dict[str, int] = {}

    @property
    def count(self) -> int:
        return int(self._rows.num_rows)

    def row(self, doc_id: object) -> int | None:
        if not self._row:  # not before it is needed: whoever goes through all documents does not
            self._row = dict(zip(self._columns[0].to_pylist(), range(self.count), strict=True))
        return self._row.get(doc_id) if isinstance(doc_id, str) else None

    def document(self, row: int) -> FreshStackDoc:
        return FreshStackDoc._make(column[row].as_py() or "" for column in self._columns)

    def documents(self, rows: range) -> Iterator[FreshStackDoc]:
        if rows.step != 1:
            yield from map(self.document, rows)
            return
        for batch in self._rows.slice(rows.start, len(rows)).to_batches(max_chunksize=_BATCH):
            for doc_id, title, text, url in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield FreshStackDoc(doc_id, title, text, url or "")
