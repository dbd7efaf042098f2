"""retrieve, evaluate and compare, on a benchmark whose values are worked out by hand."""

import csv
import json
import math
from pathlib import Path

import pytest

from freshstack_datasets.runs import read_run
from tests.unit.cli_tiny import Terminal, write_runs, write_tiny

# alpha: q1 is d2, d1: both documents bring a new nugget, as in the ideal: alpha_nDCG@2 = 1; the first document supports
#        one nugget of two: Coverage@1 = 1/2; RR = 1.
#        q2 is "d 4", d3: the only supporting document stands second: alpha_nDCG@2 = 1/log2(3); Coverage@1 = 0; RR = 1/2.
# beta:  q1 is d1, x9, d2: 1 of the ideal 1 + 1/log2(3) within two ranks; Coverage@1 = 1/2; RR = 1. q2 is missing: 0.
SECOND = 1 / math.log2(3)
MEASURES = ("alpha_nDCG@2", "Coverage@1", "RR@10")
ALPHA = {"q1": (1.0, 0.5, 1.0), "q2": (SECOND, 0.0, 0.5)}
BETA = {"q1": (1 / (1 + SECOND), 0.5, 1.0), "q2": (0.0, 0.0, 0.0)}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    write_tiny(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return write_runs(tmp_path)


def mean(values: dict[str, tuple[float, ...]], place: int) -> float:
    return (values["q1"][place] + values["q2"][place]) / 2


def test_evaluate_gives_an_entry_for_each_run(run, tiny, runs):
    results = run.json("evaluate", tiny, "--run", *runs, "--measures", *MEASURES)["results"]
    assert [result["system"] for result in results] == ["alpha", "beta"]
    for result, values in zip(results, (ALPHA, BETA), strict=True):
        assert set(result) == {"dataset", "snapshot", "fingerprint", "system", "queries", "ties", "measures"}
        assert (result["dataset"], result["snapshot"]) == ("tests/tiny", "2024-10")
        assert (result["queries"], result["ties"]) == (2, 0)
        assert list(result["measures"]) == list(MEASURES)
        for place, name in enumerate(MEASURES):
            entry = result["measures"][name]
            assert set(entry) == {"value", "low", "high", "signature"}
            assert entry["value"] == pytest.approx(mean(values, place), abs=1e-12)
            assert entry["low"] <= entry["value"] <= entry["high"]
            assert "tests/tiny@2024-10" in entry["signature"]


def test_evaluate_prints_a_table_with_intervals_and_how_many_are_unjudged(run, tiny, runs):
    code, out, _ = run("evaluate", tiny, "--run", *runs, "--measures", "RR@10, Coverage@1")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[0].startswith("tests/tiny@2024-10, fingerprint ")
    assert lines[0].endswith(", 2 queries")
    assert lines[2] == "system measure value 95 % interval"
    # of two queries a resample holds both, or one twice: the percentiles are the smallest and the largest mean
    assert lines[3:7] == [
        "alpha RR@10 0.7500 0.5000 to 1.0000",
        "Coverage@1 0.2500 0.0000 to 0.5000",
        "beta RR@10 0.5000 0.0000 to 1.0000",
        "Coverage@1 0.2500 0.0000 to 0.5000",
    ]
    assert lines[8:] == [
        "alpha: 0 of the 4 documents in the top 10 are unjudged",
        "beta: 1 of the 3 documents in the top 10 is unjudged",
    ]


@pytest.mark.parametrize(
    "spelled",
    [
        ["--measures", "RR@10", "--measures", "Coverage@1"],
        ["--measures", "RR@10", "Coverage@1"],
        ["--measures", "RR@10 Coverage@1"],
        ["--measures", "RR@10,Coverage@1"],
        ["--measures", "mrr@10", "cov@1"],
        ["--measures=RR@10, Coverage@1"],
    ],
)
def test_measures_may_be_named_in_every_way(run, tiny, runs, spelled):
    (result,) = run.json("evaluate", tiny, "--run", runs[0], *spelled)["results"]
    assert {name: entry["value"] for name, entry in result["measures"].items()} == {"RR@10": 0.75, "Coverage@1": 0.25}


def test_the_dataset_may_stand_after_the_runs(run, tiny, runs):
    results = run.json("evaluate", "--run", *runs, tiny)["results"]
    assert [result["system"] for result in results] == ["alpha", "beta"]
    assert list(results[0]["measures"]) == ["alpha_nDCG@10", "Coverage@20", "Recall@50"]


def test_runs_of_one_name_are_told_apart_by_their_files(run, tiny, runs, tmp_path):
    twin = tmp_path / "twin.trec"
    twin.write_bytes(runs[0].read_bytes())
    results = run.json("evaluate", tiny, "--run", runs[0], twin)["results"]
    assert [result["system"] for result in results] == [f"alpha ({runs[0]})", f"alpha ({twin})"]


def test_a_retriever_is_told_apart_from_a_run_of_its_name(run, tiny, tmp_path):
    path = tmp_path / "bm25.json"
    path.write_text('{"q1": {"d1": 1}, "q2": {"d3": 1}}', encoding="utf-8")
    results = run.json("evaluate", tiny, "--run", path, "--retriever", "bm25")["results"]
    assert [result["system"] for result in results] == [f"bm25 ({path})", "bm25 (retriever)"]


def test_a_run_file_that_cannot_be_read_is_found_before_the_retriever_searches(run, tiny):
    _, _, err = run("evaluate", tiny, "--run", "missing.trec", "--retriever", "bm52")
    assert err.startswith("error: missing.trec: ")


def test_documents_that_the_corpus_lacks_are_counted_once_each(run, tiny, runs, tmp_path):
    path = tmp_path / "far.json"  # x1 twice, x2 once, d1: two of three documents are unknown
    path.write_text('{"q1": {"x1": 3, "x2": 2}, "q2": {"x1": 2, "d1": 1}}', encoding="utf-8")
    _, _, err = run("evaluate", tiny, "--run", path, *runs)
    assert [line for line in err.splitlines() if "corpus" in line] == [
        "warning: far: 2 of the run's 3 documents are not in the corpus",
        "warning: beta: 1 of the run's 3 documents is not in the corpus",  # x9; alpha has none
    ]
    _, _, err = run("compare", tiny, path, runs[0])
    assert err == "warning: far: 2 of the run's 3 documents are not in the corpus\n"


def test_ties_are_told(run, tiny, runs, tmp_path):
    path = tmp_path / "level.json"  # of three equal scores the second and third tie, of two the second: 2 + 1
    path.write_text('{"q1": {"d1": 1, "d2": 1, "d3": 1}, "q2": {"d1": 2, "d2": 1, "d3": 1}}', encoding="utf-8")
    (tmp_path / "one.json").write_text('{"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 1}}', encoding="utf-8")
    _, out, _ = run("evaluate", tiny, "--run", path, tmp_path / "one.json", runs[0])
    assert [line for line in out.splitlines() if "tie" in line] == [
        "level: 3 ties in score, settled by document id",
        "one: 1 tie in score, settled by document id",
    ]


def test_only_the_top_ten_count_as_unjudged_and_only_for_queries_of_the_dataset(run, tiny, tmp_path):
    # 12 documents, falling from x01: ten of them are in the top, all unjudged; d1 and d2 stand 11th and 12th
    ranked = {f"x{i:02}": 20 - i for i in range(10)} | {"d1": 2, "d2": 1}
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"q9": {"x00": 1}, "q1": ranked, "q2": {"d3": 1}}), encoding="utf-8")
    _, out, _ = run("evaluate", tiny, "--run", path)
    assert out.endswith("\nlong: 10 of the 11 documents in the top 10 are unjudged\n")


def test_runs_whose_name_says_oracle_are_marked(run, tiny, runs, tmp_path):
    for name in ("x-oracle.json", "oracles.json"):
        (tmp_path / name).write_text('{"q1": {"d1": 1}, "q2": {"d3": 1}}', encoding="utf-8")
    marked = "warning: {}: an oracle run: it searched with something other than the question\n"
    oracle = tmp_path / "x-oracle.json"
    assert run("evaluate", tiny, "--run", oracle, tmp_path / "oracles.json")[2] == marked.format("x-oracle")
    assert run("compare", tiny, oracle, runs[0])[2] == marked.format("x-oracle")
    twin = tmp_path / "twin" / "x-oracle.json"
    twin.parent.mkdir()
    twin.write_bytes(oracle.read_bytes())
    _, _, err = run("evaluate", tiny, "--run", oracle, twin)
    assert err == marked.format(f"x-oracle ({oracle})") + marked.format(f"x-oracle ({twin})")


def test_a_run_file_without_its_option_is_told_how_to_give_it(run, tiny, runs):
    code, out, err = run("evaluate", tiny, "a.trec")
    assert (code, out) == (2, "")
    assert err.startswith("error: unexpected argument 'a.trec', expected a run file as in --run 'a.trec'; see ")
    assert run("evaluate", tiny, "a.trec", "--measures", "RR@10")[2] == err
    code, out, _ = run("evaluate", tiny, "a.trec", "--help")
    assert (code, "--run FILE" in out) == (0, True)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_per_query_values_are_unrounded(run, tiny, runs, tmp_path, suffix):
    path = tmp_path / f"values{suffix}"
    run.json("evaluate", tiny, "--run", *runs, "--measures", *MEASURES, "--per-query", path)
    with path.open(encoding="utf-8", newline="") as file:
        if suffix == ".csv":
            header, *rows = csv.reader(file)
            assert header == ["system", "query_id", *MEASURES]
            found = {(row[0], row[1]): [float(cell) for cell in row[2:]] for row in rows}
        else:
            entries = [json.loads(line) for line in file]
            assert all(list(entry["measures"]) == list(MEASURES) for entry in entries)
            found = {(e["system"], e["query_id"]): list(e["measures"].values()) for e in entries}
    expected = {("alpha", q): values for q, values in ALPHA.items()} | {("beta", q): v for q, v in BETA.items()}
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        assert found[key] == pytest.approx(values, abs=1e-12)


def test_per_query_values_go_only_where_their_format_is_known(run, tiny, runs, tmp_path):
    code, out, err = run("evaluate", tiny, "--run", runs[0], "--per-query", tmp_path / "values.xlsx")
    assert (code, out) == (2, "")
    assert "expected a name that ends with .csv or .jsonl, got '.xlsx'" in err


def test_evaluate_warns_on_standard_error_of_queries_that_are_not_in_the_dataset(run, tiny, tmp_path):
    path = tmp_path / "extra.json"
    path.write_text('{"q1": {"d1": 1}, "q9": {"d1": 1}}', encoding="utf-8")
    code, out, err = run("evaluate", tiny, "--run", path, "--json")
    assert code == 0
    (result,) = json.loads(out)["results"]
    assert result["system"] == "extra"
    assert err.startswith("warning: extra: ")


def test_a_broken_run_is_one_line_with_its_place(run, tiny, tmp_path):
    path = tmp_path / "broken.trec"
    path.write_text("q1 Q0 d1 1 2.5 mine\nq1 Q0 d2 2 high mine\n", encoding="utf-8")
    code, out, err = run("evaluate", tiny, "--run", path)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {path}:2: ")
    assert "'high'" in err
    assert err.count("\n") == 1


def test_a_run_without_any_query_of_the_dataset_is_an_error(run, tiny, tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"q9": {"d1": 1}}', encoding="utf-8")
    code, out, err = run("evaluate", tiny, "--run", path)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "error: nothing to score, expected --run FILE or --retriever NAME, got neither"),
        (["--retriever", "bm52"], "error: unknown retriever 'bm52'; did you mean 'bm25'?"),
        (["--run", "a.trec", "--query", "title"], "error: --query, expected a --retriever that searches"),
        (["--run", "missing.trec"], "error: missing.trec: "),
        (["--retriever", "bm25", "--measures", "nDGC@10"], "error: unknown measure 'nDGC@10', expected one of "),
    ],
)
def test_what_cannot_be_scored_is_one_line(run, tiny, words, message):
    code, out, err = run("evaluate", tiny, *words)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_evaluate_scores_a_retriever(run, tiny):
    # q1 "How do I grind evenly? …" shares words with d1 only; q2 "Which pressure? For espresso." with d3 only
    (result,) = run.json("evaluate", tiny, "--retriever", "bm25", "--measures", "Coverage@5 RR@5")["results"]
    assert result["system"] == "bm25"
    assert result["measures"]["Coverage@5"]["value"] == 0.75
    assert result["measures"]["RR@5"]["value"] == 1.0


def test_retrieve_writes_a_run_and_finds_at_most_k(run, tiny, tmp_path):
    out = tmp_path / "made" / "bm25.trec"
    facts = run.json("retrieve", tiny, "--retriever", "bm25", "--out", out)
    assert facts["system"] == "bm25"
    assert (facts["queries"], facts["documents"], facts["oracle"]) == (2, 2, False)
    found = read_run(out)
    assert found.name == "bm25"
    assert {query_id: list(documents) for query_id, documents in found.to_dict().items()} == {
        "q1": ["d1"],
        "q2": ["d3"],
    }


@pytest.mark.parametrize(
    "query, name, oracle, found",
    [
        ("text", "bm25", False, {"q1": ["d1"], "q2": ["d3"]}),
        ("title", "bm25-title", False, {"q1": ["d1"], "q2": ["d3"]}),
        ("answer", "bm25-answer-oracle", True, {"q1": ["d1"], "q2": ["d 4"]}),
        # "burrs grind evenly" and "water matters": d1, d2 and, by its title, d3
        ("nuggets", "bm25-nuggets-oracle", True, {"q1": ["d1", "d2", "d3"], "q2": ["d3"]}),
        ("own.json", "bm25-own-oracle", True, {"q1": ["d2"], "q2": ["d 4"]}),
        ("own.jsonl", "bm25-own-oracle", True, {"q1": ["d2"], "q2": ["d 4"]}),
        ("own.tsv", "bm25-own-oracle", True, {"q1": ["d2"], "q2": ["d 4"]}),
    ],
)
def test_what_is_searched_for_can_be_chosen_and_an_oracle_is_marked(
    run, tiny, tmp_path, monkeypatch, query, name, oracle, found
):
    monkeypatch.chdir(tmp_path)
    Path("own.json").write_text('{"q1": "water", "q2": "foam"}', encoding="utf-8")
    Path("own.jsonl").write_text(
        '{"query_id": "q1", "text": "water"}\n\n{"query_id": "q2", "text": "foam"}', encoding="utf-8"
    )
    Path("own.tsv").write_text("q1\twater\r\nq2\tfoam\n", encoding="utf-8")
    code, out, err = run("retrieve", tiny, "--retriever", "bm25", "--out", "x.json", "--query", query)
    assert code == 0
    assert ("oracle run" in out) is oracle
    # a .json file holds no name, so only its own can say what it is
    assert err == (
        "warning: x.json: nothing in the file says that this is an oracle run; "
        f"call it {name}.json, or take a format that keeps the run's name (.trec, .jsonl, .parquet)\n"
        if oracle
        else ""
    )
    for suffix in (".json.gz", ".JSON"):
        assert bool(run("retrieve", tiny, "--retriever", "bm25", "--out", f"x{suffix}", "--query", query)[2]) is oracle
    for out_file in ("my-Oracle.json", "x.trec", "x.json.trec"):
        assert run("retrieve", tiny, "--retriever", "bm25", "--out", out_file, "--query", query)[2] == ""
    assert {q: sorted(d) for q, d in read_run(Path("x.json")).to_dict().items()} == {
        q: sorted(d) for q, d in found.items()
    }
    facts = run.json("retrieve", tiny, "--retriever", "bm25", "--out", "x.trec", "--query", query)
    assert (facts["system"], facts["oracle"], facts["query"]) == (name, oracle, query)
    assert read_run(Path("x.trec")).name == name
    code, out, err = run("evaluate", tiny, "--retriever", "bm25", "--query", query, "--json")
    assert json.loads(out)["results"][0]["system"] == name
    assert ("oracle run" in err) is oracle


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.json", b'{"q1": "x",\n "q1": "y"}', "a.json: query 'q1', expected each query once, got it twice"),
        ("a.json", b'{"q1": "x",\n "q2": 3}', "a.json: query 'q2', expected a text, got 3"),
        ("a.json", b'[["q1", "x"]]', "the file a.json, expected one object from query id to text"),
        ("a.json", b'{"q1": "x",\n"q2" "y"}', "a.json:2: JSON, "),
        ("a.json", b"[" * 100_000, "a.json:1: JSON"),
        ("a.json", b'{"q1": {"q1": "x"}}', "a.json: query 'q1', expected a text"),
        (
            "a.json",
            b'{"q1": "x"}',
            "a.json: query 'q2', expected a text for every query of the dataset, got none for this one",
        ),
        ("a.json", b'{"": "x"}', "a.json: query id, expected a non-empty string"),
        ("a.json", b'{"\\ud800": "x"}', "a.json: query id "),
        ("a.jsonl", b'{"query_id": "q1", "text": "x"}\n{"query_id": "q2"}', "a.jsonl:2: a line, expected "),
        ("a.jsonl", b'{"query_id": 7, "text": "x"}', "a.jsonl:1: query id, expected "),
        ("a.jsonl", b"null", "a.jsonl:1: a line, expected "),
        ("a.tsv", b"q1\tx\nq2 y\n", "a.tsv:2: a line, expected query id, tab, text, got 'q2 y'"),
        ("a.tsv", b"q1\tx\nq2\t\xff\n", "a.tsv:2: a text, expected UTF-8"),
        (
            "a.csv",
            b"q1,x",
            "--query 'a.csv', expected text, title, body, answer, nuggets or a file that ends with .json",
        ),
        ("missing.tsv", None, "cannot read 'missing.tsv'"),
    ],
)
def test_a_file_of_queries_that_cannot_be_used_is_one_line(run, tiny, tmp_path, monkeypatch, name, content, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_bytes(content)
    code, out, err = run("retrieve", tiny, "--retriever", "bm25", "--out", "x.json", "--query", name)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not Path("x.json").exists()


def test_queries_of_a_file_that_the_dataset_lacks_are_a_warning(run, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.json").write_text('{"q1": "water", "q3": "x", "q2": "foam", "q4": "y"}', encoding="utf-8")
    code, _, err = run("retrieve", tiny, "--retriever", "bm25", "--out", "x.trec", "--query", "own.json")
    assert code == 0
    assert err == "warning: own.json: left out, because the dataset does not have them: 2 queries\n"


def test_a_run_that_cannot_be_written_is_one_line(run, tiny, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, out, err = run("retrieve", tiny, "--retriever", "bm25", "--out", tmp_path / "file" / "x.trec")
    assert (code, out) == (2, "")
    assert err.startswith("error: cannot write ")
    assert err.count("\n") == 1
    code, out, err = run("evaluate", tiny, "--retriever", "bm25", "--per-query", tmp_path / "file" / "x.csv")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: cannot write '{str(tmp_path)[:20]}")
    assert err.count("\n") == 1


def test_compare_counts_wins_and_says_what_the_difference_means(run, tiny, runs):
    measures = run.json("compare", tiny, *runs, "--measures", "RR@10", "Coverage@1")["measures"]
    entry = measures["RR@10"]
    keys = {"difference", "low", "high", "p", "p_holm", "wins", "ties", "losses", "detectable"}
    assert set(entry) == keys
    # RR: 1 - 1 for q1, 1/2 - 0 for q2; whichever signs are flipped, the mean is 1/4 away from 0, so p = 1
    assert entry["difference"] == pytest.approx(0.25)
    assert (entry["wins"], entry["ties"], entry["losses"]) == (1, 1, 0)
    assert entry["p"] == entry["p_holm"] == 1
    assert (measures["Coverage@1"]["difference"], measures["Coverage@1"]["ties"]) == (0, 2)
    code, out, err = run("compare", tiny, *runs, "--measures", "RR@10")
    assert code == 0
    assert err.startswith("warning: beta: ")  # it lacks q2
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[1] == "alpha minus beta"
    assert lines[3] == "measure difference 95 % interval p p (Holm) wins ties losses detectable"
    assert lines[4].startswith("RR@10 +0.2500 +0.0000 to +0.5000 1.0000 1.0000 1 1 0 ")
    assert run("compare", tiny, *runs, "--measures", "Coverage@1")[1].endswith(
        "\nCoverage@1: identical on every query.\n"
    )
    assert lines[6].startswith("RR@10: no difference is shown: it is 0.2500, and 2 queries ")


def test_compare_needs_two_queries(run, tmp_path):
    write_tiny(tmp_path / "one", only="q1")
    code, out, err = run("compare", tmp_path / "one", *write_runs(tmp_path))
    assert (code, out) == (3, "")
    assert err.startswith("error: a comparison, expected at least two queries, got 1")


def test_compare_names_the_better_run(run, tmp_path):
    # ten queries with one document each: mine finds all, theirs finds none; of the 1024 ways to set ten signs two are
    # as extreme, so p = 2/1024, and the difference is 1
    from datetime import date

    from freshstack_datasets.records import Document, Judgment, Nugget, Query
    from freshstack_datasets.snapshot import write_snapshot

    ids = [str(i) for i in range(10)]
    write_snapshot(
        tmp_path / "ten",
        dataset="ten",
        snapshot="2024-10",
        license="MIT",
        created=date(2024, 10, 31),
        documents=[Document(i, "", "text") for i in ids],
        queries=[Query(i, "text") for i in ids],
        nuggets=[Nugget(i, i, 0, "fact") for i in ids],
        judgments=[Judgment(i, i, i, 1) for i in ids],
    )
    (tmp_path / "mine.json").write_text(json.dumps({i: {i: 1} for i in ids}), encoding="utf-8")
    (tmp_path / "theirs.json").write_text(json.dumps({i: {"x": 1} for i in ids}), encoding="utf-8")
    words = ["compare", tmp_path / "ten", tmp_path / "theirs.json", tmp_path / "mine.json", "--measures", "P@1"]
    entry = run.json(*words)["measures"]["P@1"]
    assert (entry["difference"], entry["wins"], entry["losses"]) == (-1, 0, 10)
    assert entry["p"] == pytest.approx(2 / 1024, rel=0.5)
    assert run(*words)[1].endswith("P@1: mine is better than theirs, by 1.0000.\n")
