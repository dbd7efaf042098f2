"""One commit as one file: a bundle of git's, with everything but files that are too large.

The header says what is left out and which commits come before, so that git reads it too; it is written and read here,
since ``git bundle`` follows the history that is not there.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from builders.repositories.git import LOCAL_SECONDS, Git, GitError, new_repository
from builders.repositories.remote import SMALL, Brought
from builders.repositories.tree import incomplete, patient, pipe
from freshstack_datasets.errors import InputError, shown, shown_path

_FIRST = b"# v3 git bundle\n"
_REF = "refs/heads/pinned"
_LONGEST = 4_096
_LINES = 1_000


def write(brought: Brought, target: Path) -> None:
    """Write the bundle of a commit.

    Args:
        brought: The repository with the commit.
        target: The file.

    Raises:
        InputError: The repository is not whole.
    """
    git, commit = brought.git, brought.commit
    form = git.run("rev-parse", "--show-object-format").decode().strip()
    head = [f"@object-format={form}", f"@filter={SMALL.partition('=')[2]}"]
    head += [f"-{parent}" for parent in _parents(git, commit)]
    with target.open("wb") as file:
        file.write(_FIRST + "\n".join([*head, f"{commit} {_REF}", "", ""]).encode())
        file.flush()
        _pack(brought, file)


def _parents(git: Git, commit: str) -> Iterator[str]:
    """Yield the parents that a commit itself names, which are there or not."""
    with git.started("cat-file", "commit", commit) as (process, _):
        head = patient(process.stdout).read(1 << 20)  # what it says may be of any length
    for line in head.partition(b"\n\n")[0].splitlines():
        if line.startswith(b"parent "):
            yield line.decode("ascii", "replace").removeprefix("parent ")


def _pack(brought: Brought, file: IO[bytes]) -> None:
    """Write the objects of a commit as one pack."""
    git = brought.git
    walk = ("rev-list", "--objects", "--missing=print", SMALL, f"{brought.commit}^{{tree}}")
    packing = ("pack-objects", "--quiet", "--stdout", "--threads=1")
    with git.started(*walk) as (objects, walked), git.started(*packing, stdin=subprocess.PIPE) as (packer, packed):
        names, output = pipe(packer.stdin), patient(packer.stdout)
        try:
            names.write(f"{brought.commit}\n".encode())
            for line in patient(objects.stdout):
                if not line.startswith(b"?"):
                    names.write(line)
                elif brought.whole:
                    raise incomplete(line[1:].strip())
            names.close()
        except BrokenPipeError:
            pass  # it says why below
        shutil.copyfileobj(output, file, 1 << 20)
        packer.wait()
        objects.wait()
        git.check(objects, walked(), walk[0])
        git.check(packer, packed(), packing[0])


def unpack(path: Path, work: Path) -> Brought:
    """Make a repository of a bundle.

    Args:
        path: The bundle.
        work: Where the repository goes.

    Raises:
        InputError: It is no bundle, or a damaged one.
    """
    try:
        with path.open("rb") as file:
            form, commit = _read_head(path, file)
            git = new_repository(work / "unpacked", form)
            with git.started("index-pack", "--stdin", stdin=subprocess.PIPE) as (process, said):
                try:
                    shutil.copyfileobj(file, pipe(process.stdin), 1 << 20)
                    process.communicate(timeout=LOCAL_SECONDS)
                except BrokenPipeError:
                    process.wait()
                git.check(process, said(), "index-pack")
    except OSError as error:
        raise InputError(f"cannot read {shown_path(path)}", got=(error.strerror or str(error)).lower()) from None
    except (GitError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{shown_path(path)} is damaged", got=shown(str(error)), hint="fetch again") from None
    return Brought(git, commit, "bundle")


def _read_head(path: Path, file: IO[bytes]) -> tuple[str, str]:
    """Read up to the pack and return how objects are named, and the commit."""
    if file.readline(_LONGEST) != _FIRST:
        raise InputError(f"{shown_path(path)} is no bundle", expected=f"a file that begins {_FIRST.decode().strip()!r}")
    form = commit = ""
    for _ in range(_LINES):
        line = file.readline(_LONGEST).decode("ascii", "replace").strip()
        if not line:
            break
        form = line.removeprefix("@object-format=") if line.startswith("@object-format=") else form
        commit = line.removesuffix(f" {_REF}") if line.endswith(f" {_REF}") else commit
    if form not in ("sha1", "sha256") or not re.fullmatch("[0-9a-f]{40,64}", commit):
        raise InputError(f"{shown_path(path)} is no bundle of ours", hint="fetch again")
    return form, commit
