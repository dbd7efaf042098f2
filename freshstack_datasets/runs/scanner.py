"""A reader of one JSON shape, an object of objects of numbers, from a stream and in bounded memory.

The json module needs the whole text at once, and so would hold a file of any size before it could refuse it.
"""

import codecs
import json
import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import NoReturn

from freshstack_datasets.errors import RunFileError, shown
from freshstack_datasets.runs.source import ID_LIMIT, NUMBER, OTHER_FORMAT, Source, checked_id, not_utf8

_BATCH = 1 << 16
_BATCH_SIGNS = 1 << 22
_TOKEN_LIMIT = 12 * ID_LIMIT + 2
"""Characters of a string or a number; a character beyond the basic plane takes twelve when it is escaped."""

_OPEN_END = 2
"""Signs after a number that may still belong to it, such as ``e-``, when no more of it has been read."""

_STRING = r'"(?:[^"\\\x00-\x1f]++|\\.)*+"'
_SPACES = r"[ \t\r\n]*+"
_SPACE_TOKEN, _STRING_TOKEN, _NUMBER_TOKEN = re.compile(_SPACES), re.compile(_STRING), re.compile(NUMBER)
_ENTRY = re.compile(f"{_SPACES}({_STRING}){_SPACES}:{_SPACES}({NUMBER}){_SPACES}([,}}])")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


# Objects become lists of pairs, so that a key that comes twice shows, and every number becomes a double.
_DECODER = json.JSONDecoder(object_pairs_hook=list, parse_int=float, parse_constant=_no_constant)


class Scanner:
    """Goes through the text once, and says on which line something stands that does not belong there.

    Args:
        source: The bytes.
        path: Their file, for messages.
    """

    def __init__(self, source: Source, path: Path) -> None:
        self.path, self._source = path, source
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer, self._place = "", 0
        self._counted, self._lines = 0, 1  # line breaks before the place ``_counted`` of the buffer are in ``_lines``
        self._ended = False
        self._seen_queries: set[str] = set()
        self._seen_docs: set[str] = set()

    def forget(self) -> None:
        """Let go of the ids that came so far: one that comes again will not be noticed."""
        self._seen_queries.clear()
        self._seen_docs.clear()

    def queries(self) -> Iterator[str]:
        """Yield the keys of the outer object; the caller reads each value before it goes on to the next.

        Raises:
            RunFileError: The text has another shape, an id is not allowed or comes twice.
        """
        seen = self._seen_queries
        self._expect("{", "an object of query id to document id to score", OTHER_FORMAT)
        more = not self._skip("}")
        while more:
            self._next_sign()
            line = self._line
            key = self._key(self._token(_STRING_TOKEN, "a query id in quotes"), line, "query", seen)
            seen.add(key)
            self._expect(":", "a colon after the query id")
            yield key
            more = self._comma()
        if self._next_sign():
            raise self._unexpected("nothing after the end of the object")

    def documents(self) -> Iterator[tuple[list[str], list[float]]]:
        """Yield the keys and the numbers of an inner object, some thousands at a time.

        Raises:
            RunFileError: The text has another shape, an id is not allowed or comes twice, a score is not finite.
        """
        self._next_sign()
        if whole := self._whole_object():
            yield whole
            return
        seen = self._seen_docs
        seen.clear()
        doc_ids: list[str] = []
        scores: list[float] = []
        signs = 0
        self._expect("{", "an object of document id to score")
        more = not self._skip("}")
        while more:
            doc_id, score, more = self._entry(seen)
            seen.add(doc_id)
            doc_ids.append(doc_id)
            scores.append(score)
            signs += len(doc_id)
            if len(scores) == _BATCH or signs > _BATCH_SIGNS:
                yield doc_ids, scores
                doc_ids, scores, signs = [], [], 0
        yield doc_ids, scores

    def _whole_object(self) -> tuple[list[str], list[float]] | None:
        """Return an inner object that stands in the buffer as a whole and has no fault, else None.

        Nothing is said about a fault here: the object is then read entry by entry, and the fault found again.
        """
        if not self._buffer.startswith("{", self._place):  # a list of pairs would decode to the same
            return None
        try:
            pairs, end = _DECODER.raw_decode(self._buffer, self._place)
            doc_ids, scores = [key for key, _ in pairs], [value for _, value in pairs]
            joined = "\n".join(doc_ids)
            joined.encode()
        except (ValueError, TypeError, RecursionError):  # TypeError: some other JSON value
            return None
        good = (
            pairs
            and len(set(doc_ids)) == len(pairs)
            and "\t" not in joined
            and "\r" not in joined
            and joined.count("\n") == len(pairs) - 1
            and 0 < min(map(len, doc_ids)) <= max(map(len, doc_ids)) <= ID_LIMIT
            and all(type(score) is float and isfinite(score) for score in scores)
        )
        if not good:
            return None
        self._place = end
        return doc_ids, scores

    def _entry(self, seen: set[str]) -> tuple[str, float, bool]:
        """Return a document id, its score, and whether another follows."""
        line = 0
        if match := _ENTRY.match(self._buffer, self._place):
            literal, number, sign = match.groups()
            more, self._place = sign == ",", match.start(1)  # where an error would be
        else:  # the entry does not stand in the buffer as a whole, or something is wrong with it
            self._next_sign()
            line = self._line
            literal = self._token(_STRING_TOKEN, "a document id in quotes")
            self._expect(":", "a colon after the document id")
            number = self._token(_NUMBER_TOKEN, "a finite number")
            more = self._comma()
        doc_id, score = literal[1:-1], float(number)
        if not doc_id or doc_id in seen or "\\" in doc_id or len(doc_id) > ID_LIMIT:
            doc_id = self._key(literal, line or self._line, "document", seen)
        if not isfinite(score):
            raise self._fault(line or self._line, "score", "a finite number", shown(number), "not-finite")
        if match:
            self._place = match.end()
        return doc_id, score, more

    def _key(self, literal: str, line: int, kind: str, seen: set[str]) -> str:
        try:
            key = json.loads(literal)
        except ValueError as error:
            raise self._fault(line, f"{kind} id", "a JSON string", f"{shown(literal)} ({error})", "json") from None
        if key in seen:
            raise self._fault(line, f"{kind} {shown(key)}", "it once", "it twice", "duplicate")
        return checked_id(self.path, line, key, kind)

    def _token(self, pattern: re.Pattern[str], expected: str) -> str:
        """Return the next token, which may go beyond the end of the buffer."""
        self._next_sign()
        while True:
            match = pattern.match(self._buffer, self._place)
            if match and (match.end() + _OPEN_END < len(self._buffer) or self._ended):
                self._place = match.end()
                return match.group()
            too_long = len(self._buffer) - self._place > _TOKEN_LIMIT
            if too_long or not (self._fill() or match):
                raise self._unexpected(expected)

    def _comma(self) -> bool:
        """Read the sign after a value; return whether another value follows."""
        if self._skip(","):
            return True
        self._expect("}", "a comma or a closing brace")
        return False

    def _expect(self, sign: str, expected: str, hint: str = "") -> None:
        if not self._skip(sign):
            raise self._unexpected(expected, hint)

    def _skip(self, sign: str) -> bool:
        if self._next_sign() != sign:
            return False
        self._place += 1
        return True

    def _next_sign(self) -> str:
        """Go to the next sign that is no white space and return it, "" at the end."""
        while True:
            spaces = _SPACE_TOKEN.match(self._buffer, self._place)
            self._place = spaces.end() if spaces else self._place
            if self._place < len(self._buffer):
                return self._buffer[self._place]
            if not self._fill():
                return ""

    def _fill(self) -> bool:
        """Let go of what was read, and take in more; return whether there was more."""
        line = self._line
        self._buffer, self._place, self._counted = self._buffer[self._place :], 0, 0
        text = ""
        while not text and not self._ended:
            data = self._source.read(line)
            self._ended = not data
            try:
                text = self._decoder.decode(data, final=self._ended)
            except UnicodeDecodeError as error:
                line += self._buffer.count("\n") + error.object.count(b"\n", 0, error.start)
                raise not_utf8(self.path, line, error) from None
        self._buffer += text
        return bool(text)

    @property
    def _line(self) -> int:
        """The line of the place that was reached; only what is new is counted."""
        self._lines += self._buffer.count("\n", self._counted, self._place)
        self._counted = self._place
        return self._lines

    def _unexpected(self, expected: str, hint: str = "") -> RunFileError:
        got = shown(self._buffer[self._place : self._place + 100]) if self._next_sign() else "the end of the file"
        return RunFileError(self.path, self._line, "JSON", expected=expected, got=got, hint=hint, kind="json")

    def _fault(self, line: int, what: str, expected: str, got: str, kind: str) -> RunFileError:
        return RunFileError(self.path, line, what, expected=expected, got=got, kind=kind)
