"""What a topic file, or a recipe, says of the models that are asked."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.llm.replay import parse_endpoint
from freshstack_datasets.recipe import Model
from freshstack_datasets.typed_files.limits import number, text
from freshstack_datasets.typed_files.refused import RefusedError

SAID_ELSEWHERE = ("model", "messages", "n", "stream", "response_format", "input")
"""What no parameter may be: it has a place of its own, or the replies would be of another kind."""
_DEEPEST = 8
_SECRET = re.compile(
    r"key|token|(?:.*[-_])?(?:api[-_]?key|authorization|credentials|password|headers)"
    r"|.*(?:secret|(?:access|auth|session)[-_]?(?:key|token)).*"
)
"""Names under which some servers take a key, which would be kept with the replies and published."""


def endpoint(value: str) -> str:
    """Return where calls go, checked.

    Raises:
        RefusedError: It is none.
    """
    try:
        parse_endpoint(value)
    except InputError as error:
        raise RefusedError(error.expected or "a base URL", error.got or "something else") from None
    return value


def variable(name: str) -> str:
    """Return the name of a variable of the environment, checked; it may be the key itself, which is not shown.

    Raises:
        RefusedError: It is none.
    """
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,99}", name):
        raise RefusedError("the name of a variable of the environment", "something else", "the key itself goes there")
    return name


def _parameters(told: dict[str, Any]) -> dict[str, Any]:
    for name, value in told.items():
        if name in SAID_ELSEWHERE:
            raise RefusedError("a parameter that is not said elsewhere", shown(name), place=(name,))
        if secret := next((key for key in _names({name: value}) if _SECRET.fullmatch(key.lower())), None):
            hint = "name the variable of the environment that holds it in key_from: parameters are published"
            raise RefusedError("parameters without keys", shown(secret), hint, (name,))
        if len(name) > 100 or not _sendable(value, 0):
            raise RefusedError("a number, a text, true, false, null, or lists and keys of such", "another", "", (name,))
    return told


def _names(value: object) -> Iterator[str]:
    """Yield the names of all that is within a parameter."""
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _names(one)
    if isinstance(value, Mapping):
        yield from (name for name in value if isinstance(name, str))


def _sendable(value: object, depth: int) -> bool:
    if isinstance(value, Mapping):
        return depth < _DEEPEST and all(isinstance(k, str) and _sendable(v, depth + 1) for k, v in value.items())
    if isinstance(value, list | tuple):
        return depth < _DEEPEST and all(_sendable(one, depth + 1) for one in value)
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _prompt(name: str) -> str:
    if not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*(@[1-9][0-9]{0,5})?", name):
        raise RefusedError("the name of a prompt, such as support or support@1", shown(name))
    return name


Endpoint = Annotated[str, AfterValidator(endpoint)]
Variable = Annotated[str, AfterValidator(variable)]
ModelName = Annotated[str, text(300)]
Seed = Annotated[int, number(0, 2**32 - 1)]
_Parameters = Annotated[dict[str, Any], AfterValidator(_parameters)]


class Kind(Model):
    """How calls of one kind are made; what is not said here is as for all kinds.

    Args:
        model: The model, as its server knows it.
        parameters: What else is sent; null takes away what is sent for all kinds.
        prompt: The prompt, in its newest version unless one is named.
    """

    model: ModelName = ""
    parameters: _Parameters = Field(default_factory=dict)
    prompt: Annotated[str, AfterValidator(_prompt)] = ""


class Support(Kind):
    """How documents are judged.

    Args:
        documents: The most documents in one call.
        tokens: The most tokens that one call sends.
        seed: What the order of the documents in the calls depends on.
    """

    documents: Annotated[int, number(1, 100)] = 20
    tokens: Annotated[int, number(1_000, 10_000_000)] = 60_000
    seed: Seed = 7


class Second(Kind):
    """How some of the documents are judged once more; what is not said is as for the first time.

    Args:
        share: The share of the judged documents, over all questions, that are judged twice; 0 for none.
        seed: What decides on these documents, and on their order.
    """

    share: Annotated[float, number(0, 1)] = 0.0
    seed: Seed = 8


class Models(Model):
    """Which models are asked, and how.

    Args:
        endpoint: Where they are: a base URL, ``recorded:FILE`` or ``fake``.
        key_from: The variable of the environment that holds the key.
        model: The model for each kind of call that names none.
        parameters: What else is sent, for every kind of call.
        nuggets: How nuggets are made.
        sub_questions: How sub-questions are made.
        closed_book: How answers from a model's memory are made.
        support: How documents are judged.
        second: How some of them are judged once more.
    """

    endpoint: Endpoint = ""
    key_from: Variable = ""
    model: ModelName = ""
    parameters: _Parameters = Field(default_factory=dict)
    nuggets: Kind = Kind()
    sub_questions: Kind = Field(default=Kind(), alias="sub-questions")
    closed_book: Kind = Field(default=Kind(), alias="closed-book")
    support: Support = Support()
    second: Second = Second()
