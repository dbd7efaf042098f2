"""What a retriever is given, checked before it works on it."""

from collections.abc import Iterable
from typing import Any, TypeVar

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.records import Query

T = TypeVar("T")


def queries_given(queries: Iterable[Query]) -> list[Query]:
    """Return the queries of a search as a list.

    Args:
        queries: What the search was given.

    Raises:
        InputError: Something in it is no query, or it is no collection at all.
    """
    what, expected = "the queries to search for", "queries with a text, such as [Query('1', 'how to …')]"
    taken: list[Any] = list(collection(queries, what, expected))
    for query in taken:
        if not isinstance(query, Query) or not isinstance(query.text, str):
            raise InputError(what, expected=expected, got=f"{shown(query)} ({type(query).__name__})")
    return taken


def collection(items: Iterable[T], what: str, expected: str) -> Iterable[T]:
    """Return items unchanged, when one can go through them.

    Args:
        items: The items.
        what: What they are, for the message.
        expected: What they should be.

    Raises:
        InputError: One cannot.
    """
    if isinstance(items, Iterable):
        return items
    raise InputError(what, expected=expected, got=f"{shown(items)} ({type(items).__name__})")
