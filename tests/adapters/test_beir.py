"""BEIR's own loader, searchers, evaluation and run files, with datasets of this package."""

import sys

import pytest

import freshstack_datasets as fsd
from freshstack_datasets.adapters import beir
from freshstack_datasets.errors import InputError, MissingExtraError, RunError, SnapshotError
from tests.adapters.dense_by_hand import cosines, excerpt, model_folder

DOCUMENTS = [
    fsd.Document("docs/how to #1.md", "Grinding", "Burrs grind coffee beans evenly."),
    fsd.Document("é %20", "", "Water for espresso is pressed at nine bar."),
    fsd.Document("42", "Milk", "Foam needs cold milk and steam."),
    fsd.Document("d4", "", "Trains leave from platform four."),
]
QUERIES = [
    fsd.Query("42", "How do I foam milk?"),
    fsd.Query("q 2", "What grinds beans?"),
    fsd.Query("q3", "Is there tea?"),
]
NUGGETS = [
    fsd.Nugget("a", "42", 0, "cold milk"),
    fsd.Nugget("b", "42", 1, "steam"),
    fsd.Nugget("c", "q 2", 0, "burrs"),
    fsd.Nugget("d", "q3", 0, "no tea"),
]
JUDGMENTS = [
    fsd.Judgment("42", "a", "42", 1),
    fsd.Judgment("42", "b", "42", 1),
    fsd.Judgment("42", "a", "d4", 0),
    fsd.Judgment("q 2", "c", "docs/how to #1.md", 1),
    fsd.Judgment("q 2", "c", "é %20", 0),
    fsd.Judgment("q3", "d", "é %20", 0),
]
QRELS = {"42": {"42": 2, "d4": 0}, "q 2": {"docs/how to #1.md": 1, "é %20": 0}, "q3": {"é %20": 0}}


def dataset(folder, queries=QUERIES):
    kept = {query.query_id for query in queries}
    fsd.write_snapshot(
        folder,
        dataset="tests/beir",
        snapshot="2026-10",
        license="CC0-1.0",
        documents=DOCUMENTS,
        queries=queries,
        nuggets=[nugget for nugget in NUGGETS if nugget.query_id in kept],
        judgments=[judgment for judgment in JUDGMENTS if judgment.query_id in kept],
    )
    return fsd.load(folder)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("snapshots") / "small")


@pytest.fixture(scope="module")
def one_query(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("snapshots") / "one", QUERIES[:1])


@pytest.fixture(scope="module")
def minilm():
    from beir.retrieval.models import SentenceBERT

    return SentenceBERT(model_folder())


@pytest.fixture(scope="module")
def searcher(minilm):
    from beir.retrieval.search.dense import DenseRetrievalExactSearch

    return DenseRetrievalExactSearch(minilm, batch_size=16, show_progress_bar=False)


def test_the_dictionaries_are_texts_and_numbers_of_nuggets(data):
    corpus, queries, qrels = beir.dictionaries(data)
    assert corpus == {d.doc_id: {"title": d.title, "text": d.text} for d in DOCUMENTS}
    assert queries == {q.query_id: q.text for q in QUERIES}
    assert qrels == QRELS


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the loader leaves its files open
def test_the_dictionaries_are_those_that_beirs_loader_reads_from_the_folder(data, tmp_path):
    from beir.datasets.data_loader import GenericDataLoader

    for name, made in (("small", data), ("nimbus", fsd.load("nimbus"))):
        beir.export(made, tmp_path / name)
        assert GenericDataLoader(str(tmp_path / name)).load(split="test") == beir.dictionaries(made)


def test_the_dictionaries_are_the_callers_own(data):
    _, _, qrels = beir.dictionaries(data)
    qrels["42"].clear()
    assert data.qrels == QRELS


def test_beir_scores_a_query_without_relevant_documents_as_we_do(data):
    from beir.retrieval.evaluation import EvaluateRetrieval

    _, _, qrels = beir.dictionaries(data)
    run = {
        "42": {"d4": 3.0, "42": 2.0},
        "q 2": {"docs/how to #1.md": 1.0, "é %20": 0.5},
        "q3": {"é %20": 2.0, "d4": 1.0},
    }
    theirs = EvaluateRetrieval.evaluate(qrels, run, [1, 2], ignore_identical_ids=False)
    ours = fsd.evaluate(run, data, "nDCG@1 nDCG@2 AP@1 AP@2 Recall@1 Recall@2 P@1 P@2", intervals=False).mean
    for names, values in zip(["nDCG", "AP", "Recall", "P"], theirs, strict=True):
        assert list(values.values()) == [round(ours[f"{names}@{k}"], 5) for k in (1, 2)]


def test_a_searcher_of_beir_finds_what_is_found_by_hand(searcher, minilm, tmp_path):
    nimbus = excerpt(tmp_path / "nimbus")
    run = beir.retrieve(searcher, nimbus, k=200, name="minilm")
    expected = cosines(minilm.q_model, nimbus)
    assert (run.name, run.query_ids) == ("minilm", tuple(expected))
    for query_id, documents in expected.items():
        assert run[query_id] == pytest.approx(documents, abs=1e-6)  # single precision
    scores = fsd.evaluate(run, nimbus, intervals=False)
    by_hand = fsd.evaluate(expected, nimbus, intervals=False)
    assert dict(scores.mean) == pytest.approx(dict(by_hand.mean), abs=1e-9)


def test_the_best_k_are_found_and_any_ids_survive(searcher, minilm, data):
    run = beir.retrieve(searcher, data, k=2)
    expected = {
        query_id: sorted(documents, key=documents.get, reverse=True)[:2]
        for query_id, documents in cosines(minilm.q_model, data).items()
    }
    assert {query_id: list(run[query_id]) for query_id in run} == expected
    assert run["q 2"].keys() > {"docs/how to #1.md"}


def test_a_document_with_the_id_of_the_query_is_found_which_beir_alone_leaves_out(searcher, data):
    from beir.retrieval.evaluation import EvaluateRetrieval

    corpus, queries, _ = beir.dictionaries(data)
    assert "42" not in EvaluateRetrieval(searcher, k_values=[4]).retrieve(corpus, queries)["42"]
    run = beir.retrieve(searcher, data, k=4)
    assert next(iter(run["42"])) == "42"
    assert {query_id: len(run[query_id]) for query_id in run} == {"42": 4, "q 2": 4, "q3": 4}


def test_a_dataset_of_one_query_is_searched(searcher, data, one_query):
    run = beir.retrieve(searcher, one_query)
    assert run.query_ids == ("42",)
    assert run["42"] == pytest.approx(beir.retrieve(searcher, data)["42"], abs=1e-6)


class Fixed:
    """A searcher with the interface of BEIR's that finds what it was told."""

    def __init__(self, results):
        self.results = results
        self.asked = None

    def search(self, corpus, queries, top_k, score_function, **kwargs):
        self.asked = (list(queries), top_k, score_function)
        return self.results


def test_a_searcher_is_asked_for_no_more_documents_than_there_are(data):
    fixed = Fixed({})
    run = beir.retrieve(fixed, data, k=1000, score_function="dot")
    assert fixed.asked == (["\t42", "q 2", "q3"], 4, "dot")  # "42" is a document too
    assert run.to_dict() == {"42": {}, "q 2": {}, "q3": {}}


def test_what_a_searcher_kept_of_earlier_queries_is_left_out(data):
    kept = {"from before": {"d4": 1.0}, "q3": {"d4": 0.5}}
    assert beir.retrieve(Fixed(kept), data).to_dict() == {"42": {}, "q 2": {}, "q3": {"d4": 0.5}}


def test_results_of_other_queries_alone_are_an_error(data):
    with pytest.raises(
        InputError, match=r"expected results of the queries it was given, got nothing but others, .*'q9'"
    ):
        beir.retrieve(Fixed({"q9": {"d4": 1.0}}), data)


def test_a_searcher_with_the_index_of_another_corpus_is_an_error(data):
    with pytest.raises(InputError, match="found 'elsewhere', expected a document of the corpus, got none of that id"):
        beir.retrieve(Fixed({"q3": {"elsewhere": 1.0}}), data)


@pytest.mark.parametrize(
    "results, message",
    [
        ([], r"a run, expected a mapping of mappings, got \[\] \(list\)"),
        ({"q3": {"d4": float("nan")}}, "query 'q3', document 'd4'"),
    ],
)
def test_what_is_no_run_is_an_error(data, results, message):
    with pytest.raises(RunError, match=message):
        beir.retrieve(Fixed(results), data)


def test_what_is_no_searcher_or_no_score_function_is_an_error(searcher, data):
    with pytest.raises(InputError, match="a searcher of BEIR, expected an object with search, got str; give what"):
        beir.retrieve("minilm", data)
    with pytest.raises(InputError, match="unknown score function 'cosine'; did you mean 'cos_sim'"):
        beir.retrieve(searcher, data, score_function="cosine")
    with pytest.raises(InputError, match="at least 1, got 0"):
        beir.retrieve(searcher, data, k=0)


def test_a_dataset_without_documents_is_an_error():
    scoring = fsd.Dataset.from_nugget_qrels([("q", "n", "d", 1)])
    with pytest.raises(SnapshotError, match="no documents"):
        beir.dictionaries(scoring)


def test_without_beir_the_extra_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "beir", None)
    with pytest.raises(MissingExtraError, match=r"beir is not installed; pip install 'freshstack-datasets\[beir\]'"):
        beir.retrieve(Fixed({}), data)


def test_a_beir_that_has_moved_its_evaluation_is_named_with_the_versions_that_work(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "beir.retrieval.evaluation", None)
    with pytest.raises(InputError, match=r"lacks what this package stands on .*, expected beir>=2\.2,<3, got 2\."):
        beir.retrieve(Fixed({}), data)


def test_results_of_beir_are_scored_as_they_are(searcher, data):
    from beir.retrieval.evaluation import EvaluateRetrieval

    corpus, queries, _ = beir.dictionaries(data)
    results = EvaluateRetrieval(searcher, k_values=[4]).retrieve(corpus, queries)
    found = fsd.evaluate(results, data, "RR@10", intervals=False)
    # The only document that helps "42" has the same id, so that BEIR leaves it out; "q3" has no document that helps.
    assert dict(found.per_query["RR@10"]) == {"42": 0.0, "q 2": 1.0, "q3": 0.0}


def test_the_run_files_that_beir_writes_are_read(tmp_path):
    from beir.util import save_runfile

    results = {"42": {"docs/how to #1.md": 0.25, "é %20": -1.5, "42": 0.1 + 0.2}, "q3": {"d4": 1e-12}}
    save_runfile(str(tmp_path / "beir.txt"), results, run_name="minilm")
    assert {line.split()[-3] for line in (tmp_path / "beir.txt").read_text("utf-8").splitlines()} == {"0"}  # the ranks
    run = fsd.read_run(tmp_path / "beir.txt")
    assert (run.name, run.to_dict()) == ("minilm", results)


def test_runs_can_be_read_by_beir_where_ids_hold_no_spaces(tmp_path):
    from beir.util import load_runfile, save_runfile

    results = {"42": {"42": 2.5, "d4": 0.1}, "q3": {"d4": 1.0}}
    save_runfile(str(tmp_path / "out.trec"), fsd.Run.from_dict(results).to_dict())
    assert load_runfile(str(tmp_path / "out.trec")) == results
