"""Overlays: judgments that were made after a snapshot, for documents that its pool did not have.

An overlay is a folder with the rows of ``nugget_qrels`` that it adds, the calls that made them in ``provenance/``, and
``overlay.json``, which names the one snapshot that it fits. The snapshot stays as it is; with the overlay on top, it
has another fingerprint, that of the overlay, and so have all scores.
"""

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import pyarrow as pa
from pydantic import BeforeValidator, Field, ValidationError

from freshstack_datasets import __version__
from freshstack_datasets.errors import SnapshotError, shown, shown_path
from freshstack_datasets.files import atomic_folder
from freshstack_datasets.manifest import About, File, Manifest, TableEntry, content_of, made, told
from freshstack_datasets.provenance import checked_trace, file_entry, write_trace
from freshstack_datasets.recipe import Count, Generator, Recipe, Sha256, Short, as_tuple
from freshstack_datasets.records import Judgment, Nugget
from freshstack_datasets.tables.conversion import batches
from freshstack_datasets.tables.digest import TableDigest, fingerprint
from freshstack_datasets.tables.parquet import TableReader, TableWriter
from freshstack_datasets.tables.records import Records
from freshstack_datasets.tables.schema import NUGGET_QRELS

FILE = "overlay.json"
FORMAT_VERSION = 1
_BASE = "base"
"""What the snapshot's fingerprint is called among the digests that an overlay's own one is made of."""


class Overlay(About):
    """A whole ``overlay.json``.

    ``dataset``, ``snapshot`` and ``license`` are those of the snapshot that it fits.

    Args:
        format_version: The version of this format.
        base: The fingerprint of the snapshot.
        table: The rows that it adds to ``nugget_qrels``.
        provenance: The files of their trace.
        runs: The names of the runs whose documents were judged, ascending.
        k: How many documents at the top of each were.
        fingerprint: The sha256 over ``base`` with the snapshot's fingerprint and ``nugget_qrels`` with the digest of the
            rows, written as the lines of a snapshot's fingerprint are.
    """

    format_version: Literal[1]
    base: Sha256
    table: TableEntry
    provenance: Annotated[tuple[File, ...], BeforeValidator(as_tuple), Field(max_length=10_000)] = ()
    runs: Annotated[tuple[Short, ...], BeforeValidator(as_tuple), Field(max_length=10_000)] = ()
    k: Count
    fingerprint: Sha256

    def to_json(self) -> str:
        """Return the one text of this overlay: sorted keys, two spaces, members that are not set left out."""
        plain = self.model_dump(mode="json", exclude_none=True)
        return json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


class Base(Protocol):
    """What an overlay needs of the snapshot that it fits, which a loaded dataset has."""

    @property
    def manifest(self) -> Manifest | None:
        """What its ``snapshot.json`` says."""
        ...

    @property
    def nuggets(self) -> Records[Nugget]:
        """Its nuggets."""
        ...

    @property
    def judgments(self) -> Records[Judgment]:
        """Its own judgments."""
        ...

    @property
    def corpus(self) -> Container[object]:
        """Its documents, asked for by id; only for an overlay that is written."""
        ...


def write_overlay(
    folder: Path | str,
    data: Base,
    judgments: Iterable[Judgment],
    *,
    runs: Iterable[str],
    k: int,
    recipe: Recipe | None = None,
    dropped: Iterable[Mapping[str, Any]] | None = None,
    provenance: Mapping[str, Path | bytes] | None = None,
    created: date | None = None,
) -> Overlay:
    """Write judgments as an overlay and return what it says of itself.

    They may come in any order; the table is the same. When anything goes wrong, nothing is left behind.

    Args:
        folder: Where it goes; it must not exist, or be empty.
        data: The snapshot that it fits.
        judgments: The judgments, each of a query's own nugget and a document that was not judged for it.
        runs: The names of the runs whose documents were judged.
        k: How many documents at the top of each were.
        recipe: How they were made.
        dropped: What could not be judged and why, one mapping of JSON values an item.
        provenance: Further files of the trace: from a name in ``provenance/`` to a file, or to its bytes.
        created: The day it is made; today (UTC) when not given.

    Raises:
        RecordError: A judgment holds a value that is not allowed.
        SnapshotError: A judgment does not fit the snapshot, there is none, or the description is not allowed.
        InputError: The folder is taken, or a file of the trace cannot be read.
    """
    base = _manifest(data)
    rows = pa.Table.from_batches(list(batches(NUGGET_QRELS, judgments, NUGGET_QRELS.group_rows)), NUGGET_QRELS.schema)
    rows = rows.sort_by([(column, "ascending") for column in NUGGET_QRELS.key])
    _check_fit(rows, data)
    for doc_id in rows["corpus-id"].unique().to_pylist():
        if doc_id not in data.corpus:
            what = f"a judgment of document {shown(doc_id)}"
            raise SnapshotError(what, expected="a document of the corpus", got="none of that id")
    trace = checked_trace(provenance or {}, dropped)
    with atomic_folder(folder) as work:
        table = _written(work, rows)
        overlay = made(
            Overlay,
            format_version=FORMAT_VERSION,
            dataset=base.dataset,
            snapshot=base.snapshot,
            license=base.license,
            created=created or datetime.now(UTC).date(),
            recipe=recipe or Recipe(),
            generator=Generator(name="freshstack-datasets", version=__version__),
            base=base.fingerprint,
            table=table,
            provenance=tuple(write_trace(work, trace, dropped)),
            runs=tuple(sorted(set(runs))),
            k=k,
            fingerprint=fingerprint({_BASE: base.fingerprint, NUGGET_QRELS.name: table["digest"]}),
        )
        (work / FILE).write_text(overlay.to_json(), encoding="utf-8", newline="\n")
    return overlay


def _written(work: Path, rows: pa.Table) -> dict[str, Any]:
    """Write the rows and return their entry."""
    with TableWriter(work, NUGGET_QRELS) as writer:
        for start in range(0, rows.num_rows, NUGGET_QRELS.group_rows):
            writer.write_group(rows.slice(start, NUGGET_QRELS.group_rows))
    return {"rows": writer.rows, "digest": writer.digest(), "files": (file_entry(work, NUGGET_QRELS.file()),)}


def read_overlay(folder: Path | str) -> Overlay:
    """Read the ``overlay.json`` of a folder.

    Raises:
        SnapshotError: There is none, or it is not allowed; the first thing that is wrong is named.
    """
    path = Path(folder) / FILE
    content = content_of(path, None, "overlay")
    try:
        overlay = Overlay.model_validate_json(content)
    except ValidationError as error:
        raise told(str(path), error) from None
    expected = fingerprint({_BASE: overlay.base, NUGGET_QRELS.name: overlay.table.digest})
    if overlay.fingerprint != expected:
        what = f"the fingerprint in {shown_path(path)}"
        raise SnapshotError(what, expected=f"{expected}, which follows from its base and rows", got=overlay.fingerprint)
    return overlay


def laid_over(data: Base, folder: Path | str) -> tuple[Overlay, Records[Judgment]]:
    """Return an overlay, and the judgments of a snapshot with those of the overlay among them.

    That its documents are in the corpus was seen to when it was written, and is not looked at again: the corpus may not
    be on this machine.

    Args:
        data: The snapshot.
        folder: The overlay's folder.

    Raises:
        SnapshotError: It is no overlay, is damaged, is one of another snapshot, or a judgment does not fit.
    """
    overlay, base = read_overlay(folder), _manifest(data)
    if overlay.base != base.fingerprint:
        raise SnapshotError(
            f"the overlay {shown_path(folder)}",
            expected=f"one of {base.dataset}@{base.snapshot}#{base.fingerprint[:12]}",
            got=f"one of {overlay.dataset}@{overlay.snapshot}#{overlay.base[:12]}",
            hint="judge the runs on this snapshot: python -m builders judge-holes",
        )
    rows = _rows(Path(folder), overlay)
    _check_fit(rows, data)
    order = [(column, "ascending") for column in NUGGET_QRELS.key]
    both = pa.concat_tables([data.judgments.arrow.cast(NUGGET_QRELS.schema), rows]).sort_by(order)
    return overlay, Records(NUGGET_QRELS, both.num_rows, both.select)


def _rows(folder: Path, overlay: Overlay) -> pa.Table:
    """Read the rows of an overlay and see that they are the ones that it speaks of."""
    paths = sorted(file.path for file in overlay.table.files)
    rows = TableReader(folder, NUGGET_QRELS, paths).read()
    digest = TableDigest()
    digest.update(rows)
    if digest.hexdigest() != overlay.table.digest:
        what = f"the judgments of the overlay {shown_path(folder)}"
        expected = f"the digest {overlay.table.digest}"
        raise SnapshotError(what, expected=expected, got=digest.hexdigest(), hint="take a copy that is whole")
    return rows


def _manifest(data: Base) -> Manifest:
    if data.manifest is None:
        what, got = "the dataset under an overlay", "one made of judgments alone"
        raise SnapshotError(what, expected="a snapshot", got=got, hint="load one")
    return data.manifest


def _check_fit(rows: pa.Table, data: Base) -> None:
    """Check the judgments one by one, and that each document was judged against all nuggets of its query."""
    if not rows.num_rows:
        raise SnapshotError("an overlay", expected="at least one judgment", got="none")
    owner = dict(zip(*data.nuggets.columns("nugget_id", "query_id"), strict=True))
    judged = set(zip(*data.judgments.columns("query_id", "doc_id"), strict=True))
    seen = set()
    for row in zip(*(rows[name].to_pylist() for name in NUGGET_QRELS.required), strict=True):
        query_id, nugget_id, doc_id, score = row
        expected = got = ""
        if None in row or owner.get(nugget_id) != query_id:
            expected, got = "a nugget of the query", "none of that id"
        elif (query_id, doc_id) in judged:
            expected, got = "a document that the snapshot has not judged for the query", "one that it has"
        elif score not in (0, 1):
            expected, got = "a score of 0 or 1", shown(score)
        elif row[:3] in seen:
            expected, got = "each judgment once", "it twice"
        if expected:
            raise SnapshotError(_called(query_id, nugget_id, doc_id), expected=expected, got=got)
        seen.add(row[:3])
    nuggets = Counter(owner.values())
    for (query_id, doc_id), count in Counter((query, document) for query, _, document in seen).items():
        if count != nuggets[query_id]:
            what = f"judgments of query {shown(query_id)}, document {shown(doc_id)}"
            raise SnapshotError(what, expected=f"one for each of its {nuggets[query_id]} nuggets", got=str(count))


def _called(query_id: object, nugget_id: object, doc_id: object) -> str:
    return f"a judgment of query {shown(query_id)}, nugget {shown(nugget_id)}, document {shown(doc_id)}"
