"""Parquet files of somebody else, with other columns than a snapshot's: opened and read without trusting them."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from freshstack_datasets.errors import InputError, shown, shown_path

_STEP = 64
"""Rows that are unpacked at once."""

_ROOM, _MOST_UNPACKED = 512_000_000, 200
"""Bytes that a file may unpack to: so many, and so many times its own size; texts shrink to a tenth at best."""

HINT = "give the files as they were published"


class SourceFile:
    """One file, whose columns were looked at.

    Args:
        path: Where it is; a link is followed, since whoever gave the path means what it leads to.
        columns: The columns that are read. One that is not nullable must be there, the others may; so may members of
            structs. Values may be null all the same.

    Raises:
        InputError: On opening or on reading: there is no such file, it is no Parquet, a column is lacking or of another
            type, or rows are far larger than honest ones.
    """

    def __init__(self, path: Path, columns: pa.Schema) -> None:
        self.name = shown_path(path)[1:-1]
        self.short_name = shown_path(path.name)[1:-1]
        self._path = path
        with self._readable():
            if not path.is_file():
                got = "a folder" if path.is_dir() else "something else" if path.exists() else "none"
                raise InputError(f"cannot read {shown_path(path)}", expected="a Parquet file", got=got, hint=HINT)
            with pq.ParquetFile(path, pre_buffer=False) as file:
                found = list(file.schema_arrow)
        wrong = _misfit_of_fields(found, columns, "")
        if wrong:
            place, expected, got = wrong
            raise InputError(f"{self.name}: {place or 'columns'}", expected=expected, got=shown(got), hint=HINT)
        self._columns = [field.name for field in found if field.name in columns.names]
        self.unread = tuple(_unread(found, columns, ""))

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, few at a time; of the known columns, all or some."""
        with self._readable():
            room = _ROOM + _MOST_UNPACKED * self._path.stat().st_size
            with pq.ParquetFile(self._path, pre_buffer=False) as file:  # True keeps what it read in memory
                for batch in file.iter_batches(_STEP, columns=columns or self._columns, use_threads=False):
                    room -= batch.nbytes
                    if room < 0:
                        expected, got = "rows of a usual size", "far larger ones"
                        raise InputError(f"{self.name} cannot be read", expected=expected, got=got, hint=HINT)
                    batch.validate(full=True)  # Parquet says "string", only a look says UTF-8
                    yield batch

    def rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number of each row, from 1, and its values by column; a column that is not there is left out."""
        number = 0
        for batch in self.batches():
            for row in batch.to_pylist():
                number += 1
                yield number, row

    def sha256(self) -> str:
        """Return the digest of the file's bytes, in hexadecimal."""
        with self._readable(), self._path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn what Arrow or the system says of a broken file into an error of ours."""
        try:
            yield
        except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
            said = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
            raise InputError(f"{self.name} cannot be read", got=shown(said), hint=HINT) from None


def _misfit(found: pa.DataType, wanted: pa.DataType, place: str) -> tuple[str, str, str] | None:
    """Return where a type is another one than wanted, what was expected there and what was got; None when it fits."""
    if pa.types.is_null(found):  # nothing but nulls, of which any column may be full
        return None
    if pa.types.is_struct(wanted):
        if not pa.types.is_struct(found):
            return place, "a struct", str(found)
        return _misfit_of_fields(list(found), wanted, place)
    if pa.types.is_list(wanted):
        if not (pa.types.is_list(found) or pa.types.is_large_list(found)):
            return place, "a list", str(found)
        return _misfit(found.value_type, wanted.value_type, place)
    plain = found.value_type if pa.types.is_dictionary(found) else found
    if pa.types.is_integer(wanted):
        return None if pa.types.is_integer(plain) else (place, "whole numbers", str(found))
    text = pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain)
    return None if text else (place, "strings", str(found))


def _misfit_of_fields(found: Sequence[pa.Field], wanted: Iterable[pa.Field], place: str) -> tuple[str, str, str] | None:
    """Return the first misfit among columns, or among the members of a struct."""
    names = [field.name for field in found]
    for field in wanted:
        inside = f"{place}.{field.name}" if place else field.name
        if names.count(field.name) > 1:
            return inside, "it once", "it several times"
        if field.name in names:
            wrong = _misfit(found[names.index(field.name)].type, field.type, inside)
            if wrong:
                return wrong
        elif not field.nullable:
            return place, ", ".join(f.name for f in wanted if not f.nullable), ", ".join(names)
    return None


def _unread(found: Iterable[pa.Field], wanted: pa.Schema | pa.StructType, place: str) -> Iterator[str]:
    """Yield the columns, and members of structs, that are there but not known."""
    known = {field.name: field.type for field in wanted}
    for field in found:
        inside = f"{place}.{field.name}" if place else field.name
        if field.name not in known:
            yield inside
            continue
        here, there = field.type, known[field.name]
        if pa.types.is_list(there) and not pa.types.is_null(here):
            here, there = here.value_type, there.value_type
        if pa.types.is_struct(there) and pa.types.is_struct(here):
            yield from _unread(here, there, inside)
