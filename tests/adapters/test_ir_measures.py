"""The provider and the measure that ir_measures gets, against the tools that it would ask otherwise."""

import logging
import math
import pickle
import random
import sys

import ir_measures
import pandas
import pyndeval
import pytest
import pytrec_eval
from ir_measures import ERR_IA, R, ScoredDoc, StRecall, alpha_nDCG, nDCG, parse_measure

import freshstack_datasets as fsd
from freshstack_datasets.adapters import ir_measures as adapter
from freshstack_datasets.errors import InputError, MissingExtraError, RecordError, RunError

pytestmark = pytest.mark.filterwarnings("ignore:ast:DeprecationWarning")  # parse_measure, on Python 3.12 and newer


def Qrel(query_id, doc_id, relevance, iteration="0"):  # noqa: N802 - in the order that tests read well in
    return ir_measures.Qrel(query_id, doc_id, relevance, iteration)


@pytest.fixture(autouse=True)
def as_it_was():
    """ir_measures is left as it was found."""
    pipeline, measures, providers = (
        ir_measures.DefaultPipeline.providers,
        ir_measures.measures.registry,
        ir_measures.providers.registry,
    )
    before = list(pipeline), dict(measures), dict(providers)
    for name in ("Coverage", "freshstack_datasets"):
        measures.pop(name, None)
        if (provider := providers.pop(name, None)) in pipeline:
            pipeline.remove(provider)
    yield
    pipeline[:] = before[0]
    for registry, content in ((measures, before[1]), (providers, before[2])):
        registry.clear()
        registry.update(content)


@pytest.fixture
def installed(as_it_was):
    adapter.install()


@pytest.fixture
def coverage(installed):
    return parse_measure("Coverage@20")(cutoff=20)


def per_query(measures, qrels, run):
    found = {}
    for metric in ir_measures.iter_calc(measures, qrels, run):
        assert found.setdefault((metric.measure, metric.query_id), metric.value) is metric.value, "each once"
    return found


def test_coverage_is_a_measure_only_after_install():
    with pytest.raises(NameError):
        parse_measure("Coverage@20")
    adapter.install()
    assert str(parse_measure("Coverage@20")) == "Coverage@20"
    assert parse_measure("Coverage(rel=2)@5")["rel"] == 2


def test_installing_twice_is_installing_once():
    adapter.install()
    providers = list(ir_measures.DefaultPipeline.providers)
    adapter.install()
    assert ir_measures.DefaultPipeline.providers == providers
    names = [provider.NAME for provider in providers]
    assert names.count("freshstack_datasets") == 1
    assert names.index("freshstack_datasets") < min(names.index("pytrec_eval"), names.index("pyndeval"))


def test_a_foreign_measure_of_the_same_name_is_not_replaced():
    ir_measures.measures.registry["Coverage"] = nDCG
    with pytest.raises(
        InputError, match=r"the measure Coverage of ir_measures, expected none of that name, got one of"
    ):
        adapter.install()
    assert ir_measures.measures.registry["Coverage"] is nDCG


def test_the_measure_can_be_handed_to_another_process(coverage):
    assert pickle.loads(pickle.dumps(coverage)) == coverage


# Against the tools themselves


def cases(number, seed, relevances=(0, 1)):
    """Yield judgments and a run, of 25 queries on average; no ties, and scores that single precision tells apart."""
    dice = random.Random(seed)
    for _ in range(number):
        rows, run = [], {}
        for q in range(dice.randint(1, 50)):
            query_id = f"a query {q} ß"
            documents = [f"docs/a file {i} #%{i}.md" for i in range(dice.randint(2, 30))]
            for n in range(dice.randint(1, 5)):
                judged = dice.sample(documents, dice.randint(1, len(documents)))
                rows += [Qrel(query_id, d, dice.choice(relevances), f"nugget {n}") for d in judged]
            if dice.random() < 0.9:
                found = dice.sample([*documents, *(f"unjudged {i}" for i in range(30))], dice.randint(1, 32))
                run[query_id] = {d: float(-i) for i, d in enumerate(found)}
        dice.shuffle(rows)
        yield rows, run


def by_ndeval(rows, run, names, rel=1, alpha=0.5):
    judged = [pyndeval.SubtopicQrel(r.query_id, r.iteration, r.doc_id, r.relevance) for r in rows]
    scored = [pyndeval.ScoredDoc(q, d, s) for q, found in run.items() for d, s in found.items()]
    evaluator = pyndeval.RelevanceEvaluator(judged, names, relevance_level=rel, alpha=alpha)
    return {row.pop("query_id"): row for row in evaluator.evaluate_iter(scored)}


def by_trec_eval(rows, run, cutoffs, rel=1):
    best = {}
    for r in rows:
        documents = best.setdefault(r.query_id, {})
        documents[r.doc_id] = max(r.relevance, documents.get(r.doc_id, 0))
    names = {f"recall.{','.join(map(str, cutoffs))}"}
    return pytrec_eval.RelevanceEvaluator(best, names, relevance_level=rel).evaluate(run)


def test_all_measures_in_one_call_are_those_of_the_tools(coverage):
    """Alphas are such that sums of powers of 1 - alpha are exact, so that equal gains are equal in ndeval as well."""
    cutoffs, alphas = (1, 3, 10, 20), (0.5, 0.25, 0.75)
    measures = [
        *(alpha_nDCG(alpha=alpha) @ k for alpha in alphas for k in cutoffs),
        *(family @ k for family in (StRecall, coverage) for k in cutoffs),
        *(R @ k for k in (*cutoffs, 50)),
    ]
    for rows, run in cases(40, seed=1):
        got = per_query(measures, rows, run)
        ndeval = {
            a: by_ndeval(rows, run, [f"{m}@{k}" for m in ("alpha-nDCG", "strec") for k in cutoffs], alpha=a)
            for a in alphas
        }
        trec = by_trec_eval(rows, run, (*cutoffs, 50))
        expected = {}
        for q in {r.query_id for r in rows}:
            everything = {r.iteration for r in rows if r.query_id == q}
            supported = {r.iteration for r in rows if r.query_id == q and r.relevance}
            share = len(supported) / len(everything)  # ndeval leaves out what no document supports
            for k in cutoffs:
                recall = ndeval[0.5].get(q, {}).get(f"strec@{k}", 0.0)
                expected[StRecall @ k, q], expected[coverage @ k, q] = recall, recall * share
                for a in alphas:
                    expected[alpha_nDCG(alpha=a) @ k, q] = ndeval[a].get(q, {}).get(f"alpha-nDCG@{k}", 0.0)
            for k in (*cutoffs, 50):
                expected[R @ k, q] = trec.get(q, {}).get(f"recall_{k}", 0.0)
        assert got == pytest.approx(expected, abs=1e-9)


def test_levels_of_relevance_are_those_of_the_tools(coverage):
    measures = [family(rel=rel) @ 10 for family in (alpha_nDCG, StRecall, R) for rel in (1, 2, 3)]
    for rows, run in cases(30, seed=2, relevances=(0, 0, 1, 2, 3)):
        expected = {}
        for rel in (1, 2, 3):
            ndeval, trec = by_ndeval(rows, run, ["alpha-nDCG@10", "strec@10"], rel), by_trec_eval(rows, run, [10], rel)
            for q in {r.query_id for r in rows}:
                expected[alpha_nDCG(rel=rel) @ 10, q] = ndeval.get(q, {}).get("alpha-nDCG@10", 0.0)
                expected[StRecall(rel=rel) @ 10, q] = ndeval.get(q, {}).get("strec@10", 0.0)
                expected[R(rel=rel) @ 10, q] = trec.get(q, {}).get("recall_10", 0.0)
        assert per_query(measures, rows, run) == pytest.approx(expected, abs=1e-9)


def test_coverage_too_has_levels_of_relevance(coverage):
    rows = [Qrel("q", "a", 2, "1"), Qrel("q", "a", 1, "2"), Qrel("q", "b", 0, "3")]
    got = ir_measures.calc_aggregate([coverage, coverage(rel=2), coverage(rel=3)], rows, {"q": {"a": 1.0}})
    assert got == {coverage: pytest.approx(2 / 3), coverage(rel=2): pytest.approx(1 / 3), coverage(rel=3): 0}


def test_ranks_beyond_those_of_ndeval_count(coverage):
    """The only relevant document at rank 50: 1 / log2(51), of an ideal of 1; at rank 51 it is beyond 50."""
    run = {"q": {f"d{i:03}": float(-i) for i in range(1, 101)}}
    at = {rank: [Qrel("q", f"d{rank:03}", 1, "1"), Qrel("q", "x", 0, "2")] for rank in (50, 51)}
    measures = [alpha_nDCG @ 50, StRecall @ 50, coverage @ 50, R @ 50]
    assert ir_measures.calc_aggregate(measures, at[50], run) == pytest.approx(
        {alpha_nDCG @ 50: 1 / math.log2(51), StRecall @ 50: 1, coverage @ 50: 0.5, R @ 50: 1}
    )
    assert ir_measures.calc_aggregate(measures, at[51], run) == dict.fromkeys(measures, 0)
    assert ir_measures.calc_aggregate([alpha_nDCG @ 1000], at[51], run)[alpha_nDCG @ 1000] == 1 / math.log2(52)


# What ir_measures promises of queries

ROWS = [
    Qrel("q1", "a", 1, "1"),
    Qrel("q1", "b", 1, "2"),
    Qrel("q1", "c", 0, "3"),
    Qrel("q2", "a", 0, "1"),
    Qrel("q3", "a", 1, "1"),
]
"""A nugget that nothing supports, and a query without a relevant document."""

RUN = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "other": {"a": 1.0}}

EXPECTED = {"StRecall@1": (1 / 2, 0, 0), "Coverage@1": (1 / 3, 0, 0), "R@1": (1 / 2, 0, 0), "Coverage@5": (2 / 3, 0, 0)}
"""q2 has no relevant document, q3 is missing in the run; both count."""


def forms():
    scored = [ScoredDoc(q, d, s) for q, found in RUN.items() for d, s in found.items()]
    yield "lists", ROWS, scored
    yield "iterators", iter(ROWS), iter(scored)
    yield "frames", pandas.DataFrame(ROWS), pandas.DataFrame(scored)
    yield "frame with numbers", pandas.DataFrame(ROWS).assign(iteration=[1, 2, 3, 1, 1]), pandas.DataFrame(scored)
    yield "a dictionary", ROWS, RUN
    yield "not grouped by query", ROWS[::-1], [scored[i] for i in (0, 3, 4, 1, 2)]


@pytest.mark.parametrize(("qrels", "run"), [pytest.param(*rest, id=name) for name, *rest in forms()])
def test_every_form_of_qrels_and_runs_is_read(qrels, run, installed):
    measures = {name: parse_measure(name) for name in EXPECTED}
    if not isinstance(qrels, list | pandas.DataFrame):
        qrels, run = list(qrels), list(run)  # the iterators themselves are for the first call alone
        got = per_query(measures.values(), iter(qrels), iter(run))
    else:
        got = per_query(measures.values(), qrels, run)
    for name, values in EXPECTED.items():
        assert [got[measures[name], q] for q in ("q1", "q2", "q3")] == pytest.approx(values)
    assert {q for _, q in got} == {"q1", "q2", "q3"}


def test_means_run_over_all_queries_of_the_qrels(installed):
    measures = [parse_measure(name) for name in EXPECTED]
    expected = {parse_measure(name): sum(values) / 3 for name, values in EXPECTED.items()}
    assert ir_measures.calc_aggregate(measures, ROWS, RUN) == pytest.approx(expected)
    assert ir_measures.calc(measures, ROWS, RUN).aggregated == pytest.approx(expected)
    evaluator = ir_measures.evaluator(measures, ROWS)
    assert evaluator.calc_aggregate(RUN) == pytest.approx(expected)
    assert evaluator.calc_aggregate({"q3": {"a": 1.0}}) == pytest.approx(dict.fromkeys(measures, 1 / 3))


def test_a_query_of_the_qrels_without_judgments_counts_as_elsewhere_in_ir_measures(installed):
    """trec_eval's provider takes it for a query that the run lacks."""
    qrels = {"q1": {"a": 1}, "q2": {}}
    assert ir_measures.calc_aggregate([R @ 5], qrels, {"q1": {"a": 1.0}}) == {R @ 5: 0.5}
    assert ir_measures.pytrec_eval.calc_aggregate([R @ 5], qrels, {"q1": {"a": 1.0}}) == {R @ 5: 0.5}


@pytest.mark.parametrize("run", [{}, {"q1": {}}, [], {"other": {"a": 1.0}}])
def test_a_run_that_finds_nothing_for_these_queries_scores_0(run, installed, caplog):
    with caplog.at_level(logging.WARNING):
        assert ir_measures.calc_aggregate([R @ 5, alpha_nDCG @ 5], ROWS, run) == {R @ 5: 0, alpha_nDCG @ 5: 0}
    told = ["all scores are 0: the run shares no query with the qrels, it has 'other'"]
    assert caplog.messages == (told if "other" in run else [])


def test_documents_of_one_score_are_ranked_by_falling_id(coverage):
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {}, "q3": {}}
    only = [Qrel("q1", "b", 1, "1"), Qrel("q1", "a", 0, "1")]
    assert ir_measures.calc_aggregate([R @ 1, coverage @ 1], only, run) == {R @ 1: 1, coverage @ 1: 1}


def test_qrels_without_nuggets_make_each_query_one_nugget(coverage):
    """As in ir_measures, where iteration is then "0" everywhere; recall is right all the same."""
    qrels = {"q": {"a": 2, "b": 1, "c": 0, "d": 1}}
    rows = [Qrel("q", d, n) for d, n in qrels["q"].items()]
    run = {"q": {"x": 4.0, "a": 3.0, "c": 2.0, "b": 1.0}}
    got = ir_measures.calc_aggregate([R @ 3, R(rel=2) @ 3, alpha_nDCG @ 5, coverage @ 3], qrels, run)
    assert got == pytest.approx(
        {
            R @ 3: by_trec_eval(rows, run, [3])["q"]["recall_3"],
            R(rel=2) @ 3: by_trec_eval(rows, run, [3], rel=2)["q"]["recall_3"],
            alpha_nDCG @ 5: by_ndeval(rows, run, ["alpha-nDCG@5"])["q"]["alpha-nDCG@5"],
            coverage @ 3: 1.0,
        }
    )
    assert got[R @ 3] == pytest.approx(1 / 3)


def test_qrels_whose_rows_have_no_field_for_nuggets_are_read():
    from typing import NamedTuple

    class Row(NamedTuple):
        query_id: str
        doc_id: str
        relevance: int

    adapter.install()
    assert ir_measures.calc_aggregate([R @ 5], [Row("q", "a", 1), Row("q", "b", 1)], {"q": {"a": 1.0}}) == {R @ 5: 0.5}


# What other providers compute


def test_what_is_not_ours_goes_on_to_the_others_within_one_call(installed):
    rows, run = next(iter(cases(1, seed=3)))
    others = [nDCG @ 10, R(judged_only=True) @ 5, ERR_IA @ 10]
    apart = ir_measures.pytrec_eval.calc_aggregate(others[:2], rows, run)
    apart |= ir_measures.pyndeval.calc_aggregate(others[2:], rows, run)
    ours = ir_measures.calc_aggregate([R @ 5, alpha_nDCG @ 30], rows, run)
    assert ir_measures.calc_aggregate([*others, R @ 5, alpha_nDCG @ 30], rows, run) == pytest.approx(apart | ours)


def test_pipelines_are_told_that_nuggets_are_needed(coverage):
    assert set(ir_measures.qrel_inputs([coverage])) == {"query_id", "doc_id", "relevance", "iteration"}


# What cannot be scored


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ({"q1": {"a": float("nan")}}, "query 'q1', document 'a': score, expected a finite number, got nan"),
        ({"other": {"a": float("nan")}}, "query 'other', document 'a': score, expected a finite number, got nan"),
        ([ScoredDoc("q1", "a", "high")], "query 'q1', document 'a': score, expected a finite number, got 'high'"),
        ([ScoredDoc("q1", "a", 1.0)] * 2, "query 'q1', document 'a', expected it once, got it twice"),
        ([ScoredDoc(1, "a", 1.0)], "query id, expected a non-empty string without tab or line break, got 1 (int)"),
        ({"q1": ["a"]}, "query 'q1', expected a mapping from document id to score, got ['a'] (list)"),
    ],
)
def test_a_run_that_no_ranking_can_be_made_of_is_refused(run, told, installed):
    with pytest.raises(RunError) as error:
        ir_measures.calc_aggregate([R @ 5], ROWS, run)
    assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    ("qrels", "told"),
    [
        ({1: {"a": 1}}, "query id, expected a non-empty string without tab or line break, got 1 (int)"),
        ({1: {}}, "query id, expected a non-empty string without tab or line break, got 1 (int)"),
        ([Qrel("q", 7, 1)], "document id, expected a non-empty string without tab or line break, got 7 (int)"),
        ([Qrel("q", "a", 0.5)], "query 'q', document 'a': relevance, expected a whole number, got 0.5 (float)"),
        (
            [Qrel("q", "a", 1, float("nan"))],
            "query 'q', document 'a': iteration, expected text or a whole number, got nan (float)",
        ),
        (
            [Qrel("q", "a", 1, "2"), Qrel("q", "b", 1, "2"), Qrel("q", "a", 0, "2")],
            "query 'q', iteration '2', document 'a', expected one relevance, got 1 and 0; ",
        ),
    ],
)
def test_qrels_that_say_nothing_certain_are_refused(qrels, told, installed):
    with pytest.raises(RecordError) as error:
        ir_measures.calc_aggregate([R @ 5], qrels, RUN)
    assert str(error.value).startswith(told)


def test_a_row_that_comes_twice_counts_once(coverage):
    once = ir_measures.calc_aggregate([R @ 1, coverage @ 1, alpha_nDCG @ 5], ROWS, RUN)
    assert ir_measures.calc_aggregate([R @ 1, coverage @ 1, alpha_nDCG @ 5], [*ROWS, *ROWS], RUN) == once


def test_a_parameter_out_of_range_is_named(installed):
    with pytest.raises(fsd.errors.MeasureError, match=r"alpha of alpha_nDCG, expected a number from 0 to 1, got 1.5"):
        ir_measures.calc_aggregate([alpha_nDCG(alpha=1.5) @ 5], ROWS, RUN)


# Judgments of a dataset

DATA = fsd.Dataset.from_nugget_qrels(
    [
        ("a query", "n ü", "doc 1", 1),
        ("b", "n ü", "doc 1", 0),
        ("a query", "m#", "doc 1", 0),
        ("b", "n ü", "d%20", 1),
        ("a query", "m#", "d2", 1),
    ]
)


def test_judgments_of_a_dataset_are_grouped_by_query_with_zeros_first_and_nuggets_numbered():
    assert adapter.qrels(DATA) == [
        ir_measures.Qrel("a query", "doc 1", 0, "2"),
        ir_measures.Qrel("a query", "doc 1", 1, "1"),
        ir_measures.Qrel("a query", "d2", 1, "2"),
        ir_measures.Qrel("b", "doc 1", 0, "1"),
        ir_measures.Qrel("b", "d%20", 1, "1"),
    ]


def test_measures_that_keep_the_last_row_of_a_document_find_what_is_relevant():
    """R as trec_eval's provider computes it: of doc 1 and d2, doc 1 is found."""
    run = {"a query": {"doc 1": 1.0}, "b": {}}
    assert ir_measures.pytrec_eval.calc_aggregate([R @ 5], adapter.qrels(DATA), run)[R @ 5] == 0.25


def test_nuggets_are_numbered_as_in_the_exported_files(tmp_path):
    data = fsd.load("nimbus")
    fsd.adapters.trec.export(data, tmp_path / "trec")
    lines = (tmp_path / "trec/diversity.qrels").read_text(encoding="utf-8").splitlines()
    rows = adapter.qrels(data)
    assert sorted(f"{r.query_id}\t{r.iteration}\t{r.doc_id}\t{r.relevance}" for r in rows) == sorted(lines)


def test_scores_are_those_of_this_package(coverage):
    data = fsd.load("nimbus")
    run = fsd.BM25().index(data.corpus).search(data.queries, k=100)
    ours = fsd.evaluate(run, data, "alpha_nDCG@10 alpha_nDCG(alpha=0.9)@50 Coverage@20 Recall@50", intervals=False)
    measures = [alpha_nDCG @ 10, alpha_nDCG(alpha=0.9) @ 50, coverage, R @ 50]
    got = per_query(measures, adapter.qrels(data), run.to_dict())
    for measure, name in zip(measures, ours.mean, strict=True):
        assert {q: got[measure, q] for q in data.qrels} == dict(ours.per_query[name])


# Other versions


def forget(monkeypatch):
    """Let the modules behind the front be imported anew."""
    for name in ("provider", "judged"):
        monkeypatch.delitem(sys.modules, f"freshstack_datasets.adapters.ir_measures.{name}", raising=False)
        monkeypatch.delattr(adapter, name, raising=False)


def test_a_missing_library_is_one_line_with_its_extra(monkeypatch):
    forget(monkeypatch)
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    for call in (adapter.install, lambda: adapter.qrels(DATA)):
        with pytest.raises(MissingExtraError, match=r"ir-measures is not installed; pip install .*\[ir\]"):
            call()


def test_a_version_that_moved_something_is_told_with_those_that_work(monkeypatch):
    forget(monkeypatch)
    monkeypatch.delattr(ir_measures.providers.base, "Choices")
    with pytest.raises(InputError) as error:
        adapter.install()
    told = str(error.value)
    assert told.startswith(f"ir-measures {ir_measures.__version__} lacks what this package stands on")
    assert "Choices" in told
    assert f"expected ir-measures>=0.4.3,<0.5, got {ir_measures.__version__}; pip install" in told


def test_a_version_that_moved_a_module_is_told_likewise(monkeypatch):
    forget(monkeypatch)
    monkeypatch.setitem(sys.modules, "ir_measures.providers.base", None)
    with pytest.raises(InputError, match=r"lacks what this package stands on .*ir_measures\.providers\.base"):
        adapter.install()
