"""The sheet as one page that needs nothing but a browser: no server, no network, no other file."""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.auditing.cells import GRADES, HALLUCINATED, MINOR, RELEVANCE, REMARK, cell_name, item_rows
from builders.auditing.csv_sheet import document_text
from builders.auditing.reading import FORMAT
from builders.auditing.sampling import Item, Sample
from freshstack_datasets.errors import MissingExtraError

if TYPE_CHECKING:
    from jinja2 import Template

_HERE = Path(__file__).parent / "page"


def page(sample: Sample) -> str:
    """Return the page of a sheet.

    Texts come from anywhere and are escaped by the template; the page may run its own script and no other, and may load
    nothing.

    Args:
        sample: What the sheet asks.

    Raises:
        MissingExtraError: The library that fills templates is not installed.
    """
    template, script, style = _template(), _text("audit.js"), _text("audit.css")
    return template.render(
        script=script,
        style=style,
        script_digest=_digest(script),
        style_digest=_digest(style),
        format=FORMAT,
        sheet=sample.sheet,
        questions=[_question(item) for item in sample.items],
    )


def _question(item: Item) -> dict[str, Any]:
    """Return what the template shows of a question."""
    *nuggets, missing = [row for row in item_rows(item) if RELEVANCE not in row.columns]
    document, name = item.document, f"Q{item.number} document"
    return {
        "number": item.number,
        "query": item.query,
        "nuggets": [
            {
                "text": nugget.text,
                "hallucinated": cell_name(row.name, HALLUCINATED),
                "minor": cell_name(row.name, MINOR),
                "remark": cell_name(row.name, REMARK),
            }
            for row, nugget in zip(nuggets, item.nuggets, strict=True)
        ],
        "missing": cell_name(missing.name, *missing.columns),
        "document": document
        and {
            "text": document_text(document),
            "url": document.metadata.get("url") or document.doc_id,
            "relevance": cell_name(name, RELEVANCE),
            "grades": GRADES,
            "remark": cell_name(name, REMARK),
        },
    }


def _digest(text: str) -> str:
    """Return what a policy calls a script or a style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


@cache
def _template() -> "Template":
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise MissingExtraError("jinja2", "build") from None
    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return made.from_string(_text("audit.html"))
