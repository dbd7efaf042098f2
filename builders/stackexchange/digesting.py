"""The digest of a dump's bytes, taken while others read it."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from builders.stackexchange.archive import Readable

_BLOCK = 1 << 20


class Digested:
    """What gives bytes, and keeps size and digest of those it gave.

    Args:
        file: Where the bytes come from.
        head: The first bytes, where they were read before.
    """

    def __init__(self, file: Readable, head: bytes = b"") -> None:
        self._file = file
        self._digest = hashlib.sha256(head)
        self.size = len(head)

    def read(self, size: int, /) -> bytes:
        """Return as many bytes as asked for, fewer at the end only."""
        data = self._file.read(size)
        self._digest.update(data)
        self.size += len(data)
        return data

    @property
    def sha256(self) -> str:
        """Return the digest of the bytes so far."""
        return self._digest.hexdigest()


@contextmanager
def digesting(path: Path) -> Iterator[Callable[[], str]]:
    """Give what waits for the digest of a file, which a thread takes meanwhile; whoever leaves early ends that.

    Args:
        path: The file.
    """
    stopped = threading.Event()

    def digest() -> str:
        with path.open("rb", buffering=0) as raw:
            file = Digested(raw)
            while not stopped.is_set() and file.read(_BLOCK):
                pass
        return file.sha256

    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(digest)
        try:
            yield future.result
        finally:
            stopped.set()
