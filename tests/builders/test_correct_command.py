"""``python -m builders correct``: what it prints, where, and how it ends."""

import json

import pytest

from builders.cli import main
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import write_run
from freshstack_datasets.verification import verify
from tests.builders.correcting import FLIP, row, write_pair, write_run_of, write_table

# FLIP changes q1's values as test_correct.py works out: alpha_nDCG@10 from 0.3869 to 0.8671, Coverage@20 from 1/2 to 1,
# Recall@50 from 1/2 to 2/3. q2 has 1 in all of them, and the means are over both.
TABLE = """\
system  measure        before   after  difference  queries changed
alpha   alpha_nDCG@10  0.6934  0.9335     +0.2401                1
        Coverage@20    0.7500  1.0000     +0.2500                1
        Recall@50      0.7500  0.8333     +0.0833                1

alpha, what changes:

query  measure        before   after
q1     alpha_nDCG@10  0.3869  0.8671
q1     Coverage@20    0.5000  1.0000
q1     Recall@50      0.5000  0.6667
"""


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """The snapshot, its run, and a table that flips a judgment."""
    monkeypatch.chdir(tmp_path)
    write_pair(tmp_path / "pair")
    write_run_of(tmp_path)
    write_table(tmp_path / "c.csv", FLIP)
    return tmp_path


def test_it_says_what_was_corrected_and_what_that_does_to_a_run(pair, capsys):
    assert main(["correct", "pair", "c.csv", "--out", "out", "--run", "alpha.trec"]) == 0
    out, err = capsys.readouterr()
    told, table = out.split("\n\n", 1)
    new, old = (json.loads((pair / name / "snapshot.json").read_text())["fingerprint"][:12] for name in ("out", "pair"))
    assert told.splitlines() == [
        f"out: acme/pair@2024-10.1, fingerprint {new}",
        "2 queries, 5 documents, CC-BY-SA-4.0",
        f"corrects acme/pair@2024-10, fingerprint {old}",
        "1 judgment changed",
    ]
    assert table == TABLE
    assert err == ""
    assert verify(pair / "out") == []


def test_json_is_one_object_on_standard_output(pair, capsys):
    write_table(pair / "c.csv", FLIP, row("question", "remove", "q2", "text", "Why?"))
    assert main(["correct", "pair", "c.csv", "--out", "out", "--run", "alpha.trec", "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert (told["ok"], told["path"], told["dataset"], told["snapshot"]) == (True, "out", "acme/pair", "2024-10.1")
    assert told["tables"]["nugget_qrels"] == {"rows": 3}
    before = json.loads((pair / "pair" / "snapshot.json").read_text())
    assert told["corrects"] == {"snapshot": "2024-10", "fingerprint": before["fingerprint"]}
    assert told["corrected"] == {
        "judgments": {"changed": 1, "added": 0, "removed": 1},
        "nuggets": {"changed": 0, "added": 0, "removed": 1},
        "questions": {"changed": 0, "added": 0, "removed": 1},
    }
    (run,) = told["runs"]
    assert run["system"] == "alpha"
    assert run["measures"]["Coverage@20"] == {
        "before": 0.75,
        "after": 1.0,  # of q1 alone
        "difference": 0.25,
        "queries": [
            {"query_id": "q1", "before": 0.5, "after": 1.0},
            {"query_id": "q2", "before": 1.0, "after": None},
        ],
    }
    assert err == "warning: alpha: left out, because the dataset does not have them: 1 of the run's queries ('q2')\n"


def test_a_run_that_nothing_changes_for_is_said_to_be_one(pair, capsys):
    write_table(pair / "c.csv", row("nugget", "change", "q1 n1", "text", "first", "the first"))
    assert main(["correct", "pair", "c.csv", "--out", "out", "--run", "alpha.trec"]) == 0
    out, _ = capsys.readouterr()
    assert "alpha   alpha_nDCG@10  0.6934  0.6934     +0.0000                0\n" in out
    assert out.endswith("\n\nalpha: no query changes\n")


def test_runs_of_one_name_are_told_apart_and_many_changes_are_counted(pair, capsys):
    write_run(Run.from_dict({"q1": {"d1": 1.0}}, "alpha"), pair / "b.trec")
    ids = [f"q{i:02}" for i in range(8)]
    rows = [row("question", "add", query_id, "title", "", "t") for query_id in ids]
    rows += [row("nugget", "add", f"{query_id} m{query_id}", "text", "", "n") for query_id in ids]
    rows += [row("judgment", "add", f"{query_id} m{query_id} d1", "score", "", "1") for query_id in ids]
    write_table(pair / "c.csv", *rows)
    assert main(["correct", "pair", "c.csv", "--out", "out", "--run", "alpha.trec", "--run", "b.trec"]) == 0
    out, err = capsys.readouterr()
    assert "\nalpha (b.trec), what changes:\n" in out
    assert out.count("and 4 more, which --json lists\n") == 2  # 8 questions in 3 measures are 24 values
    assert "8 judgments added, 8 nuggets added, 8 questions added\n" in out
    assert "warning: alpha (b.trec): scored 0, because the run does not have them: 1 of 2 queries\n" in err
    assert "warning: alpha (b.trec): scored 0, because the run does not have them: 9 of 10 queries\n" in err


def test_every_problem_is_a_line_and_nothing_is_written(pair, capsys):
    write_table(pair / "c.csv", *[FLIP | {"query_id": f"\x1bq{i}"} for i in range(23)], FLIP | {"date": "today"})
    before = sorted(pair.rglob("*"))
    assert main(["correct", "pair", "c.csv", "--out", "out"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[:2] == [
        f"c.csv:{i + 2}, query_id, expected a question of the snapshot, got '\\x1bq{i}'" for i in (0, 1)
    ]
    assert lines[20:] == ["and 4 more", "error: cannot apply 'c.csv', got 24 problems; nothing was written"]
    assert sorted(pair.rglob("*")) == before


def test_one_problem_is_the_line_of_the_error(pair, capsys):
    write_table(pair / "c.csv", FLIP | {"old": "1", "new": "0"})
    assert main(["correct", "pair", "c.csv", "--out", "out"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: c.csv:2, old, expected '0', which the snapshot has, got '1'; look at it again: it was corrected since, "
        "or the snapshot is another one; nothing was written\n"
    )


def test_json_lists_the_problems_too(pair, capsys):
    write_table(pair / "c.csv", FLIP | {"new": "2"}, FLIP | {"by": ""})
    assert main(["correct", "pair", "c.csv", "--out", "out", "--json"]) == 2
    out, _ = capsys.readouterr()
    assert json.loads(out) == {
        "ok": False,
        "problems": [
            {"line": 2, "column": "new", "message": "c.csv:2, new, expected 0 or 1, got '2'"},
            {"line": 3, "column": "by", "message": "c.csv:3, by, expected a text, got none"},
        ],
    }


@pytest.mark.parametrize(
    "words, message",
    [
        (["no", "c.csv", "--out", "out"], "no is no snapshot, expected a folder with a snapshot.json, got none"),
        (["pair", "no.csv", "--out", "out"], "cannot read 'no.csv', got no such file or directory; check the path"),
        (["pair", "pair/README.md", "--out", "out"], "the names of the columns, expected kind, action, "),
        (["pair", "c.csv", "--out", "pair"], "expected a new or an empty folder, got one that holds files"),
        (["pair", "c.csv", "--out", "out", "--run", "no.trec"], "no.trec"),
        (["pair", "c.csv", "--out", "out", "--run", "c.csv"], "expected a name that ends with .trec"),
        (["pair", "c.csv"], "missing option '--out'"),
    ],
)
def test_what_goes_wrong_is_one_line_and_exit_code_2(pair, capsys, words, message):
    before = sorted(pair.rglob("*"))
    assert main(["correct", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(pair.rglob("*")) == before


def test_a_run_need_not_be_given(pair, capsys):
    assert main(["correct", "pair", "c.csv", "--out", "out"]) == 0
    assert capsys.readouterr().out.endswith("\n1 judgment changed\n")
