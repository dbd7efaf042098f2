"""What is checked of a run that came from outside, and how the first offender is named."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.errors import RecordError, RunError, shown
from freshstack_datasets.records import all_allowed, check_id


def _doubles(scores: Sequence[float], where: Callable[[int], tuple[object, object]]) -> NDArray[np.float64]:
    """Return scores as doubles.

    Args:
        scores: The scores, any real numbers.
        where: From a place in ``scores`` to its query id and document id, for the message.

    Raises:
        RunError: One is not a finite number; the first is named.
    """
    try:
        sum(scores)  # numpy would take the string "1.5" for a number; a sum does not
        with np.errstate(over="ignore"):  # a longer float may become infinite, which is looked for next
            values = np.fromiter(scores, np.float64, len(scores))
        if np.isfinite(values).all():
            return values
    except (TypeError, ValueError, ArithmeticError):
        pass
    given: Sequence[object] = scores  # whatever the annotation promised
    for i, score in enumerate(given):
        try:
            finite = not isinstance(score, str | bytes) and bool(np.isfinite(float(score)))  # type: ignore[arg-type]  # the check
        except (TypeError, ValueError, OverflowError):
            finite = False
        if not finite:
            raise bad_score(*where(i), score)
    return np.asarray([float(score) for score in scores], np.float64)


def bad_score(query_id: object, doc_id: object, score: object) -> RunError:
    """Return the error for a score that no document can be ranked by."""
    return RunError(
        f"query {shown(query_id)}, document {shown(doc_id)}: score",
        expected="a finite number",
        got=f"{shown(score)} ({type(score).__name__})",
    )


def check_ids(ids: Sequence[str], kind: str, where: Callable[[int], str] = lambda _: "") -> None:
    """Check many ids.

    Args:
        ids: The ids.
        kind: What they identify.
        where: From a place in ``ids`` to what a message about it begins with.

    Raises:
        RunError: One is not allowed; the first is named.
    """
    if all_allowed(ids):
        return
    for i, value in enumerate(ids):
        try:
            check_id(value, kind)
        except RecordError as error:
            raise RunError(f"{where(i)}{error}") from None


def checked_scores(
    query_ids: Sequence[str], numbers: NDArray[np.int64], doc_ids: Sequence[str], scores: Sequence[float]
) -> NDArray[np.float64]:
    """Check ids and scores that came from outside, and return the scores as doubles.

    Args:
        query_ids: The queries.
        numbers: The query of each entry.
        doc_ids: The document of each entry.
        scores: The score of each entry.

    Raises:
        RunError: One is not allowed; the first is named.
    """
    check_ids(query_ids, "query")
    check_ids(doc_ids, "document", lambda i: f"query {shown(query_ids[numbers[i]])}: ")
    return _doubles(scores, lambda i: (query_ids[numbers[i]], doc_ids[i]))


def refuse_repeats(
    query_ids: Sequence[str], numbers: NDArray[np.int64], doc_ids: Sequence[str], codes: NDArray[np.int32]
) -> None:
    """Refuse a document that comes twice for a query.

    Args:
        query_ids: The queries.
        numbers: The query of each entry.
        doc_ids: The vocabulary.
        codes: The place in it of each entry.

    Raises:
        RunError: There is one; the first entry that repeats an earlier one is named.
    """
    keys = numbers * max(1, len(doc_ids)) + codes
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return
    order = np.argsort(keys, kind="stable")
    again = int(order[1:][keys[order][1:] == keys[order][:-1]].min())
    what = f"query {shown(query_ids[numbers[again]])}, document {shown(doc_ids[codes[again]])}"
    raise RunError(what, expected="it once", got="it twice")
