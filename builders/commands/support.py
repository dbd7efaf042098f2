"""``python -m builders support``: which nuggets documents support."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builders.commands.asking import USUAL, AskingOptions, DryRun, WorkFolder, with_asking
from builders.commands.options import TopicFile
from builders.commands.stages import run_stage
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose, counted

if TYPE_CHECKING:
    from builders.judging import Judging
    from builders.pipeline.asking import Asking
    from builders.pipeline.work import Work
    from freshstack_datasets.llm.estimates import StageEstimate


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "support",
        epilog="Example: python -m builders support builders/topics/laravel.yaml --work laravel.stages --dry-run",
    )(with_asking(_support))


def _support(
    topic: TopicFile,
    work: WorkFolder,
    batch: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Send the calls as batches, which large providers answer within a day at half the price, and keep them in "
            "this folder.",
        ),
    ] = None,
    options: AskingOptions = USUAL,
    dry_run: DryRun = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Let a model judge which nuggets of its question each document of a pool supports.

    The stages questions, corpus, nuggets and pool have to be done. The topic's models say who is asked, and under
    support how many documents go into one call, how many tokens it may send, and the seed of the documents' order. With
    a share under second, so many of all documents are judged once more, in another order or by another model, to see
    how far both agree.

    DIR/support then holds labels.jsonl with what each document supports and the call that says so, dropped.jsonl with
    the documents that could not be judged, each with the reason, orders.jsonl with the documents of each call in the
    order shown, stage.json, and after a second pass second.jsonl with its labels and agreement.json.

    A label that a reply does not say clearly is asked for again, and none is guessed. Every reply is kept: the same
    command, run again after any end, goes on there, and one that was made of the very same is not made again.

    With --batch the command waits for the batches, for two days at most, then asks what they left open one by one. The
    budget has to take the most that all of them may cost. With --dry-run it shows the price of batches.
    """
    from builders.judging import Judging

    before, costs = (None, None) if batch is None else (partial(_send, batch), _costs)
    run_stage(Judging, topic, work, options, done=_done, dry_run=dry_run, as_json=as_json, before=before, costs=costs)


def _send(folder: Path, stage: "Judging", asking: "Asking", work: "Work") -> None:
    from builders.pipeline.batching import send

    send(asking, partial(stage.first_calls, work), folder, console.message)


def _costs(stage: "Judging", asking: "Asking", work: "Work") -> "list[StageEstimate]":
    from builders.pipeline.batching import check

    check(asking)
    return stage.estimate(work, batch=True)


def _done(counts: dict[str, int]) -> str:
    judged = f"{counted(counts['labels'], 'documents')} of {counted(counts['questions'], 'questions')} judged"
    again = f", {counts['second']:,} of them twice" if counts.get("second") else ""
    left = f"; {counts['lacking']:,} could not be" if counts["lacking"] else ""
    return f"{judged}{again}, {counts['relevant']:,} relevant{left}"
