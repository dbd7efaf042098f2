"""Dumps of any size: the posts of a real one again and again, each time under other ids."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TAG = "benchmarked"
"""The tag of the questions that are looked for."""

TAGGED = 112
"""How many questions have it, in a dump of any size. At a whole hundred freshstack writes a line to its log for each
row that follows, which would be counted as slowness."""

_HEAD = b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>\n<posts>\n'
_FOOT = b"</posts>\n"
_ROW = re.compile(rb"[ \t]*<row [^<]*/>")
_ID = re.compile(rb' (?:Id|ParentId|AcceptedAnswerId)="([0-9]+)"')
_TAGS = re.compile(rb' Tags="([^"]*)"')
_OLD = re.compile(rb"&lt;(.*?)&gt;")
_DICTIONARY = 1 << 18
"""What LZMA looks back on: less than one turn of the posts, which would otherwise be packed to nothing."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A post: its bytes between the ids, the ids, and for a question its tags."""

    pieces: tuple[bytes, ...]
    ids: tuple[int, ...]
    tags: tuple[bytes, ...] | None

    def written(self, shift: int, tagged: bool, old: bool) -> bytes:
        """Return the post with its ids shifted and its tags in one of the two spellings."""
        row = self.pieces[0] + b"".join(
            b"%d%b" % (number + shift, piece) for number, piece in zip(self.ids, self.pieces[1:], strict=True)
        )
        if self.tags is None:
            return row
        tags = (*self.tags, TAG.encode()) if tagged else self.tags
        spelled = b"".join(b"&lt;%b&gt;" % tag for tag in tags) if old else b"|%b|" % b"|".join(tags)
        return _TAGS.sub(lambda _: b' Tags="%b"' % spelled, row)


def _rows(dump: Path) -> Iterator[_Row]:
    for found in _ROW.finditer(dump.read_bytes()):
        row = found.group()
        places = [match.span(1) for match in _ID.finditer(row)]
        ends = [0, *(end for _, end in places)]
        starts = [*(start for start, _ in places), len(row)]
        tags = _TAGS.search(row)
        yield _Row(
            tuple(row[end:start] for end, start in zip(ends, starts, strict=True)),
            tuple(int(row[start:end]) for start, end in places),
            tuple(_OLD.findall(tags[1]) or tags[1].strip(b"|").split(b"|")) if tags else None,
        )


def inflate(dump: Path, out: Path, megabytes: float) -> int:
    """Write a dump of a size and return how many posts it has.

    Each turn of the posts has ids of its own, and so answers to questions of its own; turns take the two spellings of
    tags in turn. Questions with ``TAG`` are strewn over the whole file.

    Args:
        dump: The ``Posts.xml`` of a site.
        out: The file to write.
        megabytes: The least size.
    """
    rows = list(_rows(dump))
    questions = sum(row.tags is not None for row in rows)
    if not questions:
        raise SystemExit(f"{dump} has no questions with tags")
    turns = -(-int(megabytes * 1e6) // (dump.stat().st_size - 100))
    step = max(1, turns * questions // TAGGED)
    span = max(max(row.ids) for row in rows) + 1
    seen = 0
    with out.open("wb") as file:
        file.write(_HEAD)
        for turn in range(turns):
            for row in rows:
                seen += row.tags is not None
                tagged = row.tags is not None and seen % step == 0 and seen <= step * TAGGED
                file.write(row.written(turn * span, tagged, old=turn % 2 == 0) + b"\n")
        file.write(_FOOT)
    return turns * len(rows)


def pack(dump: Path, archive: Path, method: str) -> None:
    """Put a dump into a 7z archive.

    Args:
        dump: The file.
        archive: The archive to write.
        method: ``LZMA2`` or ``BZip2``.
    """
    import py7zr

    lzma = {"id": py7zr.FILTER_LZMA2, "dict_size": _DICTIONARY, "preset": 1}
    filters = [lzma if method == "LZMA2" else {"id": py7zr.FILTER_BZIP2}]
    with py7zr.SevenZipFile(archive, "w", filters=filters) as packed:
        packed.write(dump, "Posts.xml")
