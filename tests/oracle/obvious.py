"""The measures once more, slow and obvious: lists, sets and loops over one query, as the definitions read."""

import math
import random
from dataclasses import dataclass, field

from freshstack_datasets.loading import Dataset


@dataclass
class Case:
    """Judgments of some queries and a run; scores are distinct within a query unless ``ties``."""

    rows: list[tuple[str, str, str, int]] = field(default_factory=list)
    run: dict[str, dict[str, float]] = field(default_factory=dict)

    def dataset(self) -> Dataset:
        return Dataset.from_nugget_qrels(self.rows, name="random", snapshot="2026-01")

    def nuggets(self) -> dict[str, dict[str, set[str]]]:
        """Query to nugget to the documents that support it."""
        found: dict[str, dict[str, set[str]]] = {}
        for query_id, nugget_id, doc_id, score in self.rows:
            supporting = found.setdefault(query_id, {}).setdefault(nugget_id, set())
            if score:
                supporting.add(doc_id)
        return found

    def judged(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for query_id, _, doc_id, _ in self.rows:
            found.setdefault(query_id, set()).add(doc_id)
        return found

    def qrels(self) -> dict[str, dict[str, int]]:
        """Query to judged document to the number of nuggets it supports."""
        nuggets = self.nuggets()
        return {
            query_id: {doc_id: sum(doc_id in found for found in nuggets[query_id].values()) for doc_id in judged}
            for query_id, judged in self.judged().items()
        }


def random_case(seed: int, queries: int = 60, *, ties: bool = False, whole: bool = False) -> Case:
    """Make a case: few or many nuggets and documents, nuggets without support, queries that the run lacks.

    With ``whole``, every nugget is supported and every query ranked.
    """
    dice = random.Random(seed)
    case = Case()
    for number in range(queries):
        query_id = str(number)
        docs = [f"d{i}" for i in dice.sample(range(100), dice.randint(5, 45))]
        for nugget in range(dice.randint(1, 6)):
            judged = dice.sample(docs, dice.randint(1, min(15, len(docs))))
            likely = 0.0 if not whole and dice.random() < 0.15 else 0.4
            scores = [int(dice.random() < likely) for _ in judged]
            if whole:
                scores[0] = 1
            case.rows += [(query_id, f"{query_id}_{nugget}", d, s) for d, s in zip(judged, scores, strict=True)]
        if whole or dice.random() < 0.95:
            others = [f"x{i}" for i in range(dice.randint(0, 25))]
            ranked = dice.sample(docs + others, dice.randint(int(whole), len(docs + others)))
            scores = [dice.randint(0, 4) for _ in ranked] if ties else dice.sample(range(1000), len(ranked))
            case.run[query_id] = dict(zip(ranked, scores, strict=True))
    return case


def ranking(scores: dict[str, float]) -> list[str]:
    """Order by falling score, the same score by falling id."""
    by_id = sorted(scores, reverse=True)
    return sorted(by_id, key=lambda doc_id: -scores[doc_id])


def all_measures(case: Case, k: int, alpha: float) -> dict[str, dict[str, float]]:
    """Compute every measure at ``k``, by name and query."""
    found: dict[str, dict[str, float]] = {}
    judged, qrels = case.judged(), case.qrels()
    for query_id, nuggets in case.nuggets().items():
        ranked = ranking(case.run.get(query_id, {}))
        values = _of_query(ranked, nuggets, judged[query_id], qrels[query_id], k, alpha)
        for name, value in values.items():
            found.setdefault(name, {})[query_id] = value
    return found


def _of_query(
    ranked: list[str], nuggets: dict[str, set[str]], judged: set[str], gains: dict[str, int], k: int, alpha: float
) -> dict[str, float]:
    top = ranked[:k]
    relevant = {doc_id for doc_id, gain in gains.items() if gain}
    hits = [doc_id for doc_id in top if doc_id in relevant]
    ranks = [rank for rank, doc_id in enumerate(top, 1) if doc_id in relevant]
    return {
        f"alpha_nDCG(alpha={alpha})@{k}": _ratio(
            _alpha_dcg(top, nuggets, alpha), _alpha_dcg(_greedy(judged, nuggets, k, alpha), nuggets, alpha)
        ),
        f"Coverage@{k}": sum(bool(found & set(top)) for found in nuggets.values()) / len(nuggets),
        f"Recall@{k}": _ratio(len(hits), len(relevant)),
        f"P@{k}": len(hits) / k,
        f"Success@{k}": float(bool(hits)),
        f"RR@{k}": 1 / ranks[0] if ranks else 0.0,
        f"AP@{k}": _ratio(sum(n / rank for n, rank in enumerate(ranks, 1)), len(relevant)),
        f"Judged@{k}": _ratio(sum(doc_id in judged for doc_id in top), len(top)),
        f"nDCG@{k}": _ratio(
            _dcg([gains.get(doc_id, 0) for doc_id in top]), _dcg(sorted(gains.values(), reverse=True)[:k])
        ),
        f"nDCG(gain=binary)@{k}": _ratio(
            _dcg([doc_id in relevant for doc_id in top]), _dcg([1] * min(k, len(relevant)))
        ),
    }


def _ratio(value: float, whole: float) -> float:
    return value / whole if whole else 0.0


def _dcg(gains: list[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _gain(doc_id: str, above: list[str], nuggets: dict[str, set[str]], alpha: float) -> float:
    seen = [sum(other in found for other in above) for found in nuggets.values() if doc_id in found]
    return math.fsum((1 - alpha) ** times for times in seen)


def _alpha_dcg(ranked: list[str], nuggets: dict[str, set[str]], alpha: float) -> float:
    gains = [_gain(doc_id, ranked[:place], nuggets, alpha) for place, doc_id in enumerate(ranked)]
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _greedy(judged: set[str], nuggets: dict[str, set[str]], k: int, alpha: float) -> list[str]:
    ideal: list[str] = []
    left = sorted(judged, reverse=True)  # the larger id first, and max takes the first of equal ones
    while left and len(ideal) < k:
        best = max(left, key=lambda doc_id: _gain(doc_id, ideal, nuggets, alpha))
        left.remove(best)
        ideal.append(best)
    return ideal
