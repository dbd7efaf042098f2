"""The files that an audit makes."""

import codecs
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from builders.auditing import corrections, csv_sheet
from builders.auditing.annotations import Annotation
from builders.auditing.page import page
from builders.auditing.sampling import Sample, draw
from freshstack_datasets.files import atomic_file, atomic_folder, refuse_taken
from freshstack_datasets.loading import Dataset, load


def write_sheets(folder: Path, out: Path, *, questions: int, seed: int) -> Sample:
    """Draw questions of a snapshot and write the sheets that ask about them.

    Args:
        folder: The snapshot.
        out: A new folder for ``sheet.csv`` and ``sheet.html``.
        questions: How many questions.
        seed: Where the draw starts.

    Raises:
        InputError: The snapshot cannot be read or has fewer questions, or ``out`` is taken.
        MissingExtraError: The library that makes the page is not installed.
    """
    refuse_taken(out)
    sample = draw(load(folder), questions, seed)
    with atomic_folder(out) as work:
        # the mark in front tells a spreadsheet that it is UTF-8
        (work / "sheet.csv").write_bytes(codecs.BOM_UTF8 + csv_sheet.csv_text(sample).encode())
        (work / "sheet.html").write_text(page(sample), encoding="utf-8", newline="\n")
    return sample


def write_corrections(path: Path, dataset: Dataset, annotations: Sequence[Annotation], day: date | None = None) -> int:
    """Write the corrections that sheets call for, and return how many there are.

    Args:
        path: The file; where nothing is to be corrected, it is not made.
        dataset: The snapshot.
        annotations: The sheets.
        day: The day of the corrections; today (UTC) when not given.

    Raises:
        InputError: It cannot be written there.
    """
    rows = corrections.corrections(dataset, annotations, day or datetime.now(UTC).date())
    if rows:
        with atomic_file(path) as work:
            work.write_bytes(corrections.csv_text(rows).encode())
    return len(rows)
