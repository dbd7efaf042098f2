"""Retrievers by the names that people type."""

import sys

import pytest

from freshstack_datasets.errors import InputError, UnknownNameError
from freshstack_datasets.records import Query
from freshstack_datasets.retrieval import BM25, Dense, retriever
from freshstack_datasets.retrieval.named import check_name
from tests.adapters.dense_by_hand import model_folder
from tests.llm_server import Server, embedded
from tests.unit.cli_tiny import Terminal

OWN = """
from freshstack_datasets.retrieval import FakeRetriever

number = 7

class Makers:
    @staticmethod
    def make():
        return FakeRetriever({"q": {"a": 1.0}})

make = Makers.make

def raises():
    raise RuntimeError("no index\\nhere")

def nothing():
    return None

def a_class():
    return FakeRetriever
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(tmp_path))])
    for name in ("own_one", "own_broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "own_one.py").write_text(OWN)
    (tmp_path / "own_broken.py").write_text("import no_such_package_at_all")
    (tmp_path / "own_wrong.py").write_text("def (")
    return tmp_path


def test_each_form_of_a_name_gives_its_retriever(here):
    assert isinstance(retriever("bm25"), BM25)
    dense = retriever(f"dense:{model_folder()}")
    assert isinstance(dense, Dense)
    assert dense.encoder.told == {"kind": "sentence-transformers", "model": model_folder()}
    for name in ("python:own_one:make", "python:own_one:Makers.make"):
        assert retriever(name).search([Query("q", "text")])["q"] == {"a": 1.0}


def test_a_model_of_a_server_is_named_with_its_address():
    with Server(lambda asked: embedded(asked, lambda text: [1, 2])) as server:
        dense = retriever(f"dense:org/model@{server.url}")
        assert dense.encoder.identity["endpoint"] == server.url
        assert dense.encoder.model == "org/model"
    assert retriever("dense:org/model@main").encoder.model == "org/model@main"


@pytest.mark.parametrize(
    "name, message",
    [
        ("bm52", "unknown retriever 'bm52'; did you mean 'bm25'"),
        ("dens:x", "unknown retriever 'dens:x'; did you mean"),
        ("dense:", "a retriever, expected dense:MODEL, got 'dense:'"),
        ("python:os", "a retriever, expected python:MODULE:FACTORY, got 'python:os'"),
        ("python:../x:make", "expected python:MODULE:FACTORY"),
        ("python:own_one:", "expected python:MODULE:FACTORY"),
        ("python:own_one:mak", "unknown factory in the module own_one, 'mak'; did you mean 'make'"),
        ("python:own_one:number", "expected something to call, got 7"),
        ("python:own_one:nothing", "expected something with index and search, got None (NoneType)"),
        ("python:own_one:a_class", "expected something with index and search"),
        ("python:own_one:raises", "failed, expected a retriever of a call without arguments, got RuntimeError"),
        ("python:own_two:make", "the module 'own_two' is not found"),
        ("python:own_two.deep:make", "the module 'own_two.deep' is not found"),
        ("python:own_broken:make", "the module 'own_broken' cannot be imported, got ModuleNotFoundError"),
        ("python:own_wrong:make", "the module 'own_wrong' cannot be imported, got SyntaxError"),
        ("", "unknown retriever ''"),
    ],
)
def test_names_that_are_none_are_refused_with_the_next_step(here, name, message):
    with pytest.raises(InputError) as caught:
        retriever(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_is_looked_at_without_loading_anything(here):
    for name in ("bm25", "dense:no/such-model", "python:own_two:make"):
        check_name(name)
    with pytest.raises(UnknownNameError):
        check_name("colbert")
    assert "own_one" not in sys.modules


def test_what_stands_in_one_s_folder_hides_no_module_of_python(here):
    (here / "json.py").write_text("raise RuntimeError")
    retriever("python:own_one:make")
    assert sys.path[-1] == str(here)


def test_the_command_line_takes_the_same_names(here, capsys):
    run = Terminal(capsys)
    code, _, err = run("retrieve", "nimbus", "--retriever", "python:own_one:mak", "--out", "x.trec")
    assert (code, "did you mean 'make'" in err) == (2, True)
    with Server(lambda asked: embedded(asked, lambda text: [len(text), text.count("e")])) as server:
        name = f"dense:e5@{server.url}"
        (result,) = run.json("evaluate", "nimbus", "--retriever", name, "--measures", "Coverage@20")["results"]
    assert result["system"] == name
