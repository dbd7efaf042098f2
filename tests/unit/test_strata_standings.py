"""Ranks, tiers and tau: cases that can be counted out."""

import math

import numpy as np
import pytest

from freshstack_datasets.evaluation.standings import kendall_tau, rank_intervals, ranks, tiers


def test_systems_with_the_same_mean_share_the_better_rank() -> None:
    # 0.1 + 0.2 and 0.3 are the same but for rounding
    assert ranks(np.array([[0.1 + 0.2], [0.7], [0.3], [0.1]])).ravel().tolist() == [2, 1, 2, 4]


def test_ranks_in_resamples_are_counted() -> None:
    # of 100 resamples, the first system is first in 97, third in 2 and fourth in 1. The middle 95 % of its ranks lie
    # between the places 2.475 and 96.525 of the places 0 to 99 in rising order; taken outwards, at the places 2 and 97
    first = np.array([0.9] * 97 + [0.2] * 2 + [0.05])
    resampled = np.stack([first, np.full(100, 0.5), np.full(100, 0.3), np.full(100, 0.1)])
    found = rank_intervals(np.array([0.8, 0.5, 0.3, 0.1]), resampled)
    assert found.rank.tolist() == [1, 2, 3, 4]
    # the second and third are one rank better in these 3 resamples, so at places 0 to 2; the fourth only at place 0
    assert found.low.tolist() == [1, 1, 2, 4]
    assert found.high.tolist() == [3, 2, 3, 4]
    assert found.first == pytest.approx([0.97, 0.03, 0, 0])
    assert found.few == pytest.approx([0.99, 1.0, 1.0, 0.01])


def test_the_interval_of_a_rank_holds_the_rank() -> None:
    # the best of many equal systems is rarely the best again
    generator = np.random.default_rng(0)
    values = generator.random((200, 25))
    resampled = np.stack([values[:, generator.integers(0, 25, 25)].mean(axis=1) for _ in range(300)], axis=1)
    found = rank_intervals(values.mean(axis=1), resampled)
    assert (found.low <= found.rank).all()
    assert (found.rank <= found.high).all()


def test_a_tier_holds_all_that_cannot_be_told_from_the_best_of_it() -> None:
    # of four systems, the best first: the second can be told from it, the third cannot, the fourth can; the second
    # and the fourth can be told apart as well
    p = np.ones((4, 4))
    for one, other, value in ((0, 1, 0.01), (0, 2, 0.2), (0, 3, 0.001), (1, 2, 0.9), (1, 3, 0.049), (2, 3, 0.05)):
        p[one, other] = p[other, one] = value
    assert tiers(p).tolist() == [1, 2, 1, 3]


def test_systems_that_can_all_be_told_apart_have_a_tier_each_and_none_has_none() -> None:
    assert tiers(np.zeros((3, 3))).tolist() == [1, 2, 3]
    assert tiers(np.empty((0, 0))).tolist() == []


def test_p_of_5_percent_cannot_tell_apart() -> None:
    assert tiers(np.full((2, 2), 0.05)).tolist() == [1, 1]
    assert tiers(np.full((2, 2), 0.0499)).tolist() == [1, 2]


def test_a_way_is_in_full_accord_with_itself_and_at_odds_with_its_reverse() -> None:
    tau = kendall_tau(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 3.0, 2.0]]))
    # the third order has the first's pairs (1, 2) and (1, 3) and turns (2, 3) round: (2 - 1) / 3
    assert tau.tolist() == [
        [1, -1, pytest.approx(1 / 3)],
        [-1, 1, pytest.approx(-1 / 3)],
        [pytest.approx(1 / 3), pytest.approx(-1 / 3), 1],
    ]


def test_tau_is_not_defined_where_nothing_is_put_in_order() -> None:
    assert all(map(math.isnan, kendall_tau(np.array([[1.0], [2.0]])).ravel()))
    assert all(map(math.isnan, kendall_tau(np.empty((2, 0))).ravel()))
    tau = kendall_tau(np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]]))
    assert [math.isnan(value) for value in tau.ravel()] == [True, True, True, False]
