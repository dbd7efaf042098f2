"""How small a difference between two systems so many questions can show, and how many would show a smaller one.

It follows from how the difference varies from question to question. Where runs are at hand that is measured; before, it
can only be assumed: the paper and the leaderboard of FreshStack publish means alone, from which it does not follow.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from freshstack_datasets.errors import InputError, NotComparableError, shown
from freshstack_datasets.evaluation import DEFAULT_MEASURES, Result
from freshstack_datasets.evaluation.statistics import detectable

DIFFERENCES = (0.05, 0.03, 0.02)
"""Differences for which the number of questions is told. On the published leaderboard most neighbours are nearer than
0.02, and the five topics have 57 to 203 questions."""

KEPT = 1 - 0.118 - 0.342
"""The share of questions that the paper's filters left (arXiv:2504.13128, section 4): first those without a relevant
document went, then those with a nugget that no document supports."""

LEAST = 2
"""Questions without which two systems cannot be compared."""


@dataclass(frozen=True)
class Spread:
    """How the difference between two systems varies from question to question, as a standard deviation.

    Args:
        low: That of systems that are alike.
        high: That of systems that are not.
    """

    low: float
    high: float


ASSUMED: Mapping[str, Spread] = {
    "alpha_nDCG@10": Spread(0.24, 0.46),
    "Coverage@20": Spread(0.29, 0.46),
    "Recall@50": Spread(0.21, 0.33),
}
"""What ``python -m benchmarks.spread`` measures: BM25 beside its fusion with a small embedding model, and beside that
model alone. Low is the lower of the first on Nimbus and on 105 questions of coffee.stackexchange.com (0.27, 0.30, 0.21 and
0.24, 0.29, 0.23), high the higher of the second (0.46, 0.46, 0.33 and 0.40, 0.36, 0.23)."""


@dataclass(frozen=True)
class Power:
    """What so many questions can show in one measure; the first number of two is for the low spread.

    Args:
        spread: How the difference varies.
        difference: The smallest one that is found four times in five; None with too few questions to compare at all.
        needed: From a difference to how many questions are needed to find it four times in five.
    """

    spread: Spread
    difference: tuple[float, float] | None
    needed: Mapping[float, tuple[int, int]]


def power(spread: Spread, queries: int) -> Power:
    """Return what so many questions can show.

    Args:
        spread: How the difference between two systems varies from question to question.
        queries: How many questions there are.
    """
    needed = {aim: (_needed(spread.low, aim), _needed(spread.high, aim)) for aim in DIFFERENCES}
    if queries < LEAST:
        return Power(spread, None, needed)
    low, high = detectable(np.array([spread.low, spread.high]), queries).tolist()
    return Power(spread, (low, high), needed)


def _needed(spread: float, difference: float) -> int:
    """Return how many questions show a difference: ((z(0.975) + z(0.8)) * s / d)^2, and never fewer than can be compared."""
    of_one = float(detectable(np.array([spread]), 1)[0])
    return max(LEAST, math.ceil((of_one / difference) ** 2))


def measured(results: Sequence[Result]) -> dict[str, Spread]:
    """Return for each default measure the lowest and the highest spread of any two of some runs.

    Args:
        results: The results of two runs or more on the same queries.

    Raises:
        NotComparableError: There are fewer than two runs, or than two queries.
    """
    if len(results) < LEAST:
        raise NotComparableError("the spread of differences", expected="two runs or more", got=str(len(results)))
    if results[0].queries < LEAST:
        raise NotComparableError("the spread of differences", expected="two queries or more", got="1")
    spreads = [(one.values - other.values).std(axis=1, ddof=1) for one, other in combinations(results, 2)]
    lowest, highest = np.min(spreads, axis=0).tolist(), np.max(spreads, axis=0).tolist()
    names = (str(measure) for measure in DEFAULT_MEASURES)
    return {name: Spread(low, high) for name, low, high in zip(names, lowest, highest, strict=True)}


def parse_spread(text: str) -> Spread:
    """Return what somebody typed: one standard deviation, or a low and a high one with a comma between.

    Args:
        text: Such as ``0.3`` or ``0.2,0.4``.

    Raises:
        InputError: It is neither.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not 0 < numbers[0] <= numbers[-1] <= 1:
        expected = "a standard deviation above 0 and at most 1, or a low and a high one: 0.2,0.4"
        raise InputError("--spread", expected=expected, got=shown(text))
    return Spread(numbers[0], numbers[-1])
