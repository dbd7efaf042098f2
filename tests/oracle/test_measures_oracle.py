"""Every measure against other people's implementations, and against the definition written out."""

import warnings
from collections.abc import Iterable, Mapping
from itertools import pairwise

import pytest

from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.ranking import Run
from tests.oracle.obvious import Case, all_measures, random_case, ranking

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyndeval
    import pytrec_eval
    from freshstack.retrieval.evaluation import EvaluateRetrieval
    from freshstack.retrieval.metrics import coverage, recall

CUTOFFS = (1, 3, 5, 10, 20)
EXACT = 1e-12


def values(case: Case, measures: Iterable[str]) -> dict[str, dict[str, float]]:
    """What we compute, by measure as it was named and query; the mapping and the arrays must agree to the bit."""
    dataset = case.dataset()
    asked = list(measures)
    result = evaluate(case.run, dataset, asked, intervals=False)
    again = evaluate(Run.from_dict(case.run), dataset, asked, intervals=False)
    assert (result.values == again.values).all()
    assert result.ties == again.ties
    return {name: dict(result.per_query[name]) for name in asked}


def assert_same(ours: Mapping[str, float], theirs: Mapping[str, float]) -> None:
    """Compare values by query; a query that the other tool leaves out is one it scores 0."""
    assert ours == pytest.approx({query_id: theirs.get(query_id, 0.0) for query_id in ours}, abs=EXACT, rel=0)


@pytest.mark.parametrize("seed", range(40))  # of 60 queries each
def test_alpha_ndcg_is_that_of_pyndeval(seed: int) -> None:
    case = random_case(seed)
    ours = values(case, [f"alpha_nDCG@{k}" for k in CUTOFFS])
    evaluator = pyndeval.RelevanceEvaluator(case.rows, [f"alpha-nDCG@{k}" for k in CUTOFFS])
    theirs = evaluator.evaluate((query_id, d, s) for query_id, found in case.run.items() for d, s in found.items())
    for k in CUTOFFS:
        assert_same(ours[f"alpha_nDCG@{k}"], {q: found[f"alpha-nDCG@{k}"] for q, found in theirs.items()})


@pytest.mark.parametrize("seed", range(40))
def test_measures_of_documents_are_those_of_trec_eval(seed: int) -> None:
    case = random_case(1000 + seed)
    names = {"Recall": "recall", "P": "P", "Success": "success", "AP": "map_cut", "nDCG": "ndcg_cut"}
    cuts = ",".join(map(str, CUTOFFS))
    evaluator = pytrec_eval.RelevanceEvaluator(case.qrels(), {f"{name}.{cuts}" for name in names.values()})
    theirs = evaluator.evaluate(case.run)
    ours = values(case, [f"{name}@{k}" for name in names for k in CUTOFFS])
    for name, other in names.items():
        for k in CUTOFFS:
            assert_same(ours[f"{name}@{k}"], {q: found[f"{other}_{k}"] for q, found in theirs.items()})


@pytest.mark.parametrize("seed", range(40))
def test_binary_ndcg_is_that_of_trec_eval_with_binary_judgments(seed: int) -> None:
    case = random_case(2000 + seed)
    binary = {q: {doc_id: min(gain, 1) for doc_id, gain in found.items()} for q, found in case.qrels().items()}
    cuts = ",".join(map(str, CUTOFFS))
    theirs = pytrec_eval.RelevanceEvaluator(binary, {f"ndcg_cut.{cuts}"}).evaluate(case.run)
    ours = values(case, [f"ndcg@{k}" for k in CUTOFFS])
    for k in CUTOFFS:
        assert_same(ours[f"ndcg@{k}"], {q: found[f"ndcg_cut_{k}"] for q, found in theirs.items()})


@pytest.mark.parametrize("seed", range(40))
def test_rr_is_that_of_trec_eval_on_a_run_cut_at_k(seed: int) -> None:
    case = random_case(3000 + seed)
    ours = values(case, [f"RR@{k}" for k in CUTOFFS])
    evaluator = pytrec_eval.RelevanceEvaluator(case.qrels(), {"recip_rank"})
    for k in CUTOFFS:
        cut = {q: {doc_id: found[doc_id] for doc_id in ranking(found)[:k]} for q, found in case.run.items()}
        assert_same(ours[f"RR@{k}"], {q: found["recip_rank"] for q, found in evaluator.evaluate(cut).items()})


@pytest.mark.parametrize("seed", range(40))
def test_coverage_is_that_of_sets(seed: int) -> None:
    case = random_case(7000 + seed)
    ours = values(case, [f"Coverage@{k}" for k in (*CUTOFFS, 50)])
    for k in (*CUTOFFS, 50):
        for query_id, nuggets in case.nuggets().items():
            top = set(ranking(case.run.get(query_id, {}))[:k])
            covered = {nugget_id for nugget_id, supporting in nuggets.items() if supporting & top}
            assert ours[f"Coverage@{k}"][query_id] == len(covered) / len(nuggets)


def for_freshstack(case: Case) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """Nugget to document to score, and query to nuggets."""
    scores: dict[str, dict[str, int]] = {}
    nuggets: dict[str, dict[str, None]] = {}
    for query_id, nugget_id, doc_id, score in case.rows:
        scores.setdefault(nugget_id, {})[doc_id] = score
        nuggets.setdefault(query_id, {})[nugget_id] = None
    return scores, {query_id: list(found) for query_id, found in nuggets.items()}


@pytest.mark.parametrize("seed", range(40))
def test_the_three_main_measures_are_those_of_freshstack_to_its_rounding(seed: int) -> None:
    case = random_case(4000 + seed, whole=True)
    cutoffs = [1, 5, 10, 20, 50]
    theirs = EvaluateRetrieval(cutoffs).evaluate(*for_freshstack(case), case.qrels(), case.run)
    names = ("alpha_nDCG", "alpha-nDCG"), ("Coverage", "Coverage"), ("Recall", "Recall")
    result = evaluate(case.run, case.dataset(), [f"{name}@{k}" for name, _ in names for k in cutoffs], intervals=False)
    for (name, other), found in zip(names, theirs, strict=True):
        assert len(found) == (4 if name == "alpha_nDCG" else 5)  # its alpha-nDCG ends at 20
        for k in cutoffs[: len(found)]:
            assert result.mean[f"{name}@{k}"] == pytest.approx(found[f"{other}@{k}"], abs=5.6e-5)


@pytest.mark.parametrize("seed", range(40))
def test_coverage_and_recall_are_freshstacks_query_by_query_with_nuggets_that_nothing_supports(seed: int) -> None:
    case = random_case(8000 + seed)
    cutoffs = [10, 20, 50]
    scores, nuggets = for_freshstack(case)
    assert not all(any(found.values()) for found in scores.values())
    qrels = case.qrels()
    ours = values(case, [f"{name}@{k}" for name in ("Coverage", "Recall") for k in cutoffs])
    for query_id, of_query in nuggets.items():
        ranked = {query_id: case.run[query_id]} if query_id in case.run else {}
        theirs = coverage(scores, {query_id: of_query}, ranked, cutoffs)
        theirs |= recall({query_id: qrels[query_id]}, ranked, cutoffs)
        for name, value in theirs.items():
            assert ours[name][query_id] == pytest.approx(value, abs=5.6e-5)


@pytest.mark.parametrize("ties", [False, True], ids=["distinct scores", "tied scores"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k, alpha", [(1, 0.5), (4, 0.9), (10, 0.0), (25, 1.0), (100, 0.3)])
def test_every_measure_is_its_definition_written_out(seed: int, k: int, alpha: float, ties: bool) -> None:
    case = random_case(5000 + seed, queries=15, ties=ties)
    expected = all_measures(case, k, alpha)
    for name, ours in values(case, expected).items():
        assert_same(ours, expected[name])


@pytest.mark.parametrize("seed", range(20))
def test_ties_are_counted_as_the_documents_behind_one_of_the_same_score(seed: int) -> None:
    case = random_case(6000 + seed, queries=10, ties=True)
    behind = 0
    for found in case.run.values():
        ordered = [found[doc_id] for doc_id in ranking(found)]
        behind += sum(a == b for a, b in pairwise(ordered))
    case.run["a query of another dataset"] = {"a": 1, "b": 1}  # its ties are nobody's
    for run in (case.run, Run.from_dict(case.run)):
        assert evaluate(run, case.dataset(), "P@1", intervals=False).ties == behind
