"""The fake keeps to the protocol and answers from its run."""

import pytest

from freshstack_datasets.errors import InputError, RunError
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import BM25, FakeRetriever, Retriever
from freshstack_datasets.retrieval.index_folder import write_note

RUN = {"q1": {"a": 1.0, "b": 3.0, "c": 1.0, "d": 0.0, "e": -2.0}, "q2": {}, "q 3": {"ñ \u00a0%": 0.1}}
QUERIES = [Query("q2", ""), Query("other", ""), Query("q1", "")]


def test_it_is_a_retriever():
    assert isinstance(FakeRetriever(RUN), Retriever)


def test_it_gives_its_run_for_the_queries_asked_in_their_order():
    fake = FakeRetriever(RUN)
    run = fake.index([Document("z", "", "")]).search(QUERIES)
    assert run.query_ids == ("q2", "other", "q1")
    assert {q: list(d.items()) for q, d in run.to_dict().items()} == {
        "q2": [],
        "other": [],
        "q1": [("b", 3.0), ("c", 1.0), ("a", 1.0), ("e", -2.0)],  # "d" scores zero
    }


def test_it_cuts_at_k_with_the_ties_of_the_ranking():
    assert FakeRetriever(RUN).search(QUERIES, 2)["q1"] == {"b": 3.0, "c": 1.0}
    assert FakeRetriever(RUN).search(QUERIES, 99)["q1"] == {"b": 3.0, "c": 1.0, "a": 1.0, "e": -2.0}


def test_it_takes_a_run_and_keeps_its_name():
    assert FakeRetriever(Run.from_dict(RUN, "mine")).search(QUERIES).name == "mine"


def test_a_run_without_queries_finds_nothing():
    assert FakeRetriever({}).search(QUERIES).to_dict() == {"q2": {}, "other": {}, "q1": {}}
    assert FakeRetriever(RUN).search([]).to_dict() == {}


def test_it_refuses_what_every_retriever_refuses():
    with pytest.raises(InputError, match="at least 1"):
        FakeRetriever(RUN).search(QUERIES, 0)
    with pytest.raises(RunError, match="each query once"):
        FakeRetriever(RUN).search([*QUERIES, QUERIES[0]])
    with pytest.raises(RunError, match="a finite number"):
        FakeRetriever({"q": {"a": float("nan")}})


@pytest.mark.parametrize(
    "queries, got",
    [
        (["how to"], r"got 'how to' \(str\)"),
        ("how to", r"got 'h' \(str\)"),
        (QUERIES[0], r"got Query\(query_id='q2'"),
        (None, r"got None \(NoneType\)"),
        ([Query("q", None)], r"got Query\(query_id='q'"),
    ],
)
@pytest.mark.parametrize("retriever", [FakeRetriever(RUN), BM25().index([])], ids=["fake", "bm25"])
def test_what_is_no_query_is_refused(retriever, queries, got):
    with pytest.raises(InputError, match=r"the queries to search for, expected queries with a text, .*" + got):
        retriever.search(queries)


def test_it_is_the_same_when_it_is_loaded(tmp_path):
    FakeRetriever(Run.from_dict(RUN, "mine")).save(tmp_path / "fake")
    loaded = FakeRetriever.load(tmp_path / "fake")
    assert loaded.run.to_dict() == Run.from_dict(RUN).to_dict()
    assert loaded.run.name == "mine"


def test_it_refuses_the_folder_of_another_retriever(tmp_path):
    BM25().index([]).save(tmp_path / "bm25")
    with pytest.raises(InputError, match="expected 'FakeRetriever', got 'BM25'"):
        FakeRetriever.load(tmp_path / "bm25")


@pytest.mark.parametrize("content", ["", "[1]", '{"q": 1}', '{"q": {"a": NaN}}', '{"q": {"a\\tb": 1}}', "[" * 10_000])
def test_a_file_that_is_no_run_is_refused(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    write_note(tmp_path, "FakeRetriever", {"name": "run"})
    with pytest.raises(InputError, match=r"run.json' is damaged, expected a run"):
        FakeRetriever.load(tmp_path)
