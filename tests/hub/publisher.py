"""Publishing with the command of the builders, in a process that is started once and told what to do line by line.

Its waits are noted and not waited: those of the command and those of the Hub's client.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.hub.clients import ROOT, Client

_CODE = """
import contextlib, io, json, os, sys, time
waits = []
time.sleep = waits.append
from builders.cli import main
for line in sys.stdin:
    told = json.loads(line)
    os.environ.pop("HF_TOKEN", None)
    os.environ.update(told["env"])
    out, err = io.StringIO(), io.StringIO()
    waits.clear()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(told["arguments"])
    print(json.dumps([code, out.getvalue(), err.getvalue(), waits]), flush=True)
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended, what it printed, and the seconds that it would have waited."""

    code: int
    out: str
    err: str
    waits: list[float]

    @property
    def told(self) -> Any:
        """What it printed as JSON."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """Its line of error."""
        (line,) = (line for line in self.err.splitlines() if line.startswith("error: "))
        return line.removeprefix("error: ")


class Publisher:
    """A process that publishes.

    Args:
        client: Knows the Hub.
        home: Where it keeps its caches.
        xet: Whether large files travel by xet.
        offline: Whether it must not ask the Hub.
    """

    def __init__(self, client: Client, home: Path, *, xet: bool = False, offline: bool = False) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE],
            cwd=ROOT,
            env=client.environment(home, xet=xet, offline=offline),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate(timeout=60)  # its input ends, and so does it

    def __call__(self, folder: Path, *options: object, token: str | None = None) -> Ended:
        """Publish a folder."""
        arguments = ["publish", str(folder), *map(str, options)]
        env = {"HF_TOKEN": token} if token else {}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"arguments": arguments, "env": env}), file=self._process.stdin, flush=True)
        return Ended(*json.loads(self._process.stdout.readline()))
