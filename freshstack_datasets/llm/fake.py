"""A stand-in for a language model: it answers at once, the same each time, what fits the schema, and knows nothing.

It is for trying out the steps of a build. Its name marks what it had a part in, which ``publish`` refuses.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.llm.estimates import rough_tokens
from freshstack_datasets.llm.records import EMBEDDINGS, Request
from freshstack_datasets.llm.seams import Raw

NAME = "stand-in"
"""What its endpoint is called, and what the name of each of its models begins with."""
DIMENSIONS = 64
"""Of its embeddings."""
LONGEST = 200
"""Characters of a text of its own."""
DEEPEST = 40
"""Objects and lists within each other in a schema."""
MORE = 3
"""How many more items than needed a list may get."""

Script = Callable[[Request], str]
"""What it says to a request of one stage."""


class Fake:
    """A stand-in for a language model's server.

    Without a script it makes up what fits the schema of a request: all members; texts out of the last message; in a
    list, the numbers and choices that its items may have one after the other, so that each comes once.

    Args:
        scripts: From a stage to what it says there.
    """

    endpoint = NAME
    stand_in = True

    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        self._scripts = dict(scripts or {})

    async def send(self, request: Request) -> Raw:
        """Answer a call.

        Raises:
            InputError: There is no script for its stage, and its schema asks for what it cannot make up.
        """
        if request.path == EMBEDDINGS:
            return _raw({"model": f"{NAME} for {request.model}", **_embedded(request)})
        script = self._scripts.get(request.stage, improvised)
        text = script(request)
        sent = sum(rough_tokens(message.content) for message in request.messages)
        usage = {"prompt_tokens": sent, "completion_tokens": rough_tokens(text)}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return _raw({"model": f"{NAME} for {request.model}", "choices": [choice], "usage": usage})

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def hide(self, text: str) -> str:
        """Return the text: there is no key."""
        return text


def improvised(request: Request) -> str:
    """Return what a stand-in without a script says to a request.

    Args:
        request: A call for a chat.

    Raises:
        InputError: Its schema asks for what cannot be made up.
    """
    if request.schema is None:
        return _Maker(request, {}).text(200, "text")
    value = _Maker(request, request.schema).make(request.schema, "$")
    return json.dumps(value, ensure_ascii=False)


class _Maker:
    """Makes up values that fit a schema, out of a request alone."""

    def __init__(self, request: Request, root: Mapping[str, Any]) -> None:
        self._digest, self._root = request.digest, root
        last = request.messages[-1].content if request.messages else ""
        self._lines = [line for line in (" ".join(raw.split()) for raw in last.splitlines()) if _is_prose(line)]

    def draw(self, place: str, below: int) -> int:
        """Return a number from 0 that depends on the request and the place in the reply alone."""
        return int.from_bytes(hashlib.sha256(f"{self._digest} {place}".encode()).digest()[:8]) % below

    def text(self, longest: int, place: str) -> str:
        """Return a line of the request's last message."""
        if not self._lines:
            return "nothing to say"[:longest]
        return self._lines[self.draw(place, len(self._lines))][:longest].strip() or "-"

    def make(self, schema: object, place: str, turn: int | None = None) -> Any:
        """Return a value that fits a schema.

        Args:
            schema: The schema.
            place: Where in the reply it stands.
            turn: Which item of a list it is or belongs to; None when of none.
        """
        if schema is True or schema == {}:
            return None
        if not isinstance(schema, Mapping) or place.count("/") > DEEPEST:
            raise self._cannot(place, schema)
        if "$ref" in schema:
            return self.make(self._found(schema["$ref"], place), place + "/", turn)
        if (options := _options(schema)) is not None:
            if not options:
                raise self._cannot(place, schema)
            return options[(self.draw(place, len(options)) if turn is None else turn) % len(options)]
        for word in ("anyOf", "oneOf", "allOf"):
            if word in schema:
                several = schema[word]
                if word == "allOf" and len(several) != 1:
                    raise self._cannot(place, schema)
                return self.make(several[0], place + "/", turn)
        return self._of_type(schema, place, turn)

    def _of_type(self, schema: Mapping[str, Any], place: str, turn: int | None) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else None)
        match kind[0] if isinstance(kind, list) and kind else kind:
            case "object":
                members = schema.get("properties", {})
                if missing := set(schema.get("required", ())) - members.keys():
                    raise self._cannot(place, sorted(missing))
                return {name: self.make(member, f"{place}/{name}", turn) for name, member in members.items()}
            case "array":
                return self._list(schema, place)
            case "string" if "pattern" not in schema and "format" not in schema:
                longest = max(1, min(LONGEST, schema.get("maxLength", LONGEST)))
                return self.text(longest, place).ljust(schema.get("minLength", 0), ".")
            case "boolean":
                return bool(self.draw(place, 2))
            case "integer":
                return _lowest(schema, 1) + (turn or 0)
            case "number" if "multipleOf" not in schema:
                low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
                high = schema.get("maximum", schema.get("exclusiveMaximum", low + 1))
                return (low + high) / 2
            case "null":
                return None
            case _:
                raise self._cannot(place, schema)

    def _list(self, schema: Mapping[str, Any], place: str) -> list[Any]:
        first = [self.make(item, f"{place}/{i}") for i, item in enumerate(schema.get("prefixItems", ()))]
        items = schema.get("items", False)
        least = max(0, schema.get("minItems", 0) - len(first))
        most = schema.get("maxItems", least + len(first) + MORE) - len(first)
        if items is False:
            most = 0
        options = self._choices(items)
        if options is not None:
            most = min(most, max(least, len(options)))
        number = least + self.draw(place, max(1, min(most, least + MORE) - least + 1))
        start = 0 if options is None else self.draw(f"{place}/start", len(options))
        made = [self.make(items, f"{place}/{len(first) + i}", start + i) for i in range(min(number, max(most, 0)))]
        return [*first, *made]

    def _choices(self, items: object) -> list[Any] | None:
        """Return what the items of a list can be where these are a few values, None where they are not."""
        while isinstance(items, Mapping) and "$ref" in items:
            items = self._found(items["$ref"], "items")
        return (_options(items) or None) if isinstance(items, Mapping) else None

    def _found(self, reference: object, place: str) -> object:
        """Return the part of the schema that a reference names."""
        part: object = self._root
        for name in str(reference).removeprefix("#").strip("/").split("/"):
            if name:
                part = part.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(part, Mapping) else None
        if part is None:
            raise self._cannot(place, reference)
        return part

    def _cannot(self, place: str, schema: object) -> InputError:
        return InputError(
            f"the stand-in for a model cannot make up {shown(place)}",
            expected="a schema of plain objects, lists, texts and numbers",
            got=shown(schema),
            hint="give it a script for the stage",
        )


def _options(schema: Mapping[str, Any]) -> list[Any] | None:
    """Return the few values that fit a schema, None where there are many."""
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return list(schema["enum"])
    if schema.get("type") == "integer" and ("maximum" in schema or "exclusiveMaximum" in schema):
        high = math.floor(schema.get("maximum", math.inf)) if "maximum" in schema else 10**6
        if "exclusiveMaximum" in schema:
            high = min(high, math.ceil(schema["exclusiveMaximum"]) - 1)
        low = _lowest(schema, min(1, high))
        return list(range(low, min(high, low + 999) + 1))
    return None


def _lowest(schema: Mapping[str, Any], otherwise: int) -> int:
    """Return the least whole number that fits a schema."""
    lows = [math.ceil(schema["minimum"])] if "minimum" in schema else []
    lows += [math.floor(schema["exclusiveMinimum"]) + 1] if "exclusiveMinimum" in schema else []
    return max(lows, default=otherwise)


def _is_prose(line: str) -> bool:
    """Tell whether a line is one that somebody may have written, and no mark of a prompt."""
    return not line.startswith("<") and any(character.isalpha() for character in line)


def _embedded(request: Request) -> dict[str, Any]:
    """Return embeddings in which texts with the same words are near to each other."""
    given = request.parameters.get("input", [])
    texts = [given] if isinstance(given, str) else list(given)
    data = [{"index": i, "embedding": _vector(str(text))} for i, text in enumerate(texts)]
    return {"data": data, "usage": {"prompt_tokens": sum(rough_tokens(str(text)) for text in texts)}}


def _vector(text: str) -> list[float]:
    """Return the counts of a text's words, each in a place that it shares with few others, to the length of 1."""
    counts = [0] * DIMENSIONS
    for word in text.lower().split() or [""]:
        counts[hashlib.sha256(word.encode("utf-8", "replace")).digest()[0] % DIMENSIONS] += 1
    length = math.sqrt(sum(count * count for count in counts))
    return [round(count / length, 6) for count in counts]


def _raw(body: Mapping[str, Any]) -> Raw:
    text = json.dumps(body, ensure_ascii=False)
    return Raw(200, {"content-type": "application/json"}, text.encode("utf-8", "replace"))
