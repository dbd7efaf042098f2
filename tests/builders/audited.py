"""Snapshots for audits, and people who fill in their sheets."""

import csv
import io
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import freshstack_datasets as fsd
from builders.auditing.annotations import NOT_ASKED
from builders.auditing.cells import COLUMNS
from freshstack_datasets.loading import Dataset

Answers = Callable[[str, str], str]
"""From a row's name and a column to what somebody writes there."""


def write(folder: Path, nuggets: dict[str, list[str]], /, **changes) -> Dataset:
    """Write a snapshot: from the id of a question to the texts of its nuggets, all of which one document supports.

    The question q has the nuggets q_0, q_1 … and the document "q doc"; another document, "q other", was judged and
    supports none.
    """
    told = {
        "dataset": "acme/audited",
        "snapshot": "2026-10",
        "license": "CC-BY-SA-4.0",
        "created": date(2026, 10, 31),
        "documents": [
            fsd.Document(f"{q} {kind}", f"Title of {q}", f"{kind} text", {"url": f"https://example.org/{q}"})
            for q in nuggets
            for kind in ("doc", "other")
        ],
        "queries": [fsd.Query(q, f"Question {q}?", answer_id=f"a{q}", answer_text=f"Answer {q}.") for q in nuggets],
        "nuggets": [fsd.Nugget(f"{q}_{i}", q, i, text) for q, texts in nuggets.items() for i, text in enumerate(texts)],
        "judgments": [
            fsd.Judgment(q, f"{q}_{i}", f"{q} {kind}", int(kind == "doc"), "call-1")
            for q, texts in nuggets.items()
            for i, _ in enumerate(texts)
            for kind in ("doc", "other")
        ],
    }
    fsd.write_snapshot(folder, **(told | changes))
    return fsd.load(folder)


def sheet_rows(sheets: Path) -> list[dict[str, str]]:
    """The rows of a sheet's CSV, as Python's own reader reads them."""
    return list(csv.DictReader(io.StringIO((sheets / "sheet.csv").read_text(encoding="utf-8-sig"), newline="")))


def fill_csv(
    sheets: Path, path: Path, answers: Answers, delimiter: str = ",", end: str = "\r\n", mark: str = ""
) -> Path:
    """Fill in a sheet's CSV and save it as some spreadsheet would."""
    text = io.StringIO(newline="")
    rows = sheet_rows(sheets)
    quoting = csv.QUOTE_ALL if end == "\r" else csv.QUOTE_MINIMAL  # else Python leaves cells with a line feed unquoted
    table = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, lineterminator=end, quoting=quoting)
    table.writeheader()
    for row in rows:
        asked = {column: answers(row["row"], column) for column in COLUMNS if row[column] != NOT_ASKED}
        table.writerow(row | asked)
    path.write_bytes((mark + text.getvalue()).encode())
    return path


def save_json(sheets: Path, path: Path, annotator: str, answers: Answers, /, **more: object) -> Path:
    """Fill in a sheet as the page saves it."""
    rows = sheet_rows(sheets)
    cells = {
        f"{row['row']}: {column}": answers(row["row"], column)
        for row in rows
        for column in COLUMNS
        if row[column] != NOT_ASKED
    }
    told = {
        "format": "freshstack-datasets audit 1",
        "sheet": rows[0]["sheet"],
        "annotator": annotator,
        "answers": cells,
    }
    path.write_text(json.dumps(told | more))
    return path


def all_good(row: str, column: str) -> str:
    """What somebody says who finds nothing wrong."""
    return {"missing": "0", "relevance": "relevant"}.get(column, "no")


def but(wrong: dict[str, str]) -> Answers:
    """The same, but for some cells, "Q1 nugget 2: minor"."""
    return lambda row, column: wrong.get(f"{row}: {column}", all_good(row, column))
