"""Builds that are killed: each is a fork of one process that has imported everything, so that it starts at once.

    with Forks(folder) as forks:
        forks.run(arguments, after=0.7)    # the exit code, or None where it was killed after 0.7 s

The process is not the tests' own, whose server has a thread: what is forked is alone in its process.
"""

import importlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

NEEDED = (
    *(
        f"builders.{stage}"
        for stage in ("questions", "corpus", "nuggets", "searches", "pooling", "judging", "building")
    ),
    "builders.assembling.assemble",
    "freshstack_datasets.llm.client",
    "anyio._backends._asyncio",
    "bm25s",
    "httpx2",
    "pandas",
    "pyarrow.parquet",
    "rich.progress",
)
ROOT = Path(__file__).parents[2]


class Forks:
    """Runs ``python -m builders`` again and again.

    Args:
        folder: Where what the last run says is kept, as ``said`` and, of standard error, ``messages``.
    """

    def __init__(self, folder):
        self.said, self.messages = folder / "said", folder / "messages"

    def __enter__(self):
        command = [sys.executable, "-m", "tests.builders.pipeline_forks"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, text=True, cwd=ROOT, **pipes)
        return self

    def __exit__(self, *_):
        self._process.communicate()

    def run(self, arguments, home, after=None):
        """Run a command with a home of its own; kill it after some seconds unless it has ended.

        Returns:
            Its exit code, None where it was killed.
        """
        told = {
            "arguments": [str(one) for one in arguments],
            "home": str(home),
            "after": after,
            "to": [str(self.said), str(self.messages)],
        }
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        status = json.loads(self._process.stdout.readline())
        return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


def _imported():
    """Import and read what builds need."""
    for name in NEEDED:
        importlib.import_module(name)

    from builders.cli import main
    from builders.corpus import Settings
    from builders.statistics.tokens import count

    Settings()  # reads vocabularies, which are kept
    count("once")
    return main


def _serve():
    main = _imported()
    for line in sys.stdin:
        told = json.loads(line)
        process = os.fork()
        if not process:
            for stream, path in enumerate(told["to"], 1):
                os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), stream)
            os.environ["FRESHSTACK_HOME"] = told["home"]
            os._exit(main(told["arguments"]))
        ended = os.pidfd_open(process)
        if not select.select([ended], [], [], told["after"])[0]:
            os.kill(process, signal.SIGKILL)
        os.close(ended)
        sys.stdout.write(f"{os.waitpid(process, 0)[1]}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
