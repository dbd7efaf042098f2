"""A snapshot of two questions whose every value can be worked out by hand, and tables of corrections of it.

q1 has the nuggets n1 (supported by d2; d1 was judged and does not support it, as a model's call c7 said) and n2
(supported by d3); q2 has n3 (supported by d4). The run finds d1, d3 for q1 and d4 for q2.
"""

import csv
import io
from datetime import date
from pathlib import Path
from typing import Any

from freshstack_datasets.manifest import Filter, Manifest, Recipe, Source
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.runs import write_run
from freshstack_datasets.snapshot import write_snapshot

COLUMNS = ("kind", "action", "query_id", "nugget_id", "doc_id", "field", "old", "new", "reason", "by", "date")
SAID = {"reason": "see line 3", "by": "ada", "date": "2024-11-02"}

DOCUMENTS = [
    Document(f"d{i}", f"Title {i}", f"text {i}", {"url": f"https://example.org/{i}", "tokens": i}) for i in range(1, 6)
]
QUERIES = [
    Query("q1", "How? Like so.", title="How?", body="Like so.", answer_text="Thus.", tags=("a", "b c"), score=3),
    Query("q2", "Why?"),
]
NUGGETS = [Nugget("n1", "q1", 0, "first", "vital"), Nugget("n2", "q1", 1, "second"), Nugget("n3", "q2", 4, "third")]
JUDGMENTS = [
    Judgment("q1", "n1", "d1", 0, "c7"),
    Judgment("q1", "n1", "d2", 1),
    Judgment("q1", "n2", "d3", 1),
    Judgment("q2", "n3", "d4", 1),
]
RUN = {"q1": {"d1": 2.0, "d3": 1.0}, "q2": {"d4": 1.0}}


def write_pair(folder: Path, **changes: Any) -> Manifest:
    """Write the snapshot."""
    given = {
        "dataset": "acme/pair",
        "snapshot": "2024-10",
        "license": "CC-BY-SA-4.0",
        "created": date(2024, 10, 31),
        "documents": DOCUMENTS,
        "queries": QUERIES,
        "nuggets": NUGGETS,
        "judgments": JUDGMENTS,
        "sources": [Source(url="https://example.org", license="CC-BY-SA-4.0", counts={"documents": 5})],
        "recipe": Recipe(
            builder="hand", parameters={"seed": 1}, filters=(Filter(name="short", dropped=1, reason="no text"),)
        ),
        "dropped": [{"id": "d9", "reason": "no text"}],
        "provenance": {"pool.parquet": b"pool", "calls.parquet": b"calls"},
        "about": "Name the *authors*.",
        "sections": {"Limits": "Few."},
    }
    return write_snapshot(folder, **(given | changes))


def write_run_of(folder: Path) -> Path:
    """Write the run, called alpha, and return its path."""
    write_run(Run.from_dict(RUN, "alpha"), folder / "alpha.trec")
    return folder / "alpha.trec"


def row(kind: str, action: str, ids: str, field: str, old: str = "", new: str = "", **more: str) -> dict[str, str]:
    """Return a row of the table; ids have a space between them."""
    named = dict(zip(("query_id", "nugget_id", "doc_id"), ids.split(" "), strict=False))
    return {"kind": kind, "action": action, **named, "field": field, "old": old, "new": new, **SAID, **more}


def write_table(path: Path, *rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> Path:
    """Write a table of corrections as a spreadsheet would, and return its path."""
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, columns, restval="")
    table.writeheader()
    table.writerows(rows)
    path.write_bytes(text.getvalue().encode())
    return path


FLIP = row("judgment", "change", "q1 n1 d1", "score", "0", "1")
