"""Recordings: replies of a model in a file of JSON lines, a note of what it is first.

What is read is hostile until it was checked: a recording may come from anybody.
"""

import base64
import binascii
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.llm.records import Call

FORMAT = {"format": "freshstack-replies", "version": 1}
"""The first line of a recording."""
LONGEST_LINE = 64 * 2**20
"""Bytes of a line of a recording."""
_MOST = 2**53


@dataclass(frozen=True, slots=True)
class Embedding:
    """A text's embedding in a recording.

    Args:
        digest: The digest of what was embedded.
        vector: Little-endian 32-bit floats.
    """

    digest: str
    vector: bytes


def write_recording(path: Path, entries: Iterable[Call | Embedding]) -> int:
    """Write replies into a recording and return how many they are; the same ones give the same bytes.

    Args:
        path: Its file; one that is there is replaced.
        entries: The replies and embeddings of one server, sorted by their digests. They are taken one at a time, and
            none is held.

    Raises:
        InputError: Two replies are to the same call, they are not sorted, or the file cannot be written.
    """
    count, last = 0, ""
    with atomic_file(path) as work, work.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(_line(FORMAT))
        for one in entries:
            if one.digest == last:
                raise InputError("a recording", expected="one reply to a call", got=f"two to {one.digest}")
            if one.digest < last:
                raise InputError("a recording", expected="replies sorted by their digests", got=one.digest)
            stream.write(_line(_told(one)))
            count, last = count + 1, one.digest
    return count


def read_recording(path: Path) -> Iterator[Call | Embedding]:
    """Yield what a recording holds.

    Args:
        path: Its file.

    Raises:
        InputError: It cannot be read, or a line of it is not what ``write_recording`` writes.
    """
    seen: set[str] = set()
    with opened(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), 1):
            value = _parsed(line)
            if number == 1:
                if value != FORMAT:
                    raise _wrong(path, 1, f"the line {json.dumps(FORMAT)}", line)
                continue
            one = _embedding(value) if isinstance(value, dict) and "vector" in value else _call(value)
            if one is None:
                raise _wrong(path, number, "a reply, or an embedding", line)
            if one.digest in seen:
                raise _wrong(path, number, "one reply to a call", line)
            seen.add(one.digest)
            yield one
    if not seen:
        raise InputError(f"the recording {shown_path(path)}", expected="replies", got="none")


def opened(path: Path) -> io.BufferedReader:
    """Open a recording.

    Args:
        path: Its file.

    Raises:
        InputError: It cannot be opened.
    """
    try:
        if path.exists() and not path.is_file():  # a device may have no end, and a pipe wait for one
            raise InputError(
                f"cannot read the recording {shown_path(path)}", expected="a file", got="a folder, a pipe or a device"
            )
        return path.open("rb")
    except (OSError, ValueError) as error:
        got = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot read the recording {shown_path(path)}", got=got) from None


def _told(one: Call | Embedding) -> dict[str, Any]:
    if isinstance(one, Embedding):
        return {"digest": one.digest, "vector": base64.b64encode(one.vector).decode()}
    return {**asdict(one), "usd": None if one.usd is None else f"{one.usd:f}"}


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _wrong(path: Path, number: int, expected: str, line: bytes) -> InputError:
    return InputError(f"the recording {shown_path(path)}, line {number}", expected=expected, got=shown(line[:100]))


def _parsed(line: bytes) -> object:
    """Return the JSON value of a whole line, None when it is none that can be written again."""
    if len(line) > LONGEST_LINE or not line.endswith(b"\n"):
        return None
    try:
        value = json.loads(line.decode())
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return value


def _is_count(value: object) -> bool:
    return value is None or (type(value) is int and 0 <= value < _MOST)


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value) is not None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


_FITS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(Call.__dataclass_fields__, _is_text),
    "digest": _is_digest,
    "text": lambda value: isinstance(value, str),
    "parameters": lambda value: isinstance(value, dict),
    "input_tokens": _is_count,
    "output_tokens": _is_count,
    "usd": lambda value: value is None or _usd(value) is not None,
    "attempts": lambda value: _is_count(value) and bool(value),
}
"""Whether a value can be that of a member of a reply."""


def _call(value: object) -> Call | None:
    """Return the reply of a line, None when it is none."""
    if not isinstance(value, dict) or value.keys() != _FITS.keys():
        return None
    if not all(fits(value[name]) for name, fits in _FITS.items()):
        return None
    return Call(**{**value, "usd": None if value["usd"] is None else _usd(value["usd"])})


def _usd(value: object) -> Decimal | None:
    try:
        usd = Decimal(value) if isinstance(value, str) and len(value) < 100 else None
    except InvalidOperation:
        return None
    return usd if usd is not None and usd.is_finite() and 0 <= usd < _MOST else None


def _embedding(value: Mapping[str, Any]) -> Embedding | None:
    """Return the embedding of a line, None when it is none."""
    if value.keys() != {"digest", "vector"} or not _is_digest(value["digest"]) or not isinstance(value["vector"], str):
        return None
    try:
        vector = base64.b64decode(value["vector"], validate=True)
    except (binascii.Error, ValueError):
        return None
    return Embedding(value["digest"], vector) if vector and len(vector) % 4 == 0 else None
