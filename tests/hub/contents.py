"""All that a dataset holds, as plain values: for tests that compare one with what came back of it."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from freshstack_datasets import Dataset


def contents(data: Dataset) -> dict[str, Any]:
    """Return every record of a dataset, its name and what it says of itself."""
    kinds: dict[str, Iterable[Any]] = {
        "documents": data.corpus,
        "queries": data.queries,
        "nuggets": data.nuggets,
        "judgments": data.judgments,
    }
    return {
        "name": f"{data.name}@{data.snapshot}",
        "fingerprint": data.fingerprint,
        "manifest": data.manifest.to_json() if data.manifest else "",
        "qrels": {query: dict(documents) for query, documents in data.qrels.items()},
        **{kind: [asdict(record) for record in records] for kind, records in kinds.items()},
    }
