"""What drifted between two snapshots of a dataset: questions, documents, support, and where support comes from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builders.refreshing.documents import Moves, moves_of
from builders.refreshing.rules import EDITED, KEPT, NEW, RETIRED, same_texts
from builders.refreshing.sides import Side
from freshstack_datasets.records import Document


@dataclass(frozen=True, slots=True)
class Share:
    """How much of the support of nuggets comes from a repository.

    Args:
        repository: The repository, or for documents that are of none what their ids begin with.
        documents: How many documents of it support a nugget, before and now.
        nuggets: How many nuggets one of its documents supports, before and now.
    """

    repository: str
    documents: tuple[int, int]
    nuggets: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Drift:
    """What drifted.

    Nuggets and repositories are those of the questions that both snapshots have, with the same texts and nuggets.

    Args:
        before: What the earlier snapshot is called, and its fingerprint.
        now: What the newer one is called, and its fingerprint, "" where it has none yet.
        questions: How many are kept, edited, new and retired.
        retired: Why questions are retired, with how often, where that is known.
        kept_out: Why questions of the dump are kept out that would be new, with how often, where that is known.
        documents: How many are kept, moved, edited, gone and new.
        judgments: Of pairs of a question and a document, how many were carried over, how many are new, and how many were
            given up with their documents.
        nuggets: How many nuggets have support in both snapshots, in none, only now and only before.
        gained: The nuggets that have support only now: ids, their questions and texts.
        lost: Those that had it only before.
        repositories: Where support comes from, the largest share first.
    """

    before: tuple[str, str]
    now: tuple[str, str]
    questions: Mapping[str, int]
    retired: Mapping[str, int]
    kept_out: Mapping[str, int]
    documents: Mapping[str, int]
    judgments: Mapping[str, int]
    nuggets: Mapping[str, int]
    gained: tuple[tuple[str, str, str], ...]
    lost: tuple[tuple[str, str, str], ...]
    repositories: tuple[Share, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the same as JSON values."""
        named = [dict(zip(("name", "fingerprint"), one, strict=True)) for one in (self.before, self.now)]
        return {
            "before": named[0],
            "now": {name: value for name, value in named[1].items() if value},
            "questions": dict(self.questions),
            "retired": dict(self.retired),
            "kept_out": dict(self.kept_out),
            "documents": dict(self.documents),
            "judgments": dict(self.judgments),
            "nuggets": {**self.nuggets, "gained_ones": _listed(self.gained), "lost_ones": _listed(self.lost)},
            "repositories": [
                {
                    "repository": one.repository,
                    "documents": {"before": one.documents[0], "now": one.documents[1]},
                    "nuggets": {"before": one.nuggets[0], "now": one.nuggets[1]},
                }
                for one in self.repositories
            ],
        }


def drift(
    before: Side,
    now: Side,
    moves: Moves | None = None,
    retired: Iterable[str] = (),
    kept_out: Iterable[str] = (),
) -> Drift:
    """Return what drifted between two snapshots.

    Args:
        before: The earlier one.
        now: The newer one.
        moves: What became of the documents, where that is known.
        retired: Why questions of the earlier one were retired, a reason each.
        kept_out: Why questions were kept out that would be new, a reason each.
    """
    moves = moves or moves_of(before.documents, now.documents)
    fates = dict(_fates(before, now))
    same = [query_id for query_id, fate in fates.items() if fate == KEPT]
    questions = Counter(fates.values())
    counts, gained, lost = _nuggets(before, now, same)
    return Drift(
        before=(before.name, before.fingerprint),
        now=(now.name, now.fingerprint),
        questions={name: questions[name] for name in (KEPT, EDITED, NEW, RETIRED)},
        retired=dict(sorted(Counter(retired).items())),
        kept_out=dict(sorted(Counter(kept_out).items())),
        documents=dict(moves.counts),
        judgments=_judgments(before, now, moves, set(same)),
        nuggets=counts,
        gained=tuple(gained),
        lost=tuple(lost),
        repositories=tuple(_repositories(before, now, same)),
    )


def repository_of(document: Document) -> str:
    """Return the repository that a document is of, or else what its id begins with."""
    return str(document.metadata.get("repository") or document.doc_id.partition("/")[0])


def _fates(before: Side, now: Side) -> Iterator[tuple[str, str]]:
    """Yield what became of each question of either snapshot."""
    for query_id, query in now.queries.items():
        if query_id not in before.queries:
            yield query_id, NEW
            continue
        same = same_texts(query, before.queries[query_id]) and _texts(before, query_id) == _texts(now, query_id)
        yield query_id, KEPT if same else EDITED
    for query_id in before.queries:
        if query_id not in now.queries:
            yield query_id, RETIRED


def _texts(side: Side, query_id: str) -> list[str]:
    return [text for _, text in side.nuggets[query_id]]


def _nuggets(
    before: Side, now: Side, same: Iterable[str]
) -> tuple[dict[str, int], list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    """Return how many nuggets kept, lack, gained and lost their support, and which the latter are."""
    counts = Counter({"supported": 0, "unsupported": 0, "gained": 0, "lost": 0})
    gained: list[tuple[str, str, str]] = []
    lost: list[tuple[str, str, str]] = []
    for query_id in sorted(same):
        for (old_id, _), (new_id, text) in zip(before.nuggets[query_id], now.nuggets[query_id], strict=True):
            was, is_now = bool(before.support.get(old_id)), bool(now.support.get(new_id))
            if was == is_now:
                counts["supported" if was else "unsupported"] += 1
                continue
            counts["gained" if is_now else "lost"] += 1
            (gained if is_now else lost).append((new_id, query_id, text))
    return dict(counts), gained, lost


def _judgments(before: Side, now: Side, moves: Moves, same: set[str]) -> dict[str, int]:
    old = {(query_id, doc_id) for query_id in before.judged for doc_id in before.judged[query_id]}
    new = {(query_id, doc_id) for query_id in now.judged for doc_id in now.judged[query_id]}
    places = {
        (query_id, moves.places[doc_id]) for query_id, doc_id in old if query_id in same and doc_id in moves.places
    }
    carried = len(places & new)
    return {"carried": carried, "new": len(new) - carried, "given_up": len(old) - carried}


def _repositories(before: Side, now: Side, same: Iterable[str]) -> Iterator[Share]:
    """Yield where the support of the nuggets of kept questions came from, and comes from."""
    kept = set(same)
    found: dict[str, list[list[set[str]]]] = {}
    for at, side in enumerate((before, now)):
        of = _supporting(side, kept)
        for document in side.documents if of else ():
            if nuggets := of.get(document.doc_id):
                place = found.setdefault(repository_of(document), [[set(), set()], [set(), set()]])
                place[at][0].add(document.doc_id)
                place[at][1].update(nuggets)
    shares = [
        Share(name, (len(was[0]), len(is_now[0])), (len(was[1]), len(is_now[1])))
        for name, (was, is_now) in found.items()
    ]
    yield from sorted(shares, key=lambda one: (-one.nuggets[1], -one.nuggets[0], one.repository))


def _supporting(side: Side, kept: set[str]) -> dict[str, set[str]]:
    """Return by document the nuggets of some questions that it supports."""
    found: dict[str, set[str]] = {}
    for query_id in kept:
        for nugget_id, _ in side.nuggets[query_id]:
            for doc_id in side.support.get(nugget_id, ()):
                found.setdefault(doc_id, set()).add(nugget_id)
    return found


def _listed(nuggets: Iterable[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [dict(zip(("nugget", "query", "text"), one, strict=True)) for one in nuggets]
