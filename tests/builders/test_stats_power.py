"""How small a difference so many questions can show: against the exact power of the paired t-test, and by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import freshstack_datasets as fsd
from builders.statistics.power import ASSUMED, DIFFERENCES, KEPT, Spread, measured, parse_spread, power
from freshstack_datasets.errors import InputError, NotComparableError
from freshstack_datasets.evaluation import DEFAULT_MEASURES

Z = 1.959964 + 0.841621  # z(0.975) + z(0.8), from a table of the normal distribution


def exact_power(difference, spread, queries):
    """The power of the two-sided paired t-test at 5 %, by the noncentral t distribution."""
    freedom = queries - 1
    critical, shift = stats.t.ppf(0.975, freedom), difference / spread * math.sqrt(queries)
    return 1 - stats.nct.cdf(critical, freedom, shift) + stats.nct.cdf(-critical, freedom, shift)


def test_the_smallest_difference_of_a_hundred_questions():
    found = power(Spread(0.2, 0.4), 100)
    assert found.difference == pytest.approx((Z * 0.2 / 10, Z * 0.4 / 10), abs=1e-6)  # 0.056 and 0.112


def test_questions_that_smaller_differences_need():
    # (2.801585 * 0.3 / 0.05)^2 = 282.56, / 0.03: 784.89, / 0.02: 1765.997; a part of a question is one more
    assert power(Spread(0.3, 0.3), 100).needed == {0.05: (283, 283), 0.03: (785, 785), 0.02: (1766, 1766)}


@pytest.mark.parametrize("queries", [57, 99, 203, 672])
@pytest.mark.parametrize("spread", [0.1, 0.3, 0.5])
def test_a_paired_t_test_finds_it_four_times_in_five(queries, spread):
    low, high = power(Spread(spread, spread), queries).difference
    assert low == high
    assert exact_power(low, spread, queries) == pytest.approx(0.8, abs=0.015)  # 57: 0.786


@given(st.floats(0.01, 1), st.sampled_from(DIFFERENCES))
def test_as_many_as_are_needed_show_it_and_one_less_does_not(spread, aim):
    needed, _ = power(Spread(spread, spread), 2).needed[aim]
    assert Z * spread / math.sqrt(needed) <= aim * (1 + 1e-6)
    assert needed == 2 or Z * spread / math.sqrt(needed - 1) >= aim * (1 - 1e-6)


def test_fewer_than_two_questions_compare_nothing():
    for queries in (0, 1):
        found = power(Spread(0.2, 0.4), queries)
        assert found.difference is None
        assert list(found.needed) == [0.05, 0.03, 0.02]
    assert power(Spread(0.2, 0.4), 2).difference is not None


def test_two_runs_that_are_alike_on_every_query_need_as_few_as_can_be_compared():
    found = power(Spread(0.0, 0.0), 10)
    assert found.difference == (0, 0)
    assert set(found.needed.values()) == {(2, 2)}


def test_what_is_assumed_is_of_the_default_measures_and_spans_what_the_card_of_nimbus_tells():
    assert list(ASSUMED) == [str(measure) for measure in DEFAULT_MEASURES]
    assert all(0 < spread.low < spread.high < 1 for spread in ASSUMED.values())
    card = (fsd.load("nimbus").path / "README.md").read_text(encoding="utf-8")
    assert "is 0.46 between BM25 and a small embedding model" in card
    assert "0.27 between BM25 and the reciprocal rank fusion" in card
    assert ASSUMED["alpha_nDCG@10"].low <= 0.27 < 0.46 <= ASSUMED["alpha_nDCG@10"].high


def test_the_share_that_is_kept_is_that_of_the_paper():
    # all questions of its five topics: 203 + 57 + 184 + 129 + 99 of 1,244
    assert pytest.approx(672 / 1244, abs=0.001) == KEPT


@pytest.fixture(scope="module")
def data():
    """Four queries with one nugget and one relevant document each."""
    return fsd.Dataset.from_nugget_qrels((f"q{i}", f"n{i}", f"d{i}", 1) for i in range(4))


def result(data, found, name="a"):
    """A run that has the relevant document of some queries first, and of the others not at all."""
    scores = {f"q{i}": {f"d{i}" if i in found else "x": 1.0} for i in range(4)}
    return fsd.evaluate(fsd.Run.from_dict(scores, name=name), data, intervals=False)


def test_the_spread_of_runs_is_that_of_their_differences(data):
    # differences 1, 1, 0, 0: mean 1/2, sum of squares 4 * 1/4, divided by 3
    found = measured([result(data, {0, 1, 2}), result(data, {2})])
    assert list(found) == ["alpha_nDCG@10", "Coverage@20", "Recall@50"]
    for spread in found.values():
        assert (spread.low, spread.high) == pytest.approx((3**-0.5, 3**-0.5))


def test_of_several_runs_the_two_most_alike_and_the_two_least_count(data):
    # 0 and 1: 1, 0, 0, 0: 3/4 of variance over 3, 0.5; 0 and 2: 1, 1, 0, 0; 1 and 2: 0, 1, 0, 0: 0.5
    found = measured([result(data, {0, 1}), result(data, {1}), result(data, set())])
    assert (found["Recall@50"].low, found["Recall@50"].high) == pytest.approx((0.5, 3**-0.5))


def test_what_runs_show_is_what_comparing_them_says(data):
    one, other = ({f"q{i}": {"x": 2.0, f"d{i}": 1.0 + i} for i in range(4)}, {"q0": {"d0": 1.0}})
    compared = fsd.compare(one, other, data).to_json()["measures"]
    spreads = measured([fsd.evaluate(run, data, intervals=False) for run in (one, other)])
    for name, spread in spreads.items():
        assert power(spread, 4).difference == (compared[name]["detectable"],) * 2


def test_one_run_or_one_query_has_no_spread(data):
    with pytest.raises(NotComparableError, match="expected two runs or more, got 1"):
        measured([result(data, {0})])
    single = fsd.Dataset.from_nugget_qrels([("q0", "n", "d0", 1)])
    with pytest.raises(NotComparableError, match="expected two queries or more, got 1"):
        measured([result(single, {0})] * 2)


@pytest.mark.parametrize(
    "text, low, high", [("0.3", 0.3, 0.3), ("0.2,0.4", 0.2, 0.4), (" .2 , 1 ", 0.2, 1), ("1e-3", 0.001, 0.001)]
)
def test_a_spread_is_typed_as_one_number_or_two(text, low, high):
    assert parse_spread(text) == Spread(low, high)


@pytest.mark.parametrize("text", ["", "0", "-0.2", "1.1", "0.4,0.2", "0.1,0.2,0.3", "nan", "inf", "0.2;0.4", "x" * 500])
def test_what_is_no_spread_is_refused_in_one_line(text):
    with pytest.raises(
        InputError, match=r"--spread, expected a standard deviation above 0 and at most 1.*got '"
    ) as told:
        parse_spread(text)
    assert len(str(told.value)) < 250
