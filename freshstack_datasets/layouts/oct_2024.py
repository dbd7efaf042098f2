"""The originals of October 2024: a repository of corpora and one of queries, whose files become a snapshot.

A corpus has the columns ``_id``, ``text`` and, where they are known, ``title``, ``commit_id`` and ``metadata`` (url,
start_byte, end_byte, commit_id). A row of the queries holds a query, its answer and its nuggets; each nugget lists the
documents that were judged to support it, and those that do not. What a snapshot makes of that:

- A query's text is its title, a space and its body.
- A nugget belongs to the query in whose row it stands, whatever its id looks like.
- A document in both lists of a nugget is relevant. One that a list names again counts once.
- A judged document that the corpus lacks counts all the same, as in the published scores; the manifest lists it.
- A nugget without any judged document is left out, since a snapshot has a judgment of every nugget; it no longer counts
  among those that a ranking should cover. So is a query that has no nugget, or none with a judgment.
- A null where a text should be is an empty text. Columns that are not known are not read.

Each of these is reported, and what is left out is also listed in ``provenance/dropped.jsonl``. Rows that no snapshot can
hold are errors: an id that is null, not allowed, or comes twice.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from freshstack_datasets.errors import InputError, RecordError, shown, shown_path
from freshstack_datasets.files import refuse_taken
from freshstack_datasets.layouts.oct_2024_queries import COLUMNS as QUERY_COLUMNS
from freshstack_datasets.layouts.oct_2024_queries import DROPPED, Asked, Found, known_id
from freshstack_datasets.layouts.source_files import HINT, SourceFile
from freshstack_datasets.manifest import Manifest, made
from freshstack_datasets.progress import track
from freshstack_datasets.recipe import Filter, Recipe, Source
from freshstack_datasets.records import Document, all_allowed
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.verification.problems import Problem

SNAPSHOT = "2024-10"

VERSION = 1
"""Raised whenever the same files give another snapshot."""

_CORPUS_COLUMNS = pa.schema(
    [
        pa.field("_id", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("commit_id", pa.string()),
        pa.field(
            "metadata",
            pa.struct(
                [("url", pa.string()), ("start_byte", pa.int64()), ("end_byte", pa.int64()), ("commit_id", pa.string())]
            ),
        ),
    ]
)

_ABOUT = """Questions that people asked, each with the atomic facts of its answer and judgments of which documents support \
which fact. This is the release of October 2024, whose corpus and queries were published in two repositories."""


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion made.

    Args:
        manifest: The snapshot's manifest.
        problems: What is remarkable about the files; of many of one kind in one file, 20 and the number of the others.
        found: How many there are of each code of problem.
        read: How many documents, queries, nuggets and judgments the files hold.
    """

    manifest: Manifest
    problems: tuple[Problem, ...]
    found: Mapping[str, int]
    read: Mapping[str, int]


def convert(
    corpus_files: Sequence[Path],
    query_files: Sequence[Path],
    out: Path,
    *,
    dataset: str,
    snapshot: str = SNAPSHOT,
    license: str = "CC-BY-SA-4.0",
    sources: Sequence[Source] | None = None,
    created: date | None = None,
) -> Converted:
    """Write the originals of one topic as a snapshot.

    The corpus is read twice, its ids and then its rows, and never held. The order of files does not matter.

    Args:
        corpus_files: The Parquet files of the corpus.
        query_files: Those of the queries.
        out: Where the snapshot goes; it must not exist, or be empty.
        dataset: The dataset's name, such as ``freshstack/langchain``.
        snapshot: The snapshot's name.
        license: The licence of the whole.
        sources: What the files are, for the manifest; their names and digests when not given.
        created: The day; today (UTC) when not given.

    Raises:
        InputError: A file cannot be read or is none of this layout, or the folder is taken.
        RecordError: An id is not allowed, or comes twice; file and row are named.
        SnapshotError: A name is not allowed.
    """
    refuse_taken(out)
    corpus, rows = _opened(corpus_files, _CORPUS_COLUMNS, "corpus"), _opened(query_files, QUERY_COLUMNS, "queries")
    asked = Asked(Found())
    for file in (*corpus, *rows):
        for column in file.unread:
            asked.found.add("unread-column", file.name, column, "is not known and was not read")
    for file in rows:
        asked.take(file)
    if not asked.queries:
        expected = "at least one query with a judged nugget"
        raise InputError(", ".join(file.name for file in rows), expected=expected, got="none", hint=HINT)
    ids = _ids_of(corpus)
    missing = _missing(ids, asked)
    manifest = write_snapshot(
        out,
        dataset=dataset,
        snapshot=snapshot,
        license=license,
        documents=track(_documents(corpus, asked.found), len(ids), "converting the corpus"),
        queries=asked.queries,
        nuggets=asked.nuggets,
        judgments=asked.judgments,
        missing=missing,
        sources=[_source(file) for file in (*corpus, *rows)] if sources is None else sources,
        recipe=_recipe(asked),
        dropped=asked.dropped or None,
        about=_about(asked),
        created=created,
    )
    read = {"documents": len(ids), **{name: asked.read[name] for name in ("queries", "nuggets", "judgments")}}
    return Converted(manifest, asked.found.problems(), dict(asked.found.counts), read)


def files_in(path: Path, topic: str) -> list[Path]:
    """Return the files that somebody means by a path.

    Args:
        path: A file; or a folder: of a whole repository, or of a topic.
        topic: The topic, which has a folder of its own in a repository.

    Raises:
        InputError: A folder holds no Parquet file.
    """
    try:
        if not path.is_dir():
            return [path]
        folder = path / topic if (path / topic).is_dir() else path
        files = sorted(folder.glob("*.parquet"))
    except OSError as error:
        raise InputError(f"cannot read {shown_path(path)}", got=(error.strerror or str(error)).lower()) from None
    if not files:
        raise InputError(shown_path(folder), expected="a folder with Parquet files", got="none in it", hint=HINT)
    return files


def _opened(files: Sequence[Path], columns: pa.Schema, what: str) -> list[SourceFile]:
    if not files:
        raise InputError(f"the {what}", expected="at least one Parquet file", got="none")
    return [SourceFile(path, columns) for path in sorted(map(Path, files), key=str)]


def _ids_of(corpus: Sequence[SourceFile]) -> pa.Array:
    """Return the ids of a corpus, each of which is allowed and there once."""
    parts, starts, count = [], [], 0
    for file in corpus:
        starts.append(count)
        for batch in file.batches(["_id"]):
            ids = batch.column("_id").to_pylist()
            if not all_allowed(ids):
                for row, doc_id in enumerate(ids, count - starts[-1] + 1):
                    known_id(doc_id, "document", f"{file.name}, row {row}")
            parts.append(pa.array(ids, pa.large_string()))
            count += len(ids)
    if not count:
        names = ", ".join(file.name for file in corpus)
        raise InputError(names, expected="at least one document", got="none", hint=HINT)
    together = pa.concat_arrays(parts)
    _check_once(together, corpus, starts)
    return together


def _check_once(ids: pa.Array, corpus: Sequence[SourceFile], starts: Sequence[int]) -> None:
    """Check that no two documents of the corpus have one id."""

    def named(row: int) -> str:
        home = int(np.searchsorted(starts, row, "right")) - 1
        return f"{corpus[home].name}, row {row - starts[home] + 1}"

    numbers = pc.dictionary_encode(ids).indices.to_numpy()
    first = np.unique(numbers, return_index=True)[1]
    if len(first) == len(numbers):
        return
    again = int(np.flatnonzero(first[numbers] != np.arange(len(numbers)))[0])
    raise RecordError(
        f"{named(again)}: document {shown(ids[again].as_py())}",
        expected="each document once",
        got=f"it also in {named(int(first[numbers[again]]))}",
        hint="remove one of them, or give each file once",
    )


def _missing(ids: pa.Array, asked: Asked) -> list[str]:
    """Return the judged documents that are not among the ids, ascending, and report them."""
    judged = pa.array(sorted(asked.judged), pa.large_string())
    missing = judged.filter(pc.invert(pc.is_in(judged, ids))).to_pylist()
    if len(missing) == len(judged):
        hint = "check that corpus and queries are of one topic"
        raise InputError("judged documents", expected="some of the corpus", got=f"none of {len(judged)}", hint=hint)
    times = Counter(judgment.doc_id for judgment in asked.judgments)
    for doc_id in missing:
        judgments = f"{times[doc_id]} judgment{'s' if times[doc_id] > 1 else ''}"
        message = f"the corpus lacks it, though it has {judgments}; counts all the same"
        asked.found.add("missing-document", asked.judged[doc_id], doc_id, message)
    return list(missing)


def _documents(corpus: Sequence[SourceFile], found: Found) -> Iterator[Document]:
    for file in corpus:
        for number, row in file.rows():
            doc_id, about = row["_id"], row.get("metadata") or {}
            metadata = {name: about.get(name) for name in ("url", "start_byte", "end_byte")}
            metadata["commit"] = about.get("commit_id") or row.get("commit_id")
            text = found.text(row["text"], "text", file.name, doc_id, f"row {number}")
            known = {name: value for name, value in metadata.items() if value is not None}
            yield Document(doc_id, row.get("title") or "", text, known)


def _source(file: SourceFile) -> Source:
    return made(Source, url=file.short_name[:300], sha256=file.sha256())


def _recipe(asked: Asked) -> Recipe:
    filters = [
        Filter(name=code, dropped=asked.found.counts[code], reason=reason)
        for code, reason in DROPPED.items()
        if asked.found.counts[code]
    ]
    return Recipe(builder="oct-2024", parameters={"version": VERSION}, filters=tuple(filters))


def _about(asked: Asked) -> str:
    missing = asked.found.counts["missing-document"]
    more = f"""

Judged documents that the corpus lacks: {missing:,}. They count in scores all the same, as in the published ones; \
snapshot.json lists them."""
    return _ABOUT + (more if missing else "")
