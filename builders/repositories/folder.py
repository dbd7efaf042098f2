"""The files of a plain folder, in the order that a repository of the same files has.

What git would not keep is not there: folders without files, pipes, sockets, devices, and ``.git`` itself. Links are
named and never followed.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from builders.repositories.records import LARGEST, LARGEST_PDF
from builders.repositories.tree import Entry, Missing
from freshstack_datasets.errors import InputError, shown_path

_BLOCK = 1 << 20
_DEEPEST = 500
"""Folders within folders; no deeper ones are made by people."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of a folder.

    Args:
        path: The folder.
        pdfs: Whether PDFs are read, which may then be larger than other files.
    """

    path: Path
    pdfs: bool = False

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None: ...

    def entries(self) -> Iterator[Entry]:
        """Yield the files and links in path order."""
        yield from _walk(os.fsencode(self.path), b"", 0)

    def reader(self) -> "Folder":
        """Return what reads the content of files."""
        return self

    def read(self, entries: Sequence[Entry]) -> Iterator[bytes | Missing]:
        """Yield the content of each file, or its size where it is too large."""
        for entry in entries:
            with self.opened(entry) as file:
                size = os.fstat(file.fileno()).st_size
                most = LARGEST_PDF if self.pdfs and entry.path.lower().endswith(b".pdf") else LARGEST
                data = file.read(most + 1) if size <= most else b""
                yield data if size <= most and len(data) <= most else Missing(size)

    def opened(self, entry: Entry) -> BinaryIO:
        """Open a file, and no link that took its place meanwhile."""
        path = os.path.join(os.fsencode(self.path), entry.path)  # noqa: PTH118  # bytes have no Path
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise _unread(path, error) from None
        file = os.fdopen(handle, "rb")
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            file.close()
            raise InputError(f"{shown_path(os.fsdecode(path))} changed while it was read")
        return file

    def link(self, entry: Entry) -> bytes:
        """Return what a link says."""
        return os.readlink(os.path.join(os.fsencode(self.path), entry.path))  # noqa: PTH115, PTH118  # bytes again

    def digest(self) -> str:
        """Return a digest of all paths, modes and contents."""
        total = hashlib.sha256()
        for entry in self.entries():
            own = hashlib.sha256()
            if entry.mode == "120000":
                own.update(self.link(entry))
            else:
                with self.opened(entry) as file:
                    while block := file.read(_BLOCK):
                        own.update(block)
            total.update(b"%s %s %s\0" % (entry.mode.encode(), own.hexdigest().encode(), entry.path))
        return f"sha256:{total.hexdigest()}"


def _walk(root: bytes, above: bytes, depth: int) -> Iterator[Entry]:
    if depth > _DEEPEST:
        raise InputError(f"{shown_path(os.fsdecode(root))} has more than {_DEEPEST} folders within each other")
    try:
        with os.scandir(os.path.join(root, above)) as found:  # noqa: PTH118  # bytes have no Path
            here = sorted((_key(item), item) for item in found if item.name != b".git")
            # the same bytes cannot stand there twice, so that entries themselves are never compared
    except OSError as error:
        raise _unread(os.path.join(root, above), error) from None  # noqa: PTH118
    for _, item in here:
        path = above + item.name
        if item.is_dir(follow_symlinks=False):
            yield from _walk(root, path + b"/", depth + 1)
        elif item.is_symlink():
            yield Entry(path, "120000")
        elif item.is_file(follow_symlinks=False):
            yield Entry(path, "100755" if item.stat(follow_symlinks=False).st_mode & 0o100 else "100644")


def _key(item: "os.DirEntry[bytes]") -> bytes:
    """Return what a name is sorted by: that of a folder as if its slash belonged to it, as git has it."""
    return item.name + b"/" if item.is_dir(follow_symlinks=False) else item.name


def _unread(path: bytes, error: OSError) -> InputError:
    return InputError(f"cannot read {shown_path(os.fsdecode(path))}", got=(error.strerror or str(error)).lower())
