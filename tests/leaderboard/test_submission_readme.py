"""The four steps of ``leaderboard/README.md``, typed in a clone as they stand there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.submission.reading import read_submission

ROOT = Path(__file__).parents[2]
README = ROOT / "leaderboard" / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HOME = "leaderboard/submissions/nimbus/2026-11"


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """Type a script in a clone whose origin is a folder, and return what is printed."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONWARNINGS": "error",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_{what}": "acme@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    clone = tmp_path / "clone"

    def typed(script: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], cwd=clone, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    ours = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(ROOT / "leaderboard", clone / "leaderboard", ignore=ours)
    shutil.copy(ROOT / ".gitignore", clone)
    typed(
        "git init --quiet --initial-branch main && git add . && git commit --quiet --message Start && git init --quiet --bare ../origin.git"
    )
    typed("git remote add origin ../origin.git && git push --quiet --set-upstream origin main")
    return typed


@pytest.mark.slow
def test_the_four_steps_work_as_they_stand_there(typed):
    text = README.read_text(encoding="utf-8")
    blocks = [(block[1], block[2]) for block in BLOCK.finditer(text)]
    assert [language for language, _ in blocks] == ["sh"] * 4
    search, new, check, hand_in = (code for _, code in blocks)
    assert "alpha_nDCG@10" in typed(search)
    assert "fill in" not in typed(new)
    assert " 0 errors" in typed(check)
    assert " 0 errors" in typed(hand_in)
    folder = typed(f"ls -d {HOME}/*-acme-acme-search").strip()
    names = typed("git diff --name-only main acme-search").split()
    assert names == [f"{folder}/nimbus.trec", f"{folder}/submission.yaml"]
    assert typed("git ls-remote --heads origin acme-search").split()[0] == typed("git rev-parse acme-search").strip()


def test_its_links_lead_to_files_that_are_there():
    for link in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (README.parent / link).is_file(), link


def test_what_it_says_of_files_is_what_the_code_says():
    from leaderboard.boards.places import COMPUTED, RUN_SUFFIXES, SUBMISSION

    text = README.read_text(encoding="utf-8")
    named = set(re.findall(r"`(?:<topic>)?(\.[a-z]+)`", text))
    packed = {f"{suffix}.gz" for suffix in named - {".gz", ".parquet"}}
    assert (named | packed) - {".gz"} == set(RUN_SUFFIXES)
    assert all(f"`{name}`" in text for name in (*COMPUTED, SUBMISSION))


def test_the_submissions_that_are_there_can_be_read():
    found = sorted((ROOT / "leaderboard" / "submissions").glob("*/*/[0-9]*/submission.yaml"))
    assert found
    for path in found:
        assert path.parent.name.startswith(f"{read_submission(path).date:%Y%m%d}-"), path
