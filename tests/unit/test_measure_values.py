"""Values of the measures in the cases where implementations differ, each derived by hand."""

import math
from collections.abc import Mapping

import pytest

from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.loading import Dataset
from freshstack_datasets.ranking import Run

Rows = list[tuple[str, str, str, int]]
LOG3 = math.log2(3)  # the discount of rank 2 is 1 / log2(3), that of rank 3 is 1 / log2(4) = 1/2


def score(rows: Rows, run: Mapping[str, Mapping[str, float]], *measures: str) -> dict[str, dict[str, float]]:
    """Return measure to query to value; the arrays must give what the mapping gives."""
    dataset = Dataset.from_nugget_qrels(rows)
    result = evaluate(run, dataset, measures, intervals=False)
    assert (evaluate(Run.from_dict(run), dataset, measures, intervals=False).values == result.values).all()
    return {name: dict(result.per_query[name]) for name in measures}


def ranked(*doc_ids: str) -> dict[str, float]:
    """Return scores that rank documents in this order."""
    return {doc_id: float(-place) for place, doc_id in enumerate(doc_ids)}


def test_a_query_without_a_relevant_document_scores_0_and_counts() -> None:
    rows = [("1", "a", "x", 1), ("2", "b", "y", 0)]
    names = ("alpha_nDCG@10", "Coverage@10", "Recall@10", "nDCG@10", "RR@10", "Success@10", "P@10", "AP@10")
    found = score(rows, {"1": ranked("x"), "2": ranked("y", "z")}, *names)
    assert {name: values["2"] for name, values in found.items()} == dict.fromkeys(names, 0.0)
    result = evaluate({"1": ranked("x"), "2": ranked("y")}, Dataset.from_nugget_qrels(rows), "Recall@10")
    assert result.mean["Recall@10"] == 0.5  # (1 + 0) / 2
    assert result.queries == 2


def test_a_nugget_that_nothing_supports_lowers_coverage_alone() -> None:
    # nuggets a (supported by x) and b (judged, supported by nothing): covered 1 of 2; the ideal of alpha-nDCG is x alone
    rows = [("1", "a", "x", 1), ("1", "b", "x", 0)]
    found = score(rows, {"1": ranked("x")}, "Coverage@5", "alpha_nDCG@5", "Recall@5", "nDCG@5")
    assert found == {
        "Coverage@5": {"1": 0.5},
        "alpha_nDCG@5": {"1": 1.0},
        "Recall@5": {"1": 1.0},
        "nDCG@5": {"1": 1.0},
    }


def test_ids_that_are_prefixes_of_each_other_stay_apart() -> None:
    # 12 has one nugget, 123 has two; documents d1 and d12 likewise
    rows = [("12", "12_0", "d1", 1), ("123", "123_0", "d12", 1), ("123", "123_1", "d1", 1)]
    found = score(rows, {"12": ranked("d1"), "123": ranked("d12")}, "Coverage@5", "Recall@5")
    assert found == {"Coverage@5": {"12": 1.0, "123": 0.5}, "Recall@5": {"12": 1.0, "123": 0.5}}


def test_ids_with_underscores_are_opaque() -> None:
    # split at an underscore, so_1 and so_2 would be one query
    rows = [("so_1", "so_1_0", "a_b", 1), ("so_2", "so_2_0", "a_b_c", 1)]
    found = score(rows, {"so_1": ranked("a_b"), "so_2": ranked("a_b")}, "Success@1")
    assert found == {"Success@1": {"so_1": 1.0, "so_2": 0.0}}


def test_two_queries_may_use_one_nugget_id() -> None:
    rows = [("1", "0", "x", 1), ("1", "1", "y", 1), ("2", "0", "y", 1)]
    found = score(rows, {"1": ranked("x"), "2": ranked("x")}, "Coverage@5")
    assert found == {"Coverage@5": {"1": 0.5, "2": 0.0}}


def test_cutoffs_above_20_count_ranks_above_20() -> None:
    # x at rank 40: alpha-nDCG = 1 / log2(41), since the ideal has x at rank 1 where the discount is 1
    run = {"1": ranked(*(f"other{i}" for i in range(39)), "x")}
    found = score([("1", "a", "x", 1)], run, "alpha_nDCG@20", "alpha_nDCG@40", "Coverage@39", "Coverage@50", "RR@40")
    assert found["alpha_nDCG@20"] == {"1": 0.0}
    assert found["alpha_nDCG@40"]["1"] == pytest.approx(1 / math.log2(41), abs=1e-15)
    assert (found["Coverage@39"], found["Coverage@50"], found["RR@40"]) == ({"1": 0.0}, {"1": 1.0}, {"1": 1 / 40})


def test_an_empty_ranking_scores_0() -> None:
    names = (
        "alpha_nDCG@10",
        "Coverage@10",
        "Recall@10",
        "nDCG@10",
        "RR@10",
        "Success@10",
        "P@10",
        "AP@10",
        "Judged@10",
    )
    assert score([("1", "a", "x", 1)], {"1": {}}, *names) == {name: {"1": 0.0} for name in names}


def test_one_document_for_all_nuggets() -> None:
    # x supports a, b and c; y supports a. Ideal: x (3), then y (1/2) at rank 2.
    rows = [("1", "a", "x", 1), ("1", "b", "x", 1), ("1", "c", "x", 1), ("1", "a", "y", 1)]
    found = score(rows, {"1": ranked("y", "x")}, "Coverage@1", "Coverage@2", "alpha_nDCG@2", "nDCG@2", "ndcg@2")
    assert (found["Coverage@1"]["1"], found["Coverage@2"]["1"]) == (1 / 3, 1.0)
    # y first: 1; then x: (1/2 + 1 + 1) / log2(3). Ideal: 3 + (1/2) / log2(3).
    assert found["alpha_nDCG@2"]["1"] == pytest.approx((1 + 2.5 / LOG3) / (3 + 0.5 / LOG3), abs=1e-15)
    # gains 1 then 3, ideal 3 then 1; with binary gain both orders are ideal
    assert found["nDCG@2"]["1"] == pytest.approx((1 + 3 / LOG3) / (3 + 1 / LOG3), abs=1e-15)
    assert found["ndcg@2"]["1"] == 1.0


def test_alpha_says_how_much_a_nugget_seen_before_is_worth() -> None:
    # x and y support a, z supports b; ideal z, y or y, z (gain 1 each), so 1 + 1 / log2(3); the run has x, y, z
    rows = [("1", "a", "x", 1), ("1", "a", "y", 1), ("1", "b", "z", 1)]
    found = score(rows, {"1": ranked("x", "y", "z")}, "alpha_nDCG(alpha=0)@2", "alpha_nDCG@2", "alpha_nDCG(alpha=1)@2")
    ideal = 1 + 1 / LOG3
    assert found["alpha_nDCG(alpha=0)@2"]["1"] == 1.0
    assert found["alpha_nDCG@2"]["1"] == pytest.approx((1 + 0.5 / LOG3) / ideal, abs=1e-15)
    assert found["alpha_nDCG(alpha=1)@2"]["1"] == pytest.approx(1 / ideal, abs=1e-15)


def test_a_ranking_can_be_better_than_the_greedy_ideal() -> None:
    # d0 {4,5}, d1 {1,2}, d2 {4,5}, d3 {1,4}. Greedy at rank 1: all gain 2, so the largest id, d3. Then d0, d1, d2 each
    # gain 1 + 1/2: DCG@2 = 2 + 1.5 / log2(3). The run d0, d1 gains 2 and 2: 2 + 2 / log2(3), which is more.
    supported = {"d0": "45", "d1": "12", "d2": "45", "d3": "14"}
    rows = [("1", nugget, doc_id, 1) for doc_id, nuggets in supported.items() for nugget in nuggets]
    found = score(rows, {"1": ranked("d0", "d1")}, "alpha_nDCG@2")
    assert found["alpha_nDCG@2"]["1"] == pytest.approx((2 + 2 / LOG3) / (2 + 1.5 / LOG3), abs=1e-15)
    assert found["alpha_nDCG@2"]["1"] > 1


def test_the_greedy_ideal_takes_the_larger_id_of_equal_gains() -> None:
    # p {1,2}, q {2,3}, r {3,4} gain 2 each. The larger id, r, then p (2; q only 1.5): 2 + 2 / log2(3). Had it taken
    # q first, p and r would gain 1.5.
    rows = [("1", n, d, 1) for d, ns in {"p": "12", "q": "23", "r": "34"}.items() for n in ns]
    found = score(rows, {"1": ranked("p", "r")}, "alpha_nDCG@2")
    assert found["alpha_nDCG@2"] == {"1": 1.0}


def test_the_same_score_ranks_the_larger_id_first() -> None:
    # order: d9, d10, d1 (as text, "d9" > "d10" > "d1"); only d10 is relevant
    rows = [("1", "a", "d10", 1)]
    found = score(rows, {"1": {"d1": 1.0, "d10": 1.0, "d9": 1.0}}, "RR@3", "Success@1", "Success@2")
    assert found == {"RR@3": {"1": 0.5}, "Success@1": {"1": 0.0}, "Success@2": {"1": 1.0}}


def test_scores_are_compared_as_doubles() -> None:
    # 1 + 1e-9 is 1 in single precision; 2**53 + 1 is 2**53 in doubles
    rows = [("1", "a", "low", 1), ("2", "b", "a", 1)]
    found = score(rows, {"1": {"low": 1 + 1e-9, "z": 1.0}, "2": {"a": 2**53 + 1, "b": 2**53}}, "Success@1")
    assert found == {"Success@1": {"1": 1.0, "2": 0.0}}
    found = score([("1", "a", "x", 1)], {"1": {"x": 0.0, "y": -0.0}}, "Success@1")  # a tie, so y is first
    assert found == {"Success@1": {"1": 0.0}}


def test_a_query_that_the_run_lacks_scores_0_and_an_extra_one_is_left_out() -> None:
    rows = [("1", "a", "x", 1), ("2", "b", "y", 1)]
    found = score(rows, {"9": ranked("y"), "2": ranked("y")}, "Recall@5")
    assert found == {"Recall@5": {"1": 0.0, "2": 1.0}}


def test_judged_counts_the_documents_returned_that_were_judged_for_this_query() -> None:
    # 1: x judged relevant, y judged not, z judged for query 2 only, w for none: 2 of 4, and 2 of the first 3
    # 2: a list of one document, judged: 1 of 1
    rows = [("1", "a", "x", 1), ("1", "a", "y", 0), ("2", "b", "z", 1)]
    found = score(rows, {"1": ranked("x", "z", "y", "w"), "2": ranked("z")}, "Judged@10", "Judged@3")
    assert found == {"Judged@10": {"1": 0.5, "2": 1.0}, "Judged@3": {"1": 2 / 3, "2": 1.0}}


def test_precision_divides_by_k_and_recall_and_ap_by_all_relevant_documents() -> None:
    # relevant x, y, z; ranked x, n, y: P@10 = 2/10; Recall@10 = 2/3; AP@10 = (1/1 + 2/3) / 3; AP@1 = 1/3
    rows = [("1", "a", doc_id, 1) for doc_id in "xyz"]
    found = score(rows, {"1": ranked("x", "n", "y")}, "P@10", "Recall@10", "AP@10", "AP@1")
    assert found["P@10"] == {"1": 0.2}
    assert found["Recall@10"] == {"1": 2 / 3}
    assert found["AP@10"]["1"] == pytest.approx(5 / 9, abs=1e-15)
    assert found["AP@1"] == {"1": 1 / 3}
