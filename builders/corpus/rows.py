"""Documents that somebody else made, one JSON object a line: ``id``, ``text``, and where known ``title`` and ``url``."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from builders.corpus.records import Item
from freshstack_datasets.errors import InputError, shown, shown_path


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

    def count(self) -> int:
        """Return how many lines there are."""
        with self.path.open("rb") as file:
            return sum(1 for _ in file)

    def files(self, first: int, last: int) -> Iterator[Item]:
        """Yield the documents of some lines, empty ones left out.

        Raises:
            InputError: A line is none of a document.
        """
        with self.path.open("rb") as file:
            for number, line in enumerate(islice(file, first, last), first + 1):
                if line.strip():
                    row = self._row(number, line)
                    yield Item(str(row.id), row.text.encode(), True, row.title or "", row.url or None)

    def _row(self, number: int, line: bytes) -> _Row:
        try:
            row = _Row.model_validate_json(line)
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
