"""Many processes at work, of which any may end at any time without ending the others."""

import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing.connection import wait
from pathlib import Path
from typing import Generic, TypeVar

from builders.stages.marks import Job, jobs
from builders.stages.records import Divisible, Stage
from builders.stages.worker import Worker
from freshstack_datasets.errors import InputError

S = TypeVar("S")


def pooled(stage: Stage[S], todo: Sequence[Job[S]], processes: int, scratch: Path) -> Iterator[None]:
    """Make parts, and yield as each is made.

    What was under way in a process that ended is tried again when all else is done, alone and in a new process. If
    that ends too, the shard is taken to pieces, and a piece that ends a process of its own is given up. Which one that
    is depends on no other, and so not on how many processes there are.

    Args:
        stage: The stage.
        todo: The parts.
        processes: How many processes work, at most.
        scratch: Where processes keep what they need while they work; a folder that exists.

    Raises:
        InputError: A part cannot be made.
    """
    ended = []
    for job, lived in _each(stage, todo, processes, scratch):
        if lived:
            yield
        else:
            job.clear()
            ended.append(job)
    for job in ended:
        if not all(lived for _, lived in _each(stage, [job], 1, scratch)):
            job.clear()
            _by_pieces(stage, job, scratch)
        yield


def _by_pieces(stage: Stage[S], job: Job[S], scratch: Path) -> None:
    """Make the part of a shard that ends the process that works on it."""
    if not isinstance(stage, Divisible):
        hint = "run the same command again, with fewer --processes if memory was short"
        raise InputError("a process that worked on a part was ended twice", hint=hint)
    pieces = stage.pieces(job.shard)
    if len(pieces) < 2:
        with job.making() as work:
            stage.give_up(job.shard, work)
        return
    home = job.part.with_suffix(".pieces")
    home.mkdir(exist_ok=True)
    parts = jobs(stage, pieces, home)
    for _ in pooled(stage, [piece for piece in parts if not piece.is_made()], 1, scratch):
        pass
    with job.making() as work, work.open("wb") as whole:
        for piece in parts:
            with piece.part.open("rb") as file:
                shutil.copyfileobj(file, whole)
    shutil.rmtree(home, ignore_errors=True)


def _each(stage: Stage[S], todo: Sequence[Job[S]], processes: int, scratch: Path) -> Iterator[tuple[Job[S], bool]]:
    """Try each part once; yield it as that is over, with whether its process is still there."""
    number = min(processes, len(todo))
    shares = _Shares(todo, number)
    with _crew(stage, scratch) as (workers, start):
        for share in range(number):
            start(share)
        while workers:
            spoken = wait([worker.pipe for worker in workers])
            for worker, share in [(worker, share) for worker, share in workers.items() if worker.pipe in spoken]:
                job, lives = worker.heard()
                if job is not None:
                    yield job, lives
                follows = shares.next(share) if lives else None
                if follows is not None:
                    worker.give(follows)
                    continue
                del workers[worker]
                worker.finish()
                if not lives:
                    start(share)


class _Shares(Generic[S]):
    """Jobs that are dealt so that those of a process follow each other: what it has open for one is good for the next.

    Args:
        todo: The jobs.
        number: How many processes there are.
    """

    def __init__(self, todo: Sequence[Job[S]], number: int) -> None:
        ends = [len(todo) * share // number for share in range(number + 1)]
        self._left = [deque(todo[first:last]) for first, last in pairwise(ends)]

    def next(self, share: int) -> Job[S] | None:
        """Return the next job of a share, which takes half of the largest one when it has none left."""
        mine, largest = self._left[share], max(self._left, key=len)
        if not mine:
            mine.extendleft([largest.pop() for _ in range((len(largest) + 1) // 2)])
        return mine.popleft() if mine else None


@contextmanager
def _crew(stage: Stage[S], scratch: Path) -> Iterator[tuple[dict[Worker[S], int], Callable[[int], None]]]:
    """Yield processes with the number of their share, none yet, and what starts one; at the end there are none left."""
    workers: dict[Worker[S], int] = {}
    with tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True) as own:
        try:
            yield workers, lambda share: workers.update({Worker(stage, Path(own)): share})
        finally:
            for worker in workers:
                worker.end()
