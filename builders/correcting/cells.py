"""A file of comma-separated values as cells, with the line of each row, whatever somebody made of it.

The format is that of RFC 4180 in UTF-8, as spreadsheets and Python's ``csv`` write it: cells with commas, quotes or line
breaks stand in quotes, and a quote in them is doubled. The standard library reads the same, but can say neither in which
column a quote was left open nor where a cell is too long.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from freshstack_datasets.errors import InputError, shown_path

_MOST_BYTES = 256_000_000
"""Bytes of a file: 100,000 rows of two kilobytes each, and room."""

_PIECE = 1_000_000

_QUOTED = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"')
_PLAIN = {separator: re.compile(rf"[^{separator}\r\n]*+") for separator in ",;\t"}
_BREAK = re.compile(r"\r\n|\r|\n")

# The longest first: that of UTF-32 begins as one of UTF-16 does.
_OTHER_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass(frozen=True, slots=True)
class Cells:
    """One row.

    Args:
        line: The line of the file on which it begins, from 1.
        values: What its cells hold; a byte that is no UTF-8 is half a surrogate pair.
        broken: Why the row ends in its last cell and the file with it, "" where it does not.
    """

    line: int
    values: tuple[str, ...]
    broken: str = ""


def read_text(path: Path) -> str:
    """Return the text of a file; a byte that is no UTF-8 becomes half a surrogate pair.

    Raises:
        InputError: It cannot be read, is too large, or is in an encoding that says so itself.
    """
    content = bytearray()
    try:
        with path.open("rb") as stream:
            while len(content) <= _MOST_BYTES and (piece := stream.read(_PIECE)):
                content += piece
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        got = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot read {shown_path(path)}", got=got, hint="check the path") from None
    if len(content) > _MOST_BYTES:
        raise InputError(shown_path(path), expected=f"at most {_MOST_BYTES:,} bytes", got="more", hint="cut it in two")
    for mark, encoding in _OTHER_MARKS.items():
        if content.startswith(mark):
            raise InputError(shown_path(path), expected="UTF-8", got=encoding, hint="save it as CSV in UTF-8")
    return content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def rows(text: str, separator: str = ",") -> Iterator[Cells]:
    """Yield the rows of a text; where one cannot be told from the next, that one is the last.

    Args:
        text: The text of the file.
        separator: What stands between two cells: a comma, or as some spreadsheets write it a semicolon or a tab.
    """
    plain = _PLAIN[separator]
    at, line = 0, 1
    while at < len(text):
        first = line
        values: list[str] = []
        while True:
            quoted = text.startswith('"', at)
            found = (_QUOTED if quoted else plain).match(text, at)
            if found is None:
                yield Cells(first, (*values, ""), "a quote that is never closed")
                return
            values.append(found[1].replace('""', '"') if quoted else found[0])
            line += len(_BREAK.findall(found[0])) if quoted else 0
            at = found.end()
            if not text.startswith(separator, at):
                break
            at += 1
        end = _BREAK.match(text, at)
        if end is None and at < len(text):
            yield Cells(first, tuple(values), "more after the closing quote")
            return
        at, line = (len(text), line) if end is None else (end.end(), line + 1)
        yield Cells(first, tuple(values))
