"""Git, run with settings of ours and none of anybody else's.

Neither the user's settings nor those of the machine are read, and a repository's own only in ``local.py``, by commands
that run nothing. No hook, filter, alias, credential helper, monitor or prompt is ever run; nothing is checked out. What
git may speak is listed for each call, and is nothing at all while files are read, so that what is missing stays so.
"""

import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from builders.repositories.together import kill, running
from freshstack_datasets.errors import InputError, shown

OLDEST = (2, 36)
"""The oldest git that has ``cat-file --batch-command``."""
LOCAL_SECONDS = 600.0
"""Seconds that something may take that needs no network."""
FETCH_SECONDS = 2 * 3600.0
"""Seconds that fetching one repository may take."""

_SHOWN = 300
"""Characters of what git says that a message holds."""

_KEPT = (
    *("PATH", "TMPDIR", "LD_LIBRARY_PATH", "USER", "LOGNAME", "SSH_AUTH_SOCK"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_EXEC_PATH"),
)
"""What of the environment git gets to see; no other variable that begins with GIT_ does anything."""

_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.commitGraph": "false",
    "credential.helper": "",
    "core.askPass": "",
    "protocol.version": "2",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    "transfer.bundleURI": "false",
    "gc.auto": "0",
    "pack.compression": "1",
    "maintenance.auto": "false",
    "http.lowSpeedLimit": "100",
    "http.lowSpeedTime": "120",
}


@dataclass(frozen=True, slots=True)
class Git:
    """One repository that git is run in.

    Args:
        folder: Its folder, a bare one, or a ``.git``.
        protocol: What git may speak; "" nothing.
        header: A line for HTTP that is sent along.
        secrets: What is taken out of messages.
        trace: A file that git writes down what it does in, "" for none; no content of packs, and no header.
    """

    folder: Path
    protocol: str = ""
    header: str = field(default="", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    trace: str = ""

    def run(self, *arguments: str, seconds: float = LOCAL_SECONDS) -> bytes:
        """Run a git command and return what it prints.

        Raises:
            GitError: It fails, or takes too long.
        """
        with self.started(*arguments) as (process, said):
            try:
                printed, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                raise GitError(arguments[0], f"no end after {seconds:g} s", late=True) from None
            self.check(process, said(), arguments[0])
        return printed

    def check(self, process: "subprocess.Popen[bytes]", said: str, command: str) -> None:
        """Refuse the end of a process that failed."""
        if process.returncode:
            raise GitError(command, said or f"exit code {process.returncode}")

    @contextmanager
    def started(self, *arguments: str, stdin: int | IO[bytes] = subprocess.DEVNULL) -> Iterator["Started"]:
        """Start a git command; at the end of the block, it and whatever it started are gone."""
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [executable(), *arguments],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self._environment(),
                cwd="/",
                start_new_session=True,
            )
            try:
                with running(process) as may_go_on:
                    if not may_go_on:
                        raise GitError(arguments[0], "everything was ended meanwhile", late=True)
                    yield process, lambda: self._said(errors)
            finally:
                _end(process)

    def _said(self, errors: IO[bytes]) -> str:
        """Return the end of what git said, without secrets."""
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2_000))
        lines = [line.strip() for line in errors.read().decode("utf-8", "replace").splitlines()]
        worst = [line for line in lines if line.startswith(("fatal:", "error:", "remote:"))] or lines[-1:]
        text = " ".join(worst)
        for secret in self.secrets:
            text = text.replace(secret, "…")
        return text

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        # http may be led on to https, and nothing is led on once a token is sent along
        spoken = {"": "none", "http": "http" if self.header else "http:https"}.get(self.protocol, self.protocol)
        settings = _SETTINGS | {"protocol.allow": "never"}
        settings |= {f"protocol.{name}.allow": "always" for name in spoken.split(":")}
        if self.header:
            settings |= {"http.extraHeader": self.header, "http.followRedirects": "false"}
        return {
            **kept,
            "HOME": os.devnull,
            "LC_ALL": "C",
            "GIT_DIR": str(self.folder.absolute()),  # git itself starts elsewhere
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": spoken,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_GRAFT_FILE": os.devnull,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oClearAllForwardings=yes",
            "GIT_PAGER": "cat",
            **({"GIT_TRACE2_EVENT": self.trace} if self.trace else {}),
            **_as_environment(settings),
        }


Started = tuple["subprocess.Popen[bytes]", Callable[[], str]]
"""A process, and what returns what it said on standard error."""


class GitError(InputError):
    """Git did not do what it was told.

    Args:
        command: The command.
        said: What it said.
        late: Whether it took too long.
    """

    def __init__(self, command: str, said: str, *, late: bool = False) -> None:
        super().__init__(f"git {command} failed", got=shown_end(said))
        self.said, self.late = said, late


def shown_end(text: str) -> str:
    """Return the end of a foreign text for a message: where it says what is wrong."""
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else "…" + line[-_SHOWN:])


@functools.cache
def executable() -> str:
    """Return where git is.

    Raises:
        InputError: It is not installed, or too old.
    """
    found = shutil.which("git")
    if found is None:
        raise InputError("git is not installed", hint="install it; repositories are read with it")
    plain = {name: os.environ[name] for name in _KEPT if name in os.environ}
    asked = subprocess.run([found, "version"], capture_output=True, check=False, stdin=subprocess.DEVNULL, env=plain)
    version = re.search(rb"(\d+)\.(\d+)", asked.stdout)
    if version is None or (int(version[1]), int(version[2])) < OLDEST:
        got = shown(asked.stdout.decode("utf-8", "replace").strip())
        raise InputError("git is too old", expected=f"{OLDEST[0]}.{OLDEST[1]} or newer", got=got)
    return found


def new_repository(folder: Path, object_format: str = "sha1") -> Git:
    """Make a bare repository with nothing of anybody's in it.

    Args:
        folder: Where; it must not be there yet.
        object_format: How objects are named, ``sha1`` or ``sha256``.
    """
    folder.mkdir()
    git = Git(folder)
    git.run("init", "--quiet", "--bare", "--template=", f"--object-format={object_format}", "--initial-branch=main")
    return git


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and all that it started, and leave none of its pipes open."""
    kill(process)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # what was not written yet
                pipe.close()
    process.wait()


def _as_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as variables, which no list of processes shows, unlike arguments."""
    told = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return told
