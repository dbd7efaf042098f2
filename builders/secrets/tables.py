"""Looking for secrets in the rows of a snapshot's tables."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from builders.secrets.records import Finding, Piece
from builders.secrets.scan import scan_file
from freshstack_datasets.records import Document, Nugget, Query

R = TypeVar("R", Document, Query, Nugget)


def watched(rows: Iterable[R], findings: list[Finding]) -> Iterator[R]:
    """Yield rows as they come.

    Args:
        rows: The rows of a table that is written.
        findings: Filled with what seems to be secret in them.

    Raises:
        MissingExtraError: The library that looks is not installed.
    """
    for row in rows:
        findings.extend(scan_row(row))
        yield row


def scan_row(row: Document | Query | Nugget) -> Iterator[Finding]:
    """Yield what seems to be secret in the texts of a row, which are named in the place of a file.

    Args:
        row: A document, query or nugget.

    Raises:
        MissingExtraError: The library that looks is not installed.
    """
    name, texts = _texts(row)
    for column, text in {"id": name, **texts}.items():
        if text:
            yield from scan_file(column, [Piece(name, text)])


def _texts(row: Document | Query | Nugget) -> tuple[str, dict[str, str | None]]:
    """Return a row's id, and its texts by their columns."""
    if isinstance(row, Document):
        return row.doc_id, {"title": row.title, "text": row.text, "url": str(row.metadata.get("url") or "")}
    if isinstance(row, Nugget):
        return row.nugget_id, {"text": row.text}
    # most often the text is nothing but title and body
    text = "" if row.text == f"{row.title} {row.body}".strip() else row.text
    texts = {"text": text, "title": row.title, "body": row.body, "answer_text": row.answer_text, "url": row.url}
    return row.query_id, texts | {"tags": "\n".join(row.tags or ()), "author": row.author}
