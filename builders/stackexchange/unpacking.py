"""What those who unpack an archive have in common."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from freshstack_datasets.errors import InputError, shown_path


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of an archive.

    Args:
        name: Its path there.
        size: Its bytes when unpacked, as the archive says.
        encrypted: Whether it has a password.
    """

    name: str
    size: int
    encrypted: bool = False


class Unpacker(Protocol):
    """What unpacks an archive."""

    def entries(self) -> Iterator[Entry]:
        """Yield the files of the archive."""

    def blocks(self, entry: Entry) -> Generator[bytes]:
        """Yield the bytes of a file; closing it ends the work."""


def refusal(path: Path, expected: str, got: str, hint: str = "") -> InputError:
    """Return the error for an archive that cannot be used."""
    return InputError(f"cannot read {shown_path(path)}", expected=expected, got=got, hint=hint)


def locked(path: Path) -> InputError:
    """Return the error for an archive whose very list of files needs a password."""
    return refusal(path, "an archive without a password", "one with a password", "unpack it first")


def damaged(path: Path, detail: str = "") -> InputError:
    """Return the error for an archive that is not whole.

    Args:
        path: The archive.
        detail: What the unpacker says of it.
    """
    return refusal(
        path, "a whole 7z archive", "a damaged one" + (f" ({detail})" if detail else ""), "download it again"
    )
