"""Runs as JSON lines: ``{"query_id": …, "doc_id": …, "score": …}``, a line an entry; other keys do not count."""

import json
import re
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from freshstack_datasets.errors import RunFileError, shown
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs.entries import Entries, run_name
from freshstack_datasets.runs.source import ID_LIMIT, NUMBER, blocks, checked_id, lines_of

ENTRY = 'an object such as {"query_id": "q", "doc_id": "d", "score": 1.5}'

_LONG_NUMBER = 1_000
_ID = rf'"([^"\\\x00-\x1f]{{1,{ID_LIMIT}}}+)"'
_PLAIN = re.compile(rf'^{{"query_id": ?{_ID}, ?"doc_id": ?{_ID}, ?"score": ?({NUMBER})}}\r?$', re.MULTILINE)


def read(path: Path) -> Run:
    """Read a run of JSON lines.

    Raises:
        RunFileError: The file does not hold a run.
    """
    entries = Entries(path)
    for first, block in blocks(path):
        entries.add(*(_columns(block) or _columns_by_line(path, first, block)))
    return entries.run(run_name(path))


def write(run: Run, stream: BinaryIO) -> None:
    """Write a run, a query's documents best first."""
    for query_id in run.query_ids:
        head = f'{{"query_id": {json.dumps(query_id, ensure_ascii=False)}, "doc_id": '
        lines = [
            f'{head}{json.dumps(doc_id, ensure_ascii=False)}, "score": {score!r}}}\n'
            for doc_id, score in run[query_id].items()
        ]
        stream.write("".join(lines).encode())


def _columns(block: bytes) -> tuple[Sequence[str], Sequence[str], list[float]] | None:
    """Return the columns of a block of lines as ``write`` makes them, None when a line needs a closer look."""
    try:
        found = _PLAIN.findall(block.decode())
    except UnicodeDecodeError:
        return None
    if len(found) < block.count(b"\n"):
        return None
    query_ids, doc_ids, numbers = zip(*found, strict=True)
    if max(map(len, numbers)) > _LONG_NUMBER:
        return None
    scores = [float(number) for number in numbers]
    return (query_ids, doc_ids, scores) if all(map(isfinite, scores)) else None


def _columns_by_line(path: Path, first: int, block: bytes) -> tuple[list[str], list[str], list[float]]:
    query_ids, doc_ids, scores = [], [], []
    for number, line in lines_of(path, first, block):
        query_id, doc_id, score = _entry(path, number, line)
        query_ids.append(query_id)
        doc_ids.append(doc_id)
        scores.append(score)
    return query_ids, doc_ids, scores


def _entry(path: Path, number: int, line: str) -> tuple[str, str, float]:
    entry = _parsed(path, number, line)
    for key in ("query_id", "doc_id", "score"):
        if key not in entry:
            raise RunFileError(path, number, f"no {key}", expected=ENTRY, got=shown(line))
    score = entry["score"]
    if not isinstance(score, float) or not isfinite(score):
        raise RunFileError(path, number, "score", expected="a finite number", got=shown(score))
    query_id = checked_id(path, number, entry["query_id"], "query")
    return query_id, checked_id(path, number, entry["doc_id"], "document"), score


def _parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        what = f"JSON, character {error.pos + 1}: {error.msg}"
        raise RunFileError(path, number, what, expected=ENTRY, got=shown(line)) from None
    except (ValueError, RecursionError) as error:
        got = "deeply nested JSON" if isinstance(error, RecursionError) else str(error)
        raise RunFileError(path, number, "JSON", expected=ENTRY, got=got) from None
    if not isinstance(entry, dict):
        raise RunFileError(path, number, "JSON", expected=ENTRY, got=shown(line))
    return entry


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {shown(twice)} twice")
    return entry


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is no JSON number")


# Every number becomes a double at once: a whole number of a million digits would cost quadratic time.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=float, parse_constant=_no_constant)
