"""Writing a snapshot: one folder of five tables, a card, a manifest and the build's trace, all or nothing."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from freshstack_datasets import __version__
from freshstack_datasets.card import card
from freshstack_datasets.errors import SnapshotError, shown
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.manifest import FILE, FORMAT_VERSION, About, Manifest, made
from freshstack_datasets.provenance import checked_trace, file_entry, write_trace
from freshstack_datasets.recipe import Generator, Long, Model, Recipe, Short, Source
from freshstack_datasets.records import Document, Judgment, Nugget, Query, check_id
from freshstack_datasets.tables.conversion import batches
from freshstack_datasets.tables.digest import fingerprint
from freshstack_datasets.tables.parquet import TableWriter
from freshstack_datasets.tables.schema import CORPUS, NUGGET_QRELS, NUGGETS, QRELS, QUERIES, Table
from freshstack_datasets.tables.spool import Spool


class _CardText(Model):
    about: Long
    sections: Mapping[Short, Long]


def write_snapshot(
    folder: Path | str,
    *,
    dataset: str,
    snapshot: str,
    license: str,
    documents: Iterable[Document],
    queries: Iterable[Query],
    nuggets: Iterable[Nugget],
    judgments: Iterable[Judgment],
    missing: Iterable[str] = (),
    sources: Sequence[Source] = (),
    recipe: Recipe | Mapping[str, Any] | None = None,
    dropped: Iterable[Mapping[str, Any]] | None = None,
    provenance: Mapping[str, Path | bytes] | None = None,
    about: str = "",
    sections: Mapping[str, str] | None = None,
    created: date | None = None,
) -> Manifest:
    """Write records as a snapshot and return its manifest.

    The records may come in any order; the tables are the same. When anything goes wrong, nothing is left behind.

    Args:
        folder: Where it goes; it must not exist, or be empty.
        dataset: The dataset's name, such as ``freshstack/langchain``.
        snapshot: The snapshot's name, ``YYYY-MM`` or, for a correction, ``YYYY-MM.1``.
        license: The licence of the whole, an SPDX identifier where there is one.
        documents: The corpus, read once; it may be far larger than memory.
        queries: The queries, each with a nugget, read once; they too may be larger than memory.
        nuggets: The nuggets, each with a judgment.
        judgments: The judgments, each of a query's own nugget and a document of the corpus, or a missing one.
        missing: The ids of judged documents that the corpus lacks, each once and no other; their judgments count.
        sources: What the snapshot was made from.
        recipe: How it was made.
        dropped: What the build left out and why, one mapping of JSON values an item.
        provenance: Further files of the build's trace: from a name in ``provenance/`` to a file, which is copied, or to
            its bytes.
        about: What the dataset is, for the card, with an empty line between paragraphs; Markdown marks in it are
            shown as they are.
        sections: What else the card says, from a heading to a text like ``about``.
        created: The day it is made; today (UTC) when not given.

    Raises:
        RecordError: A record holds a value that is not allowed.
        SnapshotError: The records do not make a whole dataset, or the description is not allowed.
        InputError: The folder is taken, or a file of the trace cannot be read.
    """
    told = made(
        About,
        dataset=dataset,
        snapshot=snapshot,
        created=created or datetime.now(UTC).date(),
        license=license,
        sources=tuple(sources),
        recipe=Recipe() if recipe is None else dict(recipe) if isinstance(recipe, Mapping) else recipe,
        generator=Generator(name="freshstack-datasets", version=__version__),
    )
    text = made(_CardText, about=about, sections={} if sections is None else sections)
    lacking = tuple(sorted(check_id(doc_id, "missing document") for doc_id in missing))
    trace = checked_trace(provenance or {}, dropped)
    with atomic_folder(folder) as work:
        tables = _write_tables(work, documents, queries, nuggets, judgments, lacking)
        manifest = made(
            Manifest,
            **{name: getattr(told, name) for name in About.model_fields},
            format_version=FORMAT_VERSION,
            tables=tables,
            provenance=tuple(write_trace(work, trace, dropped)),
            missing=lacking,
            fingerprint=fingerprint({name: entry["digest"] for name, entry in tables.items()}),
        )
        (work / FILE).write_text(manifest.to_json(), encoding="utf-8", newline="\n")
        (work / "README.md").write_text(card(manifest, text.about, text.sections), encoding="utf-8", newline="\n")
    return manifest


def _write_tables(
    work: Path,
    documents: Iterable[Document],
    queries: Iterable[Query],
    nuggets: Iterable[Nugget],
    judgments: Iterable[Judgment],
    missing: Sequence[str],
) -> dict[str, dict[str, Any]]:
    """Write the five tables and return their entries in the manifest, by name."""
    asked = Spool(work / ".queries.arrow", QUERIES, queries)
    small = {
        table.name: _sorted_table(table, records) for table, records in ((NUGGETS, nuggets), (NUGGET_QRELS, judgments))
    }
    _check_nuggets(asked.ids, small[NUGGETS.name])
    corpus = Spool(work / ".documents.arrow", CORPUS, documents)
    _check_judgments(small, [*corpus.ids, *missing])
    _check_missing(missing, corpus.ids, small[NUGGET_QRELS.name])
    small[QRELS.name] = _qrels(small[NUGGET_QRELS.name])
    entries = {}
    for table, spool in ((CORPUS, corpus), (QUERIES, asked)):
        with TableWriter(work, table) as writer:
            for group in spool.sorted_groups(table.group_rows):
                writer.write_group(group)
        spool.remove()
        entries[table.name] = _entry(work, table, writer)
    for table in (QRELS, NUGGETS, NUGGET_QRELS):
        rows = small[table.name]
        with TableWriter(work, table) as writer:
            for start in range(0, rows.num_rows, table.group_rows):
                writer.write_group(rows.slice(start, table.group_rows))
        entries[table.name] = _entry(work, table, writer)
    return entries


def _entry(work: Path, table: Table, writer: TableWriter) -> dict[str, Any]:
    return {"rows": writer.rows, "digest": writer.digest(), "files": (file_entry(work, table.file()),)}


def _sorted_table(table: Table, records: Iterable[Any]) -> pa.Table:
    """Return records as a table sorted by its key.

    Raises:
        SnapshotError: Two records have one key, or there is no record.
    """
    rows = pa.Table.from_batches(list(batches(table, records, table.group_rows)), table.schema)
    kind = table.record.__name__.lower() if table.record else "row"
    if not rows.num_rows:
        raise SnapshotError(f"the table {table.name}", expected=f"at least one {kind}", got="none")
    rows = rows.sort_by([(column, "ascending") for column in table.key])
    same = np.ones(rows.num_rows - 1, bool)
    for column in table.key:
        values = rows[column]
        same &= pc.equal(values[1:], values[:-1]).to_numpy()
    if same.any():
        row = int(np.flatnonzero(same)[0])
        key = ", ".join(shown(rows[column][row].as_py()) for column in table.key)
        raise SnapshotError(f"{kind} {key}", expected=f"each {kind} once", got="it twice")
    return rows


def _check_nuggets(query_ids: list[str], nuggets: pa.Table) -> None:
    """Check that every nugget has a query of the dataset and every query a nugget."""
    queries, owners = pa.chunked_array([query_ids], pa.string()), nuggets["query-id"]
    nugget, query = _first_outside(owners, queries), _first_outside(queries, owners)
    if nugget is not None:
        name = shown(nuggets["_id"][nugget].as_py())
        raise SnapshotError(f"nugget {name}", expected="a query of the dataset", got=shown(owners[nugget].as_py()))
    if query is not None:
        raise SnapshotError(f"query {shown(queries[query].as_py())}", expected="at least one nugget", got="none")


def _check_judgments(tables: Mapping[str, pa.Table], doc_ids: Sequence[str]) -> None:
    """Check that every judgment is of a known document and a nugget of its query, and every nugget judged."""
    nuggets, judged = tables[NUGGETS.name], tables[NUGGET_QRELS.name]
    place = pc.index_in(judged["nugget-id"], nuggets["_id"])
    owner = nuggets["query-id"].take(place)
    wrong = np.flatnonzero(~pc.fill_null(pc.equal(owner, judged["query-id"]), False).to_numpy())
    if len(wrong):
        row = int(wrong[0])
        got = owner[row].as_py()
        raise SnapshotError(
            f"judgment of query {_at(judged, 'query-id', row)}, nugget {_at(judged, 'nugget-id', row)}",
            expected="a nugget of the query",
            got="no nugget of that id" if got is None else f"one of query {shown(got)}",
        )
    lost = _first_outside(judged["corpus-id"], pa.array(doc_ids, pa.string()))
    if lost is not None:
        raise SnapshotError(
            f"judgment of query {_at(judged, 'query-id', lost)}, nugget {_at(judged, 'nugget-id', lost)}",
            expected="a document of the corpus",
            got=_at(judged, "corpus-id", lost),
        )
    unjudged = _first_outside(nuggets["_id"], judged["nugget-id"])
    if unjudged is not None:
        raise SnapshotError(f"nugget {_at(nuggets, '_id', unjudged)}", expected="at least one judgment", got="none")


def _check_missing(missing: Sequence[str], doc_ids: Iterable[str], judged: pa.Table) -> None:
    """Check that the corpus has none of the documents that are said to be missing, and that each was judged."""
    there = set(missing).intersection(doc_ids)
    unjudged = set(missing).difference(judged["corpus-id"].unique().to_pylist())
    for wrong, expected, got in (
        (there, "one that the corpus lacks", "one of the corpus"),
        (unjudged, "one that was judged", "one without judgment"),
    ):
        if wrong:
            raise SnapshotError(f"missing document {shown(min(wrong))}", expected=expected, got=got)


def _at(table: pa.Table, column: str, row: int) -> str:
    return shown(table[column][row].as_py())


def _first_outside(values: pa.ChunkedArray, known: pa.ChunkedArray | pa.Array) -> int | None:
    """Return the first row whose value is not known, None when all are."""
    outside = np.flatnonzero(~pc.is_in(values, known).to_numpy())
    return int(outside[0]) if len(outside) else None


def _qrels(judgments: pa.Table) -> pa.Table:
    """Return how many of its query's nuggets each judged document supports."""
    grouped = judgments.group_by(["query-id", "corpus-id"], use_threads=False).aggregate([("score", "sum")])
    rows = grouped.rename_columns({"score_sum": "score"}).select(QRELS.schema.names).cast(QRELS.schema)
    return rows.sort_by([(column, "ascending") for column in QRELS.key])
