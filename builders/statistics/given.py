"""What can be counted: a snapshot, or what ``questions`` and ``corpus`` wrote before there is one."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from builders.statistics.counts import COLUMNS, Asked
from freshstack_datasets import catalog
from freshstack_datasets.errors import InputError, SnapshotError, shown, shown_path
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.manifest import FILE
from freshstack_datasets.records import Document
from freshstack_datasets.tables.parquet import TableReader
from freshstack_datasets.tables.schema import CORPUS, QUERIES, Table

_ABOUT = {"questions.json": QUERIES, "corpus.json": CORPUS}
"""What a folder of a build says of itself, and the table that it holds."""

_MOST_BYTES = 64_000_000
"""Such a file is some kilobytes, or megabytes with ten thousand sources."""

_TEXTS = 256
"""Texts that are held at once; fewer where they are long."""

_ORIGINAL = "oct-2024"
"""The builder of snapshots that are made of the originals, whose texts have lost the marks of code."""


@dataclass(frozen=True)
class Given:
    """What was given.

    Args:
        name: The dataset's name.
        questions: How many questions there are; None when none were given.
        documents: How many documents; None likewise.
        repositories: How many repositories the documents are of; None when that is not known.
        asked: Reads the questions.
        texts: Reads the documents: title and text of each.
        marked: Whether blocks of code are marked in the texts of questions.
        data: The snapshot; None before there is one.
    """

    name: str
    questions: int | None = None
    documents: int | None = None
    repositories: int | None = None
    asked: Callable[[], Iterator[Asked]] = lambda: iter(())
    texts: Callable[[], Iterator[str]] = lambda: iter(())
    marked: bool = True
    data: Dataset | None = None


def given(names: Sequence[str]) -> Given:
    """Open what somebody named; nothing but the number of rows is read.

    Args:
        names: A dataset's name or a snapshot's folder; or the folder that ``questions`` wrote, or the one that ``corpus``
            wrote, or both in any order.

    Raises:
        InputError: It is none of these, or two things that do not belong together.
        UnknownNameError: There is no dataset of that name.
        HubError: It is on the Hub and cannot be had.
    """
    found = [_one(name) for name in names]
    if len(found) == 1:
        return found[0]
    kinds = [(one.questions is not None, one.documents is not None) for one in found]
    if sorted(kinds) != [(False, True), (True, False)]:
        expected = "the folder that questions wrote and the one that corpus wrote"
        got = " and ".join(shown_path(name) for name in names)
        raise InputError("what to count", expected=f"one snapshot, or {expected}", got=got)
    questions, corpus = found if kinds[0] == (True, False) else found[::-1]
    if questions.name != corpus.name:
        got = f"questions of {shown(questions.name)} and a corpus of {shown(corpus.name)}"
        raise InputError("what to count", expected="one topic", got=got)
    return replace(questions, documents=corpus.documents, repositories=corpus.repositories, texts=corpus.texts)


def _one(name: str) -> Given:
    folder = Path(name)
    if name not in catalog.names() and "\0" not in name and folder.is_dir():
        for file, table in _ABOUT.items():
            if (folder / file).is_file():
                return _built(folder, file, table)
        if not (folder / FILE).is_file():
            expected = f"{FILE} of a snapshot, or {' or '.join(_ABOUT)} of a build"
            raise InputError(shown_path(folder), expected=expected, got="none of them")
    return _snapshot(load(name))


def _snapshot(data: Dataset) -> Given:
    manifest = data.manifest
    assert manifest is not None  # what is loaded by name or from a folder has one
    published = catalog.published(data.name).get(data.snapshot)
    original = manifest.recipe.builder == _ORIGINAL
    # the originals' own sources are two repositories of the Hub, not those that were cut into documents
    cut = None if original else sum(source.commit is not None for source in manifest.sources)

    def texts() -> Iterator[str]:
        for batch in data.corpus.batches(_TEXTS):
            yield from _texts(batch)

    return Given(
        name=data.name,
        questions=len(data.queries),
        documents=manifest.tables[CORPUS.name].rows,
        repositories=len(published.repositories) if published else cut,
        asked=lambda: zip(*data.queries.columns(*COLUMNS), strict=True),
        texts=texts,
        marked=not original,
        data=data,
    )


def _built(folder: Path, file: str, table: Table) -> Given:
    """Open what ``questions`` or ``corpus`` wrote."""
    about = _read_about(folder / file)
    with _unreadable(folder):
        reader = TableReader(folder, table, [table.file()])
    if reader.rows != about["table"]["rows"]:
        got, expected = f"{reader.rows:,}", f"{about['table']['rows']}, as {file} says"
        raise InputError(f"the rows of {table.file()} in {shown_path(folder)}", expected=expected, got=got)

    def asked() -> Iterator[Asked]:
        with _unreadable(folder):
            for batch in reader.batches(COLUMNS, _TEXTS):
                yield from zip(*(batch.column(name).to_pylist() for name in COLUMNS), strict=True)

    def texts() -> Iterator[str]:
        with _unreadable(folder):
            for batch in reader.batches(("title", "text"), _TEXTS):
                yield from _texts(batch)

    if table is QUERIES:
        return Given(about["dataset"], questions=reader.rows, asked=asked)
    repositories = sum(isinstance(source, dict) and bool(source.get("commit")) for source in about["sources"])
    return Given(about["dataset"], documents=reader.rows, repositories=repositories, texts=texts)


def _read_about(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(shown_path(path), expected=f"at most {_MOST_BYTES:,} bytes", got="more")
        about = json.loads(path.read_bytes())
        dataset, rows = about["dataset"], about["table"]["rows"]
        if isinstance(dataset, str) and isinstance(rows, int) and isinstance(about.setdefault("sources", []), list):
            return dict(about)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    expected = "JSON with the dataset, its sources and the rows of its table"
    raise InputError(shown_path(path), expected=expected, got="something else", hint="make the folder again")


def _texts(batch: Any) -> Iterator[str]:
    """Yield the texts of documents, a batch of rows, as a retriever sees them."""
    for title, text in zip(batch.column("title").to_pylist(), batch.column("text").to_pylist(), strict=True):
        yield Document("-", title or "", text or "").default_text()


@contextmanager
def _unreadable(folder: Path) -> Iterator[None]:
    """Say of a damaged table of a build what can be done about it, which is not to verify a snapshot."""
    try:
        yield
    except SnapshotError as error:
        what = f"{shown_path(folder)}: {error.what}"
        raise InputError(what, expected=error.expected, got=error.got, hint="make the folder again") from None
