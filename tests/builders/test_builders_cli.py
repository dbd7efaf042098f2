"""``python -m builders``: what it prints, where, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from builders.cli import main

SAMPLE = Path(__file__).parents[1] / "data" / "Posts.xml"
OPTIONS = ["--site", "bread.example.org", "--snapshot", "2024-04"]


def test_the_sample_dump_builds(tmp_path, capsys):
    assert main(["accepted-answers", str(SAMPLE), *OPTIONS, "--out", str(tmp_path / "bread")]) == 0
    out, err = capsys.readouterr()
    # counted in the file by hand: question 14 has no accepted answer, that of 18 is missing, answer 23 is empty
    assert "\n10 queries, 16 documents, CC-BY-SA-4.0\n" in out
    assert "31 rows, 12 questions, 17 answers" in out
    assert "1 question whose accepted answer is missing" in out
    assert err == ""


def test_json_is_one_object_on_standard_output(tmp_path, capsys):
    out = tmp_path / "bread"
    assert (
        main(["accepted-answers", str(SAMPLE), *OPTIONS, "--out", str(out), "--tags", "Sourdough,rye", "--json"]) == 0
    )
    printed, err = capsys.readouterr()
    told = json.loads(printed)
    assert told["path"] == str(out)
    assert (told["dataset"], told["snapshot"]) == ("bread.example.org", "2024-04")
    assert told["fingerprint"] == json.loads((out / "snapshot.json").read_text())["fingerprint"]
    assert told["tables"]["queries"] == {"rows": 1}  # 1; 18 lacks its accepted answer, 14 has none
    assert told["rows"]["answers"] == 17
    assert told["dropped"]["questions without any of the tags"] == 9
    assert err == ""


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["accepted-answers", "no.xml", *OPTIONS, "--out", "out"], "cannot read 'no.xml', expected the Posts.xml of"),
        (["accepted-answers", str(SAMPLE), *OPTIONS], "missing option '--out'"),
        (["accepted-answers", *OPTIONS, "--out", "out"], "missing argument"),
        (["accepted-answers", str(SAMPLE), *OPTIONS, "--out", "out", "--what"], "no such option: --what"),
        (["accepted-answers", str(SAMPLE), *OPTIONS, "--out", "out", "--min-score", "x"], "--min-score"),
        (["accepted-answers", str(SAMPLE), *OPTIONS, "--out", "out", "--from", "x"], "--from, expected a day"),
        (["accepted-answers", str(SAMPLE), *OPTIONS, "--out", "out", "--min-score", "99"], "12 questions with a score"),
        (["accepted-answer"], "no such command"),
    ],
)
def test_what_goes_wrong_is_one_line_and_exit_code_2(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err.lower() or message in err
    assert list(tmp_path.iterdir()) == []


def test_a_traceback_comes_only_when_asked_for(tmp_path, capsys):
    arguments = ["accepted-answers", str(tmp_path), *OPTIONS, "--out", str(tmp_path / "out")]
    assert main([*arguments, "--verbose"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_the_help_of_a_command_of_several_arguments_shows_no_type_of_python_s(capsys):
    for command in (["audit", "score"], ["stats"]):
        assert main([*command, "--help"]) == 0
        out = capsys.readouterr().out
        assert "list[" not in out
        assert " …  " in out.partition("Arguments:")[2]


def test_help_shows_an_example_and_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "builders", "accepted-answers", "--help"],
        cwd=SAMPLE.parents[2],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", "COLUMNS": "300"},
    )
    assert "Example: python -m builders accepted-answers Posts.xml --site coffee.stackexchange.com" in done.stdout
    assert done.stderr == ""


def test_a_snapshot_that_is_older_than_its_posts_is_remarked_on(tmp_path, capsys):
    options = ["--site", "bread.example.org", "--snapshot", "2023-12", "--out", str(tmp_path / "bread")]
    assert main(["accepted-answers", str(SAMPLE), *options]) == 0
    # the newest post of the sample is of 2024-04-19
    assert capsys.readouterr().err == (
        "warning: the dump has posts of 2024-04, later than the snapshot's name, 2023-12\n"
    )
