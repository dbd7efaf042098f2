"""How long the texts of one kind are."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self


class Bin(NamedTuple):
    """One bar of a picture of lengths.

    Args:
        least: The least length that is in it.
        most: The largest one.
        texts: How many texts are so long.
    """

    least: int
    most: int
    texts: int


@dataclass(frozen=True)
class Lengths:
    """How many texts there are of each length, which takes the same memory for a thousand and for a million.

    Args:
        counts: From a length in tokens to the number of texts; at least one text.
    """

    counts: Mapping[int, int]

    @classmethod
    def of(cls, lengths: Iterable[int]) -> Self | None:
        """Return how many there are of each length; None when there is none at all.

        Args:
            lengths: The length of each text.
        """
        return cls.counted(Counter(lengths))

    @classmethod
    def counted(cls, counts: Counter[int]) -> Self | None:
        """Return lengths that are counted already; None when there is none at all.

        Args:
            counts: From a length to the number of texts.
        """
        return cls(dict(sorted(counts.items()))) if counts else None

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return sum(self.counts.values())

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return sum(length * texts for length, texts in self.counts.items()) / self.texts

    @property
    def median(self) -> float:
        """The middle one, or the mean of the two in the middle."""
        return (self._at((self.texts - 1) // 2) + self._at(self.texts // 2)) / 2

    @property
    def longest(self) -> int:
        """The largest length."""
        return max(self.counts)

    def _at(self, place: int) -> int:
        """Return the length of the text at a place, were all in a row, the shortest first."""
        for length in sorted(self.counts):
            place -= self.counts[length]
            if place < 0:
                return length
        raise IndexError(place)

    def bins(self) -> list[Bin]:
        """Return the bars from the shortest to the longest text, those between without any text too.

        They begin at 0, 1, 2, 3, 4, 6, 8, 12, 16, 24 …: at powers of two, and in the middle between two of them.
        """
        places: Counter[int] = Counter()
        for length, texts in self.counts.items():
            places[_place(length)] += texts
        return [
            Bin(_least(place), _least(place + 1) - 1, places[place]) for place in range(min(places), max(places) + 1)
        ]


def _place(length: int) -> int:
    """Return the number of the bar that a length is in."""
    if length < 2:
        return length
    power = length.bit_length() - 1
    return 2 * power + (length >= 3 << (power - 1))


def _least(place: int) -> int:
    """Return the least length in a bar."""
    return place if place < 2 else (2 + place % 2) << (place // 2 - 1)
