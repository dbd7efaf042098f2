"""What a reply to the prompt ``support`` says of each document, where it says it clearly, and nothing else."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

_NAMED = 5
"""Documents that are named, at most, of those with the same fault."""


class Reply(BaseModel):
    """A reply, whose entries are looked at one by one, so that a wrong one spoils no other.

    Args:
        documents: What it says of the documents.
    """

    documents: list[Any]


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    document: int
    reasoning: str
    supports: list[int]


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply says.

    Args:
        supports: From the number of a document that was asked for to the numbers of the nuggets that it supports,
            ascending; only documents of which the reply says it once, and in numbers that there are.
        faults: From a document's number to what is wrong with what is said of it: "missing", "twice", "nugget" where a
            nugget's number is none of the question's, "unreadable" where it is no list of numbers behind a reasoning.
        unasked: How many entries are of a document that was not asked for, or of none.
    """

    supports: Mapping[int, tuple[int, ...]]
    faults: Mapping[int, str] = field(default_factory=dict)
    unasked: int = 0

    def problem(self, nuggets: int) -> str:
        """Return what is wrong with a reply of which nothing can be used, in words for the model; "" for any other.

        Args:
            nuggets: How many nuggets there are.
        """
        if self.supports or not self.faults:
            return ""
        asked = f"from 1 to {len(self.faults)}" if len(self.faults) > 1 else "1"
        words = {
            "missing": f'"documents" has no entry for {{}}; it needs one for each document, {asked}',
            "twice": "several entries are for {}",
            "nugget": f'"supports" holds a number that no nugget has, which have those from 1 to {nuggets}, for {{}}',
            "unreadable": '"reasoning" is no text or "supports" is no list of whole numbers, for {}',
        }
        found = {fault: [number for number, what in self.faults.items() if what == fault] for fault in words}
        return "; ".join(words[fault].format(_listed(numbers)) for fault, numbers in found.items() if numbers)


@cache
def schema_of(documents: int, nuggets: int) -> dict[str, Any]:
    """Return the JSON schema of a reply; the reasoning comes before the labels that follow from it.

    Args:
        documents: How many documents are shown.
        nuggets: How many nuggets there are.
    """
    number = {"type": "integer", "minimum": 1}
    members = {
        "document": {**number, "maximum": documents},
        "reasoning": {"type": "string"},
        "supports": {"type": "array", "items": {**number, "maximum": nuggets}},
    }
    entries = {"type": "array", "items": _object(members), "minItems": documents, "maxItems": documents}
    return _object({"documents": entries})


def read_labels(reply: Reply, documents: int, nuggets: int) -> Said:
    """Return what a reply says of the documents.

    Args:
        reply: The reply.
        documents: How many documents were shown.
        nuggets: How many nuggets there are.
    """
    numbers = [_number(entry) for entry in reply.documents]
    times = Counter(number for number in numbers if number is not None and 1 <= number <= documents)
    entries = {number: entry for number, entry in zip(numbers, reply.documents, strict=True) if number in times}
    supports: dict[int, tuple[int, ...]] = {}
    faults: dict[int, str] = {}
    for number in range(1, documents + 1):
        fault, found = _look(entries.get(number), times[number], nuggets)
        if fault:
            faults[number] = fault
        else:
            supports[number] = found
    return Said(supports, faults, len(numbers) - times.total())


def _look(entry: object, times: int, nuggets: int) -> tuple[str, tuple[int, ...]]:
    """Return what is wrong with what is said of a document, or "" and the nuggets that it supports."""
    if times != 1:
        return ("twice" if times else "missing"), ()
    try:
        found = _Entry.model_validate(entry).supports
    except ValidationError:
        return "unreadable", ()
    return ("", tuple(sorted(set(found)))) if all(1 <= one <= nuggets for one in found) else ("nugget", ())


def _number(entry: object) -> int | None:
    number = entry.get("document") if isinstance(entry, dict) else None
    return number if type(number) is int else None


def _listed(numbers: list[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED]))
    more = f" and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else ""
    return f"document{'s' * (len(numbers) > 1)} {named}{more}"


def _object(members: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(members), "required": list(members), "additionalProperties": False}
