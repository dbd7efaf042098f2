"""From text to terms, by language."""

import pytest
import Stemmer

from freshstack_datasets.errors import InputError
from freshstack_datasets.retrieval.language import STEMMERS, STOP_WORDS, Terms, language_code, stop_words, terms


@pytest.mark.parametrize(
    "given, of_documents, code",
    [
        (None, None, "en"),
        (None, "", "en"),
        (None, "es", "es"),
        (None, "pt-BR", "pt"),
        (None, "German", "en"),
        (None, "e n", "en"),
        (None, 5, "en"),
        (None, "ja", "ja"),
        ("de", "es", "de"),
        ("EN_us", None, "en"),
        ("zh-Hant-TW", None, "zh"),
    ],
)
def test_the_argument_comes_before_the_documents_and_english_is_the_last_resort(given, of_documents, code):
    assert language_code(given, of_documents) == code


@pytest.mark.parametrize("given", ["", "Spanish", "e", "es es", "es\n", "ес", 5])
def test_an_argument_that_is_no_code_is_refused(given):
    with pytest.raises(InputError, match="the language, expected an ISO 639-1 code"):
        language_code(given, "es")


@pytest.mark.parametrize(
    "language, text, expected",
    [
        # The stems are in Snowball's published vocabularies (snowballstem.org).
        ("es", "Los COBROS y el cobro", ["cobr", "cobr"]),
        ("en", "The generations of generously running dogs", ["generat", "generous", "run", "dog"]),
        ("de", "Die Häuser und das Haus", ["haus", "haus"]),
        ("hu", "és a", ["és"]),  # a stemmer, but no stop word list
        ("ja", "テスト test_1 x Tests", ["テスト", "test_1", "tests"]),  # neither
        ("en", "\ud800 bad\ud800text \x00 zero\x00byte", ["bad", "text", "zero", "byte"]),
        ("en", "", []),
    ],
)
def test_text_becomes_lower_case_words_without_stop_words_stemmed(language, text, expected):
    assert terms(text, language) == expected


def test_documents_and_queries_are_read_alike():
    text = "The running dogs and the dog ran; Running"
    numbered = Terms("en")
    numbers = numbered.of(text)
    of_number = {number: term for term, number in numbered.numbers.items()}
    assert [of_number[number] for number in numbers] == terms(text, "en") == ["run", "dog", "dog", "ran", "run"]
    assert numbers == [0, 1, 1, 2, 0]


def test_every_language_named_has_what_is_said():
    assert set(Stemmer.algorithms()) - set(STEMMERS.values()) <= {"porter", "dutch_porter"}  # older ones of two
    assert {"nn"} == {code for code in STEMMERS if STEMMERS[code] == "norwegian" and not stop_words(code)}
    for code, word in {"en": "the", "es": "los", "de": "und", "fr": "les", "it": "gli", "nl": "het", "pt": "uma",
                       "ru": "что", "sv": "och", "no": "og", "nb": "og", "da": "og", "tr": "ama", "ko": "및",
                       "zh": "的"}.items():  # fmt: skip
        assert word in stop_words(code), code
    assert len(STOP_WORDS) == 15
