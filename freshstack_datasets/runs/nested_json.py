"""Runs as one JSON object: query id to document id to score. There is no place for the run's name."""

import json
from pathlib import Path
from typing import BinaryIO

from freshstack_datasets.ranking import Run
from freshstack_datasets.runs.entries import Taker
from freshstack_datasets.runs.scanner import Scanner
from freshstack_datasets.runs.source import Source


def scan(path: Path, entries: Taker) -> str:
    """Read nested JSON into entries, as a stream, and return "": it holds no name.

    A query may have an empty object: it found nothing.

    Raises:
        RunFileError: The file does not hold a run.
    """
    with Source(path, entries.most_bytes) as source:
        scanner = Scanner(source, path)
        for query_id in scanner.queries():
            entries.add_query(query_id)
            for doc_ids, scores in scanner.documents():
                if scores:
                    entries.add([query_id] * len(scores), doc_ids, scores)
                if entries.overflowed:
                    scanner.forget()
    return ""


def write(run: Run, stream: BinaryIO) -> None:
    """Write a run, a line a query, its documents best first; queries without document are kept."""
    separator = "{\n"
    for query_id in run.query_ids:
        key = json.dumps(query_id, ensure_ascii=False)
        value = json.dumps(run[query_id], ensure_ascii=False)
        stream.write(f"{separator}{key}: {value}".encode())
        separator = ",\n"
    stream.write(b"\n}\n")
