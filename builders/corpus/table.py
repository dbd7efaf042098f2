"""From the parts to the table of the corpus, sorted, and to the list of files that are not in it."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from builders.corpus.sources import Source
from builders.corpus.work import Batch
from builders.outputs import write_sorted
from builders.topics import Documents
from freshstack_datasets.errors import InputError, SnapshotError, shown
from freshstack_datasets.records import Document
from freshstack_datasets.tables.schema import CORPUS

DROPPED = "dropped.jsonl"
_COUNTS = ("files", "files_in_the_corpus", "documents", "tokens")


@dataclass
class Tally:
    """What is counted while parts are read.

    Args:
        sources: From a source's prefix to its counts.
        reasons: From a reason to the number of files.
        repeated: Pieces whose id another piece of their file has.
    """

    sources: dict[str, Counter[str]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    repeated: int = 0

    def of(self, source: Source) -> dict[str, int]:
        """Return the counts of a source."""
        counts = self.sources.get(source.told.prefix, Counter())
        return {name: counts[name] for name in _COUNTS}

    def add(self, source: Source, line: dict[str, Any]) -> None:
        """Count a file."""
        counts = self.sources.setdefault(source.told.prefix, Counter())
        documents = line.get("documents", ())
        counts["files"] += 1
        counts["files_in_the_corpus"] += bool(documents)
        counts["documents"] += len(documents)
        counts["tokens"] += sum(row["metadata"]["tokens"] for row in documents)
        self.repeated += line.get("repeated", 0)
        if not documents:
            self.reasons[line["reason"]] += 1


def write_table(folder: Path, parts: Sequence[tuple[Batch, Path]], tally: Tally) -> dict[str, Any]:
    """Write the table and the list, and return what is said of the table.

    Args:
        folder: Where they go.
        parts: The parts, with what they were made of.
        tally: Filled with what is counted.

    Raises:
        InputError: Two files give documents of one id.
        SnapshotError: There is no document.
    """
    try:
        with (folder / DROPPED).open("w", encoding="utf-8", newline="\n") as stream:
            return write_sorted(folder, CORPUS, _documents(parts, tally, stream))
    except SnapshotError:
        _refuse_twice(parts)
        raise


def _lines(parts: Sequence[tuple[Batch, Path]]) -> Iterator[tuple[Source, dict[str, Any]]]:
    for batch, part in parts:
        with part.open(encoding="utf-8", newline="\n") as stream:
            for line in stream:
                yield batch.source, json.loads(line)


def _documents(parts: Sequence[tuple[Batch, Path]], tally: Tally, dropped: IO[str]) -> Iterator[Document]:
    """Yield all documents; count, and write down files without."""
    rows: set[tuple[str, str]] = set()
    for source, line in _lines(parts):
        tally.add(source, line)
        if isinstance(source.told, Documents) and "documents" in line:  # repositories have each path once
            if (row := (source.told.prefix, line["path"])) in rows:
                what = f"document {shown(line['path'])} of {shown(source.name)}"
                raise InputError(what, expected="each id once", got="it again", hint="give each row an id of its own")
            rows.add(row)
        for row in line.get("documents", ()):
            yield Document(**row)
        if "reason" in line:
            dropped.write(_on_one_line(json.dumps({"source": source.name, **line}, ensure_ascii=False)) + "\n")


def _on_one_line(text: str) -> str:
    """Return JSON without the letters at which some readers end a line though JSON does not."""
    return re.sub("[\x85\u2028\u2029]", lambda found: f"\\u{ord(found.group()):04x}", text)


def _refuse_twice(parts: Sequence[tuple[Batch, Path]]) -> None:
    """Name two files that give documents of one id, if there are such."""
    seen: dict[str, str] = {}
    for source, line in _lines(parts):
        for row in line.get("documents", ()):
            here = f"{source.name}, {shown(line['path'])}"
            if other := seen.get(row["doc_id"]):
                hint = "leave one of them out with exclude"
                got = f"it from {other} and from {here}"
                raise InputError(f"document {shown(row['doc_id'])}", expected="each id once", got=got, hint=hint)
            seen[row["doc_id"]] = here
