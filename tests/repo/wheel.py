"""Build the wheel, install it into a clean environment, import every module there, and score BM25 on Nimbus.

Run as ``python -m tests.repo.wheel``; it needs a package index, so it is a step of ``make check``, not a test.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

IMPORT_ALL = """
import importlib, pkgutil, sys
import freshstack_datasets as fsd
names = [m.name for m in pkgutil.walk_packages(fsd.__path__, "freshstack_datasets.") if not m.name.endswith("__main__")]
names = [n for n in names if not n.startswith("freshstack_datasets.adapters.") or n.count(".") == 2]  # the rest needs extras
for name in names:
    importlib.import_module(name)
print(f"imported {len(names)} modules of freshstack-datasets {fsd.__version__}")
"""


def main() -> None:
    """Stop with a message when the wheel lacks a file, holds a foreign one, or needs the clone to work."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        run(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT))
        (wheel,) = folder.glob("*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        foreign = [n for n in names if not n.startswith(("freshstack_datasets/", "freshstack_datasets-"))]
        missing = [n for n in expected() if n not in names]
        if foreign or missing:
            sys.exit(f"error: the wheel holds {foreign} and lacks {missing}")
        venv.create(folder / "clean", with_pip=True)
        python = folder / "clean" / "bin" / "python"
        run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
        # -I: neither the clone nor the caller's environment can lend a module
        run(str(python), "-I", "-W", "error", "-c", IMPORT_ALL, cwd=folder)
        freshstack = str(folder / "clean" / "bin" / "freshstack")
        run(freshstack, "--version", cwd=folder)
        run(freshstack, "evaluate", "nimbus", "--retriever", "bm25", "--by", "type", cwd=folder)


def expected() -> list[str]:
    """Return every file of the package that git would ship."""
    package = ROOT / "freshstack_datasets"
    files = (p for p in package.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return [p.relative_to(ROOT).as_posix() for p in files]


def run(*command: str, cwd: Path | None = None) -> None:
    """Run a command and stop with its output when it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed\n{done.stdout}{done.stderr}")
    if "-c" in command:
        sys.stdout.write(done.stdout)


if __name__ == "__main__":
    main()
