"""What a judge's reply says of one of the documents that it was shown."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from freshstack_datasets.llm.structure import read

LARGEST = 1_000_000
"""Characters of a reply that is looked into; a judge's has some thousands."""


class _Reply(BaseModel):
    documents: list[Any]


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    document: int
    reasoning: str
    supports: list[int]


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply says of one document.

    Args:
        reasoning: Why, in the model's words.
        supports: The positions of the nuggets that it says the document supports, from 0, ascending.
    """

    reasoning: str
    supports: tuple[int, ...]


def said_of(reply: str, number: int) -> Said | None:
    """Return what a reply says of a document, None where it says nothing, or no one thing, that can be read.

    Args:
        reply: The reply.
        number: The document's number in the call, from 1.
    """
    if len(reply) > LARGEST:
        return None
    found, _ = read(reply, _Reply)
    entries = [_entry(entry) for entry in (found.documents if found else ())]
    fitting = [entry for entry in entries if entry is not None and entry.document == number]
    if len(fitting) != 1:
        return None
    return Said(fitting[0].reasoning, tuple(sorted({one - 1 for one in fitting[0].supports})))


def _entry(value: Any) -> _Entry | None:
    try:
        return _Entry.model_validate(value)
    except (ValidationError, RecursionError):
        return None
