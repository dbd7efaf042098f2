"""What ``import freshstack_datasets`` offers, and what it does not do."""

import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import freshstack_datasets as fsd

ROOT = Path(__file__).parents[2]


def of_extras() -> Iterator[str]:
    """What the extras of pyproject.toml are imported as; an extra may bring others by naming this project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [re.match(r"[\w.-]+", line)[0] for lines in project["optional-dependencies"].values() for line in lines]
    imports = {}
    for module, distributions in packages_distributions().items():
        for distribution in distributions:
            imports.setdefault(normal(distribution), []).append(module)
    for name in {normal(name) for name in named} - {project["name"]}:
        yield from imports.get(name, [name.replace("-", "_")])


def normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


HEAVY = {"pyarrow", "bm25s", "Stemmer", "datasets", "huggingface_hub", "torch", *of_extras()}


def python(code: str, **environment: str) -> str:
    """Run code in a Python of its own, with warnings as errors, and return what it printed."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_all_is_sorted_and_every_name_is_there():
    assert fsd.__all__ == sorted(fsd.__all__)
    for name in fsd.__all__:
        assert getattr(fsd, name) is getattr(fsd, name)
    assert dir(fsd) == fsd.__all__


def test_all_is_what_type_checkers_see():
    stub = (
        "import ast, pathlib, freshstack_datasets as f;"
        "tree = ast.parse(pathlib.Path(f.__file__).read_text());"
        "block = next(n for n in tree.body if isinstance(n, ast.If));"
        "print(sorted(a.asname or a.name for n in block.body for a in n.names))"
    )
    assert python(stub).strip() == str(sorted(set(fsd.__all__) - {"__version__"}))


@pytest.mark.parametrize("name", sorted(set(fsd.__all__) - {"__version__"}))
def test_a_name_comes_from_where_it_is_said_to_come_from(name):
    value = getattr(fsd, name)
    module = value.__name__ if name in ("adapters", "errors", "evaluation") else value.__module__
    assert module.startswith("freshstack_datasets.")


def test_a_name_stays_what_it_is_whatever_was_imported_before():
    names = [m.name for m in pkgutil.walk_packages(fsd.__path__, "freshstack_datasets.") if "__main__" not in m.name]
    first = f"import importlib, types\nfor name in {names!r}: importlib.import_module(name)\n"
    then = (
        "import freshstack_datasets as f\n"
        "print(sorted(n for n in f.__all__ if isinstance(getattr(f, n), types.ModuleType)))"
    )
    assert python(first + then).strip() == "['adapters', 'errors', 'evaluation']"


SHARED = {"__init__", "arrow_file", "given", "judged", "libraries", "lines", "note", "nuggets"}
"""Modules of ``adapters`` that are none."""
FOUND_BY_THE_LIBRARY = {"pyterrier"}
"""Adapters that nobody imports by hand."""


def test_every_adapter_is_reachable_from_the_front_door():
    home = ROOT / "freshstack_datasets" / "adapters"
    files = {path.stem for path in home.glob("*.py")} | {path.parent.name for path in home.glob("*/__init__.py")}
    files -= SHARED | FOUND_BY_THE_LIBRARY
    assert fsd.adapters.__all__ == sorted(files)
    code = "import freshstack_datasets as fsd\nfor name in fsd.adapters.__all__: print(getattr(fsd.adapters, name).__name__)"
    assert python(code).split() == [f"freshstack_datasets.adapters.{name}" for name in sorted(files)]
    with pytest.raises(AttributeError, match="has no attribute 'bier'"):
        _ = fsd.adapters.bier


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'freshstack_datasets' has no attribute 'lode'"):
        _ = fsd.lode
    with pytest.raises(ImportError):
        importlib.import_module("freshstack_datasets.lode")


@pytest.mark.parametrize(
    "code",
    [
        "import freshstack_datasets as fsd; fsd.errors.RunFileError; fsd.Run; fsd.Document",
        "import freshstack_datasets as fsd; fsd.evaluate; fsd.compare; fsd.Measure",
        "from freshstack_datasets.cli import app, console; assert console.run(app, ['--help'], name='freshstack') == 0",
        "from freshstack_datasets.cli import app, console; assert console.run(app, ['evaluate', '--help'], name='x') == 0",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code):
    loaded = json.loads(python(f"{code}\nimport sys, json\nprint(json.dumps(list(sys.modules)))").splitlines()[-1])
    assert not {name.split(".")[0] for name in loaded} & HEAVY


def test_the_packages_of_extras_are_among_the_heavy_ones():
    assert "selectolax" in HEAVY


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["evaluate", "--help"]])
def test_the_installed_command_loads_nothing_heavy_for_a_word_of_help(arguments):
    script = Path(sys.executable).parent / "freshstack"
    command = [sys.executable, "-X", "importtime", "-W", "error", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0
    # -X importtime writes a line for each module: import time: self | cumulative | the name, indented
    names = {line.split("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "freshstack_datasets.cli" in names
    assert not {name.split(".")[0] for name in names} & HEAVY


def test_importing_needs_no_network_and_writes_nowhere(tmp_path):
    code = (
        "import socket, os\n"
        "def refuse(*a, **k): raise SystemExit('network or disk')\n"
        "socket.socket.connect = socket.getaddrinfo = os.mkdir = os.makedirs = refuse\n"
        "import freshstack_datasets.cli, freshstack_datasets.loading, freshstack_datasets.retrieval\n"
        "import freshstack_datasets.evaluation, freshstack_datasets.runs\n"
    )
    python(code, HOME=str(tmp_path), FRESHSTACK_HOME=str(tmp_path / "home"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_the_newest_in_the_changelog_or_a_later_one_being_made():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", changelog, re.MULTILINE)[1]
    if "## [Unreleased]" in changelog:  # what is signed now must not pass for what was released
        coming, dev, _ = fsd.__version__.partition(".dev")
        assert dev
        assert [*map(int, coming.split("."))] > [*map(int, newest.split("."))]
    else:
        assert fsd.__version__ == newest
    assert f"\nversion: {fsd.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pyproject["tool"]["hatch"]["version"]["path"] == "freshstack_datasets/__init__.py"


@pytest.mark.parametrize(
    "command", [[sys.executable, "-m", "freshstack_datasets"], [Path(sys.executable).parent / "freshstack"]]
)
def test_both_ways_to_start_the_command_line_do_the_same(command):
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"freshstack-datasets {fsd.__version__}\n", "")
    done = subprocess.run([*command, "evaluate", "nothing-here"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: nothing to score, ")


def test_scoring_a_run_does_not_load_pandas():
    # pyarrow does for many a call, wherever it is installed, which takes longer than to load and to score
    code = (
        "import sys, freshstack_datasets as f; data = f.load('nimbus');"
        "f.evaluate({query.query_id: {} for query in data.queries}, data); print('pandas' in sys.modules)"
    )
    assert python(code) == "False\n"
