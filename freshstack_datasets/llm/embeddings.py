"""Embeddings from a server: each text once, many texts in one call, and kept as the floats that retrievers use."""

import asyncio
import base64
import binascii
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from freshstack_datasets.errors import EndpointError, shown
from freshstack_datasets.llm.calls import Calls, Receipt, Work
from freshstack_datasets.llm.reading import parsed, same_model, usage, word
from freshstack_datasets.llm.records import EMBEDDINGS, Failed, Request
from freshstack_datasets.llm.seams import Raw, Unanswered

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH = 64
"""Texts in one call, at most."""
_CHARACTERS = 150_000
"""Characters in one call, unless one text has more: servers limit the tokens of a call."""
_LARGEST = 100_000
"""Dimensions that a vector may have."""
_TOO_MUCH = frozenset({"http-400", "http-413", "http-422"})


@dataclass(frozen=True, slots=True)
class Vectors:
    """What a server answers.

    Args:
        model: The model that answered, as the server says it.
        rows: A vector for each text, as little-endian 32-bit floats.
        input_tokens: What it read; None where the server does not say.
        output_tokens: 0, since nothing is written; where it were unknown, all that was set aside would count as spent.
    """

    model: str
    rows: tuple[bytes, ...]
    input_tokens: int | None
    output_tokens: int | None = 0


async def embed(calls: Calls, texts: Sequence[str], model: str, parameters: Mapping[str, Any]) -> "NDArray[np.float32]":
    """Return the embeddings of texts; see ``Client.embed``."""
    single = {text: Request(model, (), {**parameters, "input": text}, path=EMBEDDINGS).digest for text in texts}
    endpoint = calls.transport.endpoint
    found = calls.store.vectors(single.values(), endpoint)
    calls.counts.stored += len(found)
    missing = [text for text, digest in single.items() if digest not in found]
    batches = [_batch(calls, batch, model, parameters, single) for batch in batches_of(missing)]
    for more in await asyncio.gather(*batches):
        found.update(more)
    return _stacked([np.frombuffer(found[single[text]], dtype="<f4")[None, :] for text in texts], model)


async def _batch(
    calls: Calls, texts: Sequence[str], model: str, parameters: Mapping[str, Any], digests: Mapping[str, str]
) -> dict[str, bytes]:
    """Return the vectors of some texts by their digests; what is too much for one call is asked for in two."""
    request = Request(model, (), {**parameters, "input": list(texts)}, stage="embeddings", path=EMBEDDINGS)
    endpoint = calls.transport.endpoint

    def keep(said: Vectors, receipt: Receipt) -> dict[str, bytes]:
        found = {digests[text]: row for text, row in zip(texts, said.rows, strict=True)}
        calls.store.keep_vectors(found, endpoint, receipt.note)
        if not same_model(model, said.model):
            calls.counts.models[f"{model} -> {calls.transport.hide(said.model)}"] += 1
        return found

    work = Work(request, partial(_read, many=len(texts)), keep)
    result = await calls.shared(request, partial(calls.exchange, work))
    if not isinstance(result, Failed):
        return result
    if result.reason in _TOO_MUCH and len(texts) > 1:
        half = len(texts) // 2
        halves = (texts[:half], texts[half:])
        one, other = await asyncio.gather(*(_batch(calls, part, model, parameters, digests) for part in halves))
        return one | other
    calls.counts.failed[result.reason] += 1
    if result.reason == "budget" and calls.budget.refused:
        raise calls.budget.refused
    which = f"{len(texts)} texts" if len(texts) > 1 else f"the text {shown(texts[0])}"
    what = f"{which} cannot be embedded by {model} of {endpoint}"
    raise EndpointError(what, got=f"{result.reason} ({result.detail})")


def batches_of(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the texts that go in one call, call by call."""
    start = size = 0
    for at, text in enumerate(texts):
        if at - start >= BATCH or (at > start and size + len(text) > _CHARACTERS):
            yield texts[start:at]
            start, size = at, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]


def _read(raw: Raw, many: int) -> Vectors:
    """Read as many vectors as there were texts, all of one length, in the order of their texts."""
    whole = parsed(raw.body)
    data = whole.get("data")
    if not isinstance(data, list) or len(data) != many or not all(isinstance(row, dict) for row in data):
        raise Unanswered("bad-reply", f"an answer without {many} embeddings: {shown(raw.body[:200])}")
    order = [row.get("index", at) for at, row in enumerate(data)]
    if sorted(map(str, order)) != sorted(map(str, range(many))):
        raise Unanswered("bad-reply", f"embeddings that are numbered otherwise than 0 to {many - 1}")
    rows = {int(at): _vector(row.get("embedding")) for at, row in zip(order, data, strict=True)}
    if len({len(row) for row in rows.values()}) != 1:
        raise Unanswered("bad-reply", "embeddings of several lengths")
    return Vectors(word(whole.get("model")), tuple(rows[at] for at in range(many)), usage(whole)[0])


def _vector(value: object) -> bytes:
    """Return a vector's bytes; it comes as numbers, or as the bytes themselves in base64."""
    try:
        if isinstance(value, str):
            floats = np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
        elif isinstance(value, list) and all(type(number) in (int, float) for number in value):
            floats = np.frombuffer(struct.pack(f"<{len(value)}f", *value), dtype="<f4")
        else:
            floats = np.empty(0, dtype="<f4")
    except (ValueError, binascii.Error, struct.error, OverflowError):
        floats = np.empty(0, dtype="<f4")
    if not 0 < len(floats) <= _LARGEST or not np.isfinite(floats).all():
        raise Unanswered("bad-reply", f"an embedding that is no list of finite numbers: {shown(value)}")
    return floats.tobytes()


def _stacked(parts: Sequence["NDArray[np.float32]"], model: str) -> "NDArray[np.float32]":
    if len({part.shape[1] for part in parts}) > 1:
        lengths = ", ".join(sorted({f"{part.shape[1]:,}" for part in parts}))
        hint = "the model behind that name has changed: use another file of replies"
        raise EndpointError(f"embeddings of {model}", expected="vectors of one length", got=lengths, hint=hint)
    return np.concatenate([*parts]).astype(np.float32, copy=False) if parts else np.empty((0, 0), dtype=np.float32)
