"""Tables made of judgments alone, as quickly as millions of rows ask for."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from freshstack_datasets.errors import RecordError, shown
from freshstack_datasets.records import all_allowed, check_id
from freshstack_datasets.tables.digest import TableDigest, json_values
from freshstack_datasets.tables.schema import NUGGET_QRELS, NUGGETS, QUERIES

_IDS = ("query-id", "nugget-id", "corpus-id")
_CHUNK = 500_000


def judged_tables(rows: Iterable[tuple[str, str, str, int]]) -> Mapping[str, pa.Table]:
    """Return the tables queries, nuggets and nugget_qrels that follow from judgments.

    The ids of ``nugget_qrels`` are dictionary-encoded: by the million they repeat.

    Args:
        rows: Query id, nugget id, document id and score.

    Raises:
        RecordError: An id or a score is not allowed, or three ids come twice; the first offender is named.
    """
    if not isinstance(rows, Iterable):
        got = f"{shown(rows)} ({type(rows).__name__})"
        raise RecordError("judgments", expected="rows of query id, nugget id, document id and score", got=got)
    rows = rows if isinstance(rows, list) else list(rows)
    judgments = _judgments(rows)
    query, nugget, document = (_codes(judgments[column]) for column in _IDS)
    pairs, first, pair = np.unique(query << 32 | nugget, return_index=True, return_inverse=True)
    _check_once(judgments, pair << 32 | document)
    first.sort()
    owners = query[first]
    query_ids = judgments["query-id"].chunk(0).dictionary
    return {
        QUERIES.name: _filled(QUERIES.schema, {"_id": query_ids, "text": pa.repeat("", len(query_ids))}),
        NUGGETS.name: _filled(
            NUGGETS.schema,
            {
                "_id": judgments["nugget-id"].chunk(0).dictionary.take(pa.array(nugget[first])),
                "query-id": query_ids.take(pa.array(owners)),
                "position": pa.array(_running_count(owners), pa.int32()),
                "text": pa.repeat("", len(pairs)),
            },
        ),
        NUGGET_QRELS.name: judgments,
    }


def sorted_digest(judgments: pa.Table) -> str:
    """Return the canonical digest of the ``nugget_qrels`` of ``judged_tables``, whose rows are in any order."""
    codes = {column: _codes(judgments[column]) for column in _IDS}
    words = {column: judgments[column].chunk(0).dictionary for column in _IDS}
    ranks = []
    for column in reversed(_IDS):  # lexsort takes the first key last
        rank = np.empty(len(words[column]), np.int64)
        rank[pc.sort_indices(words[column]).to_numpy()] = np.arange(len(rank))
        ranks.append(rank[codes[column]])
    order = np.lexsort(ranks)
    encoded = {column: json_values(words[column]) for column in _IDS}  # each id once, however often it occurs
    scores = judgments["score"].to_numpy()
    digest = TableDigest()
    for start in range(0, len(order), _CHUNK):
        chunk = order[start : start + _CHUNK]
        columns = {column: encoded[column].take(pa.array(codes[column][chunk])) for column in _IDS}
        columns["score"] = json_values(pa.array(scores[chunk]))
        columns["call-id"] = json_values(pa.nulls(len(chunk), pa.string()))
        digest.update_encoded(columns)
    return digest.hexdigest()


def _judgments(rows: list[Any]) -> pa.Table:
    """Return the rows in Arrow; look at each only when a quick look finds something."""
    try:
        # zip(*rows) would make an iterator a row, which costs more than all the rest.
        queries, nuggets, documents, scores = ([row[i] for row in rows] for i in range(4))
        columns = [_coded(ids) for ids in (queries, nuggets, documents)]
        plain = (
            all(all_allowed(ids.dictionary.to_pylist()) for ids in columns)
            and set(map(type, scores)) <= {int}
            and set(scores) <= {0, 1}
        )
        plain = plain and set(map(len, rows)) <= {4}
    except (TypeError, ValueError, LookupError):  # not four columns, or ids that are no strings
        plain = False
    if not plain:
        checked: list[Any] = [_checked(number, row) for number, row in enumerate(rows, start=1)]
        queries, nuggets, documents, scores = ([row[i] for row in checked] for i in range(4))
        columns = [_coded(ids) for ids in (queries, nuggets, documents)]
    calls = pa.nulls(len(rows), pa.string())
    return pa.table([*columns, pa.array(scores, pa.int32()), calls], NUGGET_QRELS.schema.names)


def _coded(ids: Sequence[str]) -> pa.DictionaryArray:
    """Return ids as numbers by first appearance, and the words that the numbers stand for."""
    number: defaultdict[str, int] = defaultdict(count().__next__)  # a new id gets the next number, in one pass
    codes = np.fromiter(map(number.__getitem__, ids), np.int32, len(ids))
    return pa.DictionaryArray.from_arrays(codes, pa.array(list(number), pa.string()))


def _checked(number: int, row: Any) -> tuple[str, str, str, int]:
    """Return a row unchanged, or say what is wrong with it."""
    if not isinstance(row, tuple | list) or len(row) != 4:
        expected = "(query id, nugget id, document id, score)"
        raise RecordError(f"row {number}", expected=expected, got=f"{shown(row)} ({type(row).__name__})")
    query_id, nugget_id, doc_id, score = row
    for value, kind in ((query_id, "query"), (nugget_id, "nugget"), (doc_id, "document")):
        check_id(value, kind)
    if isinstance(score, bool | np.ndarray) or score not in (0, 1):
        where = f"query {shown(query_id)}, nugget {shown(nugget_id)}, document {shown(doc_id)}: score"
        raise RecordError(where, expected="0 or 1", got=f"{shown(score)} ({type(score).__name__})")
    return query_id, nugget_id, doc_id, int(score)


def _check_once(judgments: pa.Table, keys: NDArray[np.int64]) -> None:
    """Check that no three ids come twice; ``keys`` is a number for each three."""
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(np.diff(keys[order]) == 0)
    if len(twice):
        row = int(order[twice + 1].min())  # the first that repeats an earlier one
        query_id, nugget_id, doc_id = (shown(judgments[column][row].as_py()) for column in _IDS)
        what = f"query {query_id}, nugget {nugget_id}, document {doc_id}"
        raise RecordError(what, expected="one judgment", got="another one")


def _codes(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return the numbers of a dictionary-encoded column of one chunk."""
    return np.asarray(column.chunk(0).indices.to_numpy(), np.int64)


def _running_count(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every entry how many equal ones came before it."""
    order = np.argsort(codes, kind="stable")
    ranked = codes[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    counts = np.empty(len(codes), np.int64)
    counts[order] = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
    return counts


def _filled(schema: pa.Schema, columns: Mapping[str, pa.Array]) -> pa.Table:
    """Return a table with the columns given and null in the others."""
    rows = len(next(iter(columns.values())))
    arrays = [columns.get(field.name, pa.nulls(rows, field.type)) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)
