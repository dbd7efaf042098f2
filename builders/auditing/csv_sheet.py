"""The sheet as a file for spreadsheets, and how it comes back from them."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from builders.auditing.annotations import NOT_ASKED, Filled, Written, clean
from builders.auditing.cells import COLUMNS, REMARK, item_rows
from builders.auditing.sampling import Item, Sample, Sheet
from builders.correcting.cells import Cells, rows
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.records import Document

HEADER = ("row", "id", "text", *COLUMNS, REMARK, "sheet")

LONGEST = 32_000
"""Characters of a cell; spreadsheets hold 32,767."""

_CUT = " … (cut: the page has all of it)"
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_READ = ("row", *COLUMNS, "sheet")


def csv_text(sample: Sample) -> str:
    """Return the sheet as comma-separated values.

    A row begins with the name by which it is read back, so that nothing that a spreadsheet makes of ids or texts does
    harm. A text that a spreadsheet could take for a formula has an apostrophe before it.
    """
    table = io.StringIO(newline="")
    writer = csv.writer(table, quoting=csv.QUOTE_ALL)
    writer.writerow(HEADER)
    for item in sample.items:
        writer.writerows(_rows(item, str(sample.sheet)))
    return table.getvalue()


def _rows(item: Item, sheet: str) -> Iterator[list[str]]:
    """Yield the rows of a question: the question, its answer, its nuggets, what is missing, a document."""
    query, question = item.query, f"Q{item.number}"
    texts = [nugget.text for nugget in item.nuggets]
    texts.append("How many facts of the answer that the question needs are in no nugget?")
    texts += [document_text(item.document)] if item.document is not None else []
    yield _row(question, query.query_id, query.text, (), sheet)
    yield _row(f"{question} answer", query.answer_id or "", query.answer_text or "", (), sheet)
    for row, text in zip(item_rows(item), texts, strict=True):
        yield _row(row.name, row.about, text, row.columns, sheet)


def _row(name: str, about: str, text: str, asked: tuple[str, ...], sheet: str) -> list[str]:
    cells = ["" if column in asked else NOT_ASKED for column in COLUMNS]
    return [name, safe_cell(about), safe_cell(text), *cells, "", safe_cell(sheet)]


def document_text(document: Document) -> str:
    """Return what is shown of a document: its title, where there is one, and its text."""
    return "\n\n".join(part for part in (document.title, document.text) if part)


def safe_cell(text: str) -> str:
    """Return a text as a spreadsheet may hold it: not too long, without what it would obey.

    Args:
        text: A text from anywhere.
    """
    text = _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = f"'{text}" if is_formula(text) else text
    return text if len(text) <= LONGEST else text[: LONGEST - len(_CUT)] + _CUT


def is_formula(text: str) -> bool:
    """Tell whether a spreadsheet could take a text for a formula."""
    return bool(_FORMULA.match(text))


def read_csv(path: Path, text: str) -> Filled:
    """Return what a file of a spreadsheet holds; it is from whom the file is named after.

    Cells may stand between commas, semicolons or tabs, rows in any order, and columns beside the sheet's own.

    Args:
        path: The file.
        text: Its text.

    Raises:
        InputError: It is no filled-in sheet.
    """
    first, _, rest = text.partition("\n")
    if re.fullmatch(r"sep=.\r?", first):  # a spreadsheet's own note
        text = rest
    found = _table(path, text)
    header = [cell.strip().lower() for cell in next(found).values]
    cells: list[Written] = []
    sheets: set[str] = set()
    for row in found:
        if row.broken:
            raise InputError(
                f"{shown_path(path)[1:-1]}:{row.line}", expected="cells in quotes or without", got=row.broken
            )
        named = dict(zip(header, row.values, strict=False))
        if not any(value.strip() for value in row.values):
            continue
        sheets.add(named.get("sheet", "").strip().removeprefix("'"))
        name = " ".join(named.get("row", "").split())
        cells += (Written(name, column, named.get(column), row.line) for column in (*COLUMNS, REMARK))
    return Filled(path, clean(path.stem), _one_sheet(path, sheets), tuple(cells))


def _table(path: Path, text: str) -> Iterator[Cells]:
    """Return the rows of a file, by the separator under which its first one has the names of the columns."""
    for separator in ",;\t":
        header = next(rows(text, separator), Cells(1, ()))
        if set(_READ) <= {cell.strip().lower() for cell in header.values}:
            return rows(text, separator)
    got = shown(text.split("\n", 1)[0])
    raise InputError(shown_path(path), expected=f"a sheet with the columns {', '.join(HEADER)}", got=got)


def _one_sheet(path: Path, names: set[str]) -> Sheet:
    """Return the sheet that all rows name."""
    names.discard("")
    if len(names) == 1 and (sheet := Sheet.parse(next(iter(names)))):
        return sheet
    got = "rows of several sheets" if len(names) > 1 else shown(next(iter(names), ""))
    raise InputError(f"{shown_path(path)[1:-1]}, column sheet", expected="the name of the sheet in every row", got=got)
