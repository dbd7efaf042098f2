"""Opening a dataset: by name or by folder, without reading its documents."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from freshstack_datasets import catalog
from freshstack_datasets.errors import InputError, SnapshotError, UnknownNameError, shown
from freshstack_datasets.layouts.snapshot import languages, opened
from freshstack_datasets.manifest import Manifest
from freshstack_datasets.overlays import Overlay, laid_over
from freshstack_datasets.places import Place, find, meant
from freshstack_datasets.records import Judgment, Nugget, Qrels, Query
from freshstack_datasets.tables.corpus import Corpus
from freshstack_datasets.tables.digest import fingerprint
from freshstack_datasets.tables.judged import judged_tables, sorted_digest
from freshstack_datasets.tables.parquet import VERIFY
from freshstack_datasets.tables.records import Records
from freshstack_datasets.tables.schema import CORPUS, NUGGET_QRELS, NUGGETS, QUERIES


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """One snapshot of a dataset.

    Made by ``load`` or ``from_nugget_qrels``.

    Args:
        name: The dataset's name.
        snapshot: The snapshot's name.
        queries: The queries.
        nuggets: The nuggets.
        judgments: The judgments.
        path: The folder it was read from; None when it was not.
        manifest: What the folder's ``snapshot.json`` says; None when there is none.
        overlay: What the overlay on top of it says of itself; None when there is none. The judgments are those of both.
    """

    name: str
    snapshot: str
    queries: Records[Query]
    nuggets: Records[Nugget]
    judgments: Records[Judgment]
    path: Path | None = None
    manifest: Manifest | None = None
    overlay: Overlay | None = None
    _open_corpus: Callable[[], Corpus] | None = field(default=None)
    _place: Place | None = field(default=None)

    @classmethod
    def from_nugget_qrels(cls, rows: Iterable[tuple[str, str, str, int]], name: str = "", snapshot: str = "") -> Self:
        """Make a dataset for scoring alone: it has judgments, but no documents and no texts.

        Its queries and nuggets are those of the rows, in the order of their first appearance. Two queries may use
        the same nugget id; the nuggets are different ones all the same.

        Args:
            rows: Query id, nugget id, document id and score, 1 or 0, each triple of ids once.
            name: What the dataset is called.
            snapshot: What the snapshot is called.

        Raises:
            RecordError: An id or a score is not allowed, or a triple comes twice; the first offender is named.
        """
        tables = judged_tables(rows)
        queries, nuggets, judgments = tables[QUERIES.name], tables[NUGGETS.name], tables[NUGGET_QRELS.name]
        return cls(
            name,
            snapshot,
            Records(QUERIES, queries.num_rows, queries.select),
            Records(NUGGETS, nuggets.num_rows, nuggets.select),
            Records(NUGGET_QRELS, judgments.num_rows, judgments.select),
        )

    @cached_property
    def corpus(self) -> Corpus:
        """The documents. Those of a dataset on the Hub are downloaded when they are first asked for.

        Raises:
            SnapshotError: The dataset was made of judgments alone, or the documents cannot be read.
            HubError: They cannot be had.
        """
        if self._open_corpus is None:
            raise SnapshotError(
                f"dataset {shown(self.name)} has no documents",
                expected="a dataset with a corpus",
                got="one made of judgments alone",
                hint="load a snapshot",
            )
        return self._open_corpus()

    @cached_property
    def fingerprint(self) -> str:
        """The digest that scores are tied to: of all tables, or of the judgments where there is nothing else.

        That of a snapshot with an overlay is the overlay's.
        """
        if self.overlay is not None:
            return self.overlay.fingerprint
        if self.manifest is not None:
            return self.manifest.fingerprint
        return fingerprint({NUGGET_QRELS.name: sorted_digest(self.judgments.arrow)})

    @cached_property
    def qrels(self) -> Qrels:
        """Query id to document id to the number of the query's nuggets it supports; judged without support is 0.

        Raises:
            SnapshotError: A judgment is of a query that the dataset does not have.
        """
        qrels: dict[str, dict[str, int]] = {query_id: {} for query_id in self.queries.columns("query_id")[0]}
        for query_id, doc_id, score in zip(*self.judgments.columns("query_id", "doc_id", "score"), strict=True):
            documents = qrels.get(query_id)
            if documents is None:
                what = f"a judgment of query {shown(query_id)}"
                raise SnapshotError(what, expected="a query of the dataset", got="none of that id", hint=VERIFY)
            documents[doc_id] = documents.get(doc_id, 0) + score
        return qrels

    @property
    def language(self) -> str | None:
        """The language of most queries, ISO 639-1; None when it is not known."""
        return next(iter(self.languages), None)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages of the queries, ISO 639-1 without regions.

        The most frequent one comes first; equally frequent ones are in alphabetical order. Where no query says its
        language, they are those that are known of the dataset by its name.
        """
        return languages(self.queries.columns("language")[0]) or catalog.languages(self.name)

    @cached_property
    def _nuggets_of(self) -> Mapping[str, list[int]]:
        """The places of every query's nuggets, by position."""
        places: dict[str, list[tuple[int, int]]] = {}
        for place, (query_id, position) in enumerate(zip(*self.nuggets.columns("query_id", "position"), strict=True)):
            places.setdefault(query_id, []).append((position, place))
        return {query_id: [place for _, place in sorted(found)] for query_id, found in places.items()}

    def with_overlay(self, folder: str | Path) -> Self:
        """Return the same dataset with the judgments of an overlay among its own, and the overlay's fingerprint.

        Args:
            folder: The overlay, as ``python -m builders judge-holes`` makes it.

        Raises:
            SnapshotError: It is no overlay, is damaged, or is one of another snapshot or overlay.
        """
        if self.overlay is not None:
            got = f"one with the overlay #{self.overlay.fingerprint[:12]}"
            raise SnapshotError("the dataset under an overlay", expected="one without", got=got)
        overlay, judgments = laid_over(self, folder)
        return replace(self, overlay=overlay, judgments=judgments, _open_corpus=lambda: self.corpus)

    def nuggets_of(self, query_id: str) -> tuple[Nugget, ...]:
        """Return a query's nuggets by position.

        Raises:
            UnknownNameError: The dataset has no such query.
        """
        if query_id not in self.queries:
            raise UnknownNameError("query", query_id, self.queries.columns("query_id")[0])
        return tuple(self.nuggets.rows_at(self._nuggets_of.get(query_id, [])))

    def trace_in(self, path: str) -> Place | None:
        """Return where a file of the build's trace is, which is downloaded when it is first asked for.

        Args:
            path: Its path in the snapshot, such as ``provenance/calls.parquet``.

        Returns:
            The place, None when the snapshot has no such file.

        Raises:
            HubError: It is on the Hub and cannot be had, or it is damaged.
        """
        if self._place is None or self.manifest is None:
            return None
        if path not in {file.path for file in self.manifest.provenance}:
            return None
        if self._place.bring is not None:
            self._place.bring(path)
        return self._place

    def queries_with(self, text: str | Mapping[str, str]) -> Records[Query]:
        """Return the same queries with another text to search for.

        Args:
            text: ``text``, ``title``, ``body``, ``answer`` (the accepted one's text), ``nuggets`` (their texts, by
                position, a line each), or a mapping from query id to text that has every query.

        Raises:
            InputError: A query has no such text; the first one is named.
        """
        texts: Mapping[str, Any]
        if not isinstance(text, str):
            texts, what = text, "text in the mapping"
        elif text == "nuggets":
            texts, what = self._nugget_texts(), "nuggets"
        elif text in _SEARCHED:
            column = _SEARCHED[text]
            texts, what = dict(zip(*self.queries.columns("query_id", column), strict=True)), column
        else:
            raise UnknownNameError("text of a query", text, [*_SEARCHED, "nuggets"])
        found = []
        for query_id in self.queries.columns("query_id")[0]:
            value = texts.get(query_id)
            if not isinstance(value, str):
                got = "none" if value is None else f"{shown(value)} ({type(value).__name__})"
                raise InputError(f"query {shown(query_id)}: {what}", expected="a string", got=got)
            found.append(value)
        return self.queries.with_column("text", found)

    def _nugget_texts(self) -> dict[str, str]:
        """Return every query's nuggets as one text."""
        (texts,) = self.nuggets.columns("text")
        return {query_id: "\n".join(texts[p] for p in places) for query_id, places in self._nuggets_of.items()}

    def __repr__(self) -> str:
        added = f", {self.overlay.table.rows} judgments of an overlay" if self.overlay else ""
        size = f"{self.manifest.tables[CORPUS.name].rows} documents" if self.manifest else "no documents"
        return f"<Dataset {self.name}@{self.snapshot}: {len(self.queries)} queries, {size}{added}>"


_SEARCHED = {"text": "text", "title": "title", "body": "body", "answer": "answer_text"}


def load(name_or_path: str | Path, snapshot: str | None = None, *, overlay: str | Path | None = None) -> Dataset:
    """Open a dataset.

    Only its description and the number of its rows are read; ``freshstack verify`` looks into every row. What is on the
    Hub is downloaded once, the corpus when it is first used; with the snapshot given, there are no requests afterwards.

    Args:
        name_or_path: A dataset's name, ``name@snapshot``, the name of a repository of the Hub that holds snapshots of
            this layout, or the folder of a snapshot. A folder that is called as a known dataset is ``./nimbus``.
        snapshot: The snapshot; the newest one when not given. A folder must be this very snapshot.
        overlay: A folder with more judgments of this very snapshot, see ``Dataset.with_overlay``.

    Raises:
        UnknownNameError: There is no dataset or snapshot of that name.
        HubError: It is not on this machine and cannot be had.
        SnapshotError: The folder is no snapshot, is another one than asked for, or cannot be read.
    """
    name, asked = meant(name_or_path, snapshot)
    place = find(name, asked) if isinstance(name, str) else Place(name, snapshot=asked)
    found = opened(place.folder, place.root, place.bring, catalog.languages)
    manifest = found.manifest
    if place.snapshot not in (None, manifest.snapshot):
        raise SnapshotError(f"{place.folder}: snapshot", expected=shown(place.snapshot), got=manifest.snapshot)
    data = Dataset(
        name=manifest.dataset,
        snapshot=manifest.snapshot,
        queries=found.queries,
        nuggets=found.nuggets,
        judgments=found.judgments,
        path=place.folder,
        manifest=manifest,
        _open_corpus=found.corpus,
        _place=place,
    )
    return data if overlay is None else data.with_overlay(overlay)
