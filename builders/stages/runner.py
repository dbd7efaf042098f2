"""Running a stage: shards in some processes, each leaving a part and a mark that it is whole.

A shard with a mark that fits is not done again, so that the same call, made again after any end, a kill included, goes
on where it stopped.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from builders.stages.marks import Job, jobs
from builders.stages.pool import pooled
from builders.stages.records import Divisible, Stage
from builders.stages.worker import make
from freshstack_datasets.progress import track

if TYPE_CHECKING:
    from builders.stages.cluster import Cluster

S = TypeVar("S")


def run(
    stage: Stage[S],
    shards: Sequence[S],
    folder: Path,
    *,
    processes: int = 1,
    cluster: "Cluster | None" = None,
    what: str = "",
) -> list[Path]:
    """Make the parts of all shards and return their paths, in the order of the shards.

    Args:
        stage: The stage.
        shards: The shards.
        folder: Where parts and marks are kept; that of an earlier run that was ended, to go on with it.
        processes: How many processes work. For one, or for one shard, this one does, unless the stage is divisible.
        cluster: Who does the work instead.
        what: What is done, in a few words, for the progress bar.

    Raises:
        InputError: A shard's part cannot be made; those that were made stay.
    """
    found = jobs(stage, shards, folder / stage.name)
    todo = [job for job in found if not job.is_made()]
    if todo:
        (folder / stage.name).mkdir(parents=True, exist_ok=True)
        made = cluster.work(stage, todo, folder) if cluster else work(stage, todo, processes, folder / "scratch")
        for _ in track(made, len(todo), what or stage.name, "shards"):
            pass
    return [job.part for job in found]


def work(stage: Stage[S], todo: Sequence[Job[S]], processes: int, scratch: Path) -> Iterator[None]:
    """Make parts, and yield as each is made.

    Args:
        stage: The stage.
        todo: The parts.
        processes: How many processes work.
        scratch: Where other processes keep what they need while they work.
    """
    if min(processes, len(todo)) > 1 or isinstance(stage, Divisible):
        scratch.mkdir(exist_ok=True)
        yield from pooled(stage, todo, processes, scratch)
        return
    try:
        for job in todo:
            make(stage, job)
            yield
    finally:
        stage.close()
