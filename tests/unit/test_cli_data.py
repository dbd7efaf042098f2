"""list, info, verify, show, search and export, on a benchmark that is known by heart."""

import json
import shutil
from pathlib import Path

import pytest

from freshstack_datasets import catalog
from freshstack_datasets.manifest import Filter, Recipe, Source
from tests.unit.cli_tiny import EVIL, Terminal, write_runs, write_tiny


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    write_tiny(tmp_path / "tiny")
    return tmp_path / "tiny"


def fingerprint(folder: Path) -> str:
    return json.loads((folder / "snapshot.json").read_text(encoding="utf-8"))["fingerprint"]


def test_info_tells_the_tables_the_licence_and_the_fingerprint(run, tiny):
    facts = run.json("info", tiny)
    assert facts["dataset"] == "tests/tiny"
    assert facts["snapshot"] == "2024-10"
    assert facts["fingerprint"] == fingerprint(tiny)
    assert facts["license"] == "CC-BY-SA-4.0"
    assert facts["sources"] == []
    # four documents, two queries, three nuggets, five judgments of four (query, document) pairs
    assert facts["tables"] == {
        "corpus": {"rows": 4},
        "queries": {"rows": 2},
        "nuggets": {"rows": 3},
        "nugget_qrels": {"rows": 5},
        "qrels": {"rows": 4},
    }
    # q1: two nuggets, supported by d1 and d2; q2: one, by d3, and "d 4" was judged for it. The texts have 42 and 29
    # characters, the answers 18 and 4.
    assert facts["statistics"] == {
        "queries": 2,
        "documents": 4,
        "missing_documents": 0,
        "nuggets_per_query": 1.5,
        "relevant_per_nugget": 1.0,
        "relevant_per_query": 1.5,
        "judged_per_query": 2.0,
        "characters_per_query": 35.5,
        "characters_per_answer": 11.0,
    }
    assert (facts["path"], facts["citation"], facts["repositories"]) == (str(tiny), None, [])
    code, out, err = run("info", tiny)
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == [
        f"tests/tiny@2024-10, fingerprint {fingerprint(tiny)[:12]}",
        "licence CC-BY-SA-4.0, made 2024-10-31",
        f"in {tiny}",
    ]
    assert [" ".join(line.split()) for line in out.splitlines()[3:]] == [
        "languages: en",
        "",
        "table rows",
        "corpus 4",
        "nugget_qrels 5",
        "nuggets 3",
        "qrels 4",
        "queries 2",
        "",
        "statistic value",
        "queries 2",
        "documents 4",
        "missing documents 0",
        "nuggets per query 1.5",
        "relevant per nugget 1.0",
        "relevant per query 1.5",
        "judged per query 2.0",
        "characters per query 35.5",
        "characters per answer 11.0",
    ]


def test_info_tells_sources_and_what_was_left_out(run, tmp_path):
    write_tiny(
        tmp_path / "tiny",
        sources=[Source(url="https://example.org", license="CC BY-SA 4.0", counts={"questions": 1200, "answers": 1})],
        recipe=Recipe(
            parameters={"tags": ["rye", "sour"], "from": "2015-01-01", "min_score": 1},
            filters=(Filter(name="too short", dropped=2, reason="nothing to find"),),
        ),
    )
    _, out, _ = run("info", tmp_path / "tiny")
    assert {" ".join(line.split()) for line in out.splitlines()} >= {
        "url: https://example.org",
        "license: CC BY-SA 4.0",
        "parameter value",
        "tags rye, sour",
        "from 2015-01-01",
        "min_score 1",
        "left out number why",
        "too short 2 nothing to find",
    }
    (counts,) = (line for line in out.splitlines() if line.startswith("counts: "))
    assert set(counts.removeprefix("counts: ").split(", ")) == {"1,200 questions", "1 answer"}
    facts = run.json("info", tmp_path / "tiny")
    assert facts["sources"][0]["counts"] == {"questions": 1200, "answers": 1}
    assert facts["recipe"]["filters"] == [{"name": "too short", "dropped": 2, "reason": "nothing to find"}]


def test_verify_is_content_with_a_whole_snapshot(run, tiny):
    assert run("verify", tiny) == (0, "", f"{tiny}: all is well\n")
    assert run.json("verify", tiny) == {"ok": True, "problems": []}


def test_verify_prints_a_problem_a_line_and_exits_with_1(run, tiny):
    (tiny / "queries" / "more\x1b[2J.txt").write_text("x")
    next((tiny / "nuggets").glob("*.parquet")).unlink()
    code, out, err = run("verify", tiny)
    assert code == 1
    assert len(out.splitlines()) == 2
    assert "nuggets/" in out
    assert r"more\x1b[2J.txt" in out
    assert "\x1b" not in out
    assert err == f"{tiny}: 2 problems\n"
    facts = run.json("verify", tiny, code=1)
    assert facts["ok"] is False
    assert len(facts["problems"]) == 2
    assert all(set(problem) == {"code", "file", "id", "message"} for problem in facts["problems"])


def test_verify_of_what_is_no_folder_is_an_error(run, tmp_path):
    code, out, err = run("verify", tmp_path / "nothing")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_show_tells_question_answer_nuggets_and_support(run, tiny):
    code, out, err = run("show", tiny, "q1")
    assert (code, err) == (0, "")
    assert out.splitlines()[1:] == [
        "",
        "question q1: How do I grind evenly?",
        "language en",
        "https://example.org/q1, ada, 2024-10-01, CC-BY-SA-4.0",
        "",
        r"Mine is \x1b[2Jcoarse.",
        "",
        "answer a1:",
        "Buy burr grinders.",
        "",
        "nugget 1 (vital): burrs grind evenly",
        "  supported by document d1: Burrs",
        "",
        "nugget 2: water matters",
        "  supported by document d2",
    ]


def test_show_credits_the_answer_when_the_corpus_holds_it(run, tmp_path):
    write_tiny(tmp_path / "tiny", answer="d2")
    _, out, _ = run("show", tmp_path / "tiny", "q1")
    assert "\nanswer d2:\nhttps://example.org/d2, grace, 2024-10-02, CC-BY-SA-4.0\n\nBuy burr grinders.\n" in out
    credit = {"url": "https://example.org/d2", "author": "grace", "date": "2024-10-02", "license": "CC-BY-SA-4.0"}
    assert run.json("show", tmp_path / "tiny", "q1")["answer"] == credit
    nothing = dict.fromkeys(credit)
    assert run.json("show", tmp_path / "tiny", "q2")["answer"] == nothing  # q2 has no answer_id


def test_show_with_a_run_tells_where_each_nugget_is_covered_first(run, tiny, tmp_path):
    first, second = write_runs(tmp_path)
    _, out, _ = run("show", tiny, "q1", "--run", second)  # d1, x9, d2
    assert "  supported by document d1, rank 1: Burrs\n  beta: first covered at rank 1\n" in out
    assert "  supported by document d2, rank 3\n  beta: first covered at rank 3\n" in out
    _, out, _ = run("show", tiny, "q2", "--run", second)
    lines = out.splitlines()
    assert lines[-2].startswith("  supported by document d3: ")  # and a hostile title, shown on the line
    assert lines[-1] == "  beta: not covered in 0 documents"
    facts = run.json("show", tiny, "q2", "--run", first)  # "d 4", d3
    assert facts["run"] == "alpha"
    assert facts["query"]["title"] == "Which pressure?"
    assert facts["nuggets"] == [
        {
            "nugget_id": "n3",
            "text": "nine bar",
            "importance": None,
            "documents": [{"doc_id": "d3", "title": EVIL, "rank": 2}],
            "first_rank": 2,
        }
    ]


def test_show_offers_the_nearest_query(run, tiny):
    code, out, err = run("show", tiny, "q11")
    assert (code, out) == (2, "")
    assert err.startswith("error: unknown query 'q11'; did you mean 'q1'")


def test_search_finds_documents_and_shows_nothing_a_terminal_would_obey(run, tiny):
    code, out, err = run("search", tiny, "espresso pressure")
    assert (code, err) == (0, "")
    heading, _, header, line = out.splitlines()  # only d3 holds either word
    assert heading.startswith("tests/tiny@2024-10, fingerprint ")
    assert header.split() == ["rank", "document", "score", "beginning", "url"]
    assert line.split()[:2] == ["1", "d3"]
    assert r"Pressure \x1b]0;owned\x07[bold]matters[/bold] \u202ehere" in line


def test_search_gives_at_most_k(run, tiny):
    facts = run.json("search", tiny, "burr water espresso", "-k", "2")
    assert facts["dataset"] == "tests/tiny"
    assert facts["text"] == "burr water espresso"
    assert [result["rank"] for result in facts["results"]] == [1, 2]
    assert run.json("search", tiny, "zebra")["results"] == []
    assert run("search", tiny, "zebra")[1].endswith(
        "no document shares a search term with this text; stop words are none\n"
    )
    (wet,) = run.json("search", tiny, "temperature")["results"]
    assert (wet["url"], wet["author"], wet["license"]) == ("https://example.org/d2", "grace", "CC-BY-SA-4.0")
    assert run("search", tiny, "temperature")[1].splitlines()[-1].endswith("  https://example.org/d2")
    found = run.json("search", tiny, "burr")["results"]
    assert [(result["doc_id"], result["title"], result["url"]) for result in found] == [
        ("d1", "Burrs", "https://example.org/d1")
    ]


@pytest.mark.parametrize("k", ["0", "-1", "two", "1.5", "9" * 5000])
def test_k_is_a_whole_number(run, tiny, k):
    code, out, err = run("search", tiny, "burr", "-k", k)
    if k == "9" * 5000:  # more digits than Python turns into a number
        assert len(err) < 300
    assert (code, out) == (2, "")
    assert err.startswith("error: -k, expected a whole number of documents, at least 1, got ")


def test_an_unknown_dataset_gets_a_suggestion_or_a_list(run):
    code, out, err = run("info", "freshstack/langchian")
    assert (code, out) == (2, "")
    assert err.startswith("error: unknown dataset 'freshstack/langchian'; did you mean 'freshstack/langchain'")
    assert err.endswith("? or give the folder of a snapshot; HF_HUB_OFFLINE is set, so the Hub was not asked\n")
    assert run("info", "zzz")[2].endswith("'freshstack/langchain' and 6 more, or give the folder of a snapshot\n")
    assert err.count("\n") == 1


def test_another_snapshot_than_the_folder_holds_is_an_error(run, tiny):
    assert run.json("info", f"{tiny}@2024-10")["snapshot"] == "2024-10"
    code, out, err = run("info", f"{tiny}@2025-01")
    assert (code, out) == (2, "")
    assert "expected '2025-01', got 2024-10" in err


def test_a_folder_that_is_no_snapshot_is_an_error(run, tmp_path):
    code, out, err = run("info", tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "snapshot.json" in err


def test_list_has_the_shape_that_scripts_read(run):
    facts = run.json("list")
    assert set(facts) == {"datasets", "broken"}
    assert facts["broken"] == []
    for dataset in facts["datasets"]:
        assert set(dataset) == {"name", "snapshots"}
        for snapshot in dataset["snapshots"]:
            assert set(snapshot) == {"name", "cached", "bytes"}
    code, out, err = run("list")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["dataset", "snapshot", "on", "this", "machine", "size"]


def test_list_says_which_dataset_of_the_package_is_broken_and_lists_the_others(run, tmp_path, monkeypatch):
    (tmp_path / "nimbus").mkdir()
    (tmp_path / "nimbus" / "snapshot.json").write_text("{")
    monkeypatch.setattr("freshstack_datasets.catalog._BUNDLED", tmp_path)
    for words in (["list"], ["list", "--json"]):
        code, out, err = run(*words)
        assert code == 1
        assert err.startswith("freshstack/nimbus came with the package and is broken: ")
        assert "freshstack/yolo" in out
    facts = json.loads(out)
    assert [entry["name"] for entry in facts["broken"]] == ["freshstack/nimbus"]
    assert "expected JSON" in facts["broken"][0]["message"]
    assert "freshstack/nimbus" not in [dataset["name"] for dataset in facts["datasets"]]


def test_a_damaged_dataset_of_the_package_is_not_downloaded_and_said_to_be_fine(run, tmp_path, monkeypatch):
    shutil.copytree(catalog.bundled()["freshstack/nimbus"], tmp_path / "nimbus")
    monkeypatch.setattr("freshstack_datasets.catalog._BUNDLED", tmp_path)
    assert run.json("download", "nimbus")["problems"] == []
    corpus = "corpus/corpus-00000-of-00001.parquet"
    (tmp_path / "nimbus" / corpus).unlink()
    code, out, _ = run("download", "nimbus", "--json")
    assert code == 1
    assert [(problem["code"], problem["file"]) for problem in json.loads(out)["problems"]] == [("missing-file", corpus)]


@pytest.mark.parametrize("layout", ["beir", "trec", "jsonl"])
def test_export_names_the_files_it_wrote(run, tiny, tmp_path, layout):
    out = tmp_path / "out" / layout
    facts = run.json("export", tiny, "--to", layout, "--out", out)
    assert facts["dataset"] == "tests/tiny"
    assert facts["format"] == layout
    assert facts["files"] == sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    assert facts["files"]
    code, printed, err = run("export", tiny, "--to", layout, "--out", out)  # the folder is taken now
    assert (code, printed) == (2, "")
    assert err.startswith("error: cannot write ")
    assert err.count("\n") == 1
    code, printed, err = run("export", tiny, "--to", layout, "--out", tmp_path / "again")
    assert code == 0
    assert printed.splitlines() == [str(tmp_path / "again" / name) for name in facts["files"]]
    assert err.startswith("tests/tiny@2024-10, fingerprint ")


def test_export_refuses_a_layout_it_does_not_know(run, tiny, tmp_path):
    code, out, err = run("export", tiny, "--to", "csv", "--out", tmp_path / "x")
    assert (code, out) == (2, "")
    assert "--to" in err
    assert "beir" in err
