"""Running a stage: shards in a pool of processes, each leaving a part and a mark that it is whole.

A mark holds the digest of what the part depends on and that of the part itself. A shard with a mark that fits is not
done again, so that the same call, made again after any end, a kill included, goes on where it stopped.
"""

import atexit
import hashlib
import json
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from builders.stages.records import Stage
from freshstack_datasets.errors import FreshStackError, InputError
from freshstack_datasets.files import atomic_file
from freshstack_datasets.progress import track

S = TypeVar("S")

_held: list[Stage[Any]] = []
"""In a process of the pool: the stage that it runs."""


def run(stage: Stage[S], shards: Sequence[S], folder: Path, *, processes: int = 1, what: str = "") -> list[Path]:
    """Make the parts of all shards and return their paths, in the order of the shards.

    Args:
        stage: The stage.
        shards: The shards.
        folder: Where parts and marks are kept; that of an earlier run that was ended, to go on with it.
        processes: How many processes work; for one, or for one shard, this one does.
        what: What is done, in a few words, for the progress bar.

    Raises:
        InputError: A shard's part cannot be made; those that were made stay.
    """
    home = folder / stage.name
    parts = [home / f"{number:06}.part" for number in range(len(shards))]
    keys = [hashlib.sha256(stage.key(shard).encode()).hexdigest() for shard in shards]
    todo = [job for job in zip(shards, parts, keys, strict=True) if not _is_made(job[1], job[2])]
    if todo:
        home.mkdir(parents=True, exist_ok=True)
        workers = min(processes, len(todo))
        done = _alone(stage, todo) if workers == 1 else _pooled(stage, todo, workers, folder)
        for _ in track(done, len(todo), what or stage.name, "shards"):
            pass
    return parts


def _mark(part: Path) -> Path:
    return part.with_suffix(".done")


def _is_made(part: Path, key: str) -> bool:
    """Tell whether a part is there and whole, and was made of the same."""
    try:
        mark = json.loads(_mark(part).read_bytes())
        return bool(mark == {"key": key, "part": _digest(part)})
    except (OSError, ValueError):
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _make(stage: Stage[S], shard: S, part: Path, key: str) -> None:
    """Make a part, then its mark."""
    with atomic_file(part) as work:
        stage.make(shard, work)
        mark = {"key": key, "part": _digest(work)}
    with atomic_file(_mark(part)) as work:
        work.write_text(json.dumps(mark), encoding="utf-8")


def _alone(stage: Stage[S], todo: Sequence[tuple[S, Path, str]]) -> Iterator[None]:
    try:
        for shard, part, key in todo:
            _make(stage, shard, part, key)
            yield
    finally:
        stage.close()


def _pooled(stage: Stage[S], todo: Sequence[tuple[S, Path, str]], processes: int, folder: Path) -> Iterator[None]:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    context = multiprocessing.get_context("spawn")  # a process that was forked off one with threads may hang
    with ProcessPoolExecutor(processes, context, _start, (stage, str(scratch))) as pool:
        try:
            futures = [pool.submit(_work, *job) for job in todo]
            for future in as_completed(futures):
                if said := future.result():
                    raise InputError(said)
                yield
        except BrokenProcessPool:
            hint = "run the same command again, with fewer --processes if memory was short"
            raise InputError("a process that worked on a part was ended", hint=hint) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _start(stage: Stage[Any], scratch: str) -> None:
    """Prepare a process of the pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that was asked for the work ends the others
    tempfile.tempdir = scratch  # removed with the folder, however this process ends
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _held[:] = [stage]
    atexit.register(stage.close)


def _end_with_parent() -> None:
    """End this process when the one that started it was killed; else it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(shard: Any, part: Path, key: str) -> str:
    """Make a part in a process of the pool, and return what went wrong, "" when nothing did."""
    try:
        _make(_held[0], shard, part, key)
    except FreshStackError as error:  # as text: not every error can be sent to another process
        return str(error)
    return ""
