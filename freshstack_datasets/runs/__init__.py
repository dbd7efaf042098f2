"""Run files in and out: TREC, JSON, JSON lines and Parquet, chosen by the suffix of the file's name.

Whatever stands in a file, reading gives a ``Run`` or a ``RunFileError`` with the line, and a bad file of any size costs
bounded memory: see ``entries.gathered``.
"""

import gzip
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from freshstack_datasets.errors import InputError, RunError, shown, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.ranking import Run, as_run
from freshstack_datasets.runs import parquet
from freshstack_datasets.runs.entries import gathered
from freshstack_datasets.runs.formats import FORMATS, TEXT, format_of, scanner_of
from freshstack_datasets.runs.source import ID_LIMIT
from freshstack_datasets.runs.survey import Survey, survey_run
from freshstack_datasets.runs.tops import read_top

__all__ = ["FORMATS", "Survey", "read_run", "read_top", "survey_run", "write_run"]


def read_run(path: Path | str, format: str | None = None) -> Run:
    """Read a run from a file.

    Args:
        path: The file; text formats may be gzipped, and then its name ends with ``.gz``.
        format: One of ``FORMATS``; by the suffix when not given.

    Returns:
        The run, named by the name in the file, else by the file's name without suffixes. Of the formats, JSON alone
        cannot hold a name; in TREC it is the tag.

    Raises:
        RunFileError: The file cannot be read, or does not hold a run; the first fault is named with its line.
        InputError: Neither the suffix nor ``format`` is known.
    """
    path = Path(path)
    kind, _ = format_of(path, format)
    return gathered(path, *scanner_of(kind))


def write_run(run: Run | Mapping[str, Mapping[str, float]], path: Path | str, format: str | None = None) -> None:
    """Write a run to a file, all or nothing; the same run gives the same bytes.

    Args:
        run: The run, or a mapping of query id to document id to score.
        path: The file; a name that ends with ``.gz`` has it gzipped. A file that is there is replaced.
        format: One of ``FORMATS``; by the suffix when not given.

    Raises:
        RunError: The run has no query, or in any format but JSON no document, or holds an id that the format cannot.
        InputError: Neither the suffix nor ``format`` is known, or the file cannot be written.
    """
    run, path = as_run(run), Path(path)
    kind, zipped = format_of(path, format)
    _check_writable(run, kind)
    try:
        with atomic_file(path) as work:
            if kind == "parquet":
                parquet.write(run, work)
            else:
                with _sink(work, zipped) as stream:
                    TEXT[kind].write(run, stream)
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        raise InputError(f"cannot write {shown_path(path)}", got=shown(str(error))) from None


def _check_writable(run: Run, format: str) -> None:
    """Refuse what the readers would refuse, so that a file that was written can be read."""
    if not run.query_ids:
        raise RunError("a run to write", expected="at least one query", got="none")
    if not len(run.codes) and format != "json":
        raise RunError(
            f"a run to write as {format}",
            expected="at least one document, since only JSON can hold a query that found nothing",
            got="none",
        )
    for kind, ids in (("query", run.query_ids), ("document", (run.doc_ids[code] for code in np.unique(run.codes)))):
        for value in ids:
            if len(value) > ID_LIMIT:
                raise RunError(
                    f"{kind} id {shown(value)}", expected=f"at most {ID_LIMIT} characters", got=f"{len(value)}"
                )


@contextmanager
def _sink(path: Path, zipped: bool) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if not zipped:
            yield file
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as stream:
            yield stream  # type: ignore[misc]  # a GzipFile writes bytes like any other stream
