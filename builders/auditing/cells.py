"""The cells of a sheet that people fill in, and what they may hold."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from builders.auditing.sampling import Item, Sample

HALLUCINATED, MINOR, MISSING, RELEVANCE = "hallucinated", "minor", "missing", "relevance"
COLUMNS = (HALLUCINATED, MINOR, MISSING, RELEVANCE)
REMARK = "remark"
"""What may be said beside a nugget or a document; it is never missing."""

RELEVANT, PARTIALLY, NOT = "relevant", "partially", "not"
GRADES = (RELEVANT, PARTIALLY, NOT)

_YES = {"yes", "y", "true", "1", "1.0", "x"}
_NO = {"no", "n", "false", "0", "0.0"}
_SPELLED = {"partial": PARTIALLY, "partly": PARTIALLY, "partially relevant": PARTIALLY, "not relevant": NOT}
_WHOLE = re.compile(r"([0-9]{1,3})(?:[.,]0+)?")

Value = bool | int | str


@dataclass(frozen=True, slots=True)
class Unit:
    """What a value is about: a nugget, a question or a document, asked one thing.

    Args:
        column: What is asked, one of ``COLUMNS``.
        query_id: The question.
        about: The id of the nugget or of the document; "" of the question itself.
    """

    column: str
    query_id: str
    about: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the sheet in which something is to be filled in.

    Args:
        name: What it is called on the sheet: "Q1 nugget 2", "Q1 nuggets", "Q1 document".
        query_id: The question.
        about: The id of the nugget or of the document; "" of the question itself.
        columns: What is asked.
    """

    name: str
    query_id: str
    about: str
    columns: tuple[str, ...]

    def unit(self, column: str) -> Unit:
        """Return what the cell in a column is about."""
        return Unit(column, self.query_id, self.about)


def cell_name(row: str, column: str) -> str:
    """Return what a cell is called: "Q1 nugget 2: minor"."""
    return f"{row}: {column}"


def rows_of(sample: Sample) -> dict[str, Row]:
    """Return the rows to fill in, by their names, in the order of the sheet."""
    return {row.name: row for item in sample.items for row in item_rows(item)}


def item_rows(item: Item) -> Iterator[Row]:
    """Yield the rows of a question that are to be filled in."""
    question, query_id = f"Q{item.number}", item.query.query_id
    for place, nugget in enumerate(item.nuggets, start=1):
        yield Row(f"{question} nugget {place}", query_id, nugget.nugget_id, (HALLUCINATED, MINOR))
    yield Row(f"{question} nuggets", query_id, "", (MISSING,))
    if item.document is not None:
        yield Row(f"{question} document", query_id, item.document.doc_id, (RELEVANCE,))


@dataclass(frozen=True, slots=True)
class Kind:
    """What the cells of a column may hold.

    Args:
        expected: That, in words.
        read: From the text of a cell, without space around it, to the value; a ValueError says that it is none.
    """

    expected: str
    read: Callable[[str], Value]


def _yes_or_no(text: str) -> bool:
    if text.lower() not in _YES | _NO:
        raise ValueError
    return text.lower() in _YES


def _number(text: str) -> int:
    found = _WHOLE.fullmatch(text)
    if found is None:
        raise ValueError
    return int(found[1])


def _grade(text: str) -> str:
    grade = _SPELLED.get(text.lower(), text.lower())
    if grade not in GRADES:
        raise ValueError
    return grade


KINDS: Mapping[str, Kind] = {
    HALLUCINATED: Kind("yes or no", _yes_or_no),
    MINOR: Kind("yes or no", _yes_or_no),
    MISSING: Kind("a whole number from 0 to 999", _number),
    RELEVANCE: Kind("relevant, partially or not", _grade),
}


def read_value(column: str, text: Any) -> Value | None:
    """Return the value of a cell, None where it is empty.

    Args:
        column: Its column.
        text: What it holds.

    Raises:
        ValueError: It holds something else than it may.
    """
    if text is None or (isinstance(text, str) and not text.strip()):
        return None
    if not isinstance(text, str):
        raise ValueError
    return KINDS[column].read(text.strip())
