"""Syntax trees by the grammars that come inside a package, within bounds that are the same on every machine."""

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from builders.chunking.budget import Budget
from builders.chunking.deadline import Deadline, OutOfTimeError
from builders.chunking.nesting import too_deep
from freshstack_datasets.errors import MissingExtraError

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

_LARGEST = 8_000_000
"""Bytes of the largest text that a tree is made of; a tree takes some hundred times as much memory as its text."""
_NESTED = re.compile(rb"(?m)^(?:(?> {1,2}|[\t>]|[-*+?:](?=[ \t])|\d{1,9}[.)](?=[ \t]))){101}")
"""A line that may begin more than 200 blocks, one in the other. The grammars of Markdown and YAML keep those that are
open in 1,024 bytes, and write beyond them from some 250 on, which ends the process."""
_LONG_LINE = re.compile(rb"[^\n]{4001}")
"""A line that takes the grammar of reStructuredText minutes: it looks ahead to the end from every place in it."""
_TOO_MUCH: dict[str, Callable[[bytes], object]] = {
    "markdown": _NESTED.search,
    "yaml": _NESTED.search,
    "rst": _LONG_LINE.search,
    **dict.fromkeys(("html", "xml", "vue", "svelte", "astro"), too_deep),
}
"""What tells, by grammar, that a text is to be kept from it."""

_PLAIN = bytes(byte if 0 < byte < 128 else ord("x" if byte else " ") for byte in range(256))
"""The letter that stands for each byte of a text to be parsed."""
_SPACES = ("\u00a0", "\u1680", "\u202f", "\u205f", "\u3000", "\u2028", "\u2029", *map(chr, range(0x2000, 0x200B)))
"""White space beyond ASCII."""
_FAR = re.compile("[\U00020000-\U0010ffff]")

_GRAMMARS = {"jsx": "javascript", "mdx": "markdown"}
"""Languages that another one's grammar reads."""


def grammar_of(language: str) -> str:
    """Return the name of the grammar that reads a language of ``languages``."""
    return _GRAMMARS.get(language, language)


def plain(raw: bytes) -> bytes:
    """Return a text to be parsed instead, of the same length, with an x for each byte of a letter beyond ASCII.

    Grammars ask the C library whether a letter is one, by functions that are made for ASCII alone: what they say of
    other letters depends on the machine, and for some the process ends.
    """
    if raw.isascii():
        return raw.replace(b"\0", b" ")
    for space in _SPACES:
        raw = raw.replace(space.encode(), b" " * len(space.encode()))
    return raw.translate(_PLAIN)


def nearly_as_it_is(text: str) -> bytes:
    """Return a text to be parsed with only the rarest letters replaced, which would end the process."""
    return _FAR.sub("xxxx", text).encode()


def parse(grammar: str, raw: bytes, deadline: Deadline) -> "Tree | None":
    """Return the syntax tree of a text, or None if it is to be cut as plain text.

    Args:
        grammar: The name that the package has for it.
        raw: The text, made ``plain`` or ``nearly_as_it_is``.
        deadline: The time that this may take.

    Raises:
        MissingExtraError: The grammars are not installed.
        OutOfTimeError: The time is up.
    """
    parser = _parser(grammar)
    if parser is None or len(raw) > _LARGEST or (grammar in _TOO_MUCH and _TOO_MUCH[grammar](raw)):
        return None
    budget = Budget(raw, deadline)
    try:
        tree = parser.parse(budget.read, progress_callback=lambda at, _failed: budget.stops(parser, at))
    except ValueError as error:  # it was stopped
        parser.reset()
        if not budget.spent:
            raise OutOfTimeError from error
        return None
    finally:
        del parser.logger
    if budget.spent:  # it was given no more to read
        return None
    return tree if tree.root_node.child_count and tree.root_node.children[0].type != "ERROR" else None


@cache
def _parser(grammar: str) -> "Parser | None":
    """Return the parser of a grammar, or None if the package has no such grammar."""
    try:
        from tree_sitter_language_pack import get_parser
    except ImportError as error:
        raise MissingExtraError("tree-sitter-language-pack", "build") from error
    try:
        return get_parser(grammar)  # type: ignore[arg-type]  # it lists its names as literals
    except LookupError:
        return None
