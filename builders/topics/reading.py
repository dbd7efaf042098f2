"""Reading a topic file: from bytes to a checked topic, or to an error that says where it is wrong, and how."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from builders.topics.addresses import without_secrets
from builders.topics.refused import RefusedError
from builders.topics.topic import Topic
from builders.topics.yaml_file import Content, UnreadableError, read_yaml
from freshstack_datasets.errors import InputError, UnknownNameError, shown, shown_path
from freshstack_datasets.recipe import Model

M = TypeVar("M", bound=Model)

MOST_BYTES = 2_000_000
"""Bytes of a topic file; ten thousand repositories have fewer."""

_EXPECTED = {
    "string_type": "a text",
    "tuple_type": "a list",
    "model_type": "keys and their values",
    "dict_type": "keys and their values",
    "date_type": "a day, a month or a year: 2024-10-24, 2024-10 or 2024",
    "string_too_long": "a shorter text",
    "int_type": "a whole number",
    "greater_than_equal": "a number of at most nine digits",
    "less_than_equal": "a number of at most nine digits",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "missing": "a value",
}
"""What we call that which pydantic missed, by its name for the complaint."""


def read_topic(path: Path | str) -> Topic:
    """Read a topic file.

    Paths in it that are relative start in its folder.

    Args:
        path: The file.

    Raises:
        InputError: It cannot be read, is no YAML, or says something that is not allowed; the message has its line.
        MissingExtraError: It has patterns, and pathspec is not installed.
    """
    path = Path(path)
    return parse_topic(bytes_of(path, "a topic file", _near(path)), path)


def bytes_of(path: Path, what: str, hint: str = "") -> bytes:
    """Return what a file holds, or a little more than may be in one.

    Args:
        path: The file.
        what: What it should be, for the message.
        hint: What to do where it cannot be read.

    Raises:
        InputError: It cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        got = (getattr(error, "strerror", None) or "an unusable path").lower()
        raise InputError(f"cannot read {shown_path(path)}", expected=what, got=got, hint=hint) from None


def parse_topic(content: bytes, path: Path) -> Topic:
    """Return the topic that the bytes of a file say.

    Args:
        content: The bytes.
        path: Where the file is, or will be.

    Raises:
        InputError: They are no YAML, or say something that is not allowed; the message has the line.
        MissingExtraError: They have patterns, and pathspec is not installed.
    """
    name = shown_path(path)[1:-1]
    found = content_of(content, name, "python -m builders new writes a topic file")
    if "digest" in found.value:  # it is ours to say
        raise _unknown(Topic, name, found, ("digest",))
    told = {**found.value, "digest": hashlib.sha256(content).hexdigest()}
    return validated(Topic, Content(told, found.lines), name, _folder(path))


def content_of(content: bytes, name: str, hint: str = "") -> Content:
    """Return the keys of a file and their values.

    Args:
        content: What it holds.
        name: What it is called.
        hint: What to do where it holds none.

    Raises:
        InputError: It is no YAML, or no keys and values.
    """
    if len(content) > MOST_BYTES:
        raise InputError(name, expected=f"a file of at most {MOST_BYTES:,} bytes", got="more")
    try:
        found = read_yaml(_text(content))
        if not isinstance(found.value, dict):
            got = "nothing" if found.value is None else _got(found.value)
            raise UnreadableError(0, "keys and their values", got, hint)
    except UnreadableError as error:
        where = f"{name}:{error.line}" if error.line else name
        raise InputError(where, expected=error.expected, got=error.got, hint=error.hint) from None
    return found


def validated(kind: type[M], found: Content, name: str, folder: Path | None = None) -> M:
    """Return what a file says.

    Args:
        kind: What it is.
        found: What it holds.
        name: What it is called.
        folder: Where relative paths in it start; they stay relative when not given.

    Raises:
        InputError: It says something that is not allowed; the message has the line.
        MissingExtraError: It has patterns, and pathspec is not installed.
    """
    try:
        return kind.model_validate(found.value, context={"folder": folder})
    except ValidationError as error:
        raise _told(kind, name, found, error) from None


def checked(kind: Any, value: object, what: str, folder: Path | None = None) -> Any:
    """Return one part of a topic, made of what somebody typed.

    Args:
        kind: Its type, one of those that members of a topic have.
        value: What was typed.
        what: What to call it in a message.
        folder: Where relative paths start; they stay relative when not given.

    Raises:
        InputError: It is not allowed.
        MissingExtraError: It has patterns, and pathspec is not installed.
    """
    try:
        return TypeAdapter(kind).validate_python(value, strict=True, context={"folder": folder})
    except ValidationError as error:
        raise _told(kind, what, Content(), error) from None


def topic_files() -> list[Path]:
    """Return the topic files that come with the builders."""
    return sorted(Path(__file__).parent.glob("*.yaml"))


def _folder(path: Path) -> Path:
    """Return the real folder of a file, from which ``..`` leads where the file's owner means."""
    return Path(os.path.realpath(path.parent))


def _near(path: Path) -> str:
    """Return the hint for a path where nothing is: a topic of ours that may be meant."""
    same = [file for file in topic_files() if file.stem == path.stem]
    return f"did you mean builders/topics/{same[0].name}?" if same else ""


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(line, "UTF-8", f"the byte {content[error.start]:#04x}") from None


def _told(kind: Any, name: str, found: Content, error: ValidationError) -> InputError:
    """Say one of the models' complaints in our words: a key that is not known, else the first."""
    complaints = error.errors(include_url=False)
    first = next((one for one in complaints if one["type"] == "extra_forbidden"), complaints[0])
    place = first["loc"]
    if first["type"] == "extra_forbidden":
        return _unknown(kind, name, found, place)
    refusal = first.get("ctx", {}).get("error")
    if isinstance(refusal, RefusedError):
        return _wrong(name, found, (*place, *refusal.place), refusal)
    return _wrong(name, found, place, _refusal(first))


def _refusal(complaint: ErrorDetails) -> RefusedError:
    """Return what pydantic itself complains of, in our words."""
    expected = _EXPECTED.get(complaint["type"], "another value")
    if complaint["type"] == "literal_error":
        expected = complaint["ctx"]["expected"].replace("'", "")
    if complaint["type"] == "missing":
        return RefusedError(expected, "none", "[] takes all questions" if complaint["loc"] == ("tags",) else "")
    value = complaint["input"]
    is_unquoted = complaint["type"] == "string_type" and value is not None and not isinstance(value, dict | list)
    return RefusedError(expected, _got(value), "put it in quotes" if is_unquoted else "")


def _got(value: Any) -> str:
    """Return a value for a message, without anything that may be a secret in an address."""
    if isinstance(value, dict):
        return "keys and their values"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    return shown(without_secrets(value)) if isinstance(value, str) else str(value)


def _wrong(name: str, found: Content, place: tuple[str | int, ...], refusal: RefusedError) -> InputError:
    where = f"{name}{_line(found, place)}" + (f", {_spelled(place)}" if place else "")
    return InputError(where, expected=refusal.expected, got=refusal.got, hint=refusal.hint)


def _unknown(kind: Any, name: str, found: Content, place: tuple[str | int, ...]) -> InputError:
    """Return the error for a key that is not known, with the nearest known ones."""
    key = place[-1]
    hint = UnknownNameError("key", key, _keys(kind, place)).hint
    inside = f", {_spelled(place[:-1])}" if len(place) > 1 else ""
    return InputError(f"{name}{_line(found, place)}{inside}: unknown key {shown(key)}", hint=hint)


def _keys(kind: Any, place: tuple[str | int, ...]) -> list[str]:
    """Return the keys that are known where an unknown one stands."""
    model = _model_in(kind)
    for part in place[:-1]:
        members = model.model_fields.items() if isinstance(part, str) else ()
        model = next((_model_in(member.annotation) for name, member in members if part in (name, member.alias)), model)
    keys = [member.alias or name for name, member in model.model_fields.items()]
    return [key for key in keys if key != "digest"]


def _model_in(kind: Any) -> type[Model]:
    """Return the model that a type is, or is made of: a tuple of such, or one that may be None."""
    if isinstance(kind, type) and issubclass(kind, Model):
        return kind
    return next(found for part in get_args(kind) if (found := _model_or_none(part)))


def _model_or_none(kind: Any) -> type[Model] | None:
    with suppress(StopIteration):
        return _model_in(kind)
    return None


def _line(found: Content, place: tuple[str | int, ...]) -> str:
    """Return the line of a value, or of what is around it where it has none of its own, behind a colon."""
    line = next((found.lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in found.lines), 0)
    return f":{line}" if line else ""


def _spelled(place: tuple[str | int, ...]) -> str:
    """Return keys and places as one text: ``repositories[2].url``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")
