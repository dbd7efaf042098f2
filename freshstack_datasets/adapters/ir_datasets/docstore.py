"""The documents of a snapshot for quick access by id and by place, kept in a file that processes share.

A corpus in Parquet gives one document at the cost of a thousand. So the documents are written out once, uncompressed,
into an Arrow file that is mapped into memory. It is written beside its place and then moved there, so what is there is
whole; of several processes that want it at once, one writes it and the others wait.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from ir_datasets.indices import DEFAULT_DOCSTORE_OPTIONS, Docstore

from freshstack_datasets.adapters.ir_datasets.records import FreshStackDoc, doc
from freshstack_datasets.adapters.ir_datasets.source import Source
from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import atomic_file, matching
from freshstack_datasets.home import home
from freshstack_datasets.loading import Dataset
from freshstack_datasets.progress import track

FORMAT = 1
"""Raised when the same documents make another file."""

_NAME = "documents.arrow"
_BATCH = 1_000
_SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in FreshStackDoc._fields])


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
        return home() / "ir_datasets" / _key(self._source.data) / _NAME

    def built(self) -> bool:
        """Tell whether there is a whole file."""
        if self._kept is None:
            self._kept = _opened(self.path)
        return self._kept is not None

    def build(self) -> None:
        """Write the file, unless there is one.

        Raises:
            SnapshotError: The corpus cannot be read.
            InputError: The file cannot be written.
        """
        if not self.built():
            with _alone(self.path) as alone:
                if not self.built():  # else another process wrote it meanwhile
                    if alone:
                        _sweep(self.path)
                    _write(self.path, self._source.data)

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
        self.build()
        if not self.built() or self._kept is None:  # somebody removed it at once
            raise InputError(f"{shown_path(self.path)} cannot be read", hint="try again")
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
        rows: What it holds.
    """

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows
        self._columns = rows.columns
        self._row: dict[str, int] = {}

    @property
    def count(self) -> int:
        return int(self._rows.num_rows)

    def row(self, doc_id: object) -> int | None:
        if not self._row:  # not before it is needed: whoever goes through all documents does not
            self._row = dict(zip(self._columns[0].to_pylist(), range(self.count), strict=True))
        return self._row.get(doc_id) if isinstance(doc_id, str) else None

    def document(self, row: int) -> FreshStackDoc:
        return FreshStackDoc._make(column[row].as_py() for column in self._columns)

    def documents(self, rows: range) -> Iterator[FreshStackDoc]:
        if rows.step != 1:
            yield from map(self.document, rows)
            return
        for batch in self._rows.slice(rows.start, len(rows)).to_batches(max_chunksize=_BATCH):
            yield from map(FreshStackDoc._make, zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _key(data: Dataset) -> str:
    """Return a file name that differs whenever the documents could.

    A folder may have been changed while its manifest still tells the old fingerprint, so the files count as well.
    """
    assert data.path is not None, "a source is of a snapshot in a folder"
    len(data.corpus)  # the files of one on the Hub come when it is opened
    stats = ((path.name, path.stat()) for path in sorted((data.path / "corpus").iterdir()))
    files = [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats]
    return hashlib.sha256(json.dumps([FORMAT, data.fingerprint, files]).encode()).hexdigest()[:32]


def _opened(path: Path) -> _Kept | None:
    """Return what a file holds; None when there is none, or one that a failure of the machine cut off."""
    try:
        with pa.ipc.open_file(pa.memory_map(str(path))) as file:
            rows = file.read_all()
    except (OSError, pa.ArrowException):
        return None
    return _Kept(rows) if rows.schema.equals(_SCHEMA) else None


def _write(path: Path, data: Dataset) -> None:
    len(data.corpus.ids)  # which looks whether each comes once
    documents = iter(map(doc, track(data.corpus, len(data.corpus), "unpacking documents")))
    try:
        with atomic_file(path) as work, pa.OSFile(str(work), "wb") as sink, pa.ipc.new_file(sink, _SCHEMA) as file:
            while some := list(islice(documents, _BATCH)):
                columns = [pa.array(values, pa.string()) for values in zip(*some, strict=True)]
                file.write_batch(pa.record_batch(columns, schema=_SCHEMA))
    except (OSError, pa.ArrowException) as error:
        what, got = f"cannot write {shown_path(path)}", str(error).partition("\n")[0]
        raise InputError(what, got=got, hint="free some space, or set FRESHSTACK_HOME") from error


def _sweep(path: Path) -> None:
    """Remove what builds left behind that were killed; only for whoever is alone here."""
    for leftover in matching(path.parent, f".{path.name}-*"):
        leftover.unlink(missing_ok=True)


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Wait until no other process writes a file; the value tells whether there is a way to know that.

    Where there is none, several may write it at once: each a file of its own, of which the last to be moved stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name("lock").open("ab")
    except OSError as error:
        got = (error.strerror or str(error)).lower()
        raise InputError(f"cannot write {shown_path(path)}", got=got, hint="set FRESHSTACK_HOME") from error
    with lock:  # the lock ends with the file, and with the process, however it ends
        yield _locked(lock)


def _locked(file: IO[bytes]) -> bool:
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    except (ImportError, OSError):  # another system, or one that cannot lock there
        return False
    return True
