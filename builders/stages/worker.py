"""A process that makes parts, one after the other, and may end at any of them."""

import multiprocessing
import os
import signal
import tempfile
import threading
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, TypeVar

from builders.stages import watchdog
from builders.stages.marks import Job, key_of
from builders.stages.records import Stage
from freshstack_datasets.errors import FreshStackError, InputError

S = TypeVar("S")


class Worker(Generic[S]):
    """A process of its own, which has to be told to ``finish`` or to ``end``.

    Args:
        stage: What it does.
        scratch: A folder for what it keeps while it works, which is to be removed with all that is left in it.
    """

    def __init__(self, stage: Stage[S], scratch: Path) -> None:
        context = multiprocessing.get_context("spawn")  # a process that was forked off one with threads may hang
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(stage, theirs, str(scratch)))
        self._process.start()
        theirs.close()
        self._job: Job[S] | None = None

    def give(self, job: Job[S]) -> None:
        """Let it make a part; it must have been heard since it started, and since the part before."""
        self._job = job
        with suppress(OSError):  # it is gone, which is heard next
            self.pipe.send(job)

    def heard(self) -> tuple[Job[S] | None, bool]:
        """Return what it was at, None at its start, and whether it is still there.

        Raises:
            InputError: A part cannot be made, or no process can be started.
        """
        job, self._job = self._job, None
        try:
            kind, value = self.pipe.recv()
        except (EOFError, OSError):
            if job is None:
                hint = "in a script of your own, call it below: if __name__ == '__main__'"
                raise InputError("a process for the work ends as soon as it is started", hint=hint) from None
            return job, False
        if kind == "wrong":
            raise InputError(value)
        if kind == "error":
            raise value
        return job, True

    def finish(self) -> None:
        """Let it close what it has open, and wait for its end."""
        with suppress(OSError):
            self.pipe.send(None)
        self._process.join()
        self._close()

    def end(self) -> None:
        """End it at once."""
        self._process.terminate()
        self._process.join()
        self._close()

    def _close(self) -> None:
        self.pipe.close()
        self._process.close()


def _serve(stage: Stage[Any], pipe: "Connection[Any, Any]", scratch: str) -> None:
    """Make parts, in a process of its own, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that was asked for the work ends the others
    tempfile.tempdir = scratch
    watchdog.watch()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        pipe.send(("ready", None))
        while (job := pipe.recv()) is not None:
            pipe.send(_made(stage, job))
    except (EOFError, OSError):
        pass  # nobody waits for it any more: the pipe is gone, and perhaps broken
    finally:
        stage.close()


def _end_with_parent() -> None:
    """End this process when the one that started it was killed; else it would work on for nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _made(stage: Stage[Any], job: Job[Any]) -> tuple[str, Any]:
    """Make a part, and return how that went, as what can be sent to another process: not every error can."""
    try:
        make(stage, job)
    except FreshStackError as error:
        return "wrong", str(error)
    except MemoryError:
        os._exit(1)  # as if the system had done so
    except OSError as error:
        return "error", OSError(error.errno, error.strerror, error.filename)
    except Exception:
        return "error", RuntimeError(traceback.format_exc())
    finally:
        watchdog.idle()
    return "made", None


def make(stage: Stage[S], job: Job[S]) -> None:
    """Make a part in this process.

    Raises:
        InputError: It would not be what was asked for: this process has other code, other libraries or other sources.
    """
    if key_of(stage, job.shard) != job.key:
        hint = "run the same command again, and on a cluster with the same clone and environment everywhere"
        raise InputError("code, libraries or sources changed while they were used", hint=hint)
    with job.making() as work:
        stage.make(job.shard, work)
