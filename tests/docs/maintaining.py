"""Run the commands of MAINTAINING.md, in the order of the document, with real clients of a test Hub.

Shell blocks run in bash, all in one folder that looks like a clone, at a Hub that holds what the document takes for
granted: the snapshot of the quarter before, the originals, and a maintainer's token. A block of ``csv`` becomes the
file ``corrections.csv``. A block of ``text`` shows what the block before it prints; ``…`` in it stands for anything.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from builders.stackexchange.accepted_answers import build
from builders.stackexchange.filters import Filters
from tests import originals
from tests.docs import readme
from tests.hub.clients import Client
from tests.hub.released import release
from tests.hub.server import Account, TestHub

FILE = readme.ROOT / "MAINTAINING.md"
TOKEN = "hf_maintainer"
REPO = "acme/bread"
SITE = "bread.stackexchange.com"


def furnish(hub: TestHub, folder: Path) -> None:
    """Put onto a Hub what the document takes for granted.

    Args:
        hub: The Hub.
        folder: Where files may be made meanwhile.
    """
    posts = readme.ROOT / "tests" / "data" / "Posts.xml"
    last = folder / "last"
    build(posts, last, site=SITE, snapshot="2024-03", filters=Filters.parsed(None, None, "2024-03", None))
    hub.put(REPO, last, tag="2024-03")
    corpus = originals.write_corpus(folder / "corpus.parquet", [originals.document("a.md"), originals.document("b.md")])
    asked = [originals.query("1", originals.nugget("1_0", ["a.md"], ["b.md"]))]
    release(hub, {"langchain": corpus}, {"langchain": originals.write_queries(folder / "queries.parquet", asked)})
    hub.tokens[TOKEN] = Account("ada", organizations=("acme", "freshstack"))


def rehearse(text: str, hub: TestHub, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Run every block, and yield each with what it printed and what the document says of that.

    Args:
        text: The document.
        hub: The Hub, furnished.
        folder: An empty folder.
    """
    clone = folder / "clone"
    clone.mkdir(parents=True)
    readme.like_a_clone(clone)
    blocks = list(readme.blocks(text))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        language, code = block[1], block[2]
        if language == "csv":
            (clone / "corrections.csv").write_text(code, encoding="utf-8")
        elif language == "sh":
            yield code, ran(code, hub, clone), after[2] if after and after[1] == "text" else "…"


def ran(code: str, hub: TestHub, clone: Path) -> str:
    """Run a script as a maintainer would, and return what it prints.

    Args:
        code: The script.
        hub: The Hub.
        clone: Where it runs; what it keeps goes beside it.
    """
    done = started(["bash", "-euo", "pipefail", "-c", code], hub, clone, token=TOKEN)
    assert done.returncode == 0, f"{code}\nended with {done.returncode}:\n{done.stderr}"
    return done.stdout


def started(
    command: Sequence[str],
    hub: TestHub,
    clone: Path,
    *,
    token: str | None = None,
    before: Path | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody would who has this environment, and return how it ended.

    Args:
        command: The command.
        hub: The Hub.
        clone: Where it runs; what it keeps goes beside it.
        token: What it identifies itself with.
        before: A folder of programs that come before all others of their names.
        variables: More variables of its environment.
    """
    scratch = clone.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    env = Client(hub, clone.parent).environment(clone.parent / "home", token=token)
    programs = [*([str(before)] if before else []), str(Path(sys.executable).parent), env["PATH"]]
    return subprocess.run(
        command,
        cwd=clone,
        env={**env, "PATH": os.pathsep.join(programs), "TMPDIR": str(scratch), **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def shows(expected: str, printed: str) -> bool:
    """Tell whether a text is what was printed, where ``…`` stands for anything, nothing included."""
    return re.fullmatch(re.escape(expected.rstrip()).replace("…", ".*?"), printed.rstrip(), re.DOTALL) is not None
