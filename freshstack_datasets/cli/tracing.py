"""What is shown of one judgment: where it came from, as the published trace of the build tells."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from freshstack_datasets.cli import console
from freshstack_datasets.cli.inputs import identity
from freshstack_datasets.trace.reading import Calls, Pool, TracedCall, left_out
from freshstack_datasets.trace.replies import LARGEST, said_of
from freshstack_datasets.trace.schema import CALLS_FILE, DROPPED_FILE, POOL_FILE

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset
    from freshstack_datasets.ranking import Run

_LONGEST = 4_000
"""Characters of a reasoning that are printed; ``--json`` has it whole."""


def one_judgment(data: "Dataset", query_id: str, doc_id: str, run: "Run | None") -> dict[str, Any]:
    """Return how a document was judged for a query, by which calls, and what brought it before the judge.

    Args:
        data: The dataset.
        query_id: The query.
        doc_id: The document.
        run: A run, to tell the document's rank in it.

    Raises:
        UnknownNameError: The dataset has no such query, or no such document.
        SnapshotError: The trace is damaged.
        HubError: It is on the Hub and cannot be had.
    """
    nuggets, query = data.nuggets_of(query_id), data.queries[query_id]
    labels = _labels(data, query_id, doc_id)
    calls, notes = _calls(data, query_id, doc_id, labels)
    pool = _pool(data, query_id, doc_id)
    told = []
    for nugget in nuggets:
        score, call_id = labels.get(nugget.nugget_id, (None, None))
        facts = {name: getattr(nugget, name) for name in ("nugget_id", "position", "text", "importance")}
        told.append({**facts, "score": score, "call_id": call_id})
    ranking = list(run[query_id]) if run is not None and query_id in run else []
    return {
        **identity(data),
        "query_id": query_id,
        "title": query.title or query.text,
        "doc_id": doc_id,
        "judged": bool(labels),
        "nuggets": told,
        "calls": calls,
        "pool": pool,
        "notes": [*notes, *_differing(told, calls), *_unjudged(data, query_id, doc_id, bool(labels), pool)],
        "run": run.name if run is not None else None,
        "rank": ranking.index(doc_id) + 1 if doc_id in ranking else None,
    }


def _labels(data: "Dataset", query_id: str, doc_id: str) -> dict[str, tuple[int, str | None]]:
    """Return score and call of each of a query's nuggets for which a document was judged.

    Raises:
        UnknownNameError: The dataset has no such document.
    """
    found, seen = {}, False
    columns = data.judgments.columns("query_id", "nugget_id", "doc_id", "score", "call_id")
    for judged_query, nugget_id, judged, score, call_id in zip(*columns, strict=True):
        seen = seen or judged == doc_id
        if (judged_query, judged) == (query_id, doc_id):
            found[nugget_id] = score, call_id
    if not seen and doc_id not in data.corpus.ids:  # the corpus of a dataset on the Hub is not downloaded for another
        data.corpus[doc_id]
    return found


def _calls(
    data: "Dataset", query_id: str, doc_id: str, labels: Mapping[str, tuple[int, str | None]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the calls that judged a document, and what cannot be told of them."""
    ids = list(dict.fromkeys(call_id for _, call_id in labels.values() if call_id is not None))
    notes = [] if len(ids) or not labels else ["the judgments do not say which call of a model made them"]
    place = data.trace_in(CALLS_FILE) if ids else None
    if ids and place is None:
        return [], [f"the snapshot has no {CALLS_FILE}, which would tell of {_listed(ids)}"]
    found: list[dict[str, Any]] = []
    if place is None:
        return found, notes
    table = Calls(place.folder, place.root)
    for call_id in ids:
        if (call := table.get(call_id, query_id)) is None:
            notes.append(f"{CALLS_FILE} does not have {_listed([call_id])}")
        else:
            found.append(_call(data, call, doc_id))
    return found, notes


def _call(data: "Dataset", call: TracedCall, doc_id: str) -> dict[str, Any]:
    number = call.documents.index(doc_id) + 1 if doc_id in call.documents else None
    said = said_of(call.reply, number) if number is not None else None
    prompts = data.manifest.recipe.prompts if data.manifest else {}
    names = [name for name, digest in prompts.items() if digest == call.prompt]
    told = {name: value for name, value in asdict(call).items() if name not in ("query_id", "documents", "reply")}
    return {
        **told,
        "prompt_name": names[0] if names else None,
        "document": number,
        "documents": len(call.documents),
        "reasoning": said.reasoning if said else None,
        "supports": list(said.supports) if said else None,
        "reply": call.reply[:LARGEST],
        "reply_characters": len(call.reply),
    }


def _pool(data: "Dataset", query_id: str, doc_id: str) -> list[dict[str, Any]] | None:
    """Return what brought a document before the judge, None where the snapshot does not tell."""
    place = data.trace_in(POOL_FILE)
    return None if place is None else [asdict(one) for one in Pool(place.folder, place.root).places(query_id, doc_id)]


def _differing(nuggets: Iterable[Mapping[str, Any]], calls: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield of which nuggets the label is not what the reply says, as after a correction."""
    supports = {call["call_id"]: call["supports"] for call in calls}
    for number, nugget in enumerate(nuggets, 1):
        said = supports.get(nugget["call_id"])
        if said is not None and nugget["score"] is not None and (nugget["position"] in said) != bool(nugget["score"]):
            yield f"the label of nugget {number} is not what the reply says"


def _unjudged(
    data: "Dataset", query_id: str, doc_id: str, judged: bool, pool: list[dict[str, Any]] | None
) -> Iterator[str]:
    """Yield what is to be said of a document that was not judged, and of a snapshot that does not tell its pools."""
    if judged:
        if pool is None:
            yield f"the snapshot has no {POOL_FILE}, which would tell what brought the document before the judge"
        return
    yield "the document was not judged for this query; scores take it for one that supports nothing"
    if pool == []:
        yield "no search brought it before the judge"
    place = data.trace_in(DROPPED_FILE) if pool else None
    for one in left_out(place.folder, query_id, doc_id, place.root) if place else ():
        detail = f" ({one.detail})" if one.detail else ""
        yield f"{one.stage} left it out: {one.reason}{detail}"


def _listed(ids: Iterable[str]) -> str:
    return "the call " + ", ".join(ids)


def lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that tell of a judgment, but for the table of its places.

    Args:
        facts: What ``one_judgment`` returned.
    """
    yield console.one_line(f"query {facts['query_id']}: {facts['title']}", 300)
    yield console.one_line(f"document {facts['doc_id']}")
    if facts["run"] is not None:
        rank = f"rank {facts['rank']}" if facts["rank"] else "not among the documents"
        yield console.one_line(f"{facts['run']}: {rank}")
    yield ""
    for number, nugget in enumerate(facts["nuggets"], 1):
        label = {None: "not judged", 0: "not supported", 1: "supported"}[nugget["score"]]
        by = f", call {nugget['call_id'][:12]}" if nugget["call_id"] else ""
        yield console.one_line(f"nugget {number}: {nugget['text']}")
        yield f"  {console.one_line(label + by)}"
    for call in facts["calls"]:
        yield ""
        first, *rest = map(console.one_line, _call_lines(call))
        yield first
        yield from (f"  {line}" for line in rest)
    if facts["notes"]:
        yield ""
        yield from map(console.one_line, facts["notes"])


def _call_lines(call: Mapping[str, Any]) -> Iterator[str]:
    asked = "" if call["asked"] == call["model"] else f", which was asked for as {call['asked']}"
    prompt = f"{call['prompt_name']}, " if call["prompt_name"] else ""
    parameters = ", ".join(f"{name} = {_short(value)}" for name, value in sorted(call["parameters"].items())) or "none"
    yield f"call {call['call_id']}"
    yield f"{call['stage']} by {call['model']}{asked}, {call['created']}"
    yield f"prompt {prompt}sha256 {call['prompt']}"
    yield f"parameters: {parameters}"
    yield f"tokens: {_count(call['input_tokens'])} read, {_count(call['output_tokens'])} written{_usd(call['usd'])}"
    if call["document"] is None:
        yield "it does not say that it was shown this document"
        return
    yield f"the document was number {call['document']} of {call['documents']}"
    if call["reasoning"] is None:
        yield "the reply says nothing of it that can be read; --json has the whole reply"
        return
    supports = ", ".join(str(position + 1) for position in call["supports"]) or "none"
    yield f"the reply supports of its nuggets: {supports}"
    yield f"the reply's reasoning: {console.one_line(call['reasoning'], _LONGEST)}"


def _short(value: object) -> str:
    """Return a parameter on the line; a schema has hundreds of characters, which ``--json`` has."""
    return console.one_line(str(value), 60)


def _count(value: int | None) -> str:
    return "an unknown number" if value is None else f"{value:,}"


def _usd(value: float | None) -> str:
    return "" if value is None else f", {value:.6f} USD"
