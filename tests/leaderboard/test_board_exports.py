"""Boards for other programs, read back by the readers of others."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from freshstack_datasets.cli import app, console
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.boards.published import read_published
from leaderboard.boards.reading import read_board
from leaderboard.cli import main
from leaderboard.exports import FORMATS, board_bibtex, board_csv, board_json, board_markdown, left_out, published_json
from leaderboard.verdicts.deciding import decide
from tests.leaderboard.made import BOARD, HOSTILE, SNAPSHOT, entry_of, made_board

OURS = SUBMISSIONS / "freshstack" / "2024-10"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return made_board(tmp_path_factory.mktemp("made"), systems=6, topics=2, hostile=True)


@pytest.fixture(scope="module")
def board(root):
    return read_board(root / BOARD / SNAPSHOT)


@pytest.fixture(scope="module")
def verdicts(board):
    return decide(board, resamples=200)


def lines_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_line_for_each_system_scope_and_measure_with_every_digit(board, verdicts):
    lines = lines_of(board_csv(board, verdicts))
    assert len(lines) == 6 * 3 * 3
    for line in lines:
        entry = board.entry(line["id"])
        score = entry.scores(line["scope"]).measures[line["measure"]]
        assert [float(line[key]) for key in ("value", "low", "high")] == [score.value, score.low, score.high]
        assert float(line["judged_20"]) == entry.scores(line["scope"]).judged["Judged@20"]
        assert bool(line["rank"]) == entry.ranked
    assert {line["trained_on_benchmark"] for line in lines} == {"no", "unknown"}


def test_csv_and_json_say_the_same(board, verdicts):
    told = {system["id"]: system for system in json.loads(board_json(board, verdicts))["systems"]}
    for line in lines_of(board_csv(board, verdicts)):
        system = told[line["id"]]
        scores = system["scores"][line["scope"]]
        assert float(line["value"]) == scores["measures"][line["measure"]]["value"]
        assert float(line["condensed"]) == scores["condensed"][line["measure"]]
        assert line["kind"] == system["kind"]
        assert (line["parameters"] or None) == (None if system["parameters"] is None else str(system["parameters"]))


def test_json_has_the_verdicts_with_the_standing_of_every_tested_system(board, verdicts):
    told = json.loads(board_json(board, verdicts))
    (verdict,) = (one for one in told["verdicts"] if (one["scope"], one["measure"]) == ("macro", "Recall@50"))
    found = verdicts.verdicts["macro", "Recall@50"]
    assert [one["entry_id"] for one in verdict["standings"]] == [one.entry_id for one in found.standings]
    assert len(verdict["pairs"]) == 5 * 4 / 2
    assert verdict["holm"] == dict(found.holm)
    assert told["topics"][0]["fingerprint"] == board.topics[0].fingerprint
    assert told["resamples"] == 200


def test_json_has_the_scores_before_and_after_the_end_of_training_that_were_computed(board, verdicts):
    told = {system["id"]: system["cutoff"] for system in json.loads(board_json(board, verdicts))["systems"]}
    known = 0
    for entry in board.entries:
        topics = json.loads((entry.folder / "scores.json").read_text(encoding="utf-8"))["topics"]
        computed = {name: topic["cutoff"] for name, topic in topics.items() if topic["cutoff"] is not None}
        assert told[entry.entry_id].keys() == computed.keys()
        for name, expected in computed.items():
            found, known = told[entry.entry_id][name], known + 1
            assert (found["date"], found["undated"]) == (expected["date"], expected["undated"])
            for part in ("before", "after"):
                assert found[part]["queries"] == expected[part]["queries"]
                values = {measure: score["value"] for measure, score in found[part]["measures"].items()}
                assert values == {measure: score["value"] for measure, score in expected[part]["measures"].items()}
    assert known, "some system says when its training ended"


def test_hostile_text_stays_within_its_cell(board, verdicts):
    names = {entry.name for entry in board.entries}
    assert {line["name"].removeprefix("'") for line in lines_of(board_csv(board, verdicts))} == names
    formula = next(line["name"] for line in lines_of(board_csv(board, verdicts)) if "=1+1" in line["name"])
    assert formula.startswith("'")  # no spreadsheet computes it
    assert {system["name"] for system in json.loads(board_json(board, verdicts))["systems"]} == names
    rows = [line for line in board_markdown(board, verdicts).splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 6
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8}
    assert not re.search(r"(?<!\\)<", board_markdown(board, verdicts))


def test_bibtex_has_an_entry_for_the_board_the_paper_and_each_system(board, verdicts):
    text = board_bibtex(board, verdicts)
    keys = re.findall(r"^@misc\{([^,]+),$", text, re.MULTILINE)
    assert keys[:2] == [f"{BOARD}-{SNAPSHOT}", "thakur2025freshstack"]
    assert keys[2:] == [f"{BOARD}-{SNAPSHOT}-{entry.entry_id}" for entry in board.entries]
    assert text.count("{") == text.count("}")  # BibTeX counts those behind a backslash, too
    assert HOSTILE not in text  # its braces and its dollar are escaped


def test_an_unknown_value_is_empty_and_never_zero(board, verdicts):
    line = next(line for line in lines_of(board_csv(board, verdicts)) if line["id"] == entry_of(3))
    assert (line["parameters"], line["latency_ms"], line["reproduced"]) == ("", "", "")
    (system,) = (one for one in json.loads(board_json(board, verdicts))["systems"] if one["id"] == entry_of(3))
    assert (system["parameters"], system["latency_ms"], system["reproduced"]) == (None, None, None)


def test_the_published_schema_gives_the_forty_rows_back(tmp_path):
    board = read_board(OURS)
    path = tmp_path / "leaderboard_data.json"
    path.write_text(published_json(board, decide(board)), encoding="utf-8")
    ours = {row.info.name: row for row in read_published(path).leaderboardData}
    theirs = json.loads((OURS / "reported.json").read_text(encoding="utf-8"))["rows"]
    assert len(ours) == 40
    for row in theirs:
        found = ours[row["info"]["name"]]
        assert found.datasets == row["datasets"]
        assert (found.info.type, found.info.link) == (row["info"]["type"], row["info"]["link"])
    # What the published file says of it is put right: MTEB says 305 million.
    assert ours["Arctic Embed M (v2.0)"].info.size == "305M"


def test_the_published_schema_has_these_keys_in_this_order():
    board = read_board(OURS)
    told = json.loads(published_json(board, decide(board)))
    assert list(told) == ["leaderboardData"]
    for row in told["leaderboardData"]:
        assert list(row) == ["info", "datasets"]
        assert list(row["info"]) == ["name", "size", "type", "date", "link"]
        assert list(row["datasets"]) == ["langchain", "yolo", "laravel", "angular", "godot", "average"]
        assert {tuple(values) for values in row["datasets"].values()} == {("alpha_ndcg_10", "coverage_20", "recall_50")}
        assert re.fullmatch(r"-|[0-9]+(\.[0-9]+)?[BMK]", row["info"]["size"])


def test_scored_systems_are_in_the_published_schema_with_three_decimals(board, verdicts, tmp_path):
    path = tmp_path / "leaderboard_data.json"
    path.write_text(published_json(board, verdicts), encoding="utf-8")
    rows = read_published(path).leaderboardData
    for row, entry in zip(rows, board.entries, strict=True):
        assert row.datasets["average"]["recall_50"] == round(entry.macro.measures["Recall@50"].value, 3)
        assert row.info.type == {"oracle": "upper_baseline"}.get(
            entry.setting, "open_source" if entry.openness == "open" else "proprietary"
        )


def test_a_system_that_lacks_a_topic_is_left_out_of_the_published_schema(root, board, verdicts):
    from dataclasses import replace

    entry = replace(board.entries[0], macro=None, topics={"alpha": board.entries[0].topics["alpha"]})
    lacking = replace(board, entries=(entry, *board.entries[1:]))
    assert left_out(lacking) == [entry]
    assert len(json.loads(published_json(lacking, verdicts))["leaderboardData"]) == 5


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_is_the_same_bytes_each_time(board, verdicts, form):
    make = FORMATS[form][1]
    assert make(board, verdicts) == make(board, verdicts)


def test_the_command_writes_a_file_or_prints(root, tmp_path, capsys):
    typed = ["export", f"{BOARD}/{SNAPSHOT}", "--root", str(root)]
    assert main([*typed, "--format", "csv"]) == 0
    assert len(lines_of(capsys.readouterr().out)) == 54
    out = tmp_path / "leaderboard_data.json"
    assert main([*typed, "--format", "published", "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "out": str(out), "format": "published", "board": BOARD, "snapshot": SNAPSHOT, "systems": 6,
    }  # fmt: skip
    assert len(read_published(out).leaderboardData) == 6
    assert main([*typed, "--json"]) == 2
    assert "--format json prints the board" in capsys.readouterr().err
    assert main(["export", "nimbus/1999-01", "--root", str(root)]) == 2


def test_a_file_in_a_folder_that_is_missing_gets_it_as_a_run_of_retrieve_does(root, tmp_path):
    typed = ["export", f"{BOARD}/{SNAPSHOT}", "--root", str(root), "--out"]
    assert main([*typed, str(tmp_path / "for" / "board" / "board.csv")]) == 0
    run = tmp_path / "for" / "run" / "nimbus.trec"
    retrieve = ["retrieve", "nimbus", "--retriever", "bm25", "--out", str(run)]
    assert console.run(app, retrieve, name="freshstack") == 0
    assert len(lines_of((tmp_path / "for" / "board" / "board.csv").read_text(encoding="utf-8"))) == 54
    assert run.is_file()


def test_a_board_without_systems_is_exported_too(root, tmp_path):
    from dataclasses import replace

    board = replace(read_board(root / BOARD / SNAPSHOT), entries=(), baseline=None)
    verdicts = decide(board, resamples=50)
    assert json.loads(published_json(board, verdicts)) == {"leaderboardData": []}
    assert json.loads(board_json(board, verdicts))["systems"] == []
    assert lines_of(board_csv(board, verdicts)) == []
    assert Path(root).is_dir()
