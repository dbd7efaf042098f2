"""The house rules that a machine can check."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "freshstack_datasets"
MODULES = sorted(
    [
        *PACKAGE.rglob("*.py"),
        *(ROOT / "builders").rglob("*.py"),
        *(ROOT / "leaderboard").rglob("*.py"),
        *(ROOT / "benchmarks").rglob("*.py"),
    ]
)

CORE = ["errors", "files", "home", "progress", "records", "checks", "ranking"]
"""What everyone may import, each only those before it."""

MAY_IMPORT = {
    **{name: set(CORE[:i]) for i, name in enumerate(CORE)},
    "recipe": set(CORE),
    "tables": set(CORE),
    "manifest": {*CORE, "recipe", "tables"},
    "card": {*CORE, "recipe", "tables", "manifest"},
    "catalog": {*CORE, "recipe", "manifest"},
    "runs": set(CORE),
    "provenance": {*CORE, "recipe", "tables", "manifest"},
    "snapshot": {*CORE, "recipe", "tables", "manifest", "card", "provenance"},
    "verification": {*CORE, "recipe", "tables", "manifest"},
    "overlays": {*CORE, "recipe", "tables", "manifest", "provenance"},
    "hub": {*CORE, "recipe", "manifest", "catalog"},
    "layouts": {*CORE, "recipe", "tables", "manifest", "snapshot", "verification"},
    "places": {*CORE, "recipe", "manifest", "catalog", "hub", "layouts"},
    "holdings": {*CORE, "recipe", "tables", "manifest", "catalog", "verification", "hub", "layouts", "places"},
    "loading": {*CORE, "recipe", "tables", "manifest", "catalog", "layouts", "places", "overlays"},
    "evaluation": set(CORE),
    "llm": set(CORE),
    "retrieval": {*CORE, "llm"},
    "report": {*CORE, "evaluation"},
    "typed_files": {*CORE, "recipe"},
}
"""A package part and the parts that it may import; those not named here see everything but ``cli``."""


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """Full names of everything that a module imports, functions included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_has_at_most_300_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path):
    part = part_of(path)
    inside = {name.split(".")[1] for name in imports_of(path) if name.startswith("freshstack_datasets.")} - {part}
    assert not {name for name in imports_of(path) if name.split(".")[0] in ("builders", "leaderboard", "tests")}
    if part in MAY_IMPORT:
        assert inside - {"__version__"} <= MAY_IMPORT[part]
    elif part not in ("cli", "__init__", "__main__"):
        assert "cli" not in inside


def test_builders_and_leaderboard_do_not_import_each_other():
    for folder, other in (("builders", "leaderboard"), ("leaderboard", "builders")):
        for path in (ROOT / folder).rglob("*.py"):
            assert not {name for name in imports_of(path) if name.split(".")[0] == other}, path


FOR_BUILDERS = {
    "records",
    "errors",
    "files",
    "manifest",
    "recipe",
    "snapshot",
    "progress",
    "cli.asking",
    "cli.console",
    "cli.values",
    "catalog",
    "layouts",
    "loading",
    "overlays",
    "trace",
    "verification",
    "hub",
    "card",
    "tables.schema",
    "tables.parquet",  # a corpus is a table before there is a snapshot
    "tables.spool",
    "tables.corpus",
    "tables.conversion",  # the stages of a build read each other's tables as records
    "ranking",
    "runs",
    "evaluation",
    "retrieval",
    "llm",
    "typed_files",
}
"""The modules whose public names builders may import."""

FOR_LEADERBOARD = {
    "records",
    "errors",
    "files",
    "manifest",
    "recipe",
    "progress",
    "cli.asking",
    "cli.console",
    "cli.values",
    "loading",
    "provenance",
    "ranking",
    "runs",
    "evaluation",
    "retrieval",
    "report",
    "trace",  # who chose the documents that were judged
    "typed_files",
}
"""The modules whose public names the leaderboard may import."""


@pytest.mark.parametrize(
    "path",
    sorted([*(ROOT / "builders").rglob("*.py"), *(ROOT / "leaderboard").rglob("*.py")]),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_builders_and_leaderboard_import_public_names_of_few_modules_of_the_package(path):
    allowed = FOR_LEADERBOARD if path.is_relative_to(ROOT / "leaderboard") else FOR_BUILDERS
    for name in imports_of(path):
        if name.split(".")[0] != "freshstack_datasets" or name == "freshstack_datasets.__version__":
            continue
        inside = name.removeprefix("freshstack_datasets.")
        assert any(inside == module or inside.startswith(f"{module}.") for module in allowed), name
        assert not [part for part in inside.split(".") if part.startswith("_")], name


def imported_at_the_top(path: Path) -> set[str]:
    """Full names of what a module imports as soon as it is imported itself."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def is_behind(path: Path) -> bool:
    """Whether it is a module behind the front of an adapter: in ``adapters/<library>/``, and not its ``__init__``."""
    behind = path.is_relative_to(PACKAGE / "adapters") and path.parent != PACKAGE / "adapters"
    return behind and path.name != "__init__.py"


def test_packages_of_an_extra_are_imported_only_within_functions_or_behind_the_front_of_an_adapter():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = {
        re.split(r"[\[><=]", requirement)[0].strip().replace("-", "_")
        for extra, requirements in extras.items()
        for requirement in requirements
    } - {"freshstack_datasets"}
    names |= {"torch", "transformers", "pandas"}  # what those bring along
    for path in MODULES:
        if path.is_relative_to(ROOT / "benchmarks") or is_behind(path):
            continue
        assert not {name.split(".")[0] for name in imported_at_the_top(path)} & names, path


def test_what_is_behind_the_front_of_an_adapter_is_imported_within_functions():
    for path in MODULES:
        for name in imported_at_the_top(path):
            home = ROOT / (name.replace(".", "/") + ".py")
            home = home if home.is_file() else ROOT / (name.rpartition(".")[0].replace(".", "/") + ".py")
            if is_behind(home):
                assert is_behind(path), f"{path} imports {name}"


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout.decode()
    if not listed:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_test_modules_have_names_of_their_own():
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


ONE_MACHINE = re.compile(r"(?<![\w.~-])/(?:home|root|Users|tmp|var/folders)/[\w.-]")
"""An absolute path below somebody's home or a temporary folder; an address may hold such a piece after its host."""


def test_a_path_of_one_machine_is_told_from_a_piece_of_an_address():
    for folder in ("home", "root", "Users", "tmp"):
        assert ONE_MACHINE.search(f"see /{folder}/x.py")
        assert ONE_MACHINE.search(f'"/{folder}/x.py"')
        assert not ONE_MACHINE.search(f"https://example.org/{folder}/x")
        assert not ONE_MACHINE.search(f"~/{folder}/x")


def test_no_file_is_large_and_no_text_holds_a_path_of_one_machine():
    for path in tracked():
        assert path.stat().st_size < 1_000_000, path
        if path.suffix in {".py", ".md", ".toml", ".yml", ".yaml", ".cff", ""}:
            assert not ONE_MACHINE.search(path.read_text(encoding="utf-8")), path
