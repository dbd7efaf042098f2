"""Finding some questions of a dump, and their answers: in a plain file by several processes, in an archive by one.

However it is done, the same rows are found. Nothing of an archive is written to disk; it is read again only when an
answer may stand before its question.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from builders.outputs import installed
from builders.stackexchange.archive import Unpacked
from builders.stackexchange.blocks import SIZE, Block, blocks
from builders.stackexchange.digesting import Digested, digesting
from builders.stackexchange.dump import Dump, name_of, opened
from builders.stackexchange.joining import Joined
from builders.stackexchange.selecting import (
    Completing,
    Finding,
    Place,
    Range,
    Wish,
    write_found,
    write_missing,
    write_with_care,
)
from builders.stages import Cluster, code, run
from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.progress import track

RANGE = 64 << 20
"""Bytes of a plain dump that are one piece of work; never by how many processes there are, so that parts stay good."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a dump.

    Args:
        name: What the dump is called.
        size: Its bytes when unpacked.
        sha256: The digest of these.
        rows: The rows that matter.
    """

    name: str
    size: int
    sha256: str
    rows: Joined


def find(
    path: Path,
    wish: Wish,
    work: Path,
    *,
    processes: int = 1,
    cluster: Cluster | None = None,
    size: int = RANGE,
) -> Found:
    """Find the questions of a dump that have a tag, and the answers that are wanted to those that pass.

    Args:
        path: The file ``Posts.xml``, or the .7z that holds it.
        wish: Which questions, and which answers.
        work: Where parts are kept; that of an earlier run on a plain file that was ended, to go on with it.
        processes: How many processes work on a plain file.
        cluster: Who works on a plain file instead.
        size: Bytes of a plain file that are one piece of work.

    Raises:
        InputError: It cannot be read, is no posts dump, or changed meanwhile.
        MissingExtraError: A package that is needed is not installed.
    """
    before = _stamp(path)
    with opened(path) as (file, _, _):
        is_packed = isinstance(file, Unpacked)
    by = partial(run, processes=processes, cluster=cluster)
    found = _in_archive(path, wish, work) if is_packed else _in_ranges(path, wish, work, before, by, size)
    if found.rows.unsure:
        found = _with_care(path, wish, work)
    if _stamp(path) != before:
        raise InputError(f"{shown_path(path)} changed while it was read", hint="run the same command again")
    return found


def _stamp(path: Path) -> str:
    """Return what tells a file from others and from itself at other times; a digest would take a reading of its own."""
    try:
        is_now = path.stat()
        return f"{path.name} {is_now.st_size} {is_now.st_mtime_ns}"
    except (OSError, ValueError):
        return ""  # opening it will tell what is wrong


def _in_ranges(path: Path, wish: Wish, work: Path, stamp: str, by: Callable[..., list[Path]], size: int) -> Found:
    """Look at ranges of a plain file, then at blocks that may hold answers to questions of other ranges."""
    joined, total = Joined(wish.best), path.stat().st_size
    stamp = f"{stamp} {code('builders.stackexchange', 'builders.html')} {installed('selectolax')}"
    ranges = [Range(at, min(at + size, total)) for at in range(0, total, size)]
    with digesting(path) as digest:
        path = path.absolute()  # whoever works may do so in another folder
        finding = Finding(path, stamp, wish)
        for part in by(finding, ranges, work, what="looking for questions"):
            joined.take(part)
        wanted = joined.wanted()
        lines, shards = _by_range(joined)
        stamp = f"{stamp} {hashlib.sha256(repr(wanted).encode()).hexdigest()}"
        completing = Completing(path, stamp, wish, wanted)
        parts = by(completing, shards, work, what="looking for answers")
        for part, line in zip(parts, lines, strict=True):
            joined.take(part, line)
        return Found(path.name, total, digest(), joined)


def _by_range(joined: Joined) -> tuple[list[int], list[tuple[Place, ...]]]:
    """Return the blocks to look at again, those of one range together, and the lines before each range."""
    lines, shards = [], []
    if not joined.unsure:
        for line, some in groupby(joined.unread(), key=lambda one: one[0]):
            lines.append(line)
            shards.append(tuple(place for _, place in some))
    return lines, shards


def _in_archive(path: Path, wish: Wish, work: Path) -> Found:
    """Look at an archive's blocks as they come, each for the answers to all questions so far."""
    joined, part = Joined(wish.best), work / "archive.part"
    with opened(path) as (file, size, head), atomic_file(part) as place:
        name, stream = name_of(path, file), Digested(file, head)
        write_found(_tracked(blocks(stream, head=head), size, "looking for questions"), wish, place)
    joined.take(part)
    missing = {} if joined.unsure else {place.at: place for _, place in joined.unread()}
    if missing:
        again = work / "archive-again.part"
        with opened(path) as (file, size, head), atomic_file(again) as place:
            found = _tracked(blocks(file, head=head), size, "looking for answers")
            write_missing(found, wish, joined.wanted(), missing, place)
        joined.take(again, 0)
    return Found(name, stream.size, stream.sha256, joined)


def _tracked(found: Iterator[Block], size: int, what: str) -> Iterator[Block]:
    yield from track(found, -(-size // SIZE), what)


def _with_care(path: Path, wish: Wish, work: Path) -> Found:
    """Look at a dump in which rows cannot be told by where one begins."""
    joined, dump, part = Joined(wish.best), Dump(path), work / "with-care.part"
    with atomic_file(part) as place:
        write_with_care(dump.rows(), wish, (), place)
    joined.take(part)
    if any(joined.unread()):
        again = work / "with-care-again.part"
        with atomic_file(again) as place:
            write_with_care(Dump(path).rows(), wish, joined.wanted(), place)
        joined.take(again, 0)
    return Found(dump.name, dump.size, dump.sha256, joined)
