"""Replies in a form that a program can read: how they are asked for, read, and asked for again.

Servers differ in what they can be held to. So a reply is asked for by a JSON schema, then as any JSON object, then as
text, until the server takes one of these; and whatever comes back is checked, since some take what they then ignore.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from freshstack_datasets.errors import shown
from freshstack_datasets.llm.records import Message, Request

M = TypeVar("M", bound=BaseModel)

Form = Literal["schema", "object", "text"]
FORMS: tuple[Form, ...] = ("schema", "object", "text")
"""How a reply is asked for, the strictest first."""

_STARTS = 1_000
"""Places of a text at which a JSON value is looked for."""
_REPEATED = 20_000
"""Characters of a reply that are sent back with what is wrong with it."""
_HALF = re.compile("[\ud800-\udfff]")
"""Half a surrogate pair, which JSON can escape and no file can hold."""


@cache
def strict_schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model, as strict servers want it: all members required, and no others allowed.

    Args:
        shape: The model; the order of its fields is that in which they are written.
    """
    schema: dict[str, Any] = _strict(shape.model_json_schema())
    return schema


def in_form(request: Request, schema: Mapping[str, Any], form: Form) -> Request:
    """Return a request whose reply has to fit a schema.

    Args:
        request: What is asked.
        schema: What the reply has to fit.
        form: How the server is told.
    """
    if form == "schema":
        return replace(request, schema=schema)
    wanted = {"response_format": {"type": "json_object"}} if form == "object" else {}
    told = f"{request.messages[-1].content}\n\n{_instruction(schema)}"
    messages = (*request.messages[:-1], replace(request.messages[-1], content=told))
    return replace(request, messages=messages, parameters={**request.parameters, **wanted}, schema=None)


def again(request: Request, schema: Mapping[str, Any], text: str, problem: str) -> Request:
    """Return the request that asks once more, saying what was wrong with the reply.

    Args:
        request: What was asked, in its form.
        schema: What the reply has to fit.
        text: The reply.
        problem: What is wrong with it.
    """
    said = Message("assistant", text[:_REPEATED] or "(nothing)")
    wrong = f"This reply cannot be used: {problem}. Answer the same question again. {_instruction(schema)}"
    return replace(request, messages=(*request.messages, said, Message("user", wrong)))


def read(text: str, shape: type[M], check: Callable[[M], str] | None = None) -> tuple[M | None, str]:
    """Return what a reply says, or None and what is wrong with it, in words for the model that is asked again.

    The JSON value may stand in a fence, in prose, or behind the model's thoughts. Of several values that fit, none is
    taken, as nobody knows which was meant. Half a surrogate pair in it is taken for U+FFFD.

    Args:
        text: The reply.
        shape: What it has to fit.
        check: What else it has to fulfil: returns "" or what is wrong.
    """
    values, problem = _values(text)
    fitting: list[M] = []
    for value in values:
        try:
            found = shape.model_validate_json(_whole(json.dumps(value, ensure_ascii=False)), strict=True)
        except (ValidationError, RecursionError) as error:
            problem = _wrong(error)
        else:
            fitting += [] if found in fitting else [found]
    if len(fitting) > 1:
        return None, "it holds several JSON values that differ"
    if not fitting:
        return None, problem
    problem = check(fitting[0]) if check else ""
    return (None, problem) if problem else (fitting[0], "")


def _values(text: str) -> tuple[list[Any], str]:
    """Return the JSON objects and lists of a text, and what to say where none of them will do.

    What stands in an object that is broken is no value of its own.
    """
    text = text.strip()
    if not text.startswith(("{", "[", "```")):  # else the mark stands in a text that is quoted
        text = text.rpartition("</think>")[2]
    decoder = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_finite, parse_float=_finite)
    found: list[Any] = []
    at = 0
    for _ in range(_STARTS):
        start = min((place for place in (text.find("{", at), text.find("[", at)) if place >= 0), default=-1)
        if start < 0:
            break
        try:
            value, at = decoder.raw_decode(text, start)
            found.append(value)
        except json.JSONDecodeError as error:
            if text[start] == "{" and error.pos > start + 1:  # else it is a bracket of prose
                return [], f"its JSON is broken at character {error.pos}: {error.msg}"
            at = max(error.pos, start + 1)
        except ValueError as error:
            return [], f"its JSON cannot be used: {shown(str(error))}"
        except RecursionError:
            return [], "its JSON is nested too deeply"
    return found, "it holds no JSON value"


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {_whole(key): value for key, value in pairs}
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


def _whole(text: str) -> str:
    """Return a text in which half a surrogate pair is the sign for what cannot be shown."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:  # infinite, or not a number
        raise ValueError(f"{text[:20]} is no number")
    return number


def _wrong(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    said = [f"{shown('.'.join(map(str, one['loc'])))}: {one['msg'][:200]}" for one in errors[:3]]
    return "; ".join(said) + (f"; and {len(errors) - 3} more" if len(errors) > 3 else "")


def _instruction(schema: Mapping[str, Any]) -> str:
    written = json.dumps(schema, ensure_ascii=False)
    return f"Reply with one JSON value and nothing else. It has to fit this JSON schema:\n{written}"


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):  # names, which may be those of keywords
            strict[key] = {name: _strict(part) for name, part in value.items()}
        elif key in ("enum", "const"):
            strict[key] = value
        elif key not in ("default", "title"):
            strict[key] = _strict(value)
    if "properties" in strict:
        strict["required"], strict["additionalProperties"] = list(strict["properties"]), False
    return strict
