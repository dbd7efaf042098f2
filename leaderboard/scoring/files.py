"""The files that scoring writes beside a submission: written all or nothing, and not trusted when they are read."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import ValidationError

from freshstack_datasets.errors import InputError, SnapshotError, shown, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.manifest import told
from freshstack_datasets.recipe import Model
from freshstack_datasets.typed_files.reading import bytes_of
from leaderboard.boards.places import PER_QUERY, SCORES, place_of_submission
from leaderboard.boards.records import PerQuery
from leaderboard.scoring.means import faults_of_means
from leaderboard.scoring.records import JUDGED, ScoresFile

AGAIN = "score it again: python -m leaderboard score"
_MOST_BYTES = 16_000_000
_MOST_PER_QUERY = 256_000_000
_LONGEST_LINE = 100_000
"""Bytes of a line of values; an id has some hundred characters at most, and a value some twenty."""

_M = TypeVar("_M", bound=Model)


def lines_of(topic: str, found: PerQuery) -> Iterator[bytes]:
    """Yield the values of a topic as lines of JSON, a query each.

    Args:
        topic: Its name.
        found: The values.
    """
    for query_id, values in zip(found.query_ids, found.values.T.tolist(), strict=True):
        row = {"topic": topic, "query": query_id, **dict(zip(found.measures, values, strict=True))}
        yield json.dumps(row, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def write_files(folder: Path, scores: ScoresFile, per_query: bytes) -> None:
    """Write both files of a submission's scores.

    Raises:
        InputError: They cannot be written.
    """
    for name, content in ((PER_QUERY, per_query), (SCORES, scores.to_json().encode())):
        with atomic_file(folder / name) as work:
            work.write_bytes(content)


def read_scores(folder: Path) -> ScoresFile | None:
    """Read the scores of a submission, and see whether its values per query are those that they were made of.

    Args:
        folder: The submission's folder.

    Returns:
        None where it was not scored.

    Raises:
        InputError: The scores cannot be read, are of another submission, or do not belong to the values per query.
    """
    path = folder / SCORES
    scores = read_model(ScoresFile, path)
    if scores is None:
        return None
    place = place_of_submission(folder)
    for name in ("board", "snapshot", "submission"):
        if getattr(scores, name) != getattr(place, name):
            what, got = f"{_plain(path)}: {name}", shown(getattr(scores, name))
            raise InputError(what, expected=getattr(place, name), got=got, hint=AGAIN)
    values = folder / PER_QUERY
    if (got := digest_of(values, "the values per query")) != scores.per_query.sha256:
        raise InputError(f"{_plain(values)}: sha256", expected=scores.per_query.sha256, got=got, hint=AGAIN)
    return scores


def read_model(kind: type[_M], path: Path) -> _M | None:
    """Read a JSON file of a submission; None where it is not there.

    Args:
        kind: What it holds.
        path: The file.

    Raises:
        InputError: It cannot be read, or holds something else.
    """
    if not path.exists() and not path.is_symlink():
        return None
    _check_plain(path, "what scoring wrote")
    content = bytes_of(path, "a file that scoring wrote", AGAIN, most=_MOST_BYTES)
    if len(content) > _MOST_BYTES:
        raise InputError(_plain(path), expected=f"at most {_MOST_BYTES:,} bytes", got="more", hint=AGAIN)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        complaint: SnapshotError = told(_plain(path), error)
        raise InputError(complaint.what, expected=complaint.expected, got=complaint.got, hint=AGAIN) from None


def per_query_of(folder: Path, scores: ScoresFile) -> dict[str, PerQuery]:
    """Read the values per query of a submission, by topic.

    Args:
        folder: The submission's folder.
        scores: Its scores.

    Raises:
        InputError: They are not those that the scores were made of.
    """
    path = folder / PER_QUERY
    _check_plain(path, "the values per query")
    content = bytes_of(path, "the values per query", AGAIN, most=_MOST_PER_QUERY)
    if hashlib.sha256(content).hexdigest() != scores.per_query.sha256:
        raise InputError(f"{_plain(path)}: sha256", expected=scores.per_query.sha256, got="another", hint=AGAIN)
    rows: dict[str, list[list[float]]] = {}
    query_ids: dict[str, dict[str, None]] = {}
    names: tuple[str, ...] = ()
    for number, line in enumerate(content.splitlines(), 1):
        topic, query, values = _row(line, f"{_plain(path)}:{number}")
        names = names or tuple(values)
        if tuple(values) != names or topic not in scores.topics or query in query_ids.setdefault(topic, {}):
            raise _bad_line(f"{_plain(path)}:{number}", "the same measures, a topic of the scores, each query once")
        query_ids[topic][query] = None
        rows.setdefault(topic, []).append(list(values.values()))
    for topic, one in scores.topics.items():
        if len(query_ids.get(topic, ())) != one.queries or sorted(names) != sorted({*one.measures, *JUDGED}):
            wanted = f"{one.queries} queries of {topic} with {', '.join(sorted(one.measures))} and the judged shares"
            raise InputError(_plain(path), expected=wanted, got="others", hint=AGAIN)
    found = {topic: _per_query(tuple(query_ids[topic]), names, rows[topic]) for topic in rows}
    for fault in faults_of_means(scores, found):
        where = _plain(folder / SCORES)
        raise InputError(f"{where}, {fault}", expected=f"the means of {PER_QUERY}", got="others", hint=AGAIN)
    return found


def _per_query(query_ids: tuple[str, ...], names: tuple[str, ...], rows: Sequence[Sequence[float]]) -> PerQuery:
    values = np.ascontiguousarray(np.array(rows, np.float64).T)
    values.flags.writeable = False
    return PerQuery(query_ids, names, values)


def _row(line: bytes, where: str) -> tuple[str, str, dict[str, float]]:
    try:
        row = json.loads(line) if len(line) <= _LONGEST_LINE else None
    except (ValueError, RecursionError):
        row = None
    values = dict(row) if isinstance(row, dict) else {}
    topic, query = values.pop("topic", None), values.pop("query", None)
    numbers = all(type(value) is float and math.isfinite(value) for value in values.values())
    if not isinstance(topic, str) or not isinstance(query, str) or not values or not numbers:
        raise _bad_line(where, "a JSON object with a topic, a query and numbers")
    return topic, query, values


def _bad_line(where: str, expected: str) -> InputError:
    return InputError(where, expected=expected, got="something else", hint=AGAIN)


def digest_of(path: Path, what: str) -> str:
    """Return the sha256 of a file's bytes.

    Args:
        path: The file.
        what: What it should be, for the message.

    Raises:
        InputError: It is no file of its own, or cannot be read.
    """
    _check_plain(path, what)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {shown_path(path)}", expected=what, got=(error.strerror or "").lower()) from None


def _check_plain(path: Path, what: str) -> None:
    """Refuse a link, and what can be read for ever, such as a pipe."""
    if path.is_symlink() or not path.is_file():
        got = "a link" if path.is_symlink() else "something else" if path.exists() else "none"
        raise InputError(_plain(path), expected=f"a file with {what}", got=got)


def _plain(path: Path) -> str:
    return shown_path(path)[1:-1]
