"""The two stages of a corpus: a list of the files of each source, and the chunks of some files of a source.

A part of the second is JSON lines, one a file: its documents, or the reason why it has none.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from builders.chunking import Chunk, Refused, pdf
from builders.corpus.records import Item
from builders.corpus.settings import Settings
from builders.corpus.sources import Reading, Source
from builders.repositories import Passed, SourceFile
from builders.stages import code
from builders.stages.watchdog import alive
from builders.topics import Documents
from freshstack_datasets.errors import FreshStackError

FILES = 200
"""Files of a shard."""
CRASH = "crash"
"""The reason of a file that a library has no answer to."""
_ENDED = "the process ends, or hangs"
_READING = ("builders.corpus", "builders.repositories", "builders.topics")
_CUTTING = ("builders.chunking", "builders.tokens")
"""What decides on a list, and what on documents as well."""


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
class Listing:
    """Lists the files of a source, a line of JSON each."""

    name: str = "files"
    _opened: _Opened = field(default_factory=_Opened, compare=False)

    def key(self, shard: Source) -> str:
        """Return all that the list depends on."""
        return f"{shard.key} {code(*_READING)}"

    def make(self, shard: Source, part: Path) -> None:
        """Write the list."""
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            for place in self._opened.of(shard).listed():
                stream.write(json.dumps(place) + "\n")

    def close(self) -> None:
        """Close the source."""
        self._opened.close()


def pdfs_in(source: Source, listing: Path) -> int:
    """Return how many PDFs of a folder of documents are to be read, by the list of its files."""
    if not isinstance(source.told, Documents):
        return 0
    with listing.open("rb") as file:
        places = map(json.loads, file)
        return sum(place["path"].lower().endswith(".pdf") and "reason" not in place for place in places)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some files of a source.

    Args:
        source: The source.
        listing: The list of all its files.
        at: The first byte of the list's lines for these.
        first: How many files come before.
        files: How many they are.
    """

    source: Source
    listing: Path
    at: int
    first: int
    files: int

    def lines(self) -> Iterator[bytes]:
        """Yield the list's lines."""
        with self.listing.open("rb") as file:
            file.seek(self.at)
            yield from islice(file, self.files)


def batches(source: Source, listing: Path) -> Iterator[Batch]:
    """Yield the shards of a source; never by how many processes there are, so that parts are the same for any."""
    at = first = 0
    with listing.open("rb") as file:
        while lines := list(islice(file, FILES)):
            yield Batch(source, listing, at, first, len(lines))
            at += sum(map(len, lines))
            first += len(lines)


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
        made_by = f"{self.settings.key} {pdf.reader()} {code(*_READING, *_CUTTING)}"
        return f"{shard.source.key} {shard.first} {shard.files} {made_by}"

    def make(self, shard: Batch, part: Path) -> None:
        """Write the documents of the files, and why others have none."""
        reading = self._opened.of(shard.source)
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            alive()
            for found in reading.read(map(json.loads, shard.lines())):
                line = json.dumps(self._line(shard.source, found), ensure_ascii=False)
                stream.write(line + "\n")
                alive()

    def pieces(self, shard: Batch) -> list[Batch]:
        """Return the files, each alone."""
        found, at = [], shard.at
        for number, line in enumerate(shard.lines(), shard.first):
            found.append(replace(shard, at=at, first=number, files=1))
            at += len(line)
        return found

    def give_up(self, shard: Batch, part: Path) -> None:
        """Write that a file ends every process that reads it."""
        lines = ({"path": json.loads(line)["path"], "reason": CRASH, "detail": _ENDED} for line in shard.lines())
        part.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8", newline="\n")

    def close(self) -> None:
        """Close the source."""
        self._opened.close()

    def _line(self, source: Source, found: SourceFile | Passed | Item) -> dict[str, Any]:
        if isinstance(found, Passed):
            return {"path": found.path, "reason": found.reason, "detail": found.detail}
        item = found if isinstance(found, Item) else Item(found.path, found.data, url=source.page(found.path))
        try:
            result = self.settings.chunker(source.name)(item.named, item.data)
        except (FreshStackError, MemoryError):
            raise
        except Exception as error:  # of a library, about which nothing is known but that it is for this file
            if isinstance(error, OSError) and error.errno is not None:  # of the machine, as when a disk is full
                raise
            return {"path": item.path, "reason": CRASH, "detail": type(error).__name__}
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
        documents = list(rows.values())
        lines = _lines(result.text, documents)
        return {
            "path": item.path,
            "documents": documents,
            "lines": lines,
            "repeated": len(result.chunks) - len(documents),
        }


def _lines(text: str, documents: Sequence[dict[str, Any]]) -> list[int]:
    """Return the line of a file that each document starts in, counted from 1."""
    lines, at, line = [], 0, 1
    for row in documents:
        start = row["metadata"]["start_char"]
        line += text.count("\n", at, start)
        at = start
        lines.append(line)
    return lines


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
