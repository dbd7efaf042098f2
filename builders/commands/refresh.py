"""``python -m builders refresh`` and ``drift``: the next snapshot out of an earlier one, and what has changed since."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.commands.asking import USUAL, AskingOptions, DryRun, asking_of, say_asked, say_dangers, with_asking
from builders.commands.build import say_forecast, say_stage, stage_told, warn_of_refused, way_on
from builders.commands.built import facts, say_built
from builders.commands.drift import say_drift
from builders.commands.options import Processes
from builders.commands.secrets import AllowSecrets, findings_shown
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.errors import InputError, shown

if TYPE_CHECKING:
    from datetime import date

    from builders.building.build import Finished


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "refresh",
        epilog="Example: python -m builders refresh langchain-2026-07 builders/topics/langchain.yaml "
        "--posts stackoverflow.com-Posts.7z --snapshot 2026-10 --out langchain-2026-10 --dry-run",
    )(with_asking(_refresh))


def _refresh(
    old: Annotated[Path, typer.Argument(metavar="OLD_DIR", help="The folder of the earlier snapshot.")],
    topic: Annotated[Path, typer.Argument(metavar="TOPIC.yaml", help="The topic file, with what it takes by now.")],
    posts: Annotated[
        Path, typer.Option(metavar="PATH", help="A newer dump or a forum's export, as the command questions takes it.")
    ],
    snapshot: Annotated[str, typer.Option(metavar="YYYY-MM", help="The newer snapshot's name.")],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="A folder for the snapshot; the unfiltered one goes into DIR-unfiltered."),
    ],
    retire_before: Annotated[
        str, typer.Option(metavar="DATE", help="Leave out questions asked before this day, month or year: 2025-01.")
    ] = "",
    retire_gone: Annotated[
        bool, typer.Option("--retire-gone", help="Leave out earlier questions that the dump does not have any more.")
    ] = False,
    retriever: Annotated[
        list[str] | None,
        typer.Option(
            "--retriever",
            metavar="NAME",
            help="Search both snapshots with it, for Kendall's tau: bm25, dense:MODEL … Repeatable; bm25 when not given.",
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of the refresh; that of --out with .stages behind it."),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(metavar="BUNDLES", help="A folder that fetch filled; no repository is fetched then."),
    ] = None,
    processes: Processes = None,
    allow_secrets: AllowSecrets = "",
    options: AskingOptions = USUAL,
    dry_run: DryRun = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make the next snapshot of a topic, and ask a model about nothing but what is new.

    Questions of OLD_DIR are kept as long as they were asked in the topic's period, have a tag of it, and the dump does not
    say that they break its rules by now; where the dump does not have them any more they stay as they were, unless
    --retire-gone is given. Questions of the dump beyond these are added. What is left out is listed with the reason.

    Nuggets of kept questions are carried over; a question whose text or answer has changed gets new ones. Judgments are
    carried over where a document's text is still there, whatever its id is now, and keep the ids of their calls, which
    travel along. What people corrected stays so, whatever the dump says: questions that they removed stay out. Where
    OLD_DIR-unfiltered lies beside OLD_DIR, what is known of questions that were filtered out is used again, since documents
    for them may have come.

    provenance/drift.json tells what has changed: documents kept, moved, edited, gone and new; nuggets that gained or lost
    support; which repositories support comes from; and Kendall's tau of the retrievers' scores between both snapshots. The
    command drift tells the same of any two snapshots, also of runs.

    All else is as in the command build: stages, --dry-run, the budget, and the same command to go on after any end. The
    price of --dry-run is that of the new and changed questions alone as long as there are some: documents that are new
    to the pools of the others are known when these are made.
    """
    from builders.building import Forecast, build
    from builders.building.sources import Given
    from builders.pipeline.work import Work
    from builders.refreshing.earlier import earlier_of
    from builders.refreshing.refresh import Refresh
    from builders.refreshing.rules import Rules
    from builders.secrets import Allowed
    from builders.topics import read_topic

    about, place = read_topic(topic), Work(work or out.absolute().with_name(f"{out.absolute().name}.stages"))
    given = Given(posts, sources, processes or os.cpu_count() or 1, Allowed.of(allow_secrets), console.message)
    rules = Rules.of(about, retire_before=_day(retire_before), retire_gone=retire_gone)
    with asking_of(about, options) as asking, findings_shown(as_json), way_on(place.path):
        one = Refresh(about, given, earlier_of(old), rules, asking, snapshot, tuple(retriever or ("bm25",)))
        if dry_run:
            estimate, assumed = one.forecast(place)
            say_forecast(Forecast(estimate, (), assumed), as_json, " of new and changed questions")
            warn_of_refused(asking)
            return
        say_dangers(asking, pool=True)
        try:
            done = build(
                about,
                one.stages(),
                place,
                out,
                snapshot,
                asking,
                lambda told: say_stage(told, asking),
                lambda: one.trace(place),
            )
        finally:
            say_asked(asking)
        spent = asking.budget.spent
    drift = _drift_of(out)
    if as_json:
        calls = {"calls": spent.calls, "tokens": spent.tokens, "usd": f"{spent.usd:f}"}
        console.say_json({**_facts(out, done), "drift": drift, "spent": calls})
        return
    say_built(out, done.assembled.manifest)
    say_built(out.with_name(done.assembled.unfiltered.name), done.assembled.unfiltered_manifest)
    console.say("")
    say_drift(drift)


def _day(text: str) -> "date | None":
    """Return the first day of a day, month or year that was typed."""
    from datetime import date

    from builders.stackexchange.filters import parse_day

    if not text:
        return None
    try:
        return date.fromisoformat(parse_day(text, "--retire-before", end=False))
    except ValueError:
        raise InputError("--retire-before", expected="a day, month or year", got=shown(text)) from None


def _drift_of(out: Path) -> dict[str, Any]:
    """Return what the trace of a refreshed snapshot says of its drift."""
    import json

    told: dict[str, Any] = json.loads((out / "provenance" / "drift.json").read_text(encoding="utf-8"))
    return told


def _facts(out: Path, done: "Finished") -> dict[str, Any]:
    made = done.assembled
    return {
        "path": str(out),
        **facts(made.manifest),
        "unfiltered": {"path": str(made.unfiltered), **facts(made.unfiltered_manifest)},
        "made_before": done.kept,
        "stages": [stage_told(one) for one in done.stages],
    }
