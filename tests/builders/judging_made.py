"""A judge whose replies a test decides on, and questions with documents for it.

    judge = Judge(lambda call: call.reply({"d1": [1]}))
    asking = asked(tmp_path, judge)
    judge.calls                             # what was asked, in the order of arrival

The text of each document is its id alone, unless a test gives another one.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import freshstack_datasets as fsd
from builders.judging import Group
from builders.pipeline.asking import Asking
from builders.pipeline.settings import Settings
from builders.topics.models import Models, Support
from builders.topics.pool import Pool
from freshstack_datasets.llm.budget import Budget
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.limits import Clock
from freshstack_datasets.llm.records import Request
from freshstack_datasets.llm.seams import Raw

_FENCED = r'<{0}((?:-[0-9]+)?) id="[0-9]+">\n(.*?)\n</{0}\1>'


@dataclass(frozen=True)
class Call:
    """What was asked of the judge.

    Args:
        request: The call as it was sent.
        documents: The documents' texts, in the order shown.
        nuggets: The nuggets.
    """

    request: Request
    documents: tuple[str, ...]
    nuggets: tuple[str, ...]

    @classmethod
    def of(cls, request: Request) -> "Call":
        user = next(message.content for message in request.messages if message.role == "user")
        found = {
            name: tuple(text for _, text in re.findall(_FENCED.format(name), user, re.DOTALL))
            for name in ("document", "nugget")
        }
        return cls(request, found["document"], found["nugget"])

    @property
    def tries(self) -> int:
        """How often the same was asked before, in the same conversation."""
        return sum(message.role == "assistant" for message in self.request.messages)

    def entries(self, truth: Mapping[str, Sequence[int]]) -> list[dict[str, Any]]:
        """What a judge replies that knows the truth: from a document's text to the numbers of its nuggets."""
        return [
            {"document": number, "reasoning": "So it is.", "supports": list(truth.get(text, ()))}
            for number, text in enumerate(self.documents, 1)
        ]

    def reply(self, truth: Mapping[str, Sequence[int]] | None = None) -> str:
        """The same as a model writes it."""
        return written(self.entries(truth or {}))


def written(entries: Iterable[Any]) -> str:
    return json.dumps({"documents": list(entries)})


def chat(text: str | None, finish: str = "stop", *, model: str = "m", refusal: str | None = None) -> Raw:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body = {"model": model, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return Raw(200, {}, json.dumps({**body, "usage": usage}).encode())


def error(status: int, message: str, code: str | None = None) -> Raw:
    return Raw(status, {}, json.dumps({"error": {"message": message, "code": code}}).encode())


class Judge:
    """A transport; what the script returns is a model's words, or a server's whole answer; it may raise ``Unanswered``.

    Args:
        script: Decides on what is said.
        waits: Tells for how many turns of the event loop a call is not answered.
    """

    endpoint = "http://judge.example.org/v1"
    stand_in = False

    def __init__(self, script: Callable[[Call], str | Raw], waits: Callable[[Call], int] = lambda call: 0) -> None:
        self.script, self._waits = script, waits
        self.calls: list[Call] = []

    @property
    def shown(self) -> list[tuple[str, ...]]:
        """The texts of the documents of each call."""
        return [call.documents for call in self.calls]

    async def send(self, request: Request) -> Raw:
        call = Call.of(request)
        self.calls.append(call)
        for _ in range(self._waits(call)):
            await asyncio.sleep(0)
        said = self.script(call)
        return said if isinstance(said, Raw) else chat(said, model=request.model)

    async def close(self) -> None:
        pass

    def hide(self, text: str) -> str:
        return text


def settings(documents: int = 20, tokens: int = 60_000, **models: Any) -> Settings:
    told = {"model": "m", "parameters": {"temperature": 0.1, "max_tokens": 500}, **models}
    support = Support(documents=documents, tokens=tokens)
    return Settings(Models(endpoint=Judge.endpoint, support=support, **told), Pool())


def asked(
    folder: Path,
    judge: Judge,
    *,
    set_to: Settings | None = None,
    budget: Budget | None = None,
    concurrency: int = 16,
    retries: int = 0,
) -> Asking:
    """What asks the judge, with a clock on which waiting takes no time."""

    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        await asyncio.sleep(0)

    clock = Clock(lambda: now, lambda: now, sleep)
    asking = Asking(set_to or settings(), replies=folder / "replies.sqlite", budget=budget)
    asking.__dict__["transport"] = judge
    asking.__dict__["client"] = Client(
        judge, asking.store, concurrency=concurrency, retries=retries, budget=asking.budget, clock=clock
    )
    return asking


class Library:
    """A corpus in which each document's text is its id, but for those given."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._texts = dict(texts or {})

    def get_many(self, doc_ids: Iterable[str]) -> list[fsd.Document]:
        return [fsd.Document(doc_id, "", self._texts.get(doc_id, doc_id)) for doc_id in doc_ids]


def group(query_id: str, doc_ids: Iterable[str], nuggets: int = 3) -> Group:
    query = fsd.Query(query_id, f"How does {query_id} work?")
    facts = tuple(
        fsd.Nugget(f"{query_id}_{at}", query_id, at, f"Fact {at + 1} of {query_id}.") for at in range(nuggets)
    )
    return Group(query, facts, tuple(doc_ids))


def ids(number: int) -> tuple[str, ...]:
    return tuple(f"d{at:02}" for at in range(1, number + 1))
