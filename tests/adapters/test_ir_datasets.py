"""Datasets under their names in ir_datasets."""

import json
import multiprocessing
import pickle
import socket
import subprocess
import sys
from types import SimpleNamespace

import ir_datasets
import pyarrow.parquet as pq
import pytest
from ir_datasets.formats import TrecQrel
from ir_datasets.indices import FileAccess

import freshstack_datasets as fsd
from freshstack_datasets import catalog
from freshstack_datasets.adapters import ir_datasets as adapter
from freshstack_datasets.adapters import trec
from freshstack_datasets.errors import HubError, InputError, MissingExtraError, SnapshotError, UnknownNameError
from freshstack_datasets.records import Document, Judgment, Nugget, Query

DOCUMENTS = [
    Document("d 1", "Grinders", "Burrs grind\nevenly.", {"url": "https://example.org/1"}),
    Document("d2", "", "Water matters."),
    Document("d3 #é%20", "Pressure", "Nine bar."),
    Document("d4", "", ""),
]
QUERIES = [
    Query("q 2", "How?  Mine\tis coarse.", "How?", "Mine\tis coarse.", "d2", "Burrs.", tags=("grind", "burr")),
    Query("q1", "Which pressure?"),
]
NUGGETS = [
    Nugget("z", "q 2", 0, "burrs grind evenly", "vital"),
    Nugget("a", "q 2", 1, "water matters"),
    Nugget("m", "q1", 0, "nine bar", "okay"),
]
# "d 1" supports z and was judged not to support a; "d2" the other way round: both are relevant to the query.
JUDGMENTS = [
    Judgment("q 2", "z", "d 1", 1),
    Judgment("q 2", "a", "d 1", 0),
    Judgment("q 2", "a", "d2", 1),
    Judgment("q 2", "z", "d2", 0),
    Judgment("q 2", "z", "d4", 0),
    Judgment("q1", "m", "d3 #é%20", 1),
    Judgment("q1", "m", "d4", 0),
]


def written(folder, snapshot="2024-10", documents=DOCUMENTS):
    fsd.write_snapshot(
        folder,
        dataset="tests/small",
        snapshot=snapshot,
        license="CC-BY-SA-4.0",
        documents=documents,
        queries=QUERIES,
        nuggets=NUGGETS,
        judgments=JUDGMENTS,
    )
    return folder


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(ir_datasets, "registry", ir_datasets.util.Registry())


@pytest.fixture
def small(tmp_path):
    adapter.register(written(tmp_path / "small"), "tests/small")
    return ir_datasets.load("tests/small")


def test_every_dataset_of_the_catalog_and_each_of_its_snapshots_gets_a_name():
    adapter.register()
    names = set(ir_datasets.registry)
    assert {f"freshstack/{topic}" for topic in ("langchain", "yolo", "laravel", "angular", "godot")} <= names
    assert {"freshstack/nimbus", "freshstack/nimbus/2026-11", "freshstack/langchain/2024-10"} <= names
    assert {"freshstack/langchain-unfiltered", "freshstack/langchain-unfiltered/2024-10"} <= names
    assert len(names) == 2 * len(catalog.full_names())
    assert sorted(names) == adapter.names()


def test_registering_reads_nothing_asks_nobody_and_may_be_done_again(monkeypatch, own_home):
    def refuse(*_, **__):
        pytest.fail("data was read")

    with monkeypatch.context() as patched:
        patched.setattr(pq, "ParquetFile", refuse)
        patched.setattr(socket.socket, "connect", refuse)
        adapter.register()
        first = ir_datasets.load("freshstack/langchain")
        adapter.register()
        assert ir_datasets.load("freshstack/langchain") is first
    assert not list(own_home.iterdir())


def test_what_is_published_of_a_snapshot_is_known_without_having_it():
    adapter.register()
    data = ir_datasets.load("freshstack/langchain/2024-10")
    # table 1 of the paper, arXiv:2504.13128
    assert (data.docs_count(), data.queries_count()) == (49_514, 203)
    assert data.metadata() == {"docs": {"count": 49_514}, "queries": {"count": 203}, "qrels": {}}
    assert (data.docs_lang(), data.queries_lang()) == ("en", "en")
    assert data.docs_namespace() == data.queries_namespace() == "freshstack/langchain/2024-10"
    # the same documents, but other queries, of which no figure is published
    unfiltered = ir_datasets.load("freshstack/langchain-unfiltered")
    assert unfiltered.docs_count() == 49_514
    assert unfiltered.metadata()["queries"] == {}
    assert unfiltered.docs_namespace() == data.docs_namespace()


def test_a_snapshot_that_is_not_here_and_cannot_be_had_is_told_of_when_it_is_used():
    adapter.register()
    with pytest.raises(HubError, match="freshstack/yolo@2024-10 is not on this machine"):
        next(ir_datasets.load("freshstack/yolo").queries_iter())
    with pytest.raises(HubError, match="freshstack/yolo@2024-10 is not on this machine"):
        ir_datasets.load("freshstack/yolo").qrels_count()


def test_a_snapshot_that_was_published_later_is_found_by_its_name():
    adapter.register()
    later = ir_datasets.load("freshstack/yolo/2031-07.1")
    assert later.docs_namespace() == "freshstack/yolo/2031-07.1"
    for wrong in ("freshstack/yolo/newest", "freshstack/yolo/", "freshstack/nosuch/2024-10", "freshstack"):
        with pytest.raises(KeyError, match=wrong):
            ir_datasets.load(wrong)


def test_documentation_has_description_measures_and_citation():
    adapter.register()
    told = ir_datasets.load("freshstack/langchain").documentation()
    assert told["pretty_name"] == "freshstack/langchain 2024-10"
    assert "LangChain" in told["desc"]
    assert told["official_measures"] == ["alpha_nDCG@10", "Coverage@20", "Recall@50"]
    assert "2504.13128" in told["bibtex"]
    assert told["license"] == "cc-by-sa-4.0"
    nimbus = ir_datasets.load("freshstack/nimbus").documentation()
    assert nimbus["license"] == "Apache-2.0"  # as its card says
    assert "bibtex" not in nimbus


def test_documentation_of_a_folder_has_the_licence_of_its_snapshot(small):
    told = small.documentation()
    assert (told["pretty_name"], told["license"]) == ("tests/small 2024-10", "CC-BY-SA-4.0")


def test_documents_have_title_text_and_address(small):
    assert small.docs_cls()._fields == ("doc_id", "title", "text", "url")
    found = {doc.doc_id: doc for doc in small.docs_iter()}
    assert found["d 1"] == ("d 1", "Grinders", "Burrs grind\nevenly.", "https://example.org/1")
    assert found["d2"] == ("d2", "", "Water matters.", "")
    assert list(found) == ["d 1", "d2", "d3 #é%20", "d4"]
    assert [doc.default_text() for doc in small.docs] == [
        "Grinders Burrs grind\nevenly.",
        "Water matters.",
        "Pressure Nine bar.",
        "",
    ]


def test_queries_have_their_nuggets_and_nothing_is_null(small):
    first, second = small.queries_iter()
    assert first._fields == ("query_id", "text", "title", "body", "answer", "tags", "nuggets")
    assert first[:6] == ("q 2", "How?  Mine\tis coarse.", "How?", "Mine\tis coarse.", "Burrs.", ("grind", "burr"))
    assert second[:6] == ("q1", "Which pressure?", "", "", "", ())
    assert first.default_text() == "How?  Mine\tis coarse."
    assert first.nuggets == (
        ("z", "q 2", "1", "burrs grind evenly", "vital"),
        ("a", "q 2", "2", "water matters", ""),
    )
    assert list(small.nuggets_iter()) == [*first.nuggets, ("m", "q1", "1", "nine bar", "okay")]
    assert small.queries_store().get("q1") == second
    with pytest.raises(KeyError):
        small.queries_store().get("q 1")


def test_judgments_name_nuggets_by_number_and_zeros_come_first_within_a_query(small):
    rows = list(small.qrels_iter())
    assert sorted(rows) == [
        TrecQrel("q 2", "d 1", 0, "2"),
        TrecQrel("q 2", "d 1", 1, "1"),
        TrecQrel("q 2", "d2", 0, "1"),
        TrecQrel("q 2", "d2", 1, "2"),
        TrecQrel("q 2", "d4", 0, "1"),
        TrecQrel("q1", "d3 #é%20", 1, "1"),
        TrecQrel("q1", "d4", 0, "1"),
    ]
    assert [(row.query_id, row.relevance) for row in rows] == [("q 2", 0)] * 3 + [("q 2", 1)] * 2 + [
        ("q1", 0),
        ("q1", 1),
    ]
    assert set(small.qrels_defs()) == {0, 1}


def test_where_the_last_row_wins_a_document_that_supports_any_nugget_is_relevant(small):
    assert small.qrels_dict() == {"q 2": {"d 1": 1, "d2": 1, "d4": 0}, "q1": {"d3 #é%20": 1, "d4": 0}}
    assert small.qrels.asdict() == small.qrels_dict()


def test_a_nuggets_number_is_that_of_the_exported_diversity_qrels(small, tmp_path):
    trec.export(fsd.load(tmp_path / "small"), tmp_path / "trec")
    lines = (tmp_path / "trec/diversity.qrels").read_text(encoding="utf-8").splitlines()
    exported = {tuple(line.split("\t")) for line in lines}
    assert exported == {(q.query_id, q.iteration, q.doc_id, str(q.relevance)) for q in small.qrels_iter()}


def test_counts_are_those_of_the_snapshot_and_take_no_building(small, own_home):
    assert (small.docs_count(), small.queries_count(), small.qrels_count()) == (4, 2, 7)
    assert (len(small.docs), len(small.queries), len(small.qrels)) == (4, 2, 7)
    assert small.metadata() == {"docs": {"count": 4}, "queries": {"count": 2}, "qrels": {"count": 7}}
    assert not list(own_home.iterdir())


def test_nimbus_is_what_its_files_hold():
    adapter.register()
    data, folder = ir_datasets.load("freshstack/nimbus"), catalog.bundled()["freshstack/nimbus"]
    tables = {
        name: pq.read_table(folder / name).to_pylist() for name in ("corpus", "queries", "nuggets", "nugget_qrels")
    }
    assert [(d.doc_id, d.title, d.text, d.url) for d in data.docs_iter()] == [
        (row["_id"], row["title"], row["text"], row["metadata"]["url"] or "") for row in tables["corpus"]
    ]
    assert [(q.query_id, q.text, q.answer) for q in data.queries_iter()] == [
        (row["_id"], row["text"], row["answer_text"]) for row in tables["queries"]
    ]
    number = {row["_id"]: str(row["position"] + 1) for row in tables["nuggets"]}
    assert sorted(data.qrels_iter()) == sorted(
        (row["query-id"], row["corpus-id"], row["score"], number[row["nugget-id"]]) for row in tables["nugget_qrels"]
    )
    assert {n.nugget_id: n.number for n in data.nuggets_iter()} == number
    assert data.docs_lang() is None  # Spanish and English


def test_both_names_of_the_newest_snapshot_are_one_dataset_to_ir_datasets():
    adapter.register()
    for kind in ("docs", "queries", "qrels"):
        assert ir_datasets.parent_id("freshstack/langchain/2024-10", kind) == "freshstack/langchain"
    assert ir_datasets.load("freshstack/langchain").docs_handler() != ir_datasets.load("freshstack/yolo").docs_handler()


def test_a_loaded_dataset_and_its_folder_may_be_registered_under_one_name_and_another_may_not(tmp_path):
    folder, other = written(tmp_path / "one"), written(tmp_path / "two", "2024-11")
    adapter.register(fsd.load(folder), "mine")
    adapter.register(folder, "mine")
    adapter.register(str(folder), "also/mine")
    assert ir_datasets.load("also/mine").docs_count() == 4
    with pytest.raises(InputError, match="the name 'mine' in ir_datasets, expected a name that is free"):
        adapter.register(other, "mine")


def test_a_name_that_another_dataset_of_ir_datasets_has_is_refused(tmp_path):
    ir_datasets.registry.register("antique", ir_datasets.Dataset())
    with pytest.raises(InputError, match="'antique' in ir_datasets, expected a name that is free"):
        adapter.register(written(tmp_path / "one"), "antique")
    ir_datasets.registry.register("freshstack/yolo", ir_datasets.Dataset())
    with pytest.raises(InputError, match="'freshstack/yolo' in ir_datasets"):
        adapter.register()


def test_a_snapshot_needs_a_name_and_a_name_a_snapshot(tmp_path):
    folder = written(tmp_path / "one")
    with pytest.raises(InputError, match="expected a snapshot and a name, or neither, got no name"):
        adapter.register(folder)
    with pytest.raises(InputError, match="got no name"):
        adapter.register(folder, " ")
    with pytest.raises(InputError, match="got no snapshot"):
        adapter.register(name="mine")
    with pytest.raises(SnapshotError, match="is no snapshot"):
        adapter.register(tmp_path / "none", "mine")
    with pytest.raises(InputError, match="expected a snapshot, got a dataset made of judgments alone"):
        adapter.register(fsd.Dataset.from_nugget_qrels([("q", "n", "d", 1)]), "mine")


@pytest.fixture
def fresh_adapter(monkeypatch):
    """What is behind the front is imported anew in the test, and as before after it."""
    for name in [name for name in sys.modules if name.startswith("freshstack_datasets.adapters.ir_datasets.")]:
        monkeypatch.delitem(sys.modules, name)
        monkeypatch.delattr(adapter, name.rpartition(".")[2], raising=False)


def test_without_ir_datasets_there_is_one_line_that_says_how_to_get_it(monkeypatch, fresh_adapter):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'freshstack-datasets\[ir\]'"):
        adapter.register()


def test_an_ir_datasets_that_lacks_something_is_told_of_with_the_releases_that_have_it(monkeypatch, fresh_adapter):
    monkeypatch.delattr(ir_datasets.util, "use_docstore")
    with pytest.raises(InputError, match=r"ir-datasets .* lacks .*use_docstore.*, expected ir-datasets>=.*,<"):
        adapter.register()


def test_importing_the_adapter_loads_no_ir_datasets():
    code = (
        "import sys, freshstack_datasets as fsd; fsd.adapters.ir_datasets.register; print('ir_datasets' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_dataset_can_be_pickled_before_and_after_it_was_used(small):
    for data in (small, ir_datasets.load("tests/small")):
        copy = pickle.loads(pickle.dumps(data))
        assert copy.dataset_id() == "tests/small"
        assert list(copy.docs_iter()) == list(data.docs_iter())
        assert copy.docs.lookup("d2").text == "Water matters."
        assert copy.qrels_dict() == data.qrels_dict()
        assert len(copy.qrels) == 7
    store = pickle.loads(pickle.dumps(small.docs_store()))
    assert store.get("d 1").title == "Grinders"


def title(task):
    data, doc_id = task
    return data.docs_store().get(doc_id).title


@pytest.mark.slow
def test_processes_that_share_nothing_can_be_handed_a_dataset(small):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(title, [(small, "d 1"), (small, "d3 #é%20")]) == ["Grinders", "Pressure"]


def test_a_folder_that_holds_another_snapshot_by_now_is_not_read_for_the_one_that_was_registered(tmp_path, small):
    kept = pickle.dumps(small)
    for path in sorted((tmp_path / "small").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    written(tmp_path / "small", documents=[*DOCUMENTS[:3], Document("d4", "", "new")])
    with pytest.raises(SnapshotError, match="expected the fingerprint"):
        list(pickle.loads(kept).queries_iter())


def test_documents_are_found_by_id_and_by_no_beginning_of_one(small):
    store = small.docs_store()
    assert store.get("d3 #é%20").text == "Nine bar."
    assert store.get("d2", "text") == "Water matters."
    # ir_datasets' own store cuts what is asked for to the longest id that it has: "d4" and ten letters
    for wrong in ("d4" + "Z" * 40, "d3 #é%20x", "d", "", "D2"):
        with pytest.raises(KeyError):
            store.get(wrong)
        assert store.get_many([wrong]) == {}
        assert list(store.get_many_iter([wrong])) == []


def test_many_documents_come_in_the_order_asked_and_those_that_there_are_not_are_left_out(small):
    asked = ["d4", "nosuch", "d 1", "d4", None, 3]
    assert [doc.doc_id for doc in small.docs_store().get_many_iter(asked)] == ["d4", "d 1", "d4"]
    assert list(small.docs_store().get_many(["d2", "nosuch"], "title")) == ["d2"]
    assert [doc.doc_id for doc in small.docs_store().get_many_iter("d2")] == ["d2"]
    assert {doc.doc_id for doc in small.docs.lookup_iter({"d2", "d4"})} == {"d2", "d4"}
    with pytest.raises(UnknownNameError, match="unknown field to find documents by 'url'"):
        small.docs_store(field="url")
    assert small.docs_store(options=SimpleNamespace(file_access=FileAccess.MEMORY)).count() == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "words, code, out, err",
    [
        (["list"], 0, "freshstack/nimbus/2026-11\n", ""),
        (["export", "freshstack/nimbus", "qrels"], 0, "exact-01 1 ", ""),
        (["export", "freshstack/nosuch", "docs"], 2, "", "error: unknown dataset 'freshstack/nosuch'; "),
        (
            ["export", "freshstack/nimbus", "queries", "--fields", "text", "type"],
            2,
            "",
            "there is, got 'type'; without",
        ),
        (["lookup", "freshstack/nosuch", "x"], 1, "", "Dataset freshstack/nosuch not found.\n"),
        (["lookup", "freshstack/nimbus", "exact-01", "--qid", "--fields", "text"], 0, "ERR-4012", ""),
        (["lookup", "freshstack/nimbus", "acct-01", "--fields", "title"], 0, "Baja de la cuenta", ""),
        (["export", "freshstack/yolo", "docs"], 2, "", "error: freshstack/yolo@2024-10 is not on this machine"),
        (["export", "freshstack/nimbus"], 2, "", "usage: ir_datasets export "),
        (["export", "--help"], 0, "usage: ir_datasets export ", ""),
        (["--help"], 0, "Usage: freshstack irds COMMAND …", ""),
        ([], 1, "", "Usage: ir_datasets {"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_command_line_is_that_of_ir_datasets_with_the_datasets_in_it(words, code, out, err):
    done = subprocess.run([sys.executable, "-m", "freshstack_datasets", "irds", *words], capture_output=True, text=True)
    assert (done.returncode, out in done.stdout, err in done.stderr) == (code, True, True), done
    assert "Traceback" not in done.stderr
    if "error:" in err:
        assert len([line for line in done.stderr.splitlines() if not line.startswith("[INFO]")]) == 1


@pytest.mark.slow
def test_a_reader_who_has_enough_ends_the_command_without_a_complaint():
    command = [sys.executable, "-m", "freshstack_datasets", "irds", "export", "freshstack/nimbus", "docs"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline().startswith("acct-01\t")
        running.stdout.close()
        assert [line for line in running.stderr if not line.startswith("[INFO]")] == []
    assert running.returncode == 0


@pytest.mark.slow
def test_an_export_as_json_lines_has_every_field_of_every_query():
    command = ["irds", "export", "freshstack/nimbus", "queries", "--format", "jsonl"]
    done = subprocess.run([sys.executable, "-m", "freshstack_datasets", *command], capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    data = fsd.load("nimbus")
    assert [row["query_id"] for row in rows] == [query.query_id for query in data.queries]
    assert [[nugget[3] for nugget in row["nuggets"]] for row in rows] == [
        [nugget.text for nugget in data.nuggets_of(query.query_id)] for query in data.queries
    ]
