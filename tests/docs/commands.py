"""Write COMMANDS.md, the reference of the command line, from the commands themselves.

``python -m tests.docs.commands`` brings the file up to date; a test holds it equal.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from builders.cli import app as builders
from freshstack_datasets.cli import app as freshstack
from freshstack_datasets.cli import mteb
from leaderboard.cli import app as leaderboard

FILE = Path(__file__).parents[2] / "COMMANDS.md"
HEAD = """# Commands

Written from the commands themselves by `python -m tests.docs.commands`; `--help` after a command says the same.
"""


def reference() -> str:
    """Return the whole text of the file."""
    groups = {
        "freshstack": freshstack,
        mteb.PROGRAM: mteb.commands,
        "python -m builders": builders,
        "python -m leaderboard": leaderboard,
    }
    return "\n".join([HEAD, *(part for name, app in groups.items() for part in _commands(name, app))])


def _commands(name: str, app: typer.Typer) -> Iterator[str]:
    group: Any = get_command(app)
    yield f"## {name}\n"
    yield _paragraphs(group.help)
    for command_name, command in _leaves(name, group):
        yield f"### {command_name}\n"
        yield _paragraphs(command.help)
        yield "```text\n" + command.epilog.removeprefix("Example: ") + "\n```\n"
        if rows := "".join(_rows(command)):  # a tool that is wrapped has options of its own
            yield "| | |\n|---|---|\n" + rows


def _leaves(name: str, group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a group and of the groups in it, each with all that is typed to run it."""
    for command_name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _leaves(f"{name} {command_name}", command)
        else:
            yield f"{name} {command_name}", command


def _rows(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            spelled = parameter.metavar
        else:
            value = "" if parameter.is_flag else f" {parameter.metavar or 'TEXT'}"
            spelled = ", ".join(parameter.opts) + value
            spelled += " …" if parameter.multiple else ""
        needed = " Needed." if parameter.required else ""
        usual = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
        default = "" if needed or not usual or parameter.multiple else f" By default {usual}."
        spelled = spelled.replace("|", r"\|")  # else it would end the cell
        yield f"| `{spelled}` | {parameter.help}{needed}{default} |\n"


def _paragraphs(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines()) + "\n"


if __name__ == "__main__":
    FILE.write_text(reference(), encoding="utf-8", newline="\n")
