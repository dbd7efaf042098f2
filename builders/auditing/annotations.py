"""What one person filled in, put together from a sheet's cells, and what is wrong with a sheet."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from builders.auditing.cells import KINDS, REMARK, Row, Unit, Value, cell_name, read_value
from builders.auditing.sampling import Sample, Sheet
from freshstack_datasets.errors import InputError, shown, shown_path

LISTED = 20
"""Cells that are named; the others are counted."""

EMPTY = "an empty cell"

NOT_ASKED = "n/a"
"""What the sheet has in a cell that is not to be filled in."""

_LONGEST_REMARK = 2_000
_UNWANTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


def clean(text: str) -> str:
    """Return what somebody typed as one line that can be written anywhere.

    Args:
        text: A remark or a name.
    """
    return " ".join(_UNWANTED.sub(" ", text[:_LONGEST_REMARK]).split())


@dataclass(frozen=True, slots=True)
class Written:
    """One cell of a file.

    Args:
        row: The name of its row.
        column: Its column.
        text: What it holds.
        line: Its line in the file, 0 where it has none.
    """

    row: str
    column: str
    text: object
    line: int = 0


@dataclass(frozen=True, slots=True)
class Filled:
    """A file that somebody filled in, as it stands there.

    Args:
        path: The file.
        annotator: Who it is from.
        sheet: The sheet that it is of.
        cells: Its cells.
    """

    path: Path
    annotator: str
    sheet: Sheet
    cells: tuple[Written, ...]


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one person says, with nothing missing.

    Args:
        annotator: Who.
        sample: Of what.
        values: What each cell of the sheet holds.
        remarks: What was said beside a nugget or a document, by the question's id and its own.
    """

    annotator: str
    sample: Sample
    values: Mapping[Unit, Value]
    remarks: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a cell cannot be used.

    Args:
        path: The file.
        line: Its line, 0 where it has none.
        cell: What the cell is called.
        expected: What it may hold.
        got: What it holds.
    """

    path: Path
    line: int
    cell: str
    expected: str
    got: str

    @property
    def told(self) -> InputError:
        """The problem as an error of its own."""
        where = shown_path(self.path)[1:-1] + (f":{self.line}" if self.line else "")
        return InputError(f"{where}, {self.cell}", expected=self.expected, got=self.got)


class SheetsError(InputError):
    """Sheets that are not filled in as they should be.

    Args:
        problems: Their cells that are empty or hold something else than they may, in the order of the files.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        nothing = "nothing was scored"
        if len(problems) == 1:
            told = problems[0].told
            super().__init__(told.what, expected=told.expected, got=told.got, hint=nothing)
            return
        files = dict.fromkeys(problem.path for problem in problems)
        where = shown_path(next(iter(files))) if len(files) == 1 else f"{len(files):,} sheets"
        empty = sum(problem.got == EMPTY for problem in problems)
        got = ", ".join(
            f"{number:,} {what}"
            for number, what in ((empty, "empty"), (len(problems) - empty, "with something else"))
            if number
        )
        super().__init__(f"the cells of {where}", expected="an answer in each", got=got, hint=nothing)


def annotation_of(filled: Filled, sample: Sample, rows: Mapping[str, Row]) -> tuple[Annotation, list[Problem]]:
    """Return what somebody says, and what is wrong with it.

    Args:
        filled: The file.
        sample: What its sheet asks.
        rows: The rows of that.
    """
    values: dict[Unit, Value] = {}
    remarks: dict[tuple[str, str], str] = {}
    problems: list[Problem] = []
    wrong: set[str] = set()
    lines: dict[str, int] = {}
    for cell in filled.cells:
        row, name = rows.get(cell.row), cell_name(cell.row, cell.column)
        if row is not None and cell.column == REMARK:
            if isinstance(cell.text, str) and (remark := clean(cell.text)):
                remarks[row.query_id, row.about] = remark
        elif row is None or cell.column not in row.columns:
            if not _says_nothing(cell.text):
                problems.append(Problem(filled.path, cell.line, name, "nothing", shown(cell.text)))
        else:
            lines.setdefault(cell.row, cell.line)
            try:
                value = read_value(cell.column, cell.text)
            except ValueError:
                wrong.add(name)
                problems.append(Problem(filled.path, cell.line, name, KINDS[cell.column].expected, shown(cell.text)))
                continue
            unit = row.unit(cell.column)
            if value is not None and values.setdefault(unit, value) != value:
                problems.append(Problem(filled.path, cell.line, name, "one answer", "another one before"))
    problems += _missing(filled.path, rows.values(), values, wrong, lines)
    problems.sort(key=lambda problem: problem.line)
    return Annotation(filled.annotator, sample, values, remarks), problems


def _says_nothing(text: object) -> bool:
    """Tell whether a cell that nobody asked for is as the sheet had it."""
    return text is None or (isinstance(text, str) and text.strip().lower() in ("", NOT_ASKED))


def _missing(
    path: Path, rows: Iterable[Row], values: Mapping[Unit, Value], wrong: set[str], lines: Mapping[str, int]
) -> list[Problem]:
    """Return the cells without an answer, but for those that hold a wrong one."""
    return [
        Problem(path, lines.get(row.name, 0), cell_name(row.name, column), KINDS[column].expected, EMPTY)
        for row in rows
        for column in row.columns
        if row.unit(column) not in values and cell_name(row.name, column) not in wrong
    ]
