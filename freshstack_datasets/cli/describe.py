"""What is shown of a dataset and of one query, as plain values."""

from collections import defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from freshstack_datasets.cli.inputs import identity
from freshstack_datasets.errors import SnapshotError

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset
    from freshstack_datasets.ranking import Run

CREDIT = ("url", "author", "date", "license")
"""What the licence of a post asks to show beside its text."""


def one_query(data: "Dataset", query_id: str, run: "Run | None") -> dict[str, Any]:
    """Return a query with its nuggets, what supports each, and where a run covers it first.

    Raises:
        UnknownNameError: The dataset has no such query.
    """
    query = data.queries[query_id]
    support: defaultdict[str, list[str]] = defaultdict(list)
    rows = zip(*data.judgments.columns("query_id", "nugget_id", "doc_id", "score"), strict=True)
    for judged_query, nugget_id, doc_id, score in rows:
        if judged_query == query_id and score > 0:
            support[nugget_id].append(doc_id)
    ranking = list(run[query_id]) if run is not None and query_id in run else []
    rank = {doc_id: place for place, doc_id in enumerate(ranking, 1)}
    nuggets = []
    for nugget in data.nuggets_of(query_id):
        supporting = support[nugget.nugget_id]
        there = data.corpus.get_many(doc_id for doc_id in supporting if doc_id in data.corpus.ids)
        titles = {document.doc_id: document.title for document in there}
        documents = [{"doc_id": d, "title": titles.get(d, ""), "rank": rank.get(d)} for d in supporting]
        first = min((place for place in map(rank.get, support[nugget.nugget_id]) if place is not None), default=None)
        facts = {"nugget_id": nugget.nugget_id, "text": nugget.text, "importance": nugget.importance}
        nuggets.append({**facts, "documents": documents, "first_rank": first})
    answer_id = query.answer_id or ""
    answer = data.corpus[answer_id].metadata if answer_id in data.corpus.ids else {}
    return {
        **identity(data),
        "query": asdict(query),
        "answer": {name: answer.get(name) for name in CREDIT},
        "nuggets": nuggets,
        "run": run.name if run is not None else None,
        "ranked": len(ranking),
    }


def known_datasets() -> list[dict[str, Any]]:
    """Return every dataset that is known by name, with its snapshots."""
    from freshstack_datasets.catalog import listed

    datasets: dict[str, list[dict[str, Any]]] = {}
    for entry in listed():
        snapshot = {"name": entry.name, "cached": entry.cached, "bytes": entry.bytes}
        datasets.setdefault(entry.dataset, []).append(snapshot)
    return [{"name": name, "snapshots": snapshots} for name, snapshots in datasets.items()]


def described(data: "Dataset") -> dict[str, Any]:
    """Return what a snapshot says of itself.

    Raises:
        SnapshotError: The dataset has no ``snapshot.json``.
    """
    manifest = data.manifest
    if manifest is None:
        raise SnapshotError(f"the dataset {data.name}", expected="a snapshot.json", got="none")
    plain = manifest.model_dump(mode="json", exclude_none=True)
    return {
        **identity(data),
        "license": plain["license"],
        "created": plain["created"],
        "language": data.language,
        "languages": list(data.languages),
        "tables": {name: {"rows": entry["rows"]} for name, entry in plain["tables"].items()},
        "sources": plain["sources"],
        "recipe": plain["recipe"],
        "generator": plain["generator"],
    }
