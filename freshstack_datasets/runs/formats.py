"""The formats of run files: what their names end with, and which module reads and writes each."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol

from freshstack_datasets.errors import InputError, UnknownNameError, shown, shown_path
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import jsonl, nested_json, parquet, trec
from freshstack_datasets.runs.entries import Taker
from freshstack_datasets.runs.source import GZIP

FORMATS: Mapping[str, tuple[str, ...]] = {
    "trec": (".trec", ".run", ".txt"),
    "json": (".json",),
    "jsonl": (".jsonl",),
    "parquet": (".parquet",),
}
"""The formats and the suffixes that stand for them; every one but Parquet may be followed by ``.gz``."""


class TextFormat(Protocol):
    """A module of a format that is text."""

    def scan(self, path: Path, entries: Taker) -> str:
        """Read a file into entries, and return the name that it holds."""
        ...

    def write(self, run: Run, stream: BinaryIO) -> None:
        """Write a run."""
        ...


TEXT: Mapping[str, TextFormat] = {"trec": trec, "json": nested_json, "jsonl": jsonl}
"""The modules of the formats that are text; each may be gzipped."""


def format_of(path: Path, format: str | None) -> tuple[str, bool]:
    """Return the format of a file, and whether it is gzipped.

    Args:
        path: The file.
        format: One of ``FORMATS``; by the suffix when not given.

    Raises:
        InputError: Neither the suffix nor ``format`` is known.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = suffixes[-1:] == [GZIP]
    if format is None:
        last = (suffixes[:-1] if zipped else suffixes)[-1:]
        format = next((name for name, known in FORMATS.items() if last and last[0] in known), None)
        if format is None:
            text = [suffix for name, known in FORMATS.items() if name in TEXT for suffix in known]
            raise InputError(
                f"run file {shown_path(path)}",
                expected=f"a name that ends with {', '.join(text)} (each also with {GZIP}) or .parquet",
                got=shown("".join(path.suffixes[-2:])) if suffixes else "a name without suffix",
                hint="rename it, or in Python give its format",
            )
    elif format not in FORMATS:
        raise UnknownNameError("run format", format, FORMATS)
    if zipped and format not in TEXT:
        raise InputError(f"run file {shown_path(path)}", expected=f"{format} without {GZIP}", got=f"one with {GZIP}")
    return format, zipped


def scanner_of(format: str) -> tuple[Callable[[Path, Taker], str], str]:
    """Return what reads files of a format into entries, and what an entry stands in: line or row.

    Args:
        format: One of ``FORMATS``.
    """
    return (parquet.scan, "row") if format == "parquet" else (TEXT[format].scan, "line")
