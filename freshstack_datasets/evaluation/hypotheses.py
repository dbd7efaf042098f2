"""What is expected to help against each kind of question, and whether two results bear it out."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from freshstack_datasets.errors import NotComparableError, shown
from freshstack_datasets.evaluation.judgments import Scorable
from freshstack_datasets.evaluation.measures import Measure
from freshstack_datasets.evaluation.result import Result, check_result
from freshstack_datasets.evaluation.statistics import bootstrap_intervals, detectable_difference

_FILE = Path(__file__).with_name("hypotheses.toml")

Verdict = Literal["confirmed", "refuted", "open"]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A technique that is expected to be better on one type of question.

    Args:
        dataset: The dataset's full name.
        type: The type of question, as in ``queries.type``.
        claim: What is expected and why, in a sentence.
        better: The technique that is expected to win: hybrid, rewriting, reranker.
        than: What it has to beat: other techniques, or "without" for the same system without it.
        measure: What it is judged by.
    """

    dataset: str
    type: str
    claim: str
    better: str
    than: tuple[str, ...]
    measure: Measure


@dataclass(frozen=True, slots=True)
class Finding:
    """What two results say of a hypothesis.

    Args:
        hypothesis: The hypothesis.
        systems: The system with the technique, and the one it was compared with.
        queries: How many queries of the type there are.
        difference: The mean difference over them, first minus second.
        low: The low end of its 95 % paired bootstrap interval.
        high: The high end.
        detectable: The smallest difference that so many queries would show with a power of 80 %.
    """

    hypothesis: Hypothesis
    systems: tuple[str, str]
    queries: int
    difference: float
    low: float
    high: float
    detectable: float

    @property
    def verdict(self) -> Verdict:
        """What the interval says: "confirmed" when all of it is above 0, "refuted" when all is below, else "open".

        "Open" shows nothing but that a difference much larger than ``detectable`` is unlikely.
        """
        return "confirmed" if self.low > 0 else "refuted" if self.high < 0 else "open"

    def __str__(self) -> str:
        return (
            f"{self.hypothesis.type}, {self.hypothesis.better}: {self.verdict}: {self.systems[0]} minus {self.systems[1]} "
            f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}] in {self.hypothesis.measure}, "
            f"{self.queries} queries, detectable {self.detectable:.4f}"
        )


def hypotheses_of(dataset: str) -> tuple[Hypothesis, ...]:
    """Return what is expected of a dataset, one hypothesis for each type of question; of most datasets nothing.

    Args:
        dataset: The dataset's name, in full (``freshstack/nimbus``) or short (``nimbus``).
    """
    return _all().get(dataset.partition("@")[0].removeprefix("freshstack/"), ())


@cache
def _all() -> dict[str, tuple[Hypothesis, ...]]:
    written = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: tuple(_hypothesis(name, entry) for entry in entries) for name, entries in written.items()}


def _hypothesis(name: str, entry: dict[str, Any]) -> Hypothesis:
    told = {**entry, "than": tuple(entry["than"]), "measure": Measure.parse(entry["measure"])}
    return Hypothesis(f"freshstack/{name}", **told)


def weigh(hypothesis: Hypothesis, better: Result, baseline: Result, dataset: Scorable) -> Finding:
    """Hold a hypothesis against two results.

    That the first system has the technique, and the second one has not, is for the caller to know. A hypothesis with
    several systems in ``than`` is confirmed when it is against each of them.

    The interval is made with the resamples and the seed of the first result.

    Args:
        hypothesis: What is expected.
        better: The result of a system with the technique.
        baseline: The result of one that it is expected to beat, on the same snapshot.
        dataset: That snapshot.

    Raises:
        NotComparableError: The results are not of this snapshot or the hypothesis is on another dataset, or fewer than
            two queries are of its type.
        UnknownNameError: A result lacks the hypothesis's measure.
        InputError: A result is none.
    """
    check_result(better)
    check_result(baseline)
    if not better.fingerprint == baseline.fingerprint == dataset.fingerprint or better.dataset != hypothesis.dataset:
        raise NotComparableError(
            f"a finding on {hypothesis.dataset}",
            expected=f"two results on its snapshot #{dataset.fingerprint[:12]}",
            got=f"{_of(better)} and {_of(baseline)}",
        )
    types = dict(zip(*dataset.queries.columns("query_id", "type"), strict=True))
    asked = [query_id for query_id in better.query_ids if types.get(query_id) == hypothesis.type]
    if len(asked) < 2:
        what = f"a finding on questions of the type {shown(hypothesis.type)}"
        raise NotComparableError(what, expected="at least two queries", got=str(len(asked)))
    values, others = (result.per_query[hypothesis.measure] for result in (better, baseline))
    differences = np.array([[values[query_id] - others[query_id] for query_id in asked]])
    [[low, high]] = bootstrap_intervals(differences, better.resamples, better.seed).tolist()
    return Finding(
        hypothesis=hypothesis,
        systems=(better.system, baseline.system),
        queries=len(asked),
        difference=float(differences.mean()),
        low=low,
        high=high,
        detectable=float(detectable_difference(differences)[0]),
    )


def _of(result: Result) -> str:
    return f"{result.dataset}@{result.snapshot}#{result.fingerprint[:12]}"
