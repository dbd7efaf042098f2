"""From text to terms, by language."""

from types import SimpleNamespace

import pytest
import Stemmer

from freshstack_datasets.errors import InputError
from freshstack_datasets.records import language_code
from freshstack_datasets.retrieval.language import (
    STEMMERS,
    STOP_WORDS,
    TermNumbers,
    chosen_language,
    detected_language,
    find_words,
    languages_of,
    query_language,
    stop_words,
    terms,
)


@pytest.mark.parametrize(
    "given, code", [("de", "de"), ("EN_us", "en"), ("zh-Hant-TW", "zh"), ("pt-BR", "pt"), ("ja", "ja"), ("spa", "spa")]
)
def test_a_language_is_known_by_its_code_without_the_region(given, code):
    assert language_code(given) == code
    assert chosen_language(given) == code


@pytest.mark.parametrize("given", ["", "Spanish", "e", "es es", "es\n", "ес", 5, None])
def test_what_is_no_code_is_none_and_refused_as_an_argument(given):
    assert language_code(given) is None
    with pytest.raises(InputError, match="the language, expected an ISO 639-1 code"):
        chosen_language(given)


@pytest.mark.parametrize(
    "said, codes",
    [
        ({}, ("en",)),
        ({"language": None}, ("en",)),
        ({"language": "German"}, ("en",)),
        ({"language": "pt-BR"}, ("pt",)),
        ({"languages": ()}, ("en",)),
        ({"languages": (), "language": "es"}, ("es",)),
        ({"languages": ("es", "en"), "language": "de"}, ("es", "en")),
        ({"languages": ["pt-BR", "es", "pt", "ES"]}, ("pt", "es")),  # regions are no languages
        ({"languages": ("German", None, 5, "fr")}, ("fr",)),
        ({"languages": ("German", "e n")}, ("en",)),
        ({"languages": "es"}, ("en",)),  # no tuple of codes
    ],
)
def test_a_corpus_is_in_the_languages_that_it_says_and_in_english_when_it_says_none(said, codes):
    assert languages_of(SimpleNamespace(**said)) == codes


@pytest.mark.parametrize(
    "text, languages, language",
    [
        # es: la, en, la = 3; en: none. "no" is a stop word of both, and "a" is too short for a word.
        ("la copia en la nube", ("en", "es"), "es"),
        ("the copy in the cloud", ("es", "en"), "en"),
        # "no", "no", "no" count for both: 3 against 3 + "se".
        ("no no no se borra", ("en", "es"), "es"),
        ("no no no borra", ("en", "es"), "en"),  # 3 against 3: the main one
        ("no no no borra", ("es", "en"), "es"),
        # Each occurrence counts, not each word: the, the, the against el, la.
        ("el la the the the", ("es", "en"), "en"),
        ("ERR-4012", ("es", "en"), "es"),  # none at all
        ("ERR-4012", ("en", "es"), "en"),
        ("", ("en", "es"), "en"),
        # Languages without a list: never, but as the main one where the others have no stop word.
        ("the cloud", ("hu", "en"), "en"),
        ("felhő", ("hu", "en"), "hu"),
        ("a felhő és az", ("en", "hu"), "en"),
        ("felhő", ("hu", "ja"), "hu"),
        # Of three: el, que (es, pt has "que" too); de is of es, pt and fr. es 3, pt 2, fr 1.
        ("el de que", ("fr", "pt", "es"), "es"),
        # fr and es are equal with "les" (both), pt has none: the one of more queries, here fr, though pt is the main.
        ("les", ("pt", "fr", "es"), "fr"),
        ("the", ("es",), "es"),  # nothing to choose
    ],
)
def test_a_text_is_in_the_language_of_most_of_its_stop_words(text, languages, language):
    assert detected_language(text.split(), languages) == language


CODE = """
for name in names:
    if name not in known and name is not None:
        raise ValueError(name)
"""


def test_code_is_outvoted_by_a_few_sentences_and_decides_alone():
    # CODE has the English stop words for, in, if, not, in, and, is, not: 8. None is Spanish.
    code = find_words(CODE.lower())
    assert detected_language(code, ("es", "en")) == "en"
    # Spanish: el, no, está, en, la, se, con, un, que, el, de, la = 12, and English 8 + "no" = 9.
    prose = find_words("si el nombre no está en la lista, se responde con un error que dice el código de la cuenta")
    assert detected_language(prose + code, ("en", "es")) == "es"
    assert detected_language(prose + code + code, ("es", "en")) == "en"  # 17 against 12


@pytest.mark.parametrize(
    "said, text, language",
    [
        ("es", "the charge of the month", "es"),
        ("EN-gb", "el cargo del mes", "en"),
        ("fr", "the charge of the month", "es"),  # a language that the dataset does not have: the main one
        (None, "the charge of the month", "en"),
        (None, "¿Está el cargo en la cuenta?", "es"),
        (None, "duplicate charge", "es"),  # no stop word
        ("English", "The charge of the month", "en"),  # no code
        ("", "the charge", "en"),
    ],
)
def test_a_query_is_in_its_own_language_or_in_that_of_its_stop_words_when_it_says_none(said, text, language):
    assert query_language(said, text, ("es", "en")) == language
    assert query_language(said, text, ("de",)) == "de"


def test_a_query_is_in_the_language_it_says_where_documents_can_be_in_it():
    # Hungarian has no stop words, which documents are told by: they are in it where it is the main one alone.
    assert query_language("hu", "the cloud", ("en", "hu")) == "en"
    assert query_language("hu", "the cloud", ("hu", "en")) == "hu"
    assert query_language("en", "the cloud", ("hu", "en")) == "en"


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
    numbered = TermNumbers(("en",))
    numbers = numbered.of(text)
    of_number = {number: term for term, number in numbered.vocabulary.items()}
    assert [of_number[number] for number in numbers] == terms(text, "en") == ["run", "dog", "dog", "ran", "run"]
    assert numbers == [0, 1, 1, 2, 0]


def test_terms_of_all_languages_are_one_vocabulary():
    numbered = TermNumbers(("es", "en"))
    # Snowball: cobros -> cobr in Spanish, charges -> charg in English; err and 4012 stay as they are in both.
    assert numbered.of("Los cobros de ERR-4012") == [0, 1, 2]
    assert numbered.of("The charges of ERR-4012") == [3, 1, 2]
    assert numbered.of("cobro") == [0]
    assert list(numbered.vocabulary) == ["cobr", "err", "4012", "charg"]  # no term that no text holds


def test_every_language_named_has_what_is_said():
    assert set(Stemmer.algorithms()) - set(STEMMERS.values()) <= {"porter", "dutch_porter"}  # older ones of two
    assert {"nn"} == {code for code in STEMMERS if STEMMERS[code] == "norwegian" and not stop_words(code)}
    for code, word in {"en": "the", "es": "los", "de": "und", "fr": "les", "it": "gli", "nl": "het", "pt": "uma",
                       "ru": "что", "sv": "och", "no": "og", "nb": "og", "da": "og", "tr": "ama", "ko": "및",
                       "zh": "的"}.items():  # fmt: skip
        assert word in stop_words(code), code
    assert len(STOP_WORDS) == 15
