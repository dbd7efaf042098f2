"""What validate finds in a pull request: exactly new submissions, and nothing else."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from freshstack_datasets.errors import InputError
from leaderboard.cli import main
from leaderboard.validation import validate
from tests.leaderboard import made
from tests.leaderboard.validating import ENTRY, TODAY, codes

NEW = "20261129-acme-new"
BELOW = "leaderboard/submissions/made/2026-10"


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    root = tmp_path_factory.mktemp("board")
    made.made_board(root, systems=3, topics=1)
    return root


def git(folder, *arguments):
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True, env=quiet)


@pytest.fixture
def root(board, tmp_path):
    """A checkout on a branch that added nothing yet; its base is ``main``."""
    top = tmp_path / "checkout"
    shutil.copytree(board / "submissions", top / "leaderboard" / "submissions")
    git(tmp_path, "init", "-q", "-b", "main", str(top))
    git(top, "add", "-A")
    git(top, "commit", "-qm", "base")
    git(top, "checkout", "-qb", "change")
    return top / "leaderboard" / "submissions"


def add(root, name=NEW):
    """Hand in a run of its own."""
    board = root / "made" / "2026-10"
    folder = board / name
    shutil.copytree(board / ENTRY, folder, ignore=shutil.ignore_patterns("scores.json", "per_query.jsonl"))
    told = folder / "submission.yaml"
    told.write_text(told.read_text().replace("2026-11-03", f"{name[:4]}-{name[4:6]}-{name[6:8]}"))
    lines = (folder / "alpha.trec").read_text().splitlines()
    kept = [line for line in lines if int(line.split("\t")[3]) > 9]  # the first nine documents of each query are gone
    (folder / "alpha.trec").write_text("\n".join(kept) + "\n")
    return folder


def commit(root):
    git(root, "add", "-A")
    git(root, "commit", "-qm", "change")


def report_of(root, base="main"):
    return validate(pull_request=base, root=root, today=TODAY)


def errors(report):
    return [(one.code, one.file) for one in report.findings if one.severity == "error"]


@pytest.mark.parametrize("committed", [True, False])
def test_a_new_submission_is_looked_at_whether_or_not_it_was_committed(root, committed):
    add(root)
    if committed:
        commit(root)
    report = report_of(root)
    assert report.checked == (f"{BELOW}/{NEW}",)
    assert report.ok, report.findings


def test_several_new_submissions_are_all_looked_at(root):
    folders = [add(root, name) for name in ("20261129-acme-one", "20261130-acme-two")]
    commit(root)
    report = report_of(root)
    assert report.checked == tuple(f"{BELOW}/{one.name}" for one in folders)
    # The second is the first once more.
    assert errors(report) == [("E405", f"{BELOW}/{folders[1].name}/alpha.trec")]


def test_a_pull_request_without_a_submission_is_refused(root):
    assert errors(report_of(root)) == [("E503", "leaderboard/submissions")]


@pytest.mark.parametrize("name", ["README.md", "leaderboard/cli.py", "leaderboard/submissions/made/2026-10/board.yaml"])
def test_a_change_of_anything_else_is_refused(root, name):
    add(root)
    path = root.parents[1] / name
    path.write_text("changed")
    commit(root)
    assert ("E501", name) in errors(report_of(root))


def test_changes_of_a_submission_that_was_taken_are_refused(root):
    add(root)
    board = root / "made" / "2026-10"
    (board / ENTRY / "alpha.trec").write_text("changed")
    (board / ENTRY / "more.trec").write_text("added")
    shutil.rmtree(board / "20261101-acme-bm25")
    commit(root)
    report = report_of(root)
    assert set(errors(report)) == {
        ("E502", f"{BELOW}/{ENTRY}/alpha.trec"),
        ("E502", f"{BELOW}/{ENTRY}/more.trec"),
        *(
            ("E502", f"{BELOW}/20261101-acme-bm25/{name}")
            for name in ("alpha.trec", "per_query.jsonl", "scores.json", "submission.yaml")
        ),
    }
    assert report.checked == (f"{BELOW}/{NEW}",)


@pytest.mark.parametrize("name", ["scores.json", "per_query.jsonl", "reproduction.json"])
def test_scores_that_are_handed_in_are_refused(root, name):
    folder = add(root)
    (folder / name).write_text("{}")
    commit(root)
    assert errors(report_of(root)) == [("E104", f"{BELOW}/{NEW}/{name}")]


def test_a_link_is_refused(root):
    folder = add(root)
    (folder / "alpha.trec").unlink()
    (folder / "alpha.trec").symlink_to(Path("../../../../../secret"))
    commit(root)
    assert ("E106", f"{BELOW}/{NEW}/alpha.trec") in errors(report_of(root))


def test_a_submission_that_looks_like_a_board_is_looked_at_as_a_submission(root):
    folder = add(root)
    (folder / "submission.yaml").unlink()
    (folder / "board.yaml").write_text((root / "made" / "2026-10" / "board.yaml").read_text())
    (folder / "x" / "y").mkdir(parents=True)
    (folder / "x" / "y" / "board.yaml").write_text("")
    commit(root)
    report = report_of(root)
    assert report.checked == (f"{BELOW}/{NEW}",)
    assert {code for code, _ in errors(report)} == {"E105", "E106", "E201"}


def test_a_link_in_place_of_a_submission_is_refused(root):
    add(root)
    (root / "made" / "2026-10" / "20261129-acme-link").symlink_to(NEW)
    commit(root)
    assert errors(report_of(root)) == [("E501", f"{BELOW}/20261129-acme-link")]


def test_a_thousand_foreign_changes_are_ten_findings_and_a_number(root):
    add(root)
    for number in range(1_000):
        (root.parents[1] / f"{number}.txt").write_text("x")
    report = report_of(root)
    assert len(errors(report)) == 10
    assert report.count("error") == 1_000


def test_what_the_base_got_since_does_not_count(root):
    add(root)
    commit(root)
    git(root, "checkout", "-q", "main")
    (root.parents[1] / "README.md").write_text("newer")
    commit(root)
    git(root, "checkout", "-q", "change")
    assert report_of(root).ok


def test_names_that_git_and_terminals_take_for_something_else_are_told_safely(root):
    add(root)
    (root.parents[1] / "-rf\n::error::\x1b[31m").write_text("x")
    commit(root)
    ((code, label),) = errors(report_of(root))
    assert code == "E501"
    assert "\n" not in label
    assert "\x1b" not in label


@pytest.mark.parametrize("base", ["nowhere", "--output=x", "", "a\0b"])
def test_a_base_that_there_is_not_is_an_error(root, base):
    with pytest.raises(InputError):
        report_of(root, base)


def test_a_folder_that_is_no_checkout_is_an_error(tmp_path):
    with pytest.raises(InputError, match="git"):
        report_of(tmp_path)


def test_the_command_names_what_to_give(capsys, root):
    assert main(["validate"]) == 2
    assert main(["validate", str(root), "--pull-request", "main"]) == 2
    assert capsys.readouterr().err.count("expected paths or --pull-request BASE") == 2


def test_the_command_ends_with_1_when_there_is_an_error(capsys, root):
    assert main(["validate", "--pull-request", "main", "--root", str(root)]) == 1
    assert "E503" in capsys.readouterr().out
    assert codes(report_of(root)) == {"E503"}
