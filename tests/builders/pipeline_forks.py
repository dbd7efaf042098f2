"""Builds that are killed: each is a fork of one process that has imported everything, so that it starts at once.

    with Forks(folder) as forks:
        forks.run(arguments, home, after=0.7)    # the exit code, or None where it was killed after 0.7 s
        forks.run(arguments, home, at=event)     # the same, killed when the event has come

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
    "Stemmer",
    "anyio._backends._asyncio",
    "bm25s",
    "genai_prices.data",
    "httpcore2",
    "httpx2",
    "pandas",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "rich.progress",
)
READY = "ready"
"""The line that says that everything is imported."""
KILL = "kill"
"""The line at which what runs is killed."""
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
        assert self._process.stdout.readline().strip() == READY  # so that the first run takes no longer than others
        return self

    def __exit__(self, *_):
        self._process.communicate()

    def run(self, arguments, home, after=None, at=None):
        """Run a command with a home of its own; kill it after some seconds, or at an event, unless it has ended.

        Args:
            arguments: The words of the command.
            home: Its home.
            after: The seconds.
            at: The event, waited for no longer than a minute.

        Returns:
            Its exit code, None where it was killed.
        """
        told = {
            "arguments": [str(one) for one in arguments],
            "home": str(home),
            "after": after,
            "to": [str(self.said), str(self.messages)],
        }
        self._say(json.dumps(told))
        if at is not None:
            at.wait(60)
            self._say(KILL)
        status = json.loads(self._process.stdout.readline())
        return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)

    def _say(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()


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
    _tell(READY)
    while line := sys.stdin.readline():
        if line.strip() == KILL:  # it has ended before
            continue
        told = json.loads(line)
        process = os.fork()
        if not process:
            for stream, path in enumerate(told["to"], 1):
                os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), stream)
            os.environ["FRESHSTACK_HOME"] = told["home"]
            os._exit(main(told["arguments"]))
        ended = os.pidfd_open(process)
        ready, _, _ = select.select([ended, sys.stdin], [], [], told["after"])
        if ended not in ready:
            os.kill(process, signal.SIGKILL)
        if sys.stdin in ready:  # to kill it, or since whoever runs it has ended
            sys.stdin.readline()
        os.close(ended)
        _tell(os.waitpid(process, 0)[1])


def _tell(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve()
