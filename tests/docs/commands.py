"""Write COMMANDS.md, the reference of the command line, from the commands themselves.

``python -m tests.docs.commands`` brings the file up to date; a test holds it equal.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from freshstack_datasets.cli import app

FILE = Path(__file__).parents[2] / "COMMANDS.md"
HEAD = """# Commands

Written from the commands themselves by `python -m tests.docs.commands`; `freshstack COMMAND --help` says the same.
"""


def reference() -> str:
    """Return the whole text of the file."""
    group: Any = get_command(app)
    parts = [HEAD, _paragraphs(group.help)]
    for name, command in group.commands.items():
        parts.append(f"## freshstack {name}\n")
        parts.append(_paragraphs(command.help))
        parts.append("```text\n" + command.epilog.removeprefix("Example: ") + "\n```\n")
        parts.append("| | |\n|---|---|\n" + "".join(_rows(command)))
    return "\n".join(parts)


def _rows(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            spelled = parameter.metavar
        else:
            spelled = ", ".join(parameter.opts) + (f" {parameter.metavar}" if parameter.metavar else "")
            spelled += " …" if parameter.multiple else ""
        needed = " Needed." if parameter.required else ""
        default = "" if needed or not parameter.default or parameter.multiple else f" By default {parameter.default}."
        spelled = spelled.replace("|", r"\|")  # else it would end the cell
        yield f"| `{spelled}` | {parameter.help}{needed}{default} |\n"


def _paragraphs(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines()) + "\n"


if __name__ == "__main__":
    FILE.write_text(reference(), encoding="utf-8", newline="\n")
