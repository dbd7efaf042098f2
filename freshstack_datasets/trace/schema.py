"""The two tables of a build's trace: the calls of models that made a snapshot, and what brought documents before them."""

import pyarrow as pa

from freshstack_datasets.tables.schema import Table

CALLS_FILE = "provenance/calls.parquet"
POOL_FILE = "provenance/pool.parquet"
DROPPED_FILE = "provenance/dropped.jsonl"

CALLS = Table(
    "calls",
    "provenance",
    pa.schema(
        [(name, pa.string()) for name in ("call-id", "query-id", "stage", "model", "asked", "prompt", "parameters")]
        + [("input-tokens", pa.int64()), ("output-tokens", pa.int64()), ("usd", pa.float64())]
        + [("reply", pa.string()), ("created", pa.string()), ("documents", pa.list_(pa.string()))]
    ),
    ("call-id", "query-id"),
    ("call-id", "query-id", "stage", "model", "asked", "prompt", "parameters", "reply", "created"),
    {},
    None,
    200,
)
"""The calls, by ascending id: what each was asked for, and of whom, with which prompt, by its digest, and parameters, as
JSON; what it took; the reply; and, of a call that judged documents, these in the order in which it was shown them."""

POOL = Table(
    "pool",
    "provenance",
    pa.schema(
        [(name, pa.string()) for name in ("query-id", "corpus-id", "technique", "retriever")] + [("rank", pa.int32())]
    ),
    ("query-id", "corpus-id", "technique", "retriever"),
    ("query-id", "corpus-id", "technique", "retriever", "rank"),
    {},
    None,
    65_536,
)
"""The places of the documents that were judged, in the lists that brought them: what was searched for, who found it."""
