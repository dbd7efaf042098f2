"""YAML as plain values with the line of each: the part of it that a file of settings needs.

Read are texts, numbers, truth values, days, null, lists, and mappings whose keys are texts and stand there once. Anchors,
aliases, merge keys and tags are refused: a few lines of them can stand for more than any machine holds, or for objects.
"""

import datetime
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import yaml

from freshstack_datasets.errors import shown
from freshstack_datasets.typed_files.refused import RefusedError

DEEPEST = 20
"""How many lists and mappings may lie in each other."""

_QUOTES = "put it in quotes where a text is meant"
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]*)?|[-+]?[0-9]*\.[0-9]+([eE][-+]?[0-9]+)?")
"""Numbers as people write them. YAML also takes 02024 for 1044, 1:30 for 90 and 0x7e8 for 2024."""


class UnreadableError(RefusedError):
    """What is no YAML that is read here.

    Args:
        line: Its line, from 1; 0 where it is not known.
        expected: What would have been right.
        got: What was found instead, safe to print.
        hint: The next step.
    """

    def __init__(self, line: int, expected: str, got: str, hint: str = "") -> None:
        super().__init__(expected, got, hint)
        self.line = line


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds.

    Args:
        value: Its value.
        lines: From the keys and places that lead to a value to its line, from 1.
    """

    value: Any = None
    lines: dict[tuple[str | int, ...], int] = field(default_factory=dict)

    def line(self, place: tuple[str | int, ...]) -> int:
        """Return the line of a value, or of what is around it where it has none of its own; 0 where nothing has.

        Args:
            place: The keys and places that lead to it.
        """
        return next((self.lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in self.lines), 0)


def read_yaml(text: str) -> Content:
    """Return what a text says.

    Raises:
        UnreadableError: It is no YAML, or more of it than is read.
    """
    content = Content()
    with _complaints(text):
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            value = None if node is None else _value(loader, node, (), content.lines)
        finally:
            loader.dispose()
    return Content(value, content.lines)


def in_one_line(value: object) -> str:
    """Return a plain value as YAML on one line."""
    text: str = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, allow_unicode=True, width=10**9)
    return text.removesuffix("...\n").rstrip("\n")


class _Dumper(yaml.SafeDumper):
    """The safe dumper, which escapes what would break a line."""

    def represent_str(self, text: str) -> yaml.ScalarNode:
        """Put a text with line breaks or control characters between double quotes."""
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _Dumper.represent_str)


class _Loader(yaml.SafeLoader):
    """The safe loader, without what a name or a reference would bring in."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse what is not read before anything is made of it."""
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs have no types for it
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise UnreadableError(line, "values that are written out", "an anchor or an alias")
        if getattr(event, "tag", None) is not None:
            raise UnreadableError(line, "a plain value", "one with a tag, which begins with !", _QUOTES)
        if self.depth > DEEPEST:
            raise UnreadableError(line, f"at most {DEEPEST} lists and mappings in each other", "more")
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


@contextmanager
def _complaints(text: str) -> Iterator[None]:
    """Word what PyYAML says."""
    try:
        yield
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UnreadableError(line, "a text without control characters", _letter(text, error.position)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        if (error.context or "").startswith(("while scanning an alias", "while scanning an anchor")):
            raise UnreadableError(line, "quotes around a text that begins with * or &", "none") from None
        got = shown((error.problem or "something else").removeprefix("but found "))[1:-1]
        raise UnreadableError(line, "YAML", got) from None
    except RefusedError:
        raise
    except (ValueError, OverflowError):  # PyYAML lets through what Python says of an escape that stands for no letter
        raise UnreadableError(0, "YAML", "an escape that stands for no letter") from None


def _letter(text: str, position: int) -> str:
    return f"the character {ord(text[position]):#06x}" if position < len(text) else "one"


def _value(
    loader: _Loader, node: yaml.Node, place: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]
) -> Any:
    """Return a node's value and note its line, and that of everything in it."""
    lines[place] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, entry, (*place, number), lines) for number, entry in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return _scalar(loader, node)
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = _key(loader, key_node)
        if key in found:
            raise UnreadableError(line, "each key once", f"{shown(key)} again, after line {lines[(*place, key)]}")
        found[key] = _value(loader, value_node, (*place, key), lines)
        lines[(*place, key)] = line
    return found


def _key(loader: _Loader, node: yaml.Node) -> str:
    key = _scalar(loader, node) if isinstance(node, yaml.ScalarNode) else None
    if not isinstance(key, str) or node.tag != "tag:yaml.org,2002:str":
        got = shown(node.value) if isinstance(node, yaml.ScalarNode) else "a list or a mapping"
        raise UnreadableError(node.start_mark.line + 1, "a text for a key", got, _QUOTES)
    return key


def _scalar(loader: _Loader, node: yaml.Node) -> Any:
    line = node.start_mark.line + 1
    if node.tag in ("tag:yaml.org,2002:merge", "tag:yaml.org,2002:value"):
        raise UnreadableError(line, "a plain value", shown(node.value), _QUOTES)
    try:
        value = loader.construct_object(node)
    except ValueError:  # a day that there is not, or a number with too many digits
        raise UnreadableError(line, "a number or a day that there is", shown(node.value), _QUOTES) from None
    if isinstance(value, datetime.datetime):
        raise UnreadableError(line, "a day such as 2024-10-24", shown(node.value), _QUOTES)
    if isinstance(value, float) and not math.isfinite(value):
        raise UnreadableError(line, "a finite number", shown(node.value), _QUOTES)
    if isinstance(value, int | float) and not isinstance(value, bool) and not _DECIMAL.fullmatch(node.value):
        raise UnreadableError(line, "a number in plain digits", shown(node.value), _QUOTES)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise UnreadableError(line, "a whole number of at most 64 bits", shown(node.value), _QUOTES)
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise UnreadableError(line, "valid Unicode", "half a surrogate pair")
    return value
