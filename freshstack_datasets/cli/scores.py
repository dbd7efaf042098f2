"""How results are shown and written: the table, the share of unjudged documents, the values of every query."""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.files import atomic_file

if TYPE_CHECKING:
    from freshstack_datasets.evaluation import Result
    from freshstack_datasets.loading import Dataset
    from freshstack_datasets.ranking import Run

COLUMNS = ("system", "measure", "value", "95 % interval")
TOP = 10
SUFFIXES = (".csv", ".jsonl")


def rows(results: "Sequence[Result]") -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table: a system's name stands beside the first of its measures."""
    for result in results:
        for place, (name, value) in enumerate(result.mean.items()):
            low, high = result.interval(name)
            yield ("" if place else result.system, name, f"{value:.4f}", f"{low:.4f} to {high:.4f}")


def unjudged(run: "Run", data: "Dataset") -> str:
    """Say how many of the documents at the top of a run nobody judged for the query they were found for."""
    found = missing = 0
    for query_id, start, end in zip(run.query_ids, run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True):
        judged = data.qrels.get(query_id)
        if judged is not None:
            top = run.codes[start : min(end, start + TOP)].tolist()
            found += len(top)
            missing += sum(run.doc_ids[code] not in judged for code in top)
    return f"{run.name}: {missing:,} of the {counted(found, 'documents')} in the top {TOP} {_are(missing)} unjudged"


def foreign(run: "Run", data: "Dataset") -> str:
    """Say how many of a run's documents the corpus does not have; nothing when it has them all."""
    used = {run.doc_ids[code] for code in np.unique(run.codes).tolist()}
    lacking = len(used.difference(data.corpus.ids))
    if not lacking:
        return ""
    return f"{lacking:,} of the run's {counted(len(used), 'documents')} {_are(lacking)} not in the corpus"


def check_suffix(path: Path) -> None:
    """Refuse a file name that says no format, before anything is computed.

    Raises:
        InputError: It ends otherwise than ``.csv`` or ``.jsonl``.
    """
    if path.suffix not in SUFFIXES:
        expected = f"a name that ends with {' or '.join(SUFFIXES)}"
        raise InputError(f"--per-query {shown_path(path)}", expected=expected, got=shown(path.suffix))


def write_per_query(results: "Sequence[Result]", path: Path) -> None:
    """Write the value of every measure for every query, unrounded, a row for each system and query.

    Args:
        results: The results, all of the same measures.
        path: Where to; ``.csv`` has a column a measure, ``.jsonl`` an object a line.

    Raises:
        InputError: The file cannot be written.
    """
    try:
        with atomic_file(path) as work, work.open("w", encoding="utf-8", newline="") as file:
            write = _write_csv if path.suffix == ".csv" else _write_jsonl
            write(results, file)
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot write {shown_path(path)}", got=shown(reason)) from error


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _write_csv(results: "Sequence[Result]", file: TextIO) -> None:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["system", "query_id", *results[0].mean])
    for system, query_id, values in _values(results):
        table.writerow([system, query_id, *values.values()])


def _write_jsonl(results: "Sequence[Result]", file: TextIO) -> None:
    for system, query_id, values in _values(results):
        entry = {"system": system, "query_id": query_id, "measures": values}
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _values(results: "Sequence[Result]") -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield system, query id and the value of each measure."""
    for result in results:
        names = [str(measure) for measure in result.measures]
        for query_id, values in zip(result.query_ids, result.values.T.tolist(), strict=True):
            yield result.system, query_id, dict(zip(names, values, strict=True))
