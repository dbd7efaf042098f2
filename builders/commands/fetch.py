"""``python -m builders fetch``: all repositories of a topic into one folder, after which a build needs no network."""

from pathlib import Path
from typing import Annotated

import typer

from builders.commands.options import TopicFile
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command("fetch", epilog="Example: python -m builders fetch builders/topics/laravel.yaml --into sources")(_fetch)


def _fetch(
    topic: TopicFile,
    into: Annotated[
        Path, typer.Option(metavar="DIR", help="Where they go: a new folder, or one that holds some of them.")
    ],
    jobs: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many are fetched at once; never more than 4 from one host.")
    ] = 4,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Bring the repositories of a topic into a folder: a bundle each, and sources.json with commits and digests.

    A build that is given the folder needs no network. What is there is kept, and a pinned day stays the commit that it
    was found to be; so the same command, run again after an interruption, goes on where it stopped. When some cannot be
    fetched, all others are, and those are listed at the end.

    The token for a host that asks for one is read from an environment variable named after it, such as
    GIT_TOKEN_GITHUB_COM, and sent to no other host.
    """
    from builders.repositories import fetch
    from builders.topics import read_topic

    fetched = fetch(read_topic(topic).repositories, into, jobs=jobs, say=console.message)
    if as_json:
        sources = [{**found.source.model_dump(), "was_there": found.was_there} for found in fetched]
        console.say_json({"path": str(into), "sources": sources})
        return
    rows = [
        (source.name, source.commit[:12], source.date, f"{source.size / 1e6:,.1f}", "yes" if found.was_there else "no")
        for found in fetched
        for source in [found.source]
    ]
    console.say_table(("repository", "commit", "date", "MB", "was there"), rows, right=["MB"])
