"""The two stages of a corpus: how many files each source has, and the chunks of some files of a source.

A part of the second is JSON lines, one a file: its documents, or the reason why it has none.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders.chunking import Chunk, Refused
from builders.corpus.records import Item
from builders.corpus.settings import Settings
from builders.corpus.sources import Reading, Source
from builders.repositories import Passed, SourceFile

FILES = 200
"""Files of a shard."""


@dataclass(slots=True)
class _Opened:
    """The one source that a process has open: shards of one source follow each other."""

    source: Source | None = None
    reading: Reading | None = None
    stack: ExitStack = field(default_factory=ExitStack)

    def of(self, source: Source) -> Reading:
        if self.reading is None or self.source != source:
            self.close()
            self.reading = self.stack.enter_context(source.opened())
            self.source = source
        return self.reading

    def close(self) -> None:
        self.source = self.reading = None
        self.stack.close()


@dataclass(frozen=True, slots=True)
class Counting:
    """Counts the files of a source."""

    name: str = "files"
    _opened: _Opened = field(default_factory=_Opened, compare=False)

    def key(self, shard: Source) -> str:
        """Return all that the number depends on."""
        return shard.key

    def make(self, shard: Source, part: Path) -> None:
        """Write the number of files."""
        part.write_text(str(self._opened.of(shard).count()), encoding="utf-8")

    def close(self) -> None:
        """Close the source."""
        self._opened.close()


@dataclass(frozen=True, slots=True)
class Batch:
    """Some files of a source.

    Args:
        source: The source.
        first: The place of the first one.
        last: The place behind the last one.
    """

    source: Source
    first: int
    last: int


def batches(source: Source, files: int) -> Iterator[Batch]:
    """Yield the shards of a source; never by how many processes there are, so that parts are the same for any."""
    for first in range(0, files, FILES):
        yield Batch(source, first, min(first + FILES, files))


@dataclass(frozen=True, slots=True)
class Cutting:
    """Makes documents of the files of a batch.

    Args:
        settings: How files are cut.
    """

    settings: Settings
    name: str = "chunks"
    _opened: _Opened = field(default_factory=_Opened, compare=False)

    def key(self, shard: Batch) -> str:
        """Return all that the documents depend on."""
        return f"{shard.source.key} {shard.first} {shard.last} {self.settings.key}"

    def make(self, shard: Batch, part: Path) -> None:
        """Write the documents of the files, and why others have none."""
        reading = self._opened.of(shard.source)
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            for found in reading.files(shard.first, shard.last):
                line = json.dumps(self._line(shard.source, found), ensure_ascii=False)
                stream.write(line + "\n")

    def close(self) -> None:
        """Close the source."""
        self._opened.close()

    def _line(self, source: Source, found: SourceFile | Passed | Item) -> dict[str, Any]:
        if isinstance(found, Passed):
            return {"path": found.path, "reason": found.reason, "detail": found.detail}
        item = found if isinstance(found, Item) else Item(found.path, found.data, url=source.page(found.path))
        result = self.settings.chunker(source.name)(item.named, item.data)
        if isinstance(result, Refused):
            return {"path": item.path, "reason": result.reason, "detail": result.detail}
        rows: dict[str, dict[str, Any]] = {}
        for chunk in result.chunks:
            # ids of one file are all different but in the compatible mode, which then keeps the first
            rows.setdefault(
                doc_id := self.settings.chunk_id(source.told.prefix, item.path, chunk),
                _row(source, item, chunk, doc_id),
            )
        if not rows:
            return {"path": item.path, "reason": "no-chunks", "detail": "nothing of it was taken"}
        return {"path": item.path, "documents": list(rows.values()), "repeated": len(result.chunks) - len(rows)}


def _row(source: Source, item: Item, chunk: Chunk, doc_id: str) -> dict[str, Any]:
    """Return a document as a part has it."""
    known = {
        "url": item.url,
        "repository": source.name if source.commit else None,
        "path": None if item.row else item.path,
        "commit": source.commit,
        "license": source.told.license,
        "start_char": chunk.start,
        "end_char": chunk.end,
        "start_byte": chunk.start_byte,
        "end_byte": chunk.end_byte,
        "tokens": chunk.tokens,
    }
    metadata = {name: value for name, value in known.items() if value is not None}
    return {"doc_id": doc_id, "title": item.title, "text": chunk.text, "metadata": metadata}
