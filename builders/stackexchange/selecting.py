"""The two stages of reading a dump for some of its questions: the questions, then the answers that are still missing.

The first looks at ranges of the dump apart from each other. It finds the questions that have the tags, and those of
their answers that stand in the same range, and keeps for each block of the range the least and the greatest number that
an answer may be looked for by. With these, the second looks only at blocks that may hold an answer to a question of
another range, or one that stands before its question.

A part is JSON lines, one a row that matters, and at last a summary.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import IO, Any

from builders.html.text import html_to_text
from builders.stackexchange.blocks import Block, UnsureError, blocks
from builders.stackexchange.dump import RawRow
from builders.stackexchange.filters import Filters
from builders.stackexchange.look import Look, Seen
from builders.stackexchange.posts import QUESTION, BadRow, Post

_ROWS = 500
"""Rows that are looked at together, where they were told from each other with care."""

_FIELDS = tuple(member.name for member in fields(Post))


@dataclass(frozen=True, slots=True)
class Range:
    """A shard of the first stage: the rows that begin in a range of a dump.

    Args:
        start: The place of its first byte.
        end: The place behind its last byte.
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """A block that was seen.

    Args:
        at: The place of its first byte.
        size: Its bytes.
        line: The lines before it in its range.
    """

    at: int
    size: int
    line: int


@dataclass(frozen=True, slots=True)
class Wish:
    """What is looked for in a dump.

    Args:
        filters: Which questions to take.
        best: Whether all answers to them are wanted, or only the accepted one.
    """

    filters: Filters
    best: bool

    @property
    def key(self) -> str:
        """All of it, as a text."""
        filters = self.filters
        return repr((sorted(filters.tags), filters.first, filters.last, filters.min_score, self.best))


@dataclass(frozen=True, slots=True)
class Finding:
    """The first stage.

    Args:
        path: The dump, a plain file.
        stamp: What tells it from others, as a text.
        wish: What is looked for.
    """

    path: Path
    stamp: str
    wish: Wish
    name: str = "questions"

    def key(self, shard: Range) -> str:
        """Return all that the rows found depend on."""
        return f"{self.stamp} {shard.start} {shard.end} {self.wish.key}"

    def make(self, shard: Range, part: Path) -> None:
        """Write what was found in a range."""
        with self.path.open("rb") as file:
            file.seek(shard.start)
            write_found(blocks(file, shard.start, shard.end), self.wish, part)

    def close(self) -> None:
        """Do nothing: nothing is open."""


@dataclass(frozen=True, slots=True)
class Completing:
    """The second stage: the rows of some blocks.

    Args:
        path: The dump, a plain file.
        stamp: What tells it, and what is wanted of it, from others, as a text.
        wish: What is looked for.
        wanted: What answers are looked for by, ascending.
    """

    path: Path
    stamp: str
    wish: Wish
    wanted: tuple[int, ...]
    name: str = "answers"

    def key(self, shard: tuple[Place, ...]) -> str:
        """Return all that the rows found depend on."""
        return f"{self.stamp} {shard} {self.wish.key}"

    def make(self, shard: tuple[Place, ...], part: Path) -> None:
        """Write what was found in some blocks of one range."""
        with self.path.open("rb") as file, part.open("w", encoding="utf-8", newline="\n") as stream:
            look = Look(self.wish.filters, self.wish.best, self.wanted)
            for place in shard:
                file.seek(place.at)
                _write(look.at(Block(place.at, file.read(place.size))), place.at, place.line, look, stream)

    def close(self) -> None:
        """Do nothing: nothing is open."""


def write_found(found: Iterable[Block], wish: Wish, part: Path) -> None:
    """Write what was found in blocks that follow each other, and what was seen of these."""
    look, total, line = Look(wish.filters, wish.best), _Summary(), 0
    with part.open("w", encoding="utf-8", newline="\n") as stream:
        try:
            for block in found:
                seen = look.at(block)
                _write(seen, block.at, line, look, stream)
                total.add(seen, block.at, len(block.data), line)
                line += block.count(b"\n")
        except UnsureError:
            total.unsure = True
        total.lines = line
        stream.write(json.dumps({"summary": asdict(total)}) + "\n")


def write_missing(
    found: Iterable[Block], wish: Wish, wanted: Iterable[int], chosen: dict[int, Place], part: Path
) -> None:
    """Write what was found in chosen blocks of those that follow each other, read a second time.

    Args:
        found: All blocks.
        wish: What is looked for.
        wanted: What answers are looked for by.
        chosen: From the place of its first byte to a block.
        part: Where it goes.
    """
    look = Look(wish.filters, wish.best, tuple(wanted))
    with part.open("w", encoding="utf-8", newline="\n") as stream:
        for block in found:
            if block.at in chosen:
                _write(look.at(block), block.at, chosen[block.at].line, look, stream)


def write_with_care(rows: Iterator[RawRow], wish: Wish, wanted: Iterable[int], part: Path) -> None:
    """Write what was found in rows that were told from each other with care.

    Args:
        rows: All rows of the dump; their lines are those in it.
        wish: What is looked for.
        wanted: What answers are looked for by from the start.
        part: Where it goes.
    """
    look, total, number = Look(wish.filters, wish.best, tuple(wanted)), _Summary(closed=True), 0
    with part.open("w", encoding="utf-8", newline="\n") as stream:
        while some := list(islice(rows, _ROWS)):
            seen = look.at_rows(some)
            _write(seen, number, 0, look, stream)
            total.add(seen, number, len(some), 0)
            number += len(some)
        stream.write(json.dumps({"summary": asdict(total)}) + "\n")


@dataclass(slots=True)
class _Summary:
    """What was seen of a range.

    Args:
        counts: How many rows of each kind.
        blocks: Of each block its place, size, lines before it, and the range of what answers are looked for by.
        lines: The line breaks in it.
        closed: Whether the dump's end tag is in it.
        unsure: Whether rows could not be told from each other; then nothing else counts.
    """

    counts: dict[str, int] = field(default_factory=dict)
    blocks: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    lines: int = 0
    closed: bool = False
    unsure: bool = False

    def add(self, seen: Seen, at: int, size: int, line: int) -> None:
        """Take what was seen of a block."""
        for kind, count in seen.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + count
        self.blocks.append((at, size, line, seen.low, seen.high))
        self.closed |= seen.closed


def _write(seen: Seen, at: int, line: int, look: Look, stream: IO[str]) -> None:
    """Write the rows that matter: where they are, as a number that grows, the line in the range, and what they say."""
    for row in seen.rows:
        told: dict[str, Any] = {"at": at + row.at, "line": line + row.post.line, "kind": row.kind}
        if isinstance(row.post, BadRow):
            told["bad"] = [row.post.post_id, row.post.reason, row.post.detail]
        else:
            told["wants"] = look.wants(row.post)
            told["post"] = _told(row.post, told["wants"])
        stream.write(json.dumps(told, ensure_ascii=False) + "\n")


def _told(post: Post, wants: int) -> dict[str, Any]:
    """Return a post with its body as text, where that is needed."""
    is_needed = wants or post.kind != QUESTION
    body = html_to_text(post.body) if is_needed else ""
    return {**{name: getattr(post, name) for name in _FIELDS}, "body": body}
