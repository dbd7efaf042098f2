"""A model for all kinds of calls of a build, behind a real HTTP server on loopback.

    with PipelineServer() as server:
        build(..., llm=server.url)

It reads the prompts as a model does, and says what is right by the construction of ``pipeline_topic``: its nuggets are the
items of the answer, and a document supports a nugget whose sentence it holds. It says the same each time. What goes
wrong on the way is up to a test: its ``trouble`` gets each request with how often it came, and says something else.
"""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from freshstack_datasets.llm.records import EMBEDDINGS, Message, Request
from tests.builders.pipeline_topic import OBEY
from tests.llm_server import Asked, Says, Server, chat, embedded

Kind = Literal["nuggets", "sub-questions", "closed-book", "support", "embeddings"]

MODEL = "lamp-1"
DIMENSIONS = 32


@dataclass(frozen=True)
class Call:
    """A call as a test sees it.

    Args:
        asked: The request.
        kind: What is asked for.
        times: How often the very same request came before.
        arrived: How many requests of this kind came before.
    """

    asked: Asked
    kind: Kind
    times: int
    arrived: int


Trouble = Callable[[Call], Says | None]


class PipelineServer(Server):
    """The server.

    Args:
        trouble: What goes wrong: says something in place of the model, or None.
        takes: How many seconds a reply takes.
    """

    def __init__(self, trouble: Trouble = lambda call: None, takes: float = 0.0) -> None:
        super().__init__(self._answer)
        self._trouble, self._takes = trouble, takes
        self.times: Counter[bytes] = Counter()
        self.kinds: Counter[Kind] = Counter()
        self.faults = 0

    def _answer(self, asked: Asked) -> Says:
        call = Call(asked, kind_of(asked), self.times[asked.raw], self.kinds[kind_of(asked)])
        self.times[asked.raw] += 1
        self.kinds[call.kind] += 1
        says = self._trouble(call)
        if says is not None:
            self.faults += 1
            return says
        says = right(asked)
        return Says(says.body, after=_Later(self._takes)) if self._takes else says  # type: ignore[arg-type]


class _Later:
    """An event that comes by itself."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def is_set(self) -> bool:
        return time.monotonic() >= self._at


def right(asked: Asked) -> Says:
    """What the model says to a request when all is well."""
    kind = kind_of(asked)
    if kind == "embeddings":
        return embedded(asked, vector)
    value = _SAYS[kind](asked)
    text = value if isinstance(value, str) else json.dumps(value)
    usage = {"prompt_tokens": len(asked.raw) // 4, "completion_tokens": len(text) // 4 + 1}
    return chat(text, model=asked.body["model"], usage=usage)


def kind_of(asked: Asked) -> Kind:
    """What a request asks for, by its path and by what its prompt holds."""
    if asked.path.endswith(EMBEDDINGS):
        return "embeddings"
    user = _user(asked)
    if _blocks(user, "document"):
        return "support"
    if _blocks(user, "answer"):
        return "nuggets"
    return "sub-questions" if "sub-question" in user else "closed-book"


def digests_of(asked: Asked) -> list[str]:
    """The ids under which the client keeps the answer to a request: one, or that of each text that is embedded."""
    said = dict(asked.body)
    if asked.path.endswith(EMBEDDINGS):
        model, texts = said.pop("model"), said.pop("input")
        return [Request(model, (), {**said, "input": text}, path=EMBEDDINGS).digest for text in texts]
    model, messages = said.pop("model"), said.pop("messages")
    form = said.get("response_format", {})
    schema = said.pop("response_format")["json_schema"]["schema"] if form.get("type") == "json_schema" else None
    return [Request(model, tuple(Message(**message) for message in messages), said, schema).digest]


def question(asked: Asked) -> str:
    """The question that a request for a chat is about."""
    (text,) = _blocks(_user(asked), "question")
    return text


def documents(asked: Asked) -> list[str]:
    """The documents of a request that asks which nuggets they support, in the order shown."""
    return _blocks(_user(asked), "document")


def labels(asked: Asked) -> list[dict[str, Any]]:
    """What is right of each document of a request that asks which nuggets they support."""
    user = _user(asked)
    nuggets, documents = _blocks(user, "nugget"), _blocks(user, "document")
    around = user
    for text in (*nuggets, *documents):
        around = around.replace(text, "")
    if OBEY in around:  # it stands where nobody but us speaks: a model does as it is told
        supported = [list(range(1, len(nuggets) + 1)) for _ in documents]
    else:
        supported = [[at for at, nugget in enumerate(nuggets, 1) if nugget in document] for document in documents]
    return [
        {"document": number, "reasoning": f"It holds {len(numbers)} of them.", "supports": numbers}
        for number, numbers in enumerate(supported, 1)
    ]


def vector(text: str) -> list[float]:
    """How often words that share a place occur in a text."""
    counts = [0.0] * DIMENSIONS
    for word in re.findall(r"[a-z]+", text.lower()) or [""]:
        counts[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    return counts


def _user(asked: Asked) -> str:
    """What is asked first of all; a model that is asked again is asked the same."""
    return next(one["content"] for one in asked.body["messages"] if one["role"] == "user")


def _blocks(text: str, name: str) -> list[str]:
    """The texts between the lines of a name, such as ``<document id="1">``, in the form that comes first."""
    found = re.search(rf"^<({name}(?:-[0-9]+)?)(?: id=\"1\")?>$", text, re.MULTILINE)
    if not found:
        return []
    return re.findall(rf"^<{found[1]}(?: id=\"[0-9]+\")?>\n(.*?)\n</{found[1]}>$", text, re.MULTILINE | re.DOTALL)


def _nuggets(asked: Asked) -> dict[str, list[str]]:
    (answer,) = _blocks(_user(asked), "answer")
    return {"nuggets": re.findall(r"^[-*] +(.+)$", answer, re.MULTILINE)}


def _sub_questions(asked: Asked) -> dict[str, list[str]]:
    word = re.findall(r"[a-z]+", question(asked))[-1]
    return {"sub_questions": [f"What does Lantern do with its {word}?", f"Which option is there for a {word}?"]}


def _closed_book(asked: Asked) -> str:
    return f"Set it in lantern.toml. {question(asked).splitlines()[0].rstrip('?')} as you like."


def _support(asked: Asked) -> dict[str, Any]:
    return {"documents": labels(asked)}


_SAYS: dict[Kind, Callable[[Asked], Any]] = {
    "nuggets": _nuggets,
    "sub-questions": _sub_questions,
    "closed-book": _closed_book,
    "support": _support,
}
