"""Notebooks to text: their Markdown as it is, their code fenced; outputs and embedded images are left out."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from builders.chunking.records import Refused
from freshstack_datasets.errors import shown

_EMBEDDED = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,[A-Za-z0-9+/=]*")
"""An image, a sound or a font within a text."""
_FENCE = re.compile(r"^[^\S\n]*(`{3,})", re.MULTILINE)
_NAME = re.compile(r"[\w.+#-]{1,40}")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell in the text that was made of a notebook.

    Args:
        start: Its first byte, as UTF-8.
        end: The byte after its last, and after the blank line that parts it from the next.
        language: "markdown", for code as well, which is fenced.
    """

    start: int
    end: int
    language: str = "markdown"


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook as text.

    Args:
        text: Its cells, parted by blank lines.
        cells: Where they are.
    """

    text: str
    cells: tuple[Cell, ...]


def read_notebook(text: str) -> Notebook | Refused:
    """Return a notebook of format 3 or newer as text, or why it cannot be read.

    A broken one is refused, and not cut as the text that it is: that is images and outputs for the most part.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Refused("notebook", f"it is no JSON: {shown(str(error))}")
    cells = _cells(content)
    if cells is None:
        return Refused("notebook", "it has no list of cells")
    language = _language(content)
    parts = [part for cell in cells if isinstance(cell, dict) and (part := _rendered(cell, language))]
    if not parts:
        return Refused("empty", "a notebook without code or Markdown")
    places = []
    at = 0
    for number, part in enumerate(parts):
        length = len(part.encode()) + (2 if number < len(parts) - 1 else 1)
        places.append(Cell(at, at + length))
        at += length
    return Notebook("\n\n".join(parts) + "\n", tuple(places))


def _cells(content: Any) -> list[Any] | None:
    """Return the cells of a notebook, of format 3 from its sheets; None if there are none."""
    if not isinstance(content, dict):
        return None
    sheets = content.get("worksheets")
    if isinstance(content.get("cells"), list):
        cells: list[Any] = content["cells"]
        return cells
    if isinstance(sheets, list):
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        return [cell for cells in lists if isinstance(cells, list) for cell in cells]
    return None


def _language(content: dict[str, Any]) -> str:
    """Return the language that a notebook says its code is in."""
    metadata = content.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        value = part.get(name) if isinstance(part, dict) else None
        if isinstance(value, str) and _NAME.fullmatch(value):
            return value.lower()
    return "python"


def _rendered(cell: dict[str, Any], language: str) -> str:
    """Return a cell as Markdown; nothing of one that is neither code nor Markdown, or blank."""
    kind = cell.get("cell_type")
    source = "".join(_strings(cell.get("source", cell.get("input"))))
    source = source.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # JSON can hold half a character
    source = _EMBEDDED.sub("", source).strip("\n")
    if not source.strip():
        return ""
    if kind == "code":
        ticks = max((len(found) for found in _FENCE.findall(source)), default=2) + 1
        fence = "`" * max(3, ticks)
        return f"{fence}{language}\n{source}\n{fence}"
    if kind == "heading":  # of format 3
        level = cell.get("level")
        return "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + source
    return source if kind == "markdown" else ""


def _strings(source: Any) -> Iterator[str]:
    """Yield the lines of a cell, which are one string or several."""
    for line in source if isinstance(source, list) else [source]:
        if isinstance(line, str):
            yield line
