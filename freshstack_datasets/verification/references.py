"""Whether the tables of a snapshot fit together, once each of them has been looked at."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from freshstack_datasets.errors import shown
from freshstack_datasets.manifest import FILE
from freshstack_datasets.verification.problems import Report
from freshstack_datasets.verification.rows import SHOWN_ID, Seen

Ints = NDArray[np.int64]


def check_missing(missing: Sequence[str], corpus: Seen, report: Report) -> None:
    """Let judgments point to the documents that are said to be missing; report those that the corpus has.

    Args:
        missing: Their ids, each once.
        corpus: The corpus, whose rows went by; takes the ids.
        report: Takes the problems.
    """
    if corpus.complete and missing:
        ids = pa.array(missing, pa.large_string())
        there = pc.is_in(ids, corpus.ids).to_numpy(zero_copy_only=False)
        _add_missing(ids, np.flatnonzero(there), "the corpus has it", report)
        corpus.ids = pa.concat_arrays([corpus.ids, ids.filter(pa.array(~there))])


def _check_missing_judged(seen: Mapping[str, Seen], report: Report) -> None:
    """Report documents that are said to be missing though nobody judged them."""
    corpus, judged = seen["corpus"], seen["nugget_qrels"]
    if corpus.complete and judged.complete:
        assert corpus.ids is not None
        unused = np.setdiff1d(np.arange(corpus.rows, len(corpus.ids)), judged.codes["corpus-id"])
        _add_missing(corpus.ids, unused, "nobody judged it", report)


def _add_missing(ids: pa.Array, rows: Ints, why: str, report: Report) -> None:
    def told(row: int) -> tuple[str, str]:
        return str(ids[row].as_py())[:SHOWN_ID], f"listed as missing, but {why}"

    report.add_rows("wrong-missing", FILE, rows.tolist(), told)


def check_references(seen: Mapping[str, Seen], report: Report) -> None:
    """Report duplicates, queries without nugget, nuggets without judgment, and qrels that do not follow.

    A check whose tables could not all be read is left out.
    """
    for name in ("corpus", "queries", "nuggets"):
        _check_ids_once(seen[name], report)
    judged, qrels, nuggets, queries = (seen[n] for n in ("nugget_qrels", "qrels", "nuggets", "queries"))
    for table in (judged, qrels):
        _check_keys_once(table, seen, report)
    if nuggets.complete and queries.complete:
        _check_used(queries, nuggets.codes.get("query-id"), "query-without-nugget", "no row in nuggets", report)
    if judged.complete and nuggets.complete:
        message = "no row in nugget_qrels"
        _check_used(nuggets, judged.codes.get("nugget-id"), "nugget-without-judgment", message, report)
    if judged.complete and nuggets.complete and queries.complete:
        _check_owner(judged, seen, report)
    _check_missing_judged(seen, report)
    if all(table.complete for table in seen.values()):
        _check_qrels(judged, qrels, seen, report)


def _check_ids_once(table: Seen, report: Report) -> None:
    """Report ids that a table has more than once."""
    if table.ids is not None:
        again = np.flatnonzero(_first(table.ids[: table.rows]) != np.arange(table.rows))
        _add(table, "duplicate-id", again, lambda row: (table.key(row, {}), "another row has this id"), report)


def _first(ids: pa.Array) -> Ints:
    """Return for every row the first one that has its id."""
    place = pc.dictionary_encode(ids, null_encoding="encode").indices.to_numpy().astype(np.int64)
    first = np.unique(place, return_index=True)[1]
    answer: Ints = first[place]
    return answer


def _check_keys_once(table: Seen, seen: Mapping[str, Seen], report: Report) -> None:
    """Report keys that a table of judgments has more than once; rows that dangle are left out."""
    if not all(column in table.codes for column in table.table.key):
        return
    codes = [table.codes[column] for column in table.table.key]
    order = np.lexsort(codes[::-1])
    same = np.ones(max(0, len(order) - 1), bool)
    for code in codes:
        same &= (code[order][1:] == code[order][:-1]) & (code[order][1:] >= 0)
    again = order[1:][same]
    _add(table, "duplicate-id", again, lambda row: (table.key(row, seen), "another row has this key"), report)


def _check_used(table: Seen, codes: NDArray[np.int32] | None, code: str, message: str, report: Report) -> None:
    """Report rows that no row of another table points to."""
    if table.ids is None:
        return
    used = np.zeros(len(table.ids), bool)
    if codes is not None:
        used[codes[codes >= 0]] = True
    unused = np.flatnonzero(~used[_first(table.ids)])  # of rows with one id, the first is pointed to
    _add(table, code, unused, lambda row: (table.key(row, {}), message), report)


def _check_owner(judged: Seen, seen: Mapping[str, Seen], report: Report) -> None:
    """Report judgments of a nugget that belongs to another query."""
    query, nugget = judged.codes["query-id"], judged.codes["nugget-id"]
    owner = np.append(seen["nuggets"].codes["query-id"], -1)[nugget]
    wrong = np.flatnonzero((query >= 0) & (owner >= 0) & (query != owner))

    def told(row: int) -> tuple[str, str]:
        asked, owned = (shown(seen["queries"].key(int(place[row]), seen)) for place in (query, owner))
        return seen["nuggets"].key(int(nugget[row]), seen), f"a nugget of query {owned}, judged for query {asked}"

    _add(judged, "dangling", wrong, told, report)


def _check_qrels(judged: Seen, qrels: Seen, seen: Mapping[str, Seen], report: Report) -> None:
    """Report rows of qrels that do not follow from the judgments; rows that dangle are left out."""
    documents = len(seen["corpus"].ids) if seen["corpus"].ids is not None else 0
    wanted, supports = _sums(judged, documents)
    place = _keys(qrels, documents)
    rows = np.flatnonzero(place >= 0)
    at = np.searchsorted(wanted, place[rows])
    known = np.append(wanted, -1)[at] == place[rows]
    expected = np.append(supports, -1)[at]
    _add(qrels, "qrels-extra", rows[~known], lambda row: (qrels.key(row, seen), "nobody judged this pair"), report)
    assert qrels.scores is not None
    got = qrels.scores[rows]
    by_row = dict(
        zip(rows[known & (got != expected)].tolist(), expected[known & (got != expected)].tolist(), strict=True)
    )

    def told(row: int) -> tuple[str, str]:
        assert qrels.scores is not None
        return qrels.key(row, seen), f"expected {by_row[row]}, the nuggets it supports, got {qrels.scores[row]}"

    _add(qrels, "qrels-score", np.asarray(list(by_row), np.int64), told, report)
    lacking = np.setdiff1d(wanted, place)

    def lacks(i: int) -> tuple[str, str]:
        query, document = divmod(int(lacking[i]), documents)
        which = f"{seen['queries'].key(query, seen)} {seen['corpus'].key(document, seen)}"
        return which, "this pair was judged, but has no row"

    report.add_rows("qrels-missing", qrels.files[0], range(len(lacking)), lacks)


def _keys(table: Seen, documents: int) -> Ints:
    """Return a number for each row's query and document; -1 where one of them dangles."""
    query, document = table.codes["query-id"].astype(np.int64), table.codes["corpus-id"].astype(np.int64)
    return np.where((query >= 0) & (document >= 0), query * documents + document, -1)


def _sums(judged: Seen, documents: int) -> tuple[Ints, Ints]:
    """Return the judged pairs of query and document, ascending, and how many nuggets each supports."""
    pair = _keys(judged, documents)
    assert judged.scores is not None
    rows = np.flatnonzero((pair >= 0) & (judged.codes["nugget-id"] >= 0))
    pairs, place = np.unique(pair[rows], return_inverse=True)
    supports = np.bincount(place, judged.scores[rows] > 0, len(pairs))
    return pairs, supports.astype(np.int64)


def _add(table: Seen, code: str, rows: Ints, told: Callable[[int], tuple[str, str]], report: Report) -> None:
    """Report rows of a table, each in its file."""
    for file, mine in table.by_file(rows):
        report.add_rows(code, file, mine, told)
