"""What ``evaluate`` accepts, refuses and returns."""

import gc
import json
import pickle
import tracemalloc
import weakref
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import freshstack_datasets
from freshstack_datasets.errors import InputError, NotComparableError, RunError, UnknownNameError
from freshstack_datasets.evaluation import Result, evaluate, judgments, macro_mean
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run


class Columns:
    """Records by column, for datasets that no snapshot could hold."""

    def __init__(self, **columns: list[Any]) -> None:
        self._columns = columns

    def columns(self, *fields: str) -> tuple[list[Any], ...]:
        return tuple(self._columns[field] for field in fields)


class StandIn:
    """The least that scoring needs."""

    name, snapshot, fingerprint = "stand-in", "2026-01", "abc"

    def __init__(
        self, queries: list[str], nuggets: list[tuple[str, str]], rows: list[tuple[str, str, str, int]]
    ) -> None:
        of_query, ids = zip(*nuggets, strict=True) if nuggets else ((), ())
        q, n, d, s = zip(*rows, strict=True) if rows else ((), (), (), ())
        self.queries = Columns(query_id=queries)
        self.nuggets = Columns(query_id=list(of_query), nugget_id=list(ids))
        self.judgments = Columns(query_id=list(q), nugget_id=list(n), doc_id=list(d), score=list(s))


ROWS = [("1", "a", "x", 1), ("1", "b", "y", 1), ("2", "c", "z", 1), ("2", "c", "x", 0)]


def dataset(name: str = "small") -> Dataset:
    return Dataset.from_nugget_qrels(ROWS, name=name, snapshot="2026-01")


def result(**options: Any) -> Result:
    return evaluate({"1": {"x": 2.0, "y": 1.0}, "2": {"x": 1.0}}, dataset(), **options)


def test_means_run_over_all_queries_and_are_found_by_any_spelling() -> None:
    found = result(measures="Recall@1, Success@1")
    # query 1: 1 of 2 relevant documents; query 2: none
    assert found.mean["Recall@1"] == found.mean["R@1"] == found.mean["recall_at_1"] == 0.25
    assert found.mean["hit@1"] == 0.5
    assert dict(found.mean) == {"Recall@1": 0.25, "Success@1": 0.5}
    assert dict(found.per_query["hit@1"]) == {"1": 1.0, "2": 0.0}
    assert found.per_query["hit@1"]["2"] == 0.0
    assert "hit@1" in found.mean
    assert "hit@2" not in found.mean
    assert "nonsense" not in found.mean
    assert "3" not in found.per_query["hit@1"]


def test_what_was_not_computed_is_refused_by_name() -> None:
    found = result(measures="Recall@10")
    with pytest.raises(UnknownNameError, match="did you mean 'Recall@10'"):
        found.mean["Recall@20"]
    with pytest.raises(UnknownNameError, match="unknown query '3'"):
        found.per_query["Recall@10"]["3"]
    with pytest.raises(UnknownNameError):
        found.signature("P@10")


def test_the_interval_holds_the_mean_and_depends_on_the_seed_alone() -> None:
    found = result(measures="Recall@1")
    # two values, 1/2 and 0: a resample has mean 0 or 1/2 in one of four cases each, so both are in the middle 95 %
    assert found.interval("Recall@1") == (0.0, 0.5)
    assert result(seed=5).to_json() == result(seed=5).to_json()


def graded(queries: int) -> tuple[dict[str, dict[str, float]], Dataset]:
    """A run that finds the one right document of query i at rank i % 13 + 1, and its dataset."""
    rows = [(str(i), nugget, "right", 1) for i in range(queries) for nugget in "ab"]
    ranked = [*(f"wrong {n}" for n in range(12)), "last"]
    run = {}
    for i in range(queries):
        order = [*ranked[: i % 13], "right", *ranked[i % 13 :]]
        run[str(i)] = {doc_id: -float(place) for place, doc_id in enumerate(order)}
    return run, Dataset.from_nugget_qrels(rows)


@pytest.mark.parametrize("queries", [1, 2, 64, 203, 672])
def test_an_interval_is_the_same_whatever_else_is_computed(queries: int) -> None:
    run, data = graded(queries)
    names = "RR@10", "Recall@5", "nDCG@10", "alpha_nDCG(alpha=0.3)@7", "AP@20"
    alone = [evaluate(run, data, name, resamples=500).interval(name) for name in names]
    for order in (names, names[::-1], names[1:], names[:2]):
        together = evaluate(run, data, order, resamples=500)
        assert [together.interval(name) for name in order] == [alone[names.index(name)] for name in order]


def test_without_intervals_there_are_none() -> None:
    found = result(intervals=False)
    with pytest.raises(InputError, match="no intervals; evaluate with intervals=True"):
        found.interval("Recall@50")
    entry = found.to_json()["measures"]["Recall@50"]
    assert (entry["low"], entry["high"]) == (None, None)


def test_the_json_has_the_promised_shape() -> None:
    entry = json.loads(json.dumps(result(name="bm25").to_json()))
    assert list(entry) == ["dataset", "snapshot", "fingerprint", "system", "queries", "ties", "measures"]
    assert (entry["dataset"], entry["snapshot"], entry["system"]) == ("small", "2026-01", "bm25")
    assert (entry["fingerprint"], entry["queries"], entry["ties"]) == (dataset().fingerprint, 2, 0)
    assert list(entry["measures"]) == ["alpha_nDCG@10", "Coverage@20", "Recall@50"]
    assert list(entry["measures"]["Recall@50"]) == ["value", "low", "high", "signature"]
    assert entry["measures"]["Recall@50"]["value"] == 0.5  # both of query 1, none of query 2


def test_the_signature_names_everything_that_a_score_depends_on() -> None:
    found = result(seed=7, resamples=500)
    assert found.signature("alpha_nDCG@10").split(" | ") == [
        "alpha_nDCG(alpha=0.5)@10",
        f"small@2026-01#{dataset().fingerprint}",
        "queries 2",
        "ties score falling, then document id falling",
        f"freshstack-datasets {freshstack_datasets.__version__}",
    ]


def test_how_the_interval_was_made_is_no_part_of_the_signature_but_of_the_result() -> None:
    found = result(seed=7, resamples=500)
    assert (found.seed, found.resamples) == (7, 500)
    others = result(), result(seed=8), result(intervals=False)
    assert {other.signature("Recall@50") for other in others} == {found.signature("Recall@50")}


def test_it_prints_as_a_table() -> None:
    assert str(result(measures="Recall@1 alpha_nDCG(alpha=0.9)@10")).splitlines() == [
        "run on small@2026-01, 2 queries",
        "  Recall@1                  0.2500  [0.0000, 0.5000]",
        "  alpha_nDCG(alpha=0.9)@10  0.5000  [0.0000, 1.0000]",
    ]
    assert repr(result(measures="P@1")) == "<Result 'run' on small@2026-01: {'P@1': 0.5}>"
    assert repr(result(measures="P@1").per_query["P@1"]) == "<2 values, mean 0.5000>"


def test_extra_and_missing_queries_are_warned_of() -> None:
    found = evaluate({"1": {"x": 1.0}, "7": {"x": 1.0}, "8": {}}, dataset())
    assert found.warnings == (
        "left out, because the dataset does not have them: 2 of the run's queries ('7', '8')",
        "scored 0, because the run does not have them: 1 of 2 queries",
    )
    assert all(warning in str(found) for warning in found.warnings)
    assert result().warnings == ()


def test_the_system_is_called_as_the_run_is() -> None:
    run = Run.from_dict({"1": {"x": 1.0}}, name="dense")
    assert evaluate(run, dataset()).system == "dense"
    assert evaluate(run, dataset(), name="other").system == "other"


@pytest.mark.parametrize("scores", [{"x": np.float32(0.5)}, {"x": 1}, {"x": np.float64(2)}, {"x": 1e308, "y": 1e308}])
def test_any_real_numbers_are_scores(scores: dict[str, float]) -> None:
    for run in ({"1": scores}, Run.from_dict({"1": scores})):
        assert evaluate(run, dataset(), "Success@1").per_query["Success@1"]["1"] == 1.0


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "run, says",
    [
        ({"1": {"x": 1.0, "y": NAN}}, "query '1', document 'y': score, expected a finite number, got nan"),
        ({"1": {"x": 1.0}, "7": {"y": INF}}, "query '7', document 'y': score, expected a finite number, got inf"),
        ({"1": {"x": -INF, "y": INF}}, "query '1', document 'x': score, expected a finite number, got -inf"),
        ({"1": {"x": "1.5"}}, "document 'x': score, expected a finite number, got '1.5' (str)"),
        ({"1": {"x": b"1.5"}}, "got b'1.5' (bytes)"),
        ({"1": {"x": None}}, "got None (NoneType)"),
        ({"1": {"x": 1j}}, "(complex)"),
        ({"1": {"x": 10**400}}, "document 'x': score, expected a finite number"),
        ({"1": {"x": 10**5000}}, "document 'x': score, expected a finite number"),
        ({"1": {"x": Decimal("sNaN")}}, "document 'x': score, expected a finite number, got Decimal('sNaN') (Decimal)"),
        ({"1": {"x": np.longdouble("1e4000")}}, "document 'x': score, expected a finite number"),
        ({"1": {"x": 1.0, 5: 2.0}}, "document id, expected a non-empty string without tab or line break, got 5 (int)"),
        ({"1": {"x": 1.0, b"y": 2.0}}, "got b'y' (bytes)"),
        ({"1": {"": 1.0}}, "got '' (str)"),
        ({"1": {"x": 1.0}, "": {"x": 1.0}}, "query id, expected a non-empty string without tab or line break, got ''"),
        ({1: {"x": 1.0}}, "query id, expected a non-empty string without tab or line break, got 1 (int)"),
        ({"1": ["x"]}, "query '1', expected a mapping from document id to score, got"),
        ({"1": None}, "query '1', expected a mapping from document id to score, got None"),
        ({"8": {"x": 1.0}, "9": {}}, "the run shares no query with small@2026-01, expected query ids such as '1', got"),
        ({}, "the run shares no query with small@2026-01, expected query ids such as '1', got no query"),
        ([("1", "x", 1.0)], "a run, expected a Run or a mapping of mappings, got list"),
        (None, "a run, expected a Run or a mapping of mappings, got NoneType"),
    ],
)
def test_what_no_ranking_can_be_made_of_is_refused_with_the_first_offender(run: Any, says: str) -> None:
    with pytest.raises(RunError) as refused:
        evaluate(run, dataset())
    assert says in str(refused.value)


RANKED = {"1": {"x": 1.0}}


@pytest.mark.parametrize(
    "run, says",
    [
        (dataset(), "got Dataset; runs come first, the dataset after them"),
        ("text.trec", "got 'text.trec' (str); read it with read_run"),
        (Path("runs/text.trec"), "read it with read_run"),
        (5, "got int; make one with Run.from_dict or Run.from_columns"),
    ],
)
def test_what_is_no_run_is_refused_with_the_next_step(run: Any, says: str) -> None:
    for other in (dataset(), Run.from_dict(RANKED)):  # the second: run and dataset in the wrong order
        with pytest.raises(RunError) as refused:
            evaluate(run, other)
        assert str(refused.value).startswith("a run, expected a Run or a mapping of mappings, got ")
        assert says in str(refused.value)


@pytest.mark.parametrize(
    "given, says",
    [
        ("coffee", "got 'coffee' (str); load makes a dataset of a name or a folder"),
        (Path("coffee"), "Path); load makes a dataset"),
        (Run.from_dict(RANKED), "got <Run 'run': 1 queries, 1 documents> (Run); "),
        (RANKED, "got {'1': {'x': 1.0}} (dict); "),
        (None, "got None (NoneType); "),
        (Columns(query_id=["1"]), "(Columns); "),
    ],
)
def test_what_is_no_dataset_is_refused_with_the_next_step(given: Any, says: str) -> None:
    for run in (RANKED, Run.from_dict(RANKED)):
        with pytest.raises(InputError) as refused:
            evaluate(run, given)
        assert "the dataset to score on, expected an object with name, snapshot, " in str(refused.value)
        assert says in str(refused.value)
        assert "runs come first, the dataset after them" in str(refused.value)


def test_an_empty_ranking_is_a_ranking() -> None:
    for run in ({"1": {}}, Run.from_dict({"1": {}})):
        assert evaluate(run, dataset(), "Recall@5").mean["Recall@5"] == 0.0


def test_ties_are_the_documents_behind_one_of_the_same_score() -> None:
    # 3 of the same score: two stand behind another; 2 more: one; the tie of query 7 is not the dataset's
    run = {"1": {"a": 1.0, "b": 2.0, "c": 1.0, "d": 1, "e": 2.0, "f": 0.0}, "2": {"a": 1.0}, "7": {"a": 1.0, "b": 1.0}}
    assert evaluate(run, dataset()).ties == 3
    assert evaluate(Run.from_dict(run), dataset()).ties == 3


def test_a_nugget_without_any_judgment_counts_for_coverage() -> None:
    data = StandIn(["1"], [("1", "a"), ("1", "b"), ("1", "c")], [("1", "a", "x", 1)])
    found = evaluate({"1": {"x": 1.0}}, data, "Coverage@5 alpha_nDCG@5")
    assert found.mean["Coverage@5"] == 1 / 3
    assert found.mean["alpha_nDCG@5"] == 1.0


def test_support_wins_over_a_judgment_that_says_otherwise() -> None:
    for scores in ((1, 0), (0, 1), (1, 1)):
        data = StandIn(["1"], [("1", "a")], [("1", "a", "x", score) for score in scores])
        # x supports a once, however often it is said: the graded gain is 1, as in the ideal
        found = evaluate({"1": {"x": 1.0}}, data, "Recall@1 nDCG@1 alpha_nDCG@1")
        assert dict(found.mean) == {"Recall@1": 1.0, "nDCG@1": 1.0, "alpha_nDCG@1": 1.0}


def test_queries_without_nuggets_or_judgments_score_0() -> None:
    data = StandIn(["1", "2"], [("1", "a")], [])
    found = evaluate({"1": {"x": 1.0}, "2": {"x": 1.0}}, data, "Coverage@5 alpha_nDCG@5 AP@5 nDCG@5 Judged@5 RR@5")
    assert set(found.mean.values()) == {0.0}


@pytest.mark.parametrize(
    "nuggets, rows, says",
    [
        ([("1", "a")], [("1", "b", "x", 1)], "the nugget of a judgment, expected one that the dataset has"),
        ([("1", "a")], [("3", "a", "x", 0)], "the query of a judgment, expected one that the dataset has, got '3'"),
        ([("3", "a")], [], "the query of a nugget, expected one that the dataset has, got '3'"),
    ],
)
def test_judgments_of_something_unknown_are_refused(
    nuggets: list[tuple[str, str]], rows: list[tuple[str, str, str, int]], says: str
) -> None:
    with pytest.raises(InputError) as refused:
        evaluate({"1": {"x": 1.0}}, StandIn(["1"], nuggets, rows))
    assert says in str(refused.value)


def test_a_dataset_without_queries_cannot_be_shared() -> None:
    with pytest.raises(RunError, match="the run shares no query with stand-in@2026-01"):
        evaluate({"1": {"x": 1.0}}, StandIn([], [], []))


def test_judgments_are_prepared_once_and_go_with_their_dataset() -> None:
    data = dataset()
    first = judgments.judgments_of(data)
    evaluate({"1": {"x": 1.0}}, data)
    assert judgments.judgments_of(data) is first
    gone = weakref.ref(data)
    del data
    gc.collect()
    assert gone() is None


def test_runs_of_one_vocabulary_and_of_another_give_the_same() -> None:
    data = dataset()
    one = Run.from_dict({"1": {"x": 2.0, "y": 1.0}, "2": {"z": 1.0}})
    other = Run.from_codes(one.query_ids, one.offsets, one.doc_ids, one.codes[::-1], one.scores)
    wide = Run.from_dict({**other.to_dict(), "3": {"w": 1.0, "a": 1.0}})
    # other: query 1 has z and y, query 2 has x: 1 of 2 relevant documents of query 1, none of query 2
    for run, expected in ((one, 1.0), (other, 0.25), (wide, 0.25), (one, 1.0)):
        assert evaluate(run, data, "Recall@5").mean["Recall@5"] == expected


def test_few_ids_of_a_large_vocabulary_are_found_as_many_are() -> None:
    data = dataset()
    vocabulary = sorted(["x", "y", "z", *(f"other {i}" for i in range(1_000))])
    codes = [vocabulary.index(doc_id) for doc_id in ("y", "x", "z")]
    few = Run.from_codes(("1", "2"), np.array([0, 2, 3]), vocabulary, np.array(codes, np.int32), np.ones(3))
    many = Run.from_dict({"1": {"y": 1.0, "x": 1.0}, "2": {"z": 1.0}})
    for run in (few, many):
        # all three right documents are found, and of the tied ones y stands first: at rank 1 one of two is found
        assert dict(evaluate(run, data, "Recall@1 Recall@5").mean) == {"Recall@1": 0.75, "Recall@5": 1.0}


def test_one_query_with_many_nuggets_costs_no_more_than_its_own() -> None:
    # padded to the largest query, 2,001 queries x 200 documents x 200 nuggets would take 80 MB even as bytes
    rows = [("big", f"n{i}", f"d{i}", 1) for i in range(200)]
    rows += [(f"q{i}", "n", "d0", 1) for i in range(2_000)]
    data = Dataset.from_nugget_qrels(rows)
    assert data.fingerprint
    run = Run.from_dict({query_id: {f"d{i}": -float(i) for i in range(50)} for query_id in ("big", "q0", "q1")})
    tracemalloc.start()
    found = evaluate(run, data, "alpha_nDCG@50 Coverage@50 nDCG@50", intervals=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.per_query["Coverage@50"]["big"] == 0.25
    assert found.per_query["alpha_nDCG@50"]["q1"] == 1.0
    assert peak < 10_000_000


@pytest.mark.parametrize("options", [{"resamples": 0}, {"resamples": 1.5}, {"seed": -1}, {"seed": "x"}])
def test_resamples_and_seeds_that_are_no_numbers_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"the (number of )?{next(iter(options))}, expected a whole number from"):
        result(**options)


def test_a_result_cannot_be_changed() -> None:
    found = result()
    with pytest.raises(AttributeError):
        found.system = "other"  # type: ignore[misc]  # that is the point
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0] = 1.0


def test_a_result_can_be_sent_to_another_process() -> None:
    found = result()
    assert pickle.loads(pickle.dumps(found)).to_json() == found.to_json()


def test_datasets_are_averaged_alike_and_never_over_a_missing_one() -> None:
    run = {"1": {"x": 2.0, "y": 1.0}}
    small = evaluate(run, dataset("small"), "Recall@5")  # (1 + 0) / 2
    one = Dataset.from_nugget_qrels([("1", "a", "y", 1)], name="one")
    single = evaluate(run, one, "Recall@5")  # 1
    assert macro_mean([small, single]) == {"Recall@5": 0.75}
    for results, says in (
        ([], "expected at least one result, got none"),
        ([small, small], "expected each dataset once, got 'small' twice"),
        ([small, evaluate(run, one, "P@5")], "expected the same measures of every dataset, got no P@5 of 'small'"),
    ):
        with pytest.raises(NotComparableError) as refused:
            macro_mean(results)
        assert says in str(refused.value)
