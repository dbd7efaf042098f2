"""Runs and judgments in ``ranx``, and runs made with it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from freshstack_datasets.errors import InputError, MissingExtraError, RunError, shown
from freshstack_datasets.ranking import Run, as_run

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset

__all__ = ["qrels", "read", "run"]


def run(run: Run | Mapping[str, Mapping[str, float]]) -> Any:
    """Return a run as ``ranx`` takes it.

    Documents of the same score come in no certain order there. Give ``ranx.evaluate`` a ``make_comparable=True`` when
    the run lacks queries of the judgments, or has others.

    Args:
        run: The run, or query id to document id to score.

    Returns:
        A ``ranx.Run`` of the same name.

    Raises:
        MissingExtraError: ranx is not installed.
        RunError: It is no run, or has no document.
        InputError: A document's id ends with NUL, which ranx would cut off.
    """
    given = as_run(run)
    scores = given.to_dict()
    if not len(given.codes):
        raise RunError("a run for ranx", expected="at least one document", got="none")
    _refuse_nul(scores)
    return _ranx().Run(scores, name=given.name)


def qrels(data: "Dataset") -> Any:
    """Return the judgments of a dataset as ``ranx`` takes them.

    The relevance of a document is the number of the query's nuggets that it supports. Those judged with 0 are there:
    they count as not relevant in every measure of ranx, and as judged in those that ask for it.

    Measures mean the same as here: ``recall@k`` is ``Recall@k``, ``ndcg@k`` is ``nDCG@k`` (whose gain is that number),
    ``mrr@k`` is ``RR@k``, ``hit_rate@k`` is ``Success@k``, ``map@k`` is ``AP@k``. There is none of nuggets.

    Args:
        data: The dataset.

    Returns:
        A ``ranx.Qrels``.

    Raises:
        MissingExtraError: ranx is not installed.
        InputError: The dataset has no judgment, or a document's id ends with NUL, which ranx would cut off.
    """
    judged = {query_id: dict(documents) for query_id, documents in data.qrels.items()}
    if not any(judged.values()):
        raise InputError("judgments for ranx", expected="at least one", got="none")
    _refuse_nul(judged)
    return _ranx().Qrels(judged, name=data.name or None)


def read(run: Any) -> Run:
    """Return a run of ``ranx``, such as one that it fused, as a run of this package.

    Args:
        run: A ``ranx.Run``.

    Raises:
        MissingExtraError: ranx is not installed.
        RunError: It is no run of ranx, or holds a score that no document can be ranked by.
    """
    if not isinstance(run, _ranx().Run):
        raise RunError("a run", expected="a ranx.Run", got=f"{shown(run)} ({type(run).__name__})")
    return Run.from_dict(run.to_dict(), run.name or "run")


def _ranx() -> Any:
    try:
        import ranx
    except ModuleNotFoundError as error:
        if error.name != "ranx":
            raise
        raise MissingExtraError("ranx", "ranx") from None
    return ranx


def _refuse_nul(values: Mapping[str, Mapping[str, object]]) -> None:
    for documents in values.values():
        for doc_id in documents:
            if doc_id.endswith("\0"):
                raise InputError(
                    f"document id {shown(doc_id)}", expected="one that ranx keeps whole", got="NUL at its end"
                )
