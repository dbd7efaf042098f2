"""Runs, judgments, queries and documents as pandas frames, in the column names of PyTerrier."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from freshstack_datasets.adapters.given import check_dataset, check_for_c
from freshstack_datasets.adapters.libraries import Library
from freshstack_datasets.adapters.nuggets import zeros_first
from freshstack_datasets.errors import RunError, shown
from freshstack_datasets.ranking import Run, as_run
from freshstack_datasets.tables.schema import CORPUS, QUERIES

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset

__all__ = ["IR_MEASURES", "documents", "nuggets", "qrels", "queries", "read", "run"]

IR_MEASURES: Mapping[str, str] = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
"""Column names here to those of ``ir_measures``: ``nuggets(data).rename(columns=IR_MEASURES)`` is what it takes."""

_PANDAS = Library("pandas", "hf")

_VOTES = "votes"

_OBJECT = "object"
"""The type of texts: the one that all versions of pandas have, and that ranx and PyTerrier ask for."""


def run(run: Run | Mapping[str, Mapping[str, float]]) -> Any:
    """Return a run as a frame with ``qid``, ``docno``, ``score`` and ``rank``.

    The rows of a query stand together, best first. Ranks begin at 0, as in PyTerrier.

    Args:
        run: The run, or query id to document id to score.

    Raises:
        MissingExtraError: pandas is not installed.
        RunError: It is no run.
    """
    given = as_run(run)
    lengths = np.diff(given.offsets)
    numbers = np.repeat(np.arange(len(given)), lengths)
    return _frame(
        {
            "qid": ([given.query_ids[number] for number in numbers.tolist()], _OBJECT),
            "docno": ([given.doc_ids[code] for code in given.codes.tolist()], _OBJECT),
            "score": (given.scores.copy(), "float64"),
            "rank": (np.arange(len(numbers)) - given.offsets[numbers], "int64"),
        }
    )


def read(frame: Any) -> Run:
    """Return a frame of ``qid``, ``docno`` and ``score`` as a run.

    Rows may come in any order; other columns are ignored, ``rank`` too, since it follows from the scores.

    Args:
        frame: The frame. Ids are texts: ``frame.astype({"qid": str})`` makes them so.

    Raises:
        RunError: A column is missing, an id or a score is not allowed, or a document comes twice for a query; the first
            offender is named.
    """
    found = [str(name) for name in ([] if isinstance(frame, type) else getattr(frame, "columns", ()))]
    wanted = ("qid", "docno", "score")
    if not hasattr(frame, "itertuples") or any(found.count(name) != 1 for name in wanted):
        got = f"columns {', '.join(found)}" if found else f"{shown(frame)} ({type(frame).__name__})"
        raise RunError("a run", expected=f"a frame with the columns {', '.join(wanted)}, each once", got=shown(got))
    try:
        return Run.from_columns(*(frame[name].tolist() for name in wanted))
    except RunError as error:
        numbers = [name for name in ("qid", "docno") if getattr(frame[name].dtype, "kind", "O") in "iu"]
        if not numbers:
            raise
        texts = ", ".join(f'"{name}": str' for name in numbers)
        raise RunError(f"{error}; make texts of the ids with frame.astype({{{texts}}})") from None


def qrels(data: "Dataset") -> Any:
    """Return the judgments as a frame with ``qid``, ``docno`` and ``label``, the number of nuggets supported.

    That is what PyTerrier's ``Experiment`` takes, for measures that know no nuggets.

    Args:
        data: The dataset.

    Raises:
        MissingExtraError: pandas is not installed.
        InputError: It is no dataset, or has an id with a NUL, where trec_eval ends it.
        SnapshotError: A judgment is of a query that the dataset does not have.
    """
    check_dataset(data)
    check_for_c(data.qrels, *data.qrels.values())
    rows = [(query_id, doc_id, n) for query_id, documents in data.qrels.items() for doc_id, n in documents.items()]
    return _judgments(rows, "qid", "docno", "label")


def nuggets(data: "Dataset") -> Any:
    """Return the judgments of nuggets as a frame with ``qid``, ``docno``, ``label`` and ``iteration``.

    ``label`` is 1 or 0, ``iteration`` the nugget's number among those of its query, from 1, as text. PyTerrier's
    ``Experiment`` takes it as it is, and hands ``iteration`` on to the measures of nuggets; ``ir_measures`` takes it
    under its own names: ``nuggets(data).rename(columns=IR_MEASURES)``. The rows of a query stand together, those of 0
    first, because measures that know no nuggets keep the last row of a query and a document.

    Args:
        data: The dataset.

    Raises:
        MissingExtraError: pandas is not installed.
        InputError: It is no dataset, or has an id with a NUL, where trec_eval ends it.
        SnapshotError: A judgment is of no nugget that its query has.
    """
    rows = [(query_id, doc_id, score, str(number)) for query_id, number, doc_id, score in zeros_first(data)]
    return _judgments(rows, "qid", "docno", "label", "iteration")


def queries(data: "Dataset") -> Any:
    """Return the queries as a frame: ``qid``, ``query`` (what is searched for), and what else is known of them.

    A question's score is called ``votes``, since PyTerrier ranks rows by whatever ``score`` they have. What is not
    known is None, of numbers ``pandas.NA``.

    Args:
        data: The dataset.

    Raises:
        MissingExtraError: pandas is not installed.
        InputError: It is no dataset.
        SnapshotError: The queries cannot be read.
    """
    check_dataset(data)
    names = {**{column: field for field, column in QUERIES.fields.items()}, "_id": "qid", "text": "query"}
    table = data.queries.arrow
    return _frame({_name(names[c]): (table[c].to_pylist(), _dtype(QUERIES.schema.field(c))) for c in names})


def documents(data: "Dataset") -> Any:
    """Return the documents as a frame: ``docno``, ``title``, ``text``, and a column for each member of the metadata.

    All texts are held in memory. A post's score is called ``votes``, as in ``queries``.

    Args:
        data: The dataset.

    Raises:
        MissingExtraError: pandas is not installed.
        InputError: It is no dataset.
        SnapshotError: The dataset has no corpus, or it cannot be read.
    """
    _PANDAS.load("pandas")  # before anything is read, or downloaded
    check_dataset(data)
    members = list(CORPUS.schema.field("metadata").type)
    texts: list[list[str]] = [[], [], []]
    metadata: list[list[Any]] = [[] for _ in members]
    for document in data.corpus:
        for column, text in zip(texts, (document.doc_id, document.title, document.text), strict=True):
            column.append(text)
        for values, member in zip(metadata, members, strict=True):
            values.append(document.metadata.get(member.name))
    columns: dict[str, tuple[Any, str]] = dict(
        zip(("docno", "title", "text"), ((c, _OBJECT) for c in texts), strict=True)
    )
    columns.update((_name(m.name), (values, _dtype(m))) for m, values in zip(members, metadata, strict=True))
    return _frame(columns)


def _judgments(rows: list[tuple[Any, ...]], *names: str) -> Any:
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return _frame({n: (list(c), "int64" if n == "label" else _OBJECT) for n, c in zip(names, columns, strict=True)})


def _name(field: str) -> str:
    return _VOTES if field == "score" else field


def _dtype(field: pa.Field) -> str:
    """Return the type of a column whose values may be missing."""
    return "Int64" if pa.types.is_integer(field.type) else _OBJECT


def _frame(columns: Mapping[str, tuple[Any, str]]) -> Any:
    """Return a frame of columns, each with its type."""
    pandas = _PANDAS.load("pandas")
    return pandas.DataFrame({name: pandas.Series(values, dtype=dtype) for name, (values, dtype) in columns.items()})
