"""Datasets in PyTerrier, which finds them by itself."""

import subprocess
import sys
import warnings

import ir_datasets
import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import RR, R

import freshstack_datasets as fsd
from freshstack_datasets import catalog
from freshstack_datasets.adapters import ir_datasets as adapter
from freshstack_datasets.errors import UnknownNameError


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(ir_datasets, "registry", ir_datasets.util.Registry())


@pytest.fixture
def nimbus():
    return pt.get_dataset("freshstack:nimbus")


def test_topics_can_be_searched_for_as_they_are(nimbus):
    queries = {query.query_id: query for query in fsd.load("nimbus").queries}
    topics = nimbus.get_topics()
    assert list(topics.columns) == ["qid", "query"]
    assert dict(zip(topics.qid, topics["query"], strict=True)) == {q: found.text for q, found in queries.items()}
    answers = nimbus.get_topics("answer")
    assert dict(zip(answers.qid, answers["query"], strict=True)) == {q: f.answer_text for q, f in queries.items()}
    assert set(nimbus.get_topics(variant="title")["query"]) == {""}
    with pytest.raises(UnknownNameError, match="unknown variant 'titel'; did you mean 'title'"):
        nimbus.get_topics("titel")


def test_the_list_of_datasets_names_the_topics_that_can_be_had(nimbus):
    listed = pt.datasets.list_datasets(en_only=False).set_index("dataset").topics["freshstack:nimbus"]
    assert [len(nimbus.get_topics(variant)) for variant in listed] == [60] * 4
    assert listed[0] == "text"


def test_judgments_keep_the_numbers_of_their_nuggets(nimbus):
    qrels = nimbus.get_qrels()
    assert list(qrels.columns) == ["qid", "docno", "label", "iteration"]
    data = fsd.load("nimbus")
    number = {n.nugget_id: str(n.position + 1) for n in data.nuggets}
    assert sorted(qrels.itertuples(index=False, name=None)) == sorted(
        (j.query_id, j.doc_id, j.score, number[j.nugget_id]) for j in data.judgments
    )
    assert nimbus.get_qrels("relevance").equals(qrels)
    with pytest.raises(UnknownNameError, match="unknown variant 'grades'"):
        nimbus.get_qrels("grades")


def test_documents_come_as_dictionaries_all_or_some(nimbus):
    documents = list(fsd.load("nimbus").corpus)
    found = list(nimbus.get_corpus_iter(verbose=False))
    assert [row["docno"] for row in found] == [document.doc_id for document in documents]
    assert [row["text"] for row in found] == [document.text for document in documents]
    assert set(found[0]) == {"docno", "title", "text", "url"}
    some = nimbus.get_corpus_iter(verbose=False, start=3, count=5)
    assert len(some) == 5
    assert [row["docno"] for row in some] == [document.doc_id for document in documents[3:8]]


def test_texts_are_put_beside_the_documents_of_a_run(nimbus):
    run = pd.DataFrame({"qid": ["q", "q"], "docno": ["bill-01", "acct-01"]})
    texts = pt.text.get_text(nimbus, ["title", "text"]).transform(run)
    corpus = fsd.load("nimbus").corpus
    assert list(texts.title) == [corpus["bill-01"].title, corpus["acct-01"].title]
    assert list(texts.text) == [corpus["bill-01"].text, corpus["acct-01"].text]


def test_snapshots_and_what_is_not_here_have_names_and_languages_too():
    assert repr(pt.get_dataset("freshstack:langchain/2024-10")) == "FreshStackDataset('freshstack/langchain/2024-10')"
    langchain = pt.get_dataset("freshstack:langchain")
    assert (langchain.get_corpus_lang(), langchain.get_topics_lang()) == ("en", "en")
    assert langchain._describe_component("corpus") is True
    assert langchain.info_url() is None
    with pytest.raises(KeyError, match="'freshstack:nosuch' not found in provider 'freshstack'"):
        pt.get_dataset("freshstack:nosuch")


def test_all_names_are_in_pyterriers_list():
    from freshstack_datasets.adapters.pyterrier.provider import Provider

    names = Provider().list_dataset_names()
    assert {"nimbus", "langchain", "langchain/2024-10", "yolo-unfiltered"} <= set(names)
    assert {f"freshstack/{name}" for name in names} == set(adapter.names()) >= set(catalog.full_names())


@pytest.mark.slow
def test_no_import_of_ours_and_no_java_are_needed(tmp_path):
    code = """
import sys
import pyterrier as pt
assert not [name for name in sys.modules if name.startswith("freshstack_datasets")]
data = pt.get_dataset("freshstack:nimbus")
print(len(data.get_topics()), len(data.get_qrels()), sum(1 for _ in data.get_corpus_iter(verbose=False)))
print(pt.get_dataset("irds:freshstack/nimbus").irds_ref().docs_count(), pt.java.started())
"""
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path), "FRESHSTACK_HOME": str(tmp_path)}  # no java in it
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    manifest = fsd.load("nimbus").manifest
    rows = {name: table.rows for name, table in manifest.tables.items()}
    expected = f"{rows['queries']} {rows['nugget_qrels']} {rows['corpus']}\n{rows['corpus']} False\n"
    assert done.stdout == expected


@pytest.mark.slow
def test_ids_with_spaces_reach_pyterrier_and_its_experiment(tmp_path):
    fsd.write_snapshot(
        tmp_path / "spaced",
        dataset="tests/spaced",
        snapshot="2024-10",
        license="CC0-1.0",
        documents=[fsd.Document("d 1", "", "x"), fsd.Document("d 2", "", "y"), fsd.Document("d 3", "", "z")],
        queries=[fsd.Query("q 1", "?")],
        nuggets=[fsd.Nugget("n a", "q 1", 0, "a"), fsd.Nugget("n b", "q 1", 1, "b")],
        judgments=[
            fsd.Judgment("q 1", "n a", "d 1", 1),
            fsd.Judgment("q 1", "n b", "d 1", 0),
            fsd.Judgment("q 1", "n b", "d 2", 1),
        ],
    )
    adapter.register(tmp_path / "spaced", "freshstack/spaced")
    data = pt.get_dataset("freshstack:spaced")
    run = pd.DataFrame({"qid": ["q 1"] * 2, "docno": ["d 3", "d 1"], "score": [2.0, 1.0], "rank": [0, 1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTerrier's own code warns under newer releases of pandas
        found = pt.Experiment([run], data.get_topics(), data.get_qrels(), [R @ 2, RR @ 2], names=["run"])
    # relevant: "d 1", although it was judged not to support "n b", and "d 2"; "d 1" is the second of the run
    assert (found["R@2"][0], found["RR@2"][0]) == (0.5, 0.5)
