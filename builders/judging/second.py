"""A second look at a share of what was judged, and how far both agree."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from builders.judging.packing import drawn
from builders.judging.records import Group
from builders.pipeline.records import Label
from freshstack_datasets.evaluation.agreement import cohen_kappa, cohen_kappa_interval

Pair = tuple[str, str]


def sampled(groups: Sequence[Group], share: float, seed: int) -> list[Group]:
    """Return the questions with the documents that are judged a second time.

    They are drawn from all documents of all questions at once; a larger share has all those of a smaller one.

    Args:
        groups: What was judged.
        share: The share of all pairs of a question and a document, above 0 and at most 1; one pair at least.
        seed: Another one draws others.
    """
    pairs = [(group.query.query_id, doc_id) for group in groups for doc_id in group.doc_ids]
    number = min(len(pairs), max(1, round(share * len(pairs))))
    taken = set(sorted(pairs, key=lambda pair: (drawn("sample", seed, *pair), pair))[:number])
    left = [(group, tuple(one for one in group.doc_ids if (group.query.query_id, one) in taken)) for group in groups]
    return [Group(group.query, group.nuggets, doc_ids) for group, doc_ids in left if doc_ids]


def agreement(groups: Sequence[Group], first: Iterable[Label], second: Iterable[Label]) -> dict[str, Any]:
    """Return how far two judgments of the same documents agree.

    Documents that one of them lacks do not count. Nor do those for which the very same call was made, whose reply was
    known: they were asked about once. Intervals are drawn by question.

    Args:
        groups: What was judged a second time.
        first: The labels that count.
        second: Those of the second pass.

    Returns:
        Of the ``documents``, relevant or not, and of the ``labels``, one for each document and nugget: how many were
        ``compared``, the share on which both ``agree``, and Cohen's ``kappa`` with the ends of its interval, ``low`` and
        ``high``, null where there is none; then how many documents were ``sampled``, are ``lacking`` in one of the two,
        or were the ``same_call``.
    """
    positions = {group.query.query_id: [nugget.position for nugget in group.nuggets] for group in groups}
    once, twice = _by_pair(first), _by_pair(second)
    pairs = [(group.query.query_id, doc_id) for group in groups for doc_id in group.doc_ids]
    both = [pair for pair in pairs if pair in once and pair in twice]
    apart = sorted(pair for pair in both if once[pair].call_id != twice[pair].call_id)
    labels = [(pair, position) for pair in apart for position in positions[pair[0]]]
    return {
        "documents": _measured(
            [bool(once[pair].supports) for pair in apart],
            [bool(twice[pair].supports) for pair in apart],
            [query_id for query_id, _ in apart],
        ),
        "labels": _measured(
            [position in once[pair].supports for pair, position in labels],
            [position in twice[pair].supports for pair, position in labels],
            [query_id for (query_id, _), _ in labels],
        ),
        "sampled": len(pairs),
        "lacking": len(pairs) - len(both),
        "same_call": len(both) - len(apart),
    }


def _by_pair(labels: Iterable[Label]) -> Mapping[Pair, Label]:
    return {(label.query_id, label.doc_id): label for label in labels}


def _measured(one: Sequence[bool], other: Sequence[bool], questions: Sequence[Hashable]) -> dict[str, Any]:
    interval = cohen_kappa_interval(one, other, questions)
    same = sum(a == b for a, b in zip(one, other, strict=True))
    return {
        "compared": len(one),
        "agree": same / len(one) if one else None,
        "kappa": cohen_kappa(one, other),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }
