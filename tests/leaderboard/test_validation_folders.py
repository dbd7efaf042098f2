"""What validate finds in folders and in submission.yaml."""

import datetime
import os
import shutil
from pathlib import Path

import pytest

from leaderboard.validation import validate
from tests.leaderboard import made
from tests.leaderboard.validating import ENTRY, codes, copied, edit, found, report_of, retell


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    root = tmp_path_factory.mktemp("board")
    made.made_board(root)
    return root


@pytest.fixture
def folder(board, tmp_path):
    return copied(board, tmp_path)


def test_all_submissions_of_a_board_and_of_all_boards_are_looked_at(folder):
    labels = sorted(str(path) for path in folder.parent.iterdir() if path.is_dir())
    for path in (folder.parent, folder.parents[1], folder.parents[2]):
        assert sorted(report_of(path).checked) == labels
    assert report_of(folder, folder.parent).checked == (str(folder), *(one for one in labels if one != str(folder)))


def test_the_folder_one_is_in_and_its_run_files_can_be_named(folder, monkeypatch):
    monkeypatch.chdir(folder)
    edit(folder / "alpha.trec", lambda lines: lines[3].__setitem__(4, "nan"))
    assert [(one.code, one.file) for one in report_of(Path()).findings] == [("E310", "./alpha.trec")]
    assert [(one.code, one.file) for one in report_of(Path("alpha.trec")).findings] == [("E310", "alpha.trec")]


def test_a_path_where_nothing_is_and_one_of_no_run_are_told_so(tmp_path):
    (tmp_path / "notes.md").write_text("no run")
    report = report_of(tmp_path / "nowhere", tmp_path / "notes.md", Path("nul\0"))
    assert [code for code, _, _ in found(report)] == ["E101", "E101", "E101"]
    assert report.checked == ()


@pytest.mark.parametrize("name", ["acme-bm25", "20261301-acme-bm25", "20261103-Acme-bm25", "20261103-acme", "x" * 200])
def test_a_folder_of_another_name_is_refused(folder, name):
    assert "E102" in codes(report_of(folder.rename(folder.parent / name)))


def test_a_folder_of_no_board_is_refused_and_looked_at_all_the_same(folder, tmp_path):
    away = shutil.copytree(folder, tmp_path / "away" / ENTRY)
    edit(away / "alpha.trec", lambda lines: lines[3].__setitem__(4, "nan"))
    report = report_of(away, root=folder.parents[2])
    assert {"E103", "E310"} <= codes(report)
    assert "made/2026-10" in next(one.expected for one in report.findings if one.code == "E103")
    assert "E103" not in codes(report_of(away, board=folder.parent))


def test_a_board_that_cannot_be_read_is_told(folder):
    (folder.parent / "board.yaml").write_text("title: [")
    assert "E103" in codes(report_of(folder))


def _link(folder):
    (folder / "alpha.trec").unlink()
    (folder / "alpha.trec").symlink_to("/etc/passwd")


def _link_to_metadata(folder):
    (folder / "submission.yaml").rename(folder.parent / "elsewhere.yaml")
    (folder / "submission.yaml").symlink_to("../elsewhere.yaml")


def _pipe(folder):
    (folder / "alpha.trec").unlink()
    os.mkfifo(folder / "alpha.trec")


def _folder(folder):
    (folder / "beta.json").mkdir()


@pytest.mark.parametrize("spoil", [_link, _link_to_metadata, _pipe, _folder])
def test_what_is_no_plain_file_is_refused_and_not_opened(folder, spoil):
    spoil(folder)
    assert codes(report_of(folder)) == {"E106"}  # and what was refused is not told to be missing


def test_runs_that_are_all_refused_are_not_told_to_be_missing(folder):
    _link(folder)
    (folder / "beta.trec").unlink()
    (folder / "beta.trec").symlink_to("/dev/zero")
    assert found(report_of(folder)) == [("E106", "alpha.trec", 0), ("E106", "beta.trec", 0)]


def test_a_submission_or_a_run_that_is_a_link_is_refused(folder, tmp_path):
    (tmp_path / ENTRY).symlink_to(folder)
    (tmp_path / "alpha.trec").symlink_to(folder / "alpha.trec")
    report = report_of(tmp_path / ENTRY, tmp_path / "alpha.trec", board=folder.parent)
    assert [one.code for one in report.findings] == ["E106", "E106"]


def _without_runs(folder):
    (folder / "alpha.trec").unlink()
    (folder / "beta.trec").unlink()


@pytest.mark.parametrize(
    "spoil, finding",
    [
        (lambda folder: (folder / "notes.md").write_text("hello"), ("E105", "notes.md", 0)),
        (lambda folder: (folder / "alpha.trec.bz2").write_text("hello"), ("E105", "alpha.trec.bz2", 0)),
        (lambda folder: _large(folder / "alpha.trec"), ("E107", "alpha.trec", 0)),
        (_without_runs, ("E108", ENTRY, 0)),
        (lambda folder: shutil.copy(folder / "alpha.trec", folder / "alpha.run"), ("E109", ENTRY, 0)),
        (lambda folder: (folder / "alpha.trec").rename(folder / "alfa.trec"), ("E110", "alfa.trec", 0)),
        (lambda folder: (folder / "beta.trec").unlink(), ("W111", ENTRY, 0)),
        (lambda folder: (folder / "submission.yaml").unlink(), ("E201", ENTRY, 0)),
    ],
)
def test_a_folder_that_holds_too_much_or_too_little_is_told(folder, spoil, finding):
    spoil(folder)
    report = report_of(folder)
    assert finding in found(report)
    assert report.ok == finding[0].startswith("W")


def _large(path):
    with path.open("r+b") as file:
        file.truncate(50_000_001)  # no disk is taken


def test_scores_are_refused_only_where_they_are_handed_in(folder):
    assert (folder / "scores.json").is_file()
    assert report_of(folder).ok  # as a board has it; pull requests have a test of their own


@pytest.mark.parametrize(
    "text, code",
    [
        ("a: &a [1, 1]\nb: [*a, *a, *a]\n", "E202"),
        ("a: !!python/object/apply:os.system ['true']\n", "E202"),
        ("[" * 100_000, "E202"),
        ("- a\n- b\n", "E202"),
        ("a: 1\na: 2\n", "E202"),
        ("", "E202"),
        ("schema_version: 1\n", "E205"),
        ("# " + "x" * 300_000, "E202"),
    ],
)
def test_yaml_that_is_no_submission_is_refused(folder, text, code):
    (folder / "submission.yaml").write_text(text)
    assert code in codes(report_of(folder))


def test_bytes_that_are_no_text_are_refused_with_their_line(folder):
    (folder / "submission.yaml").write_bytes(b"schema_version: 1\nteam: \xff\n")
    assert ("E202", "submission.yaml", 2) in found(report_of(folder))


def _line_of(folder, text):
    lines = (folder / "submission.yaml").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize(
    "change, code, line",
    [
        (lambda told: told["system"].update(kind="magic"), "E203", "kind: magic"),
        (lambda told: told["system"].update(url="javascript:alert(1)"), "E203", "javascript"),
        (lambda told: told["team"].update(scores=1.0), "E204", "scores"),
        (lambda told: told["team"].pop("contact"), "E205", "team:"),
        (lambda told: told["team"].update(name="TODO"), "E206", "TODO"),
        (lambda told: told["reproduce"].update(command="freshstack retrieve x --query answer"), "E207", "setting:"),
        (lambda told: told.update(date=told["date"].replace(day=4)), "E208", "date:"),
        (lambda told: told["models"][0].update(parameters=None), "W209", "parameters:"),
        (lambda told: told["models"][0].update(license=None), "W210", "license: null"),
        (lambda told: told["training"].update(on_benchmark="unknown"), "W211", "on_benchmark"),
    ],
)
def test_what_submission_yaml_says_is_told_with_its_line(folder, change, code, line):
    retell(folder, change)
    report = report_of(folder)
    assert found(report) == [(code, "submission.yaml", _line_of(folder, line))]


def test_scores_in_submission_yaml_are_told_to_be_computed_and_not_taken_for_another_key(folder):
    retell(folder, lambda told: told.update(scores={"alpha": 0.9}))
    (told,) = report_of(folder).findings
    assert (told.code, told.fix) == ("E204", "leave it out: scores are computed from the runs")


def test_all_faults_of_submission_yaml_are_told_at_once(folder):
    def change(told):
        told["team"]["name"] = "TODO"
        told["system"]["kind"] = "magic"
        told["colour"] = "red"

    retell(folder, change)
    assert codes(report_of(folder)) == {"E203", "E204", "E206"}


def test_a_run_whose_tag_says_oracle_must_be_declared_as_one(folder):
    edit(folder / "alpha.trec", lambda lines: [line.__setitem__(5, "bm25-answer-oracle") for line in lines])
    assert ("E207", "alpha.trec", 1) in found(report_of(folder))
    retell(folder, lambda told: told["system"].update(setting="oracle"))
    assert "E207" not in codes(report_of(folder))


def test_a_submission_of_tomorrow_is_refused(folder):
    assert validate([folder], today=datetime.date(2026, 11, 2)).ok  # it is the third there where days begin early
    assert "E203" in codes(validate([folder], today=datetime.date(2026, 11, 1)))
