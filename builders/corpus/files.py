"""The files of a repository or a folder, listed once, so that any of them can be read without going through the others."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from builders.repositories import Checkout, Entry, Passed, SourceFile


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a repository or a folder.

    Args:
        checkout: Where they are.
    """

    checkout: Checkout

    def listed(self) -> Iterator[dict[str, Any]]:
        """Yield where each file is, or why it is passed over."""
        for entry, passed in self.checkout.listed():
            if passed is None:
                yield {"path": entry.path.decode(), "mode": entry.mode, "name": entry.name}
            else:
                yield {"path": passed.path, "reason": passed.reason, "detail": passed.detail}

    def read(self, listed: Iterable[dict[str, Any]]) -> Iterator[SourceFile | Passed]:
        """Yield some files, or why they are passed over."""
        yield from self.checkout.read(map(_place, listed))


def _place(line: dict[str, Any]) -> tuple[Entry, Passed | None]:
    if "reason" in line:
        return Entry(b"", ""), Passed(**line)
    return Entry(line["path"].encode(), line["mode"], line["name"]), None
