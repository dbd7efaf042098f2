"""What the stages of a build left in its folder, read as records."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from builders.pipeline.records import FUSION, Label, Lacking, Search
from builders.pipeline.work import CORPUS as CORPUS_STAGE
from builders.pipeline.work import LABELS, LACKING, POOL, POOLED, QUESTIONS, SEARCHES, SUPPORT, Work, read_lines
from builders.pipeline.work import NUGGETS as NUGGETS_STAGE
from builders.pipeline.work import QUERIES as QUERIES_STAGE
from freshstack_datasets.errors import InputError, SnapshotError, shown, shown_path
from freshstack_datasets.layouts.snapshot import languages
from freshstack_datasets.records import Nugget, Query
from freshstack_datasets.tables.conversion import to_record
from freshstack_datasets.tables.corpus import Corpus
from freshstack_datasets.tables.parquet import TableReader
from freshstack_datasets.tables.schema import CORPUS, NUGGETS, QUERIES, Table

ORDERS, CALLS = "orders.jsonl", "calls.jsonl"
_AGAIN = "run the stage again"


def topic_corpus(work: Work) -> Corpus:
    """Return the documents of a topic, read as they are asked for.

    Raises:
        InputError: The stage is not done, or its table cannot be read.
    """
    with _readable(work, CORPUS_STAGE) as folder:
        reader = TableReader(folder, CORPUS, [CORPUS.file()])
    return Corpus(reader, lambda: languages(query.language for query in questions_of(work)))


def questions_of(work: Work) -> list[Query]:
    """Return the questions, by ascending id, each with its answer.

    Raises:
        InputError: The stage is not done, or its table cannot be read.
    """
    found: list[Query] = _records(work, QUESTIONS, QUERIES)
    return sorted(found, key=attrgetter("query_id"))


def nuggets_of(work: Work) -> dict[str, tuple[Nugget, ...]]:
    """Return the nuggets of each question that has some, by its id, in their order.

    Raises:
        InputError: The stage is not done, or its table cannot be read.
    """
    found: dict[str, list[Nugget]] = {}
    for nugget in _records(work, NUGGETS_STAGE, NUGGETS):
        found.setdefault(nugget.query_id, []).append(nugget)
    return {query_id: tuple(sorted(found[query_id], key=attrgetter("position"))) for query_id in sorted(found)}


def searches_of(work: Work) -> list[Search]:
    """Return what is searched for, by the questions' ids.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    return list(read_lines(work.folder(QUERIES_STAGE) / SEARCHES, Search))


def pool_of(work: Work) -> dict[str, list[str]]:
    """Return the documents to judge of each question, by its id; ids ascend.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    path = work.folder(POOL) / POOLED
    try:
        table = pq.read_table(path, columns=["query-id", "corpus-id", "retriever"])
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise InputError(f"cannot read {shown_path(path)}", got=shown(str(error)[:200]), hint=_AGAIN) from None
    found: dict[str, set[str]] = {}
    for query_id, doc_id, retriever in zip(*(column.to_pylist() for column in table.columns), strict=True):
        if retriever == FUSION:
            found.setdefault(query_id, set()).add(doc_id)
    return {query_id: sorted(found[query_id]) for query_id in sorted(found)}


def labels_of(work: Work) -> list[Label]:
    """Return the judged documents with the nuggets that they support.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    return list(read_lines(work.folder(SUPPORT) / LABELS, Label))


def lacking_of(work: Work, stage: str) -> list[Lacking]:
    """Return what a stage could not make; none where it has no such file.

    Args:
        work: The folder of the build.
        stage: The stage, one of those that ask a model.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    path = work.folder(stage) / LACKING
    return list(read_lines(path, Lacking)) if path.is_file() else []


def orders_of(work: Work) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return by the id of each call that judged documents its question, and the documents in the order shown.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    return {
        call_id: (query_id, tuple(documents))
        for call_id, query_id, documents in _lines(
            work, SUPPORT, ORDERS, {"call_id": str, "query_id": str, "documents": list}
        )
    }


def nugget_calls_of(work: Work) -> dict[str, tuple[str, ...]]:
    """Return by the id of each question the calls that made its nuggets.

    Raises:
        InputError: The stage is not done, or its file cannot be read.
    """
    found = _lines(work, NUGGETS_STAGE, CALLS, {"query_id": str, "calls": list})
    return {query_id: tuple(calls) for query_id, calls in found}


def _records(work: Work, stage: str, table: Table) -> list[Any]:
    with _readable(work, stage) as folder:
        return [to_record(table, row) for row in TableReader(folder, table, [table.file()]).read().to_pylist()]


@contextmanager
def _readable(work: Work, stage: str) -> Iterator[Path]:
    """Yield the folder of a stage; say of what cannot be read in it which stage made it."""
    folder = work.folder(stage)
    try:
        yield folder
    except SnapshotError as error:
        got = error.got or "something else"
        raise InputError(f"cannot read what is in {shown_path(folder)}", got=got, hint=_AGAIN) from None


def _lines(work: Work, stage: str, name: str, keys: Mapping[str, type]) -> Iterator[list[Any]]:
    """Yield the values of some keys, texts or lists of texts, of each object of a file of JSON lines."""
    path = work.folder(stage) / name
    try:
        with path.open(encoding="utf-8", newline="\n") as stream:
            for number, line in enumerate(stream, 1):
                value = json.loads(line)
                if not isinstance(value, Mapping):
                    raise ValueError(f"line {number}: no object")
                yield [_of_kind(value[key], kind, number) for key, kind in keys.items()]
    except (OSError, ValueError, LookupError, RecursionError) as error:
        got = getattr(error, "strerror", None) or shown(str(error)[:200])
        raise InputError(f"cannot read {shown_path(path)}", got=got, hint=_AGAIN) from None


def _of_kind(value: object, kind: type, number: int) -> object:
    """Return what a line says under a key, when it is a text, or a list of texts, whichever is wanted."""
    if isinstance(value, kind) and (kind is str or all(isinstance(one, str) for one in cast(list[object], value))):
        return value
    raise ValueError(f"line {number}: neither a text nor a list of texts where it has to be")
