"""Records that stay in Arrow and become Python objects one at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from freshstack_datasets.errors import InputError, SnapshotError, UnknownNameError, shown
from freshstack_datasets.tables.conversion import to_record
from freshstack_datasets.tables.parquet import VERIFY, readable
from freshstack_datasets.tables.schema import Table

T = TypeVar("T")
_BATCH = 1_000
_SEVERAL = -1


class Records(Generic[T]):
    """The queries, nuggets or judgments of a dataset, in the order of their table.

    A query is known by its ``query_id``, a nugget by its ``nugget_id``, a judgment by the tuple of ``query_id``,
    ``nugget_id`` and ``doc_id``.

    Args:
        table: The table they are rows of.
        rows: How many there are.
        read: Reads the columns of the given names; called once for each, when something of it is asked for.
    """

    def __init__(self, table: Table, rows: int, read: Callable[[Sequence[str]], pa.Table]) -> None:
        self._table = table
        self._rows = rows
        self._read = read
        self._kept: dict[str, pa.ChunkedArray] = {}

    @cached_property
    def arrow(self) -> pa.Table:
        """The rows in Arrow, columns named as in the snapshot."""
        columns = self._columns(self._table.schema.names)
        return pa.table(list(columns.values()), list(columns))

    def _columns(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Return columns by name; those that were not read before are read, and no others: scoring needs no texts."""
        missing = [name for name in names if name not in self._kept]
        if missing:
            self._kept.update(zip(missing, self._read(missing).columns, strict=True))
        return {name: self._kept[name] for name in names}

    @property
    def _kind(self) -> str:
        return self._table.record.__name__.lower() if self._table.record else "row"

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<Records of the table {self._table.name}: {len(self):,}>"

    def __iter__(self) -> Iterator[T]:
        for batch in self.arrow.to_batches(max_chunksize=_BATCH):
            for row in batch.to_pylist():
                yield to_record(self._table, row)

    def __contains__(self, key: object) -> bool:
        return key in self._place

    def __getitem__(self, key: str | tuple[str, ...]) -> T:
        """Return one record.

        Raises:
            UnknownNameError: There is none of that id.
            InputError: There are several: in a dataset made of judgments alone, two queries may use one nugget id.
        """
        place = self._place.get(key)
        if place == _SEVERAL:
            raise InputError(f"{self._kind} {shown(key)}", expected="one of that id", got="several")
        if place is None:
            raise UnknownNameError(self._kind, key, (known for known in self._place if isinstance(known, str)))
        return self.rows_at([place])[0]

    def rows_at(self, places: list[int]) -> list[T]:
        """Return the records at some places of the table."""
        # take() wants an array made of Python's numbers, for which Arrow imports pandas.
        rows = (self.arrow.slice(place, 1).to_pylist()[0] for place in places)
        return [to_record(self._table, row) for row in rows]

    def columns(self, *fields: str) -> tuple[list[Any], ...]:
        """Return whole columns, one list a field, in the order of the records.

        Args:
            fields: Names of the record's fields, such as ``query_id``.

        Raises:
            UnknownNameError: The record has no such field.
            SnapshotError: A value that every record must have is missing.
        """
        for field in fields:
            if field not in self._table.fields:
                raise UnknownNameError("field", field, self._table.fields)
        columns = self._columns([self._table.fields[field] for field in fields])
        for name, column in columns.items():
            if name in self._table.required and column.null_count:
                what = f"the column {name} of {self._table.name}"
                raise SnapshotError(what, expected="a value in every row", got="a null", hint=VERIFY)
        return tuple(_to_list(columns[self._table.fields[field]]) for field in fields)

    def with_column(self, field: str, values: list[str]) -> "Records[T]":
        """Return the same records with one field of text replaced."""
        column = self._table.fields[field]
        try:
            array = pa.array(values, pa.string())
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"the new {field}", expected="valid strings", got=shown(str(error))) from None
        index = self.arrow.schema.get_field_index(column)
        replaced = self.arrow.set_column(index, column, array)
        return Records(self._table, self._rows, replaced.select)

    @cached_property
    def _place(self) -> Mapping[Any, int]:
        """The place of every record by its key; ``_SEVERAL`` for a key that more than one record has."""
        columns = [_to_list(column) for column in self._columns(self._table.key).values()]
        places: dict[Any, int] = {}
        for place, key in enumerate(columns[0] if len(columns) == 1 else zip(*columns, strict=True)):
            places[key] = _SEVERAL if key in places else place
        return places


def _to_list(column: pa.ChunkedArray) -> list[Any]:
    """Return a column in Python; equal strings are one object, since ids repeat by the million."""
    with readable("a table"):
        if not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
            return list(column.to_pylist())
        coded = pc.dictionary_encode(column).unify_dictionaries()
        words = np.asarray([*(coded.chunk(0).dictionary.to_pylist() if coded.num_chunks else ()), None], object)
        codes = [_codes(chunk.indices, len(words) - 1) for chunk in coded.chunks]
        return list(words[np.concatenate(codes)]) if codes else []


def _codes(indices: pa.Array, null: int) -> Any:
    """Return numbers as an array, another one for nulls.

    Arrow's own ways from and to NumPy import pandas where that is installed: half a second, and 30 MB.
    """
    if indices.null_count:
        return np.array([null if code is None else code for code in indices.to_pylist()])
    return np.from_dlpack(indices)
