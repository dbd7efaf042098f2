"""The bytes of a Stack Exchange posts dump, packed or not: is it one, and where in it are its rows.

A dump is one XML file of up to a hundred gigabytes. It is cut into rows without parsing it as a whole, because one
malformed row must not cost the rest. In well-formed XML no attribute holds a bare ``<``: so a row ends at the next
``<`` at the latest, and reading finds its way again after any damage.
"""

import errno
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from builders.stackexchange.archive import MAGIC, Readable, Unpacked, unpacked
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.progress import track

BLOCK = 1 << 20
"""Bytes read at once."""

LIMIT = 16 << 20
"""Bytes a row may have; the longest posts of the public dumps have some hundred thousand."""

CUT_OFF = "the file is cut off: it ends without </posts>"
"""What is wrong with a file that ends so."""

_HEAD = 1 << 16
_SEEN_OF_WRONG = 1000
_START = re.compile(rb"<(?:row[\s/>]|!--|!\[CDATA\[|/posts[\s>])")
_LONGEST_START = len(b"<![CDATA[")
_CLOSINGS = {b"<!--": b"-->", b"<![CDATA[": b"]]>"}
"""What ends a stretch in which a row is none."""
_END_TAG = b"</row>"
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)  # to the end: else each of many open ones is looked for there
_ROOT = re.compile(rb"<([A-Za-z_][^\s/>]{0,60})")
_ENCODING = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([^\"']{0,40})")
_EXPECTED = "the Posts.xml of a Stack Exchange dump, in UTF-8, or the .7z it comes in"
_WHERE = "give the file Posts.xml of one site's dump, or its .7z"
_PACKED = {
    b"PK\x03\x04": ("a ZIP archive", "unpack it first"),
    b"\x1f\x8b": ("a gzip file", "unpack it first: gunzip FILE"),
    b"BZh": ("a bzip2 file", "unpack it first: bunzip2 FILE"),
    b"\xfd7zXZ\x00": ("an xz file", "unpack it first: unxz FILE"),
    b"\x28\xb5\x2f\xfd": ("a zstd file", "unpack it first: unzstd FILE"),
}
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<", b"\x00\x00\xfe\xff")


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row's bytes.

    Args:
        line: The line it begins on, from 1.
        data: The bytes from ``<row`` to ``/>``; the first of them when the row is wrong.
        wrong: Why it is no row, "" when it may be one.
    """

    line: int
    data: bytes
    wrong: str = ""


class Dump:
    """A posts dump that is read once, front to back, in constant memory.

    Args:
        path: The file ``Posts.xml``, or the .7z that holds it: sizes and digests are those of ``Posts.xml`` all the same.
        block: Bytes read at once.
        limit: Bytes a row may have.
    """

    def __init__(self, path: Path, *, block: int = BLOCK, limit: int = LIMIT) -> None:
        self.path = path
        self.name = path.name
        self.size = 0
        self._block, self._limit = block, limit
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Return the digest of the bytes read so far: after the last row, of the whole file."""
        return self._digest.hexdigest()

    def rows(self) -> Iterator[RawRow]:
        """Yield every row in the order of the file, also those that can be seen to be broken.

        Raises:
            InputError: The file cannot be read, or is no posts dump.
        """
        scanner = Scanner(self._limit)
        with opened(self.path) as (file, size, head):
            self.name = name_of(self.path, file)
            blocks = -(-size // self._block)
            for block in track(self._blocks(head, file), blocks or None, "reading the dump"):
                self.size += len(block)
                self._digest.update(block)
                yield from scanner.feed(block)
        yield from scanner.finish()

    def _blocks(self, head: bytes, file: Readable) -> Iterator[bytes]:
        for at in range(0, len(head), self._block):
            yield head[at : at + self._block]
        while block := file.read(self._block):
            yield block


class Scanner:
    """Finds rows in bytes that arrive in blocks; keeps no more than one row and one block.

    Args:
        limit: Bytes a row may have.
    """

    def __init__(self, limit: int) -> None:
        self.closed = False
        """Whether ``</posts>`` was there."""
        self._limit = limit
        self._buffer, self._at, self._line = b"", 0, 1
        self._closing, self._opened = b"", 0  # what ends the comment that is open, and the line it began on
        self._damaged = False  # since the last row: what looks like a comment may be a piece of that row

    def feed(self, block: bytes, *, last: bool = False) -> Iterator[RawRow]:
        """Yield the rows that are whole with this block."""
        self._buffer, self._at = self._buffer[self._at :] + block, 0
        while not self._closing or self._leave_comment():
            found = _START.search(self._buffer, self._at)
            if found is None:
                self._skip_to(max(self._at, len(self._buffer) - _LONGEST_START + 1))
                return
            self._skip_to(found.start())
            if found.group() in _CLOSINGS:
                self._at = found.end()
                if not self._damaged:
                    self._closing, self._opened = _CLOSINGS[found.group()], self._line
            elif found.group().startswith(b"</"):
                self.closed = True
                self._at += 2
            elif (row := self._row(last)) is not None:
                self._damaged = bool(row.wrong)
                yield row
            else:
                return

    def finish(self) -> Iterator[RawRow]:
        """Yield what is left at the end of the file, and whether the file ends as it should."""
        yield from self.feed(b"", last=True)
        if self._closing:
            yield RawRow(self._opened, b"", "a comment is not closed, what follows it is not read")
        elif not self.closed:
            line = self._line + self._buffer.count(b"\n", self._at)
            yield RawRow(line, b"", CUT_OFF)

    def _row(self, last: bool) -> RawRow | None:
        """Return the row that begins here and step behind it; None when more bytes are needed to see its end."""
        start, line = self._at, self._line
        end = self._buffer.find(b"<", start + 1)
        if end < 0:
            if not last and len(self._buffer) - start <= self._limit:
                return None
            end = len(self._buffer)
        stop = self._buffer.rfind(b"/>", start, min(end, start + self._limit))
        if stop >= 0:
            self._skip_to(stop + 2)
            return RawRow(line, self._buffer[start : stop + 2])
        after = self._buffer[end : end + len(_END_TAG)]
        if not last and len(after) < len(_END_TAG) and end - start <= self._limit:
            return None
        opened = self._buffer[start:end].rstrip() if after == _END_TAG and end - start <= self._limit else b""
        if opened.endswith(b">"):  # <row ...></row> is the same element in other words
            self._skip_to(end)
            return RawRow(line, opened[:-1] + b"/>")
        seen = self._buffer[start : min(end, start + _SEEN_OF_WRONG)]
        too_long = end - start > self._limit
        self._skip_to(end)
        return RawRow(
            line, seen, f"a row longer than {self._limit} bytes" if too_long else "a row without /> before the next <"
        )

    def _leave_comment(self) -> bool:
        end = self._buffer.find(self._closing, self._at)
        self._skip_to(end if end >= 0 else max(self._at, len(self._buffer) - 2))
        if end >= 0:
            self._closing = b""
        return end >= 0

    def _skip_to(self, position: int) -> None:
        self._line += self._buffer.count(b"\n", self._at, position)
        self._at = position


@contextmanager
def opened(path: Path) -> Iterator[tuple[Readable, int, bytes]]:
    """Give the rest of the bytes of a dump, how many there are in all, and the first of them, read and looked at.

    Raises:
        InputError: It cannot be read, or is no posts dump.
    """
    try:
        if "\0" in str(path):
            raise OSError(errno.EINVAL, "a path with a NUL")
        with path.open("rb") as file:
            if file.peek(len(MAGIC)).startswith(MAGIC):
                with unpacked(path) as inner:
                    yield inner, inner.entry.size, _head(path, inner)
            else:
                yield file, os.fstat(file.fileno()).st_size, _head(path, file)
    except OSError as error:
        got = error.strerror or "an unreadable file"
        raise InputError(
            f"cannot read {shown_path(path)}", expected=_EXPECTED, got=got[:1].lower() + got[1:], hint=_WHERE
        ) from error


def name_of(path: Path, file: Readable) -> str:
    """Return what a dump is called, with its place in the archive when it is in one."""
    return f"{path.name}/{file.entry.name}" if isinstance(file, Unpacked) else path.name


def _head(path: Path, file: Readable) -> bytes:
    """Return the first bytes, and refuse what is no posts dump by them."""
    head = file.read(_HEAD)

    def refuse(got: str, hint: str = _WHERE) -> InputError:
        return InputError(f"{shown_path(path)} is no posts dump", expected=_EXPECTED, got=got, hint=hint)

    if not head:
        raise refuse("an empty file")
    for magic, (name, hint) in _PACKED.items():
        if head.startswith(magic):
            raise refuse(name, hint)
    if head.startswith(_WIDE):
        raise refuse("UTF-16 or UTF-32", "convert it first: iconv -f UTF-16 -t UTF-8 FILE")
    encoding = _ENCODING.match(head.removeprefix(b"\xef\xbb\xbf").lstrip())
    if encoding and encoding[1].lower() not in (b"utf-8", b"utf8", b"us-ascii", b"ascii"):
        raise refuse(
            f"XML in the encoding {shown(encoding[1].decode('ascii', 'replace'))}", "convert it to UTF-8 first"
        )
    root = _ROOT.search(_COMMENT.sub(b"", head))
    if root is None:
        raise refuse(f"no XML, a file that begins with {shown(head[:30])}")
    if root[1] != b"posts":
        raise refuse(f"a file with the root element <{root[1].decode('utf-8', 'replace')}>")
    return head
