"""Options of several values, where ``--run a b`` means the same as ``--run a --run b``, and arguments of several."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Any

from typer.core import TyperCommand

from freshstack_datasets.errors import shown

HELP = frozenset({"--help", "-h"})


class SeveralValues(TyperCommand):
    """A command whose repeatable options also take their values in a row, up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write every value of a repeatable option with its option before it, and let typer go on from there."""
        options = [parameter for parameter in self.params if parameter.param_type_name == "option"]
        several = {name for option in options if option.multiple for name in option.opts}
        flags = {name for option in options if getattr(option, "is_flag", False) for name in option.opts}
        arguments = sum(parameter.param_type_name == "argument" for parameter in self.params)
        flags |= HELP
        more = list(chain.from_iterable(words for option, words in _groups(args, several, flags) if option == ""))
        if "--run" in several and more[arguments:] and HELP.isdisjoint(args):
            word = more[arguments]
            ctx.fail(f"unexpected argument {shown(word)}, expected a run file as in --run {shown(word)}")
        return super().parse_args(ctx, spread(args, several, flags, arguments))


class SeveralArguments(TyperCommand):
    """A command that takes any number of arguments; its help shows them with dots, and no ``list[Path]`` of Python's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if parameter.param_type_name == "argument" and parameter.nargs != 1:
                parameter.__dict__["display_type_rich"] = lambda ctx: "…"


def spread(typed: Sequence[str], several: Collection[str], flags: Collection[str], arguments: int) -> list[str]:
    """Return a command's words with each value of a repeatable option after an option of its own.

    Where arguments would be missing, the last values in a row are taken for them: in ``--run a.run FOLDER`` the folder
    is what the command works on.

    Args:
        typed: The words.
        several: The repeatable options.
        flags: The options without a value.
        arguments: How many arguments the command needs.
    """
    groups = list(_groups(typed, several, flags))
    missing = arguments - sum(len(words) for option, words in groups if option == "")
    for i in range(len(groups) - 1, -1, -1):
        option, words = groups[i]
        if option in several and missing > 0 and len(words) > 1:
            kept = max(1, len(words) - missing)
            groups[i : i + 1] = [(option, words[:kept]), ("", words[kept:])]
            missing -= len(words) - kept
    spelled: list[str] = []
    for option, words in groups:
        if option in several:
            spelled += [word for value in words for word in (option, value)] or [option]
        else:
            spelled += words
    return spelled


def _groups(typed: Sequence[str], several: Collection[str], flags: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Split words into groups: an option with its values, or ("", arguments in a row)."""
    words = list(typed)
    while words:
        word = words.pop(0)
        if word == "--":
            yield "--", [word]
            yield "", words
            return
        option, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            yield "", [word]
        elif option in several:
            values = [value] if equals else []
            while words and not words[0].startswith("-"):
                values.append(words.pop(0))
            yield option, values
        else:
            takes_next = not equals and option not in flags and (word.startswith("--") or len(word) == 2)
            yield option, [word, *(words[:1] if takes_next else [])]
            del words[: 1 if takes_next else 0]
