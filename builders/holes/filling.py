"""Judging the holes of runs, into an overlay."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from builders.assembling.calls import traced, write_calls
from builders.holes.finding import Holes
from builders.holes.judge import Judge
from builders.judging import Judged, estimated, judge
from builders.pipeline.asking import Asking
from builders.pipeline.records import Label, Lacking
from builders.pipeline.work import SUPPORT
from freshstack_datasets.cli.console import one_line
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.files import refuse_taken
from freshstack_datasets.llm.estimates import StageEstimate
from freshstack_datasets.loading import Dataset
from freshstack_datasets.manifest import made
from freshstack_datasets.overlays import Overlay, write_overlay
from freshstack_datasets.ranking import Run
from freshstack_datasets.recipe import Recipe
from freshstack_datasets.records import Judgment
from freshstack_datasets.trace.reading import TracedCall

BUILDER = "judge-holes"
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Filled:
    """What was made.

    Args:
        overlay: What the overlay says of itself.
        counts: How many of what there are, see ``judging.judge``.
        lacking: How many documents could not be judged, by reason.
    """

    overlay: Overlay
    counts: Mapping[str, int]
    lacking: Mapping[str, int] = field(default_factory=dict)


def priced(asking: Asking, data: Dataset, holes: Holes) -> StageEstimate:
    """Return what judging holes will cost; nothing is sent.

    Args:
        asking: Who would be asked.
        data: The snapshot.
        holes: What is to be judged.
    """
    return estimated(asking, holes.groups, data.corpus)


def fill(
    asking: Asking, data: Dataset, holes: Holes, judged_by: Judge, runs: Sequence[Run], k: int, out: Path
) -> Filled:
    """Judge holes and write an overlay.

    Replies are kept as they arrive: the same call, made again after any end, goes on there.

    Args:
        asking: Who is asked.
        data: The snapshot.
        holes: What is judged; there is some.
        judged_by: How the snapshot's own documents were judged.
        runs: The runs whose holes they are.
        k: How many documents count of each ranking.
        out: Where the overlay goes; it must not exist, or be empty.

    Raises:
        InputError: Another model answers than for the snapshot, no document could be judged, or ``out`` is taken.
        BudgetError: The budget did not take all calls.
        EndpointError: The server answers no call, or not all of them for now.
    """
    refuse_taken(out)
    first = judge(asking, holes.groups[:1], data.corpus)  # before all others are paid for
    _refuse_others(asking, first, judged_by)
    found = judge(asking, holes.groups, data.corpus)
    _refuse_others(asking, found, judged_by)
    if not found.labels:
        reasons = ", ".join(sorted({one.reason for one in found.lacking}))
        raise InputError("documents to judge", expected="one that a model judges", got=reasons)
    with TemporaryDirectory() as temporary:
        calls = Path(temporary) / "calls.parquet"
        write_calls(calls, _traced(asking, found))
        overlay = write_overlay(
            out,
            data,
            _judgments(data, found.labels),
            runs=[one_line(run.name, _LONGEST) or "run" for run in runs],
            k=k,
            recipe=_recipe(asking, found, judged_by),
            dropped=map(_dropped, found.lacking),
            provenance={"calls.parquet": calls},
        )
    return Filled(overlay, found.counts, Counter(one.reason for one in found.lacking))


def _refuse_others(asking: Asking, found: Judged, judged_by: Judge) -> None:
    """Refuse judgments of a model that did not answer for the snapshot, unless it is asked on purpose."""
    models = asking.models(label.call_id for label in found.labels)
    others = [model for model in models if model not in judged_by.answers]
    if judged_by.answers and others:
        raise InputError(
            "the model that answers",
            expected=f"{', '.join(map(shown, judged_by.answers))}, as for the snapshot",
            got=", ".join(map(shown, others)),
            hint=f"--model {judged_by.model} takes it on purpose; what was answered is kept",
        )


def _judgments(data: Dataset, labels: Iterable[Label]) -> Iterator[Judgment]:
    for label in labels:
        for nugget in data.nuggets_of(label.query_id):
            score = int(nugget.position in label.supports)
            yield Judgment(label.query_id, nugget.nugget_id, label.doc_id, score, label.call_id)


def _dropped(one: Lacking) -> dict[str, str]:
    """Return what is told of a document that could not be judged, as in a snapshot's trace."""
    told = {"stage": SUPPORT, "id": one.query_id, "document": one.doc_id, "reason": one.reason, "detail": one.detail}
    return {name: value for name, value in told.items() if value}


def _traced(asking: Asking, found: Judged) -> list[TracedCall]:
    """Return the calls that were made, those included whose reply was of no use."""
    shown_in = {(one.call_id, one.query_id): one.documents for one in found.orders}
    calls = {call.digest: call for call in asking.calls(call_id for call_id, _ in shown_in)}
    return [
        traced(calls[call_id], query_id, documents)
        for (call_id, query_id), documents in shown_in.items()
        if call_id in calls
    ]


def _recipe(asking: Asking, found: Judged, judged_by: Judge) -> Recipe:
    support = asking.settings.models.support
    recipe: Recipe = made(
        Recipe,
        builder=BUILDER,
        parameters={
            "as_the_snapshot": judged_by.alike,
            "support.documents": support.documents,
            "support.tokens": support.tokens,
            "support.seed": support.seed,
        },
        prompts=asking.prompts("support"),
        models={SUPPORT: ", ".join(asking.models(label.call_id for label in found.labels))[:_LONGEST]},
    )
    return recipe
