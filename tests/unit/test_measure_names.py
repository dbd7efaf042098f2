"""How measures are named, read and printed."""

import pytest

from freshstack_datasets.errors import MeasureError
from freshstack_datasets.evaluation import (
    AP,
    DEFAULT_MEASURES,
    RR,
    Coverage,
    Measure,
    P,
    Recall,
    Success,
    alpha_nDCG,
    nDCG,
    parse_measures,
)


@pytest.mark.parametrize(
    "written, measure",
    [
        ("alpha_nDCG@10", alpha_nDCG @ 10),
        ("alpha_nDCG(alpha=0.9)@50", alpha_nDCG(alpha=0.9) @ 50),
        ("alpha_nDCG(alpha=1)@5", alpha_nDCG(alpha=1) @ 5),
        ("Coverage@20", Coverage @ 20),
        ("nDCG@10", nDCG @ 10),
        ("nDCG(gain=binary)@10", nDCG(gain="binary") @ 10),
        ("RR@10", RR @ 10),
    ],
)
def test_a_measure_prints_as_it_is_written(written: str, measure: Measure) -> None:
    assert str(measure) == repr(measure) == written
    assert Measure.parse(written) == measure
    assert hash(Measure.parse(written)) == hash(measure)


def test_a_measure_that_lacks_its_cutoff_prints_as_it_is_written() -> None:
    assert repr([nDCG, alpha_nDCG(alpha=0.9), nDCG(gain="binary")]) == (
        "[nDCG, alpha_nDCG(alpha=0.9), nDCG(gain=binary)]"
    )
    assert str(alpha_nDCG(alpha=1)) == "alpha_nDCG(alpha=1)"


@pytest.mark.parametrize(
    "other, ours",
    [
        ("hit@5", "Success@5"),
        ("hit_rate@5", "Success@5"),
        ("mrr@10", "RR@10"),
        ("MRR@10", "RR@10"),
        ("mrr_at_10", "RR@10"),
        ("map@5", "AP@5"),
        ("map_cut_5", "AP@5"),
        ("map_cut.5", "AP@5"),
        ("recall@5", "Recall@5"),
        ("Recall_5", "Recall@5"),
        ("R@50", "Recall@50"),
        ("recall.50", "Recall@50"),
        ("precision@5", "P@5"),
        ("P_5", "P@5"),
        ("ndcg@10", "nDCG(gain=binary)@10"),
        ("ndcg_at_10", "nDCG(gain=binary)@10"),
        ("ndcg_cut_10", "nDCG(gain=binary)@10"),
        ("ndcg(gain=graded)@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("alpha_ndcg_at_10", "alpha_nDCG@10"),
        ("alpha_ndcg_10", "alpha_nDCG@10"),
        ("alpha-nDCG@10", "alpha_nDCG@10"),
        ("α-nDCG@10", "alpha_nDCG@10"),
        ("alpha_nDCG(alpha=0.5)@10", "alpha_nDCG@10"),
        ("alpha_nDCG(alpha = .90) @ 50", "alpha_nDCG(alpha=0.9)@50"),
        ("coverage_at_20", "Coverage@20"),
        ("judged@10", "Judged@10"),
        (" Recall@50\n", "Recall@50"),
    ],
)
def test_other_spellings_are_read(other: str, ours: str) -> None:
    assert str(Measure.parse(other)) == ours


def test_several_are_separated_by_spaces_or_commas_and_each_is_kept_once() -> None:
    found = parse_measures(["nDCG(gain=binary)@10, R@50  recall@50", P @ 5, "alpha_nDCG(alpha=0.9) @ 10,ndcg@10"])
    assert [str(m) for m in found] == ["nDCG(gain=binary)@10", "Recall@50", "P@5", "alpha_nDCG(alpha=0.9)@10"]
    assert parse_measures(AP @ 5) == (AP @ 5,)
    assert parse_measures("hit@1") == (Success @ 1,)


def test_the_default_measures_are_those_of_the_paper() -> None:
    assert (alpha_nDCG @ 10, Coverage @ 20, Recall @ 50) == DEFAULT_MEASURES


def test_spelled_out_has_the_parameters_that_have_their_default() -> None:
    assert (alpha_nDCG @ 10).spelled_out() == "alpha_nDCG(alpha=0.5)@10"
    assert (nDCG @ 10).spelled_out() == "nDCG(gain=graded)@10"
    assert (Recall @ 10).spelled_out() == "Recall@10"


@pytest.mark.parametrize(
    "written, says",
    [
        ("Covrage@20", "did you mean Coverage?"),
        ("alpha_DCG@10", "did you mean alpha_nDCG"),
        ("nDCG", "the cutoff of 'nDCG', expected a whole number, as in nDCG@10, got none"),
        ("Recall@", "got none"),
        ("Recall@0", "the cutoff of Recall, expected a whole number from 1 to 1,000,000, got 0"),
        ("Recall@-5", "got '-5'"),
        ("Recall@1.5", "got '1.5'"),
        ("Recall@ten", "got 'ten'"),
        ("Recall@٣", "the cutoff of 'Recall@٣'"),
        ("Recall@1000001", "from 1 to 1,000,000, got one far from it"),
        ("Recall@" + "9" * 5000, "a whole number"),
        ("alpha_nDCG(alpha=1.5)@10", "alpha of alpha_nDCG, expected a number from 0 to 1, got '1.5'"),
        ("alpha_nDCG(alpha=-0.1)@10", "from 0 to 1"),
        ("alpha_nDCG(alpha=nan)@10", "from 0 to 1"),
        ("alpha_nDCG(alpha=much)@10", "got 'much'"),
        ("alpha_nDCG(0.9)@10", "expected name=value, each name once, got '0.9'"),
        ("alpha_nDCG(alpha=0.1, alpha=0.2)@10", "each name once"),
        ("alpha_nDCG(beta=0.9)@10", "the parameters of alpha_nDCG, expected only alpha, got 'beta'"),
        ("Recall(rel=2)@10", "the parameters of Recall, expected none, got 'rel'"),
        ("nDCG(gain=exponential)@10", "gain of nDCG, expected graded or binary, got 'exponential'"),
        ("nDCG)gain(@10", "expected a form such as nDCG(gain=binary)@10"),
        ("@10", "expected a form such as"),
    ],
)
def test_what_names_no_measure_is_refused_in_one_line(written: str, says: str) -> None:
    with pytest.raises(MeasureError) as refused:
        Measure.parse(written)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("cutoff", [0, -1, 1_000_001, 2.0, "10", True, None])
def test_a_cutoff_that_is_no_rank_is_refused(cutoff: object) -> None:
    with pytest.raises(MeasureError, match="the cutoff of Recall, expected a whole number from 1 to 1,000,000"):
        Recall @ cutoff  # type: ignore[operator]  # that is the point


def test_a_cutoff_of_more_digits_than_can_be_printed_is_refused() -> None:
    for cutoff in (10**5000, -(10**5000)):
        with pytest.raises(MeasureError, match="from 1 to 1,000,000, got one far from it"):
            Recall @ cutoff


@pytest.mark.parametrize("alpha", [-0.1, 1.01, float("nan"), float("inf"), True, None, "x", [0.5]])
def test_an_alpha_outside_its_range_is_refused(alpha: object) -> None:
    with pytest.raises(MeasureError, match="alpha of alpha_nDCG, expected a number from 0 to 1"):
        alpha_nDCG(alpha=alpha)  # type: ignore[arg-type]  # that is the point


def test_nothing_named_is_refused() -> None:
    for nothing in ("", " , ", []):
        with pytest.raises(MeasureError, match="no measure was named"):
            parse_measures(nothing)
    for foreign in (5, [5], None):
        with pytest.raises(MeasureError, match="expected text such as"):
            parse_measures(foreign)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(MeasureError, match="unknown measure 'ndcg', expected one of"):
        Measure("ndcg", 10)


@pytest.mark.parametrize("text", ["alpha_nDCG(" + "alpha=0.5," * 100_000 + ")@5", "a" + " " * 1_000_000 + ")@5"])
def test_text_far_too_long_is_refused_before_it_is_taken_apart(text: str) -> None:
    for parse in (parse_measures, Measure.parse):
        with pytest.raises(MeasureError, match="expected at most 10000 characters, got 1000"):
            parse(text)
