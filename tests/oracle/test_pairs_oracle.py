"""Pairwise tests against scipy and statsmodels, and max-T against counting all signs out."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import NormalIndPower

from freshstack_datasets.evaluation.pairs import Pairs, compare_pairs
from freshstack_datasets.evaluation.standings import kendall_tau, ranks
from freshstack_datasets.evaluation.statistics import bootstrap_intervals, sign_flip_p
from freshstack_datasets.evaluation.strata import flipped_means, resampled_means, stratified_intervals


def compared(strata: Sequence[np.ndarray], number: int = 10_000, seed: int = 13128) -> Pairs:
    return compare_pairs(strata, resampled_means(strata, number, seed), flipped_means(strata, number, seed))


def allowed(p: float, number: int) -> float:
    """Return five standard errors of a share of so many draws, and the 1 that is added to both."""
    return 5 * float(p * (1 - p) / number) ** 0.5 + 1 / number


@pytest.mark.parametrize("seed", range(3))
def test_macro_intervals_are_those_of_scipy_but_for_the_random_numbers(seed: int) -> None:
    generator = np.random.default_rng(seed)
    strata = [generator.beta(0.5, 1.0, queries) for queries in (90, 40, 25)]
    theirs = stats.bootstrap(
        strata,
        lambda *samples, axis: sum(sample.mean(axis=axis) for sample in samples) / 3,
        n_resamples=10_000,
        method="percentile",
        vectorized=True,
        rng=seed,
    ).confidence_interval
    ours = stratified_intervals([values[None] for values in strata], seed=seed)[0]
    error = sum(values.var() / len(values) for values in strata) ** 0.5 / 3
    # an end is a quantile of 10,000 means with a standard error of 0.027 of theirs; 5 sigma of the two together
    assert ours == pytest.approx([theirs.low, theirs.high], abs=5 * 2**0.5 * 0.027 * error)


@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_differences_are_those_of_the_differences(seed: int) -> None:
    strata = [np.random.default_rng(seed).random((4, queries)) for queries in (50, 31)]
    pairs = compared(strata, 800, seed)
    differences = [values[pairs.first] - values[pairs.second] for values in strata]
    assert np.stack([pairs.low, pairs.high], axis=1) == pytest.approx(stratified_intervals(differences, 800, seed))
    alone = compared(strata[:1], 800, seed)
    assert alone.low == pytest.approx(bootstrap_intervals(differences[0], 800, seed)[:, 0])


@pytest.mark.parametrize("sizes", [(11,), (6, 5), (3, 4, 4)])
def test_p_values_are_those_of_the_exact_permutation_test(sizes: tuple[int, ...]) -> None:
    generator = np.random.default_rng(len(sizes))
    strata = [np.cumsum(generator.normal(0.15, 0.5, (4, size)), axis=0) for size in sizes]
    pairs = compared(strata, 20_000)
    for place, (one, other) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        weighted = np.concatenate([(values[one] - values[other]) / values.shape[1] for values in strata])
        exact = stats.permutation_test((weighted,), np.sum, permutation_type="samples", n_resamples=np.inf).pvalue
        assert pairs.p[place] == pytest.approx(exact, abs=allowed(exact, 20_000))


def test_the_p_value_of_a_pair_is_that_of_the_two_alone() -> None:
    values = np.random.default_rng(0).choice([0, 0.25, 0.5, 1], (7, 57))
    pairs = compared([values], 999)
    differences = values[pairs.first] - values[pairs.second]
    assert pairs.p.tolist() == sign_flip_p(differences, 999).tolist()


def counted_out(strata: Sequence[np.ndarray], single_step: bool = False) -> dict[tuple[int, int], float]:
    """Return the max-T p-values from all signs there are, as the definition has it, one pair and one flip at a time."""
    systems, weights = len(strata[0]), np.concatenate([np.full(v.shape[1], 1 / v.shape[1]) for v in strata])
    values = np.concatenate(strata, axis=1) * weights
    differences = {(i, j): values[i] - values[j] for i, j in itertools.combinations(range(systems), 2)}
    spread = {pair: float(np.sqrt((d**2).sum())) for pair, d in differences.items()}
    observed = {pair: abs(float(d.sum())) / spread[pair] for pair, d in differences.items()}
    flips = [
        {pair: abs(float(np.dot(signs, d))) / spread[pair] for pair, d in differences.items()}
        for signs in itertools.product((1, -1), repeat=len(weights))
    ]
    found, before = {}, 0.0
    for pair in sorted(observed, key=observed.__getitem__, reverse=True):
        others = list(observed) if single_step else [one for one in observed if observed[one] <= observed[pair]]
        reached = [max(flip[one] for one in others) >= observed[pair] - 1e-9 for flip in flips]
        before = max(before, sum(reached) / len(reached))
        found[pair] = before
    return found


@pytest.mark.parametrize("sizes", [(10,), (4, 6)])
def test_max_t_is_what_counting_all_signs_out_gives(sizes: tuple[int, ...]) -> None:
    generator = np.random.default_rng(sum(sizes) + len(sizes))
    strata = [generator.normal(np.array([[0.0], [0.1], [0.5], [0.9]]), 0.4, (4, size)) for size in sizes]
    exact, single = counted_out(strata), counted_out(strata, single_step=True)
    assert any(exact[pair] < single[pair] - 0.02 for pair in exact)  # the case shows the steps
    pairs = compared(strata, 20_000)
    for place, pair in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)):
        assert pairs.p_max_t[place] == pytest.approx(exact[pair], abs=allowed(exact[pair], 20_000))


def test_a_small_sure_lead_is_not_hidden_by_systems_that_differ_wildly() -> None:
    # the first two differ by 0.01 on each of 60 queries; the others are noise with a standard deviation of 1. Plain
    # differences of means of noise have a standard deviation of 1.4 / sqrt(60) = 0.18 and would drown 0.01
    generator = np.random.default_rng(0)
    base = generator.random(60)
    pairs = compared([np.stack([base, base + 0.01, *generator.normal(0, 1, (3, 60))])], 2_000)
    assert pairs.p_max_t[0] < 0.05


def test_no_lead_is_claimed_among_equal_systems_more_often_than_promised() -> None:
    # 6 equal systems make 15 pairs. 400 boards with a chance of 5 % each: 20 of them, standard deviation 4.4; at most
    # 3 of those more. Without max-T, about one board in three would claim one
    claimed = plain = 0
    for seed in range(400):
        generator = np.random.default_rng(seed)
        strata = [generator.random(queries) + generator.choice([0, 0.2, 0.5], (6, queries)) for queries in (40, 25)]
        pairs = compared(strata, 399, seed)
        claimed += bool((pairs.p_max_t < 0.05).any())
        plain += bool((pairs.p < 0.05).any())
    assert claimed <= 33
    assert plain > 100


def test_nor_when_other_systems_truly_differ() -> None:
    # three equal systems, and three others that are far better and equal too: only pairs within a group can be false
    claimed = found = 0
    for seed in range(400):
        generator = np.random.default_rng(seed)
        values = generator.random(50) + generator.choice([0, 0.2, 0.5], (6, 50)) + np.repeat([[0.0], [0.4]], 3, axis=0)
        pairs = compared([values], 399, seed)
        within = (pairs.first < 3) == (pairs.second < 3)
        claimed += bool((pairs.p_max_t[within] < 0.05).any())
        found += bool((pairs.p_max_t[~within] < 0.05).all())
    assert claimed <= 33
    assert found == 400


def test_effects_and_counts_are_those_that_can_be_worked_out() -> None:
    # differences 0.2, 0, -0.1, 0.3 have the mean 0.1 and squares of deviations 0.01, 0.01, 0.04, 0.04 with sum 0.1, so a
    # variance of 0.1 / 3; those of the other dataset, 0.4 and 0.2, a mean of 0.3 and a variance of 0.02. Each dataset
    # counts the same: d_z = 0.2 / sqrt((0.1 / 3 + 0.02) / 2); standard error = sqrt(0.1 / 3 / 4 + 0.02 / 2) / 2
    strata = [np.array([[0.5, 0.5, 0.5, 0.5], [0.3, 0.5, 0.6, 0.2]]), np.array([[0.9, 0.2], [0.5, 0.0]])]
    pairs = compared(strata, 100)
    assert pairs.effect == pytest.approx([0.2 / ((0.1 / 3 + 0.02) / 2) ** 0.5])
    assert (pairs.wins.tolist(), pairs.ties.tolist(), pairs.losses.tolist()) == ([4], [1], [1])
    error = (0.1 / 3 / 4 + 0.02 / 2) ** 0.5 / 2
    assert pairs.detectable == pytest.approx([(stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error])


def test_the_detectable_difference_is_that_of_statsmodels() -> None:
    values = np.random.default_rng(4).random((2, 120))
    spread = (values[0] - values[1]).std(ddof=1)
    theirs = NormalIndPower(ddof=0).solve_power(nobs1=120, alpha=0.05, power=0.8, ratio=0) * spread
    assert compared([values], 100).detectable == pytest.approx([theirs], rel=1e-3)  # theirs counts the other tail too


def test_two_systems_that_never_differ_are_alike_and_disturb_nobody() -> None:
    generator = np.random.default_rng(1)
    base, better = generator.random((2, 30))
    # 0.1 + 0.2 and 0.3 are not the same double; that is no difference
    twins = np.stack([base + 0.3, base + 0.1 + 0.2, better + base + 0.5])
    pairs = compared([twins], 999)
    alone = compared([twins[[0, 2]]], 999)
    assert (pairs.p[0], pairs.p_max_t[0], pairs.effect[0], pairs.ties[0]) == (1.0, 1.0, 0.0, 30)
    assert pairs.p[1] == pairs.p[2] == alone.p[0]
    assert pairs.p_max_t[1] == pytest.approx(alone.p_max_t[0], abs=0.002)


def test_a_constant_difference_has_no_effect_size() -> None:
    pairs = compared([np.array([[0.5] * 6, [0.2] * 6])], 999)
    assert pairs.effect.tolist() == [0.0]  # the standard deviation is 0
    assert pairs.p == pytest.approx([2 / 64], abs=allowed(2 / 64, 999))


def test_one_system_makes_no_pair() -> None:
    pairs = compared([np.random.default_rng(0).random((1, 9))], 50)
    assert [len(held) for held in vars(pairs).values()] == [0] * 11


small_numbers = st.lists(st.integers(0, 6).map(lambda n: n / 6), min_size=5, max_size=5)


@settings(max_examples=150, deadline=None)
@given(st.lists(small_numbers, min_size=2, max_size=9))
def test_tau_is_that_of_scipy(columns: list[list[float]]) -> None:
    orders = np.array(columns).T
    tau = kendall_tau(orders)
    for one, other in itertools.product(range(5), repeat=2):
        theirs = stats.kendalltau(orders[one], orders[other], variant="b").statistic
        assert tau[one, other] == pytest.approx(theirs, nan_ok=True, abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.lists(small_numbers, min_size=1, max_size=9))
def test_ranks_are_those_of_scipy(rows: list[list[float]]) -> None:
    means = np.array(rows)
    assert ranks(means).tolist() == stats.rankdata(-means, method="min", axis=0).tolist()
