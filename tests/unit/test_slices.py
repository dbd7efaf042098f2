"""What the slices of a result hold, with values worked out by hand."""

import dataclasses
import json
from collections.abc import Iterable
from typing import Any

import pytest

from freshstack_datasets.errors import InputError, NotComparableError, UnknownNameError
from freshstack_datasets.evaluation import Result, Slice, evaluate, slices, slicing
from freshstack_datasets.loading import Dataset
from freshstack_datasets.records import Query


class Columns:
    """Records by column; a column that was not given is empty."""

    def __init__(self, rows: int, **columns: list[Any]) -> None:
        self._rows, self._columns = rows, columns

    def columns(self, *fields: str) -> tuple[list[Any], ...]:
        return tuple(self._columns.get(field, [None] * self._rows) for field in fields)


class StandIn:
    """Queries with the given values of one column, each with the given number of nuggets, all in document "right"."""

    name, snapshot, fingerprint = "stand-in", "2026-01", "abc"

    def __init__(self, query_ids: Iterable[str], nuggets: Iterable[int] | None = None, **column: list[Any]) -> None:
        ids = list(query_ids)
        counts = [1] * len(ids) if nuggets is None else list(nuggets)
        owners = [query_id for query_id, count in zip(ids, counts, strict=True) for _ in range(count)]
        self.queries = Columns(len(ids), query_id=ids, text=ids, **column)
        numbered = [str(number) for number in range(len(owners))]
        self.nuggets = Columns(len(owners), query_id=owners, nugget_id=numbered)
        right, yes = ["right"] * len(owners), [1] * len(owners)
        self.judgments = Columns(len(owners), query_id=owners, nugget_id=numbered, doc_id=right, score=yes)


def ranked(*ranks: int, names: str = "abcdefghij") -> dict[str, dict[str, float]]:
    """A run that finds the right document of query a, b, c … at the given ranks; of none at rank 0."""
    run: dict[str, dict[str, float]] = {}
    for name, rank in zip(names, ranks, strict=False):
        run[name] = {f"wrong {place}": -float(place) for place in range(1, max(1, rank))}
        if rank:
            run[name]["right"] = -float(rank)
    return run


def values_of(found: Iterable[Slice]) -> list[Any]:
    return [(part.value, part.query_ids) for part in found]


def test_a_slice_has_the_queries_the_means_and_the_intervals_of_one_value() -> None:
    # RR: a 1, b 1/2, c 0, d 1/4, e 1/5; Success@1: a 1, else 0
    data = StandIn("abcde", type=["exact", "noise", "exact", None, "noise"])
    result = evaluate(ranked(1, 2, 0, 4, 5), data, "RR@10 Success@1")
    exact, noise, none = slices(result, data, "type")
    assert values_of((exact, noise, none)) == [("exact", ("a", "c")), ("noise", ("b", "e")), (None, ("d",))]
    assert [part.queries for part in (exact, noise, none)] == [2, 2, 1]
    assert dict(exact.mean) == {"RR@10": 0.5, "Success@1": 0.5}
    assert dict(noise.mean) == {"RR@10": pytest.approx(0.35), "Success@1": 0.0}
    assert dict(none.mean) == {"RR@10": 0.25, "Success@1": 0.0}
    # of two queries a resample holds both, or one twice: the percentiles are the smaller and the larger value
    assert exact.interval("RR@10") == (0.0, 1.0)
    assert noise.interval("mrr@10") == pytest.approx((0.2, 0.5))
    assert noise.interval("Success@1") == (0.0, 0.0)


def test_one_query_has_no_interval() -> None:
    data = StandIn("ab", type=["exact", "noise"])
    for part in slices(evaluate(ranked(1, 2), data, "RR@10"), data, "type"):
        assert part.interval("RR@10") is None
        assert part.to_json()["measures"]["RR@10"] == {"value": part.mean["RR@10"], "low": None, "high": None}


def test_what_was_not_computed_is_refused_by_name() -> None:
    data = StandIn("ab", type=["exact", "exact"])
    (part,) = slices(evaluate(ranked(1, 2), data, "RR@10"), data, "type")
    with pytest.raises(UnknownNameError, match="unknown measure in this result 'RR@20'"):
        part.interval("RR@20")
    with pytest.raises(UnknownNameError):
        part.mean["P@10"]


def test_a_slice_of_all_queries_says_what_the_result_says() -> None:
    data = StandIn("abcdefg")
    result = evaluate(ranked(1, 2, 3, 4, 5, 6, 7), data, "RR@10 Success@3", seed=7, resamples=99)
    (part,) = slices(result, data, "type")
    assert (part.value, part.query_ids) == (None, result.query_ids)
    assert dict(part.mean) == dict(result.mean)
    for name in result.mean:
        assert part.interval(name) == result.interval(name)


def test_the_intervals_are_made_as_those_of_the_result() -> None:
    data = StandIn("abcdefg", type=[*"xyxyxyx"])
    for options in ({"seed": 7, "resamples": 99}, {"seed": 8, "resamples": 99}, {}):
        result = evaluate(ranked(1, 2, 3, 4, 5, 6, 7), data, "RR@10", **options)
        alone = evaluate(ranked(1, 3, 5, 7, names="aceg"), StandIn("aceg"), "RR@10", **options)
        assert slices(result, data, "type")[0].interval("RR@10") == alone.interval("RR@10")


def test_a_result_without_intervals_has_slices_without() -> None:
    data = StandIn("ab", type=["exact", "exact"])
    (part,) = slices(evaluate(ranked(1, 2), data, "RR@10", intervals=False), data, "type")
    assert part.interval("RR@10") is None
    assert part.to_json()["measures"]["RR@10"] == {"value": 0.75, "low": None, "high": None}


@pytest.mark.parametrize("queries, few", [(1, True), (19, True), (20, False), (21, False)])
def test_fewer_than_twenty_queries_are_few(queries: int, few: bool) -> None:
    ids = [f"q{number}" for number in range(queries)]
    data = StandIn(ids)
    (part,) = slices(evaluate({"q0": {"right": 1.0}}, data, "P@1"), data, "type")
    assert (part.queries, part.few, part.to_json()["few"]) == (queries, few, few)


def test_the_json_has_the_promised_shape() -> None:
    data = StandIn("ab", type=["exact", "exact"])
    (part,) = slices(evaluate(ranked(1, 2), data, "RR@10"), data, "type")
    assert json.loads(json.dumps(part.to_json())) == {
        "value": "exact",
        "queries": 2,
        "few": True,
        "measures": {"RR@10": {"value": 0.75, "low": 0.5, "high": 1.0}},
    }


@pytest.mark.parametrize(
    "column, given, order",
    [
        ("score", [10, -3, None, 2, 0], [-3, 0, 2, 10, None]),
        ("difficulty", ["10", "hard", "9", None, "1b"], ["9", "10", "1b", "hard", None]),
        ("type", ["b", "Z", "ä", "", None], ["", "Z", "b", "ä", None]),
        (
            "date",
            ["2026-02-01", "2024-12-31", None, "2026-01-15", None],
            ["2024-12-31", "2026-01-15", "2026-02-01", None],
        ),
        ("author", ["9" * 5000, "²", "٣", "2", "x"], ["2", "٣", "9" * 5000, "x", "²"]),
    ],
)
def test_numbers_come_first_and_by_size_then_texts_then_queries_without_a_value(
    column: str, given: list[Any], order: list[Any]
) -> None:
    data = StandIn("abcde", **{column: given})
    assert [part.value for part in slices(evaluate(ranked(1), data, "P@1"), data, column)] == order


def test_a_query_is_in_the_slice_of_each_of_its_tags_and_once_in_each() -> None:
    data = StandIn("abcde", tags=[["rust", "io"], ["io", "io"], [], None, ["io", None]])
    # Success@1: a 1, b 0, c 1, d 0, e 0
    found = slices(evaluate(ranked(1, 2, 1, 2, 2), data, "Success@1"), data, "tags")
    assert values_of(found) == [("io", ("a", "b", "e")), ("rust", ("a",)), (None, ("c", "d", "e"))]
    assert [part.mean["Success@1"] for part in found] == pytest.approx([1 / 3, 1, 1 / 3])


def test_by_nuggets_all_nuggets_of_a_query_count() -> None:
    data = StandIn("abcde", nuggets=[2, 10, 2, 0, 1])
    data.judgments = Columns(1, query_id=["a"], nugget_id=["0"], doc_id=["right"], score=[1])  # supported or not
    found = slices(evaluate(ranked(1), data, "P@1"), data, "nuggets")
    assert values_of(found) == [(0, ("d",)), (1, ("e",)), (2, ("a", "c")), (10, ("b",))]


def test_every_field_of_a_query_makes_slices() -> None:
    data = StandIn("ab")
    result = evaluate(ranked(1, 2), data, "RR@10")
    for name in [member.name for member in dataclasses.fields(Query)]:
        expected = ["a", "b"] if name in ("query_id", "text") else [None]
        assert [part.value for part in slices(result, data, name)] == expected


@pytest.mark.parametrize("by", ["tpye", "", "corpus-id", "nugget", "_id", None])
def test_an_unknown_column_is_refused_with_the_known_ones(by: Any) -> None:
    data = StandIn("ab")
    with pytest.raises(UnknownNameError) as refused:
        slices(evaluate(ranked(1, 2), data, "RR@10"), data, by)
    assert str(refused.value) == (
        f"unknown column of the queries {by!r}; known: query_id, text, title, body, answer_id, answer_text, date, "
        "tags, url, author, score, license, language, type, difficulty, nuggets"
    )


ROWS = [("1", "a", "x", 1), ("1", "b", "y", 1), ("2", "c", "z", 1), ("2", "c", "x", 0)]


def judged(rows: Iterable[tuple[str, str, str, int]] = ROWS) -> tuple[Dataset, Result]:
    data = Dataset.from_nugget_qrels(rows, name="small", snapshot="2026-01")
    return data, evaluate({"1": {"x": 1.0}, "2": {"x": 1.0}}, data, "Success@1")


def test_a_result_of_another_dataset_is_refused() -> None:
    data, result = judged()
    other, _ = judged([*ROWS, ("2", "d", "w", 1)])  # of the same name and queries
    with pytest.raises(NotComparableError) as refused:
        slices(result, other, "nuggets")
    expected, got = (f"one on small@2026-01#{one.fingerprint[:12]}" for one in (other, data))
    assert str(refused.value) == f"slices of a result, expected {expected}, got {got}"
    with pytest.raises(NotComparableError):
        slices(evaluate(ranked(1), StandIn("ab"), "P@1"), StandIn("abc"), "type")
    with pytest.raises(InputError, match="the dataset to score on"):
        slices(result, "small", "type")  # type: ignore[arg-type]  # what somebody may try


@pytest.mark.parametrize("given", [{"a": {"right": 1.0}}, None, "mine.json"])
def test_what_is_no_result_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="a result, expected what evaluate returns, got "):
        slices(given, StandIn("a"), "type")


def test_the_same_dataset_may_have_its_queries_in_another_order() -> None:
    data, result = judged()
    other, _ = judged(ROWS[::-1])
    assert (result.query_ids, other.fingerprint) == (("1", "2"), data.fingerprint)
    assert other.queries.columns("query_id") == (["2", "1"],)
    # x supports a of query 1, and nothing of query 2
    for found in (slices(result, data, "nuggets"), slices(result, other, "nuggets")):
        assert values_of(found) == [(1, ("2",)), (2, ("1",))]
        assert [part.mean["Success@1"] for part in found] == [0.0, 1.0]


def test_a_dataset_of_judgments_alone_has_values_for_its_number_of_nuggets_only() -> None:
    data, result = judged()
    for name in ("type", "tags", "score"):
        assert [part.value for part in slices(result, data, name)] == [None]
    assert slicing.columns_with_values(data) == ("nuggets",)


def test_a_column_has_values_when_some_query_has_one() -> None:
    data = StandIn(
        "ab", type=[None, "exact"], score=[0, None], tags=[[], ["io"]], author=[None, None], title=["", None]
    )
    assert slicing.columns_with_values(data) == ("title", "tags", "score", "type", "nuggets")
    assert slicing.columns_with_values(StandIn("ab", tags=[[], None])) == ("nuggets",)


def test_single_queries_cost_no_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [f"q{number}" for number in range(1000)]
    data = StandIn(ids)
    result = evaluate({"q0": {"right": 1.0}}, data, "P@1", resamples=10)
    drawn: list[int] = []
    monkeypatch.setattr(slicing, "bootstrap_intervals", lambda values, *_: drawn.append(values.shape[1]))
    assert len(slices(result, data, "query_id")) == 1000
    assert drawn == []


def test_nothing_of_a_slice_can_be_changed() -> None:
    data = StandIn("ab", type=["exact", "exact"])
    (part,) = slices(evaluate(ranked(1, 2), data, "RR@10"), data, "type")
    with pytest.raises(ValueError, match="read-only"):
        part.values[0, 0] = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        part.value = "other"  # type: ignore[misc]  # that it is refused is the point
