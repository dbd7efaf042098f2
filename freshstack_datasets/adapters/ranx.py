"""Runs and judgments in ``ranx``, and runs made with it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from freshstack_datasets.adapters.given import check_dataset
from freshstack_datasets.adapters.libraries import Library
from freshstack_datasets.errors import InputError, RunError, shown
from freshstack_datasets.ranking import Run, as_run

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset

__all__ = ["qrels", "read", "run"]

_RANX = Library("ranx", "ranx")


def run(run: Run | Mapping[str, Mapping[str, float]]) -> Any:
    """Return a run as ``ranx`` takes it.

    Queries without documents are left out, which ranx cannot hold. Where the run lacks queries of the judgments, or has
    others, ``ranx.evaluate`` wants to be told ``make_comparable=True``. Documents of the same score come in no certain
    order there.

    Args:
        run: The run, or query id to document id to score.

    Returns:
        A ``ranx.Run`` of the same name.

    Raises:
        MissingExtraError: ranx is not installed.
        RunError: It is no run, or has no document.
    """
    given = as_run(run)
    if not len(given.codes):
        raise RunError("a run for ranx", expected="at least one document", got="none")
    return _filled("Run", given.name, given.to_dict())


def qrels(data: "Dataset") -> Any:
    """Return the judgments of a dataset as ``ranx`` takes them.

    The relevance of a document is the number of the query's nuggets that it supports. Those judged with 0 are there:
    they count as not relevant in every measure of ranx, and as judged in those that ask for it.

    Measures mean the same as here: ``recall@k`` is ``Recall@k``, ``ndcg@k`` is ``nDCG@k``, ``mrr@k`` is ``RR@k``,
    ``hit_rate@k`` is ``Success@k``, ``precision@k`` is ``P@k``, ``map@k`` is ``AP@k``. There is none of nuggets.

    Args:
        data: The dataset.

    Returns:
        A ``ranx.Qrels``.

    Raises:
        MissingExtraError: ranx is not installed.
        InputError: It is no dataset, or has no judgment.
    """
    check_dataset(data)
    if not any(data.qrels.values()):
        raise InputError("judgments for ranx", expected="at least one", got="none")
    return _filled("Qrels", data.name or None, data.qrels)


def read(run: Any) -> Run:
    """Return a run of ``ranx``, such as one that it fused, as a run of this package.

    Args:
        run: A ``ranx.Run``.

    Raises:
        MissingExtraError: ranx is not installed.
        RunError: It is no run of ranx, or holds a score that no document can be ranked by.
    """
    if not isinstance(run, _RANX.attribute("ranx", "Run")):
        raise RunError("a run", expected="a ranx.Run", got=f"{shown(run)} ({type(run).__name__})")
    return Run.from_dict(run.to_dict(), run.name or "run")


def _filled(kind: str, name: str | None, values: Mapping[str, Mapping[str, float]]) -> Any:
    """Return a run or qrels of ranx with what is to go in.

    A dictionary given to their constructor makes ranx compile itself anew for every length of the longest id, which
    takes longer than most evaluations, and cuts off a NUL at the end of an id.
    """
    made = _RANX.attribute("ranx", kind)
    _RANX.attribute(made, "add_multi")
    filled = made(name=name)
    some = {query_id: documents for query_id, documents in values.items() if documents}
    documents = [list(found) for found in some.values()]
    filled.add_multi(list(some), documents, [list(found.values()) for found in some.values()])
    return filled
