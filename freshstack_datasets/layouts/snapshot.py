"""A folder in the layout of this package, opened without reading its rows."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import SnapshotError
from freshstack_datasets.manifest import Manifest, read_manifest
from freshstack_datasets.records import Judgment, Nugget, Query, language_code
from freshstack_datasets.tables.corpus import Corpus
from freshstack_datasets.tables.parquet import VERIFY, TableReader
from freshstack_datasets.tables.records import Records
from freshstack_datasets.tables.schema import CORPUS, NUGGET_QRELS, NUGGETS, QRELS, QUERIES, Table

FIRST = (QUERIES.name, NUGGETS.name, NUGGET_QRELS.name)
"""The tables that are opened at once; they are small beside the corpus."""


@dataclass(frozen=True)
class Opened:
    """What a folder holds.

    Args:
        manifest: What its ``snapshot.json`` says.
        queries: The queries.
        nuggets: The nuggets.
        judgments: The judgments.
        corpus: Opens the documents.
    """

    manifest: Manifest
    queries: Records[Query]
    nuggets: Records[Nugget]
    judgments: Records[Judgment]
    corpus: Callable[[], Corpus]


def opened(
    folder: Path,
    root: Path | None = None,
    bring: Callable[[str], object] | None = None,
    known: Callable[[str], tuple[str, ...]] = lambda name: (),
) -> Opened:
    """Open the snapshot in a folder.

    Args:
        folder: The folder.
        root: Below which its files may be links to; below the folder when not given.
        bring: Sees to it that the files of a table are there; called for the corpus when that is opened. When not
            given, all files are there, and all tables are opened at once.
        known: Returns the languages of a dataset by its name, for the corpus of one whose queries say none.

    Raises:
        SnapshotError: It is no snapshot, or one that cannot be read.
    """
    manifest = read_manifest(folder, root)
    if manifest.fingerprint != manifest.computed_fingerprint():
        what = f"the fingerprint of {folder}"
        expected = f"{manifest.computed_fingerprint()}, which follows from its tables' digests"
        raise SnapshotError(what, expected=expected, got=manifest.fingerprint, hint=VERIFY)

    def records(table: Table) -> Records[Any]:
        reader = _reader(folder, table, manifest, root)
        return Records(table, reader.rows, reader.read)

    queries, nuggets, judgments = records(QUERIES), records(NUGGETS), records(NUGGET_QRELS)

    def corpus() -> Corpus:
        if bring is not None:
            bring(CORPUS.name)
        return Corpus(
            _reader(folder, CORPUS, manifest, root),
            lambda: languages(queries.columns("language")[0]) or known(manifest.dataset),
        )

    if bring is None:
        _reader(folder, QRELS, manifest, root)
        there = corpus()
        return Opened(manifest, queries, nuggets, judgments, lambda: there)
    return Opened(manifest, queries, nuggets, judgments, corpus)


def languages(codes: Iterable[str | None]) -> tuple[str, ...]:
    """Return the languages of queries, the most frequent one first.

    Args:
        codes: What each query says.
    """
    counts = Counter(code for code in map(language_code, codes) if code)
    return tuple(sorted(counts, key=lambda code: (-counts[code], code)))


def _reader(folder: Path, table: Table, manifest: Manifest, root: Path | None) -> TableReader:
    reader = TableReader(folder, table, [file.path for file in manifest.table_files(table.name)], root)
    expected = manifest.tables[table.name].rows
    if reader.rows != expected:
        what = f"the table {table.name} of {folder}"
        raise SnapshotError(what, expected=f"{expected} rows", got=f"{reader.rows}", hint=VERIFY)
    return reader
