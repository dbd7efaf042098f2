"""What holds of every run and every judgment."""

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.evaluation import Measure, evaluate, parse_measures
from freshstack_datasets.evaluation.measures import DEFAULTS, MAX_CUTOFF
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run

ALL = [
    *(f"{name}@{k}" for name in DEFAULTS for k in (1, 2, 5, 30)),
    *("alpha_nDCG(alpha=0.9)@5", "nDCG(gain=binary)@5"),
]
QUERIES = st.sampled_from(["1", "12", "123", "a_b", "ü"])
NUGGETS = st.sampled_from(["0", "1", "12_0", "n"])
DOCUMENTS = st.sampled_from([*"abcdef", "a b", "a_1", "é", "日本.txt_0_10"])
SCORES = st.one_of(
    st.integers(-2, 2), st.floats(-1e300, 1e300), st.floats(-1, 1, width=32), st.sampled_from([2**53, 2**53 + 1, -0.0])
)
JUDGMENTS = st.dictionaries(st.tuples(QUERIES, NUGGETS, DOCUMENTS), st.integers(0, 1), min_size=1, max_size=40)
RUNS = st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, SCORES, max_size=10), min_size=1, max_size=6)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Dataset, dict[str, dict[str, float]]]:
    """A dataset, and a run that shares a query with it."""
    rows = [(*key, score) for key, score in draw(JUDGMENTS).items()]
    run = draw(RUNS)
    run.setdefault(rows[0][0], draw(st.dictionaries(DOCUMENTS, SCORES, max_size=10)))
    return Dataset.from_nugget_qrels(rows), run


def shuffled(mapping: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    keys = list(mapping)
    dice.shuffle(keys)
    return {key: shuffled(value, dice) if isinstance(value := mapping[key], dict) else value for key in keys}


@settings(max_examples=80, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_mapping_and_arrays_agree_to_the_bit_in_any_order(
    case: tuple[Dataset, dict[str, dict[str, float]]], dice: random.Random
) -> None:
    data, run = case
    first = evaluate(run, data, ALL, intervals=False)
    for other in (shuffled(run, dice), Run.from_dict(run), Run.from_dict(shuffled(run, dice))):
        again = evaluate(other, data, ALL, intervals=False)
        assert (again.values == first.values).all()
        assert again.ties == first.ties
        assert [w.split(" (")[0] for w in again.warnings] == [w.split(" (")[0] for w in first.warnings]


@settings(max_examples=40, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_judgments_changes_nothing(
    case: tuple[Dataset, dict[str, dict[str, float]]], dice: random.Random
) -> None:
    data, run = case
    rows = list(zip(*data.judgments.columns("query_id", "nugget_id", "doc_id", "score"), strict=True))
    dice.shuffle(rows)
    one = evaluate(run, data, ALL, intervals=False)
    other = evaluate(run, Dataset.from_nugget_qrels(rows), ALL, intervals=False)
    for name in ALL:
        assert dict(one.per_query[name]) == pytest.approx(dict(other.per_query[name]), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_values_stay_within_bounds_and_grow_with_k_where_they_must(
    case: tuple[Dataset, dict[str, dict[str, float]]],
) -> None:
    data, run = case
    found = evaluate(run, data, ALL, intervals=False)
    for measure, values in zip(found.measures, found.values, strict=True):
        assert (values >= 0).all()
        if measure.name != "alpha_nDCG":  # its greedy ideal can be beaten
            assert (values <= 1 + 1e-12).all()
    for name in ("Coverage", "Recall", "Success", "RR", "AP"):
        rows = [found.values[found.measures.index(Measure(name, k))] for k in (1, 2, 5, 30)]
        for smaller, larger in pairwise(rows):
            assert (smaller <= larger).all()


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(1, 10**6))
def test_scores_count_by_their_order_alone(case: tuple[Dataset, dict[str, dict[str, float]]], factor: int) -> None:
    data, run = case
    places = {
        query_id: {
            doc_id: -factor * sorted(set(map(float, found.values())), reverse=True).index(float(score))
            for doc_id, score in found.items()
        }
        for query_id, found in run.items()
    }
    assert (
        evaluate(run, data, ALL, intervals=False).values == evaluate(places, data, ALL, intervals=False).values
    ).all()


@given(
    st.sampled_from(sorted(DEFAULTS)),
    st.integers(1, MAX_CUTOFF),
    st.floats(0, 1),
    st.sampled_from(["graded", "binary"]),
)
def test_every_measure_is_read_back_as_it_prints(name: str, cutoff: int, alpha: float, gain: str) -> None:
    said = {"alpha_nDCG": (("alpha", alpha),), "nDCG": (("gain", gain),)}.get(name, ())
    measure = Measure(name, cutoff, said)
    assert Measure.parse(str(measure)) == measure
    assert Measure.parse(measure.spelled_out()) == measure
    assert parse_measures(f"{measure}, {measure.spelled_out()} {measure}") == (measure,)
