"""Unpacking a 7z archive with the program that is installed: through a pipe, in a process of its own."""

import os
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from builders.stackexchange.unpacking import Entry, damaged, locked, refusal
from freshstack_datasets.errors import InputError, shown, shown_path

_BLOCK = 1 << 20
_LONGEST_LINE = 1 << 16
_SAID = 4000
_PATIENCE = 60
_WARNED = 1
"""The exit code for something remarkable that kept nothing from being unpacked."""

_DAMAGE = ("data error", "crc failed", "unexpected end", "headers error", "cannot open the file", "is not archive")
_PASSWORD = ("wrong password", "encrypted")


class ByProgram:
    """Unpacks with a program of the 7-Zip family.

    Args:
        path: The archive.
        program: The program.
        patience: Seconds to wait for its end after its last word.
    """

    def __init__(self, path: Path, program: str, *, patience: float = _PATIENCE) -> None:
        self._path, self._program, self._patience = path, program, patience

    def entries(self) -> Iterator[Entry]:
        """Yield the files of the archive.

        Raises:
            InputError: It cannot be read.
        """
        with self._running("l", "-slt", "-ba") as said:
            told: dict[str, str] = {}
            while line := said.readline(_LONGEST_LINE):
                key, _, value = line.decode("utf-8", "replace").rstrip("\r\n").partition(" = ")
                if key == "Path" and told:
                    yield _entry(told)
                    told = {}
                if key in ("Path", "Size", "Encrypted"):
                    told.setdefault(key, value)
            if told:
                yield _entry(told)

    def blocks(self, entry: Entry) -> Generator[bytes]:
        """Yield the bytes of a file; the program is ended when the generator is closed.

        Args:
            entry: The file.

        Raises:
            InputError: The program fails.
        """
        with self._running("x", "-so", f"-i!{entry.name}") as unpacked:
            while block := unpacked.read(_BLOCK):
                yield block

    @contextmanager
    def _running(self, *arguments: str) -> Iterator[IO[bytes]]:
        """Run the program, give what it writes, and see to its end."""
        fixed = ("-t7z", "-spd", "-sccUTF-8", "-y", "-p-", os.path.abspath(self._path))  # noqa: PTH100 - follows no link
        with tempfile.TemporaryFile() as complaints:
            try:
                process = subprocess.Popen(
                    [self._program, *arguments, *fixed],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                )
            except OSError as error:
                got = error.strerror or "one that does not start"
                raise InputError(
                    f"cannot start {shown_path(self._program)}", expected="a program that unpacks 7z", got=got
                ) from None
            assert process.stdout is not None, "it was asked for"
            try:
                yield process.stdout
                code = process.wait(self._patience)
            except subprocess.TimeoutExpired:
                raise self._failed("it does not end") from None
            finally:
                process.kill()
                process.stdout.close()
                process.wait()
            if code not in (0, _WARNED):
                complaints.seek(0)
                raise self._why(code, complaints.read(_SAID).decode("utf-8", "replace"))

    def _why(self, code: int, said: str) -> InputError:
        """Return the error for what the program complained of."""
        words = said.casefold()
        if any(word in words for word in _PASSWORD):
            return locked(self._path)
        if any(word in words for word in _DAMAGE):
            return damaged(self._path)
        if code < 0:
            return self._failed(f"it was ended by signal {-code}")
        first = next((line for line in said.splitlines() if line.strip()), "")
        return self._failed(f"it ended with code {code}" + (f", saying {shown(first)}" if first else ""))

    def _failed(self, how: str) -> InputError:
        return refusal(self._path, f"that {shown_path(self._program)} unpacks it", how)


def _entry(told: dict[str, str]) -> Entry:
    size = told.get("Size", "")
    return Entry(told["Path"], int(size) if size.isascii() and size.isdigit() else 0, told.get("Encrypted") == "+")
