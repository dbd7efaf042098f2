"""Tables made of judgments alone, as quickly as millions of rows ask for."""

from collections.abc import Iterable, Mapping
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from freshstack_datasets.digest import TableDigest
from freshstack_datasets.errors import RecordError, shown
from freshstack_datasets.records import check_id
from freshstack_datasets.tables import NUGGET_QRELS, NUGGETS, QUERIES

_IDS = ("query-id", "nugget-id", "corpus-id")
_CHUNK = 500_000


def judged_tables(rows: Iterable[tuple[str, str, str, int]]) -> Mapping[str, pa.Table]:
    """Return the tables queries, nuggets and nugget_qrels that follow from judgments.

    Args:
        rows: Query id, nugget id, document id and score.

    Raises:
        RecordError: An id or a score is not allowed, or three ids come twice; the first offender is named.
    """
    judgments = _judgments(list(rows))
    codes = {column: _codes(judgments[column])[0] for column in _IDS}
    _check_once(judgments, codes)
    pairs = codes["query-id"].astype(np.int64) << 32 | codes["nugget-id"]
    first = np.sort(np.unique(pairs, return_index=True)[1])
    nuggets = judgments.select(["query-id", "nugget-id"]).take(pa.array(first))
    queries = pc.unique(judgments["query-id"])
    owner = _codes(nuggets["query-id"])[0]
    return {
        QUERIES.name: _filled(QUERIES.schema, {"_id": queries, "text": pa.repeat("", len(queries))}),
        NUGGETS.name: _filled(
            NUGGETS.schema,
            {
                "_id": nuggets["nugget-id"],
                "query-id": nuggets["query-id"],
                "position": pa.array(_running_count(owner), pa.int32()),
                "text": pa.repeat("", len(nuggets)),
            },
        ),
        NUGGET_QRELS.name: judgments,
    }


def sorted_digest(judgments: pa.Table) -> str:
    """Return the canonical digest of a nugget_qrels table whose rows are in any order."""
    ranks = []
    for column in reversed(_IDS):  # lexsort takes the first key last
        codes, words = _codes(judgments[column])
        rank = np.empty(len(words), np.int64)
        rank[pc.sort_indices(words).to_numpy()] = np.arange(len(words))
        ranks.append(rank[codes])
    order = np.lexsort(ranks)
    digest = TableDigest()
    for start in range(0, len(order), _CHUNK):
        digest.update(judgments.take(pa.array(order[start : start + _CHUNK])))
    return digest.hexdigest()


def _judgments(rows: list[tuple[str, str, str, int]]) -> pa.Table:
    """Return the rows in Arrow; look at each only when a quick look finds something."""
    try:
        queries, nuggets, documents, scores = zip(*rows, strict=True) if rows else ((), (), (), ())
        if _plain_ids(queries, nuggets, documents) and set(map(type, scores)) <= {int} and set(scores) <= {0, 1}:
            columns = [pa.array(ids, pa.string()) for ids in (queries, nuggets, documents)]
            calls = pa.nulls(len(rows), pa.string())
            return pa.Table.from_arrays([*columns, pa.array(scores, pa.int32()), calls], schema=NUGGET_QRELS.schema)
    except (TypeError, ValueError):
        pass
    checked = [_checked(number, row) for number, row in enumerate(rows, start=1)]
    return pa.Table.from_pylist([dict(zip((*_IDS, "score"), row, strict=True)) for row in checked], NUGGET_QRELS.schema)


def _plain_ids(*columns: tuple[str, ...]) -> bool:
    """Tell whether all ids are allowed beyond doubt."""
    unique = set(chain.from_iterable(set(column) for column in columns))
    joined = "".join(unique)
    joined.encode()
    return "" not in unique and not any(mark in joined for mark in "\t\n\r")


def _checked(number: int, row: tuple[str, str, str, int]) -> tuple[str, str, str, int]:
    """Return a row unchanged, or say what is wrong with it."""
    if not isinstance(row, tuple | list) or len(row) != 4:
        expected = "(query id, nugget id, document id, score)"
        raise RecordError(f"row {number}", expected=expected, got=f"{shown(row)} ({type(row).__name__})")
    query_id, nugget_id, doc_id, score = row
    for value, kind in ((query_id, "query"), (nugget_id, "nugget"), (doc_id, "document")):
        check_id(value, kind)
    if isinstance(score, bool) or score not in (0, 1):
        where = f"query {shown(query_id)}, nugget {shown(nugget_id)}, document {shown(doc_id)}: score"
        raise RecordError(where, expected="0 or 1", got=f"{shown(score)} ({type(score).__name__})")
    return query_id, nugget_id, doc_id, int(score)


def _check_once(judgments: pa.Table, codes: Mapping[str, NDArray[np.int64]]) -> None:
    """Check that no three ids come twice."""
    order = np.lexsort([codes[column] for column in _IDS])
    same = np.ones(max(0, len(order) - 1), bool)
    for column in _IDS:
        ranked = codes[column][order]
        same &= ranked[1:] == ranked[:-1]
    if same.any():
        row = int(order[np.flatnonzero(same)[0]])
        query_id, nugget_id, doc_id = (shown(judgments[column][row].as_py()) for column in _IDS)
        what = f"query {query_id}, nugget {nugget_id}, document {doc_id}"
        raise RecordError(what, expected="one judgment", got="two")


def _codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Return a column as numbers, and the value that each number stands for; numbers by first appearance."""
    coded = pc.dictionary_encode(column).unify_dictionaries().combine_chunks()
    return coded.indices.to_numpy().astype(np.int64), coded.dictionary


def _running_count(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every entry how many equal ones came before it."""
    order = np.argsort(codes, kind="stable")
    ranked = codes[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-1))
    counts = np.empty(len(codes), np.int64)
    counts[order] = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
    return counts


def _filled(schema: pa.Schema, columns: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
    """Return a table with the columns given and null in the others."""
    rows = len(next(iter(columns.values())))
    arrays = [columns.get(field.name, pa.nulls(rows, field.type)) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)
