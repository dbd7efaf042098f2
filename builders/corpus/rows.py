"""Documents that somebody else made, one JSON object a line: ``id``, ``text``, and where known ``title`` and ``url``."""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from builders.corpus.records import Item
from freshstack_datasets.errors import InputError, shown, shown_path

LONGEST = 100 * 2**20
"""Bytes that a line may have."""


class _Row(BaseModel):
    """One line; what it says beyond this is not read."""

    model_config = ConfigDict(strict=True, extra="ignore")

    id: str | int
    text: str
    title: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """The documents of a JSONL file.

    Args:
        path: The file.
    """

    path: Path

    def listed(self) -> Iterator[dict[str, Any]]:
        """Yield where each line is that is not empty.

        Raises:
            InputError: A line is too long.
        """
        at = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                if len(line) > LONGEST:
                    raise self._wrong(number, f"a line of more than {LONGEST:,} bytes")
                if line.strip():
                    yield {"path": f"line {number}", "line": number, "at": at, "bytes": len(line)}
                at += len(line)

    def read(self, listed: Iterable[dict[str, Any]]) -> Iterator[Item]:
        """Yield the documents of some lines.

        Raises:
            InputError: A line is none of a document.
        """
        with self.path.open("rb") as file:
            for place in listed:
                file.seek(place["at"])
                row = self._row(place["line"], file.read(place["bytes"]))
                yield Item(str(row.id), row.text.encode(), True, row.title or "", row.url or None)

    def _row(self, number: int, line: bytes) -> _Row:
        try:
            row = _Row.model_validate_json(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            got = f"{place}: {first['msg']}" if place else first["msg"]
            raise self._wrong(number, got) from None
        if row.id == "":
            raise self._wrong(number, "an empty id")
        return row

    def _wrong(self, number: int, got: str) -> InputError:
        return InputError(f"{shown_path(self.path)[1:-1]}:{number}", expected="JSON with id and text", got=shown(got))
