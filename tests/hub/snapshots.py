"""Two small snapshots of one dataset, written out, for tests that publish and load them."""

from datetime import date
from pathlib import Path
from typing import Any

import freshstack_datasets as fsd

CORPUS = {
    "2026-07": {"docs/guide.md": "Open a file", "docs/a b#1.md": "Naïve\tand so on", "src/100%.py": "def run(): ..."},
    "2026-10": {"docs/guide.md": "Open a file or a folder", "src/100%.py": "def run(): ...", "src/ünï.py": "x = 1"},
}
"""Texts by document id; the ids hold what an address or a path has to encode."""
QUERIES = {
    "2026-07": {"q1": "How do I open a file?", "q2": "What does run do?"},
    "2026-10": {"q1": "How do I open a file?", "q2": "What does run do?", "q 3/é": "What is x?"},
}
JUDGED = {
    "2026-07": [
        ("q1", "q1_0", "docs/guide.md", 1),
        ("q1", "q1_0", "docs/a b#1.md", 0),
        ("q1", "q1_1", "docs/guide.md", 1),
        ("q2", "q2_0", "src/100%.py", 1),
    ],
    "2026-10": [
        ("q1", "q1_0", "docs/guide.md", 1),
        ("q2", "q2_0", "src/100%.py", 1),
        ("q2", "q2_0", "src/ünï.py", 0),
        ("q 3/é", "x", "src/ünï.py", 1),
    ],
}
"""Judgments: query, nugget, document, score."""
QRELS = {
    "2026-07": [("q1", "docs/a b#1.md", 0), ("q1", "docs/guide.md", 2), ("q2", "src/100%.py", 1)],
    "2026-10": [
        ("q 3/é", "src/ünï.py", 1),
        ("q1", "docs/guide.md", 1),
        ("q2", "src/100%.py", 1),
        ("q2", "src/ünï.py", 0),
    ],
}
"""The nuggets that each judged document supports, counted by hand; in the order of the table."""
SNAPSHOTS = tuple(QUERIES)


def write(
    folder: Path, snapshot: str, dataset: str = "freshstack/langchain", name: str | None = None, **changes: Any
) -> Path:
    """Write one of the two as a snapshot of a dataset, and return its folder.

    Every dataset has a document of its own, so that no two have the same fingerprint.

    Args:
        folder: Where it goes.
        snapshot: ``2026-07`` or ``2026-10``.
        dataset: The dataset's name.
        name: What the snapshot is called instead.
        changes: Arguments of ``write_snapshot`` that are others.
    """
    nuggets = dict.fromkeys((query, nugget) for query, nugget, _, _ in JUDGED[snapshot])
    usual = {
        "license": "CC-BY-SA-4.0",
        "documents": [
            *(fsd.Document(doc_id, "", text) for doc_id, text in CORPUS[snapshot].items()),
            fsd.Document("docs/name.md", "Name", dataset),
        ],
        "queries": [fsd.Query(query_id, text) for query_id, text in QUERIES[snapshot].items()],
        "nuggets": [fsd.Nugget(nugget, query, place, nugget) for place, (query, nugget) in enumerate(nuggets)],
        "judgments": [fsd.Judgment(*judged) for judged in JUDGED[snapshot]],
        "created": date(int(snapshot[:4]), int(snapshot[5:]), 1),
    }
    fsd.write_snapshot(folder, dataset=dataset, snapshot=name or snapshot, **(usual | changes))
    return folder
