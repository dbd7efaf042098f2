"""The workflows of the leaderboard: what they may do, and that what they type works."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.leaderboard.made import BOARD, SNAPSHOT, entry_of, made_board

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
PULL, DEPLOY = (yaml.safe_load((FOLDER / f"{name}.yml").read_text()) for name in ("leaderboard", "leaderboard-deploy"))
TRIGGER = True  # what YAML 1.1 makes of the key "on"
STEPS = PULL["jobs"]["submission"]["steps"]


def runs(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


def test_a_pull_request_gets_a_token_that_reads_and_no_secret():
    assert list(PULL[TRIGGER]) == ["pull_request"]
    assert PULL["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in PULL["jobs"].values())
    for name in ("leaderboard", "leaderboard-deploy"):
        assert "secrets" not in (FOLDER / f"{name}.yml").read_text().replace("there are no secrets", "")


@pytest.mark.parametrize("workflow", [PULL, DEPLOY], ids=["pull", "deploy"])
def test_nothing_that_somebody_wrote_is_put_into_a_script(workflow):
    for step in runs(workflow):
        assert "${{" not in step["run"], step["run"]
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False


def test_the_code_that_looks_at_a_pull_request_is_that_of_its_base():
    base, pull = (step["with"] for step in STEPS if step.get("uses", "").startswith("actions/checkout"))
    assert (base["path"], base["ref"]) == ("base", "${{ github.event.pull_request.base.sha }}")
    assert (pull["path"], pull["fetch-depth"]) == ("pull", 0)
    for step in runs(PULL):
        if "leaderboard" in step["run"] and step["name"] != "Install":
            assert step["working-directory"] == "pull"
            assert step["env"]["PYTHONPATH"] == "../base"
            assert step["run"].count("python -P -m leaderboard") == 1
    (install,) = (step["run"] for step in runs(PULL) if step["name"] == "Install")
    assert "./base[" in install
    assert "./pull" not in install


def test_with_the_label_of_maintenance_everything_is_checked_in_place_of_one_submission():
    asked = {step["name"]: step["if"] for step in runs(PULL) if "if" in step}
    label = "contains(github.event.pull_request.labels.*.name, 'maintenance')"
    assert asked == dict.fromkeys(("Validate", "Score"), f"${{{{ !{label} }}}}") | {"Check": f"${{{{ {label} }}}}"}
    assert "if" not in PULL["jobs"]["submission"]
    assert {"labeled", "unlabeled", "synchronize"} <= set(PULL[TRIGGER]["pull_request"]["types"])


def test_only_the_job_that_deploys_may_write_and_it_runs_nothing_of_ours():
    assert DEPLOY[TRIGGER]["push"]["branches"] == ["main"]
    assert DEPLOY["permissions"] == {"contents": "read"}
    build, deploy = DEPLOY["jobs"]["build"], DEPLOY["jobs"]["deploy"]
    assert build["permissions"] == {"contents": "read", "pages": "read"}
    assert deploy["permissions"] == {"pages": "write", "id-token": "write"}
    assert [step.get("run") for step in deploy["steps"]] == [None]
    assert deploy["needs"] == "build"
    names = [step.get("name") for step in build["steps"]]
    assert names.index("Check") < names.index("Build")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A base and a pull request that adds one submission to it, as the workflow checks them out."""
    work = tmp_path_factory.mktemp("work")
    made = made_board(work / "made", systems=3, topics=1)
    pull = work / "pull"
    target = pull / "leaderboard" / "submissions"
    shutil.copytree(made, target)
    folder = target / BOARD / SNAPSHOT
    late = [shutil.move(folder / entry_of(2), work / "late"), folder / entry_of(2)]
    git(pull, "init", "--quiet", "--initial-branch=main")
    (pull / "freshstack_datasets").mkdir()
    (pull / "freshstack_datasets" / "__init__.py").write_text("raise SystemExit('code of the pull request ran')")
    (pull / "sitecustomize.py").write_text("print('code of the pull request ran')")
    git(pull, "add", ".")
    git(pull, "commit", "--quiet", "--message=base")
    base = git(pull, "rev-parse", "HEAD").strip()
    shutil.move(*late)
    for name in ("scores.json", "per_query.jsonl"):
        (folder / entry_of(2) / name).unlink()
    git(pull, "add", ".")
    git(pull, "commit", "--quiet", "--message=submission")
    (work / "base").symlink_to(ROOT)
    binaries = work / "bin"
    binaries.mkdir()
    (binaries / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (binaries / "python").chmod(0o755)
    return work, base


def git(folder, *arguments):
    told = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@acme.dev", "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@acme.dev", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}  # fmt: skip
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **told}
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout


def step_of(clone, name):
    """Run one step of the workflow."""
    work, base = clone
    (step,) = (step for step in runs(PULL) if step["name"] == name)
    environment = {"PATH": f"{work / 'bin'}:/usr/bin:/bin", "HOME": str(work), "BASE": base, **step["env"]}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=work / step["working-directory"], env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_steps_validate_score_and_build_without_running_anything_of_the_pull_request(clone):
    work, _ = clone
    validated = step_of(clone, "Validate")
    assert validated.returncode == 0, validated.stdout + validated.stderr
    scored = step_of(clone, "Score")
    assert scored.returncode == 0, scored.stdout + scored.stderr
    folder = work / "pull" / "leaderboard" / "submissions" / BOARD / SNAPSHOT
    assert (folder / entry_of(2) / "scores.json").is_file()
    checked = step_of(clone, "Check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    built = step_of(clone, "Build")
    assert built.returncode == 0, built.stdout + built.stderr
    page = (work / "site" / BOARD / SNAPSHOT / "index.html").read_text(encoding="utf-8")
    assert entry_of(2) in page
    for done in (validated, scored, checked, built):
        assert "code of the pull request ran" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_pull_request_that_changes_what_is_published_fails(clone):
    work, _ = clone
    definition = work / "pull" / "leaderboard" / "submissions" / BOARD / SNAPSHOT / "board.yaml"
    before = definition.read_text(encoding="utf-8")
    definition.write_text(before.replace("title: Made", "title: Ours"), encoding="utf-8")
    done = step_of(clone, "Validate")
    definition.write_text(before, encoding="utf-8")
    assert done.returncode == 1
    assert "::error file=leaderboard/submissions/made/2026-10/board.yaml" in done.stdout
