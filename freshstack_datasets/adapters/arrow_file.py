"""The documents of a snapshot in an Arrow file under ``FRESHSTACK_HOME``, which adapters and processes share.

A corpus in Parquet gives one document at the cost of a thousand. So the documents are written out once, uncompressed,
as a stream of batches that is mapped into memory. The file is written beside its place and then moved there; of several
processes that want it at once, one writes it and the others wait. After the stream, where no reader looks, stands the
sha256 of all before it: a disk or a machine that failed is noticed before a wrong text is taken for a document.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa

from freshstack_datasets.errors import InputError, SnapshotError, shown_path
from freshstack_datasets.files import atomic_file, matching
from freshstack_datasets.home import home
from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import check_id
from freshstack_datasets.tables.corpus import Corpus
from freshstack_datasets.tables.parquet import VERIFY, readable
from freshstack_datasets.tables.schema import CORPUS

FORMAT = 2
"""Raised when the same documents make another file."""

_DIGEST = hashlib.sha256().digest_size

_ROWS = 1_000
"""Rows of a batch: what is looked at at once when a document is asked for by its place."""


def path_of(data: Dataset) -> Path:
    """Return where the file of a dataset's documents is, or will be.

    A folder may have been changed while its manifest still tells the old fingerprint, so the place differs with the
    sizes and the times of the files too.

    Args:
        data: The dataset.

    Raises:
        SnapshotError: It has no corpus, or its folder is gone.
        InputError: There is no ``FRESHSTACK_HOME``.
    """
    len(data.corpus)  # the files of one on the Hub come when it is opened
    assert data.path is not None, "documents are in a folder"
    with readable(f"{CORPUS.name} of {data.path}"):
        stats = [(path.name, path.stat()) for path in sorted((data.path / CORPUS.name).iterdir())]
    files = [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats]
    key = hashlib.sha256(json.dumps([FORMAT, data.fingerprint, files]).encode()).hexdigest()[:32]
    return home() / "documents" / key / f"{CORPUS.name}.arrow"


def opened(data: Dataset, path: Path) -> pa.Table | None:
    """Return the documents, mapped into memory; None when there is no file, or a damaged one.

    Args:
        data: The dataset.
        path: Where its file is.
    """
    try:
        content = pa.memory_map(str(path)).read_buffer()
        size = max(0, len(content) - _DIGEST)
        if hashlib.sha256(memoryview(content)[:size]).digest() != memoryview(content)[size:].tobytes():
            return None
        rows = pa.ipc.open_stream(content).read_all()
    except (OSError, pa.ArrowException):
        return None
    return rows if rows.schema.equals(CORPUS.schema) and len(rows) == len(data.corpus) else None


def ensure(data: Dataset, path: Path) -> pa.Table:
    """Return the documents, mapped from the file, which is written unless there is a whole one.

    Args:
        data: The dataset.
        path: Where its file is to be.

    Raises:
        SnapshotError: The corpus cannot be read.
        RecordError: An id is not allowed.
        InputError: The file cannot be written, or was removed at once.
    """
    rows = opened(data, path)
    if rows is None:
        with _alone(path) as alone:
            rows = opened(data, path)
            if rows is None:  # else another process wrote it meanwhile
                if alone:
                    _sweep(path)
                _write(data.corpus, path)
                rows = opened(data, path)
    if rows is None:
        raise InputError(f"{shown_path(path)} cannot be read", hint="try again")
    return rows


def _write(corpus: Corpus, path: Path) -> None:
    for doc_id in corpus.ids:  # which looks whether each comes once
        check_id(doc_id, "document")
    try:
        with atomic_file(path) as work:
            with pa.OSFile(str(work), "wb") as sink, pa.ipc.new_stream(sink, CORPUS.schema) as to:
                for batch in corpus.batches(_ROWS):
                    _check_whole(batch)
                    to.write_batch(batch)
            with work.open("r+b") as file:
                file.write(hashlib.file_digest(file, "sha256").digest())  # it has read up to the end
    except (OSError, pa.ArrowException) as error:
        what, got = f"cannot write {shown_path(path)}", str(error).partition("\n")[0]
        raise InputError(what, got=got, hint="free some space, or set FRESHSTACK_HOME") from error


def _check_whole(batch: pa.RecordBatch) -> None:
    if any(batch[column].null_count for column in CORPUS.required):
        raise SnapshotError("the corpus", expected="title and text in every row", got="a null", hint=VERIFY)


def _sweep(path: Path) -> None:
    """Remove what was left behind by processes that were killed; only for whoever is alone here."""
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
