"""``freshstack mteb install``: plain MTEB of one environment knows the tasks, and everything else is as it was."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from freshstack_datasets.cli import app, console
from tests.adapters.mteb_commands import NIMBUS, offline

ROOT = Path(__file__).parents[2]
FILES = ["_freshstack_mteb.py", "freshstack_mteb.pth"]


class Environment:
    """A virtual environment without packages of its own, into which others can be let.

    Args:
        folder: Where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make = [sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", str(folder)]
        subprocess.run(make, check=True)
        self.program = folder / "bin" / "python"
        (self.packages,) = folder.glob("lib/python*/site-packages")

    def let_in(self, *folders: Path) -> None:
        """Let these folders' packages be imported, and no others."""
        (self.packages / "let_in.pth").write_text("".join(f"{path}\n" for path in folders))

    def python(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.program), *map(str, words)],
            cwd=self.folder,
            env={**os.environ, **offline(self.folder), **variables},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def says(self, code: str, **variables: str) -> str:
        """Run code that ends well and complains of nothing, and return what it prints."""
        done = self.python("-W", "error", "-c", code, **variables)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.strip()

    def freshstack(self, *words: str) -> dict[str, object]:
        """Run ``freshstack mteb … --json`` with the project's packages, and return what it prints."""
        self.let_in(Path(sysconfig.get_path("purelib")), ROOT)
        done = self.python("-m", "freshstack_datasets", "mteb", *words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "environment")


@pytest.fixture
def stand_ins(tmp_path):
    """Packages called as MTEB and this one; register says so, or raises."""
    folder = tmp_path / "stand_ins"
    for name, text in {
        "mteb/__init__.py": "complete = True",
        "freshstack_datasets/__init__.py": "",
        "freshstack_datasets/adapters/__init__.py": "",
        "freshstack_datasets/adapters/mteb/__init__.py": "import os, sys\n"
        "def register():\n"
        "    if 'BROKEN' in os.environ: raise ValueError('it moved')\n"
        "    print('registered', sys.modules['mteb'].complete)\n",
        "freshstack_datasets/adapters/mteb/incomplete.py": "import mteb",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.slow
def test_plain_mteb_runs_the_tasks_after_install_and_not_after_uninstall(environment):
    environment.freshstack("install")
    ran = environment.python(
        "-c",
        "import sys, mteb\n"
        f"print(mteb.get_task({NIMBUS!r}).metadata.main_score)\n"
        "from mteb.cli import main\n"
        f"sys.argv = ['mteb', 'run', '-t', {NIMBUS!r}, '-m', 'mteb/baseline-random-encoder', '--output-folder', 'out']\n"
        "main()",
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == "alpha_ndcg_at_10"
    (path,) = environment.folder.glob(f"out/results/mteb__baseline-random-encoder/*/{NIMBUS}.json")
    (entry,) = json.loads(path.read_text())["scores"]["test"]
    assert (entry["queries"], entry["dataset"]) == (60, "freshstack/nimbus@2026-11")
    environment.freshstack("uninstall")
    after = environment.python("-m", "mteb", "available-tasks", "-t", NIMBUS)
    assert after.returncode == 1
    assert f"KeyError: '{NIMBUS}' not found" in after.stderr


@pytest.mark.slow
def test_install_and_uninstall_say_what_they_did_and_do_nothing_twice(environment):
    before = sorted(environment.packages.rglob("*"))
    files = [str(environment.packages / name) for name in FILES]
    told = {"environment": str(environment.folder), "files": files}
    assert environment.freshstack("install") == {"installed": True, "changed": True, **told}
    times = [Path(path).stat().st_mtime_ns for path in files]
    assert environment.freshstack("install") == {"installed": True, "changed": False, **told}
    assert [Path(path).stat().st_mtime_ns for path in files] == times
    Path(files[0]).write_text("an older one")
    assert environment.freshstack("install")["changed"]
    assert environment.freshstack("uninstall") == {"installed": False, "changed": True, **told, "files": files[::-1]}
    assert environment.freshstack("uninstall") == {"installed": False, "changed": False, **told, "files": []}
    environment.let_in()
    assert [
        path for path in sorted(environment.packages.rglob("*")) if path.name not in ("let_in.pth", "__pycache__")
    ] == before


@pytest.mark.slow
def test_it_does_nothing_where_packages_are_missing(environment, stand_ins):
    environment.freshstack("install")
    environment.let_in()
    assert environment.says("import json") == ""
    missing = environment.python("-c", "import mteb")
    assert re.findall("(?m)^[A-Za-z]*Error.*", missing.stderr) == ["ModuleNotFoundError: No module named 'mteb'"]
    environment.let_in(stand_ins)
    (stand_ins / "freshstack_datasets").rename(stand_ins / "uninstalled")
    assert environment.says("import mteb; print(mteb.complete)") == "True"
    (environment.packages / FILES[0]).unlink()  # and its other half stays
    assert environment.says("import mteb; print(mteb.complete)") == "True"


@pytest.mark.slow
def test_it_registers_once_after_the_import_of_mteb_and_never_raises(environment, stand_ins):
    environment.freshstack("install")
    environment.let_in(stand_ins)
    added = "import sys; print(sorted(name for name in sys.modules if 'freshstack' in name or 'mteb' in name))"
    assert environment.says(added) == "['_freshstack_mteb']"
    assert environment.says("import mteb, mteb; print(type(mteb.__loader__).__name__)") == (
        "registered True\nSourceFileLoader"
    )
    assert environment.says("import mteb, importlib; importlib.reload(mteb)") == "registered True\nregistered True"
    assert environment.says("import importlib.util as u; print(u.find_spec('mteb').name)") == "mteb"
    assert environment.says("import freshstack_datasets.adapters.mteb.incomplete") == ""
    assert environment.says("import mteb", FRESHSTACK_MTEB_AUTOLOAD="0") == ""
    broken = environment.python("-W", "error", "-c", "import mteb; print(mteb.complete)", BROKEN="1")
    assert (broken.returncode, broken.stdout) == (0, "True\n")
    assert broken.stderr == (
        "freshstack: MTEB does not know its tasks: it moved; FRESHSTACK_MTEB_AUTOLOAD=0 switches this off\n"
    )


def install(monkeypatch, packages):
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(packages))
    return console.run(app, ["mteb", "install"], name="freshstack")


def test_an_environment_that_cannot_be_written_is_refused(monkeypatch, tmp_path, capsys):
    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "touch", read_only)
    assert install(monkeypatch, tmp_path) == 2
    assert capsys.readouterr().err == (
        f"error: cannot change the environment {str(tmp_path)!r}, got read-only file system; make a virtual environment "
        "of your own, or type freshstack mteb run, which needs nothing installed\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_install_says_what_it_wrote_and_how_to_undo_it(monkeypatch, tmp_path, capsys):
    assert install(monkeypatch, tmp_path) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [str(tmp_path / name) for name in FILES]
    assert err == f"MTEB now knows FreshStack's tasks in {sys.prefix}; undo it with freshstack mteb uninstall\n"
    assert install(monkeypatch, tmp_path) == 0
    assert capsys.readouterr().err.startswith("nothing to do; it was installed in ")


def test_install_warns_where_mteb_is_missing(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "mteb", None)
    assert install(monkeypatch, tmp_path) == 0
    assert capsys.readouterr().err.splitlines()[1:] == [
        "warning: the package mteb is not installed; pip install 'freshstack-datasets[mteb]'"
    ]


def test_uninstall_says_what_it_removed(monkeypatch, tmp_path, capsys):
    install(monkeypatch, tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "_freshstack_mteb.cpython-311.pyc").touch()
    capsys.readouterr()
    assert console.run(app, ["mteb", "uninstall"], name="freshstack") == 0
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == [str(tmp_path / name) for name in FILES]
    assert err == f"removed from {sys.prefix}\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert console.run(app, ["mteb", "uninstall"], name="freshstack") == 0
    assert capsys.readouterr() == ("", f"nothing to do; it was not installed in {sys.prefix}\n")
