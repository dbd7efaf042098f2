"""What a pull request changes: the paths of a git checkout that differ from where it branched off."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from freshstack_datasets.errors import InputError, shown, shown_path
from leaderboard.validation.findings import KEPT, Findings

_DEPTH = 4
"""Parts of the path of a submission's file below the folder of submissions: board, snapshot, submission, file."""

_MOST_SECONDS = 120

_OTHER_CHECKOUT = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""What git tells its hooks, and what would make it look into their checkout."""


@dataclass(frozen=True, slots=True)
class Change:
    """A path that differs.

    Args:
        status: How: ``A`` for one that was added, ``D`` for one that was deleted, ``M`` and others.
        path: The path, from the top of the checkout.
    """

    status: str
    path: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """What a pull request hands in.

    Args:
        top: The top of the checkout.
        folders: The submissions that it adds.
    """

    top: Path
    folders: tuple[Path, ...]


def read_pull_request(root: Path, base: str, findings: Findings) -> PullRequest:
    """Return the submissions that a pull request adds, and say what else it changes.

    What was not committed yet counts as well, so that it can be asked before.

    Args:
        root: The folder of submissions, within the checkout.
        base: A commit, a branch or a tag that it is to be merged into.
        findings: Takes what must not be changed.

    Raises:
        InputError: It is no checkout of git, or has no such base.
    """
    top = Path(_git(root, "rev-parse", "--show-toplevel").removesuffix("\n"))
    below = root.resolve().relative_to(top.resolve()).as_posix()
    start = _start(root, base)
    taken = set(_git(top, "ls-tree", "-r", "-d", "-z", "--name-only", start, "--", f"{below}/").split("\0"))
    added: dict[str, None] = {}
    foreign, touched = [], []
    for change in _changes(top, start):
        folder = _folder_of(change.path, below)
        if folder is None:
            foreign.append(change)
        elif folder in taken:
            touched.append(change)
        else:
            added[folder] = None
    _add("E501", foreign, f"files in the folder of a new submission, in {below}", findings)
    _add("E502", touched, "new submissions alone", findings)
    if not added:
        findings.add("E503", below, "the pull request", expected="a new submission", got="none")
    folders = [root.joinpath(*PurePosixPath(folder).relative_to(below).parts) for folder in added]
    return PullRequest(top.resolve(), tuple(folders))


def _add(code: str, changes: list[Change], expected: str, findings: Findings) -> None:
    for number, change in enumerate(changes[:KEPT], 1):
        count = 1 if number < KEPT else len(changes) - KEPT + 1
        what = f"a file that is {_word(change)}"
        findings.add(code, shown(change.path)[1:-1], what, expected=expected, count=count)


def _word(change: Change) -> str:
    return {"A": "added", "D": "deleted"}.get(change.status, "changed")


def _folder_of(path: str, below: str) -> str | None:
    """Return the folder of the submission that a path is in; None where it is in none."""
    try:
        parts = PurePosixPath(path).relative_to(below).parts
    except ValueError:
        return None
    return "/".join((below, *parts[: _DEPTH - 1])) if len(parts) >= _DEPTH else None


def _start(root: Path, base: str) -> str:
    """Return the commit that the checkout branched off from a base."""
    hint = "fetch it, and name a commit, a branch or a tag such as origin/main"
    if not base or base.startswith("-"):
        raise InputError("--pull-request", expected="a commit, a branch or a tag", got=shown(base), hint=hint)
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}", what=f"a commit called {shown(base)}")
    return _git(
        root, "merge-base", commit.strip(), "HEAD", what=f"a commit from which both it and {shown(base)} come"
    ).strip()


def _changes(top: Path, start: str) -> Iterator[Change]:
    compared = _git(top, "diff", "--name-status", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", start, "--")
    parts = compared.split("\0")
    for status, path in zip(parts[::2], parts[1::2], strict=False):
        yield Change(status[:1], path)
    for path in _git(top, "ls-files", "--others", "--exclude-standard", "-z").split("\0"):
        if path:
            yield Change("A", path)


def _git(folder: Path, *arguments: str, what: str = "a checkout of git") -> str:
    """Return what git says; bytes of paths that are no UTF-8 become halves of surrogate pairs, as in Python's paths."""
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(folder), *arguments]
    told = {name: value for name, value in os.environ.items() if name not in _OTHER_CHECKOUT}
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_MOST_SECONDS, env=told)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{shown_path(folder)}: git", expected="it to run", got=shown(str(error))) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["nothing of that name"]
        raise InputError(f"{shown_path(folder)}", expected=what, got=shown(said[0]))
    return done.stdout.decode("utf-8", "surrogateescape")
