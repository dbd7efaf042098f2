"""``python -m builders convert-oct-2024``: what it prints, where, and how it ends."""

import json

import pytest

from builders.cli import main
from freshstack_datasets.verification import verify
from tests.originals import document, nugget, query, write_corpus, write_queries


@pytest.fixture
def originals(tmp_path):
    """Two repositories as published: a folder a topic; one judged document is in both lists, one in no corpus."""
    write_corpus(tmp_path / "corpus" / "yolo" / "train-00000-of-00001.parquet", [document("a"), document("b")])
    write_corpus(tmp_path / "corpus" / "godot" / "train-00000-of-00001.parquet", [document("x")])
    rows = [query("1", nugget("1_0", ["a"], ["a", "b"])), query("2", nugget("2_0", ["gone"])), query("3")]
    write_queries(tmp_path / "queries" / "yolo" / "test-00000-of-00001.parquet", rows)
    return tmp_path


def options(folder, out="out"):
    return ["--corpus", str(folder / "corpus"), "--queries", str(folder / "queries"), "--out", str(folder / out)]


def test_folders_of_the_repositories_become_a_snapshot_of_the_topic(originals, capsys):
    assert main(["convert-oct-2024", "yolo", *options(originals)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].startswith(f"{originals}/out: freshstack/yolo@2024-10, fingerprint ")
    assert lines[1:] == [
        "2 queries, 2 documents, CC-BY-SA-4.0",
        "read: 2 documents, 3 queries, 2 nuggets, 4 judgments",
        (
            "found: 1 document in both lists of a nugget, 1 query without a judged nugget, "
            "1 judged document that the corpus lacks"
        ),
    ]
    file = originals / "queries" / "yolo" / "test-00000-of-00001.parquet"
    assert err.splitlines() == [
        f"{file}: both-lists '1 1_0 a': row 1, nugget 1: listed as relevant and as not relevant; counts as relevant",
        f"{file}: query-without-nugget '3': row 3: has no nugget; left out",
        f"{file}: missing-document 'gone': the corpus lacks it, though it has 1 judgment; counts all the same",
    ]
    assert verify(originals / "out") == []


def test_json_is_one_object_on_standard_output(originals, capsys):
    assert main(["convert-oct-2024", "yolo-unfiltered", *options(originals), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["dataset"], told["snapshot"]) == ("freshstack/yolo-unfiltered", "2024-10")
    assert told["path"] == str(originals / "out")
    assert told["tables"]["nugget_qrels"] == {"rows": 3}
    assert told["read"] == {"documents": 2, "queries": 3, "nuggets": 2, "judgments": 4}
    assert told["found"] == {"both-lists": 1, "query-without-nugget": 1, "missing-document": 1}
    assert [(problem["code"], problem["id"]) for problem in told["problems"]] == [
        ("both-lists", "1 1_0 a"),
        ("query-without-nugget", "3"),
        ("missing-document", "gone"),
    ]
    assert set(told["problems"][0]) == {"code", "file", "id", "message"}


def test_files_may_be_given_one_by_one_in_any_order(originals, capsys):
    more = write_corpus(originals / "more.parquet", [document("gone")])
    first = originals / "corpus" / "yolo" / "train-00000-of-00001.parquet"
    fingerprints = set()
    for number, files in enumerate(((first, more), (more, first))):
        corpus = [option for file in files for option in ("--corpus", str(file))]
        rest = ["--queries", str(originals / "queries" / "yolo"), "--out", str(originals / str(number)), "--json"]
        assert main(["convert-oct-2024", "yolo", *corpus, *rest]) == 0
        told = json.loads(capsys.readouterr().out)
        assert "missing-document" not in told["found"]
        fingerprints.add(told["fingerprint"])
    assert len(fingerprints) == 1


def test_nothing_remarkable_is_nothing_said(tmp_path, capsys):
    write_corpus(tmp_path / "corpus" / "a.parquet", [document("a")])
    write_queries(tmp_path / "queries" / "a.parquet", [query("1", nugget("1_0", ["a"]))])
    assert main(["convert-oct-2024", "yolo", *options(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "found" not in out
    assert err == ""


@pytest.mark.parametrize(
    ("topic", "changes", "message"),
    [
        ("yollo", {}, "unknown topic 'yollo'; did you mean 'yolo'?"),
        ("../yolo", {}, "unknown topic '../yolo'"),
        ("nimbus", {}, "unknown topic 'nimbus'"),
        ("godot", {}, "expected a folder with Parquet files, got none in it"),
        ("yolo", {"corpus": "queries"}, "expected _id, text, got 'query_id, "),
        ("yolo", {"queries": "gone"}, "expected a Parquet file, got none"),
        ("yolo", {"out": "corpus"}, "expected a new or an empty folder, got one that holds files"),
    ],
)
def test_what_goes_wrong_is_one_line_and_exit_code_2(originals, capsys, topic, changes, message):
    names = {name: str(originals / changes.get(name, name)) for name in ("corpus", "queries", "out")}
    before = sorted(originals.rglob("*"))
    assert main(["convert-oct-2024", topic, *(word for name in names for word in (f"--{name}", names[name]))]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(originals.rglob("*")) == before


def test_a_place_must_be_given(originals, capsys):
    assert main(["convert-oct-2024", "yolo", *options(originals)[:4]]) == 2
    assert "missing option '--out'" in capsys.readouterr().err.lower()


def test_files_of_one_kind_alone_are_refused(originals, capsys):
    for given, lacking in (("--corpus", "--queries"), ("--queries", "--corpus")):
        paths = [given, str(originals / given[2:]), "--out", str(originals / "out")]
        assert main(["convert-oct-2024", "yolo", *paths]) == 2
        assert capsys.readouterr().err == (
            f"error: {lacking}, expected files, as there are some for {given}, got none; "
            "give both, or neither to download them\n"
        )
    assert not (originals / "out").exists()


def test_without_files_those_of_the_hub_are_meant(tmp_path, capsys):
    assert main(["convert-oct-2024", "yolo", "--out", str(tmp_path / "out")]) == 2  # no test reaches the real one
    assert capsys.readouterr().err.startswith("error: freshstack/yolo@2024-10 is not on this machine, got none of its")
    (tmp_path / "file").write_text("x")
    assert main(["convert-oct-2024", "yolo", "--out", str(tmp_path / "file")]) == 2  # said before any download
    assert "cannot write" in capsys.readouterr().err
