"""All stages of a build, one after the other, and the snapshots in the end."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from builders.building.stages import Stage
from builders.pipeline.asking import Asking
from builders.pipeline.records import Summary
from builders.pipeline.settings import KINDS
from builders.pipeline.step import Made
from builders.pipeline.work import Work
from builders.topics import Topic
from builders.topics.pool import SAME
from freshstack_datasets.errors import FreshStackError
from freshstack_datasets.llm.budget import unpriced

if TYPE_CHECKING:
    from builders.assembling.assemble import Assembled

ASSEMBLE = "assemble"
"""The name of the last stage, whose files are the snapshots."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a stage at a moment of a build.

    Args:
        number: Which one it is, from 1.
        of: How many there are.
        name: Its name.
        made: What became of it, None as long as it is at work.
        seconds: How long it took.
    """

    number: int
    of: int
    name: str
    made: Made | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Finished:
    """A whole build.

    Args:
        stages: What became of its stages, the last one included.
        assembled: The snapshots.
    """

    stages: tuple[Made, ...]
    assembled: "Assembled"

    @property
    def kept(self) -> bool:
        """Whether nothing had to be done."""
        return all(made.kept for made in self.stages)


def build(
    topic: Topic,
    stages: Sequence[Stage],
    work: Work,
    out: Path,
    snapshot: str,
    asking: Asking,
    tell: Callable[[Told], None] = lambda _: None,
    more: Callable[[], Mapping[str, bytes]] = dict,
) -> Finished:
    """Make all stages that are not what they would be now, and the snapshots.

    The same call, made again after any end, goes on where that was.

    Args:
        topic: The topic.
        stages: Its stages but the last one, in their order.
        work: The folder of the build.
        out: A folder for the snapshot; the unfiltered one goes beside it.
        snapshot: The snapshot's name.
        asking: Who is asked.
        tell: Takes what is known of a stage, at its beginning where it has to be made, and at its end.
        more: Returns further files for the trace of the snapshots, when all stages but the last one are done.

    Raises:
        InputError: What it is made from cannot be read, nothing is left of it, or the place is taken.
        SecretsError: Something seems to be secret, and is not allowed.
        BudgetError: What may be spent does not take all calls.
        EndpointError: The server answers no call, or not all of them for now.
    """
    _check(topic, work, out, snapshot, asking)
    whole = len(stages) + 1
    done = [made(stage, number, whole, work, tell) for number, stage in enumerate(stages, 1)]
    began = time.monotonic()
    if not (out.exists() and all(one.kept for one in done)):  # else it is most likely there
        tell(Told(whole, whole, ASSEMBLE))
    assembled = _assembled(topic, work, out, snapshot, asking, more())
    tables = assembled.manifest.tables
    counts = {"questions": tables["queries"].rows, "documents": tables["corpus"].rows}
    last = Made(ASSEMBLE, Summary(counts), assembled.kept)
    tell(Told(whole, whole, ASSEMBLE, last, time.monotonic() - began))
    return Finished((*done, last), assembled)


def made(stage: Stage, number: int, of: int, work: Work, tell: Callable[[Told], None]) -> Made:
    """Make a stage unless it is what it would be now.

    Args:
        stage: The stage.
        number: Which one it is, from 1.
        of: How many there are.
        work: The folder of the build.
        tell: Takes what is known of it, at its beginning where it has to be made, and at its end.
    """
    began = time.monotonic()
    if summary := stage.kept(work):
        told = Made(stage.name, summary, kept=True)
    else:
        tell(Told(number, of, stage.name))
        told = stage.run(work)
    tell(Told(number, of, stage.name, told, time.monotonic() - began))
    return told


def refused(asking: Asking) -> tuple[str, ...]:
    """Return why a build would be refused whose retrievers cannot be made here; nobody's own code is run for it.

    Args:
        asking: Who would be asked; its settings name the retrievers.

    Raises:
        InputError: Two retrievers have one name.
    """
    from builders.pooling import retrievers

    found: list[str] = []
    for told in retrievers.named(asking.settings.pool.retrievers).values():
        try:
            if not told.python:
                retrievers.made(told, asking)
        except FreshStackError as error:
            found.append(str(error))
    return tuple(dict.fromkeys(found))


def _check(topic: Topic, work: Work, out: Path, snapshot: str, asking: Asking) -> None:
    """Refuse before anything costs money what would be refused after it."""
    from builders.assembling.assemble import check
    from builders.pooling import retrievers

    check(topic, work, out, snapshot)
    for kind in KINDS:
        asking.kind(kind)
    for told in retrievers.named(asking.settings.pool.retrievers).values():
        retrievers.made(told, asking)
    if asking.budget.max_usd is not None:
        _check_prices(asking)


def _check_prices(asking: Asking) -> None:
    """Refuse a limit of money where nobody knows what a model costs that will be asked."""
    pool, share = asking.settings.pool, asking.settings.models.second.share
    unused = {name for name in ("sub-questions", "closed-book") if name not in pool.techniques}
    kinds = [kind for kind in KINDS if kind not in unused and (kind != "second" or share)]
    asked = [(SAME, asking.kind(kind).model, False) for kind in kinds]
    asked += [(told.endpoint, told.dense, True) for told in pool.retrievers if told.endpoint]
    for place, model, embeddings in asked:
        if asking.prices_at(place).known(model, embeddings) is None:
            raise unpriced(model)


def _assembled(
    topic: Topic, work: Work, out: Path, snapshot: str, asking: Asking, more: Mapping[str, bytes]
) -> "Assembled":
    from builders.assembling.assemble import assemble

    return assemble(topic, work, out, snapshot, store=asking.store, replace=True, more=more)
