"""``python -m leaderboard check``: whether all that is published holds together."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json
from freshstack_datasets.cli.values import SeveralArguments
from freshstack_datasets.errors import InputError, shown_path
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.commands.options import Root

if TYPE_CHECKING:
    from leaderboard.checking import Problem


_LONGEST = 600
"""Characters of a message that others are counted behind."""


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
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="List every warning, and show the traceback when something goes wrong."),
    ] = False,
) -> None:
    """Check that every submission is valid and scored, and that its scores are of its runs.

    All boards are checked when none is named. It ends with exit code 1 when nothing of it should be published. Of
    warnings of one code the first is told, and the others are counted; --verbose and --json tell them all.
    """
    from leaderboard.boards.places import near
    from leaderboard.boards.reading import board_named, boards_of
    from leaderboard.checking import check_boards

    folders = [board_named(name, root) for name in boards or ()] or boards_of(near(root))
    if not folders:
        raise InputError(f"the folder {shown_path(root)}", expected="a board.yaml in <board>/<snapshot>", got="none")
    problems = [*check_boards(folders, root, rescore=rescore)]
    errors = sum(problem.count for problem in problems if problem.is_error)
    if as_json:
        console.say_json({"ok": not errors, "boards": len(folders), "problems": [_fields(one) for one in problems]})
    else:
        for line in _lines(problems, every=verbose):
            console.say(line)
        warnings = sum(problem.count for problem in problems) - errors
        counts = f"{console.counted(errors, 'errors')}, {console.counted(warnings, 'warnings')}"
        console.message(f"{console.counted(len(folders), 'boards')} checked: {counts}")
    raise typer.Exit(1 if errors else 0)


def _lines(problems: "Sequence[Problem]", *, every: bool) -> Iterator[str]:
    """Yield a line a problem, the errors first; of warnings of one code the first, unless every one is asked for."""
    from leaderboard.validation.telling import line_of

    alike: dict[str, list[Problem]] = {}
    for number, problem in enumerate(problems):
        key = f"{number}" if every or problem.is_error else problem.code
        alike.setdefault(key, []).append(problem)
    for first, *others in sorted(alike.values(), key=lambda found: not found[0].is_error):
        message = first.message
        if others:
            more = f"and {sum(other.count for other in others):,} more of {first.code}; --verbose lists them"
            message = f"{console.one_line(message, _LONGEST)} ({more})"
        yield line_of(first.file, first.line, first.severity, first.code, message)


def _fields(problem: "Problem") -> dict[str, Any]:
    return {
        "severity": problem.severity,
        "code": problem.code,
        "file": problem.file,
        "line": problem.line or None,
        "message": problem.message,
        "count": problem.count,
    }
