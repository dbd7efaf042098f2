"""Retrievers of somebody's own, which may do anything: what they do wrong is told with their name, and nothing is made."""

import json
import sys

import pytest

import freshstack_datasets as fsd
from builders.cli import main
from builders.pipeline.reading import pool_of
from builders.pipeline.work import Work
from builders.pooling.stage import read_runs
from freshstack_datasets.cli import app, console
from tests.builders.pipeline_made import DOCUMENTS, TOPIC, made_topic, made_work

MODULE = """
class Own:
    def index(self, corpus):
        {index}
        return self
    def search(self, queries, k):
        {search}
"""
ALL = f"list({list(DOCUMENTS)!r})"


@pytest.fixture
def pool(tmp_path, monkeypatch, capsys):
    """Run the stage with such a retriever; return the exit code, and what is said on standard error."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FRESHSTACK_HOME", str(tmp_path / "home"))

    def run(search="return {}", index="pass", module=MODULE, factory="Own"):
        monkeypatch.delitem(sys.modules, "own_of_test", raising=False)
        (tmp_path / "own_of_test.py").write_text(module.format(search=search, index=index))
        made_topic(tmp_path, TOPIC.replace("[bm25]", f"['python:own_of_test:{factory}']"))
        made_work(tmp_path, until="queries")
        code = main(["pool", str(tmp_path / "tidepool.yaml"), "--work", str(tmp_path / "work")])
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    "does, message",
    [
        ({"search": "raise RuntimeError('boom\\x1b[31m')"}, r"failed, got RuntimeError('boom\x1b[31m'); mend it"),
        ({"search": "raise SystemExit(0)"}, "failed, got SystemExit(0); mend it"),
        ({"index": "raise KeyError('x')"}, "failed, got KeyError('x'); mend it"),
        ({"index": "raise SystemExit"}, "failed, got SystemExit(); mend it"),
        ({"index": "return None"}, "failed, got AttributeError("),
        ({"search": "return None"}, "found: "),
        ({"search": "return [1]"}, "found: "),
        ({"search": "return {q.query_id: {'docs/d01': float('nan')} for q in queries}"}, "a finite number, got nan"),
        ({"search": "return {q.query_id: {'docs/d01': '1'} for q in queries}"}, "a finite number, got '1'"),
        ({"search": "return {q.query_id: {3: 1.0} for q in queries}"}, "found: "),
        ({"search": "return {q.query_id: {'../no': 1.0} for q in queries}"}, "documents of the corpus, got '../no'"),
        ({"module": "raise SystemExit(0)"}, "cannot be imported, got SystemExit"),
        ({"module": "def Own(): raise SystemExit(0)"}, "failed, expected a retriever"),
    ],
)
def test_what_goes_wrong_in_it_is_one_line_with_its_name_and_leaves_nothing(pool, tmp_path, does, message):
    code, said = pool(**does)
    assert code == 2
    assert said.count("\n") == 1
    assert message in said
    assert "own_of_test" in said
    assert "report it" not in said
    assert not (tmp_path / "work" / "pool").exists()


TALKING = """
print("words on import")
class Own:
    def __init__(self):
        print("words of the factory")
    def index(self, corpus):
        print("words of the index")
        return self
    def search(self, queries, k):
        print("words of the search")
        return {{q.query_id: {{"{document}": 1.0}} for q in queries}}
"""
WORDS = ("words on import", "words of the factory", "words of the index", "words of the search")


def test_what_it_prints_is_no_part_of_what_the_stage_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_of_test", raising=False)
    (tmp_path / "own_of_test.py").write_text(TALKING.format(document="docs/d01"))
    made_topic(tmp_path, TOPIC.replace("[bm25]", "['python:own_of_test:Own']"))
    made_work(tmp_path, until="queries")
    assert main(["pool", str(tmp_path / "tidepool.yaml"), "--work", str(tmp_path / "work"), "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["counts"]["documents"] == 4  # one of each question
    assert all(words in said.err for words in WORDS)


@pytest.mark.parametrize("command", ["evaluate", "retrieve"])
def test_what_it_prints_is_no_part_of_what_commands_print(tmp_path, monkeypatch, capsys, command):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_of_test", raising=False)
    document = next(iter(fsd.load("nimbus").corpus.ids))
    (tmp_path / "own_of_test.py").write_text(TALKING.format(document=document))
    out = ["--out", str(tmp_path / "run.parquet")] if command == "retrieve" else []
    words = [command, "nimbus", "--retriever", "python:own_of_test:Own", *out, "--json"]
    assert console.run(app, words, name="freshstack") == 0
    said = capsys.readouterr()
    assert isinstance(json.loads(said.out), dict)
    assert all(words in said.err for words in WORDS)


def test_an_exit_ends_no_evaluation_as_if_all_were_well(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_of_test", raising=False)
    (tmp_path / "own_of_test.py").write_text(MODULE.format(index="pass", search="raise SystemExit(0)"))
    assert console.run(app, ["evaluate", "nimbus", "--retriever", "python:own_of_test:Own"], name="freshstack") == 2
    assert "the retriever 'python:own_of_test:Own' failed, got SystemExit(0)" in capsys.readouterr().err


def test_what_it_finds_beyond_the_depth_does_not_count_in_the_fusion_either(pool, tmp_path):
    # The depth is 10 of 12 documents. The 11th and 12th have the scores 1 and 0: counted, they would be the least.
    code, said = pool(f"return {{q.query_id: {{d: 11.0 - n for n, d in enumerate({ALL})}} for q in queries}}")
    assert (code, said) == (0, "")
    work = Work(tmp_path / "work")
    assert pool_of(work)["q1"] == ["docs/d01", "docs/d02", "docs/d03"]
    fused = read_runs(work.folder("pool"), "question", "fusion").to_dict()["q1"]
    assert list(fused) == list(DOCUMENTS)[:10]
    assert (fused["docs/d01"], fused["docs/d10"]) == (1.0, 0.0)
