"""From text to the terms that BM25 counts: lower case, words, stop words out, stems, by language."""

import re
from collections.abc import Callable, Iterable
from functools import cache

from freshstack_datasets.errors import InputError, shown

DEFAULT = "en"

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""ISO 639-1 code to the algorithm of PyStemmer."""

STOP_WORDS = {
    "da": "DANISH", "de": "GERMAN", "en": "EN", "es": "SPANISH", "fr": "FRENCH", "it": "ITALIAN", "ko": "KOREAN",
    "nb": "NORWEGIAN", "nl": "DUTCH", "no": "NORWEGIAN", "pt": "PORTUGUESE", "ru": "RUSSIAN", "sv": "SWEDISH",
    "tr": "TURKISH", "zh": "CHINESE",
}  # fmt: skip
"""ISO 639-1 code to the list of bm25s. That of Norwegian is Bokmål, so Nynorsk has none."""

find_words: Callable[[str], list[str]] = re.compile(r"\b\w\w+\b").findall
"""Words have at least two letters, digits or underscores."""


def language_code(given: str | None, of_documents: str | None) -> str:
    """Return the code of the language that texts are read in.

    A region is ignored: ``pt-BR`` is read as ``pt``. A language without a stop word list or a stemmer goes without.

    Args:
        given: What the user asked for; None leaves it to the documents.
        of_documents: What the documents say; English when they say nothing that is a code.

    Raises:
        InputError: ``given`` is no language code.
    """
    if given is not None:
        if (code := _code(given)) is None:
            raise InputError(
                "the language",
                expected="an ISO 639-1 code such as en, or None for that of the documents",
                got=shown(given),
            )
        return code
    return _code(of_documents) or DEFAULT


def _code(language: object) -> str | None:
    found = re.fullmatch(r"([a-z]{2,3})([-_][a-z0-9]{1,8})*", language.lower()) if isinstance(language, str) else None
    return found[1] if found else None


class Terms(dict[str, int]):
    """Words of one language to the numbers of their terms; a word is looked at when it first comes.

    Stop words have the number -1. Terms are numbered in the order in which they first come.

    Args:
        language: A code from ``language_code``.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self.numbers: dict[str, int] = {}
        self._stop_words, self._stem = stop_words(language), stemmer(language)

    def __missing__(self, word: str) -> int:
        self[word] = -1
        if word not in self._stop_words:
            [stem] = self._stem([word])
            self[word] = self.numbers.setdefault(stem, len(self.numbers))
        return self[word]

    def of(self, text: str) -> list[int]:
        """Return the numbers of a text's terms, in order, without the stop words."""
        return [number for number in map(self.__getitem__, find_words(text.lower())) if number >= 0]


def terms(text: str, language: str) -> list[str]:
    """Return a text's terms, in order, without the stop words.

    Args:
        text: Any text.
        language: A code from ``language_code``.
    """
    without = stop_words(language)
    return list(stemmer(language)([word for word in find_words(text.lower()) if word not in without]))


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language; none when bm25s has no list of it."""
    import bm25s

    name = STOP_WORDS.get(language)
    return frozenset(getattr(bm25s.stopwords, f"STOPWORDS_{name}")) if name else frozenset()


@cache
def stemmer(language: str) -> Callable[[Iterable[str]], Iterable[str]]:
    """Return what makes stems of words; it returns the words themselves when PyStemmer does not know the language."""
    import Stemmer

    name = STEMMERS.get(language)
    return Stemmer.Stemmer(name).stemWords if name in Stemmer.algorithms() else list
