"""What a server's answer says, trusting none of it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from freshstack_datasets.errors import shown
from freshstack_datasets.llm.seams import Unanswered

_CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
_MOST_TOKENS = 2**40
_RELEASE = re.compile(r"(?:[-@:](?:\d{3,}|\d\d-\d\d(?:-\d{4})?|\d{4}-\d\d(?:-\d\d)?|v\d[\d.:]*|latest|preview|exp))+")
"""What names of models end with that say which release of one it is: a date, a number, a word."""


@dataclass(frozen=True, slots=True)
class Said:
    """A reply, as the server says it.

    Args:
        text: The model's words; its refusal, where it refused.
        finish: Why it ended: "stop", "length", "content_filter", "refusal", or the server's own word.
        model: The model that answered, "" where the server does not say.
        input_tokens: What it read; None where the server does not say.
        output_tokens: What it wrote; None where the server does not say.
        odd: What is unusual about it, in a few words each.
    """

    text: str
    finish: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    odd: tuple[str, ...] = ()


def chat(body: bytes) -> Said:
    """Read the reply of a chat.

    Args:
        body: The body of the server's answer.

    Raises:
        Unanswered: It is none.
    """
    whole = parsed(body)
    choices = whole.get("choices")
    if not isinstance(choices, list) or not choices or not all(isinstance(choice, dict) for choice in choices):
        raise Unanswered("bad-reply", f"a reply without choices: {shown(body[:200])}")
    odd = ["several choices"] if len(choices) > 1 else []
    choice = next((choice for choice in choices if choice.get("index") == 0), choices[0])
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unanswered("bad-reply", f"a choice without a message: {shown(body[:200])}")
    finish = word(choice.get("finish_reason"))
    if finish == "error":
        raise Unanswered("bad-reply", "the server broke off while it wrote the reply")
    if not finish:
        odd.append("no finish_reason")
    text, refusal = _text(message.get("content")), _text(message.get("refusal"))
    if refusal:
        text, finish = refusal, "refusal"
    elif finish in _CUT_OFF:
        finish = "length"
    input_tokens, output_tokens = usage(whole)
    if input_tokens is None or output_tokens is None:
        odd.append("no usage")
    return Said(text, finish or "stop", word(whole.get("model")), input_tokens, output_tokens, tuple(odd))


def usage(whole: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens that a server says were read and written, None for each that it does not say credibly."""
    said = whole.get("usage")
    counts = said if isinstance(said, dict) else {}
    return _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))


def parsed(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body.

    Args:
        body: The body of a server's answer.

    Raises:
        Unanswered: It holds none.
    """
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Unanswered("bad-reply", f"an answer that is no JSON: {shown(body[:200])}") from None
    if not isinstance(value, dict):
        raise Unanswered("bad-reply", f"an answer that is no JSON object: {shown(body[:200])}")
    return value


def same_model(asked: str, said: str) -> bool:
    """Tell whether the model that answered is the one that was asked, or a dated release of it.

    Args:
        asked: The name that was sent.
        said: The name that came back; nobody is suspected for saying none.
    """
    one, other = (name.rpartition("/")[2].lower().removesuffix("-latest") for name in (asked, said))
    return not said or one == other or (other.startswith(one) and bool(_RELEASE.fullmatch(other, len(one))))


def _text(content: object) -> str:
    """Return the text of a message, which may come in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "".join(part for part in parts if isinstance(part, str))
    return _clean(content) if isinstance(content, str) else ""


def word(value: object) -> str:
    """Return a name or a code as a server says it, "" when it says none."""
    return line(value) if isinstance(value, str) else str(value) if type(value) is int else ""


def line(text: str) -> str:
    """Return a foreign text as one short line that is safe to show."""
    text = " ".join(_clean(text[:2_000]).split())[:300]
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "?" for letter in text)


def _clean(text: str) -> str:
    """Return a text in which half a surrogate pair, which no file can hold, is a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def _no_number(word: str) -> float:
    raise ValueError(word)
