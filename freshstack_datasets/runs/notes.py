"""What is noted of a run file beside its entries, when it is looked through for all its faults and not just the first."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from freshstack_datasets.errors import RunFileError

KINDS = {
    "unreadable": "the file cannot be opened or read",
    "compression": "its compression is damaged",
    "large": "it holds more than it may",
    "encoding": "bytes that are no UTF-8, NUL, or a carriage return within a line",
    "long-line": "a line that is too long to be an entry",
    "empty-line": "an empty line before others",
    "fields": "a line with another number of fields",
    "rank": "a rank that is no whole number",
    "score": "a score that is no number",
    "not-finite": "a score that is NaN or infinite",
    "id": "what cannot be an id",
    "duplicate": "a document that comes twice for a query",
    "json": "what is no JSON, or JSON of another shape",
    "parquet": "what is no Parquet file, or one of other columns",
    "empty": "a file without an entry",
    "many": "more faults than are looked at",
    "content": "anything else",
}
"""The kinds of faults that a run file can have, and what they are."""

MOST_FAULTS = 100_000
"""Faults of a file after which no more are looked for."""

KEPT = 10
"""Faults of each kind that are kept; the others are counted."""


@dataclass(slots=True)
class Faults:
    """The faults of one kind.

    Args:
        count: How many there are.
        first: The first few.
    """

    count: int = 0
    first: list[RunFileError] = field(default_factory=list)


@dataclass(slots=True)
class Notes:
    """Faults, and what stands beside each entry and does not count for the run.

    Args:
        faults: By kind.
        lines: The line of each entry, part after part; nothing where entries have no line.
        ranks: The rank of each entry as it is written, in the same parts; -1 for one of no use.
        tags: The line at which each tag comes first; only the first few tags.
    """

    faults: dict[str, Faults] = field(default_factory=dict)
    lines: list[NDArray[np.int64]] = field(default_factory=list)
    ranks: list[NDArray[np.int64]] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    total: int = 0

    def refuse(self, error: RunFileError) -> None:
        """Note a fault.

        Raises:
            RunFileError: There were too many.
        """
        self.add(error.kind, 1, [error])
        if self.total > MOST_FAULTS:
            raise too_many(error.path, error.line)

    def add(self, kind: str, count: int, first: Sequence[RunFileError]) -> None:
        """Note some faults of one kind, of which only the first need be given."""
        faults = self.faults.setdefault(kind, Faults())
        faults.count += count
        faults.first += first[: KEPT - len(faults.first)]
        self.total += count

    def entries(self, lines: Sequence[int] | NDArray[np.int64], ranks: NDArray[np.int64] | None = None) -> None:
        """Note where entries stand, and their ranks."""
        self.lines.append(np.asarray(lines, np.int64))
        if ranks is not None:
            self.ranks.append(ranks)

    def tagged(self, tags: Sequence[str] | pa.Array, lines: Sequence[int] | NDArray[np.int64]) -> None:
        """Note the tags of entries at some lines."""
        if isinstance(tags, pa.Array):
            encoded = tags.dictionary_encode()
            if len(encoded.dictionary) == 1:  # as a rule
                self.tags.setdefault(encoded.dictionary[0].as_py(), int(lines[0]))
                return
            tags = tags.to_pylist()
        for tag, line in zip(tags, lines, strict=True):
            if tag not in self.tags and len(self.tags) < KEPT:
                self.tags[tag] = int(line)


def too_many(path: Path, line: int) -> RunFileError:
    """Return the error for a file with so many faults that the rest of it is not looked at."""
    expected, got = "entries", f"more than {MOST_FAULTS:,} faults, and so no look at the rest"
    return RunFileError(path, line, "a run", expected=expected, got=got, hint="mend these first", kind="many")


def whole(texts: pa.Array | Sequence[str]) -> NDArray[np.int64]:
    """Return texts of digits as numbers, -1 for one that is too large to be a rank."""
    if isinstance(texts, pa.Array):
        try:
            numbers: NDArray[np.int64] = texts.cast(pa.int64()).to_numpy()
        except pa.ArrowInvalid:
            return whole(texts.to_pylist())
        return numbers
    return np.fromiter((int(text) if len(text) < 18 else -1 for text in texts), np.int64, len(texts))
