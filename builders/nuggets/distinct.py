"""Which of several short texts of a model are worth keeping: those that say something, each once."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_QUOTES = "\"'`´‘’‚“”„«»‹›"
_ENDS = ".,;:…"


@dataclass(frozen=True, slots=True)
class Distinct:
    """What is left of several texts.

    Args:
        kept: The places of those that are kept, ascending, from 0.
        empty: How many say nothing.
        duplicates: How many say what one before them says.
    """

    kept: tuple[int, ...]
    empty: int
    duplicates: int


def distinct(texts: Sequence[str]) -> Distinct:
    """Return which texts are kept: of equal ones the first, and none without a letter or a digit.

    Args:
        texts: The texts, in an order in which the first of equal ones is the one to keep.
    """
    kept: list[int] = []
    seen: set[str] = set()
    empty = 0
    for place, text in enumerate(texts):
        if not any(letter.isalnum() for letter in text):
            empty += 1
        elif (key := likeness(text)) not in seen:
            seen.add(key)
            kept.append(place)
    return Distinct(tuple(kept), empty, len(texts) - empty - len(kept))


def likeness(text: str) -> str:
    """Return what equal texts have in common: their words, in small letters.

    The quotes around a word and the punctuation behind it do not count. What else stands there does, as in ``C++``,
    ``.env``, ``!=`` and ``save!`` it makes another word.

    Args:
        text: A text.
    """
    words = unicodedata.normalize("NFC", text).casefold().split()
    return " ".join(bare for word in words if (bare := _bare(word)))


def line(text: str) -> str:
    """Return a text on one line, its words apart by one space."""
    return " ".join(text.split())


def has_controls(text: str) -> bool:
    """Tell whether a text on one line holds a character that nobody can see or type, such as NUL."""
    return any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text)


def _bare(word: str) -> str:
    """Return a word without the quotes around it and the punctuation behind it; one of nothing else as it is."""
    bare = word.lstrip(_QUOTES).rstrip(_QUOTES + _ENDS)
    return bare or ("" if word in _ENDS else word)
