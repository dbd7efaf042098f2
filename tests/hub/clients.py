"""Real clients of the Hub, each in a process of its own: they read their environment when they are imported."""

import itertools
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.hub.server import TestHub

ROOT = Path(__file__).parents[2]
GUARD = Path(__file__).parent / "guard"


class Client:
    """Starts clients of one Hub.

    Args:
        hub: The Hub that they talk to.
        folder: Where their homes are made.
    """

    def __init__(self, hub: TestHub, folder: Path) -> None:
        self.hub = hub
        self._homes = (folder / f"home-{number}" for number in itertools.count(1))

    def __call__(
        self,
        code: str | Sequence[str],
        *arguments: object,
        xet: bool = False,
        offline: bool = False,
        token: str | None = None,
        home: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run Python code, or a command of this environment, and return how it ended.

        Args:
            code: A snippet, which finds the arguments in ``sys.argv[1:]``; or a command such as
                ``["freshstack", "list"]`` or ``["python", "-m", "builders", "publish", folder]``.
            arguments: Put behind it, as text.
            xet: Send and fetch large files by xet; else without.
            offline: Set ``HF_HUB_OFFLINE``.
            token: What it identifies itself with.
            home: Where it keeps all its caches; a new folder when not given, so that nothing is cached.
            env: More variables.
        """
        command = ["python", "-c", textwrap.dedent(code)] if isinstance(code, str) else list(code)
        program = Path(sys.executable).parent / command[0]
        home = home or next(self._homes)
        home.mkdir(parents=True, exist_ok=True)
        return subprocess.run(
            [str(program), *map(str, command[1:]), *map(str, arguments)],
            cwd=ROOT,
            env={**self.environment(home, xet, offline, token), **(env or {})},
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    def result(self, code: str, *arguments: object, **options: Any) -> Any:
        """Run a snippet that prints JSON as its last line, and return what it says.

        Args:
            code: The snippet.
            arguments: As above.
            options: As above.
        """
        done = self(code, *arguments, **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def environment(
        self, home: Path, xet: bool = False, offline: bool = False, token: str | None = None
    ) -> dict[str, str]:
        """Return the variables that a client runs with; for one that is started in another way.

        Args:
            home: As above.
            xet: As above.
            offline: As above.
            token: As above.
        """
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        return inherited | {
            "HF_ENDPOINT": self.hub.url,
            "HF_HOME": str(home / "hf"),
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "FRESHSTACK_HOME": str(home / "freshstack"),
            "HOME": str(home),
            "NO_PROXY": "127.0.0.1,localhost",
            "PYTHONPATH": os.pathsep.join([str(GUARD), *filter(None, [os.environ.get("PYTHONPATH")])]),
            **({} if xet else {"HF_HUB_DISABLE_XET": "1"}),
            **({"HF_HUB_OFFLINE": "1"} if offline else {}),
            **({"HF_TOKEN": token} if token else {}),
        }
