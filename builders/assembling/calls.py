"""The calls of models that made a snapshot, on whose behalf each was made, and their table in the trace."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.judging.stage import SECOND
from builders.pipeline.reading import labels_of, lacking_of, nugget_calls_of, orders_of, searches_of
from builders.pipeline.records import Label
from builders.pipeline.work import NUGGETS, QUERIES, SUPPORT, Work, read_lines
from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.llm.records import Call
from freshstack_datasets.llm.store import Store
from freshstack_datasets.trace.reading import TracedCall
from freshstack_datasets.trace.schema import CALLS

Asked = Mapping[tuple[str, str], tuple[str, ...]]
"""From a call's id and the question on whose behalf it was made to the documents that it was shown, in this order. Two
questions with the same words may share a call."""


def asked_of(work: Work) -> Asked:
    """Return all calls that a build made, those that failed included.

    Args:
        work: The folder of the build.

    Raises:
        InputError: A stage is not done, or its files cannot be read.
    """
    found: dict[tuple[str, str], tuple[str, ...]] = {
        (call_id, query_id): () for query_id, calls in nugget_calls_of(work).items() for call_id in calls
    }
    found |= {(call_id, search.query_id): () for search in searches_of(work) for call_id in search.calls}
    for stage in (NUGGETS, QUERIES, SUPPORT):
        found |= {(call_id, lacking.query_id): () for lacking in lacking_of(work, stage) for call_id in lacking.calls}
    orders = orders_of(work)
    found |= {(call_id, query_id): documents for call_id, (query_id, documents) in orders.items()}
    for label in (one for one in (*labels_of(work), *second_of(work)) if one.call_id):
        shared = orders.get(label.call_id, ("", ()))[1]
        found.setdefault((label.call_id, label.query_id), shared)
    return found


def second_of(work: Work) -> list[Label]:
    """Return the labels of the second pass; none where there was none.

    Raises:
        InputError: The stage is not done, or the file cannot be read.
    """
    path = work.folder(SUPPORT) / SECOND
    return list(read_lines(path, Label)) if path.is_file() else []


def answered(asked: Asked, work: Work, store: Store, earlier: Iterable[TracedCall] = ()) -> list[TracedCall]:
    """Return the calls that were answered, by id and question.

    Args:
        asked: The calls.
        work: The folder of the build.
        store: Where replies are kept.
        earlier: Calls of an earlier snapshot, some of whose labels were carried over.

    Raises:
        InputError: The reply that a label came from is not kept any more.
    """
    ids = sorted({call_id for call_id, _ in asked})
    kept = {call.digest: call for endpoint in _endpoints(work) for call in store.calls(ids, endpoint)}
    carried = {(call.call_id, call.query_id): call for call in earlier}
    found = []
    for (call_id, query_id), documents in sorted(asked.items()):
        if call_id in kept:
            found.append(traced(kept[call_id], query_id, documents))
        elif (call_id, query_id) in carried:
            found.append(carried[call_id, query_id])
    told = {call.call_id for call in found}
    lost = next((one.call_id for one in labels_of(work) if one.call_id and one.call_id not in told), None)
    if lost is not None:
        what = f"the reply to the call {shown(lost)}, from which labels came, is needed for the trace"
        hint = "name the file of replies that the build was made with: --replies FILE"
        raise InputError(what, got=f"none in {shown_path(store.path)}", hint=hint)
    return found


def _endpoints(work: Work) -> list[str]:
    """Return under which names the stages kept their replies, as they say what they depend on."""
    return sorted({name for stage in (NUGGETS, QUERIES, SUPPORT) for name in _named(work.about(stage).get("key"))})


def _named(key: object) -> Iterator[str]:
    """Yield what is called ``endpoint``, anywhere within JSON values."""
    for name, value in key.items() if isinstance(key, dict) else enumerate(key) if isinstance(key, list) else ():
        if name == "endpoint" and isinstance(value, str):
            yield value
        yield from _named(value)


def write_calls(path: Path, calls: Iterable[TracedCall]) -> int:
    """Write the table of the calls and return how many rows it has.

    Args:
        path: A new file.
        calls: The calls, each once for each question on whose behalf it was made.
    """
    ordered = sorted(calls, key=lambda call: (call.call_id, call.query_id))
    with pq.ParquetWriter(path, CALLS.schema, compression="zstd", write_page_index=True) as writer:
        for start in range(0, max(len(ordered), 1), CALLS.group_rows):
            rows = [_row(call) for call in ordered[start : start + CALLS.group_rows]]
            writer.write_table(pa.Table.from_pylist(rows, CALLS.schema))
    return len(ordered)


def spent(calls: Iterable[TracedCall]) -> dict[str, dict[str, Any]]:
    """Return by stage how many calls were answered, their tokens, and what they cost; None where one does not say.

    Args:
        calls: The calls; one that was made on behalf of two questions counts once.
    """
    told: dict[str, dict[str, Any]] = {}
    for call in {call.call_id: call for call in calls}.values():
        stage = told.setdefault(call.stage, {"calls": 0, "input_tokens": 0, "output_tokens": 0, "usd": 0.0})
        stage["calls"] += 1
        for name in ("input_tokens", "output_tokens", "usd"):
            one = getattr(call, name)
            stage[name] = None if stage[name] is None or one is None else stage[name] + one
    return dict(sorted(told.items()))


def traced(call: Call, query_id: str, documents: tuple[str, ...]) -> TracedCall:
    """Return an answered call as it is published.

    Args:
        call: The call.
        query_id: The question on whose behalf it was made.
        documents: The documents that it was shown, in this order.
    """
    return TracedCall(
        call_id=call.digest,
        query_id=query_id,
        stage=call.stage,
        model=call.model,
        asked=call.asked,
        prompt=call.prompt,
        parameters=call.parameters,
        reply=call.text,
        created=call.created,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        usd=None if call.usd is None else float(call.usd),
        documents=documents,
    )


def _row(call: TracedCall) -> dict[str, Any]:
    """Return a call as a row of the table, with its parameters as JSON."""
    return {
        "call-id": call.call_id,
        "query-id": call.query_id,
        "stage": call.stage,
        "model": call.model,
        "asked": call.asked,
        "prompt": call.prompt,
        "parameters": json.dumps(dict(call.parameters), ensure_ascii=False, sort_keys=True),
        "input-tokens": call.input_tokens,
        "output-tokens": call.output_tokens,
        "usd": call.usd,
        "reply": call.reply,
        "created": call.created,
        "documents": list(call.documents) or None,
    }
