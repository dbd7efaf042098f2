"""Comparing two runs query by query."""

import json
import random
from typing import Any

import pytest

from freshstack_datasets.errors import InputError, NotComparableError, RunError
from freshstack_datasets.evaluation import compare
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run

Scores = dict[str, dict[str, float]]


def dataset(queries: int) -> Dataset:
    return Dataset.from_nugget_qrels([(str(i), "a", "right", 1) for i in range(queries)], name="d", snapshot="2026-01")


def answers(right: list[bool]) -> Scores:
    return {str(i): {"right" if found else "wrong": 1.0} for i, found in enumerate(right)}


def test_the_difference_is_first_minus_second_with_wins_ties_and_losses() -> None:
    a, b = answers([True, True, True, False]), answers([False, False, True, True])
    found = compare(a, b, dataset(4), "Success@1").measures["hit@1"]
    # differences 1, 1, 0, -1: mean 1/4; the sums of the flips of three ones are 3 1 1 1 -1 -1 -1 -3, all at least
    # as far from 0 as 1, so p is 1; s^2 = (9 + 9 + 1 + 25) / 16 / 3 = 0.916667, (1.959964 + 0.841621) * s / 2
    assert (found.difference, found.wins, found.ties, found.losses, found.p) == (0.25, 2, 1, 1, 1.0)
    assert found.detectable == pytest.approx(1.341160, abs=1e-5)
    assert found.low <= found.difference <= found.high


def test_swapping_the_runs_turns_every_sign() -> None:
    a, b = answers([True, True, True, False, True]), answers([False, False, True, True, False])
    one = compare(a, b, dataset(5), "Success@1").measures["Success@1"]
    other = compare(b, a, dataset(5), "Success@1").measures["Success@1"]
    assert (other.difference, other.wins, other.losses, other.p) == (-one.difference, one.losses, one.wins, one.p)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))


def test_a_planted_difference_is_found_and_none_where_there_is_none() -> None:
    dice = random.Random(0)
    weak = [dice.random() < 0.4 for _ in range(300)]
    strong = [found or dice.random() < 0.2 for found in weak]  # better by about 0.12, never worse
    alike = [dice.random() < 0.4 for _ in range(300)]
    found = compare(answers(strong), answers(weak), dataset(300), "Success@1").measures["Success@1"]
    assert found.low > 0
    assert found.p < 0.001
    assert found.losses == 0
    assert found.wins == sum(strong) - sum(weak)
    none = compare(answers(alike), answers(weak), dataset(300), "Success@1").measures["Success@1"]
    assert none.low < 0 < none.high
    assert none.p > 0.05


def test_holm_runs_over_the_measures_of_the_comparison() -> None:
    a, b = answers([True] * 8), answers([False] * 7 + [True])
    alone = compare(a, b, dataset(8), "Success@1").measures["Success@1"]
    assert alone.p_holm == alone.p
    # three measures that are the same here: each p is multiplied by 3, for the smallest of three, and none falls
    three = compare(a, b, dataset(8), "Success@1 RR@1 Recall@1").measures
    assert [found.p_holm for found in three.values()] == [pytest.approx(3 * alone.p)] * 3


def test_the_json_has_the_promised_shape() -> None:
    found = compare(answers([True, False]), answers([False, False]), dataset(2)).to_json()
    assert list(found) == ["measures"]
    assert list(found["measures"]) == ["alpha_nDCG@10", "Coverage@20", "Recall@50"]
    keys = ["difference", "low", "high", "p", "p_holm", "wins", "ties", "losses", "detectable"]
    assert list(found["measures"]["Recall@50"]) == keys
    assert json.loads(json.dumps(found)) == found


def test_it_prints_a_line_a_measure_and_what_the_runs_lack() -> None:
    a, b = Run.from_dict(answers([True, True]), "dense"), {"0": {"right": 1.0}}
    lines = str(compare(a, b, dataset(2), ["Success@1"], names=("dense", "sparse"))).splitlines()
    assert lines[0] == "dense minus sparse on d@2026-01, 2 queries"
    assert lines[1].startswith("  Success@1  +0.5000  [+0.0000, +1.0000]  p 1.0000, Holm 1.0000  1 won, 1 tied, 0 lost")
    assert "80 % power" in lines[1]
    assert lines[2] == "  sparse: scored 0, because the run does not have them: 1 of 2 queries"


def test_one_query_is_too_few() -> None:
    with pytest.raises(NotComparableError, match="a comparison, expected at least two queries, got 1"):
        compare(answers([True]), answers([False]), dataset(1))


def test_measures_may_come_from_a_generator() -> None:
    found = compare(answers([True, True]), answers([True, True]), dataset(2), (name for name in ("P@1", "RR@1")))
    assert list(found.measures) == ["P@1", "RR@1"]


def test_two_systems_that_never_differ_have_p_1_and_nothing_to_detect() -> None:
    # every flip of zeros has the sum 0, as far from 0 as the observed one: p = (1 + n) / (n + 1) = 1, and Holm's
    # 1 * 3 is cut to 1; every resample has mean 0; the standard deviation is 0, and so is what it is a factor of
    right = [True, False, True, True, False]
    found = compare(answers(right), answers(right), dataset(5), "Success@1 RR@5 alpha_nDCG@10").measures
    for one in found.values():
        assert (one.difference, one.low, one.high, one.p, one.p_holm, one.detectable) == (0, 0, 0, 1, 1, 0)
        assert (one.wins, one.ties, one.losses) == (0, 5, 0)


def test_a_measure_without_difference_does_not_hide_that_of_another() -> None:
    # the right document at rank 1 against rank 2 on 10 queries: Recall@5 never differs, RR@5 by 1/2 each time; of the
    # flips of ten equal values only all plus and all minus are as far from 0, 2 in 1024, and Holm doubles the smaller
    second = {str(i): {"wrong": 2.0, "right": 1.0} for i in range(10)}
    found = compare(answers([True] * 10), second, dataset(10), "Recall@5 RR@5").measures
    assert (found["Recall@5"].p, found["Recall@5"].p_holm, found["Recall@5"].detectable) == (1, 1, 0)
    rr = found["RR@5"]
    assert rr.p == pytest.approx(2 / 1024, abs=0.0025)  # 5 sigma of 10,000 flips are 0.0022
    assert (rr.difference, rr.low, rr.high, rr.p_holm, rr.detectable) == (0.5, 0.5, 0.5, 2 * rr.p, 0)


def test_resamples_and_seed_are_kept() -> None:
    found = compare(answers([True, False]), answers([False, True]), dataset(2), resamples=50, seed=3)
    assert (found.resamples, found.seed) == (50, 3)


def test_a_row_is_the_same_whatever_else_is_compared() -> None:
    dice = random.Random(5)
    ranked: tuple[Scores, Scores] = ({}, {})
    for run in ranked:
        run.update({str(i): {"right": dice.random()} | {f"w{n}": dice.random() for n in range(9)} for i in range(203)})
    names = "RR@10", "nDCG@5", "AP@3", "P@7"
    together = compare(*ranked, dataset(203), names).measures
    for name in names:
        alone, other = compare(*ranked, dataset(203), name).measures[name], together[name]
        assert (alone.difference, alone.low, alone.high, alone.p) == (other.difference, other.low, other.high, other.p)
        assert alone.detectable == other.detectable


def test_what_is_no_run_or_no_dataset_is_refused_with_the_next_step() -> None:
    run: Any = answers([True, False])
    data: Any = dataset(2)
    with pytest.raises(RunError, match=r"a run, expected .*, got Dataset; runs come first, the dataset after them"):
        compare(data, run, run)
    with pytest.raises(RunError, match=r"a run, expected .*, got 'b.trec' \(str\); read it with read_run"):
        compare(run, "b.trec", data)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(InputError, match=r"the dataset to score on, expected .*, got 'coffee' \(str\); load makes a"):
        compare(run, run, "coffee")  # type: ignore[arg-type]  # that is the point
