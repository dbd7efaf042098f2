"""Agreement of raters against scikit-learn, the package krippendorff, published examples, and cases counted by hand."""

import math
import warnings

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from freshstack_datasets.errors import InputError
from freshstack_datasets.evaluation.agreement import (
    cohen_kappa,
    cohen_kappa_interval,
    interval_of_sums,
    krippendorff_alpha,
    krippendorff_alpha_interval,
)


def rows(*raters: str) -> list[list[str | None]]:
    """The units of raters whose values are letters, a dot where there is none."""
    return [[None if value == "." else value for value in unit] for unit in zip(*raters, strict=True)]


# Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011: the data and the figures of sections A, B and C.
PUBLISHED = {
    "A, binary data, two observers": (rows("0100000010", "1110010000"), 0.095),
    "B, nominal data, two observers": (rows("aabbdcccedda", "babbbccceddd"), 0.692),
    "C, nominal data, four observers, missing data": (
        rows("123321412...", "1233224125.3", ".3332342251.", "12332441251."),
        0.743,
    ),
}


@pytest.mark.parametrize("example", PUBLISHED)
def test_alpha_is_that_of_the_published_examples(example: str) -> None:
    units, published = PUBLISHED[example]
    assert round(krippendorff_alpha(units), 3) == published


def test_kappa_is_that_of_two_raters_counted_by_hand() -> None:
    # both yes 20, first alone 5, second alone 10, both no 15: p_o = 35 / 50; yes is 25 / 50 of the first and 30 / 50 of
    # the second, so p_e = 0.5 * 0.6 + 0.5 * 0.4 = 0.5 and kappa = 0.2 / 0.5
    first = ["y"] * 20 + ["y"] * 5 + ["n"] * 10 + ["n"] * 15
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)


@pytest.mark.parametrize("seed", range(20))
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    generator = np.random.default_rng(seed)
    first, second = generator.integers(0, generator.integers(2, 6), (2, generator.integers(2, 60))).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where it returns NaN
        theirs = float(cohen_kappa_score(first, second))
    ours = cohen_kappa(first, second)
    assert math.isnan(theirs) if ours is None else ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_alpha_is_that_of_the_package_krippendorff(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 4, (generator.integers(2, 6), generator.integers(4, 60))).astype(float)
    values[generator.random(values.shape) < 0.3] = np.nan
    theirs = krippendorff.alpha(values, level_of_measurement="nominal")
    ours = krippendorff_alpha([[None if np.isnan(value) else value for value in unit] for unit in values.T])
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_units_that_one_rater_did_not_judge_do_not_count() -> None:
    assert cohen_kappa(["a", None, "b", "a"], ["a", "b", "b", None]) == 1.0
    assert cohen_kappa(["a", None], [None, "b"]) is None
    assert krippendorff_alpha([["a", "a"], ["b", "b"], ["c", None], [None], []]) == 1.0
    assert krippendorff_alpha([["a", None], ["b"]]) is None


def test_a_rater_who_always_says_the_same_agrees_by_chance_alone() -> None:
    # p_o = 3/4 and p_e = 1 * 3/4
    assert cohen_kappa("aaaa", "aaab") == 0.0


@pytest.mark.parametrize("units", [0, 1, 5])
def test_without_two_values_nothing_can_be_said_of_agreement(units: int) -> None:
    assert cohen_kappa("a" * units, "a" * units) is None
    assert cohen_kappa_interval("a" * units, "a" * units) is None
    assert krippendorff_alpha(["aaa"] * units) is None
    assert krippendorff_alpha_interval(["aaa"] * units) is None


def test_raters_of_different_numbers_of_units_are_refused() -> None:
    with pytest.raises(InputError, match="expected 2, as many as units, got 3"):
        cohen_kappa("ab", "abc")
    with pytest.raises(InputError, match="groups, expected 2, as many as units, got 1"):
        krippendorff_alpha_interval(["ab", "aa"], ["g"])


def test_the_interval_of_kappa_is_that_of_resampling_units_one_by_one() -> None:
    generator = np.random.default_rng(0)
    first = generator.integers(0, 2, 80)
    second = np.where(generator.random(80) < 0.8, first, 1 - first)
    drawn = generator.integers(0, 80, (2_000, 80))
    kappas = [cohen_kappa_score(first[one], second[one]) for one in drawn]
    ours = cohen_kappa_interval(first.tolist(), second.tolist())
    # each end is a quantile of thousands of resamples; its own error is about 0.027 standard errors of 10,000 and
    # 0.061 of 2,000, see test_statistics_oracle.py; 5 sigma of both are 0.33 standard errors
    assert ours == pytest.approx(np.quantile(kappas, [0.025, 0.975]), abs=0.33 * np.std(kappas))


def test_units_of_a_group_are_drawn_together() -> None:
    # one of the two groups is drawn twice with 1/4 each: alpha of the first alone is 1; of the second alone, four times
    # ab, it is 1 - (8 - 1) * 4 * 2 / (8^2 - 2 * 4^2) = -3/4
    units, groups = ["aa", "bb", "ab", "ab"], [1, 1, 2, 2]
    assert krippendorff_alpha_interval(units, groups) == pytest.approx((-0.75, 1.0))
    # where one question has all units, there is nothing to draw from
    assert krippendorff_alpha_interval(units, [1, 1, 1, 1]) is None
    assert cohen_kappa_interval("abaa", "abbb", [1, 1, 2, 2]) == pytest.approx((0.0, 1.0))


def test_groups_that_no_two_raters_judged_make_no_interval_wider() -> None:
    units = ["aa", "bb", "ab", "ab", "bb", "ba", "aa", "aa"]
    more = [*units, *(["a"] * 50)]
    assert krippendorff_alpha_interval(more) == krippendorff_alpha_interval(units)


def test_an_interval_hangs_on_seed_and_units_and_not_on_their_order() -> None:
    parts = np.random.default_rng(0).random((30, 2))
    once = interval_of_sums(parts, lambda sums: sums[:, 0] / sums[:, 1], seed=3)
    assert once == interval_of_sums(parts[::-1].copy(), lambda sums: sums[:, 0] / sums[:, 1], seed=3)
    assert once != interval_of_sums(parts, lambda sums: sums[:, 0] / sums[:, 1], seed=4)


def test_where_many_resamples_have_no_value_there_is_no_interval() -> None:
    # only the last of 4 units has the second value: 0.75^4 = 32 % of the resamples lack it
    assert cohen_kappa("aaab", "aaab") == 1.0
    assert cohen_kappa_interval("aaab", "aaab") is None
    # of 40 units 10 have it: practically no resample lacks it, and all agree
    assert cohen_kappa_interval("aaab" * 10, "aaab" * 10) == (1.0, 1.0)


@pytest.mark.parametrize("more", [{"resamples": 0}, {"seed": -1}, {"resamples": True}, {"seed": "x"}])
def test_a_number_of_resamples_or_a_seed_that_is_none_is_refused(more: dict[str, int]) -> None:
    with pytest.raises(InputError, match="expected a whole number from"):
        cohen_kappa_interval("ab", "ab", **more)
