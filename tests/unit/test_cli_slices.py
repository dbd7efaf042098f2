"""evaluate --by, on a benchmark whose values are worked out by hand."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from tests.unit.cli_tiny import EVIL, Terminal, write_runs, write_tiny

# Query "01" to "24": 20 paraphrase, 2 exact, 1 noise, 1 without a type. Each has one nugget, that document "right"
# states. The run finds it first for "01" to "10" and for "21", second for "22", not for the others. So RR@10 is
#   paraphrase 10 of 20: 0.5          exact (1 + 1/2) / 2: 0.75, between 0.5 and 1
#   noise ("23") 0                    none ("24") 0                    all (10 + 1 + 1/2) / 24 = 0.479166…
TYPES = ["paraphrase"] * 20 + ["exact"] * 2 + ["noise", None]
IDS = [f"{number:02}" for number in range(1, 25)]
FOUND = {query_id: {"right": 1} for query_id in [*IDS[:10], "21"]} | {"22": {"wrong": 2, "right": 1}, "24": {}}
MARKED = (
    "* fewer than 20 queries: a single one can move the mean by more than 0.05, "
    "so differences between such slices say little"
)
KEYS = ["dataset", "snapshot", "fingerprint", "system", "queries", "ties", "measures"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capsys)


def write_typed(folder: Path, columns: dict[str, list[Any]]) -> Path:
    """Write a snapshot whose queries have the given values."""
    number = len(next(iter(columns.values())))
    ids = IDS[:number]
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    write_snapshot(
        folder,
        dataset="tests/typed",
        snapshot="2026-11",
        license="MIT",
        created=date(2026, 11, 30),
        documents=[Document("right", "", "text"), Document("wrong", "", "text")],
        queries=[Query(query_id, "text", **row) for query_id, row in zip(ids, rows, strict=True)],
        nuggets=[Nugget(f"n{query_id}", query_id, 0, "fact") for query_id in ids],
        judgments=[Judgment(query_id, f"n{query_id}", "right", 1) for query_id in ids],
    )
    return folder


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    return write_typed(tmp_path / "typed", {"type": TYPES})


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(FOUND), encoding="utf-8")
    return path


def lines_of(out: str) -> list[str]:
    return [" ".join(line.split()) for line in out.splitlines()]


def test_every_measure_is_printed_for_all_queries_and_for_each_slice(run, typed, mine):
    code, out, _ = run("evaluate", typed, "--run", mine, "--measures", "RR@10", "Success@1", "--by", "type")
    assert code == 0
    lines = lines_of(out)
    assert lines[0].endswith(", 24 queries")
    assert lines[2] == "system measure type queries value 95 % interval"
    whole, whole_success = lines[3], lines[8]
    assert whole.startswith("mine RR@10 all 24 0.4792 0.")
    assert lines[4] == "exact *2 0.7500 0.5000 to 1.0000"
    assert lines[5] == "noise *1 0.0000 -"
    # 20 values, half of them 1 and half 0: their mean spreads by sqrt(1/4 / 20) = 0.11, so 0.5 +- 0.22, in steps of
    # 1/20
    assert lines[6] in [f"paraphrase 20 0.5000 0.{low}00 to 0.{high}00" for low in (25, 30) for high in (70, 75)]
    assert lines[7] == "(none) *1 0.0000 -"
    assert whole_success.startswith("Success@1 all 24 0.4583 0.")  # 11 of 24
    assert lines[9] == "exact *2 0.5000 0.0000 to 1.0000"
    assert lines[12:] == ["(none) *1 0.0000 -", MARKED, "", "mine: 1 of the 13 documents in the top 10 is unjudged"]


def test_the_row_of_all_queries_is_that_of_the_table_without_slices(run, typed, mine):
    plain = lines_of(run("evaluate", typed, "--run", mine)[1])
    with_slices = lines_of(run("evaluate", typed, "--run", mine, "--by", "type")[1])
    wholes = [line.replace(" all 24 ", " ") for line in with_slices if " all 24 " in line]
    assert wholes == plain[3:6]
    assert (with_slices[0], with_slices[-1]) == (plain[0], plain[-1])


def test_numbers_stand_below_each_other(run, typed, mine):
    out = run("evaluate", typed, "--run", mine, "--measures", "RR@10", "--by", "type")[1].splitlines()
    assert out[2] == "system  measure  type        queries   value     95 % interval"
    assert out[4] == "                 exact            *2  0.7500  0.5000 to 1.0000"
    assert out[5] == "                 noise            *1  0.0000                 -"
    assert out[6].startswith("                 paraphrase       20  0.5000  0.")


def test_json_has_the_slices_beside_what_it_always_has(run, typed, mine):
    (plain,) = run.json("evaluate", typed, "--run", mine, "--measures", "RR@10")["results"]
    (entry,) = run.json("evaluate", typed, "--run", mine, "--measures", "RR@10", "--by", "type")["results"]
    assert list(plain) == KEYS
    assert list(entry) == [*KEYS, "by", "slices"]
    assert {key: entry[key] for key in KEYS} == plain
    assert entry["by"] == "type"
    exact, noise, paraphrase, none = entry["slices"]
    one = {"value": 0.0, "low": None, "high": None}
    assert exact == {
        "value": "exact",
        "queries": 2,
        "few": True,
        "measures": {"RR@10": {"value": 0.75, "low": 0.5, "high": 1.0}},
    }
    assert noise == {"value": "noise", "queries": 1, "few": True, "measures": {"RR@10": one}}
    assert none == {"value": None, "queries": 1, "few": True, "measures": {"RR@10": one}}
    assert (paraphrase["value"], paraphrase["queries"], paraphrase["few"]) == ("paraphrase", 20, False)
    assert paraphrase["measures"]["RR@10"]["value"] == 0.5


def test_slices_of_several_systems_stand_below_each_other(run, tmp_path):
    write_tiny(tmp_path / "tiny")
    runs = write_runs(tmp_path)
    words = ["evaluate", tmp_path / "tiny", "--run", *runs, "--measures", "RR@10", "--by", "nuggets"]
    lines = lines_of(run(*words)[1])
    # q1 has two nuggets and q2 one; alpha is right at rank 1 and 2, beta at rank 1 and lacks q2
    assert lines[3:10] == [
        "alpha RR@10 all *2 0.7500 0.5000 to 1.0000",
        "1 *1 0.5000 -",
        "2 *1 1.0000 -",
        "beta RR@10 all *2 0.5000 0.0000 to 1.0000",
        "1 *1 0.0000 -",
        "2 *1 1.0000 -",
        MARKED,
    ]
    results = run.json(*words)["results"]
    assert [[part["value"] for part in entry["slices"]] for entry in results] == [[1, 2], [1, 2]]
    assert [entry["slices"][0]["measures"]["RR@10"]["value"] for entry in results] == [0.5, 0.0]


def test_slices_of_twenty_queries_or_more_need_no_mark(run, tmp_path, mine):
    typed = write_typed(tmp_path / "even", {"type": ["paraphrase"] * 20})
    out = run("evaluate", typed, "--run", mine, "--by", "type")[1]
    assert "*" not in out


def test_by_tags_says_that_slices_overlap(run, tmp_path, mine):
    note = "the slices overlap: a query with several tags counts in the slice of each"
    typed = write_typed(tmp_path / "tagged", {"tags": [("io", "rust"), ("io",), ("rust",)]})
    lines = lines_of(run("evaluate", typed, "--run", mine, "--measures", "P@1", "--by", "tags")[1])
    assert lines[3:8] == [
        "mine P@1 all *3 1.0000 1.0000 to 1.0000",
        *(f"{tag} *2 1.0000 1.0000 to 1.0000" for tag in ("io", "rust")),
        MARKED,
        note,
    ]
    apart = write_typed(tmp_path / "apart", {"tags": [("io",), ("rust",)]})
    assert note not in run("evaluate", apart, "--run", mine, "--by", "tags")[1]


def test_a_single_query_has_no_interval_anywhere_in_the_table(run, tmp_path, mine):
    typed = write_typed(tmp_path / "one", {"type": ["exact"]})
    lines = lines_of(run("evaluate", typed, "--run", mine, "--measures", "P@1", "--by", "type")[1])
    assert lines[3:5] == ["mine P@1 all *1 1.0000 -", "exact *1 1.0000 -"]


def test_a_column_without_values_is_warned_of_with_those_that_have_some(run, tmp_path, mine):
    typed = write_typed(tmp_path / "bare", {"difficulty": ["easy", None], "score": [None, 3]})
    said = "warning: the queries of this dataset have no type; columns that have values: score, difficulty, nuggets\n"
    words = ["evaluate", typed, "--run", mine, "--measures", "P@1", "--by", "type"]
    code, out, err = run(*words)
    assert code == 0
    assert err.endswith(said)
    assert lines_of(out)[4] == "(none) *2 1.0000 1.0000 to 1.0000"
    (entry,) = run.json(*words)["results"]
    assert [(part["value"], part["queries"]) for part in entry["slices"]] == [(None, 2)]
    assert "have no" not in run(*words[:-1], "score")[2]


@pytest.mark.parametrize("by", ["tpye", "_id", "\x1b[2J"])
def test_an_unknown_column_is_one_line_before_anything_is_opened(run, by):
    code, out, err = run("evaluate", "no such folder", "--run", "missing.trec", "--by", by)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: unknown column of the queries {by!r}; known: query_id, text, ")
    assert err.endswith(", type, difficulty, nuggets\n")


def test_foreign_values_are_harmless_in_the_table_and_whole_in_json(run, tmp_path, mine):
    long = "word " * 500
    given = [EVIL, long, "", " \n", "all", "(none)", None]
    typed = write_typed(tmp_path / "foreign", {"type": given})
    words = ["evaluate", typed, "--run", mine, "--measures", "P@1", "--by", "type"]
    code, out, _ = run(*words)
    assert code == 0
    assert "\x1b" not in out
    assert "\u202e" not in out
    rows = [line.rsplit(" *1 ", 1)[0] for line in lines_of(out) if line.endswith(" *1 1.0000 -")]
    # in the order of their characters: "", space and line break, "(", "P", "a", "w"; what has no value comes last
    shortened = "word " * 7 + "word…"
    evil = r"Pressure \x1b]0;owned\x07[bold]matters[/bold] \u202ehere"[:39] + "…"
    assert rows == ["''", r"' \n'", "'(none)'", evil, "'all'", shortened, "(none)"]
    (entry,) = run.json(*words)["results"]
    assert [part["value"] for part in entry["slices"]] == ["", " \n", "(none)", EVIL, "all", long, None]


def test_values_that_nobody_sees_are_written_as_numbers(run, tmp_path, mine):
    # zero-width space, word joiner and byte order mark, no-break space; of "e" with a mark above, the mark is seen
    typed = write_typed(tmp_path / "unseen", {"type": ["\u200b", "\u2060 \ufeff", "\xa0", "e\u0301\u200b"]})
    out = run("evaluate", typed, "--run", mine, "--measures", "P@1", "--by", "type")[1]
    rows = [line.rsplit(" *1 ", 1)[0] for line in lines_of(out) if line.endswith(" *1 1.0000 -")]
    assert rows == ["e\u0301\u200b", r"'\xa0'", r"'\u200b'", r"'\u2060 \ufeff'"]


def test_per_query_values_are_the_same_with_slices(run, typed, mine, tmp_path):
    plain, with_slices = tmp_path / "plain.csv", tmp_path / "slices.csv"
    run("evaluate", typed, "--run", mine, "--per-query", plain)
    run("evaluate", typed, "--run", mine, "--per-query", with_slices, "--by", "type")
    assert plain.read_bytes() == with_slices.read_bytes()
    assert plain.read_text().count("\n") == 25
