"""``python -m builders build``: all stages, from a topic file to a snapshot."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.commands.asking import USUAL, AskingOptions, DryRun, asking_of, say_asked, say_dangers, with_asking
from builders.commands.built import facts, say_built
from builders.commands.options import Processes, TopicFile
from builders.commands.secrets import AllowSecrets, findings_shown
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.errors import FreshStackError, InputError, shown_path

if TYPE_CHECKING:
    from builders.building.build import Finished, Told
    from builders.building.forecast import Forecast
    from builders.building.recording import Recording
    from builders.pipeline.asking import Asking
    from builders.pipeline.step import Made
    from builders.pipeline.work import Work


_WORDS = {
    "questions": {"questions": "questions", "left_out": "left out"},
    "corpus": {"documents": "documents"},
    "nuggets": {"nuggets": "nuggets", "questions": "questions", "left_out": "questions left out"},
    "queries": {"searches": "texts to search for", "left_out": "left out"},
    "pool": {"documents": "documents to judge", "without": "questions without any"},
    "support": {"labels": "documents judged", "relevant": "relevant", "lacking": "not judged"},
    "filter": {"kept": "questions kept"},
    "assemble": {"questions": "questions", "documents": "documents"},
}
"""By stage: which of its counts are told, and what they are called."""


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "build",
        epilog="Example: python -m builders build builders/topics/langchain.yaml --posts stackoverflow.com-Posts.7z "
        "--snapshot 2026-10 --out langchain --dry-run",
    )(with_asking(_build))


def _build(
    topic: TopicFile,
    posts: Annotated[
        Path, typer.Option(metavar="PATH", help="A dump or a forum's export, as the command questions takes it.")
    ],
    snapshot: Annotated[str, typer.Option(metavar="YYYY-MM", help="The snapshot's name.")],
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="A folder for the snapshot; the unfiltered one goes into DIR-unfiltered."),
    ],
    work: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder of the build; that of --out with .stages behind it.")
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(metavar="BUNDLES", help="A folder that fetch filled; no repository is fetched then."),
    ] = None,
    processes: Processes = None,
    allow_secrets: AllowSecrets = "",
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write what the models said into a file, for --llm recorded:FILE."),
    ] = None,
    options: AskingOptions = USUAL,
    dry_run: DryRun = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make the snapshot of a topic: questions, corpus, nuggets, queries, pool, support, filter, assemble.

    Each stage is a command of its own, and has its folder in that of the build, which stays. A stage is made again when
    something that it depends on has changed, in the topic file, a prompt, a model or an earlier stage, and not otherwise.
    Replies of models are kept for good: the same command, run again after any end, goes on there, and asks nothing twice.

    With --dry-run no model is asked. Questions and corpus are made, since nothing is known without them, and kept for the
    run itself; then calls, tokens and USD are told for each stage, and what is assumed of stages that are not done yet.

    The budget of --max-usd and --max-tokens is one for all stages; nothing that was kept from earlier runs counts.

    A recording makes the same snapshot of the same topic and posts on any machine, with no network. What servers embed
    that a topic's pool names by their address is no part of it, nor what a server turned away.
    """
    from builders.assembling.assemble import check
    from builders.building import build, forecast, recording
    from builders.building.sources import Given
    from builders.building.stages import stages_of
    from builders.pipeline.work import Work
    from builders.secrets import Allowed
    from builders.topics import read_topic

    about, place = read_topic(topic), Work(work or out.absolute().with_name(f"{out.absolute().name}.stages"))
    given = Given(posts, sources, processes or os.cpu_count() or 1, Allowed.of(allow_secrets), console.message)
    with asking_of(about, options) as asking, findings_shown(as_json), way_on(place.path):
        stages = stages_of(about, asking, given)
        if dry_run:
            check(about, place, out, snapshot)
            found = forecast(stages, place, asking.settings, lambda told: say_stage(told, asking))
            say_forecast(found, as_json)
            warn_of_refused(asking)
            _warn_of_later(place, snapshot)
            return
        if record:
            recording.check(asking)
        say_dangers(asking, pool=True)
        try:
            done = build(about, stages, place, out, snapshot, asking, lambda told: say_stage(told, asking))
        finally:
            say_asked(asking)
        _warn_of_later(place, snapshot)
        kept = recording.record(place, asking, record) if record else None
    if as_json:
        console.say_json(_facts(out, done, asking) | ({"recorded": kept.replies} if kept else {}))
    else:
        _say_done(out, done)
    if kept:
        _say_recorded(kept, as_json)


def warn_of_refused(asking: "Asking") -> None:
    """Warn after a dry run where the run itself would be refused.

    Args:
        asking: Who would be asked.
    """
    from builders.building.build import refused

    for why in refused(asking):
        console.warn(f"without --dry-run this is refused: {why}")


def _warn_of_later(work: "Work", snapshot: str) -> None:
    """Warn where questions are from after the month that the snapshot is named after."""
    from builders.pipeline.reading import questions_of

    latest = max((question.date[:7] for question in questions_of(work) if question.date), default="")
    if latest > snapshot[:7]:
        console.warn(f"the newest question is of {latest}, later than the snapshot's name, {snapshot}")


def say_stage(told: "Told", asking: "Asking") -> None:
    """Say in a line on standard error where a build is."""
    head = f"[{told.number}/{told.of}] {told.name}"
    if told.made is None:
        console.message(f"{head} …")
        return
    counts = _listed(told.made)
    if told.made.kept:
        console.message(f"{head}: as before" + (f", {counts}" if counts else ""))
    else:
        console.message(f"{head}: {', '.join(filter(None, (counts, f'{told.seconds:,.1f} s')))}{_spent(asking)}")
    for warning in told.made.summary.warnings:
        console.warn(f"{told.name}: {warning}")


def _listed(made: "Made") -> str:
    """Return what a stage made, in a few numbers; of one that is not known here, all of them."""
    counts = made.summary.counts
    words = _WORDS.get(made.name) or {name: name.replace("_", " ") for name in counts}
    return ", ".join(console.counted(counts[name], called) for name, called in words.items() if counts.get(name))


def _spent(asking: "Asking") -> str:
    """Return what was spent so far, "" where it is nothing."""
    from freshstack_datasets.llm.budget import dollars

    spent = asking.budget.spent
    if not spent.calls:
        return ""
    return f"; spent so far: {dollars(spent.usd) if spent.usd else console.counted(spent.tokens, 'tokens')}"


def say_forecast(found: "Forecast", as_json: bool, of: str = "") -> None:
    """Print what a build would cost, of which nothing was sent.

    Args:
        found: It.
        as_json: Whether as JSON.
        of: What it is of, where that is not all.
    """
    if as_json:
        console.say_json({**found.estimate.to_json(), "made_before": list(found.kept), "assumed": dict(found.assumed)})
        return
    console.say(str(found.estimate) if found.estimate.stages else "nothing is asked")
    if found.kept:
        console.say(f"\nmade before: {', '.join(found.kept)}")
    if found.assumed:
        guesses = (f"{stage}: {guess}" for stage, guess in found.assumed.items())
        console.say("\n".join([f"\nassumed{of}, since it is not known yet:", *guesses]))


def _say_done(out: Path, done: "Finished") -> None:
    say_built(out, done.assembled.manifest)
    say_built(out.with_name(done.assembled.unfiltered.name), done.assembled.unfiltered_manifest)
    if done.kept:
        console.say("nothing had to be done: all of it was made before, of the same")


def _say_recorded(kept: "Recording", as_json: bool) -> None:
    if not as_json:
        console.say(f"{kept.path}: {console.counted(kept.replies, 'replies')}, for --llm recorded:{kept.path}")
    if kept.missing:
        calls = console.counted(kept.missing, "calls")
        console.warn(
            f"{calls} without a reply, failed or kept in another file of replies: a build of "
            f"{shown_path(kept.path)} ends where it comes to one of them"
        )


def _facts(out: Path, done: "Finished", asking: "Asking") -> dict[str, Any]:
    made, spent = done.assembled, asking.budget.spent
    return {
        "path": str(out),
        **facts(made.manifest),
        "unfiltered": {"path": str(made.unfiltered), **facts(made.unfiltered_manifest)},
        "statistics": made.statistics,
        "made_before": done.kept,
        "stages": [stage_told(one) for one in done.stages],
        "spent": {"calls": spent.calls, "tokens": spent.tokens, "usd": f"{spent.usd:f}"},
        "lost": asking.store.lost(),
    }


def stage_told(made: "Made") -> dict[str, Any]:
    """Return what became of a stage, in JSON."""
    models = {kind: list(names) for kind, names in made.summary.models.items()}
    told = {"counts": made.summary.counts, "models": models, "warnings": list(made.summary.warnings)}
    return {"name": made.name, "made_before": made.kept, **told}


@contextmanager
def way_on(work: Path) -> Iterator[None]:
    """Say when the block ends early that what is done is kept, and what goes on with it."""
    try:
        yield
    except (KeyboardInterrupt, FreshStackError, OSError) as error:
        if work.is_dir():
            once = " once that is put right" if isinstance(error, InputError) else ""
            console.message(f"what is done is kept in {shown_path(work)}: the same command goes on there{once}")
        raise
