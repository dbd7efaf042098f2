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


def known_datasets() -> dict[str, list[dict[str, Any]]]:
    """Return every dataset that is known by name or on this machine, with its snapshots, and which are broken."""
    from freshstack_datasets.holdings import listed

    datasets: dict[str, list[dict[str, Any]]] = {}
    found, broken = listed()
    for entry in found:
        snapshot = {"name": entry.name, "cached": entry.cached, "bytes": entry.bytes}
        datasets.setdefault(entry.dataset, []).append(snapshot)
    return {
        "datasets": [{"name": name, "snapshots": snapshots} for name, snapshots in datasets.items()],
        "broken": [{"name": name, "message": str(error)} for name, error in broken.items()],
    }


def described(data: "Dataset") -> dict[str, Any]:
    """Return what a snapshot says of itself, what is known of it, and what can be counted without its documents.

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
        **_known_of(data),
        "path": str(data.path),
        "language": data.language,
        "languages": list(data.languages),
        "tables": {name: {"rows": entry["rows"]} for name, entry in plain["tables"].items()},
        "statistics": _statistics(data, manifest.tables["corpus"].rows, len(manifest.missing)),
        "sources": plain["sources"],
        "recipe": plain["recipe"],
        "generator": plain["generator"],
    }


def _known_of(data: "Dataset") -> dict[str, Any]:
    """Return what the catalog says of a dataset; nulls and nothing where it does not know it."""
    from freshstack_datasets import catalog

    entry = catalog.known().get(data.name.removesuffix(catalog.UNFILTERED))
    snapshot = catalog.published(data.name).get(data.snapshot)
    repositories = snapshot.repositories if snapshot else ()
    return {
        "domain": entry.domain if entry else None,
        "description": entry.description if entry else None,
        "tags": list(entry.tags) if entry else [],
        "repositories": [repository.model_dump() for repository in repositories],
        "citation": catalog.citation() if entry else None,
    }


def _statistics(data: "Dataset", documents: int, missing: int) -> dict[str, float | None]:
    """Return the numbers that the paper gives of a dataset (table 1), with lengths in characters."""
    texts, answers = data.queries.columns("text", "answer_text")
    judged = [score for found in data.qrels.values() for score in found.values()]
    supporting = sum(data.judgments.columns("score")[0])
    return {
        "queries": len(texts),
        "documents": documents,
        "missing_documents": missing,
        "nuggets_per_query": _mean(len(data.nuggets), len(texts)),
        "relevant_per_nugget": _mean(supporting, len(data.nuggets)),
        "relevant_per_query": _mean(sum(score > 0 for score in judged), len(texts)),
        "judged_per_query": _mean(len(judged), len(texts)),
        "characters_per_query": _mean(sum(map(len, texts)), len(texts)),
        "characters_per_answer": _mean(sum(map(len, filter(None, answers))), sum(map(bool, answers))),
    }


def _mean(total: int, number: int) -> float | None:
    return total / number if number else None
