"""Tables as HTML: with a caption, headings that say what they head, and every cell escaped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.report.text import escaped


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Args:
        heading: What it says above it.
        numeric: Whether it holds numbers, which are set to the right.
    """

    heading: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads somewhere.

    Args:
        text: What it says; foreign text.
        url: Where it leads; one that is not http or https, nor a relative path, is not made a link.
    """

    text: str
    url: str


def link(text: str, url: str | None) -> str:
    """Return a link as HTML, or the escaped text alone where the address is none that is safe to follow.

    Args:
        text: What it says; foreign text.
        url: Where it leads; foreign text.
    """
    if url is None or not _followed(url):
        return escaped(text)
    return f'<a href="{escaped(url)}">{escaped(text)}</a>'


def _followed(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if not url.isprintable() or "\\" in url or url != url.strip():
        return False
    return bool(parts.netloc) if parts.scheme in ("http", "https") else not parts.scheme and not parts.netloc


def table(caption: str, columns: Sequence[Column], rows: Iterable[Sequence[str | Link]]) -> str:
    """Return a table within a box that scrolls by itself, for pages on a phone.

    Args:
        caption: What it holds.
        columns: Its columns; the first names the rows.
        rows: Its cells, as many in each row as there are columns.

    Raises:
        InputError: A row has another number of cells.
    """
    heads = "".join(f'<th scope="col"{_numeric(column)}>{escaped(column.heading)}</th>' for column in columns)
    lines = [_row(columns, row) for row in rows]
    return (
        f'<div class="fs-scroll" role="group" tabindex="0" aria-label="{escaped(caption)}">'
        f'<table class="fs-table"><caption>{escaped(caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{''.join(lines)}</tbody></table></div>\n"
    )


def _row(columns: Sequence[Column], row: Sequence[str | Link]) -> str:
    if len(row) != len(columns):
        raise InputError("a row of a table does not fit", expected=f"{len(columns)} cells", got=shown(len(row)))
    cells = [_cell(cell) for cell in row]
    first = f'<th scope="row">{cells[0]}</th>'
    rest = (f"<td{_numeric(column)}>{cell}</td>" for column, cell in zip(columns[1:], cells[1:], strict=True))
    return f"<tr>{first}{''.join(rest)}</tr>\n"


def _cell(cell: str | Link) -> str:
    return link(cell.text, cell.url) if isinstance(cell, Link) else escaped(cell)


def _numeric(column: Column) -> str:
    return ' class="fs-number"' if column.numeric else ""
