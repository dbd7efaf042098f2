"""Run the code of README.md, and write what it prints into README.md.

A block of ``text`` shows what the block before it prints. ``python -m tests.docs.readme`` brings those blocks up to
date; a test holds them equal. Shell blocks run in bash, all blocks in one folder that looks like a clone. A section that
names the real dump is passed over where that does not lie beside the clone.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "README.md"
DUMP = ROOT.parent / "shared" / "data" / "coffee.stackexchange.com-Posts.xml"
RUNNERS = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-W", "error", "-c"]}
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text: str) -> Iterator[re.Match[str]]:
    """Yield the blocks of code: the language is group 1, the code is group 2."""
    return _BLOCK.finditer(text)


def like_a_clone(folder: Path) -> None:
    """Link everything that git keeps into a folder, so that what the blocks write stays out of the clone."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    names = {line.split("/")[0] for line in listed.splitlines()} or {path.name for path in ROOT.iterdir()}
    for name in sorted(names):
        (folder / name).symlink_to(ROOT / name)
    if DUMP.is_file():
        (folder / DUMP.name).symlink_to(DUMP)


def section(text: str, at: int) -> str:
    """Return the section of a text in which a place is."""
    start, end = text.rfind("\n## ", 0, at), text.find("\n## ", at)
    return text[max(start, 0) : len(text) if end < 0 else end]


def ran(language: str, code: str, folder: Path) -> str:
    """Run one block and return what it prints; a block that fails stops everything with its message."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "FRESHSTACK_HOME": str(folder / ".home")}
    done = subprocess.run([*RUNNERS[language], code], cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"README.md, a block of {language} ended with {done.returncode}:\n{code}\n{done.stderr}")
    return done.stdout


def rendered(text: str, folder: Path) -> str:
    """Return README's text with every block of text showing what really comes out."""
    parts, end, printed = [], 0, ""
    for block in blocks(text):
        language, code = block[1], block[2]
        parts.append(text[end : block.start(2)])
        if not DUMP.is_file() and DUMP.name in section(text, block.start()):
            parts.append(code)
        elif language == "text":
            parts.append(printed)
        else:
            printed = ran(language, code, folder)
            parts.append(code)
        end = block.end(2)
    return "".join([*parts, text[end:]])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        like_a_clone(Path(work))
        FILE.write_text(rendered(FILE.read_text(encoding="utf-8"), Path(work)), encoding="utf-8", newline="\n")
