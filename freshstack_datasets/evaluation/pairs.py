"""All systems against all others: paired tests that hold for every pair at once.

Whoever tests 780 pairs at 5 % finds 39 leads where there are none. So the p-value of a pair is also adjusted for all
pairs, by max-T (Westfall and Young, Resampling-Based Multiple Testing, 1993, algorithm 2.8; free step-down):

1. The statistic of a pair is its mean difference in units of its standard deviation under flipped signs, the root of
   the sum of w^2 d^2 over queries, with w the weight of a query in the mean. Each pair then weighs the same in what
   follows; with plain differences, two systems that differ wildly would hide a small sure lead between two others.
2. In each flip, which is one of the signs of queries for all pairs, the largest statistic is taken of the pair and of
   all pairs with a smaller one in the data. The adjusted p-value is how often that is at least as large as the pair's
   own in the data, and never smaller than that of a pair with a larger one.

A flip leaves alone how the differences of pairs hang together, so nothing is lost to those that move as one, as with
Bonferroni; and the chance of a single false lead is at most 5 %, whichever pairs are truly alike: those whose
differences are symmetric about 0 behave in a flip as they do in the data, whatever the others do.
"""

from dataclasses import dataclass

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats, Ints
from freshstack_datasets.evaluation.comparison import SAME
from freshstack_datasets.evaluation.statistics import BLOCK, detectable, middle
from freshstack_datasets.evaluation.strata import Strata, comparable

HELD = 4 * BLOCK
"""Numbers of pairs that are held at once."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Each two systems once; the sign is that of the first minus the second.

    Args:
        first: The row of the first system; int64 of shape (pairs,), as all that follow.
        second: The row of the second one, always larger.
        low: The low end of the 95 % paired stratified bootstrap interval of the difference.
        high: The high end.
        p: The two-sided p-value of the paired sign-flip test.
        p_max_t: The same, adjusted for all pairs.
        effect: Cohen's d_z: the mean difference in standard deviations of the differences; 0 where none varies.
        wins: Queries on which the first is better.
        ties: Queries on which both are the same.
        losses: Queries on which the second is better.
        detectable: The smallest difference that so many queries would show with a power of 80 %.
    """

    first: Ints
    second: Ints
    low: Floats
    high: Floats
    p: Floats
    p_max_t: Floats
    effect: Floats
    wins: Ints
    ties: Ints
    losses: Ints
    detectable: Floats


def compare_pairs(strata: Strata, resampled: Floats, flipped: Floats) -> Pairs:
    """Compare each two systems on the same queries.

    Args:
        strata: Values of one measure, a row a system, for each dataset, which count the same; at least two queries
            in each.
        resampled: What ``resampled_means`` made of them.
        flipped: What ``flipped_means`` made of them.
    """
    first, second = (rows.astype(np.int64) for rows in np.triu_indices(len(strata[0]), 1))
    spread = _Spread.of(strata, first, second)
    low, high = _intervals(resampled, first, second).T
    p, p_max_t = _tests(strata, flipped, first, second, spread)
    return Pairs(
        first=first,
        second=second,
        low=low,
        high=high,
        p=p,
        p_max_t=p_max_t,
        effect=spread.effect,
        wins=spread.wins,
        ties=sum(values.shape[1] for values in strata) - spread.wins - spread.losses,
        losses=spread.losses,
        detectable=detectable(spread.error, 1),
    )


@dataclass(frozen=True, eq=False)
class _Spread:
    """How the differences of each pair vary from query to query.

    Args:
        wins: Queries on which the first is better.
        losses: Queries on which the second is better.
        effect: The mean difference in standard deviations within a dataset.
        error: The standard error of the mean difference.
        flips: The standard deviation of the mean difference under flipped signs.
    """

    wins: Ints
    losses: Ints
    effect: Floats
    error: Floats
    flips: Floats

    @classmethod
    def of(cls, strata: Strata, first: Ints, second: Ints) -> "_Spread":
        """Measure the differences, for a bounded number of pairs at a time."""
        wins, losses = np.zeros(len(first), np.int64), np.zeros(len(first), np.int64)
        means, within, errors, flips = np.zeros((4, len(first)))
        for values in strata:
            queries = values.shape[1]
            step = max(1, HELD // queries)
            for at in range(0, len(first), step):
                part = slice(at, at + step)
                differences = values[first[part]] - values[second[part]]
                wins[part] += (differences > SAME).sum(axis=1)
                losses[part] += (differences < -SAME).sum(axis=1)
                means[part] += differences.mean(axis=1)
                variance = differences.var(axis=1, ddof=1)
                within[part] += variance
                errors[part] += variance / queries
                flips[part] += np.square(differences).sum(axis=1) / queries**2
        number = len(strata)
        deviation = np.sqrt(within / number)
        varies = (wins + losses > 0) & (deviation > SAME)
        effect = np.divide(means / number, deviation, out=np.zeros(len(first)), where=varies)
        return cls(wins, losses, effect, np.sqrt(errors) / number, np.sqrt(flips) / number)


def _intervals(resampled: Floats, first: Ints, second: Ints) -> Floats:
    """Return the intervals of the differences, float64 of shape (pairs, 2)."""
    step = max(1, HELD // resampled.shape[1])
    parts = [slice(at, at + step) for at in range(0, len(first), step)]
    found = [middle(resampled[first[part]] - resampled[second[part]]) for part in parts]
    return np.concatenate([np.empty((0, 2)), *found])


def _tests(strata: Strata, flipped: Floats, first: Ints, second: Ints, spread: _Spread) -> tuple[Floats, Floats]:
    """Return the p-value of each pair, and the one adjusted for all pairs.

    Statistics that are equal but for the rounding of double precision count as equal; a pair that never differs has
    the p-value 1 and takes no part in the largest of a flip.
    """
    differs = spread.wins + spread.losses > 0
    scale = np.divide(1.0, spread.flips, out=np.zeros(len(first)), where=differs)
    means = sum(comparable(values).sum(axis=1) / values.shape[1] for values in strata) / len(strata)
    observed = np.abs(means[first] - means[second])
    order = np.argsort(observed * scale, kind="stable")
    one, other = first[order], second[order]
    scale = scale[order][:, None]
    least = (observed[order] - _rounding(strata))[:, None] * scale
    as_far, larger = np.zeros((2, len(first)), np.int64)
    flips = flipped.shape[1]
    step = max(1, HELD // max(1, len(first)))
    for at in range(0, flips, step):
        block = flipped[:, at : at + step]
        statistics = np.abs(block[one] - block[other])
        statistics *= scale
        as_far += (statistics >= least).sum(axis=1)
        np.maximum.accumulate(statistics, axis=0, out=statistics)
        larger += (statistics >= least).sum(axis=1)
    p, adjusted = np.empty((2, len(first)))
    p[order] = (1 + as_far) / (flips + 1)
    adjusted[order] = np.maximum.accumulate((1 + larger[::-1]) / (flips + 1))[::-1]
    return np.where(differs, p, 1.0), np.where(differs, adjusted, 1.0)


def _rounding(strata: Strata) -> float:
    """Return what two means of differences may be apart that are equal but for rounding.

    ``comparable`` takes less than 2^(e - 53) of a value, where 2^e is at most four times queries * largest, so a mean
    of differences is off by less than 8 * queries * largest * 2^-53 and two of them by less than twice that.
    """
    bounds: list[float] = [float(np.abs(values).max()) * 16 * values.shape[1] / 2.0**53 for values in strata]
    return sum(bounds) / len(bounds)
