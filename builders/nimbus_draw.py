"""What is left to chance when Nimbus is made, the same in every release of Python."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeVar

T = TypeVar("T")

_MONTHS = {
    "es": [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
    "en": [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
}
_REVISED = {"es": "Última revisión: {0.day} de {month} de {0.year}.", "en": "Last revised: {month} {0.day}, {0.year}."}


class Draw:
    """Random choices for one page; another page's choices do not change them.

    Of Python's generator only ``random()`` is promised to give the same numbers for ever, so all is made of that.

    Args:
        seed: Where the random numbers start.
        what: What the choices are for.
    """

    def __init__(self, seed: int, what: str) -> None:
        digest = hashlib.sha256(f"{seed} {what}".encode()).digest()
        self._random = Random(int.from_bytes(digest)).random

    def number(self, least: int, most: int) -> int:
        """Return a whole number, both ends included."""
        return least + int(self._random() * (most - least + 1))

    def one(self, items: Sequence[T]) -> T:
        """Return one of several things."""
        return items[self.number(0, len(items) - 1)]

    def day(self, first: date, last: date) -> date:
        """Return a day, both ends included."""
        return first + timedelta(days=self.number(0, (last - first).days))

    def endless(self, items: Sequence[T]) -> Iterator[T]:
        """Yield all things in random order, then all in another one, and so on."""
        while True:
            yield from sorted(items, key=lambda _: self._random())


def day_in_words(day: date, language: str) -> str:
    """Return the line that says when a page was revised."""
    return _REVISED[language].format(day, month=_MONTHS[language][day.month - 1])
