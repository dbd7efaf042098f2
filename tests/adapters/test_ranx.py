"""Runs and judgments in ranx: its measures, which compiled code of its own computes, are the ones computed here."""

import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import freshstack_datasets as fsd
from freshstack_datasets.adapters import ranx as adapter
from freshstack_datasets.errors import InputError, MissingExtraError, RunError

pytestmark = [
    pytest.mark.slow,  # ranx compiles itself, once in an environment: minutes on a small machine
    pytest.mark.filterwarnings("ignore:unsafe cast from uint64 to int64"),  # ranx numbers documents by their hash
]

MEASURES = {
    "recall@50": "Recall@50",
    "ndcg@10": "nDCG@10",
    "mrr@10": "RR@10",
    "hit_rate@5": "Success@5",
    "precision@5": "P@5",
    "map@20": "AP@20",
}


@pytest.fixture(scope="module")
def ranx():
    import ranx

    return ranx


def drawn(seed):
    """Judgments with nuggets that nothing supports, queries without a relevant document, and a run without ties."""
    dice = random.Random(seed)
    rows, run = [], {}
    for q in range(40):
        query_id = f"a query {q} ß"
        documents = [f"docs/a file {i} #%{'x' * i}.md" for i in range(30)]
        for n in range(dice.randint(1, 4)):
            rows += [
                (query_id, f"n {n}", d, int(dice.random() < 0.2)) for d in dice.sample(documents, dice.randint(1, 9))
            ]
        if q % 8:
            found = dice.sample([*documents, *(f"unjudged {i}" for i in range(60))], dice.randint(1, 80))
            run[query_id] = {d: float(-i) for i, d in enumerate(found)}
    return fsd.Dataset.from_nugget_qrels(rows), run


def nimbus(seed):
    data = fsd.load("nimbus")
    dice = random.Random(seed)
    doc_ids = list(data.corpus.ids)
    return data, {q.query_id: {d: float(-i) for i, d in enumerate(dice.sample(doc_ids, 100))} for q in data.queries}


@pytest.mark.parametrize("make", [drawn, nimbus])
def test_measures_of_ranx_are_those_of_this_package(make, ranx):
    data, run = make(5)
    converted = adapter.run(fsd.Run.from_dict(run, "drawn"))
    means = ranx.evaluate(adapter.qrels(data), converted, list(MEASURES), make_comparable=True)
    ours = fsd.evaluate(run, data, MEASURES.values(), intervals=False)
    assert {MEASURES[name]: value for name, value in means.items()} == pytest.approx(dict(ours.mean), abs=1e-9)
    for name, values in converted.scores.items():
        assert values == pytest.approx(dict(ours.per_query[MEASURES[name]]), abs=1e-9)


def test_relevance_is_the_number_of_nuggets_and_judged_documents_without_any_are_there(ranx):
    data = fsd.Dataset.from_nugget_qrels(
        [("q 1", "n", "ä", 1), ("q 1", "m", "ä", 1), ("q 1", "m", "b", 0), ("r", "n", "b", 1)]
    )
    assert adapter.qrels(data).to_dict() == {"q 1": {"ä": 2, "b": 0}, "r": {"b": 1}}


def test_a_run_keeps_its_name_and_its_queries_but_those_without_documents(ranx):
    run = adapter.run(fsd.Run.from_dict({"q 1": {"a": 0.25, "ä ": 0.5}, "r": {}}, "bm25 & more"))
    assert run.name == "bm25 & more"
    assert run.to_dict() == {"q 1": {"ä ": 0.5, "a": 0.25}}


IDS = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=8)
SCORES = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=50)
@given(st.dictionaries(IDS, st.dictionaries(IDS, SCORES, max_size=8), max_size=5).filter(lambda run: any(run.values())))
def test_a_run_comes_back_from_ranx(run):
    back = adapter.read(adapter.run(fsd.Run.from_dict(run, "mine")))
    assert back == fsd.Run.from_dict(run)
    assert back.name == "mine"


def test_a_run_that_was_made_with_ranx_can_be_evaluated(ranx):
    data = fsd.Dataset.from_nugget_qrels([("q", "n", "a", 1)])
    run = adapter.read(ranx.Run({"q": {"b": 1.0, "a": 2.0}}))
    assert run.name == "run"
    assert fsd.evaluate(run, data, "RR@5", intervals=False).mean["RR@5"] == 1


def test_a_run_of_ranx_that_was_not_read_first_is_refused_with_the_way_to_read_it(ranx):
    with pytest.raises(RunError, match=r"got ranx\.Run; read it with adapters\.ranx\.read$"):
        fsd.write_run(ranx.Run({"q": {"a": 1.0}}), "never.trec")


def test_a_score_that_no_document_can_be_ranked_by_is_named(ranx):
    run = ranx.Run()
    run.add_score("q", "a", float("nan"))
    with pytest.raises(RunError, match="query 'q', document 'a': score, expected a finite number, got nan"):
        adapter.read(run)


@pytest.mark.parametrize("source", [{"q": {"a": 1.0}}, "run.trec", None])
def test_what_is_no_run_of_ranx_is_refused(source, ranx):
    with pytest.raises(RunError, match=r"a run, expected a ranx\.Run, got"):
        adapter.read(source)


@pytest.mark.parametrize("run", [{}, {"q": {}}])
def test_nothing_is_refused(run):
    with pytest.raises(RunError, match="a run for ranx, expected at least one document, got none"):
        adapter.run(run)
    with pytest.raises(InputError, match="judgments for ranx, expected at least one, got none"):
        adapter.qrels(fsd.Dataset.from_nugget_qrels([]))


def test_a_missing_library_is_one_line_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ranx", None)
    data = fsd.Dataset.from_nugget_qrels([("q", "n", "a", 1)])
    for make in (lambda: adapter.run({"q": {"a": 1.0}}), lambda: adapter.qrels(data), lambda: adapter.read(None)):
        with pytest.raises(MissingExtraError, match=r"ranx is not installed; pip install .*\[ranx\]"):
            make()
