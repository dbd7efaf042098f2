"""The documents of a snapshot, read from its Parquet files a row group at a time."""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import pyarrow as pa

from freshstack_datasets.errors import SnapshotError, UnknownNameError, shown
from freshstack_datasets.records import Document
from freshstack_datasets.tables.conversion import to_record
from freshstack_datasets.tables.parquet import VERIFY, TableReader, readable
from freshstack_datasets.tables.schema import CORPUS

_CACHE_BYTES = 16_000_000
"""Unpacked row groups that are kept: about three of the usual ones, for look-ups that go from neighbour to neighbour."""

_BATCH = 256


class Corpus(Collection[Document]):
    """All documents of a dataset, by ascending id.

    Nothing but the number of documents is held until it is asked for; then the ids, and a few row groups at most.

    Args:
        reader: Reads the corpus table.
        languages: Tells the languages of the dataset.
    """

    def __init__(self, reader: TableReader, languages: Callable[[], tuple[str, ...]]) -> None:
        self._reader = reader
        self._languages = languages
        self._kept: OrderedDict[int, tuple[pa.Table, int]] = OrderedDict()  # with its bytes, which take time to count

    @property
    def language(self) -> str | None:
        """The language of most queries, ISO 639-1; None when it is not known."""
        return next(iter(self.languages), None)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the dataset's queries, as ``Dataset.languages`` has them."""
        return self._languages()

    @cached_property
    def ids(self) -> Sequence[str]:
        """The documents' ids, ascending in code-point order.

        Raises:
            SnapshotError: The table is not in that order.
        """
        with readable("the corpus"):
            ids = tuple(self._reader.read(["_id"])["_id"].to_pylist())
            if None in ids:
                raise SnapshotError("the corpus", expected="an id in every row", got="a null", hint=VERIFY)
            for before, after in pairwise(ids):
                if not before < after:
                    got = f"{shown(before)} before {shown(after)}"
                    raise SnapshotError("the corpus", expected="ascending ids, each once", got=got, hint=VERIFY)
        return ids

    def __len__(self) -> int:
        return self._reader.rows

    def __repr__(self) -> str:
        return f"<Corpus of {len(self):,} documents>"

    def __iter__(self) -> Iterator[Document]:
        for batch in self._reader.batches(rows=_BATCH):
            yield from _documents(batch)

    def __contains__(self, doc_id: object) -> bool:
        return self._row(doc_id) is not None

    def __getitem__(self, doc_id: str) -> Document:
        """Return one document.

        Raises:
            UnknownNameError: The corpus has none of that id.
        """
        return self.get_many([doc_id])[0]

    def batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield all documents in Arrow, columns named as in the snapshot, in batches of about so many rows."""
        return self._reader.batches(rows=rows)

    def get_many(self, doc_ids: Iterable[str]) -> list[Document]:
        """Return some documents in the order asked, each row group read once.

        Raises:
            UnknownNameError: The corpus lacks one of them.
        """
        wanted: dict[int, list[tuple[int, int]]] = {}  # row group -> places in the answer and in the group
        count = 0
        for count, doc_id in enumerate(doc_ids, start=1):
            row = self._row(doc_id)
            if row is None:
                raise UnknownNameError("document", doc_id, self._near(doc_id), total=len(self))
            group, place = self._reader.group_of(row)
            wanted.setdefault(group, []).append((count - 1, place))
        found: list[Any] = [None] * count
        for group in sorted(wanted):
            rows = self._group(group)
            for answer, place in wanted[group]:
                found[answer] = next(_documents(rows.slice(place, 1)))  # take() would cost 30 MB at its first use
        return found

    def _row(self, doc_id: object) -> int | None:
        if not isinstance(doc_id, str):
            return None
        row = bisect_left(self.ids, doc_id)
        return row if row < len(self.ids) and self.ids[row] == doc_id else None

    def _near(self, doc_id: object) -> Sequence[str]:
        """Return those of the ids that may be meant by one that is not there.

        They are the ids around the place where it would stand, and those that differ from it in capitals alone, which
        stand far from there.
        """
        name = str(doc_id)
        lower, row = name.lower(), bisect_left(self.ids, name)
        around = self.ids[max(0, row - 100) : row + 100]
        alike = (known for known in self.ids if len(known) == len(name) and known.lower() == lower)
        return (*around, *(known for known in alike if known not in around))

    def _group(self, number: int) -> pa.Table:
        """Return a row group, from those kept or from the file."""
        if number in self._kept:
            self._kept.move_to_end(number)
            return self._kept[number][0]
        rows = self._reader.group(number)
        self._kept[number] = rows, rows.nbytes
        while len(self._kept) > 1 and sum(size for _, size in self._kept.values()) > _CACHE_BYTES:
            self._kept.popitem(last=False)
        return rows


def _documents(rows: pa.Table | pa.RecordBatch) -> Iterator[Document]:
    """Yield rows of the corpus table as documents."""
    for row in rows.to_pylist():
        yield to_record(CORPUS, row)
