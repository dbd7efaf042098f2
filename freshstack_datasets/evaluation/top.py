"""The kernel: which judged documents stand where at the top of each ranking.

Measures need no more than that, so nothing is sorted. A ``Run`` is in the one ranking already, and only its first
entries are looked at. Of a nested mapping the scores are read once; the rank of a judged document is the number of
higher scores, plus the documents of the same score with a larger id. Both ways give the same ranks.

Both refuse what ``Run`` refuses, except that the ids of a mapping are only asked to be strings and not empty: one
with a tab in it is that of no document, and counts as not judged.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats, Ints, places, ranges
from freshstack_datasets.evaluation.judgments import Judgments
from freshstack_datasets.ranking import Run, as_run

BLOCK = 4096
"""Queries of a run that are looked up at once, which bounds the memory for it."""

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Top:
    """The judged documents at the top of the rankings of one run, by query and rank.

    Args:
        query: int64 of shape (found,), the number of the query.
        rank: int64 of shape (found,), from 1.
        pair: int64 of shape (found,), the pair of the judgments: this document for this query.
        returned: int64 of shape (queries,), how many documents the run gives for each query.
        ties: Documents whose place was decided by their id: those that stand directly behind one of the same score.
        missing: Queries of the dataset that the run lacks.
        extra: Queries of the run that the dataset lacks, the first few.
        extras: How many those are.
    """

    query: Ints
    rank: Ints
    pair: Ints
    returned: Ints
    ties: int
    missing: int
    extra: tuple[str, ...]
    extras: int

    def until(self, k: int) -> tuple[Ints, Ints, Ints]:
        """Return query, rank and pair of the documents within the first ``k`` ranks."""
        within = self.rank <= k
        return self.query[within], self.rank[within], self.pair[within]


def top_of(run: Run | Mapping[str, Mapping[str, float]], judgments: Judgments, depth: int) -> Top:
    """Return the judged documents within the first ``depth`` ranks.

    Raises:
        RunError: An id or a score of the run is not allowed; the first offender is named.
    """
    if isinstance(run, Mapping):
        try:
            with np.errstate(all="ignore"):
                top = _top_of_mapping(run, judgments, depth)
        except (TypeError, ValueError, OverflowError, AttributeError, struct.error):
            top = None
        if top is not None:
            return top
    return _top_of_run(as_run(run), judgments, depth)  # names what is wrong with a mapping, or finds nothing


def _top_of_run(run: Run, judgments: Judgments, depth: int) -> Top:
    numbers = np.fromiter((judgments.numbers.get(q, -1) for q in run.query_ids), np.int64, len(run))
    known = np.argsort(numbers, kind="stable")[int((numbers < 0).sum()) :]
    lengths = np.diff(run.offsets)
    returned = np.zeros(len(judgments.query_ids), np.int64)
    returned[numbers[known]] = lengths[known]
    blocks = [_found(run, known[i : i + BLOCK], numbers, judgments, depth) for i in range(0, len(known), BLOCK)]
    query, rank, pair = (np.concatenate(parts) for parts in zip(*blocks, strict=True)) if blocks else [_NONE] * 3
    extra = [run.query_ids[i] for i in np.flatnonzero(numbers < 0)[:3]]
    missing = len(judgments.query_ids) - len(known)
    return Top(query, rank, pair, returned, _ties(run, numbers), missing, tuple(extra), len(run) - len(known))


def _found(run: Run, known: Ints, numbers: Ints, judgments: Judgments, depth: int) -> tuple[Ints, Ints, Ints]:
    """Look up the first entries of some queries of the run."""
    starts = run.offsets[known]
    lengths = np.minimum(run.offsets[known + 1] - starts, depth)
    query = np.repeat(numbers[known], lengths)
    pair = judgments.pairs_of(run.doc_ids, run.codes[ranges(starts, lengths)].astype(np.int64), query)
    found = np.flatnonzero(pair >= 0)
    return query[found], places(query)[found] + 1, pair[found]


def _ties(run: Run, numbers: Ints) -> int:
    behind = np.flatnonzero(run.scores[1:] == run.scores[:-1]) + 1
    if not len(behind):
        return 0
    query = np.searchsorted(run.offsets, behind, "right") - 1
    return int(((run.offsets[query] < behind) & (numbers[query] >= 0)).sum())


def _top_of_mapping(run: Mapping[str, Mapping[str, float]], judgments: Judgments, depth: int) -> Top | None:
    """Read a nested mapping; None, or an error of whatever kind, when something in it needs a closer look."""
    "".join(run)  # refuses what is no string
    if "" in run:
        return None
    returned = np.zeros(len(judgments.query_ids), np.int64)
    numbers, ranks, pairs, extra = [_NONE], [_NONE], [_NONE], []
    ties = 0
    for query_id, documents in run.items():
        dict[str, float]().update(**documents)  # refuses ids that are no strings; a copy is quicker than any loop
        scores = np.frombuffer(struct.pack(f"{len(documents)}d", *documents.values()))  # refuses text
        falling = bool((scores[1:] < scores[:-1]).all())
        rising = scores[::-1] if falling else np.sort(scores)  # as a row of numbers, NaN last
        if not (np.isfinite(rising[:1]).all() and np.isfinite(rising[-1:]).all()) or "" in documents:
            return None
        number = judgments.numbers.get(query_id)
        if number is None:
            extra.append(query_id)
            continue
        returned[number] = len(scores)
        ties += 0 if falling else int(np.count_nonzero(rising[1:] == rising[:-1]))
        judged = judgments.documents[number]
        doc_ids = list(documents.keys() & judged.keys())
        numbers.append(np.full(len(doc_ids), number))
        ranks.append(_ranks(documents, doc_ids, scores, rising, strict=falling))
        pairs.append(np.array([judged[doc_id] for doc_id in doc_ids], np.int64))
    query, rank, pair = (np.concatenate(parts) for parts in (numbers, ranks, pairs))
    order = np.lexsort((rank, query))  # of the judged documents that were found, a few of each query
    order = order[rank[order] <= depth]
    missing = len(judgments.query_ids) - len(run) + len(extra)
    return Top(query[order], rank[order], pair[order], returned, ties, missing, tuple(extra[:3]), len(extra))


def _ranks(documents: Mapping[str, float], doc_ids: list[str], scores: Floats, rising: Floats, *, strict: bool) -> Ints:
    """Return the ranks of some of the documents, from 1, given all scores also in rising order.

    Args:
        documents: The scores of one query.
        doc_ids: The documents that are asked for.
        scores: The scores in the order of ``documents``.
        rising: The same in rising order.
        strict: Whether no two are the same.
    """
    own = np.array([documents[doc_id] for doc_id in doc_ids], np.float64)
    not_higher = rising.searchsorted(own, "right")
    ranks: Ints = len(rising) + 1 - not_higher
    if strict:
        return ranks
    tied = np.flatnonzero(not_higher - rising.searchsorted(own) > 1)
    everyone = list(documents) if len(tied) else []
    for score in set(own[tied].tolist()):
        group = sorted((everyone[i] for i in np.flatnonzero(scores == score)), reverse=True)
        for i in tied[own[tied] == score]:
            ranks[i] += group.index(doc_ids[i])
    return ranks
