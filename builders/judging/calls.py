"""Calls that show a model the documents of a question and ask what they support."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from builders.judging.packing import Texts, packed, shuffled
from builders.judging.records import Group
from builders.judging.replies import Reply, read_labels, schema_of
from builders.nuggets.posts import post
from builders.pipeline.asking import Asking
from builders.statistics.tokens import count
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.records import Answer, Failed, Request

Pass = Literal["support", "second"]
"""The kinds of calls that judge: those that count, and those of a second pass that tells how far these can be trusted."""


@dataclass(frozen=True, slots=True)
class Pack:
    """The documents of one call.

    Args:
        group: Their question.
        doc_ids: The documents in the order shown.
        calls: The ids of the calls before, in which they were shown too, and of which nothing can be used for them.
    """

    group: Group
    doc_ids: tuple[str, ...]
    calls: tuple[str, ...] = ()


class Desk:
    """Where documents lie with their texts while calls of a kind are made of them.

    Args:
        asking: Who asks.
        kind: The kind of call.
        texts: The documents.
    """

    def __init__(self, asking: Asking, kind: Pass, texts: Texts) -> None:
        self._asking, self._kind, self._texts = asking, kind, texts

    def packs(self, group: Group) -> Iterator[Pack]:
        """Yield what is asked first of a question."""
        models = self._asking.settings.models
        seed = models.support.seed if self._kind == "support" else models.second.seed
        order = shuffled(group.query.query_id, group.doc_ids, seed)
        empty = self._request(group, ())
        around = sum(map(count, (*(message.content for message in empty.messages), json.dumps(empty.schema))))
        for doc_ids in packed(order, self._texts.tokens, around, models.support.documents, models.support.tokens):
            yield Pack(group, doc_ids)

    async def ask(self, pack: Pack, client: Client) -> Answer[Reply] | Failed:
        """Ask about the documents of a call; a reply that says something of one of them clearly is an answer."""
        documents, nuggets = len(pack.doc_ids), len(pack.group.nuggets)

        def check(reply: Reply) -> str:
            return read_labels(reply, documents, nuggets).problem(nuggets)

        return await client.ask_for(self.request(pack), Reply, check)

    def request(self, pack: Pack) -> Request:
        """Return a call."""
        return self._request(pack.group, pack.doc_ids)

    def _request(self, group: Group, doc_ids: Sequence[str]) -> Request:
        return self._asking.request(
            self._kind,
            schema_of(len(doc_ids), len(group.nuggets)),
            question=post(group.query),
            nugget=[nugget.text for nugget in group.nuggets],
            document=[self._texts[doc_id] for doc_id in doc_ids],
            nuggets=len(group.nuggets),
            documents=len(doc_ids),
        )
