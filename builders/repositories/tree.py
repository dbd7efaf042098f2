"""The files of one commit, read from a bare repository: by two processes, in path order, one file at a time."""

import io
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import IO, Any

from builders.repositories.git import Git
from builders.repositories.records import LARGEST
from freshstack_datasets.errors import InputError, shown

MOST = 2_000_000
"""Files that a tree may have: a tree that holds itself many times over can claim any number of them."""

PATIENCE = 600.0
"""Seconds to wait for the next bytes of what is on this machine."""

_LONGEST = 1 << 20
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a tree.

    Args:
        path: Its path, as it is written there.
        mode: Its mode, six digits.
        name: The name of its object; "" in a folder.
    """

    path: bytes
    mode: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands for content that is not read.

    Args:
        size: The size, None when the content is not there.
    """

    size: int | None


@dataclass(slots=True)
class Tree:
    """The files of a commit; to be used in a ``with`` block, once.

    Args:
        git: The repository.
        commit: The commit.
        whole: Whether every file ought to be there, since none was left out for its size.
    """

    git: Git
    commit: str
    whole: bool
    _stack: ExitStack = field(default_factory=ExitStack, init=False)

    def __enter__(self) -> "Tree":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def entries(self) -> Iterator[Entry]:
        """Yield the lines of the tree in path order."""
        command = ("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", self.commit)
        process, said = self._stack.enter_context(self.git.started(*command))
        for number, line in enumerate(_split(patient(process.stdout))):
            if number >= MOST:
                raise InputError("a tree without end", expected=f"at most {MOST:,} files")
            facts, _, path = line.partition(b"\t")
            mode, _, name = facts.decode("ascii", "replace").split(" ")
            yield Entry(path, mode.zfill(6), name)
        process.wait()
        self.git.check(process, said(), "ls-tree")

    def reader(self) -> "Reader":
        """Return what reads the content of lines."""
        command = ("cat-file", "--batch-command", "--buffer")
        process, _ = self._stack.enter_context(self.git.started(*command, stdin=subprocess.PIPE))
        return Reader(self, pipe(process.stdin), patient(process.stdout))


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads contents, some lines at a time, so that questions and answers need not take turns for each."""

    tree: Tree
    questions: IO[bytes]
    answers: IO[bytes]

    def read(self, entries: Sequence[Entry]) -> Iterator[bytes | Missing]:
        """Yield the content of each line, or why there is none.

        Args:
            entries: Lines of files; so few that their names fit into a pipe.
        """
        self._ask("info", entries)
        sizes = [self._size(entry) for entry in entries]
        fitting = [size is not None and size <= LARGEST for size in sizes]
        self._ask("contents", [entry for entry, fits in zip(entries, fitting, strict=True) if fits])
        for entry, size, fits in zip(entries, sizes, fitting, strict=True):
            yield self._content(entry) if fits else Missing(size)

    def _ask(self, command: str, entries: Sequence[Entry]) -> None:
        try:
            self.questions.write("".join(f"{command} {entry.name}\n" for entry in entries).encode() + b"flush\n")
            self.questions.flush()
        except BrokenPipeError:
            raise self._broken() from None

    def _size(self, entry: Entry) -> int | None:
        found = self.answers.readline(_BLOCK).split()
        if len(found) == 2 and found[1] == b"missing":
            if self.tree.whole:
                raise incomplete(entry.path)
            return None
        if len(found) != 3 or found[1] != b"blob":
            raise self._broken()
        return int(found[2])

    def _content(self, entry: Entry) -> bytes:
        found = self.answers.readline(_BLOCK).split()
        if len(found) != 3:
            raise self._broken()
        size = int(found[2])
        data = self.answers.read(size)
        if len(data) != size or self.answers.read(1) != b"\n":
            raise self._broken()
        return data

    def _broken(self) -> InputError:
        return InputError(f"commit {self.tree.commit}", expected="a repository that is whole", got="a damaged one")


def incomplete(name: bytes) -> InputError:
    """Return the error for a repository on this machine without a file or object."""
    what = f"the repository lacks the content of {shown(name)}"
    return InputError(what, expected="a whole one", got="a partial clone", hint="git fetch --refetch in it")


def pipe(end: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe that was asked for."""
    if end is None:
        raise ValueError("no pipe")
    return end


def patient(end: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe to read from that does not wait for ever, whatever a repository has where files should be."""
    return io.BufferedReader(_Patient(pipe(end).fileno()), _BLOCK)


class _Patient(io.RawIOBase):
    """Reads from a pipe, and gives up when nothing comes.

    Args:
        handle: The pipe.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._poll = select.poll()
        self._poll.register(handle, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._poll.poll(PATIENCE * 1_000):
            raise InputError("a repository cannot be read", got=f"nothing for {PATIENCE:g} s")
        return os.readv(self._handle, [buffer])


def _split(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield what stands between NULs."""
    rest = b""
    while block := stream.read(_BLOCK):
        *lines, rest = (rest + block).split(b"\0")
        yield from lines
        if len(rest) > _LONGEST:
            raise InputError("a tree with a path longer than a megabyte")
