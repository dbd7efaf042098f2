"""Reading a typed file: from bytes to a checked model, or to errors that say where it is wrong, and how."""

from collections.abc import Container, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.recipe import Model
from freshstack_datasets.typed_files.faults import Fault, described, faults_of, first_of, unreadable
from freshstack_datasets.typed_files.yaml_file import Content, UnreadableError, read_yaml

M = TypeVar("M", bound=Model)

MOST_BYTES = 2_000_000
"""Bytes of a typed file; a topic with ten thousand repositories has fewer."""


MOST_FAULTS = 1_000
"""Faults that are told of a file; whoever has as many wants to see none of the others."""


def bytes_of(path: Path, what: str, hint: str = "", *, most: int = MOST_BYTES) -> bytes:
    """Return what a file holds, or one byte more than may be in one.

    Args:
        path: The file.
        what: What it should be, for the message.
        hint: What to do where it cannot be read.
        most: How many bytes may be in one.

    Raises:
        InputError: It cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        got = (getattr(error, "strerror", None) or "an unusable path").lower()
        raise InputError(f"cannot read {shown_path(path)}", expected=what, got=got, hint=hint) from None


def content_of(content: bytes, name: str, hint: str = "") -> Content:
    """Return the keys of a file and their values.

    Args:
        content: What it holds.
        name: What it is called.
        hint: What to do where it holds none.

    Raises:
        InputError: It is no YAML, or no keys and values.
    """
    try:
        return read_content(content, hint)
    except UnreadableError as error:
        raise unreadable(error).error(name) from None


def read_content(content: bytes, hint: str = "") -> Content:
    """Return the keys of a file and their values.

    Args:
        content: What it holds.
        hint: What to do where it holds none.

    Raises:
        UnreadableError: It is no YAML, or no keys and values.
    """
    if len(content) > MOST_BYTES:
        raise UnreadableError(0, f"a file of at most {MOST_BYTES:,} bytes", "more")
    found = read_yaml(_text(content))
    if not isinstance(found.value, dict):
        got = "nothing" if found.value is None else described(found.value)
        raise UnreadableError(0, "keys and their values", got, hint)
    return found


def validated(
    kind: type[M],
    found: Content,
    name: str,
    folder: Path | None = None,
    *,
    hints: Mapping[str, str] = {},
    hidden: Container[str] = (),
) -> M:
    """Return what a file says.

    Args:
        kind: What it is.
        found: What it holds.
        name: What it is called.
        folder: Where relative paths in it start; they stay relative when not given.
        hints: What to do where a key is missing, by the key.
        hidden: Keys that are known and not for people to write.

    Raises:
        InputError: It says something that is not allowed; the message has the line.
        MissingExtraError: Its model needs a package that is not installed.
    """
    try:
        return kind.model_validate(found.value, context={"folder": folder})
    except ValidationError as error:
        raise first_of(faults_of(kind, found, error, hints, hidden)).error(name) from None


def faults_in(kind: type[Model], found: Content) -> list[Fault]:
    """Return what is wrong in a file, by line: all of it, up to ``MOST_FAULTS``; nothing where ``validated`` takes it.

    Args:
        kind: What it should be.
        found: What it holds.

    Raises:
        MissingExtraError: Its model needs a package that is not installed.
    """
    try:
        kind.model_validate(found.value, context={"folder": None})
    except ValidationError as error:
        return sorted(islice(faults_of(kind, found, error), MOST_FAULTS), key=lambda fault: fault.line)
    return []


def checked(kind: Any, value: object, what: str, folder: Path | None = None) -> Any:
    """Return one part of a model, made of what somebody typed.

    Args:
        kind: Its type, one of those that members of a model have.
        value: What was typed.
        what: What to call it in a message.
        folder: Where relative paths start; they stay relative when not given.

    Raises:
        InputError: It is not allowed.
        MissingExtraError: Its type needs a package that is not installed.
    """
    try:
        return TypeAdapter(kind).validate_python(value, strict=True, context={"folder": folder})
    except ValidationError as error:
        raise first_of(faults_of(kind, Content(), error)).error(what) from None


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(line, "UTF-8", f"the byte {content[error.start]:#04x}") from None
