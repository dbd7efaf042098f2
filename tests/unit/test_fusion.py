"""Fusion of runs, held against sums made by hand."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import freshstack_datasets as fsd
from freshstack_datasets.errors import InputError, RunError, UnknownNameError
from freshstack_datasets.retrieval import fuse

IDS = st.sampled_from(list("abcdefghij"))
LISTS = st.dictionaries(IDS, st.floats(-1e6, 1e6), max_size=8)
RUNS = st.lists(st.dictionaries(st.sampled_from(["q1", "q2"]), LISTS), min_size=1, max_size=4)


def test_scores_are_put_between_0_and_1_in_each_list_and_summed():
    # first list: a (10-2)/8 = 1, b (4-2)/8 = 0.25, c 0; second: c 1, b (5-1)/(9-1) = 0.5, d 0
    first, second = {"q": {"a": 10, "b": 4, "c": 2}}, {"q": {"c": 9, "b": 5, "d": 1}}
    fused = fuse([first, second])
    assert fused["q"] == {"c": 1.0, "a": 1.0, "b": 0.75, "d": 0.0}
    assert (list(fused["q"]), fused.name) == (["c", "a", "b", "d"], "fusion")  # a tie goes to the larger id


def test_a_document_that_is_alone_or_as_good_as_all_others_counts_1():
    assert fuse([{"q": {"a": 7.5}}, {"q": {"b": 3, "c": 3}}, {"q": {"c": 2, "a": 1}}])["q"] == {"c": 2, "b": 1, "a": 1}


def test_a_document_that_every_list_has_last_is_still_in_the_list():
    assert fuse([{"q": {"a": 2, "z": 1}}, {"q": {"a": 5, "z": 4}}])["q"] == {"a": 2, "z": 0}


def test_a_query_is_fused_from_the_runs_that_have_it_and_an_empty_list_adds_nothing():
    fused = fuse([{"q2": {"a": 1, "b": 0}, "q1": {}}, {"q1": {"c": 2}, "q3": {}}])
    assert fused.query_ids == ("q2", "q1", "q3")
    assert fused.to_dict() == {"q2": {"a": 1, "b": 0}, "q1": {"c": 1}, "q3": {}}


def test_the_cut_is_made_in_the_one_ranking():
    assert list(fuse([{"q": {"a": 1, "b": 1, "c": 1}}], k=2)["q"]) == ["c", "b"]


def test_a_run_of_scores_that_are_far_apart_is_fused():
    assert fuse([{"q": {"a": 1.7e308, "b": -1.7e308, "c": 0.0}}])["q"] == {"a": 1, "c": 0.5, "b": 0}


@given(RUNS)
def test_the_order_of_the_runs_does_not_count(runs):
    runs = runs[:3]
    first = fuse(runs)
    assert all(fuse(list(others)) == first for others in permutations(runs))


@given(RUNS, st.integers(1, 10))
def test_scores_lie_between_0_and_the_number_of_runs_and_a_shorter_list_begins_the_longer(runs, k):
    whole, cut = fuse(runs, k=100), fuse(runs, k=k)
    for query_id in whole:
        assert all(0 <= score <= len(runs) for score in whole[query_id].values())
        assert list(cut[query_id].items()) == list(whole[query_id].items())[:k]
        assert set(whole[query_id]) == set().union(*(run.get(query_id, {}) for run in runs))


@given(LISTS, st.floats(0.5, 100), st.floats(-100, 100))
def test_how_a_system_scales_its_scores_does_not_count(found, factor, shift):
    found = {doc_id: round(score, 2) for doc_id, score in found.items()}
    scaled = {doc_id: score * factor + shift for doc_id, score in found.items()}
    other = {"q": {"a": 1, "b": 3}}
    one, two = fuse([{"q": found}, other])["q"], fuse([{"q": scaled}, other])["q"]
    assert one == pytest.approx(two, abs=1e-6)


def test_what_is_no_list_of_runs_is_refused():
    for given_, error in (([], InputError), ({"q": {"a": 1}}, InputError), ([7], RunError), (["a"], RunError)):
        with pytest.raises(error):
            fuse(given_)
    with pytest.raises(UnknownNameError, match="did you mean 'normalised-sum'"):
        fuse([{"q": {"a": 1}}], method="normalized-sum")
    with pytest.raises(InputError, match="at least 1"):
        fuse([fsd.Run.from_dict({"q": {"a": 1}})], k=0)
