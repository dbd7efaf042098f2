"""``python -m leaderboard validate``: what is wrong with submissions and run files, before anybody else sees them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralArguments
from freshstack_datasets.errors import InputError
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.commands.options import Root


class Format(StrEnum):
    """How findings are printed."""

    text = "text"
    json = "json"
    github = "github"


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "validate",
        cls=SeveralArguments,
        epilog="Example: python -m leaderboard validate leaderboard/submissions/nimbus/2026-11/20261130-acme-bm25",
    )(_validate)


def _validate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="A submission's folder, a board's with all its submissions, or run files with --board.",
        ),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(metavar="BOARD", help="The board of what lies elsewhere, such as freshstack/2024-10."),
    ] = None,
    pull_request: Annotated[
        str | None,
        typer.Option(
            metavar="BASE", help="Look at what a checkout of git adds to this branch or commit, such as origin/main."
        ),
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="How findings are printed; github annotates a pull request.")
    ] = Format.text,
    root: Root = SUBMISSIONS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Look for all that is wrong with submissions and run files, and say how to mend it.

    Nothing is scored. It ends with exit code 1 when there is an error; warnings are for reading. The codes are
    explained in leaderboard/CODES.md.
    """
    from leaderboard.boards.reading import board_named
    from leaderboard.validation import telling, validate

    if bool(paths) == (pull_request is not None):
        got = "both" if paths else "neither"
        raise InputError("what to validate", expected="paths or --pull-request BASE", got=got, hint="give one of them")
    place = None if board is None else board_named(board, root)
    report = validate(paths or (), board=place, pull_request=pull_request, root=root)
    if as_json or form is Format.json:
        console.say_json(telling.json_of(report))
    elif form is Format.github:
        for line in telling.annotations_of(report):
            console.say(line)
        console.message(telling.summary(report))
    else:
        for line in telling.text_of(report):
            console.say(line)
    raise typer.Exit(0 if report.ok else 1)
