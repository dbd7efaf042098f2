"""What MAINTAINING.md has maintainers type to score a submission, on a pull request at a repository of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.boards.places import SUBMISSIONS

ROOT = Path(__file__).parents[2]
NIMBUS = Path("leaderboard/submissions/nimbus/2026-11")
BM25, TITLES = (f"20261130-freshstack-{name}" for name in ("bm25", "bm25-titles"))
COMPUTED = ("scores.json", "per_query.jsonl", "reproduction.json")


def typed():
    """Return the commands, and the folder that they score."""
    (block,) = re.findall(r"```bash\n(git fetch origin pull/.*?)```", (ROOT / "MAINTAINING.md").read_text(), re.DOTALL)
    (folder,) = set(re.findall(r"leaderboard/submissions/\S+", block))
    return block, Path(folder)


@pytest.mark.slow
def test_the_commands_score_a_pull_request_and_leave_a_board_that_holds_together(tmp_path):
    block, handed_in = typed()
    clone, origin = tmp_path / "clone", tmp_path / "origin.git"
    published = SUBMISSIONS.parents[1] / NIMBUS
    shutil.copytree(published / BM25, clone / NIMBUS / BM25)
    shutil.copy(published / "board.yaml", clone / NIMBUS)
    run(
        clone,
        f"git init --quiet --initial-branch=main && git add . && git commit -qm base && git clone -q --bare . {origin}",
    )
    run(clone, f"git remote add origin {origin}; git switch -qc handed-in")
    shutil.copytree(published / TITLES, clone / handed_in, ignore=shutil.ignore_patterns(*COMPUTED))
    run(
        clone,
        "git add . && git commit -qm submission && git push -q origin handed-in:refs/pull/12/head && git switch -q main",
    )
    again = clone / "again"
    again.mkdir()
    shutil.copy(published / TITLES / "nimbus.trec.gz", again)
    said = run(clone, block)
    assert "run again: identical" in said
    assert "0 errors" in said
    pushed = run(clone, "git ls-tree -r --name-only origin/score-12").split()
    assert {str(handed_in / name) for name in COMPUTED} <= set(pushed)
    assert run(clone, "git log -2 --format=%s score-12").split("\n")[1] == "submission"


def run(folder, commands):
    names = {f"GIT_{who}_{what}": "a@acme.dev" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {
        **names, "HOME": str(folder.parent), "PYTHONPATH": str(ROOT), "GIT_CONFIG_GLOBAL": os.devnull,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
