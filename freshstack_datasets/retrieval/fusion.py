"""Fusion: one run out of several.

The normalised sum is what FreshStack pools documents with (Thakur et al., arXiv:2504.13128, section 3.4).
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import fsum

from freshstack_datasets.errors import InputError, UnknownNameError, shown
from freshstack_datasets.ranking import Run, as_run
from freshstack_datasets.retrieval.cut import check_k

NAME = "fusion"


def fuse(runs: Sequence[Run | Mapping[str, Mapping[str, float]]], method: str = "normalised-sum", k: int = 100) -> Run:
    """Return one run out of several, its ties in the one ranking.

    With ``normalised-sum`` a document's score for a query is the sum, over the runs that found it, of
    ``(s - min) / (max - min)``: ``s`` is its score in that run, and ``min`` and ``max`` are the least and the largest
    of the query's scores there. Where all of them are equal, as with a single document, each counts 1. A run that did
    not find the document adds 0, and so does one that found it last; a document that is in any run is in the list.

    Args:
        runs: The runs, at least one; a query that some of them lack is fused from the others.
        method: How: ``normalised-sum``.
        k: The most documents a query may have, at least 1.

    Returns:
        A run named ``fusion``, of all queries of the runs in the order in which they first come.

    Raises:
        InputError: There is no run, or ``k`` is no whole number or below 1.
        UnknownNameError: No method has that name.
        RunError: Something is no run.
    """
    k = check_k(k)
    if method not in _METHODS:
        raise UnknownNameError("method of fusion", method, _METHODS)
    if isinstance(runs, Run | Mapping | str) or not len(runs):
        raise InputError("the runs to fuse", expected="a list of at least one run", got=shown(runs))
    taken = [as_run(run) for run in runs]
    query_ids = dict.fromkeys(query_id for run in taken for query_id in run)
    fused = {query_id: _METHODS[method]([run[query_id] for run in taken if query_id in run]) for query_id in query_ids}
    return cut(Run.from_dict(fused, NAME), k)


def cut(run: Run, k: int) -> Run:
    """Return the best ``k`` documents of each query."""
    best = {query_id: dict(islice(documents.items(), k)) for query_id, documents in run.to_dict().items()}
    return Run.from_dict(best, run.name)


def _normalised_sum(lists: Sequence[Mapping[str, float]]) -> dict[str, float]:
    parts: dict[str, list[float]] = {}
    for found in lists:
        for doc_id, score in _normalised(found).items():
            parts.setdefault(doc_id, []).append(score)
    return {doc_id: fsum(scores) for doc_id, scores in parts.items()}  # exact, whatever the order of the runs


def _normalised(found: Mapping[str, float]) -> dict[str, float]:
    """Return scores between 0 and 1; their halves are subtracted, as the difference of two doubles may be infinite."""
    if not found:
        return {}
    least, most = min(found.values()) / 2, max(found.values()) / 2
    if least == most:
        return dict.fromkeys(found, 1.0)
    return {doc_id: (score / 2 - least) / (most - least) for doc_id, score in found.items()}


_METHODS: Mapping[str, Callable[[Sequence[Mapping[str, float]]], dict[str, float]]] = {
    "normalised-sum": _normalised_sum
}
