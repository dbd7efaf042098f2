"""The scores of the tasks, against the values of other libraries and by hand, and what models are given."""

import json
import logging
import pickle
import random
import shutil

import datasets
import mteb
import numpy as np
import pyndeval
import pytest
import pytrec_eval

from freshstack_datasets.adapters import mteb as adapter
from freshstack_datasets.adapters.mteb.scores import CUTOFFS, HEADLINE
from freshstack_datasets.errors import InputError, RunError, SnapshotError
from freshstack_datasets.loading import load
from freshstack_datasets.records import Document
from tests.adapters.mteb_models import DOCUMENTS, QUERIES, Words, coffee

EXACT = 1e-9


@pytest.fixture(autouse=True, scope="module")
def registered():
    adapter.register()


def nimbus():
    return mteb.get_task("FreshStackNimbusRetrieval")


@pytest.fixture
def data(tmp_path):
    return coffee(tmp_path / "coffee")


def scored(model, task, **options):
    """The scores of a model on a task, in memory."""
    result = mteb.evaluate(model, task, **{"cache": None, "show_progress_bar": False} | options)
    ((entry,),) = result.task_results[0].scores.values()
    return entry


def random_run(data, seed, ties=False, without=()):
    """A run of distinct scores, or of few that many documents share."""
    rng = random.Random(seed)
    scores = list(range(len(data.corpus)))
    found = {}
    for query in data.queries:
        rng.shuffle(scores)
        found[query.query_id] = {d: float(s % 7 if ties else s) for d, s in zip(data.corpus.ids, scores, strict=True)}
    return {query_id: docs for query_id, docs in found.items() if query_id not in without}


def rows(data):
    columns = zip(*data.judgments.columns("query_id", "nugget_id", "doc_id", "score"), strict=True)
    return [(q, n, d, s) for q, n, d, s in columns]


def test_scores_worked_out_by_hand(data):
    # q 1: n1 and n2; the run has d4 (judged, none), "docs/a b.md" (both nuggets), x (unjudged).
    # q2: d3 (its only one) first. q3 is missing and scores 0 everywhere.
    run = {"q 1": {"d4": 3.0, "docs/a b.md": 2.0, "x": 1.0}, "q2": {"d3": 1.0}}
    found = scored(adapter.replay(run), adapter.task(data))
    log3 = np.log2(3)
    # alpha: 2 at rank 2 of q 1, ideal 2 at rank 1 and then 0.5 for "docs/ñ#1%20.md" at rank 2, whose nugget was seen.
    assert found["alpha_ndcg_at_10"] == pytest.approx(((2 / log3) / (2 + 0.5 / log3) + 1 + 0) / 3, abs=EXACT)
    # Graded by nuggets: 2 at rank 2; ideal 2, then 1.
    assert found["ndcg_at_10"] == pytest.approx(((2 / log3) / (2 + 1 / log3) + 1 + 0) / 3, abs=EXACT)
    assert found["coverage_at_20"] == pytest.approx((1 + 1 + 0) / 3, abs=EXACT)
    assert found["recall_at_50"] == pytest.approx((1 / 2 + 1 + 0) / 3, abs=EXACT)
    assert found["judged_at_10"] == pytest.approx((2 / 3 + 1 + 0) / 3, abs=EXACT)
    assert found["mrr_at_10"] == pytest.approx((1 / 2 + 1 + 0) / 3, abs=EXACT)
    assert found["map_at_10"] == pytest.approx((1 / 2 / 2 + 1 + 0) / 3, abs=EXACT)
    assert found["precision_at_1"] == found["hit_rate_at_1"] == pytest.approx(1 / 3, abs=EXACT)
    assert found["accuracy"] == found["recall_at_1"] == pytest.approx(1 / 3, abs=EXACT)
    assert (found["main_score"], found["queries"], found["ties"]) == (found["alpha_ndcg_at_10"], 3, 0)
    told = {"dataset": "acme/coffee@2024-10", "fingerprint": data.fingerprint, "metric_version": 1}
    assert {name: found[name] for name in told} == told


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_other_libraries(seed):
    data = load("nimbus")
    run = random_run(data, seed)
    found = scored(adapter.replay(run), nimbus())
    ours = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    wanted = [f"alpha-nDCG@{k}" for k in (5, 10, 20)]
    diverse = list(pyndeval.RelevanceEvaluator(rows(data), wanted).evaluate(ours).values())
    for k in (5, 10, 20):
        mean = sum(values[f"alpha-nDCG@{k}"] for values in diverse) / 60
        assert found[f"alpha_ndcg_at_{k}"] == pytest.approx(mean, abs=EXACT)
    names = {"ndcg": "ndcg_cut", "map": "map_cut", "recall": "recall", "precision": "P", "hit_rate": "success"}
    cuts = ",".join(map(str, CUTOFFS))
    asked = {f"{other}.{cuts}" for other in names.values()}
    trec = list(pytrec_eval.RelevanceEvaluator(data.qrels, asked).evaluate(run).values())
    for name, other in names.items():
        for k in CUTOFFS:
            mean = sum(values[f"{other}_{k}"] for values in trec) / 60
            assert found[f"{name}_at_{k}"] == pytest.approx(mean, abs=EXACT)


@pytest.mark.parametrize("ties", [False, True])
def test_scores_that_mteb_has_too_are_mtebs_for_whole_runs(ties):
    task = nimbus()
    run = random_run(load("nimbus"), 7, ties)
    found = scored(adapter.replay(run), task)

    def own(scores, qrels, results, hf_split, hf_subset):
        return {"alpha_ndcg_at_10": 0.0}

    task.task_specific_scores = own
    theirs = scored(adapter.replay(run), task)
    same = [name for name in theirs if name in found and name.split("_at_")[0] in FAMILIES]
    assert len(same) == len(FAMILIES) * len(CUTOFFS)
    for name in same:
        assert found[name] == pytest.approx(theirs[name], abs=1e-5)  # MTEB rounds to five places


FAMILIES = ("ndcg", "map", "recall", "precision", "mrr", "hit_rate")


def test_means_run_over_all_queries_and_the_missing_ones_are_told_of(caplog):
    data = load("nimbus")
    whole = random_run(data, 3)
    lost = [query.query_id for query in data.queries][:20]
    part = {query_id: docs for query_id, docs in whole.items() if query_id not in lost}
    nothing = {query_id: docs if query_id in part else {} for query_id, docs in whole.items()}
    with caplog.at_level(logging.WARNING, "freshstack_datasets"):
        found = scored(adapter.replay(part), nimbus())
    trec = pytrec_eval.RelevanceEvaluator(data.qrels, {"ndcg_cut.10", "recall.50"}).evaluate(part)
    assert found["ndcg_at_10"] == pytest.approx(sum(v["ndcg_cut_10"] for v in trec.values()) / 60, abs=EXACT)
    assert found["recall_at_50"] == pytest.approx(sum(v["recall_50"] for v in trec.values()) / 60, abs=EXACT)
    assert found["queries"] == 60
    assert "scored 0, because the run does not have them: 20 of 60 queries" in caplog.text
    again = scored(adapter.replay(nothing), nimbus())
    assert all(again[name] == pytest.approx(found[name], abs=EXACT) for name in HEADLINE)


def test_scores_are_plain_numbers_and_texts_and_the_same_on_disk(tmp_path, data):
    cache = mteb.ResultCache(tmp_path / "results")
    task = adapter.task(data)
    found = scored(Words(), task, cache=cache)
    (file,) = (tmp_path / "results").rglob(f"{task.metadata.name}.json")
    stored = json.loads(file.read_text())
    assert stored["dataset_revision"] == data.fingerprint
    ((entry,),) = stored["scores"].values()
    for name in (*HEADLINE, *(f"{family}_at_{k}" for family in FAMILIES for k in CUTOFFS)):
        assert type(found[name]) is float
        assert entry[name] == round(found[name], 6)
    assert {entry[name] for name in ("queries", "metric_version")} == {3, 1}
    assert mteb.evaluate(Words(), task, cache=cache).task_results[0].get_score() == entry["main_score"]


def test_models_are_given_titles_once_and_ids_of_every_kind_come_back(tmp_path, data):
    model = Words()
    task = adapter.task(data)
    scored(model, task, prediction_folder=tmp_path / "predictions")
    documents = [f"{document.title} {document.text}".strip() for document in DOCUMENTS]
    given = [text for _, text in model.given]
    assert sorted(given) == sorted([query.text for query in QUERIES] + documents)
    content = json.loads((tmp_path / "predictions" / f"{task.metadata.name}_predictions.json").read_text())
    assert set(content["default"]["test"]) == {query.query_id for query in QUERIES}
    assert {d for docs in content["default"]["test"].values() for d in docs} == {d.doc_id for d in DOCUMENTS}


def test_what_is_loaded_is_texts_and_grades_alone_and_let_go_of(data):
    task = adapter.task(data)
    task.load_data(num_proc=2, timer=None)
    (parts,) = task.dataset["default"].values()
    assert parts["corpus"].features == {name: datasets.Value("string") for name in ("id", "title", "text")}
    assert set(parts["corpus"]["title"]) == {""}
    assert parts["queries"].features == {name: datasets.Value("string") for name in ("id", "text")}
    # What q 1's documents support: both nuggets, n2, none.
    grades = {"docs/a b.md": 2, "docs/ñ#1%20.md": 1, "d4": 0}
    assert parts["relevant_docs"] == {"q 1": grades, "q2": {"d3": 1, "d4": 0}, "q3": {"d4": 1}}
    before = task.dataset
    task.load_data()
    assert task.dataset is before
    task.unload_data()
    assert (task.dataset, task.data_loaded, task._data) == (None, False, None)
    with pytest.raises(InputError, match=r"expected loaded data, got none; call load_data$"):
        task.task_specific_scores({}, {}, {}, "test", "default")


def test_a_large_corpus_goes_over_in_pieces(tmp_path, monkeypatch):
    from freshstack_datasets.adapters.mteb import retrieval

    monkeypatch.setattr(retrieval, "_ROWS", 3)
    task = adapter.task(coffee(tmp_path / "coffee"))
    task.load_data()
    assert sorted(task.dataset["default"]["test"]["corpus"]["id"]) == sorted(d.doc_id for d in DOCUMENTS)


def test_what_is_kept_of_texts_is_kept_for_these_very_texts(tmp_path):
    def fingerprints(folder, documents):
        task = adapter.task(coffee(tmp_path / folder, documents=documents))
        task.load_data()
        loaded = task.dataset["default"]["test"]
        return loaded["corpus"]._fingerprint, loaded["queries"]._fingerprint

    moved = [Document(d.doc_id, d.title + d.text[:1], d.text[1:]) for d in DOCUMENTS]
    first = fingerprints("first", DOCUMENTS)
    assert fingerprints("again", DOCUMENTS) == first
    other = fingerprints("other", moved)
    assert (other[0] != first[0], other[1] == first[1]) == (True, True)


def test_scores_that_are_no_numbers_are_an_error_in_words(data):
    class Broken(type(adapter.replay({"q 1": {"d3": 1.0}}))):
        def search(self, queries, **_):
            return {"q2": {"d3": float("nan")}}

    model = Broken(adapter.replay({"q2": {"d3": 1.0}})._run)
    with pytest.raises(RunError, match=r"^query 'q2', document 'd3': score, expected a finite number, got nan"):
        scored(model, adapter.task(data))


def test_baselines_run_on_nimbus_in_its_two_languages():
    random_scores = scored(mteb.get_model("mteb/baseline-random-encoder"), nimbus())
    bm25 = scored(mteb.get_model("mteb/baseline-bm25s"), nimbus())
    assert 0 < random_scores["main_score"] < 0.2 < bm25["main_score"] < 1
    assert bm25["hf_subset"] == "2026-11"
    assert bm25["languages"] == ["eng-Latn", "spa-Latn"]


@pytest.fixture
def topics(monkeypatch, tmp_path):
    """The five topics, each with a small dataset of its own instead of what would be downloaded."""
    found = {}
    for place, known in enumerate(known for known in adapter.tasks() if known.snapshot == "2024-10"):
        documents = DOCUMENTS[: 4 - place // 2]
        data = coffee(
            tmp_path / known.__name__, documents=documents, missing=[d.doc_id for d in DOCUMENTS[4 - place // 2 :]]
        )
        monkeypatch.setattr(known, "_open", lambda data=data: data)
        found[known.metadata.name] = data
    return found


def test_the_aggregate_and_the_benchmark_are_means_over_the_topics(topics, tmp_path):
    cache = mteb.ResultCache(tmp_path / "results")
    model = Words()
    single = {name: scored(model, mteb.get_task(name)) for name in topics}
    assert len({entry["main_score"] for entry in single.values()}) > 1
    means = {name: sum(entry[name] for entry in single.values()) / 5 for name in HEADLINE}
    result = mteb.evaluate(model, mteb.get_task("FreshStackOct2024Retrieval"), cache=cache, show_progress_bar=False)
    ((entry,),) = result.task_results[0].scores.values()
    for name, mean in means.items():
        assert entry[name] == pytest.approx(mean, abs=EXACT)
    assert (entry["main_score"], entry["queries"], entry["metric_version"]) == (entry["alpha_ndcg_at_10"], 15, 1)
    assert len(list((tmp_path / "results").rglob("FreshStack*.json"))) == 6

    benchmark = mteb.get_benchmark("FreshStack")
    results = cache.load_results(models=["tests/words"], tasks=benchmark.tasks)
    (score,) = benchmark.get_score(results).values()
    assert score["Mean(Task)"] == pytest.approx(means["alpha_ndcg_at_10"], abs=1e-6)
    for name, mean in means.items():
        assert score[f"Mean({name})"] == pytest.approx(mean, abs=1e-6)  # stored with six places
    assert set(results.to_dataframe()["task_name"]) == set(topics)


def test_an_aggregate_of_a_part_has_no_mean(topics):
    results = mteb.evaluate(
        Words(), [mteb.get_task(name) for name in list(topics)[:4]], cache=None, show_progress_bar=False
    )
    combined = mteb.get_task("FreshStackOct2024Retrieval").task_results_to_scores(results.task_results)
    assert {combined["test"]["default"][name] for name in (*HEADLINE, "main_score")} == {None}


def without(name):
    return lambda scores: scores["test"][0].pop(name)


DAMAGED = {
    "a score is missing": without("coverage_at_20"),
    "the number of queries is missing": without("queries"),
    "a score is no number": lambda scores: scores["test"][0].update(recall_at_50="high"),
    "a score is not finite": lambda scores: scores["test"][0].update(ndcg_at_10=float("nan")),
    "there is no entry": lambda scores: scores["test"].clear(),
    "an entry is there twice": lambda scores: scores["test"].append(scores["test"][0]),
    "there is another split": lambda scores: scores.update(dev=scores.pop("test")),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_an_aggregate_with_a_damaged_result_has_no_mean(damage):
    entry = dict.fromkeys((*HEADLINE, "main_score"), 0.5) | {"queries": 3, "hf_subset": "default", "languages": []}
    task = mteb.get_task("FreshStackOct2024Retrieval")
    results = [
        mteb.TaskResult.model_construct(task_name=name, scores={"test": [dict(entry)]})
        for name in task.taskname_to_task
    ]
    ((whole,),) = (list(by_subset.values()) for by_subset in task.task_results_to_scores(results).values())
    assert (whole["main_score"], whole["queries"]) == (0.5, 15)
    damage(results[2].scores)
    ((damaged,),) = (list(by_subset.values()) for by_subset in task.task_results_to_scores(results).values())
    assert {damaged[name] for name in (*HEADLINE, "main_score")} == {None}


def test_a_benchmark_with_a_result_that_lacks_a_score_has_no_mean_of_it(topics, tmp_path):
    cache = mteb.ResultCache(tmp_path / "results")
    benchmark = mteb.get_benchmark("FreshStack")
    mteb.evaluate(Words(), list(benchmark.tasks), cache=cache, show_progress_bar=False)
    file = next((tmp_path / "results").rglob("FreshStackYoloOct2024Retrieval.json"))
    stored = json.loads(file.read_text())
    del stored["scores"]["test"][0]["coverage_at_20"]
    file.write_text(json.dumps(stored))
    results = cache.load_results(models=["tests/words"], tasks=benchmark.tasks)
    (score,) = benchmark.get_score(results).values()
    assert score["Mean(coverage_at_20)"] is None
    assert score["Mean(recall_at_50)"] == score["Mean(recall_at_50)"] > 0


def test_a_loaded_task_goes_to_another_process_and_scores_the_same_there(data):
    model = Words()
    for task in (adapter.task(data), nimbus()):
        task.load_data()
        copy = pickle.loads(pickle.dumps(task))
        assert (copy.data_loaded, copy._data.fingerprint) == (True, task._data.fingerprint)
        assert copy._data is not task._data
        assert scored(model, copy) == scored(model, task)


def test_a_task_whose_folder_was_changed_is_not_unpickled(tmp_path):
    pickled = pickle.dumps(adapter.task(coffee(tmp_path / "coffee")))
    shutil.rmtree(tmp_path / "coffee")
    coffee(tmp_path / "coffee", documents=DOCUMENTS[:3], missing=["d4"])
    with pytest.raises(SnapshotError, match=r"^the snapshot 'acme/coffee', expected the fingerprint "):
        pickle.loads(pickled)


def test_reranking_what_a_first_stage_found_is_scored_the_same_way(tmp_path, data):
    task = adapter.task(data)
    scored(Words(), task, prediction_folder=tmp_path)
    first = adapter.read_predictions(tmp_path / f"{task.metadata.name}_predictions.json")
    assert set(first) == {query.query_id for query in QUERIES}
    again = adapter.task(data).convert_to_reranking(tmp_path, top_k=2)
    found = scored(Words("tests/second"), again)
    assert found["previous_results_model_meta"]["model_name"] == "tests/words"
    assert found["queries"] == 3
