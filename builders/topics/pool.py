"""What a topic file, or a recipe, says of the documents to judge, and of the questions that are left in the end."""

import re
from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, model_validator

from builders.topics.models import Variable, endpoint
from freshstack_datasets.errors import UnknownNameError, shown
from freshstack_datasets.recipe import Model, as_tuple
from freshstack_datasets.typed_files.limits import number, text
from freshstack_datasets.typed_files.refused import RefusedError

SAME = "same"
"""As an embedding model's endpoint: that of the other models."""

Technique = Literal["question", "sub-questions", "closed-book", "answer", "nuggets"]

_MODULE = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"
_KINDS = ("bm25", "dense", "python")
_PLAIN = "bm25, dense:MODEL, python:module:factory, or keys and their values"


def _from_text(value: object) -> object:
    """Take the short forms of a retriever."""
    if not isinstance(value, str):
        return value
    kind, colon, rest = value.partition(":")
    if value == "bm25":
        return {"bm25": True}
    if kind in ("dense", "python") and colon and rest:
        return {kind: rest}
    hint = "" if kind in _KINDS else UnknownNameError("retriever", kind, _KINDS).hint
    raise RefusedError(_PLAIN, shown(value), hint if hint.startswith("did you mean") else "")


def _place(value: str) -> str:
    return value if value == SAME else endpoint(value)


def _factory(value: str) -> str:
    if not re.fullmatch(_MODULE, value, re.ASCII):
        raise RefusedError("module:factory", shown(value))
    return value


class Retriever(Model):
    """Who searches for documents to judge: exactly one of bm25, dense and python.

    Args:
        bm25: Whether it is BM25.
        dense: An embedding model: a name that sentence-transformers knows, or the server's where there is an endpoint.
        python: ``module:factory``; the factory is called and returns a retriever.
        endpoint: The server that embeds: a base URL, or ``same`` for that of the other models; "" for this machine.
        key_from: The variable of the environment that holds its key; no key is sent there when not given.
        query_prefix: What is put before each text that is searched for.
        document_prefix: What is put before each document.
        name: What it is called in tables and files, in place of the above.
    """

    bm25: bool = False
    dense: Annotated[str, text(300)] = ""
    python: Annotated[str, AfterValidator(_factory)] = ""
    endpoint: Annotated[str, AfterValidator(_place)] = ""
    key_from: Variable = ""
    query_prefix: Annotated[str, text(2_000, lines=True, empty=True)] = ""
    document_prefix: Annotated[str, text(2_000, lines=True, empty=True)] = ""
    name: Annotated[str, text(100)] = ""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        kinds = [name for name in _KINDS if getattr(self, name)]
        if len(kinds) != 1:
            raise RefusedError("one of bm25, dense and python", " and ".join(kinds) or "none")
        others = [n for n in ("endpoint", "key_from", "query_prefix", "document_prefix") if getattr(self, n)]
        if others and not self.dense:
            raise RefusedError("dense beside it", "none", place=(others[0],))
        return self

    @property
    def label(self) -> str:
        """What it is called in tables and files."""
        return self.name or (
            f"dense:{self.dense}" if self.dense else f"python:{self.python}" if self.python else "bm25"
        )


def _once(values: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for place, value in enumerate(values):
        if value in seen:
            raise RefusedError(f"each {what} once", shown(value), place=(place,))
        seen.add(value)


def _techniques(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise RefusedError("a technique", "none")
    _once(values, "technique")
    return values


def _retrievers(values: tuple[Retriever, ...]) -> tuple[Retriever, ...]:
    if not values:
        raise RefusedError("a retriever", "none")
    _once((one.label for one in values), "retriever")
    return values


class Pool(Model):
    """How the documents to judge are chosen.

    Args:
        techniques: What is searched for.
        retrievers: Who searches.
        depth: How many documents each list has.
        top: How many of each technique's lists, put together, are judged.
    """

    techniques: Annotated[tuple[Technique, ...], BeforeValidator(as_tuple), AfterValidator(_techniques)] = (
        "question",
        "sub-questions",
        "closed-book",
        "answer",
        "nuggets",
    )
    retrievers: Annotated[
        tuple[Annotated[Retriever, BeforeValidator(_from_text)], ...],
        BeforeValidator(as_tuple),
        AfterValidator(_retrievers),
    ] = (Retriever(bm25=True),)
    depth: Annotated[int, number(1, 10_000)] = 100
    top: Annotated[int, number(1, 10_000)] = 20


class Contamination(Model):
    """Which questions a model knows the answer to without any document.

    Args:
        closed_book_coverage: The share of the terms of a question's nuggets, those of the question not counted, in the
            answer from a model's memory, from which on the question is dropped.
    """

    closed_book_coverage: Annotated[float, number(0, 1)]


def _none(value: object) -> object:
    return None if value == "none" else value


class Filters(Model):
    """Which questions are dropped in the end, beside those with nuggets that no document supports.

    Args:
        contamination: Those that a model knows the answer to; None keeps them.
    """

    contamination: Annotated[Contamination | None, BeforeValidator(_none)] = None
