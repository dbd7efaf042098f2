"""Intervals and p-values against scipy, and against cases that can be counted out."""

import math

import numpy as np
import pytest
from scipy import stats

from freshstack_datasets.evaluation.statistics import (
    bootstrap_intervals,
    detectable_difference,
    holm,
    middle,
    sign_flip_p,
)


@pytest.mark.parametrize("seed", range(3))
def test_intervals_are_those_of_scipy_but_for_the_random_numbers(seed: int) -> None:
    values = np.random.default_rng(seed).beta(0.5, 1.0, 150)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=seed).confidence_interval
    ours = bootstrap_intervals(values[None], seed=seed)[0]
    # an end is a quantile of 10,000 means of standard error se; its own error is about
    # se * sqrt(0.025 * 0.975 / 10,000) / 0.058 = 0.027 se (0.058: the normal density at 1.96); 5 sigma of two such
    allowed = 5 * 2**0.5 * 0.027 * values.std() / 150**0.5
    assert ours == pytest.approx([theirs.low, theirs.high], abs=allowed)


@pytest.mark.parametrize("resamples", [1, 2, 3, 39, 40, 41, 999, 10_000])
def test_the_ends_are_the_quantiles_of_numpy_to_the_last_bit(resamples: int) -> None:
    means = np.random.default_rng(resamples).choice([0.0, 0.1, 1 / 3, 0.7, 0.9, 1.1], (6, resamples))
    means[3:] = np.random.default_rng(resamples).normal(size=(3, resamples))
    outside = (1 - 0.95) / 2
    assert middle(means).tolist() == np.quantile(means, [outside, 1 - outside], axis=1).T.tolist()


def test_a_small_sample_has_the_interval_that_can_be_counted_out() -> None:
    # values 0, 0, 0, 1: the mean of a resample is B / 4 with B binomial(4, 1/4); P(B = 0) = 0.316, so the low end is
    # 0; P(B <= 2) = 0.949 < 0.975 < 0.996 = P(B <= 3), so the high end is 3/4
    assert bootstrap_intervals(np.array([[0.0, 0.0, 0.0, 1.0]])).tolist() == [[0.0, 0.75]]
    # one query can only be drawn itself
    assert bootstrap_intervals(np.array([[0.3]])).tolist() == [[0.3, 0.3]]


@pytest.mark.parametrize("queries", [1, 3, 100, 672])
def test_a_row_has_the_interval_of_exact_arithmetic_whatever_rows_stand_beside_it(queries: int) -> None:
    rows = np.random.default_rng(queries).normal(0, [[1e-6], [1.0], [30.0]], (3, queries))
    together = bootstrap_intervals(rows, 300, 4)
    for row, ends in zip(rows, together, strict=True):
        assert bootstrap_intervals(row[None], 300, 4).tolist() == [ends.tolist()]
        # the same draws, and sums without any rounding
        generator = np.random.default_rng([4, *b"bootstrap"])
        blocks = [min(size, 300 - at) for size in [max(1, (1 << 16) // queries)] for at in range(0, 300, size)]
        drawn = np.concatenate([generator.integers(0, queries, (size, queries)) for size in blocks])
        means = [math.fsum(row[one]) / queries for one in drawn]
        assert ends == pytest.approx(np.quantile(means, [0.025, 0.975]), rel=0, abs=1e-12 * np.abs(row).max())


def test_all_measures_see_the_same_resamples() -> None:
    values = np.random.default_rng(0).random(40)
    low, high = bootstrap_intervals(np.stack([values, 1 - values]))
    # the mean of 1 - x is 1 minus the mean of x in every resample, so the second interval is the first mirrored
    assert high == pytest.approx(1 - low[::-1], abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_p_values_are_those_of_the_exact_permutation_test(seed: int) -> None:
    differences = np.random.default_rng(seed).normal(0.3, 1.0, 11)
    exact = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
    ours = sign_flip_p(differences[None], permutations=20_000, seed=seed)[0]
    assert ours == pytest.approx(exact, abs=5 * (exact * (1 - exact) / 20_000) ** 0.5 + 1 / 20_000)


def test_sums_that_differ_by_rounding_alone_count_as_equal() -> None:
    # 0.1 + 0.2 - 0.3 is 5.6e-17 in doubles but 0 in truth: every flip is at least as far from 0, so p is 1
    assert sign_flip_p(np.array([[0.1, 0.2, -0.3]])).tolist() == [1.0]
    # 0.1 + 0.2 + 0.3 is reached by two of the eight sign patterns, whatever the order of summation: p is about 1/4
    for order in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.3, 0.1]):
        assert sign_flip_p(np.array([order]))[0] == pytest.approx(0.25, abs=0.022)  # 5 sigma of 10,000 draws


def test_two_systems_that_never_differ_have_p_1() -> None:
    assert sign_flip_p(np.zeros((2, 5))).tolist() == [1.0, 1.0]


def test_p_is_never_0() -> None:
    # no flip of 200 equal differences comes near the observed sum: p = (1 + 0) / (99 + 1)
    assert sign_flip_p(np.ones((1, 200)), permutations=99).tolist() == [0.01]


def test_holm_multiplies_by_the_number_of_tests_left() -> None:
    # sorted 0.01 * 3 = 0.03, 0.03 * 2 = 0.06, 0.04 * 1 = 0.04, which must not be below 0.06
    assert holm(np.array([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    # 0.5 * 2 = 1 and 0.9 * 1 = 0.9, raised to 1; nothing exceeds 1
    assert holm(np.array([0.9, 0.6])).tolist() == [1.0, 1.0]


def test_the_detectable_difference_is_found_four_times_in_five() -> None:
    # s of 1, -1, 1, -1 is sqrt(4 / 3), and (1.959964 + 0.841621) * sqrt(4 / 3) / sqrt(4) = 1.617492
    assert detectable_difference(np.array([[1.0, -1.0, 1.0, -1.0]]))[0] == pytest.approx(1.617496, abs=1e-5)
    generator = np.random.default_rng(0)
    size = detectable_difference(generator.normal(0, 1, (1, 10_000)))[0] * 10  # that of 100 queries of s = 1
    samples = generator.normal(size, 1, (100, 2_000))
    found = (stats.ttest_1samp(samples, 0).pvalue < 0.05).mean()
    assert found == pytest.approx(0.8, abs=0.05)
