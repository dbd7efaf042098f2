"""Where systems stand among others: ranks, how far these can be trusted, tiers, and how alike two orders are."""

from dataclasses import dataclass

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats, Ints
from freshstack_datasets.evaluation.comparison import SAME
from freshstack_datasets.evaluation.statistics import LEVEL

SIGNIFICANT = 0.05
"""Two systems with an adjusted p-value below it can be told apart."""

FEW = 3
"""The first places that ``Ranks.few`` counts."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """The ranks of systems; each array has one number a system.

    Args:
        rank: 1 and how many have a larger mean.
        low: The low end of the 95 % interval of the rank.
        high: The high end.
        first: The share of resamples in which it is first.
        few: The share of resamples in which it is among the first three.
    """

    rank: Ints
    low: Ints
    high: Ints
    first: Floats
    few: Floats


def rank_intervals(means: Floats, resampled: Floats) -> Ranks:
    """Return the ranks of systems and what becomes of them when other queries are drawn.

    The interval holds at least the middle 95 % of the ranks in resamples, as the percentile bootstrap has it, and
    always the rank itself. Systems with the same mean share the better rank, in a resample too.

    Args:
        means: The mean of each system; float64 of shape (systems,).
        resampled: What ``resampled_means`` made of their values; float64 of shape (systems, resamples).
    """
    rank = ranks(means[:, None])[:, 0]
    drawn = ranks(resampled)
    outside = (1 - LEVEL) / 2
    low = np.quantile(drawn, outside, axis=1, method="lower")
    high = np.quantile(drawn, 1 - outside, axis=1, method="higher")
    return Ranks(
        rank=rank,
        low=np.minimum(low, rank),
        high=np.maximum(high, rank),
        first=(drawn == 1).mean(axis=1),
        few=(drawn <= FEW).mean(axis=1),
    )


def ranks(means: Floats) -> Ints:
    """Return in each column 1 and how many rows have a larger mean.

    Means that are the same to nine decimals share a rank: rounding is no lead.

    Args:
        means: float64 of shape (systems, columns).
    """
    rounded = np.rint(means / SAME).T
    order = np.argsort(-rounded, axis=1, kind="stable")
    falling = np.take_along_axis(rounded, order, axis=1)
    places = np.broadcast_to(np.arange(1, len(means) + 1), falling.shape).copy()
    places[:, 1:][falling[:, 1:] == falling[:, :-1]] = 1
    found = np.empty_like(places)
    np.put_along_axis(found, order, np.maximum.accumulate(places, axis=1), axis=1)
    return found.T


def tiers(p: Floats) -> Ints:
    """Return the tier of each system, from 1.

    The best system heads the first tier, and with it are all that cannot be told apart from it. The best of the others
    heads the second one, and so on. So a system of a later tier can be told apart from the head of every earlier one,
    and a tier may have a hole: of two systems behind a head, the data may set the better one apart and not the other.

    Args:
        p: The adjusted p-value of each two systems, the best first; float64 of shape (systems, systems).
    """
    found = np.zeros(len(p), np.int64)
    left = np.arange(len(p))
    while len(left):
        alike = p[left[0], left] >= SIGNIFICANT
        alike[0] = True
        found[left[alike]] = found.max() + 1
        left = left[~alike]
    return found


def kendall_tau(orders: Floats) -> Floats:
    """Return Kendall's tau-b of each two ways to order the same systems (Kendall, 1945).

        tau = (concordant - discordant) / sqrt(pairs not tied in one * pairs not tied in the other)

    Values that are the same to nine decimals are tied.

    Args:
        orders: The values of each system in each way; float64 of shape (ways, systems).

    Returns:
        float64 of shape (ways, ways); NaN where a way ties all systems, or there are fewer than two.
    """
    placed = ranks(orders.T).T
    first, second = np.triu_indices(orders.shape[1], 1)
    signs = np.sign(placed[:, first] - placed[:, second])
    agree = signs @ signs.T
    untied = np.diag(agree)
    both: Floats = np.sqrt(np.outer(untied, untied).astype(np.float64))
    tau: Floats = np.divide(agree, both, out=np.full(both.shape, np.nan), where=both > 0)
    return tau
