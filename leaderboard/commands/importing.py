"""``python -m leaderboard import``: the rows of a leaderboard that others published."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.commands.options import Root

if TYPE_CHECKING:
    from leaderboard.boards.importing import Imported


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "import",
        epilog="Example: python -m leaderboard import leaderboard_data.json --board freshstack/2024-10 "
        "--source https://github.com/fresh-stack/fresh-stack.github.io --commit abfdf08 --date 2026-04-08",
    )(_import)


def _import(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file leaderboard_data.json.")],
    board: Annotated[str, typer.Option(metavar="BOARD", help="The board, such as freshstack/2024-10.")],
    source: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the rows are published; as last time when not given.")
    ] = None,
    commit: Annotated[str | None, typer.Option(metavar="COMMIT", help="The commit that the file is of.")] = None,
    date: Annotated[
        str | None, typer.Option(metavar="DATE", help="The day of that; as last time when not given.")
    ] = None,
    root: Root = SUBMISSIONS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Take over the rows of a published leaderboard, in place of those that were taken before.

    They are shown as reported: with neither intervals nor tests. What is wrong in them is put right in
    reported-details.yaml, which this leaves alone.
    """
    from leaderboard.boards.importing import import_rows
    from leaderboard.boards.reading import board_named

    imported = import_rows(file, board_named(board, root), url=source, commit=commit, date=date)
    if as_json:
        console.say_json({"path": str(imported.path), "rows": imported.rows, **_changes(imported)})
        return
    console.say(f"{imported.path}: {console.counted(imported.rows, 'rows')}")
    for word, names in _changes(imported).items():
        if names:
            console.say(f"{word}: {', '.join(names)}")


def _changes(imported: "Imported") -> dict[str, list[str]]:
    return {"added": [*imported.added], "changed": [*imported.changed], "gone": [*imported.gone]}
