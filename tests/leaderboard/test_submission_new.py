"""``python -m leaderboard new``: what it asks, what it writes, and what it leaves alone."""

import datetime
import io
import json
import re
import sys

import pytest

from leaderboard.boards.places import SUBMISSIONS
from leaderboard.cli import main
from leaderboard.submission.new import Answers, submission_text
from leaderboard.submission.reading import faults_of, read_submission
from leaderboard.submission.schema import FILE

COMMIT = "0123456789abcdef0123456789abcdef01234567"
BOARD = """\
title: Bread
about: It is about bread.
measures: [alpha_nDCG@10]
baseline: null
topics:
"""
OPTIONS = {
    "--team": "Acmé & Co.",
    "--contact": "ir@acme.io",
    "--name": "Acme Search v2.0",
    "--kind": "sparse",
    "--on-benchmark": "no",
    "--on-its-questions-site": "unknown",
    "--repository": "https://acme.io/runs",
    "--commit": COMMIT,
    "--command": "make runs\nmake sure",
}
FIELDS = {"team", "contact", "name", "kind", "on_benchmark", "on_its_questions_site", "repository", "commit", "command"}
TODAY = datetime.datetime.now(datetime.UTC).date


@pytest.fixture
def root(tmp_path):
    """A folder of a board with one topic, and of one with two."""
    for name, topics in (("bread", ["rye"]), ("cake", ["plum", "apple"])):
        folder = tmp_path / "submissions" / name / "2026-11"
        folder.mkdir(parents=True)
        lines = "".join(
            f"  - {{name: {topic}, title: T, dataset: freshstack/{topic}, fingerprint: null}}\n" for topic in topics
        )
        (folder / "board.yaml").write_text(BOARD + lines, encoding="utf-8")
    (tmp_path / "rye.trec").write_text("q1 Q0 d1 1 1 x\n", encoding="utf-8")
    return tmp_path / "submissions"


@pytest.fixture
def typing(monkeypatch):
    """Type lines at the questions."""
    return lambda *lines: monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def run(root, *words: str, board: str = "bread/2026-11", without: tuple[str, ...] = (), **changes: str) -> int:
    told = {name: value for name, value in OPTIONS.items() if name not in without}
    told |= {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
    options = [word for pair in told.items() for word in pair]
    return main(["new", board, "--root", str(root), "--no-input", *options, *words])


def the_one(root, board: str = "bread/2026-11"):
    (folder,) = (path for path in (root / board).iterdir() if path.is_dir())
    return folder


def test_options_say_everything_and_run_files_come_along(root, capsys):
    day = TODAY()
    assert (
        run(root, "--run", str(root.parent / "rye.trec"), "--component", "bm25", "expansion", hardware="2 cores") == 0
    )
    folder = the_one(root)
    assert re.fullmatch(r"[0-9]{8}-acme-co-acme-search-v2\.0", folder.name)
    assert (folder / "rye.trec").read_text() == "q1 Q0 d1 1 1 x\n"
    found = read_submission(folder / "submission.yaml")
    assert day <= found.date <= TODAY()
    assert folder.name.startswith(f"{found.date:%Y%m%d}-")
    assert (found.team.name, found.team.contact, found.system.name) == ("Acmé & Co.", "ir@acme.io", "Acme Search v2.0")
    assert (found.system.kind, found.system.setting, found.models) == ("sparse", "inference", ())
    assert found.system.components == ("bm25", "expansion")
    assert (found.training.on_benchmark, found.training.on_its_questions_site) == ("no", "unknown")
    assert (found.reproduce.commit, found.reproduce.command) == (COMMIT, "make runs\nmake sure")
    assert (found.hardware, found.latency, found.license) == ("2 cores", None, "CC-BY-4.0")
    out, err = capsys.readouterr()
    assert out == (
        f"{folder}/submission.yaml: Acme Search v2.0 of Acmé & Co., with 1 run file\n"
        f"next: python -m leaderboard validate {folder}\n"
    )
    assert err == ""


def test_what_nobody_says_waits_in_the_file_and_is_told_by_line(root, capsys):
    words = ["new", "bread/2026-11", "--root", str(root), "--team", "Acme", "--name", "Bm", "--no-input", "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    path = the_one(root) / "submission.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    assert told["path"] == str(path)
    assert told["runs"] == []
    assert [one["place"] for one in told["left"]] == [
        "team.contact",
        "system.kind",
        *("models[0].id", "models[0].revision", "models[0].parameters", "models[0].license"),
        *("training.on_benchmark", "training.on_its_questions_site"),
        *("reproduce.repository", "reproduce.commit", "reproduce.command"),
    ]
    assert all("ENTER_VALUE_HERE" in lines[one["line"] - 1] for one in told["left"])
    assert {fault.kind for fault in faults_of(path.read_bytes())} == {"placeholder"}


def test_what_no_option_says_is_asked_for_until_the_answer_will_do(root, typing, capsys):
    typing("", "Acme", "Dough", "nobody", "https://acme.io", "magic", "sparse", "no", "yes", "", COMMIT[:7], "", "", "")
    assert main(["new", "bread/2026-11", "--root", str(root)]) == 0
    asked = capsys.readouterr().err
    assert "What your team is called: the answer, expected a line of 1 to 200 characters, got ''" in asked
    assert "published: the answer, expected an e-mail address" in asked
    assert "llm: the answer, expected sparse, dense" in asked
    assert "the answer, expected a whole commit, 40 digits from 0 to f, got '0123456'" in asked
    text = (the_one(root) / "submission.yaml").read_text(encoding="utf-8")
    assert "contact: https://acme.io\n" in text
    assert "on_benchmark: 'no'\n" in text
    assert "on_its_questions_site: 'yes'\n" in text
    assert [fault.place for fault in faults_of(text.encode())] == [
        *("reproduce.repository", "reproduce.commit", "reproduce.command")
    ]


def test_models_are_imported_from_mteb(root, tmp_path):
    meta = {"name": "acme/e", "revision": "7", "n_parameters": 22_713_216, "license": "mit", "embed_dim": 384}
    meta |= {"training_datasets": ["NQ", "FreshStackRetrieval"], "release_date": "2026-01-02"}
    path = tmp_path / "model_meta.json"
    path.write_text(json.dumps(meta), encoding="utf-8")
    assert run(root, "--model-meta", str(path), kind="dense", without=("--on-benchmark",)) == 0
    found = read_submission(the_one(root) / "submission.yaml")
    (model,) = found.models
    assert (model.id, model.revision, model.parameters, model.license) == ("acme/e", "7", 22_713_216, "MIT")
    assert (model.dimensions, model.release_date) == (384, datetime.date(2026, 1, 2))
    assert found.training.on_benchmark == "yes"  # since it was trained on a task of it
    assert found.training.datasets == ("FreshStackRetrieval", "NQ")


def test_a_model_that_nobody_describes_waits_in_the_file(root):
    assert run(root, kind="dense") == 0
    places = [fault.place for fault in faults_of((the_one(root) / "submission.yaml").read_bytes())]
    assert places == ["models[0].id", "models[0].revision", "models[0].parameters", "models[0].license"]


def test_run_files_are_called_as_their_topics(root, tmp_path):
    run_file = str(tmp_path / "rye.trec")
    packed = tmp_path / "apple.json.gz"
    packed.write_bytes(b"x")
    assert run(root, "--run", f"plum={run_file}", str(packed), board="cake/2026-11") == 0
    assert sorted(path.name for path in the_one(root, "cake/2026-11").iterdir()) == [
        *("apple.json.gz", "plum.trec", "submission.yaml")
    ]


@pytest.mark.parametrize(
    ("words", "changes", "wanted"),
    [
        ([], {"board": "bred/2026-11"}, "unknown board 'bred/2026-11'; did you mean 'bread/2026-11'?"),
        ([], {"kind": "magic"}, "--kind, expected sparse, dense, late-interaction"),
        ([], {"setting": "both"}, "--setting, expected inference or oracle, got 'both'"),
        ([], {"license": "free"}, "--license, expected a licence by SPDX"),
        ([], {"commit": "main"}, "--commit, expected a whole commit"),
        ([], {"on_benchmark": "perhaps"}, "--on-benchmark, expected yes, no or unknown"),
        ([], {"repository": "git@acme.io:runs"}, "--repository, expected an https:// or http:// address"),
        ([], {"without": ("--team",)}, "--team, expected a value, got none"),
        ([], {"team": "李"}, "give --folder yyyymmdd-team-system"),
        ([], {"folder": "../x"}, "--folder, expected yyyymmdd-team-system of small letters"),
        (["--component", "a\u202eb"], {}, "--component, [0], expected a line of 1 to 200 characters"),
        (["--run", "cake=rye.trec"], {}, "unknown topic 'cake'; known: 'rye'"),
        (["--run", "none.trec"], {}, "the run file 'none.trec', expected a file, got none there"),
        (["--run", "rye.csv"], {}, "the run file 'rye.csv', expected .trec .run .txt .json"),
        (["--run", "rye.trec", "rye.trec"], {}, "--run, expected one run file a topic, got two of rye"),
        (["--run", "rye.trec"], {"board": "cake/2026-11"}, "give --run TOPIC=FILE with one of plum, apple"),
        (["--model-meta", "rye.trec"], {}, "rye.trec, expected MTEB's model_meta.json, got no JSON"),
        (["--model-meta", "none.json"], {}, "cannot read 'none.json', expected MTEB's model_meta.json"),
    ],
)
def test_what_is_not_allowed_is_one_line_and_nothing_is_written(root, monkeypatch, capsys, words, changes, wanted):
    monkeypatch.chdir(root.parent)
    before = sorted(root.rglob("*"))
    assert run(root, *words, **changes) == 2
    out, err = capsys.readouterr()
    assert err.startswith("error: ")
    assert wanted in err
    assert (err.count("\n"), out) == (1, "")
    assert sorted(root.rglob("*")) == before


def test_a_folder_that_is_there_is_left_alone(root, capsys):
    assert run(root) == 0
    before = (the_one(root) / "submission.yaml").read_bytes()
    assert run(root, contact="else@acme.io") == 2
    assert "expected a new or an empty folder, got one that holds files" in capsys.readouterr().err
    assert (the_one(root) / "submission.yaml").read_bytes() == before


def test_another_folder_says_its_day(root):
    assert run(root, team="李", folder="20260229-li-search") == 2  # there is no such day
    assert run(root, team="李", folder="20260228-li-search") == 0
    assert read_submission(root / "bread/2026-11/20260228-li-search/submission.yaml").date == datetime.date(2026, 2, 28)


def answers(**changes) -> Answers:
    told = dict.fromkeys(FIELDS, "x") | {"setting": "inference", "hardware": "", "license": "CC0-1.0"}
    return Answers(**{**told, "components": (), "models": (), **changes})


def test_editors_find_the_schema_from_a_folder_in_the_clone_and_nothing_is_said_of_it_elsewhere(tmp_path):
    inside = SUBMISSIONS / "bread" / "2026-11" / "20261130-a-b"
    first = submission_text(answers(), inside).splitlines()[0]
    assert first == "# yaml-language-server: $schema=../../../../submission.schema.json"
    assert (inside / first.partition("=")[2]).resolve() == FILE
    assert "$schema" not in submission_text(answers(), tmp_path / "20261130-a-b")


def test_nothing_that_is_answered_can_say_more_than_its_value(root):
    hostile = "x\"'\\ : # {y} [z] | > & * ! % @ ` - ?"
    assert run(root, name=hostile, hardware=hostile, command=f"{hostile}\nmodels: [1]\n---\n") == 0
    found = read_submission(the_one(root) / "submission.yaml")
    assert (found.system.name, found.hardware) == (hostile, hostile)
    assert found.reproduce.command == f"{hostile}\nmodels: [1]\n---\n"
    assert found.models == ()
