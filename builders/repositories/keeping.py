"""From a plain folder to a repository of ours, so that it can be kept in a bundle like all others."""

import os
import subprocess
from pathlib import Path
from typing import IO

from builders.repositories.folder import Folder
from builders.repositories.git import new_repository
from builders.repositories.remote import Brought
from builders.repositories.tree import Entry, pipe
from freshstack_datasets.errors import InputError, shown_path

_REF = "refs/heads/pinned"
_BLOCK = 1 << 20


def keep(folder: Folder, work: Path) -> Brought:
    """Make a repository with one commit, which holds the files of a folder and is the same each time.

    Args:
        folder: The folder.
        work: Where the repository goes.

    Raises:
        InputError: The folder cannot be read, or changes meanwhile.
    """
    git = new_repository(work / "kept")
    with git.started("fast-import", "--quiet", "--depth=0", stdin=subprocess.PIPE) as (process, said):
        to = pipe(process.stdin)
        try:
            to.write(b"commit %s\ncommitter nobody <> 0 +0000\ndata 0\n" % _REF.encode())
            for entry in folder.entries():
                to.write(b"M %s inline %s\n" % (entry.mode.encode(), _quoted(entry.path)))
                _send(folder, entry, to)
            to.close()
        except BrokenPipeError:
            pass  # it says why below
        process.wait()
        git.check(process, said(), "fast-import")
    return Brought(git, git.run("rev-parse", _REF).decode().strip(), "folder")


def _send(folder: Folder, entry: Entry, to: IO[bytes]) -> None:
    if entry.mode == "120000":
        link = folder.link(entry)
        to.write(b"data %d\n%s\n" % (len(link), link))
        return
    with folder.opened(entry) as file:
        left = os.fstat(file.fileno()).st_size
        to.write(b"data %d\n" % left)
        while left:
            block = file.read(min(left, _BLOCK))
            if not block:
                raise InputError(f"{shown_path(folder.path / os.fsdecode(entry.path))} changed while it was read")
            to.write(block)
            left -= len(block)
        to.write(b"\n")


def _quoted(path: bytes) -> bytes:
    """Return a path as git quotes it."""
    plain = (bytes([byte]) if 0x20 <= byte < 0x7F and byte not in b'"\\' else b"\\%03o" % byte for byte in path)
    return b'"' + b"".join(plain) + b'"'
