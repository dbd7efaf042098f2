"""JSON from anybody: where the values of a large file begin and end, and what one of them says.

A file is cut into values without parsing it as a whole, so that memory holds one of them, and one that is damaged does
not cost the rest: parsers of streams end at the first half of a surrogate pair.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from builders.forums.fields import BadEntryError
from freshstack_datasets.errors import shown

LONGEST = 32 << 20
"""Bytes that a value may have; a page of the API has some hundred thousand."""

_DEPTH = 200
_ARRAYS = 3  # pages in an array, entries in a page, and one more
_BETWEEN = re.compile(rb"[\s,]*+")
_UP_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_WORD = re.compile(rb'[^\s,"{}\[\]]++')
_CLOSING = {ord("{"): ord("}"), ord("["): ord("]")}


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a file.

    Args:
        number: Which one it is, from 1.
        data: Its bytes.
        wrong: Why it is none, and what follows in the file is not read; "" when it may be one.
    """

    number: int
    data: bytes
    wrong: str = ""


def values(blocks: Iterator[bytes], longest: int = LONGEST) -> Iterator[Value]:
    """Yield the values of a file: those that follow one another, and those in arrays, which may be in arrays.

    Args:
        blocks: The file's bytes.
        longest: Bytes that a value may have.
    """
    cutter = _Cutter(blocks, longest)
    number = 1
    try:
        while (data := cutter.next()) is not None:
            yield Value(number, data)
            number += 1
    except BadEntryError as damage:
        for _ in blocks:  # the digest is that of the whole file
            pass
        yield Value(number, b"", damage.reason)


class _Cutter:
    """Finds where values end.

    Args:
        blocks: The file's bytes.
        longest: Bytes that a value may have.
    """

    def __init__(self, blocks: Iterator[bytes], longest: int) -> None:
        self._blocks, self._longest = blocks, longest
        self._buffer, self._at, self._arrays = b"", 0, 0

    def next(self) -> bytes | None:
        """Return the next value; None after the last one.

        Raises:
            BadEntryError: It cannot be seen where it ends.
        """
        while True:
            self._at = _end(_BETWEEN, self._buffer, self._at)
            if self._at == len(self._buffer):
                if self._more():
                    continue
                if self._arrays:
                    raise BadEntryError("the file is cut off: an array is not closed")
                return None
            first = self._buffer[self._at]
            if first == ord("[") and self._arrays < _ARRAYS:
                self._arrays += 1
                self._at += 1
            elif first == ord("]") and self._arrays:
                self._arrays -= 1
                self._at += 1
            else:
                return self._taken(self._length(first))

    def _more(self) -> bool:
        block = next(self._blocks, None)
        if block is None:
            return False
        self._buffer, self._at = self._buffer[self._at :] + block, 0
        if len(self._buffer) > self._longest + len(block):
            raise BadEntryError(f"a value of more than {self._longest:,} bytes: what follows is not read")
        return True

    def _taken(self, length: int) -> bytes:
        start, self._at = self._at, self._at + length
        return self._buffer[start : self._at]

    def _length(self, first: int) -> int:
        """Return how long the value is that begins here."""
        if first in _CLOSING:
            return self._length_of_nested()
        if first in b"]}":
            raise BadEntryError("a bracket that closes nothing: what follows is not read")
        pattern = _STRING if first == ord('"') else _WORD
        while True:
            found = pattern.match(self._buffer, self._at)
            if found is not None and (pattern is _STRING or found.end() < len(self._buffer)):
                return found.end() - self._at
            if not self._more():
                if found is None:
                    raise BadEntryError("the file is cut off: a text is not closed")
                return found.end() - self._at

    def _length_of_nested(self) -> int:
        length, open_ones = 0, bytearray()  # what closes each of the brackets that are open
        while True:
            end = _end(_UP_TO_BRACKET, self._buffer, self._at + length)
            length = end - self._at
            bracket = self._buffer[end] if end < len(self._buffer) else ord('"')
            if bracket == ord('"'):  # a text that does not end in what is here, or nothing more is here
                if not self._more():
                    raise BadEntryError("the file is cut off: a bracket is not closed")
                continue
            length += 1
            if bracket in _CLOSING:
                open_ones.append(_CLOSING[bracket])
                if len(open_ones) > _DEPTH:
                    raise BadEntryError(f"more than {_DEPTH} brackets in one another: what follows is not read")
            elif open_ones.pop() != bracket:
                raise BadEntryError("a bracket that another one closes: what follows is not read")
            elif not open_ones:
                return length


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Return where the match of a pattern that matches everywhere ends."""
    found = pattern.match(data, at)
    return at if found is None else found.end()


def parsed(data: bytes) -> Any:
    """Return what a value says.

    Raises:
        BadEntryError: It is no JSON, in UTF-8, or has a key twice.
    """
    try:
        return json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        bad = shown(data[error.start : error.start + 4])
        raise BadEntryError("not UTF-8", f"{bad} at byte {error.start:,}") from None
    except json.JSONDecodeError as error:
        raise BadEntryError("malformed JSON", f"{error.msg} at character {error.pos:,}") from None
    except RecursionError:
        raise BadEntryError("malformed JSON", "too many brackets in one another") from None
    except ValueError:
        raise BadEntryError("malformed JSON", "a number of too many digits") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise BadEntryError("a key twice", shown(twice))
    return found


def _no_number(name: str) -> Any:
    raise BadEntryError("malformed JSON", f"{name} is no number")
