"""Processes that several threads started, to be ended all at once."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self

Process = subprocess.Popen[bytes]

_current: ContextVar["Together | None"] = ContextVar("together", default=None)
"""In a thread: what it starts processes for."""


class Together:
    """Work of several threads; when the block ends early, all processes of it are ended, and none is started any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[Process] = set()
        self._is_over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            with self._lock:
                self._is_over = True
                for process in self._running:
                    if process.returncode is None:  # else its number may be another one's by now
                        kill(process)

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Let what this thread starts within the block belong to the work."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def _add(self, process: Process) -> bool:
        with self._lock:
            self._running.add(process)
            return not self._is_over

    def _remove(self, process: Process) -> None:
        with self._lock:
            self._running.discard(process)


@contextmanager
def running(process: Process) -> Iterator[bool]:
    """Count a process among those of this thread's work for as long as the block, and yield whether it may go on."""
    together = _current.get()
    if together is None:
        yield True
        return
    try:
        yield together._add(process)
    finally:
        together._remove(process)


def kill(process: Process) -> None:
    """Kill a process that leads a group, and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the group is empty
        os.killpg(process.pid, signal.SIGKILL)
