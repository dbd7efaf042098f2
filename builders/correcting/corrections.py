"""The table of corrections that people hand in, read and checked row by row.

It is a file of comma-separated values in UTF-8 whose first row names these columns, in any order:

===========  ==========================================================================================================
kind         ``judgment``, ``nugget`` or ``question``
action       ``change``, ``add`` or ``remove``
query_id     the question; in every row
nugget_id    the nugget; empty for a question
doc_id       the document; empty for a nugget or a question
field        which value of it ``old`` and ``new`` are: ``score`` of a judgment, ``text``, ``position`` or
             ``importance`` of a nugget, any field of a ``Query`` but its id of a question
old          the value that the snapshot has; in a row that adds, empty
new          the value that it should have; in a row that removes, empty
reason       why
by           who says so
date         when, ``YYYY-MM-DD``
===========  ==========================================================================================================

A row is about one value. Whatever is to be removed is named with one of its values as ``old``, which shows that its
remover looked at it; what hangs on it goes with it. What is added takes a row for each value that it has: a judgment its
``score``, a nugget its ``text`` (its position is the next one unless a row says it), a question its ``title``, ``body``,
or ``text`` where it has neither. An empty cell is a value that is not known, ``tags`` are a JSON list. Where the text of a
question is its title and its body, it follows them. A row of empty cells is skipped.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from builders.correcting.cells import Cells, read_text, rows
from builders.correcting.fields import FIELDS, is_allowed, is_meant
from freshstack_datasets.errors import InputError, RecordError, shown, shown_path
from freshstack_datasets.records import check_id

COLUMNS = ("kind", "action", "query_id", "nugget_id", "doc_id", "field", "old", "new", "reason", "by", "date")
ACTIONS = ("change", "add", "remove")
IDS: Mapping[str, tuple[str, ...]] = {
    "judgment": ("query_id", "nugget_id", "doc_id"),
    "nugget": ("query_id", "nugget_id"),
    "question": ("query_id",),
}
"""From a kind of record to the columns that name one."""

LONGEST = 1_000_000
"""Characters that a cell may have."""

LISTED = 20
"""Problems that are shown; the others are counted."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_UNUSED: Mapping[str, str] = {"add": "old", "remove": "new"}


@dataclass(frozen=True, slots=True)
class Correction:
    """One row of the table.

    Args:
        line: The line of the file on which it begins.
        kind: What kind of record it is about.
        action: What becomes of it.
        ids: Its ids, those that the kind has of query, nugget and document.
        field: Which of its values.
        old: The cell of the value that is there.
        new: The cell of the value that should be.
        reason: Why.
        by: Who says so.
        date: When, ISO 8601.
    """

    line: int
    kind: str
    action: str
    ids: tuple[str, ...]
    field: str
    old: str
    new: str
    reason: str
    by: str
    date: str

    @property
    def key(self) -> tuple[str, tuple[str, ...]]:
        """The record that it is about: its kind and ids."""
        return self.kind, self.ids

    @property
    def query_id(self) -> str:
        """The question."""
        return self.ids[0]

    @property
    def nugget_id(self) -> str:
        """The nugget, "" of a question."""
        return self.ids[1] if len(self.ids) > 1 else ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a row cannot be applied.

    Args:
        line: The line of the file on which the row begins.
        column: The column, "" where the whole row is meant.
        expected: What would be right.
        got: What was found instead.
        hint: The next step.
    """

    line: int
    column: str
    expected: str
    got: str
    hint: str = ""


class CorrectionsError(InputError):
    """Corrections that cannot be applied; ``told`` has each problem as an error of its own.

    Args:
        path: The file.
        problems: What is wrong with it, by line; not empty.
    """

    def __init__(self, path: Path, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.line))
        self.told = tuple(_told(path, problem) for problem in self.problems)
        nothing = "nothing was written"
        if len(problems) == 1:
            told = self.told[0]
            hint = "; ".join(filter(None, (told.hint, nothing)))
            super().__init__(told.what, expected=told.expected, got=told.got, hint=hint)
        else:
            super().__init__(f"cannot apply {shown_path(path)}", got=f"{len(problems):,} problems", hint=nothing)


def _told(path: Path, problem: Problem) -> InputError:
    where = f"{shown_path(path)[1:-1]}:{problem.line}" + (f", {problem.column}" if problem.column else "")
    return InputError(where, expected=problem.expected, got=problem.got, hint=problem.hint)


def read_corrections(path: Path) -> tuple[list[Correction], list[Problem]]:
    """Read a table of corrections.

    Args:
        path: The file.

    Returns:
        The rows that can be understood, and what is wrong with the others.

    Raises:
        InputError: The file cannot be read, has other columns, or no row.
    """
    found = rows(read_text(path))
    order = _header(path, next(found, Cells(1, ("",))))
    corrections: list[Correction] = []
    problems: list[Problem] = []
    for row in found:
        if row.broken:
            column = order[len(row.values) - 1] if len(row.values) <= len(order) else ""
            problems.append(Problem(row.line, column, "a cell in quotes or one without", row.broken))
        elif len(row.values) != len(order) and any(row.values):
            hint = "put cells with commas into quotes"
            problems.append(Problem(row.line, "", f"{len(order)} cells", str(len(row.values)), hint))
        elif any(row.values):
            cells = dict(zip(order, row.values, strict=True))
            wrong = [Problem(row.line, *problem) for problem in _wrong(cells)]
            problems += wrong
            if not wrong:
                corrections.append(_correction(row.line, cells))
    if not corrections and not problems:
        raise InputError(
            shown_path(path), expected="at least one correction", got="none below the names of the columns"
        )
    return corrections, problems


def _header(path: Path, row: Cells) -> tuple[str, ...]:
    """Return the columns in the file's order."""
    what = f"{shown_path(path)[1:-1]}:1, the names of the columns"
    hint = "python -m builders correct --help says which there are"
    if row.broken:
        raise InputError(what, expected="cells separated by commas", got=row.broken, hint=hint)
    missing = [name for name in COLUMNS if name not in row.values]
    unknown = [name for name in row.values if name not in COLUMNS]
    twice = [name for name, times in Counter(row.values).items() if times > 1]
    if missing:
        got = f"{shown(', '.join(unknown))} instead" if unknown else "none of that name"
        raise InputError(what, expected=", ".join(missing), got=got, hint=hint)
    if unknown or twice:
        got = shown(unknown[0]) if unknown else f"{twice[0]} twice"
        raise InputError(what, expected="the eleven columns, each once", got=got, hint=hint)
    return row.values


def _correction(line: int, cells: Mapping[str, str]) -> Correction:
    ids = tuple(cells[column] for column in IDS[cells["kind"]])
    rest = {name: cells[name] for name in COLUMNS if not name.endswith("_id")}
    return Correction(line, ids=ids, **rest)


def _wrong(cells: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return what is wrong with a row, whatever snapshot it is about: column, expected, got."""
    wrong = [(column, *told) for column in COLUMNS for told in _unreadable(cells[column])]
    if wrong:
        return wrong
    kind, action = cells["kind"], cells["action"]
    for column, known in (("kind", tuple(FIELDS)), ("action", ACTIONS)):
        if cells[column] not in known:
            wrong.append((column, f"{', '.join(known[:-1])} or {known[-1]}", shown(cells[column])))
    if kind in FIELDS:
        wrong += _wrong_ids(kind, cells)
        if cells["field"] not in FIELDS[kind]:
            wrong.append(("field", f"one of {', '.join(FIELDS[kind])}", shown(cells["field"])))
        elif action in ACTIONS:
            wrong += _wrong_values(action, cells)
    wrong += [(column, "a text", "none") for column in ("reason", "by") if not cells[column].strip()]
    if not _is_day(cells["date"]):
        wrong.append(("date", "a day such as 2026-01-31", shown(cells["date"])))
    return wrong


def _unreadable(cell: str) -> list[tuple[str, str]]:
    """Return why a cell is no text that can be stored: expected, got."""
    if len(cell) > LONGEST:
        return [(f"at most {LONGEST:,} characters", f"{len(cell):,}")]
    if "\0" in cell:
        return [("a text", "a NUL in it")]
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        return [("UTF-8", f"the byte {ord(cell[error.start]) - 0xDC00:#04x}")]
    return []


def _wrong_ids(kind: str, cells: Mapping[str, str]) -> list[tuple[str, str, str]]:
    wrong = []
    for column in IDS["judgment"]:
        if column not in IDS[kind]:
            if cells[column]:
                wrong.append((column, f"an empty cell for a {kind}", shown(cells[column])))
            continue
        try:
            check_id(cells[column], column)
        except RecordError as error:
            wrong.append((column, error.expected, shown(cells[column])))
    return wrong


def _wrong_values(action: str, cells: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return what is wrong with the cells old and new, given an action and a field that are known."""
    wrong = []
    if (unused := _UNUSED.get(action)) and cells[unused]:
        wrong.append((unused, f"an empty cell, since action is {action}", shown(cells[unused])))
    field = FIELDS[cells["kind"]][cells["field"]]
    if action == "remove":
        if not cells["old"]:
            wrong.append(("old", f"the {cells['field']} of what is to be removed", "an empty cell"))
    elif not is_allowed(field, cells["new"]):
        wrong.append(("new", field.expected, shown(cells["new"])))
    elif action == "change" and is_meant(field, cells["old"], field.read(cells["new"])):
        wrong.append(("new", "another value than old", "the same"))
    return wrong


def _is_day(cell: str) -> bool:
    try:
        return bool(_DAY.fullmatch(cell) and date.fromisoformat(cell))
    except ValueError:
        return False
