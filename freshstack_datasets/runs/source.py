"""Bytes of a run file, a bounded piece at a time: opening, decompressing, cutting into whole lines."""

import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from math import inf
from pathlib import Path
from typing import Self

import numpy as np

from freshstack_datasets.errors import RecordError, RunFileError, shown
from freshstack_datasets.records import ID_RULE, check_id
from freshstack_datasets.runs.gunzip import Gunzip

GZIP = ".gz"

CHUNK = 1 << 22
"""Bytes that are read at once."""

_LEAST = 1 << 16  # a gzip file can give a byte at a time, and what is put together from such pieces takes for ever

LINE_LIMIT = 1 << 20
"""Bytes that a line may have; two ids of ``ID_LIMIT`` characters fit even when every one is escaped."""

ID_LIMIT = 10_000
"""Characters that an id may have."""

NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
"""A JSON number, as a regular expression."""

OTHER_FORMAT = "if the file is of another format, rename it, or in Python give its format"
"""The next step where a file does not look like its format at all."""

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_NEWLINE = ord("\n")
_COPY_AGAIN = "copy the file again"


class Source:
    """The bytes of an open file, decompressed when its name ends with ``.gz``.

    Args:
        path: The file.
        most: Bytes to give, decompressed.

    Raises:
        RunFileError: It cannot be opened.
    """

    def __init__(self, path: Path, most: float = inf) -> None:
        self._path, self._most = path, most
        self._failure: Exception | None = None
        self._raw = file = opened(path)
        self._file = Gunzip(file) if path.suffix.lower() == GZIP else file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def read(self, line: int) -> bytes:
        """Return the next bytes, at least ``_LEAST`` of them but for the last time, b"" at the end of the file.

        What stands before a damage is returned first, and the damage reported at the next call.

        Args:
            line: The line that was reached, for the message.

        Raises:
            RunFileError: The file cannot be read on, its compression is damaged, or it holds more than it may.
        """
        if self._most < 0:
            raise self._too_large(line)
        parts, size = [], 0
        while size < _LEAST and not self._failure:
            try:
                part = self._file.read1(CHUNK)
            except (OSError, EOFError, zlib.error) as error:
                self._failure = error
                break
            if not part:
                break
            parts.append(part)
            size += len(part)
        self._most -= size
        if self._failure and not parts:
            raise self._error(line, self._failure)
        return b"".join(parts)

    def _too_large(self, line: int) -> RunFileError:
        expected, hint = "fewer bytes, once it is decompressed", "hand in the best documents of each query alone"
        return RunFileError(self._path, line, "a run", expected=expected, got="more", hint=hint, kind="large")

    def _error(self, line: int, failure: Exception) -> RunFileError:
        if isinstance(failure, EOFError):
            return RunFileError(
                self._path,
                line,
                "gzip data",
                expected="an end mark",
                got="a truncated file",
                hint=_COPY_AGAIN,
                kind="compression",
            )
        if isinstance(failure, OSError) and failure.strerror:
            what, expected = "a run file that cannot be read", "bytes up to its end"
            return RunFileError(
                self._path,
                line,
                what,
                expected=expected,
                got=shown(failure.strerror),
                hint=_COPY_AGAIN,
                kind="unreadable",
            )
        hint = f"{_COPY_AGAIN}, or take {GZIP} off its name if it is not compressed"
        got = shown(str(failure))
        return RunFileError(
            self._path, line, "gzip data", expected="a whole file", got=got, hint=hint, kind="compression"
        )


def opened(path: Path) -> BufferedReader:
    """Return an open file.

    Raises:
        RunFileError: It cannot be opened.
    """
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        reason = error.strerror if isinstance(error, OSError) else str(error)
        what, expected = "a run file that cannot be opened", "a file that is there and may be read"
        hint = "check the path"
        raise RunFileError(path, 0, what, expected=expected, got=shown(reason), hint=hint, kind="unreadable") from None


def blocks(path: Path, refuse: Callable[[RunFileError], None], most: float = inf) -> Iterator[tuple[int, bytes]]:
    """Yield pieces of whole lines, each with the number of its first line.

    A byte-order mark and blank lines at the end are left out; the last line of each piece ends with a line break,
    whether or not the file does.

    Args:
        path: The file.
        refuse: Takes the error of a blank line before others; reading goes on when it raises nothing.
        most: Bytes that the file may have, decompressed.

    Raises:
        RunFileError: A line is too long, or the file cannot be read or is too large.
    """
    blank = 0
    with Source(path, most) as source:
        for first, block in _whole_lines(source, path):
            kept = _without_blank_end(block)
            if kept and blank:
                refuse(_empty(path, blank))
                blank = 0
            if kept:
                yield first, kept
            if len(kept) < len(block) and not blank:
                blank = first + kept.count(b"\n")


def _whole_lines(source: Source, path: Path) -> Iterator[tuple[int, bytes]]:
    line, rest = 1, b""
    start = True
    while chunk := source.read(line):
        rest += chunk
        if start and len(rest) >= len(_BOM):
            rest, start = rest.removeprefix(_BOM), False
        end = rest.rfind(b"\n") + 1
        if end:
            yield line, rest[:end]
            line += int(np.count_nonzero(np.frombuffer(rest, np.uint8, end) == _NEWLINE))  # faster than bytes.count
            rest = rest[end:]
        if len(rest) > LINE_LIMIT:
            raise too_long(path, line)
    if rest:
        yield line, rest + b"\n"


def _without_blank_end(block: bytes) -> bytes:
    if block[-2:-1] not in _BLANK:
        return block  # as nearly all blocks end; to look further takes a copy
    content = len(block.rstrip(_BLANK))
    return block[: block.find(b"\n", content) + 1] if content else b""


def raw_lines(first: int, block: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a block, without line ends, each with its number."""
    yield from enumerate(block[:-1].split(b"\n"), first)


def text_of(path: Path, number: int, raw: bytes) -> str:
    """Return a line as text.

    Raises:
        RunFileError: It is too long, empty, no UTF-8, or holds NUL or a carriage return.
    """
    raw = raw.removesuffix(b"\r")
    if len(raw) > LINE_LIMIT:
        raise too_long(path, number)
    try:
        line = raw.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(path, number, error) from None
    for sign, name in (("\0", "NUL"), ("\r", "carriage return")):
        if sign in line:
            expected = f"no {name}"
            raise RunFileError(path, number, "a line of text", expected=expected, got=shown(line), kind="encoding")
    if not line.strip(" \t"):
        raise _empty(path, number)
    return line


def _empty(path: Path, line: int) -> RunFileError:
    return RunFileError(path, line, "an empty line", expected="an entry", got="nothing on it", kind="empty-line")


def too_long(path: Path, line: int) -> RunFileError:
    """Return the error for a line that is too long to be an entry."""
    return RunFileError(path, line, "a line", expected=f"at most {LINE_LIMIT} bytes", got="more", kind="long-line")


def not_utf8(path: Path, line: int, error: UnicodeDecodeError) -> RunFileError:
    """Return the error for bytes that are no text."""
    bad = bytes(error.object[error.start : error.start + 8])
    hint = f"save it as UTF-8, or let its name end with {GZIP} if it is gzipped"
    got = f"the bytes {shown(bad)}"
    return RunFileError(path, line, "text", expected="UTF-8", got=got, hint=hint, kind="encoding")


def checked_id(path: Path, line: int, value: object, kind: str) -> str:
    """Return an id unchanged, or say where it stands and why it cannot be one.

    Raises:
        RunFileError: It cannot be an id.
    """
    try:
        checked = check_id(value, kind)
    except RecordError as error:
        expected = error.expected or ID_RULE
        raise RunFileError(path, line, error.what, expected=expected, got=error.got, kind="id") from None
    if len(checked) > ID_LIMIT:
        got = f"{len(checked)}"
        expected = f"at most {ID_LIMIT} characters"
        raise RunFileError(path, line, f"{kind} id", expected=expected, got=got, kind="id")
    return checked
