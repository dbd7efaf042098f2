"""The published file ``leaderboard_data.json``: its schema, and how it spells topics, measures and sizes."""

import datetime
import json
import re
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, StringConstraints

from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.evaluation import Measure
from freshstack_datasets.recipe import Model, Short, as_tuple
from freshstack_datasets.typed_files.reading import MOST_BYTES, bytes_of, validated
from freshstack_datasets.typed_files.yaml_file import Content
from leaderboard.boards.definition import Definition

PUBLISHED = "a file leaderboard_data.json"
"""What it is called where it cannot be read."""

AVERAGE = "average"
"""What the published file calls the mean over all topics."""

OPEN, CLOSED, ORACLE = "open_source", "proprietary", "upper_baseline"
_SIZE = r"^(-|[0-9]+(\.[0-9]+)?[BMK])\z"
_TIMES = {"K": 10**3, "M": 10**6, "B": 10**9}

_SHOWN = 40
"""Characters that are shown of what is no JSON."""

Day = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}\z")]
Value = Annotated[float, Field(ge=0, le=1)]
Link = Annotated[str, StringConstraints(max_length=1_000, pattern=r"^[^\x00-\x1f\x7f]*\z")]


M = TypeVar("M", bound=Model)


class Info(Model):
    """What the published file says of a system, under the names it has there.

    Args:
        name: What it is called.
        size: Its parameters, such as ``8B``; ``-`` where nobody said.
        type: Its licence, or that it is an oracle.
        date: The day its model came out.
        link: Where it is described; "" where nowhere.
    """

    name: Short
    size: Annotated[str, StringConstraints(pattern=_SIZE, max_length=20)]
    type: Literal["open_source", "proprietary", "upper_baseline"]
    date: Day
    link: Link


class Row(Model):
    """One published row.

    Args:
        info: What it says of the system.
        datasets: From a topic, or ``average``, to the measures and their values.
    """

    info: Info
    datasets: dict[Short, dict[Short, Value]]


Rows = Annotated[tuple[Row, ...], Field(max_length=10_000), BeforeValidator(as_tuple)]


class Published(Model):
    """The file ``leaderboard_data.json`` as it is published.

    Args:
        leaderboardData: Its rows.
    """

    leaderboardData: Rows  # noqa: N815 - the published name


def published_key(measure: Measure) -> str:
    """Return how the published file spells a measure: ``alpha_ndcg_10`` for ``alpha_nDCG@10``."""
    return re.sub(r"[^a-z0-9.]+", "_", str(measure).lower())


def read_published(path: Path) -> Published:
    """Read a file ``leaderboard_data.json``.

    Raises:
        InputError: It cannot be read, or is not of the published schema; the message has the line.
    """
    return parse_published(bytes_of(path, PUBLISHED), shown_path(path)[1:-1])


def parse_published(content: bytes, name: str) -> Published:
    """Return what the bytes of a file ``leaderboard_data.json`` say.

    Args:
        content: The bytes, at most one more than there may be.
        name: What the file is called.

    Raises:
        InputError: They are not of the published schema; the message has the line.
    """
    return _parsed(Published, content, name, "name a file leaderboard_data.json as it is published")


def check_rows(rows: Iterable[Row], definition: Definition, name: str) -> None:
    """Refuse rows that do not fit a board.

    Args:
        rows: The rows.
        definition: The board.
        name: What to call their file in a message.

    Raises:
        InputError: A row has no, or other, topics or measures than the board, or the name of another one.
    """
    topics = {*definition.topic_names, AVERAGE}
    measures = {published_key(measure) for measure in definition.parsed_measures}
    seen: set[str] = set()
    for row in rows:
        where = f"{name}, the row {shown(row.info.name)}"
        if row.info.name in seen:
            raise InputError(where, expected="each name once", got="it twice")
        seen.add(row.info.name)
        check_day(row.info.date, f"{where}, its date")
        _same(where, "the topics", topics, row.datasets)
        for topic, values in row.datasets.items():
            _same(f"{where}, {shown(topic)}", "the measures", measures, values)


def read_json(kind: type[M], path: Path, what: str) -> M:
    """Read a JSON file of settings.

    Args:
        kind: What it is.
        path: The file.
        what: What it should be, for the message.

    Raises:
        InputError: It cannot be read, is no JSON, or says something that is not allowed.
    """
    return _parsed(kind, bytes_of(path, what), shown_path(path)[1:-1])


def _parsed(kind: type[M], content: bytes, name: str, hint: str = "") -> M:
    if len(content) > MOST_BYTES:
        raise InputError(name, expected=f"a file of at most {MOST_BYTES:,} bytes", got="more")
    try:
        value = json.loads(content, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}", expected="JSON", got=_no_json(error), hint=hint) from None
    except UnicodeDecodeError:
        raise InputError(name, expected="JSON", got="bytes that are no text", hint=hint) from None
    except (ValueError, RecursionError) as error:  # a key twice, or lists in lists in lists
        got = "lists that are too deep" if isinstance(error, RecursionError) else shown(str(error))
        raise InputError(name, expected="JSON", got=got, hint=hint) from None
    return validated(kind, Content(value), name)


def _no_json(error: json.JSONDecodeError) -> str:
    """Return what stands in a text where it stops being JSON, and what should stand there."""
    if not error.doc.strip():
        return "an empty file"
    rest = error.doc[error.pos :][:_SHOWN].splitlines()
    found = shown(rest[0]) if rest and rest[0].strip() else "the end of the line" if rest else "the end of the file"
    wanted = error.msg.removeprefix("Expecting ")
    reason = error.msg.lower().removesuffix(" at").removesuffix(" starting")
    return f"{found} ({reason})" if wanted == error.msg else f"{found} instead of a {wanted}"


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a key twice")
    return found


def parameters_of_size(size: str) -> int | None:
    """Return how many parameters a published size stands for; None for ``-``."""
    return None if size == "-" else int(Decimal(size[:-1]) * _TIMES[size[-1]])


def check_day(text: str, where: str) -> None:
    """Refuse what is no day of the calendar, such as 2026-02-30.

    Args:
        text: The day.
        where: What to call it in a message.

    Raises:
        InputError: It is none.
    """
    try:
        datetime.datetime.strptime(text, "%Y-%m-%d")
    except ValueError:
        raise InputError(where, expected="a day of the calendar, such as 2026-10-24", got=shown(text)) from None


def _same(where: str, what: str, wanted: set[str], got: Iterable[str]) -> None:
    if (found := set(got)) != wanted:
        listed = ", ".join(shown(name) for name in sorted(found)[:20]) or "none"
        raise InputError(where, expected=f"{what} {', '.join(sorted(wanted))}", got=listed)
