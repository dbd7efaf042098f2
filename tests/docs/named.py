"""Find the commands that a text names, and tell which of them, or of their options, do not exist."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

from typer.main import get_command

from builders.cli import app as builders
from freshstack_datasets.cli import app as freshstack
from leaderboard.cli import app as leaderboard
from tests.docs.readme import ROOT

_APPS = {
    ("python", "-m", "builders"): builders,
    ("python", "-m", "leaderboard"): leaderboard,
    ("freshstack",): freshstack,
}
_PROGRAMS = (*_APPS, ("make",))
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_ENDS = ("|", "||", "&&", ";", ">", ">>", "{", "}", ")")


def in_line(text: str) -> list[str]:
    """Return the pieces of code that stand within lines, those of blocks left out."""
    return _CODE.findall(re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def commands(script: str) -> Iterator[list[str]]:
    """Yield the commands of the programs that are known here, word by word."""
    for line in script.replace("\\\n", " ").splitlines():
        if not any(" ".join(program) in line for program in _PROGRAMS):
            continue  # it may be no line of a shell at all
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word in _ENDS or set(word) <= set("();<>|&"):
                if any(tuple(words[: len(program)]) == program for program in _PROGRAMS):
                    yield words
                words = []
            elif words or "=" not in word:  # a variable that is set for one command
                words.append(word)


def wrong(script: str) -> list[str]:
    """Return what a script names and what does not exist, a line each."""
    return [problem for words in commands(script) for problem in _wrong(words)]


def options() -> set[str]:
    """Return every option of every command of this project."""
    groups: list[Any] = [get_command(app) for app in _APPS.values()]
    return {option for group in groups for command in group.commands.values() for option in _of(command)}


def _wrong(words: list[str]) -> Iterator[str]:
    if words[0] == "make":
        yield from (f"make {word}: no such target" for word in words[1:] if "=" not in word and word not in _targets())
        return
    program, app = next(one for one in _APPS.items() if tuple(words[: len(one[0])]) == one[0])
    command: Any = get_command(app)
    rest = words[len(program) :]
    if rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        if name not in command.commands:
            yield f"{' '.join(words)}: no command {name}"
            return
        command = command.commands[name]
    for word in rest:
        if word.startswith("-") and word.partition("=")[0] not in {*_of(command), "--help"}:
            yield f"{' '.join(words)}: no option {word}"


def _of(command: Any) -> set[str]:
    return {spelled for option in command.params for spelled in (*option.opts, *option.secondary_opts)}


@cache
def _targets() -> frozenset[str]:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    return frozenset(next(line for line in lines if line.startswith(".PHONY:")).split()[1:])
