"""What ``make demo`` makes of machines that are not as they should be, with stand-ins for Python and pip."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
case $1 in -c) exit ;; esac
mkdir -p .venv/bin
cp "$0" .venv/bin/python
test -e ensurepip || exit 1
cp pip .venv/bin/pip
"""
"""A Python that is new enough; where there is no file ensurepip it makes half an environment, as Debian's does."""
PIP = """#!/bin/sh
echo "pip $*" >> installed
printf '#!/bin/sh\\necho scored\\n' > .venv/bin/freshstack
chmod +x .venv/bin/freshstack
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "a clone"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "pyproject.toml").touch()
    (folder / "ensurepip").touch()
    for name, text in (("python", PYTHON), ("pip", PIP)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def demo(folder, python="./python"):
    """Return exit code, standard output and standard error."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["make", "demo", f"PYTHON={python}"], cwd=folder, env=settings, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def installed(folder):
    return (folder / "installed").read_text().splitlines()


def test_the_demo_installs_once(clone):
    for _ in range(2):
        code, out, err = demo(clone)
        assert (code, err) == (0, "")
        assert "\nscored\n" in f"\n{out}"
        assert "Three things to try next" in out
    assert len(installed(clone)) == 1


def test_half_an_environment_is_made_whole_when_python_can(clone):
    (clone / "ensurepip").unlink()
    assert demo(clone)[0] != 0
    (clone / "ensurepip").touch()
    code, out, _ = demo(clone)
    assert code == 0
    assert "scored" in out


def test_other_dependencies_are_installed(clone):
    demo(clone)
    os.utime(clone / ".venv" / "bin" / "freshstack", (1, 1))  # installed before pyproject.toml was written
    assert demo(clone)[0] == 0
    assert len(installed(clone)) == 2


@pytest.mark.parametrize("python", ["", " "])
def test_without_a_python_an_error_says_what_is_needed(clone, python):
    code, out, err = demo(clone, python)
    assert (code, out) == (2, "")
    assert "no Python found, expected 3.11 or newer" in err
    assert not (clone / ".venv").exists()


def test_an_old_python_makes_no_environment(clone):
    old = (clone / "python").read_text().replace("-c) exit ;;", "-c) exit 1 ;;")
    (clone / "python").write_text(old)
    assert demo(clone)[0] == 2
    assert not (clone / ".venv").exists()
