"""What is left to chance when Nimbus is made, the same in every release of Python."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Random choices for one thing, such as a page; choices for another thing do not change them.

    Of Python's generator only ``random()`` is promised to give the same numbers for ever, so all is made of that.

    Args:
        seed: Where the random numbers start.
        what: What the choices are for.
    """

    def __init__(self, seed: int, what: str) -> None:
        digest = hashlib.sha256(f"{seed} {what}".encode()).digest()
        self._random = Random(int.from_bytes(digest)).random

    def one(self, items: Sequence[T]) -> T:
        """Return one of several things."""
        return items[self._below(len(items))]

    def day(self, first: date, last: date) -> date:
        """Return a day, both ends included."""
        return first + timedelta(days=self._below((last - first).days + 1))

    def endless(self, items: Sequence[T]) -> Iterator[T]:
        """Yield all things in random order, then all in another one, and so on."""
        while True:
            yield from sorted(items, key=lambda _: self._random())

    def _below(self, end: int) -> int:
        """Return a whole number from 0 to ``end - 1``."""
        return int(self._random() * end)
