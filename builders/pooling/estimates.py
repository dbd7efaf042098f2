"""What the embeddings of a server will cost, said before anything is sent."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from builders.pipeline.asking import Asking
from builders.statistics.tokens import count
from builders.topics.pool import Retriever as Told
from freshstack_datasets.llm.embeddings import BATCH
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
    answered = 0
    missing: list[str] = []

    def requests() -> Iterator[Request]:
        nonlocal answered, missing
        every = chain(
            (told.document_prefix + document.default_text() for document in documents),
            (told.query_prefix + text for text in texts),
        )
        saying = (text for text in every if text.strip())
        while chunk := dict.fromkeys(islice(saying, _CHUNK)):
            digests = {text: Request(told.dense, (), {"input": text}, path=EMBEDDINGS).digest for text in chunk}
            kept = asking.store.vectors(digests.values(), endpoint)
            answered += len(kept)
            missing += [text for text, digest in digests.items() if digest not in kept]
            while len(missing) >= BATCH:
                yield Request(told.dense, (), {"input": missing[:BATCH]}, path=EMBEDDINGS)
                del missing[:BATCH]
        if missing:
            yield Request(told.dense, (), {"input": missing}, path=EMBEDDINGS)

    price = asking.prices_at(told.endpoint).known(told.dense, True)
    one = estimate_stage(f"pool: {told.label}", endpoint, told.dense, requests(), price, count=count, output_tokens=0)
    return replace(one, answered=-(-answered // BATCH))
