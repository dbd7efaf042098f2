"""``python -m builders assemble``: from the stages of a build to its snapshots."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builders.commands.asking import Replies, WorkFolder
from builders.commands.built import facts, say_built
from builders.commands.options import TopicFile
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.errors import InputError, shown

if TYPE_CHECKING:
    from builders.assembling.assemble import Assembled


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "assemble",
        epilog="Example: python -m builders assemble builders/topics/laravel.yaml --work laravel.stages --snapshot 2026-10 "
        "--out laravel",
    )(_assemble)


def _assemble(
    topic: TopicFile,
    work: WorkFolder,
    snapshot: Annotated[str, typer.Option(metavar="YYYY-MM", help="The snapshot's name.")],
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="A new folder for the snapshot; the unfiltered one goes beside it, into DIR-unfiltered."
        ),
    ],
    created: Annotated[
        str, typer.Option(metavar="YYYY-MM-DD", help="The day that it is made; today when not given.")
    ] = "",
    replies: Replies = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write the snapshot, and the unfiltered one, of a build whose stages are all done.

    Each has in provenance/ the calls that made it, with their replies (calls.parquet), what brought documents before the
    judge (pool.parquet), what every stage left out and why (dropped.jsonl), and statistics.json: the row of the paper's
    first table, how good each search was, how far the judge agrees with itself, and what the calls cost. freshstack show
    DIR QUERY DOC tells of one judgment where it came from. No model is asked.

    Both are written or none: after any end, the same command goes on.
    """
    from builders.assembling.assemble import assemble
    from builders.pipeline.work import Work
    from builders.topics import read_topic
    from freshstack_datasets.llm.store import Store, default_store

    with Store(replies or default_store()) as store:
        made = assemble(read_topic(topic), Work(work), out, snapshot, created=_day(created), store=store)
    if as_json:
        told = {"statistics": made.statistics, "made_before": made.kept}
        both = {"path": str(out), "unfiltered": {"path": str(made.unfiltered), **facts(made.unfiltered_manifest)}}
        console.say_json({**both, **facts(made.manifest), **told})
        return
    _say(out, made)


def _say(out: Path, made: "Assembled") -> None:
    say_built(out, made.manifest)
    say_built(out.with_name(made.unfiltered.name), made.unfiltered_manifest)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise InputError("--created", expected="a day, 2026-10-31", got=shown(text)) from None
