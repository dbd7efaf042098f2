"""The commands of ``python -m builders``: they behave as those of ``freshstack`` do."""

from pathlib import Path
from typing import Annotated

import typer

from builders.commands import (
    assemble,
    audit,
    build,
    cards,
    convert,
    corpus,
    correct,
    drift,
    fetch,
    filtering,
    judge_holes,
    new,
    nuggets,
    pool,
    publish,
    queries,
    questions,
    refresh,
    stats,
    support,
    tags,
)
from builders.commands.built import facts, listed, say_built
from builders.nimbus import SEED
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose

app = console.command_line("python -m builders")


@app.callback()
def builders() -> None:
    """Build snapshots."""  # without this, typer would leave out the name of a lone command


@app.command(
    "accepted-answers",
    epilog="Example: python -m builders accepted-answers Posts.xml --site coffee.stackexchange.com "
    "--snapshot 2015-03 --out coffee-2015-03 --tags espresso,grinding --from 2015-01 --min-score 1",
)
def accepted_answers(
    posts: Annotated[
        Path, typer.Argument(metavar="DUMP", help="The file Posts.xml of a site's dump, or the .7z it comes in.")
    ],
    site: Annotated[str, typer.Option(help="The site's host, such as coffee.stackexchange.com.")],
    snapshot: Annotated[str, typer.Option(metavar="YYYY-MM", help="The snapshot's name: the dump's month.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the snapshot.")],
    tags: Annotated[
        str | None, typer.Option(metavar="A,B", help="Only questions with any of these tags, small or capital letters.")
    ] = None,
    first: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="Only questions from this day, month or year on: 2015-01."),
    ] = None,
    last: Annotated[
        str | None,
        typer.Option("--to", metavar="DATE", help="Only questions up to the end of this day, month or year."),
    ] = None,
    min_score: Annotated[int | None, typer.Option(metavar="N", help="Only questions with at least this score.")] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make a benchmark of a Stack Exchange site: questions, and the answers their askers accepted.

    The corpus is every answer of the site. No model takes part.
    """
    from builders.stackexchange.accepted_answers import build
    from builders.stackexchange.filters import Filters

    built = build(posts, out, site=site, snapshot=snapshot, filters=Filters.parsed(tags, first, last, min_score))
    manifest = built.manifest
    if built.latest > manifest.snapshot[:7]:
        console.warn(f"the dump has posts of {built.latest}, later than the snapshot's name, {manifest.snapshot}")
    if as_json:
        counts = {"rows": dict(built.counts), "dropped": dict(built.dropped)}
        console.say_json({"path": str(built.path), **facts(manifest), **counts})
        return
    say_built(out, manifest)
    console.say("read: " + listed(built.counts))
    if built.dropped:
        console.say("left out: " + listed(built.dropped))


@app.command("nimbus", epilog="Example: python -m builders nimbus --out nimbus")
def nimbus(
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the snapshot.")],
    seed: Annotated[int, typer.Option(metavar="N", help="Where the random numbers start.")] = SEED,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make the benchmark that comes with the package: the documentation of an invented cloud storage service.

    The seed decides on closing words, dates and which changes a release note lists; with the usual one the tables are
    those of the package, byte for byte.
    """
    from builders.nimbus import build

    manifest = build(out, seed)
    if as_json:
        console.say_json({"path": str(out), **facts(manifest)})
        return
    say_built(out, manifest)


assemble.add_to(app)
audit.add_to(app)
build.add_to(app)
cards.add_to(app)
convert.add_to(app)
corpus.add_to(app)
correct.add_to(app)
drift.add_to(app)
fetch.add_to(app)
filtering.add_to(app)
judge_holes.add_to(app)
new.add_to(app)
nuggets.add_to(app)
pool.add_to(app)
publish.add_to(app)
queries.add_to(app)
questions.add_to(app)
refresh.add_to(app)
stats.add_to(app)
support.add_to(app)
tags.add_to(app)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: What was typed after ``python -m builders``; the process's own when not given.
    """
    return console.run(app, arguments, name="python -m builders")
