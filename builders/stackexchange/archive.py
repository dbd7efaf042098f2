"""The ``Posts.xml`` inside the .7z that a dump comes in, read front to back: nothing is unpacked to disk.

A program does the unpacking where one is installed, since it is several times as fast as py7zr, which does it otherwise.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from builders.stackexchange.unpacking import Entry, Unpacker, refusal
from freshstack_datasets.errors import InputError, shown, shown_path

MAGIC = b"7z\xbc\xaf\x27\x1c"
"""How a 7z archive begins."""

MOST_ENTRIES = 10_000
"""Files that an archive may hold; a dump has eight."""

MOST_UNPACKED = 2000
"""How many times its own size an archive may unpack to; a dump has 4 to 8 times."""

_ALWAYS_ALLOWED = 1 << 30
"""Bytes that any archive may unpack to."""

_PROGRAMS = ("7zz", "7z", "7za")
_NAMED = 5


class Readable(Protocol):
    """What gives bytes."""

    def read(self, size: int, /) -> bytes:
        """Return as many bytes as asked for, fewer at the end only."""


@dataclass
class Unpacked:
    """A file of an archive, while it is unpacked.

    Args:
        path: The archive.
        entry: The file in it.
        blocks: Its bytes.
    """

    path: Path
    entry: Entry
    blocks: Iterator[bytes]

    def __post_init__(self) -> None:
        self._kept, self._count = bytearray(), 0

    def read(self, size: int, /) -> bytes:
        """Return as many bytes as asked for, fewer at the end only.

        Raises:
            InputError: The archive cannot be unpacked, or not to the size that it says.
        """
        while len(self._kept) < size and (block := next(self.blocks, None)) is not None:
            self._kept += block
            self._count += len(block)
            if self._count > self.entry.size:
                raise self._of_another_size("more")
        if len(self._kept) < size and self._count < self.entry.size:
            raise self._of_another_size(f"{self._count:,}")
        data = bytes(self._kept[:size])
        del self._kept[:size]
        return data

    def _of_another_size(self, got: str) -> InputError:
        return refusal(self.path, f"{self.entry.size:,} bytes of {shown(self.entry.name)}", got, "download it again")


@contextmanager
def unpacked(path: Path) -> Iterator[Unpacked]:
    """Give the ``Posts.xml`` of an archive; whoever stops reading early ends the unpacking.

    Args:
        path: The archive.

    Raises:
        InputError: It is damaged, has a password, or holds no or several files of that name.
        MissingExtraError: Neither a program that unpacks it nor py7zr is installed.
        OSError: It cannot be read.
    """
    unpacker = _unpacker(path)
    entry = _chosen(path, unpacker.entries())
    with closing(unpacker.blocks(entry)) as blocks:
        yield Unpacked(path, entry, blocks)


def _unpacker(path: Path) -> Unpacker:
    program = next((found for name in _PROGRAMS if (found := shutil.which(name))), None)
    if program:
        from builders.stackexchange.unpacking_by_program import ByProgram

        return ByProgram(path, program)
    from builders.stackexchange.unpacking_by_library import ByLibrary

    return ByLibrary(path)


def _chosen(path: Path, entries: Iterable[Entry]) -> Entry:
    """Return the file to read, after a look at all: those in front of it may have to be unpacked too."""
    found: list[Entry] = []
    others: list[str] = []
    total = 0
    for number, entry in enumerate(entries, 1):
        if number > MOST_ENTRIES:
            raise refusal(path, f"a dump, of at most {MOST_ENTRIES:,} files", "more")
        total += entry.size
        if re.split(r"[\\/]", entry.name)[-1].casefold() == "posts.xml":
            found.append(entry)
        elif len(others) < _NAMED:
            others.append(entry.name)
    if not found:
        raise _none(path, others)
    if len(found) > 1:
        got = ", ".join(shown(entry.name) for entry in found[:_NAMED]) + (" and more" if len(found) > _NAMED else "")
        raise refusal(path, "one Posts.xml", got, "unpack the one that is meant, and give that")
    if found[0].encrypted:
        raise refusal(path, "an archive without a password", "one with a password", "unpack it first")
    size = path.stat().st_size
    if total > max(_ALWAYS_ALLOWED, MOST_UNPACKED * size):
        raise refusal(path, f"at most {MOST_UNPACKED:,} times its {size:,} bytes", f"{total:,} when unpacked")
    return found[0]


def _none(path: Path, others: list[str]) -> InputError:
    inner = [name for name in others if name.casefold().endswith("posts.7z")]
    return InputError(
        f"{shown_path(path)} holds no Posts.xml",
        expected="the .7z of one site's dump",
        got=", ".join(map(shown, others)) or "an empty archive",
        hint=f"unpack {shown(inner[0])}, and give that" if inner else "give the archive that holds the posts",
    )
