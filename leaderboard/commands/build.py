"""``python -m leaderboard build``: the site, from the submissions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.commands.options import Root

if TYPE_CHECKING:
    from leaderboard.site.writing import Built


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "build",
        epilog="Example: python -m leaderboard build --out site --repository https://github.com/acme/leaderboard",
    )(_build)


def _build(
    out: Annotated[
        Path, typer.Option(metavar="SITE", help="The folder: a new one, or a site that it takes the place of.")
    ],
    boards: Annotated[
        list[str] | None,
        typer.Option(
            "--board", metavar="BOARD", help="A board, such as freshstack/2024-10 or freshstack; all if not given."
        ),
    ] = None,
    with_text: Annotated[
        bool, typer.Option("--with-text", help="Show texts of documents: for your own eyes, not to be published.")
    ] = False,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the site will be, for its feed and its canonical links.")
    ] = None,
    repository: Annotated[
        str | None, typer.Option(metavar="URL", help="The repository that takes submissions and disputed judgments.")
    ] = None,
    root: Root = SUBMISSIONS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write the site: static files, complete without JavaScript, that work from a folder and on any host.

    A site that was built before is replaced as a whole; any other folder is left alone.
    """
    from leaderboard.site.writing import build_site

    built = build_site(root, out, with_text=with_text, base_url=base_url, repository=repository, only=boards or ())
    for warning in built.warnings:
        console.warn(warning)
    if as_json:
        console.say_json(_facts(built))
        return
    console.say(f"{out}: {console.counted(built.files, 'files')}, {built.size / 1e6:.1f} MB")
    for board in built.boards:
        console.say(f"{board.name}/{board.snapshot}: {console.counted(len(board.entries), 'systems')}")
    console.say(f"look at it: open {out / 'index.html'}")


def _facts(built: "Built") -> dict[str, Any]:
    boards = [
        {"board": board.name, "snapshot": board.snapshot, "systems": len(board.entries), "updated": f"{board.updated}"}
        for board in built.boards
    ]
    return {
        "out": str(built.out),
        "files": built.files,
        "bytes": built.size,
        "boards": boards,
        "warnings": list(built.warnings),
    }
