"""What pyproject.toml says of the libraries of the adapters, and the workflow that tries their other releases."""

import re
import subprocess
import sys
from importlib.metadata import version

import pytest
import yaml
from packaging.requirements import Requirement

from tests.repo import bounds

WORKFLOW = bounds.FILE.parent / ".github" / "workflows" / "canary.yml"
LINES = bounds.FILE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("requirement", bounds.requirements(), ids=str)
def test_a_library_is_bounded_on_both_sides_and_the_installed_release_lies_between(requirement):
    assert {specifier.operator for specifier in requirement.specifier} == {">=", "<"}
    assert requirement.specifier.contains(version(requirement.name))


@pytest.mark.parametrize("requirement", bounds.requirements(), ids=str)
def test_a_bound_has_its_reason_beside_it(requirement):
    lines = [line for line in LINES if f'"{requirement.name}' in line and ">=" in line]  # one in each extra that has it
    assert lines
    assert all(re.search(r"# .{20,}$", line) for line in lines)


def test_the_oldest_are_pinned_and_the_newest_are_free():
    for requirement, oldest, newest in zip(
        bounds.requirements(), bounds.spelled("oldest"), bounds.spelled("newest"), strict=True
    ):
        low, _ = bounds.bounds(requirement)
        assert str(Requirement(oldest).specifier) == f"=={low}"
        assert not Requirement(newest).specifier
        assert Requirement(oldest).extras == Requirement(newest).extras == requirement.extras


def test_the_workflow_installs_what_the_script_prints_and_runs_the_tests_of_the_adapters(tmp_path):
    (job,) = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"].values()
    releases = job["strategy"]["matrix"]["releases"]
    assert releases == ["newest", "oldest"]
    install = next(step for step in job["steps"] if "env" in step)
    assert install["env"] == {"RELEASES": "${{ matrix.releases }}"}
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name, does in (("python", f'cd "{bounds.FILE.parent}" && exec "{sys.executable}" "$@"'), ("pip", 'echo "$@"')):
        (binaries / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (binaries / name).chmod(0o755)
    for which in releases:
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", install["run"]],
            cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "RELEASES": which}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.splitlines()[0] == " ".join(["install", "--upgrade", *bounds.spelled(which)])
    assert job["steps"][-1]["run"].endswith(" tests/adapters")
