"""Reading what people filled in, from spreadsheets and from the page, and holding it against the snapshot."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builders.auditing.annotations import Annotation, Filled, Problem, SheetsError, Written, annotation_of, clean
from builders.auditing.cells import rows_of
from builders.auditing.csv_sheet import read_csv
from builders.auditing.sampling import Sample, Sheet, draw
from builders.correcting.cells import read_text
from freshstack_datasets.errors import InputError, NotComparableError, shown, shown_path
from freshstack_datasets.loading import Dataset

FORMAT = "freshstack-datasets audit 1"
"""What the page's files say that they are."""


def read_sheets(dataset: Dataset, paths: Sequence[Path]) -> list[Annotation]:
    """Read the sheets of any number of people.

    Args:
        dataset: The snapshot that they looked at.
        paths: Their files, one from each, as CSV or as the page saved it.

    Raises:
        SheetsError: A cell is empty, or holds something else than it may.
        NotComparableError: A sheet is of another snapshot.
        InputError: A file cannot be read or is no sheet, or two are from the same person.
    """
    files = [read_sheet(path) for path in paths]
    _refuse_the_same_person(files)
    samples: dict[Sheet, Sample] = {}
    annotations: list[Annotation] = []
    problems: list[Problem] = []
    for filled in files:
        if filled.sheet not in samples:
            samples[filled.sheet] = _sample(filled, dataset)
        sample = samples[filled.sheet]
        annotation, wrong = annotation_of(filled, sample, rows_of(sample))
        annotations.append(annotation)
        problems += wrong
    if problems:
        raise SheetsError(problems)
    return annotations


def read_sheet(path: Path) -> Filled:
    """Read a file as it stands there.

    Args:
        path: The file.

    Raises:
        InputError: It cannot be read or is no sheet.
    """
    text = read_text(path)
    return _read_json(path, text) if text.lstrip().startswith("{") else read_csv(path, text)


def _sample(filled: Filled, dataset: Dataset) -> Sample:
    """Draw a sheet again."""
    sheet = filled.sheet
    if sheet.fingerprint != dataset.fingerprint:
        raise NotComparableError(
            shown_path(filled.path)[1:-1],
            expected=f"a sheet of {dataset.name}@{dataset.snapshot}#{dataset.fingerprint[:12]}",
            got=f"one of {shown(f'{sheet.dataset}@{sheet.snapshot}')[1:-1]}#{sheet.fingerprint[:12]}",
            hint="give the snapshot that was looked at",
        )
    return draw(dataset, sheet.questions, sheet.seed)


def _refuse_the_same_person(files: Sequence[Filled]) -> None:
    first: dict[str, Filled] = {}
    for filled in files:
        other = first.setdefault(filled.annotator.casefold(), filled)
        if other is not filled:
            raise InputError(
                f"{shown_path(filled.path)[1:-1]}",
                expected="one sheet from each person",
                got=f"another one from {shown(filled.annotator)}, as {shown_path(other.path)[1:-1]}",
                hint="a CSV is from whom the file is named after",
            )


def _read_json(path: Path, text: str) -> Filled:
    """Return what a file of the page holds."""
    what = shown_path(path)[1:-1]
    try:
        told: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        got = str(error) if isinstance(error, json.JSONDecodeError) else "something else"
        raise InputError(what, expected="JSON, as the page saves it", got=got) from None
    if told.get("format") != FORMAT:
        raise InputError(f"{what}, format", expected=shown(FORMAT), got=shown(told.get("format")))
    annotator, answers = told.get("annotator"), told.get("answers")
    if not isinstance(annotator, str) or not clean(annotator):
        raise InputError(f"{what}, annotator", expected="a name", got=shown(annotator))
    sheet = Sheet.parse(told["sheet"]) if isinstance(told.get("sheet"), str) else None
    if sheet is None:
        raise InputError(f"{what}, sheet", expected="the name of a sheet", got=shown(told.get("sheet")))
    if not isinstance(answers, dict):
        raise InputError(f"{what}, answers", expected="an object", got=shown(answers))
    cells = (Written(*_parted(name), value) for name, value in answers.items())
    return Filled(path, clean(annotator), sheet, tuple(cells))


def _parted(name: str) -> tuple[str, str]:
    """Return row and column of a cell's name."""
    row, _, column = name.rpartition(": ")
    return row, column
