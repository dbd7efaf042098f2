"""``python -m leaderboard export``: a board for other programs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.commands.options import Root


class Format(StrEnum):
    """What a board is written as."""

    csv = "csv"
    json = "json"
    bibtex = "bibtex"
    markdown = "markdown"
    published = "published"


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "export",
        epilog="Example: python -m leaderboard export freshstack/2024-10 --format published --out leaderboard_data.json",
    )(_export)


def _export(
    board: Annotated[str, typer.Argument(metavar="BOARD", help="The board, such as freshstack/2024-10.")],
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="published is the schema of leaderboard_data.json; the others say how sure means are."
        ),
    ] = Format.csv,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The file; standard output when not given.")] = None,
    root: Root = SUBMISSIONS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write a board as CSV, JSON, BibTeX, Markdown, or in the published schema of leaderboard_data.json."""
    from freshstack_datasets.errors import InputError
    from freshstack_datasets.files import atomic_file
    from leaderboard.boards.reading import board_named, read_board
    from leaderboard.exports import FORMATS, left_out
    from leaderboard.verdicts.deciding import decide

    if as_json and out is None:
        raise InputError("--json", expected="--out FILE beside it", got="none", hint="--format json prints the board")
    found = read_board(board_named(board, root))
    for warning in found.warnings:
        console.warn(warning)
    lacking = left_out(found) if form is Format.published else []
    for entry in lacking:
        console.warn(f"{entry.entry_id} is left out: it lacks a topic, and the published schema cannot say so")
    text = FORMATS[form][1](found, decide(found))
    if out is None:
        console.say(text.removesuffix("\n"))
        return
    with atomic_file(out) as work:
        work.write_text(text, encoding="utf-8", newline="\n")
    systems = len(found.entries) - len(lacking)
    if as_json:
        told = {"out": str(out), "format": form.value, "board": found.name, "snapshot": found.snapshot}
        console.say_json({**told, "systems": systems})
        return
    console.say(f"{out}: {console.counted(systems, 'systems')}")
