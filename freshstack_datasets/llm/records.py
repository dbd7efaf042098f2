"""What is asked of a language model, and what comes back."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from freshstack_datasets.errors import InputError, shown

M_co = TypeVar("M_co", covariant=True)

CHAT = "/chat/completions"
EMBEDDINGS = "/embeddings"

_OURS = frozenset({"model", "messages", "n", "stream"})
"""What no parameter may say: it has a place of its own, or the reply would be another kind of thing."""
_REASON = re.compile(r"refused|does-not-fit|cut-off|timeout|connection|bad-reply|budget|http-[1-9]\d\d")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Args:
        role: Who says it.
        content: What is said.
    """

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request:
    """One call, whole but for the key and the address.

    Args:
        model: The model's name, as the server knows it.
        messages: The conversation, the oldest message first; none for embeddings.
        parameters: What else is sent: temperature, seed, max_tokens …
        schema: The JSON schema that the reply has to fit, None for free text.
        stage: What it is asked for: nuggets, support …; not sent.
        prompt: The digest of the prompt's file; not sent.
        path: Where below the base URL it is sent.

    Raises:
        InputError: It cannot be written as JSON, or a parameter says what has a place of its own.
    """

    model: str
    messages: tuple[Message, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    stage: str = ""
    prompt: str = ""
    path: str = CHAT

    def __post_init__(self) -> None:
        if wrong := sorted((_OURS if self.schema is None else _OURS | {"response_format"}) & set(self.parameters)):
            raise InputError("parameters of a request", expected="none that is said elsewhere", got=shown(wrong))

    @cached_property
    def digest(self) -> str:
        """The call's id: sha256 over all that is sent, in hexadecimal.

        The order of the parameters' keys does not count. That of a schema does, since models write the members of a
        reply in its order.
        """
        schema = None if self.schema is None else _json(self.schema)
        said = {**self._said, "parameters": self.parameters, "path": self.path, "schema": schema}
        return hashlib.sha256(_bytes(_json(said, sort_keys=True))).hexdigest()

    @property
    def body(self) -> bytes:
        """What is sent."""
        said = {**self._said, **self.parameters}
        if self.schema is not None:
            described = {"name": "reply", "strict": True, "schema": self.schema}
            said["response_format"] = {"type": "json_schema", "json_schema": described}
        return _bytes(_json(said))

    @property
    def _said(self) -> dict[str, Any]:
        messages = [{"role": message.role, "content": message.content} for message in self.messages]
        return {"model": self.model, **({"messages": messages} if messages else {})}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said.

    Args:
        digest: The call's id.
        text: Its words; never empty.
        model: The model's name, as the server says it.
        input_tokens: What it read; None where the server does not say.
        output_tokens: What it wrote; None where the server does not say.
        usd: What it cost; None where no price is known.
        stored: Whether it was answered before, and came from the store.
        attempts: How often it was sent until it was answered.
    """

    digest: str
    text: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: Decimal | None = None
    stored: bool = False
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Failed:
    """A call without an answer that can be used, which is never the same as an answer that says no.

    Args:
        digest: The call's id; the last one's, where it was asked again.
        reason: "refused" by the model or a content filter, "does-not-fit" what was asked for, "cut-off" at the longest
            reply that was allowed, "timeout", "connection", "bad-reply" where the server's words make no sense,
            "budget" where it was not sent since it may cost too much, or "http-" with the server's status.
        detail: More of it, for people; one line.
        calls: The ids of all calls that were made for it, the oldest first.
    """

    digest: str
    reason: str
    detail: str = ""
    calls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _REASON.fullmatch(self.reason):
            raise InputError("reason of a failed call", expected="one that is listed", got=shown(self.reason))


@dataclass(frozen=True, slots=True)
class Answer(Generic[M_co]):
    """A reply that fits what was asked for.

    Args:
        value: What the reply says, checked.
        reply: The reply itself.
        calls: The ids of all calls that were made for it, those included whose reply did not fit, the oldest first.
    """

    value: M_co
    reply: Reply
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """An answered call as the store keeps it: what is needed to replay it and to publish it, without the conversation.

    Args:
        digest: Its id.
        endpoint: Who answered: a base URL, or a stand-in's name.
        stage: What it was asked for.
        prompt: The digest of the prompt's file.
        asked: The model that was asked.
        parameters: What was sent beside the conversation.
        model: The model that answered, as the server says it.
        text: Its words, which may be none.
        finish: Why it ended: "stop", "length", "content_filter", "refusal", or the server's own word.
        input_tokens: What it read; None where the server does not say.
        output_tokens: What it wrote; None where the server does not say.
        usd: What it cost; None where no price is known.
        attempts: How often it was sent.
        created: When it was answered: ISO 8601, in UTC.
    """

    digest: str
    endpoint: str
    stage: str
    prompt: str
    asked: str
    parameters: Mapping[str, Any]
    model: str
    text: str
    finish: str
    input_tokens: int | None
    output_tokens: int | None
    usd: Decimal | None
    attempts: int
    created: str


def _json(value: object, *, sort_keys: bool = False) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=sort_keys)
    except (TypeError, ValueError, RecursionError) as error:
        got = "endless nesting" if isinstance(error, RecursionError) else shown(str(error))
        raise InputError("a request to a model", expected="what JSON can say", got=got) from None


def _bytes(text: str) -> bytes:
    """Encode a text; half a surrogate pair, which no server takes, is sent as a question mark."""
    return text.encode("utf-8", "replace")
