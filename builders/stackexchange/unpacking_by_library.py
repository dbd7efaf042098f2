"""Unpacking a 7z archive with py7zr, in a thread that waits for whoever reads."""

import queue
import threading
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from builders.stackexchange.unpacking import Entry, damaged, locked
from freshstack_datasets.errors import InputError, MissingExtraError

_BLOCK = 1 << 20
_WAITING = 4
"""Blocks that may be unpacked before one of them is read."""

_TRIES = 200
_TRY = 0.05


class ByLibrary:
    """Unpacks with py7zr.

    Args:
        path: The archive.

    Raises:
        MissingExtraError: py7zr is not installed.
    """

    def __init__(self, path: Path) -> None:
        try:
            import py7zr
        except ImportError:
            raise MissingExtraError("py7zr", "build") from None
        self._path, self._library = path, py7zr

    def entries(self) -> Iterator[Entry]:
        """Yield the files of the archive.

        Raises:
            InputError: It cannot be read.
        """
        try:
            with self._path.open("rb") as file, self._library.SevenZipFile(file, blocksize=_BLOCK) as archive:
                is_locked = archive.needs_password()
                found = [
                    Entry(entry.filename, entry.uncompressed, is_locked)
                    for entry in archive.list()
                    if not entry.is_directory
                ]
        except Exception as error:  # the library raises anything for damaged bytes
            raise self._why(error) from error
        yield from found

    def blocks(self, entry: Entry) -> Generator[bytes]:
        """Yield the bytes of a file; the thread ends when the generator is closed.

        Args:
            entry: The file.

        Raises:
            InputError: It cannot be unpacked.
        """
        work = _Work()
        thread = threading.Thread(target=self._unpack, args=(entry, work), daemon=True)
        thread.start()
        try:
            while (got := work.handed.get()) is not None:
                if isinstance(got, Exception):
                    raise self._why(got) from got
                yield got
        finally:
            work.stopped.set()
            for _ in range(_TRIES):  # it may be going through the files in front, where nobody can stop it
                if not thread.is_alive():
                    break
                with suppress(queue.Empty):
                    work.handed.get(timeout=_TRY)

    def _unpack(self, entry: Entry, work: "_Work") -> None:
        try:
            # a file, not a path: otherwise the library starts threads of its own, whose errors leave them running
            with self._path.open("rb") as file, self._library.SevenZipFile(file, blocksize=_BLOCK) as archive:
                factory: Any = work
                archive.extract(targets=[entry.name], factory=factory)
            work.hand(None)
        except _StoppedError:
            return
        except Exception as error:
            with suppress(_StoppedError):
                work.hand(error)

    def _why(self, error: Exception) -> Exception:
        if isinstance(error, InputError | OSError):
            return error
        if isinstance(error, self._library.PasswordRequired):
            return locked(self._path)
        return damaged(self._path, type(error).__name__)


class _StoppedError(Exception):
    pass


class _Work:
    """Takes what py7zr writes, and hands it on."""

    def __init__(self) -> None:
        self.handed: queue.Queue[bytes | Exception | None] = queue.Queue(_WAITING)
        self.stopped = threading.Event()
        self._size = 0

    def hand(self, what: bytes | Exception | None) -> None:
        """Wait until there is room for it; raise when nobody reads any more."""
        while not self.stopped.is_set():
            with suppress(queue.Full):
                self.handed.put(what, timeout=_TRY)
                return
        raise _StoppedError

    def create(self, _: str) -> "_Work":
        """Return what takes the bytes of a file."""
        return self

    def write(self, data: bytes | bytearray) -> int:
        """Take some bytes."""
        self._size += len(data)
        self.hand(bytes(data))
        return len(data)

    def read(self, _: int | None = None) -> bytes:
        """Return nothing: what was written is gone."""
        return b""

    def seek(self, _: int, __: int = 0) -> int:
        """Stay where it is."""
        return self._size

    def flush(self) -> None:
        """Have nothing to do."""

    def size(self) -> int:
        """Return the bytes taken."""
        return self._size

    def close(self) -> None:
        """Have nothing to do."""
