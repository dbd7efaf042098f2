"""JSON that waits on disk until it is known what becomes of it."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self


class Scratch:
    """A nameless file of JSON objects: written once, read back in order or one by one, gone when it is closed.

    Args:
        near: Where room is to be used; the nearest folder above that exists holds the file.
    """

    def __init__(self, near: Path) -> None:
        folder = next(parent for parent in near.absolute().parents if parent.is_dir())
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the scratch itself

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, value: Mapping[str, Any]) -> int:
        """Write an object; return its place, for ``at``."""
        place = self._file.tell()
        self._file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
        return place

    def at(self, place: int) -> dict[str, Any]:
        """Return the object at a place; whoever goes through the file meanwhile is not disturbed."""
        back = self._file.tell()
        self._file.seek(place)
        found: dict[str, Any] = json.loads(self._file.readline())
        self._file.seek(back)
        return found

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._file.seek(0)
        for line in self._file:
            yield json.loads(line)
