"""What holds of the slices of every result."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.evaluation import evaluate, slices
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run

MEASURES = "alpha_nDCG@3 Coverage@2 Recall@3 nDCG@3 RR@10 AP@5 Judged@4"
QUERIES = ["1", "12", "123", "a_b", "ü", "9", "10", "x y"]
DOCUMENTS = st.sampled_from([*"abcdef", "a b", "é"])
VALUES = st.none() | st.sampled_from(["exact", "noise", "2", "10", "", "(none)"]) | st.text(max_size=3)
JUDGMENTS = st.dictionaries(
    st.tuples(st.sampled_from(["0", "1", "n"]), DOCUMENTS), st.integers(0, 1), min_size=1, max_size=8
)
RANKINGS = st.dictionaries(DOCUMENTS, st.integers(-3, 3), max_size=6)

Rows = list[tuple[str, str, str, int]]


class Columns:
    """Records of a dataset with a column replaced."""

    def __init__(self, records: Any, **columns: list[Any]) -> None:
        self._records, self._columns = records, columns

    def columns(self, *fields: str) -> tuple[list[Any], ...]:
        return tuple(
            self._columns[field] if field in self._columns else self._records.columns(field)[0] for field in fields
        )


class Typed:
    """A dataset of judgments alone whose queries have a column of values."""

    def __init__(self, rows: Rows, **column: list[Any]) -> None:
        data = Dataset.from_nugget_qrels(rows)
        self.name, self.snapshot, self.fingerprint = data.name, data.snapshot, data.fingerprint
        self.queries = Columns(data.queries, **column)
        self.nuggets, self.judgments = data.nuggets, data.judgments


@st.composite
def cases(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> tuple[Rows, list[Any], dict[str, dict[str, float]]]:
    """Judgments, a value for each query in the order of the judgments, and a run that has every query."""
    asked = draw(st.lists(st.sampled_from(QUERIES), min_size=1, unique=True))
    rows = [(query, *key, score) for query in asked for key, score in draw(JUDGMENTS).items()]
    return rows, [draw(values) for _ in asked], {query: draw(RANKINGS) for query in asked}


@settings(max_examples=60)
@given(cases(VALUES))
def test_slices_are_what_their_queries_alone_would_be_scored_as(
    case: tuple[Rows, list[Any], dict[str, dict[str, float]]],
) -> None:
    rows, values, run = case
    value_of = dict(zip(dict.fromkeys(row[0] for row in rows), values, strict=True))
    data = Typed(rows, type=values)
    found = slices(evaluate(run, data, MEASURES, resamples=40), data, "type")
    assert {part.value for part in found} == set(values)
    for part in found:
        own = [row for row in rows if value_of[row[0]] == part.value]
        alone = evaluate(run, Dataset.from_nugget_qrels(own), MEASURES, resamples=40)
        assert part.query_ids == alone.query_ids
        assert dict(part.mean) == pytest.approx(dict(alone.mean), abs=1e-12)
        for name in alone.mean:
            interval = part.interval(name)
            assert (interval is None) == (alone.queries == 1)
            assert interval is None or interval == pytest.approx(alone.interval(name), abs=1e-12)


@settings(max_examples=60)
@given(cases(VALUES | st.integers(-5, 5)), st.sampled_from(["difficulty", "nuggets", "query_id"]))
def test_slices_that_do_not_overlap_hold_each_query_once_and_their_means_give_that_of_all(
    case: tuple[Rows, list[Any], dict[str, dict[str, float]]], by: str
) -> None:
    rows, values, run = case
    data = Typed(rows, difficulty=values)
    result = evaluate(Run.from_dict(run), data, MEASURES, resamples=2)
    found = slices(result, data, by)
    assert sorted(query_id for part in found for query_id in part.query_ids) == sorted(result.query_ids)
    for name, mean in result.mean.items():
        weighed = math.fsum(part.queries * part.mean[name] for part in found) / result.queries
        assert weighed == pytest.approx(mean, abs=1e-12)


@settings(max_examples=60)
@given(cases(st.none() | st.lists(st.sampled_from("abc"), max_size=4)))
def test_the_slice_of_a_tag_has_the_queries_that_have_it(
    case: tuple[Rows, list[Any], dict[str, dict[str, float]]],
) -> None:
    rows, values, run = case
    data = Typed(rows, tags=values)
    result = evaluate(run, data, "P@1", resamples=2)
    found = slices(result, data, "tags")
    tagged = {tag for tags in values for tag in tags or [None]}
    assert [part.value for part in found] == [*sorted(tagged - {None}), *tagged & {None}]
    for part in found:
        has = [not tags if part.value is None else part.value in (tags or []) for tags in values]
        assert part.query_ids == tuple(q for q, yes in zip(result.query_ids, has, strict=True) if yes)
