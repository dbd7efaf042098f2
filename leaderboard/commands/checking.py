"""``python -m leaderboard check``: whether all that is published holds together."""

from typing import TYPE_CHECKING, Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralArguments
from freshstack_datasets.errors import InputError, shown_path
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.commands.options import Root

if TYPE_CHECKING:
    from leaderboard.checking import Problem


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command("check", cls=SeveralArguments, epilog="Example: python -m leaderboard check --rescore")(_check)


def _check(
    boards: Annotated[
        list[str] | None, typer.Argument(metavar="BOARD", help="A board, such as nimbus/2026-11, or several.")
    ] = None,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Score everything again: no digit may differ from what is there.")
    ] = False,
    root: Root = SUBMISSIONS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Check that every submission is valid and scored, and that its scores are of its runs.

    All boards are checked when none is named. It ends with exit code 1 when nothing of it should be published.
    """
    from leaderboard.boards.places import near
    from leaderboard.boards.reading import board_named, boards_of
    from leaderboard.checking import check_boards

    folders = [board_named(name, root) for name in boards or ()] or boards_of(near(root))
    if not folders:
        raise InputError(f"the folder {shown_path(root)}", expected="a board.yaml in <board>/<snapshot>", got="none")
    problems = [*check_boards(folders, root, rescore=rescore)]
    errors = sum(problem.is_error for problem in problems)
    if as_json:
        told = [
            {"severity": _severity(one), "code": one.code, "file": one.file, "message": one.message} for one in problems
        ]
        console.say_json({"ok": not errors, "boards": len(folders), "problems": told})
    else:
        for problem in problems:
            console.say(console.one_line(f"{problem.file}: {_severity(problem)}: {problem.code}: {problem.message}"))
        counts = f"{console.counted(errors, 'errors')}, {console.counted(len(problems) - errors, 'warnings')}"
        console.message(f"{console.counted(len(folders), 'boards')} checked: {counts}")
    raise typer.Exit(1 if errors else 0)


def _severity(problem: "Problem") -> str:
    return "error" if problem.is_error else "warning"
