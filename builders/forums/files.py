"""The files of an export: which ones there are, and their bytes, unpacked where they are packed by gzip."""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from builders.stackexchange.archive import Readable
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.progress import track

BLOCK = 1 << 20
"""Bytes read at once."""

LONGEST_LINE = 16 << 20
"""Bytes a line may have: a question with all its answers."""

ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")
"""How the names of exports end."""

_HEAD = 1 << 20
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_EXPECTED = "questions and answers, one JSON object a line, or the JSON of GitHub's API"


class Files:
    """The files of an export, in the order of their names.

    Args:
        path: One file, or a folder whose files that end in ``.json`` or ``.jsonl``, or the same with ``.gz``, are meant.

    Raises:
        InputError: There is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.paths = listed(path)
        if not self.paths:
            raise _none(path)
        self._digests: dict[str, str] = {}
        self._sizes: dict[str, int] = {}

    @property
    def size(self) -> int:
        """How many bytes were read, as they are when unpacked."""
        return sum(self._sizes.values())

    @property
    def sha256(self) -> str:
        """The digest of the file as it is when unpacked; of a folder, that of what sha256sum prints of its files."""
        if not self.path.is_dir():
            return next(iter(self._digests.values()), "")
        lines = "".join(f"{digest}  {name}\n" for name, digest in self._digests.items())
        return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def name(self) -> str:
        """The name of the file or folder, as it can be shown."""
        return _shown_name(self.path.absolute())

    def place(self, path: Path, what: str) -> str:
        """Return where something is, for people."""
        return f"{_shown_name(path)}, {what}" if self.path.is_dir() else what

    def blocks(self, path: Path) -> Iterator[bytes]:
        """Yield the bytes of a file.

        Raises:
            InputError: It cannot be read or unpacked, or is not in UTF-8.
        """
        digest = hashlib.sha256()
        self._sizes[path.name] = 0
        with _opened(path) as file:
            head = _check_head(path, file.read(_HEAD))
            for block in track(chain((head,), iter(lambda: file.read(BLOCK), b"")), None, f"reading {path.name}"):
                self._sizes[path.name] += len(block)
                digest.update(block)
                yield block.removeprefix(_BOM) if block is head else block
        self._digests[path.name] = digest.hexdigest()


def listed(path: Path) -> list[Path]:
    """Return the files of an export; none when the path is neither a file nor a folder that has any."""
    try:
        if not path.is_dir():
            return [path] if path.is_file() else []
        return sorted(
            found
            for found in path.iterdir()
            if found.name.lower().endswith(ENDINGS) and not found.name.startswith(".") and found.is_file()
        )
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return []


def is_folder(path: Path) -> bool:
    """Return whether a path is that of a folder; one that cannot be looked at is not."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def head_of(path: Path) -> bytes:
    """Return how a file begins, white space left out.

    Raises:
        InputError: It cannot be read.
    """
    with _opened(path) as file:
        return _check_head(path, file.read(_HEAD)).removeprefix(_BOM).lstrip()


def lines(blocks: Iterator[bytes], longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines of a file with their numbers, from 1; None for one that is too long.

    Args:
        blocks: The file's bytes.
        longest: Bytes a line may have.
    """
    kept, number, lost = bytearray(), 1, False
    for block in blocks:
        *ended, rest = block.split(b"\n")
        for piece in ended:
            lost = lost or len(kept) + len(piece) > longest
            yield number, None if lost else bytes(kept + piece)
            kept, number, lost = bytearray(), number + 1, False
        lost = lost or len(kept) + len(rest) > longest
        kept = bytearray() if lost else kept + rest
    if kept or lost:
        yield number, None if lost else bytes(kept)


@contextmanager
def _opened(path: Path) -> Iterator[Readable]:
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP)) == _GZIP
            file.seek(0)
            if not packed:
                yield file
                return
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        hint = "make it again, or unpack what is left of it: gunzip FILE"
        raise InputError(f"{shown_path(path)} cannot be unpacked", got=shown(str(error)), hint=hint) from None
    except OSError as error:
        got = (error.strerror or str(error)).lower()
        raise InputError(f"cannot read {shown_path(path)}", expected=_EXPECTED, got=got) from None


def _check_head(path: Path, head: bytes) -> bytes:
    """Return the beginning of a file, unless it is in an encoding that Windows makes."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or (b"\0" in head[:4]):
        raise InputError(
            f"{shown_path(path)} is not in UTF-8", got="UTF-16 or UTF-32", hint="save it again as UTF-8, without a mark"
        )
    return head


def _shown_name(path: Path) -> str:
    return shown_path(path.name)[1:-1]


def _none(path: Path) -> InputError:
    if is_folder(path):
        hint = "of a dump, give the file Posts.xml itself"
        expected = "files that end in .json or .jsonl"
        return InputError(f"{shown_path(path)} holds no export", expected=expected, got="none", hint=hint)
    return InputError(f"cannot read {shown_path(path)}", expected=_EXPECTED, got="no file of that name")
