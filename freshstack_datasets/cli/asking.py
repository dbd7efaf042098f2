"""Questions of a command: what options say, and what is asked for where they do not."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from freshstack_datasets.cli import console
from freshstack_datasets.errors import InputError

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Questions:
    """What options say, and what is asked for where they do not.

    Args:
        asks: Whether anything is asked for.
    """

    asks: bool

    def one(
        self, given: str | None, option: str, question: str, default: str | None, check: Callable[[str, str], _T]
    ) -> _T:
        """Return one value.

        Args:
            given: What the option says, None where it was not given.
            option: The option.
            question: What to ask.
            default: What an empty answer means, None where there has to be one.
            check: Makes a value of a text, which it calls as it is told.
        """
        if given is not None:
            return check(given, option)
        if not self.asks:
            if default is None:
                raise InputError(option, expected="a value", got="none", hint="with --no-input nothing is asked for")
            return check(default, option)
        while True:
            answer = _answer(f"{question} [{default}]" if default else question) or default or ""
            try:
                return check(answer, "the answer")
            except InputError as error:
                console.message(str(error))

    def several(self, given: list[str] | None, option: str, question: str, check: Callable[[str, str], _T]) -> list[_T]:
        """Return values until there is an empty answer."""
        if given or not self.asks:
            return [check(text, option) for text in given or ()]
        found: list[_T] = []
        while text := _answer(f"{question}; an empty line goes on" if not found else "Another one"):
            try:
                found.append(check(text, "the answer"))
            except InputError as error:
                console.message(str(error))
        return found


def _answer(question: str) -> str:
    """Ask on standard error, since standard output is for what was asked for, and return the line that is typed."""
    sys.stderr.write(f"{question}: ")
    sys.stderr.flush()
    try:
        line = sys.stdin.readline() if sys.stdin else ""
    except UnicodeDecodeError:
        sys.stderr.write("\n")
        raise InputError("the answers", expected=f"text in {sys.stdin.encoding}", got="other bytes") from None
    if not line:
        sys.stderr.write("\n")
        hint = "give options, and --no-input"
        raise InputError("the answers", expected="a line for each question", got="their end", hint=hint)
    return line.strip()
