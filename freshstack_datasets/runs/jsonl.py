"""Runs as JSON lines: ``{"query_id": …, "doc_id": …, "score": …, "run": …}``, a line an entry.

``run`` is the name of the run; it may be missing, and only the first line's counts. Other keys do not count.
"""

import json
import re
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from freshstack_datasets.errors import RunFileError, shown
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import ID_RULE
from freshstack_datasets.runs.entries import Taker, clean_name
from freshstack_datasets.runs.source import ID_LIMIT, NUMBER, OTHER_FORMAT, blocks, checked_id, raw_lines, text_of

ENTRY = 'an object such as {"query_id": "q", "doc_id": "d", "score": 1.5}'

_LONG_NUMBER = 1_000
_ID = rf'"([^"\\\x00-\x1f]{{1,{ID_LIMIT}}}+)"'
_NAME = r'"(?:[^"\\\x00-\x1f]++|\\["\\])*+"'
_PLAIN = re.compile(
    rf'^{{"query_id": ?{_ID}, ?"doc_id": ?{_ID}, ?"score": ?({NUMBER})(?:, ?"run": ?{_NAME})?}}\r?$', re.MULTILINE
)


def scan(path: Path, entries: Taker) -> str:
    """Read JSON lines into entries, and return the run's name on the first line, "" when there is none.

    Raises:
        RunFileError: The file does not hold a run.
    """
    name: object = None
    for first, block in blocks(path, entries.refuse, entries.most_bytes):
        if first == 1 and not entries.notes:
            line = text_of(path, first, block[: block.find(b"\n")])
            name = _parsed(path, first, line).get("run")
        columns = _columns(block)
        if columns and entries.notes:
            entries.notes.entries(np.arange(first, first + len(columns[0])))
        entries.add(*(columns or _columns_by_line(path, first, block, entries)))
    return name if isinstance(name, str) else ""


def write(run: Run, stream: BinaryIO) -> None:
    """Write a run, a query's documents best first."""
    name = clean_name(run.name)
    tail = f', "run": {json.dumps(name, ensure_ascii=False)}' if name else ""
    for query_id in run.query_ids:
        head = f'{{"query_id": {json.dumps(query_id, ensure_ascii=False)}, "doc_id": '
        lines = [
            f'{head}{json.dumps(doc_id, ensure_ascii=False)}, "score": {score!r}{tail}}}\n'
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


def _columns_by_line(path: Path, first: int, block: bytes, entries: Taker) -> tuple[list[str], list[str], list[float]]:
    query_ids, doc_ids, scores, lines = [], [], [], []
    for number, raw in raw_lines(first, block):
        try:
            query_id, doc_id, score = _entry(path, number, text_of(path, number, raw))
        except RunFileError as error:
            entries.refuse(error)
            continue
        query_ids.append(query_id)
        doc_ids.append(doc_id)
        scores.append(score)
        lines.append(number)
    if entries.notes:
        entries.notes.entries(lines)
    return query_ids, doc_ids, scores


def _entry(path: Path, number: int, line: str) -> tuple[str, str, float]:
    entry = _parsed(path, number, line)
    for key in ("query_id", "doc_id", "score"):
        if key not in entry:
            raise RunFileError(path, number, f"no {key}", expected=ENTRY, got=shown(line), kind="fields")
    score = entry["score"]
    if not isinstance(score, float) or not isfinite(score):
        got, kind = _as_written(line, "score"), "not-finite" if isinstance(score, float) else "score"
        raise RunFileError(path, number, "score", expected="a finite number", got=got, kind=kind)
    query_id, doc_id = (_id(path, number, line, entry, kind) for kind in ("query", "document"))
    return query_id, doc_id, score


def _id(path: Path, number: int, line: str, entry: dict[str, Any], kind: str) -> str:
    key = "query_id" if kind == "query" else "doc_id"
    if not isinstance(entry[key], str):
        got = _as_written(line, key)
        raise RunFileError(path, number, f"{kind} id", expected=ID_RULE, got=got, kind="id")
    return checked_id(path, number, entry[key], kind)


def _as_written(line: str, key: str) -> str:
    """Return a value of an entry for a message, as it stands in the line and not as Python would write it."""
    value = _LITERAL_DECODER.decode(line)[key]
    return json.dumps(value) if value is None or isinstance(value, bool) else shown(value)


def _parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        what = f"JSON, character {error.pos + 1}: {error.msg}"
        raise RunFileError(
            path, number, what, expected=ENTRY, got=shown(line), hint=OTHER_FORMAT, kind="json"
        ) from None
    except (ValueError, RecursionError) as error:
        got = "deeply nested JSON" if isinstance(error, RecursionError) else str(error)
        raise RunFileError(path, number, "JSON", expected=ENTRY, got=got, kind="json") from None
    if not isinstance(entry, dict):
        raise RunFileError(path, number, "JSON", expected=ENTRY, got=shown(line), hint=OTHER_FORMAT, kind="json")
    return entry


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {shown(twice)} twice")
    return entry


class _Literal:
    """A number as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is no JSON number")


# Every number becomes a double at once: a whole number of a million digits would cost quadratic time.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=float, parse_constant=_no_constant)
_LITERAL_DECODER = json.JSONDecoder(parse_int=_Literal, parse_float=_Literal)
