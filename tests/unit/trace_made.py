"""The traced benchmark of tests: q1's judgments of d1 and d2 come from one call, q2's of d3 from another, all by hand.

The tables are written with pyarrow alone, as any other builder may write them.
"""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot

PROMPT = "a" * 64
REPLY = json.dumps(
    {
        "documents": [
            {"document": 1, "reasoning": "It is about \x1b[2Jwater\u202e\nalone.", "supports": [2]},
            {"document": 2, "reasoning": "Burrs grind evenly, it says.", "supports": [1]},
        ]
    }
)
CALLS: dict[str, list[Any]] = {
    "call-id": ["c1", "c2"],
    "query-id": ["q1", "q2"],
    "stage": ["support", "support"],
    "model": ["gpt-4o-2024-08-06", "gpt-4o-2024-08-06"],
    "asked": ["gpt-4o", "gpt-4o-2024-08-06"],
    "prompt": [PROMPT, "b" * 64],
    "parameters": ['{"temperature": 0.1, "seed": 7}', "{}"],
    "input-tokens": [1500, None],
    "output-tokens": [60, None],
    "usd": [0.00435, None],
    "reply": [REPLY, "I cannot say."],
    "created": ["2026-10-31T12:00:00+00:00", "2026-10-31T12:00:05+00:00"],
    "documents": [["d2", "d1"], ["d3", "d4"]],
}
CALL_TYPES = [
    *((name, pa.string()) for name in ("call-id", "query-id", "stage", "model", "asked", "prompt", "parameters")),
    *(("input-tokens", pa.int64()), ("output-tokens", pa.int64()), ("usd", pa.float64())),
    *(("reply", pa.string()), ("created", pa.string()), ("documents", pa.list_(pa.string()))),
]
POOL: dict[str, list[Any]] = {
    "query-id": ["q1", "q1", "q1", "q2", "q2"],
    "corpus-id": ["d1", "d1", "d2", "d3", "d4"],
    "technique": ["answer", "question", "question", "nuggets", "nuggets"],
    "retriever": ["bm25", "fusion", "fusion", "fusion", "fusion"],
    "rank": [4, 1, 2, 1, 2],
}
POOL_TYPES = [
    *((name, pa.string()) for name in ("query-id", "corpus-id", "technique", "retriever")),
    ("rank", pa.int32()),
]
DROPPED = {"stage": "support", "id": "q2", "document": "d4", "reason": "refused", "detail": "content\x1b filter"}


def parquet(path: Path, columns: dict[str, list[Any]], types: Any) -> Path:
    """Write columns as a Parquet file and return its path."""
    pq.write_table(pa.table(columns, schema=pa.schema(types)), path)
    return path


def write_traced(folder: Path, calls: dict[str, Any] | None = None, **changes: Any) -> Path:
    """Write the benchmark as a snapshot with its trace and return its folder.

    Args:
        folder: Where it goes.
        calls: Columns of the calls that are others.
        changes: Arguments of ``write_snapshot`` that are others.
    """
    parts = folder.with_name(f"{folder.name}-parts")
    parts.mkdir()
    made: dict[str, Any] = {
        "dataset": "tests/traced",
        "snapshot": "2026-10",
        "license": "MIT",
        "created": date(2026, 10, 31),
        "documents": [Document(f"d{number}", "", f"text {number}") for number in range(1, 6)],
        "queries": [Query("q1", "How do I grind evenly?"), Query("q2", "Which pressure?")],
        "nuggets": [
            Nugget("n1", "q1", 0, "burrs grind \x1b[1mevenly"),
            Nugget("n2", "q1", 1, "water matters"),
            Nugget("n3", "q2", 0, "nine bar"),
        ],
        "judgments": [
            Judgment("q1", "n1", "d1", 1, "c1"),
            Judgment("q1", "n2", "d1", 0, "c1"),
            Judgment("q1", "n1", "d2", 0, "c1"),
            Judgment("q1", "n2", "d2", 1, "c1"),
            Judgment("q2", "n3", "d3", 1, "c2"),
        ],
        "recipe": {"prompts": {"support@1": PROMPT}},
        "dropped": [DROPPED],
        "provenance": {
            "calls.parquet": parquet(parts / "calls.parquet", {**CALLS, **(calls or {})}, CALL_TYPES),
            "pool.parquet": parquet(parts / "pool.parquet", POOL, POOL_TYPES),
        },
    }
    write_snapshot(folder, **{**made, **changes})
    return folder
