"""What is concluded from the values per query, as frozen records."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a system stands on one scope, by one measure.

    Args:
        entry_id: The system.
        value: Its mean.
        low: The low end of its 95 % stratified bootstrap interval.
        high: The high end.
        rank: 1 and how many have a larger mean.
        rank_low: The low end of the 95 % interval of its rank.
        rank_high: The high end.
        first: The share of resamples in which it is first.
        top3: The share of resamples in which it is among the first three.
        tier: From 1; the data cannot tell the systems of a tier from the first of it.
    """

    entry_id: str
    value: float
    low: float
    high: float
    rank: int
    rank_low: int
    rank_high: int
    first: float
    top3: float
    tier: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems on the same queries; the sign is that of the first minus the second.

    Args:
        first: The first system.
        second: The second one.
        difference: The difference of their means.
        low: The low end of its 95 % paired stratified bootstrap interval.
        high: The high end.
        p: The two-sided p-value of the paired sign-flip permutation test.
        p_max_t: The same, adjusted for all pairs of the scope by max-T.
        effect: Cohen's d_z: the mean difference in standard deviations of the differences; 0 where none varies.
        wins: Queries on which the first is better.
        ties: Queries on which both are the same.
        losses: Queries on which the second is better.
        detectable: The smallest difference that so many queries would show with a power of 80 %.
        warning: What makes the two hard to compare; "" for nothing.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_max_t: float
    effect: float
    wins: int
    ties: int
    losses: int
    detectable: float
    warning: str = ""

    def turned(self) -> Self:
        """Return the same pair the other way round."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            effect=-self.effect,
            wins=self.losses,
            losses=self.wins,
        )


@dataclass(frozen=True, eq=False)
class Verdict:
    """The systems of a board that were tested against each other on one scope, by one measure.

    Args:
        scope: A topic, or ``MACRO``.
        measure: The measure's printed form.
        queries: How many queries each was scored on.
        standings: The systems, by falling mean.
        pairs: Each pair of systems once, the one with the larger mean first.
        baseline: The system that all others are held against; None where it was not tested.
        holm: The p-value of each other system against it, adjusted by Holm's method for all of them.
    """

    scope: str
    measure: str
    queries: int
    standings: tuple[Standing, ...]
    pairs: Mapping[tuple[str, str], Pair] = field(repr=False)
    baseline: str | None
    holm: Mapping[str, float] = field(repr=False)

    def pair(self, first: str, second: str) -> Pair:
        """Return how two systems differ.

        Raises:
            KeyError: One of them was not tested.
        """
        found = self.pairs.get((first, second))
        return found if found is not None else self.pairs[second, first].turned()

    def standing(self, entry_id: str) -> Standing | None:
        """Return where a system stands; None when it was not tested."""
        return next((standing for standing in self.standings if standing.entry_id == entry_id), None)


@dataclass(frozen=True, slots=True)
class Concordance:
    """How alike several ways to order the same systems are.

    Args:
        what: What the ways are: ``measures``, ``topics`` or ``snapshots``.
        within: Where they were compared: a scope for measures, a measure for topics.
        names: The ways.
        systems: How many systems each orders.
        tau: Kendall's tau-b of each two, of shape (names, names); None where it is not defined.
    """

    what: str
    within: str
    names: tuple[str, ...]
    systems: int
    tau: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, eq=False)
class Verdicts:
    """All verdicts of a board.

    Args:
        verdicts: By scope and measure; a scope on which fewer than two systems were tested is missing.
        concordances: Kendall's tau between measures on each scope, and between topics by each measure, over all
            ranked systems that have every value.
        resamples: Resamples of the bootstrap, and sign flips of the permutation test.
        seed: Where their random numbers started.
    """

    verdicts: Mapping[tuple[str, str], Verdict]
    concordances: tuple[Concordance, ...]
    resamples: int
    seed: int
