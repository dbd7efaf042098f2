"""TREC run files: a line an entry, ``query-id Q0 doc-id rank score tag``.

Written with tabs. A line with five tabs is split on tabs exactly. Any other line is split by white space, which is
space and tab and no other sign: the first two and the last three fields are taken, and the document id is all that
stands between, inner spaces included.
"""

import re
from math import isfinite
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from freshstack_datasets.errors import RunError, RunFileError, shown
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs.entries import Taker, clean_name
from freshstack_datasets.runs.notes import Notes, whole
from freshstack_datasets.runs.source import ID_LIMIT, OTHER_FORMAT, blocks, checked_id, raw_lines, text_of

FIELDS = "six fields: query-id Q0 doc-id rank score tag"

_SCORE_SIGNS = b"0123456789+-.eE"
_TAB, _NEWLINE, _SPACE = b"\t\n "
_GAP = re.compile(r"[ \t]+")
_RANK = re.compile(r"[+-]?[0-9]+")


def scan(path: Path, entries: Taker) -> str:
    """Read a TREC run file into entries, and return the tag of its first line.

    The ranks must be whole numbers, which shows that the fields were cut where they should be; beyond that ranks and
    the second field do not count.

    Raises:
        RunFileError: The file does not hold a run.
    """
    tag = ""
    for first, block in blocks(path, entries.refuse, entries.most_bytes):
        if not entries.notes:
            tag = tag or _first_tag(path, first, block)
        entries.add(*(_columns(first, block, entries.notes) or _columns_by_line(path, first, block, entries)))
    return tag


def write(run: Run, stream: BinaryIO) -> None:
    """Write a run, separated by tabs, with ranks from 1 and scores that read back to the same double.

    The run's name is the tag; white space and control signs in it become ``_``, as other readers would split there.

    Raises:
        RunError: A query id holds a space or begins with a byte-order mark, or an id holds NUL: the file would not
            read back.
    """
    tag = re.sub(r"\s", "_", clean_name(run.name)) or "run"
    for query_id in run.query_ids:
        if " " in query_id or "\0" in query_id or query_id.startswith("\ufeff"):
            raise RunError(
                f"query id {shown(query_id)} in a TREC file",
                expected="no space, no NUL and no byte-order mark",
                got="one",
                hint="write JSON, JSON lines or Parquet instead",
            )
        ranking = run[query_id]
        for doc_id in ranking:
            if "\0" in doc_id:
                raise RunError(f"document id {shown(doc_id)} in a TREC file", expected="no NUL", got="one")
        lines = [
            f"{query_id}\tQ0\t{doc_id}\t{rank}\t{score!r}\t{tag}\n"
            for rank, (doc_id, score) in enumerate(ranking.items(), 1)
        ]
        stream.write("".join(lines).encode())


def _columns(first: int, block: bytes, notes: Notes | None) -> tuple[pa.Array, pa.Array, NDArray[np.float64]] | None:
    """Return the query ids, document ids and scores of a block of plain lines, None when a line needs a closer look.

    Plain is a block whose lines all have exactly five tabs, or no tab anywhere and exactly five single spaces.
    """
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    cuts = None if b"\r" in block or b"\0" in block else _plain_cuts(block)
    if cuts is None:
        return None
    fields = _fields_of(block, cuts)
    query_ids, doc_ids, ranks, scores = (_column(fields, place) for place in (0, 2, 3, 4))
    if _holds_other(ranks, b"0123456789") or _holds_other(scores, _SCORE_SIGNS):
        return None
    try:
        block.decode()
        values = scores.cast(pa.float64()).to_numpy()
    except ValueError:  # UnicodeDecodeError and ArrowInvalid are such
        return None
    if not np.isfinite(values).all():
        return None
    if notes:
        lines = np.arange(first, first + len(values))
        notes.entries(lines, whole(ranks))
        notes.tagged(_column(fields, 5), lines)
    return query_ids, doc_ids, values


def _plain_cuts(block: bytes) -> NDArray[np.int64] | None:
    """Return where the fields of plain lines end, six a line."""
    separator = _TAB if b"\t" in block else _SPACE
    signs = np.frombuffer(block, np.uint8)
    cuts = np.flatnonzero((signs == separator) | (signs == _NEWLINE))
    if len(cuts) % 6:
        return None
    line_ends = (signs[cuts] == _NEWLINE).reshape(-1, 6)
    lengths = np.diff(cuts, prepend=-1) - 1
    plain = line_ends[:, 5].all() and not line_ends[:, :5].any() and lengths.min() > 0 and lengths.max() <= ID_LIMIT
    return cuts if plain else None


def _fields_of(block: bytes, cuts: NDArray[np.int64]) -> pa.Array:
    """Return fields and separators in turn, which is what the block is to Arrow without a copy."""
    offsets = np.zeros(2 * len(cuts) + 1, np.int32)
    offsets[1::2], offsets[2::2] = cuts, cuts + 1
    return pa.StringArray.from_buffers(2 * len(cuts), pa.py_buffer(offsets), pa.py_buffer(block))


def _column(fields: pa.Array, place: int) -> pa.Array:
    """Return the fields at one place of every line."""
    return fields.take(pa.array(np.arange(2 * place, len(fields), 12)))


def _holds_other(texts: pa.Array, signs: bytes) -> bool:
    """Say whether texts that were taken out hold another sign than those given."""
    return bool(texts.buffers()[2].to_pybytes().translate(None, signs))


def _columns_by_line(path: Path, first: int, block: bytes, entries: Taker) -> tuple[list[str], list[str], list[float]]:
    query_ids, doc_ids, scores, ranks, tags, lines = [], [], [], [], [], []
    for number, raw in raw_lines(first, block):
        try:
            query_id, doc_id, rank, score, tag = _checked(path, number, text_of(path, number, raw))
        except RunFileError as error:
            entries.refuse(error)
            continue
        query_ids.append(query_id)
        doc_ids.append(doc_id)
        scores.append(score)
        if entries.notes:
            ranks.append(rank)
            tags.append(tag)
            lines.append(number)
    if entries.notes:
        entries.notes.entries(lines, whole(ranks))
        entries.notes.tagged(tags, lines)
    return query_ids, doc_ids, scores


def _checked(path: Path, number: int, line: str) -> tuple[str, str, str, float, str]:
    """Return query id, document id, rank, score and tag of a line."""
    query_id, doc_id, rank, score, tag = _fields(path, number, line)
    checked_id(path, number, query_id, "query")
    checked_id(path, number, doc_id, "document")
    if not _RANK.fullmatch(rank):
        expected = "a whole number"
        raise RunFileError(path, number, "rank", expected=expected, got=shown(rank), hint=OTHER_FORMAT, kind="rank")
    return query_id, doc_id, rank, _score(path, number, score), tag


def _fields(path: Path, number: int, line: str) -> tuple[str, str, str, str, str]:
    """Return query id, document id, rank, score and tag of a line."""
    if line.count("\t") == 5:
        query_id, _, doc_id, rank, score, tag = line.split("\t")
        return query_id, doc_id, rank, score, tag
    head = _GAP.split(line.strip(" \t"), maxsplit=2)
    rest, tail = head[-1], []
    for _ in range(3):
        cut = max(rest.rfind(" "), rest.rfind("\t"))
        tail.append(rest[cut + 1 :])
        rest = rest[: max(cut, 0)].rstrip(" \t")
    if len(head) < 3 or not rest or "\t" in rest:
        got = f"{len(_GAP.findall(line)) + 1}: {shown(line)}"
        raise RunFileError(path, number, "a line", expected=FIELDS, got=got, hint=OTHER_FORMAT, kind="fields")
    return head[0], rest, tail[2], tail[1], tail[0]


def _score(path: Path, number: int, text: str) -> float:
    kind = "score"
    try:
        if text.isascii() and not text.encode().translate(None, _SCORE_SIGNS) and isfinite(float(text)):
            return float(text)
        kind = "score" if isfinite(float(text)) else "not-finite"
    except ValueError:
        pass
    expected = "a finite number such as 12.5 or 1e-3"
    raise RunFileError(path, number, "score", expected=expected, got=shown(text), kind=kind)


def _first_tag(path: Path, first: int, block: bytes) -> str:
    return _fields(path, first, text_of(path, first, block[: block.find(b"\n")]))[4]
