"""From text to the terms that BM25 counts: lower case, words, stop words out, stems, by language.

Languages are codes of ``records.language_code``; of several, the first is the main one.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.records import language_code

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


def chosen_language(given: object) -> str:
    """Return the code of a language that somebody chose.

    A language without a stop word list or a stemmer goes without.

    Args:
        given: The language; a region is ignored.

    Raises:
        InputError: It is no language code.
    """
    if (code := language_code(given)) is None:
        raise InputError(
            "the language",
            expected="an ISO 639-1 code such as en, or None for those of the documents",
            got=shown(given),
        )
    return code


def languages_of(documents: object) -> tuple[str, ...]:
    """Return the languages of a corpus, each once, at least one.

    Args:
        documents: The corpus; it may say them in ``languages``, or one in ``language``. What is no code is passed over;
            without any, it is taken for English.
    """
    several = getattr(documents, "languages", ())
    said = several if isinstance(several, tuple | list) and several else [getattr(documents, "language", None)]
    return tuple(dict.fromkeys(code for code in map(language_code, said) if code)) or (DEFAULT,)


def detected_language(words: list[str], languages: tuple[str, ...]) -> str:
    """Return the language whose stop words are the most frequent among words.

    A word that is a stop word of two languages counts for both.

    Args:
        words: The words of a text in lower case, each as often as it comes.
        languages: The languages to choose from, at least one. Of equals the first is chosen, so the main one where
            there is no stop word; any other without a list of stop words never is.
    """
    if len(languages) == 1:
        return languages[0]
    return max(_detectable(languages), key=lambda language: sum(map(stop_words(language).__contains__, words)))


@cache
def _detectable(languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages that can win: few, however many codes a dataset names."""
    return languages[:1] + tuple(language for language in languages[1:] if stop_words(language))


def query_language(said: object, text: str, languages: tuple[str, ...]) -> str:
    """Return the language that a query is read in.

    Args:
        said: The query's language. The main one stands in for a language that no document can be read in: one that is
            none of those of the corpus, or has no list of stop words to tell it by.
        text: Its text, whose stop words decide when ``said`` is no language code.
        languages: The languages of the corpus.
    """
    code = language_code(said)
    if code is None:
        return detected_language(find_words(text.lower()), languages)
    return code if code in _detectable(languages) else languages[0]


class TermNumbers:
    """Makes the numbers of terms of texts, each text read in its ``detected_language``.

    Terms are numbered in the order in which they first come, and equal terms of two languages are one. ``vocabulary``
    has the number of each.

    Args:
        languages: The languages of the corpus.
    """

    def __init__(self, languages: tuple[str, ...]) -> None:
        self.vocabulary: dict[str, int] = {}
        self._languages = languages
        self._words = {language: _Words(language, self.vocabulary) for language in _detectable(languages)}

    def of(self, text: str) -> list[int]:
        """Return the numbers of a text's terms, in order, without the stop words."""
        words = find_words(text.lower())
        number_of = self._words[detected_language(words, self._languages)].__getitem__
        return [number for number in map(number_of, words) if number >= 0]


class _Words(dict[str, int]):
    """Words of one language to the numbers of their terms, stop words to -1.

    A word is looked at when it first comes, since stemming takes far longer than looking up.

    Args:
        language: The language.
        vocabulary: Terms to their numbers; new terms are added.
    """

    def __init__(self, language: str, vocabulary: dict[str, int]) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._stop_words, self._stem = stop_words(language), stemmer(language)

    def __missing__(self, word: str) -> int:
        self[word] = -1
        if word not in self._stop_words:
            [stem] = self._stem([word])
            self[word] = self._vocabulary.setdefault(stem, len(self._vocabulary))
        return self[word]


def terms(text: str, language: str) -> list[str]:
    """Return a text's terms, in order, without the stop words.

    Args:
        text: Any text.
        language: The language that it is read in.
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
