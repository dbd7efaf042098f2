"""Rows that others published: their file as it is, what is put right in it, and the systems that both make.

Scores of such a row have neither intervals nor runs. The file keeps the rows as they were published; every correction
and addition is in a second one, with where it is from.
"""

import datetime
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from freshstack_datasets.errors import InputError, UnknownNameError, shown, shown_path
from freshstack_datasets.recipe import Model, Sha256, Short, as_tuple
from freshstack_datasets.typed_files.reading import bytes_of, content_of, validated
from leaderboard.boards.definition import Definition
from leaderboard.boards.places import DETAILS, REPORTED
from leaderboard.boards.published import (
    AVERAGE,
    CLOSED,
    OPEN,
    ORACLE,
    Day,
    Row,
    Rows,
    check_rows,
    parameters_of_size,
    published_key,
    read_json,
)
from leaderboard.boards.records import Entry, Score, Scores
from leaderboard.submission.facts import size_of
from leaderboard.submission.model import Answer, Kind
from leaderboard.submission.values import License


class Origin(Model):
    """Where rows were taken from.

    Args:
        url: Where they are published.
        commit: The commit, where it is a repository.
        date: The day of their publication.
        sha256: The digest of the file that was read.
    """

    url: Annotated[Short, StringConstraints(pattern=r"^https?://\S+\z")]
    commit: Short | None
    date: Day
    sha256: Sha256


class Reported(Model):
    """The file ``reported.json``.

    Args:
        schema_version: The version of this format.
        source: Where the rows were taken from.
        rows: The rows as they were published.
    """

    schema_version: Literal[1]
    source: Origin
    rows: Rows


class Detail(Model):
    """Something that is put right, or added, in published rows.

    Args:
        rows: The names of the rows.
        source: Where it is from.
        team: Whose they are.
        kind: What kind of system they are.
        parameters: How many parameters their models have together.
        license: The licences of their models by SPDX.
        trained_on_benchmark: Whether the benchmark was trained on.
        date: The day the model came out.
        in_pool: Whether they helped to choose the documents that were judged.
    """

    rows: Annotated[tuple[Short, ...], Field(min_length=1), BeforeValidator(as_tuple)]
    source: Short
    team: Short | None = None
    kind: Kind | None = None
    parameters: Annotated[int, Field(ge=0, le=10**15)] | None = None
    license: License | None = None
    trained_on_benchmark: Answer | None = None
    date: datetime.date | None = None
    in_pool: bool | None = None

    def told(self) -> dict[str, Any]:
        """Return what it says, by name."""
        said = {name: getattr(self, name) for name in type(self).model_fields if name not in ("rows", "source")}
        return {name: value for name, value in said.items() if value is not None}


class Details(Model):
    """The file ``reported-details.yaml``.

    Args:
        details: What is put right or added.
    """

    details: Annotated[tuple[Detail, ...], BeforeValidator(as_tuple)]


def read_reported(folder: Path, definition: Definition) -> tuple[Entry, ...]:
    """Return the published systems of a board, corrected; none where none were imported.

    Args:
        folder: The board's folder.
        definition: What it measures.

    Raises:
        InputError: A file cannot be read, or its rows do not fit the board.
    """
    path = folder / REPORTED
    if not path.is_file():
        return ()
    name = shown_path(path)[1:-1]
    reported = read_json(Reported, path, "imported rows")
    check_rows(reported.rows, definition, name)
    told = _details(folder / DETAILS, {row.info.name for row in reported.rows})
    ids = _ids(row.info.name for row in reported.rows)
    return tuple(
        _entry(row, ids[row.info.name], told.get(row.info.name, {}), definition, reported.source)
        for row in reported.rows
    )


def _details(path: Path, names: set[str]) -> Mapping[str, Mapping[str, Any]]:
    """Return what is put right and added, by the row's name, and where it is from as ``corrections``."""
    if not path.is_file():
        return {}
    where = shown_path(path)[1:-1]
    found: Details = validated(Details, content_of(bytes_of(path, "corrections"), where), where)
    told: dict[str, dict[str, Any]] = {}
    for detail in found.details:
        for row in detail.rows:
            if row not in names:
                raise InputError(f"{where}: {UnknownNameError('row', row, names)}")
            for key, value in detail.told().items():
                if key in told.setdefault(row, {}):
                    raise InputError(f"{where}, the row {shown(row)}", expected=f"{key} once", got="it twice")
                told[row][key] = value
            told.setdefault(row, {})["corrections"] = (*told.get(row, {}).get("corrections", ()), detail.source)
    return told


def _entry(row: Row, entry_id: str, told: Mapping[str, Any], definition: Definition, source: Origin) -> Entry:
    info = row.info
    parameters = told.get("parameters", parameters_of_size(info.size))
    scores = {name: _scores(values, definition) for name, values in row.datasets.items()}
    openness = {OPEN: "open", CLOSED: "closed"}.get(info.type, "")
    return Entry(
        entry_id=entry_id,
        tier="reported",
        name=info.name,
        team=told.get("team", ""),
        kind=told.get("kind", ""),
        setting="oracle" if info.type == ORACLE else "inference",
        parameters=parameters,
        size=size_of(parameters) if "parameters" in told else info.size,
        license=told.get("license", "" if parameters == 0 else None),
        openness=openness,
        trained_on_benchmark=told.get("trained_on_benchmark", "unknown"),
        date=told.get("date", datetime.date.fromisoformat(info.date)),
        url=info.link if re.match(r"https?://\S+\Z", info.link) else None,
        latency_ms=None,
        in_pool=told.get("in_pool"),
        topics={name: scores[name] for name in definition.topic_names},
        macro=scores[AVERAGE],
        source=source.url,
        published=datetime.date.fromisoformat(source.date),
        corrections=told.get("corrections", ()),
    )


def _scores(values: Mapping[str, float], definition: Definition) -> Scores:
    return Scores({str(measure): Score(values[published_key(measure)]) for measure in definition.parsed_measures})


def _ids(names: Iterable[str]) -> dict[str, str]:
    """Return an id for each name, safe in paths and addresses, in the order of the names."""
    ids: dict[str, str] = {}
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        stem = f"reported-{re.sub('[^a-z0-9]+', '-', plain.replace('.', '-')).strip('-')[:60].strip('-') or 'system'}"
        number = sum(other == stem or other.rpartition("--")[0] == stem for other in ids.values())
        ids[name] = f"{stem}--{number + 1}" if number else stem
    return ids
