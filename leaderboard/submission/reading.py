"""Reading ``submission.yaml``: from bytes to a checked submission, or to all that is wrong in it, by line."""

import datetime
import stat
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.typed_files import (
    Content,
    Fault,
    UnreadableError,
    bytes_of,
    faults_in,
    read_content,
    spelled,
    unreadable,
    validated,
)
from freshstack_datasets.typed_files.reading import MOST_FAULTS
from leaderboard.submission.model import Submission
from leaderboard.submission.placeholders import is_placeholder

MOST_BYTES = 100_000
"""Bytes of a submission; one that lists a thousand data sets has fewer."""

_HINT = "python -m leaderboard new writes one"
_WRITE = "write what is true of your system"
_NULL = "write null where it is not known"
_NO_MODELS = "write models: [] for a system without any"
_DAY = datetime.timedelta(days=1)

_Place = tuple[str | int, ...]


def read_submission(path: Path) -> Submission:
    """Read a submission.

    Args:
        path: The ``submission.yaml``.

    Raises:
        InputError: It cannot be read, is no YAML, or says something that is not allowed; the message has its line.
        MissingExtraError: license-expression is not installed.
    """
    return parse_submission(read_bytes(path), shown_path(path)[1:-1])


def parse_submission(content: bytes, name: str) -> Submission:
    """Return the submission that the bytes of a file say.

    Args:
        content: The bytes.
        name: What the file is called.

    Raises:
        InputError: They are no YAML, or say something that is not allowed; the message has the line.
        MissingExtraError: license-expression is not installed.
    """
    found = _content(content)
    if isinstance(found, Fault):
        raise found.error(name)
    for fault in _faults(found):
        raise fault.error(name)
    return validated(Submission, found, name)


def read_bytes(path: Path) -> bytes:
    """Return what a submission holds, at most one byte more than it may.

    Args:
        path: The ``submission.yaml``; a link, a pipe or a device is refused without looking into it.

    Raises:
        InputError: It cannot be read.
    """
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        mode = stat.S_IFREG  # opening it says what is wrong
    if not stat.S_ISREG(mode):
        got = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise InputError(f"cannot read {shown_path(path)}", expected="a plain file", got=got)
    return bytes_of(path, "a submission", _HINT, most=MOST_BYTES)


def faults_of(content: bytes, *, today: datetime.date | None = None) -> list[Fault]:
    """Return all that is wrong in a submission, by line; nothing for one that can be read.

    Beside the kinds of a ``Fault`` there is ``placeholder``, for a value that nobody has filled in.

    Args:
        content: The bytes of ``submission.yaml``.
        today: The day that its date may be after by one at most, since days begin earlier elsewhere; any date will do
            when not given.

    Raises:
        MissingExtraError: license-expression is not installed.
    """
    found = _content(content)
    return [found] if isinstance(found, Fault) else _faults(found, today)


def _content(content: bytes) -> Content | Fault:
    """Return what a file holds, or why it cannot be read."""
    if len(content) > MOST_BYTES:
        return Fault("unreadable", 0, "", f"a file of at most {MOST_BYTES:,} bytes", "more")
    try:
        return read_content(content, _HINT)
    except UnreadableError as error:
        return unreadable(error)


def _faults(found: Content, today: datetime.date | None = None) -> list[Fault]:
    """Return all that is wrong in what a file holds, by line."""
    faults = faults_in(Submission, found)
    values = {fault.place: fault for fault in faults if fault.kind == "value"}
    left = list(islice(_left(found), MOST_FAULTS))
    optional = _optional(found, {fault.place for fault in left})
    waiting = {one.place: _waiting(one, values.get(one.place), one.place in optional) for one in left}
    told = [fault for fault in faults if fault.kind != "value" or fault.place not in waiting]
    faults = [*waiting.values(), *told]
    if today is not None and "date" not in {fault.place for fault in faults}:
        faults += _early(found, today)
    return sorted(faults, key=lambda fault: fault.line)


def _waiting(left: Fault, wrong: Fault | None, is_optional: bool) -> Fault:
    """Return the fault of a text that waits for a value, with what its model says that it has to be."""
    hint = left.hint
    if left.place.startswith("models["):
        hint = f"{_NO_MODELS}; {_NULL}" if is_optional else _NO_MODELS
    elif is_optional:
        hint = _NULL
    return replace(left, expected=wrong.expected, hint=wrong.hint or hint) if wrong else replace(left, hint=hint)


def _optional(found: Content, waiting: set[str]) -> set[str]:
    """Return those of the places that may hold null."""
    nulled = Content(_nulled(found.value, (), waiting), found.lines)
    return waiting - {fault.place for fault in faults_in(Submission, nulled)} if waiting else waiting


def _nulled(value: Any, place: _Place, waiting: set[str]) -> Any:
    """Return a value with null in the places that wait for something."""
    if isinstance(value, dict):
        return {key: _nulled(member, (*place, key), waiting) for key, member in value.items()}
    if isinstance(value, list):
        return [_nulled(member, (*place, index), waiting) for index, member in enumerate(value)]
    return None if isinstance(value, str) and spelled(place) in waiting else value


def _left(found: Content) -> Iterator[Fault]:
    """Yield a fault for each text that waits for a value."""
    for place, text in _texts(found.value, ()):
        key = next((part for part in reversed(place) if isinstance(part, str)), "")
        if is_placeholder(text, key):
            yield Fault("placeholder", found.line(place), spelled(place), "a value in its place", shown(text), _WRITE)


def _texts(value: Any, place: _Place) -> Iterator[tuple[_Place, str]]:
    if isinstance(value, str):
        yield place, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from _texts(member, (*place, key))


def _early(found: Content, today: datetime.date) -> Iterator[Fault]:
    """Yield a fault for a submission of a day that nowhere has begun; it must be a day."""
    told = found.value["date"]
    day = told if isinstance(told, datetime.date) else datetime.date.fromisoformat(told)
    if day > today + _DAY:
        yield Fault("value", found.line(("date",)), "date", f"a day until {today}", str(day))
