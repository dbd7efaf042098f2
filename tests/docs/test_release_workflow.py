"""The workflow of a release: what it may do, what it asks for, and what its scripts really do at a test Hub."""

import re
import shutil
import subprocess
import tarfile

import pytest
import yaml

from tests.docs import maintaining, named, readme
from tests.hub import snapshots
from tests.hub.published import check
from tests.hub.server import Account, TestHub

FOLDER = readme.ROOT / ".github" / "workflows"
TEXT = (FOLDER / "release.yml").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load(TEXT)
TRIGGERS = WORKFLOW[True]  # YAML reads "on" as true
JOBS = WORKFLOW["jobs"]
STEPS = [(name, step) for name, job in JOBS.items() for step in job["steps"]]
SNAPSHOT = snapshots.SNAPSHOTS[1]
REPO = "freshstack/langchain"
TOKEN = "hf_of_the_environment"


def test_it_starts_once_a_quarter_or_by_hand():
    assert TRIGGERS.keys() == {"schedule", "workflow_dispatch"}
    ((minute, hour, day, months, weekday),) = (entry["cron"].split() for entry in TRIGGERS["schedule"])
    assert minute.isdecimal()
    assert hour.isdecimal()
    assert (day, months, weekday) == ("10", "1,4,7,10", "*")


def test_started_by_hand_it_is_a_dry_run_unless_somebody_says_otherwise():
    inputs = TRIGGERS["workflow_dispatch"]["inputs"]
    assert inputs["dry_run"]["type"] == "boolean"
    assert inputs["dry_run"]["default"] is True
    assert {name for name, told in inputs.items() if told.get("required")} == inputs.keys() - {"dry_run"}
    publish = JOBS["publish"]
    assert publish["if"] == "github.event_name == 'workflow_dispatch' && !inputs.dry_run"
    assert (publish["needs"], publish["environment"]) == ("verify", "hub")
    assert [name for name, job in JOBS.items() if "environment" in job] == ["publish"]
    assert JOBS["remind"]["if"] == "github.event_name == 'schedule'"
    real = [name for name, step in STEPS if re.search(r"builders publish (?!.*--dry-run)", step.get("run", ""))]
    assert real == ["publish"]


def test_no_job_may_do_more_than_it_needs():
    assert WORKFLOW["permissions"] == {}
    assert {name: job["permissions"] for name, job in JOBS.items()} == {
        "remind": {"contents": "read", "issues": "write"},
        "verify": {"contents": "read"},
        "publish": {"contents": "read"},
    }


def test_the_token_is_in_the_step_that_publishes_and_nowhere_else():
    assert TEXT.count("secrets.") == 1
    holders = [(name, step["name"]) for name, step in STEPS if "secrets." in str(step)]
    assert holders == [("publish", "Publish it")]
    assert "HF_TOKEN" not in str([WORKFLOW.get("env"), *(job.get("env") for job in JOBS.values())])
    for _, step in STEPS:
        run = step.get("run", "")
        assert "TOKEN" not in run
        assert not re.search(r"set -\w*x|--verbose|\benv$|printenv|xtrace", run, re.MULTILINE)


def test_what_people_type_reaches_scripts_as_variables_only():
    assert not [step["run"] for _, step in STEPS if "${{" in step.get("run", "")]


def test_actions_are_those_of_ci_and_keep_no_credentials():
    used = {step["uses"] for _, step in STEPS if "uses" in step}
    ci = yaml.safe_load((FOLDER / "ci.yml").read_text(encoding="utf-8"))
    assert used == {step["uses"] for job in ci["jobs"].values() for step in job["steps"] if "uses" in step}
    for _, step in STEPS:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"] == {"persist-credentials": False}


def test_every_job_ends_some_time_and_no_two_publish_at_once():
    assert all(job["timeout-minutes"] <= 120 for job in JOBS.values())
    assert WORKFLOW["concurrency"] == {"group": "release-${{ inputs.dataset }}", "cancel-in-progress": False}


def test_every_command_and_option_exists():
    scripts = [step["run"] for _, step in STEPS if "run" in step]
    assert [problem for script in scripts for problem in named.wrong(script)] == []
    assert sum(len(list(named.commands(script))) for script in scripts) == 4


def test_what_is_published_is_fetched_as_what_was_verified():
    fetching = [step for _, step in STEPS if step.get("name") == "Fetch the snapshot"]
    assert len(fetching) == 2
    assert fetching[0] == fetching[1]


def test_the_document_tells_how_to_set_it_up():
    document = maintaining.FILE.read_text(encoding="utf-8").split("\n## The workflow\n")[1]
    assert f"an environment called `{JOBS['publish']['environment']}`" in document
    assert "`HF_TOKEN`" in document


@pytest.fixture
def hub(tmp_path):
    (tmp_path / "hub").mkdir()
    with TestHub(tmp_path / "hub") as running:
        running.tokens[TOKEN] = Account("ada", organizations=("freshstack",))
        yield running
    assert not running.bugs, running.bugs[0]


@pytest.fixture
def runner(tmp_path):
    """A clone, and programs that stand in for those that would leave this machine."""
    clone, programs = tmp_path / "clone", tmp_path / "programs"
    for folder in (clone, programs):
        folder.mkdir()
    readme.like_a_clone(clone)
    for name, script in (("curl", CURL), ("gh", GH)):
        (programs / name).write_text(f"#!/bin/sh\n{script}")
        (programs / name).chmod(0o755)
    return clone, programs


CURL = """
for last; do :; done
cp "${last#https://}" snapshot.tar.gz
"""
"""Copies the file behind ``https://``."""
GH = """
case $2 in
list) cat known ;;
create) echo "$4" >> created; cp "$6" body ;;
esac
"""
"""Says how many issues there are of a title, and keeps the title and the text of one that is opened."""


def ran(job, hub, runner, values):
    """Run the scripts of a job, except that which installs, up to the first that fails; return how each ended."""
    clone, programs = runner
    ended = []
    for step in JOBS[job]["steps"]:
        if "run" not in step or step["name"] == "Install":
            continue
        env = {
            name: re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda found: values[found[1]], value)
            for name, value in step.get("env", {}).items()
        }
        script = clone.parent / "script"
        script.write_text(step["run"])
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]  # what GitHub makes of "bash"
        token, summary = env.pop("HF_TOKEN", None), str(clone.parent / "summary")
        ended.append(
            maintaining.started(shell, hub, clone, token=token, before=programs, GITHUB_STEP_SUMMARY=summary, **env)
        )
        if ended[-1].returncode:
            break
    return ended


@pytest.fixture
def packed(tmp_path):
    """An archive of a snapshot, made as the document says, and what people type into the form."""
    archive = tmp_path / "packed.tar.gz"
    folder = snapshots.write(tmp_path / SNAPSHOT, SNAPSHOT)
    lines = maintaining.FILE.read_text(encoding="utf-8").splitlines()
    (pack,) = (line for line in lines if line.startswith("tar "))
    (digest,) = (line for line in lines if line.startswith("sha256sum "))
    script = f"{pack}\n{digest}".replace("bread-2024-04.tar.gz", str(archive)).replace("bread-2024-04", str(folder))
    done = subprocess.run(["bash", "-ec", script], capture_output=True, encoding="utf-8", check=True)
    typed = {"dataset": REPO, "snapshot": SNAPSHOT, "archive": f"https://{archive}", "sha256": done.stdout.split()[0]}
    return folder, {f"inputs.{name}": value for name, value in typed.items()} | {"secrets.HF_TOKEN": TOKEN}


needs_tools = pytest.mark.skipif(
    not (shutil.which("sha256sum") and hasattr(tarfile, "data_filter")), reason="no sha256sum, or an old tarfile"
)


@needs_tools
def test_a_snapshot_is_verified_without_the_token_and_published_with_it(hub, runner, packed, tmp_path):
    folder, typed = packed
    fetched, verified, tried = ran("verify", hub, runner, typed)
    assert fetched.returncode == verified.returncode == tried.returncode == 0, fetched.stderr + verified.stderr
    assert f"the repository {REPO} would be made\n" in tried.stdout
    assert f"tagged {SNAPSHOT}\n```\n" in tried.stdout
    assert REPO not in hub.repos

    shutil.rmtree(runner[0] / "snapshot")  # another machine
    _, published = ran("publish", hub, runner, typed)
    assert published.returncode == 0, published.stderr
    assert f"{REPO}@{SNAPSHOT}: published, fingerprint " in published.stdout
    check(hub, REPO, folder)
    assert (tmp_path / "summary").read_text() == tried.stdout + published.stdout
    assert TOKEN not in "".join(done.stdout + done.stderr for done in (fetched, verified, tried, published))


@needs_tools
@pytest.mark.parametrize(
    "changed, ended, said",
    [
        ({"inputs.sha256": "0" * 64}, 1, "did NOT match"),
        ({"inputs.sha256": ""}, 1, ""),
        ({"inputs.snapshot": f"{SNAPSHOT}.1"}, 2, f"error: the snapshot's name, expected {SNAPSHOT}.1, got {SNAPSHOT}"),
        ({"inputs.dataset": "a b"}, 3, "repository, expected ORGANIZATION/NAME, got 'a b'"),
    ],
)
def test_what_is_not_as_it_was_said_to_be_ends_the_job(hub, runner, packed, changed, ended, said):
    done = ran("verify", hub, runner, packed[1] | changed)
    assert len(done) == ended
    assert done[-1].returncode != 0
    assert said in done[-1].stderr
    assert hub.asked(REPO) == []


@needs_tools
def test_a_snapshot_with_problems_ends_the_job(hub, runner, packed, tmp_path):
    folder, typed = packed
    (folder / "more.txt").write_text("x")
    archive = tmp_path / "broken.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, ".")
    digest = subprocess.run(["sha256sum", archive], capture_output=True, encoding="utf-8", check=True)
    typed |= {"inputs.archive": f"https://{archive}", "inputs.sha256": digest.stdout.split()[0]}
    _, verified = ran("verify", hub, runner, typed)
    assert verified.returncode == 1
    assert "more.txt: extra-file" in verified.stdout
    _, published = ran("publish", hub, runner, typed)  # as if somebody had left out the job before
    assert published.returncode == 1
    assert hub.asked(REPO) == []


def test_the_issue_has_every_step_of_the_document_and_is_opened_once(hub, runner):
    clone, _ = runner
    values = {"github.token": "t", "github.server_url": "https://example.org", "github.repository": "acme/fsd"}
    values["github.sha"] = "0" * 40
    for known in ("0", "1"):
        (clone / "known").write_text(known)
        (done,) = ran("remind", hub, runner, values)
        assert done.returncode == 0, done.stderr
    (title,) = (clone / "created").read_text().splitlines()
    assert re.fullmatch(r"Release the snapshots of \d{4}-\d\d", title)
    first, *lines = (clone / "body").read_text(encoding="utf-8").splitlines()
    assert f"](https://example.org/acme/fsd/blob/{'0' * 40}/MAINTAINING.md)" in first
    document = maintaining.FILE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line] == [line for line in document if line.startswith(("### ", "- [ ] "))]
