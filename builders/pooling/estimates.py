"""What the embeddings of a server will cost, said before anything is sent."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from builders.pipeline.asking import Asking
from builders.statistics.tokens import count
from builders.topics.pool import Retriever as Told
from freshstack_datasets.llm.embeddings import BATCH, batches_of
from freshstack_datasets.llm.estimates import StageEstimate, estimate_stage
from freshstack_datasets.llm.records import EMBEDDINGS, Request
from freshstack_datasets.records import Document

_CHUNK = 64 * BATCH


def estimated(told: Told, asking: Asking, documents: Iterable[Document], texts: Iterable[str]) -> StageEstimate:
    """Return what a retriever's embeddings will cost: of all documents, and of all texts that are searched for.

    Args:
        told: What the topic says of the retriever, which asks a server.
        asking: Who would ask.
        documents: The corpus; it is read once.
        texts: What is searched for.

    Raises:
        InputError: The server's address is none.
    """
    client = asking.client_at(told.endpoint, told.key_from)
    endpoint = client.transport.endpoint
    calls_answered = 0

    def requests() -> Iterator[Request]:
        nonlocal calls_answered
        every = embedded(told, documents, texts)
        while chunk := list(dict.fromkeys(islice(every, _CHUNK))):
            digests = {text: embedding(told, text).digest for text in chunk}
            kept = asking.store.vectors(digests.values(), endpoint)
            calls_answered += sum(1 for _ in batches_of([text for text in chunk if digests[text] in kept]))
            for batch in batches_of([text for text in chunk if digests[text] not in kept]):
                yield Request(told.dense, (), {"input": list(batch)}, path=EMBEDDINGS)

    price = asking.prices_at(told.endpoint).known(told.dense, True)
    one = estimate_stage(f"pool: {told.label}", endpoint, told.dense, requests(), price, count=count, output_tokens=0)
    return replace(one, answered=calls_answered)


def embedded(told: Told, documents: Iterable[Document], texts: Iterable[str]) -> Iterator[str]:
    """Yield what a server embeds for a retriever, as it is sent.

    Args:
        told: What the topic says of the retriever.
        documents: The corpus; it is read once.
        texts: What is searched for.
    """
    return chain(
        (told.document_prefix + document.default_text() for document in documents if document.default_text()),
        (told.query_prefix + text for text in texts if text.strip()),
    )


def embedding(told: Told, text: str) -> Request:
    """Return under what the embedding of a text is kept.

    Args:
        told: What the topic says of the retriever.
        text: The text as it is sent.
    """
    return Request(told.dense, (), {"input": text}, path=EMBEDDINGS)
