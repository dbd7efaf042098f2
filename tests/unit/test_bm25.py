"""BM25: what it finds, in which order, and what it refuses."""

import subprocess
import sys

import pytest

from freshstack_datasets.errors import InputError, RecordError, RunError
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import BM25, Retriever

FRUIT = [
    Document("a", "red", "apple"),
    Document("b", "", "red red pear plum"),
    Document("c", "green", "pear kiwi"),
]


class InLanguage(list):
    def __init__(self, documents, language):
        super().__init__(documents)
        self.language = language


def found(retriever, text, k=100):
    return retriever.search([Query("q", text)], k)["q"]


def test_scores_are_those_of_lucenes_formula_by_hand():
    # N = 3 documents of 2, 4 and 3 terms, mean length 3; "red" is in n = 2 of them.
    # idf = ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6 = 0.470004, and k1 = 0.9, b = 0.4, no factor (k1 + 1):
    # a: f = 1, length 2: 1 / (1 + 0.9 (0.6 + 0.4 · 2/3)) = 1 / 1.78 = 0.561798; score 0.264047
    # b: f = 2, length 4: 2 / (2 + 0.9 (0.6 + 0.4 · 4/3)) = 2 / 3.02 = 0.662252; score 0.311261
    ranking = found(BM25().index(FRUIT), "red")
    assert list(ranking) == ["b", "a"]
    assert ranking == {"b": pytest.approx(0.311261, abs=1e-6), "a": pytest.approx(0.264047, abs=1e-6)}


def test_a_term_that_the_query_holds_twice_counts_twice():
    once, twice = (found(BM25().index(FRUIT), text) for text in ("kiwi", "kiwi kiwi"))
    assert twice["c"] == pytest.approx(2 * once["c"], rel=1e-6)


def test_the_parameters_are_those_of_the_formula():
    # k1 = 0 leaves the idf alone: ln(1 + 2.5/1.5) for "apple", which one document of three holds.
    assert found(BM25(k1=0).index(FRUIT), "apple") == {"a": pytest.approx(0.980829, abs=1e-6)}
    # b = 0 lets the length out, k1 = 1: idf · 1 / 2.
    assert found(BM25(k1=1, b=0).index(FRUIT), "apple") == {"a": pytest.approx(0.490415, abs=1e-6)}


def test_title_and_text_are_searched():
    assert set(found(BM25().index(FRUIT), "green apple")) == {"a", "c"}


def test_of_equal_documents_the_larger_ids_stay_at_the_cut():
    documents = [Document(doc_id, "", "same words") for doc_id in ("d2", "d10", "d1", "d3")]
    retriever = BM25().index(documents)
    assert list(found(retriever, "words", 2)) == ["d3", "d2"]  # as strings: d1 < d10 < d2 < d3
    assert list(found(retriever, "words", 9)) == ["d3", "d2", "d10", "d1"]


@pytest.mark.parametrize("text", ["", " \n", "the of and", "x ! ?", "nowhere"])
def test_a_query_that_finds_nothing_is_in_the_run_without_documents(text):
    run = BM25().index(FRUIT).search([Query("q", text), Query("p", "kiwi")])
    assert run.query_ids == ("q", "p")
    assert run["q"] == {}
    assert list(run["p"]) == ["c"]


@pytest.mark.parametrize("documents", [[], [Document("a", "", "")], [Document("a", "", "the"), Document("b", "?", "")]])
def test_a_corpus_without_any_term_finds_nothing(documents, tmp_path):
    retriever = BM25().index(documents)
    retriever.save(tmp_path / "index")
    for searched in (retriever, BM25.load(tmp_path / "index")):
        assert searched.search([Query("q", "the words")]).to_dict() == {"q": {}}


def test_a_document_without_terms_is_never_found_and_counts_for_the_mean_length():
    # N = 2, n = 1: idf = ln 2 = 0.693147; lengths 2 and 0, mean 1; 1 / (1 + 0.9 (0.6 + 0.4 · 2)) = 1 / 2.26
    ranking = found(BM25().index([Document("a", "", "two words"), Document("b", "", "of the")]), "words")
    assert ranking == {"a": pytest.approx(0.306702, abs=1e-6)}


def test_one_document_is_found_although_every_document_holds_the_term():
    # N = n = 1: idf = ln(1 + 0.5 / 1.5) = 0.287682; length = mean length: 1 / 1.9
    assert found(BM25().index([Document("a", "", "word")]), "word") == {"a": pytest.approx(0.151412, abs=1e-6)}


def test_no_query_gives_an_empty_run():
    assert BM25().index(FRUIT).search([]).to_dict() == {}


def test_indexing_again_replaces_what_was_there():
    retriever = BM25().index(FRUIT).index([Document("z", "", "kiwi")])
    assert list(found(retriever, "kiwi pear")) == ["z"]


def test_indexing_reads_documents_one_at_a_time_and_once():
    alive = []

    def stream():
        for document in FRUIT:
            alive.append(document.doc_id)
            yield document

    assert list(found(BM25().index(stream()), "kiwi")) == ["c"]
    assert alive == ["a", "b", "c"]


def test_a_document_that_comes_twice_is_refused():
    with pytest.raises(RecordError, match="document 'a', expected each id once"):
        BM25().index([*FRUIT, Document("a", "", "other")])


def test_something_that_is_no_document_is_refused():
    with pytest.raises(InputError, match=r"expected documents, got 'some text' \(str\)"):
        BM25().index(["some text"])
    with pytest.raises(InputError, match=r"the corpus, expected documents, got None \(NoneType\)"):
        BM25().index(None)


def test_a_query_that_comes_twice_is_refused():
    with pytest.raises(RunError, match="query 'q', expected each query once"):
        BM25().index(FRUIT).search([Query("q", "red"), Query("q", "pear")])


@pytest.mark.parametrize("k", [0, -1, 1.5, "3", None])
def test_a_k_that_is_no_number_of_documents_is_refused(k):
    with pytest.raises(InputError, match="expected a whole number, at least 1"):
        BM25().index(FRUIT).search([Query("q", "red")], k)


@pytest.mark.parametrize("call", [lambda r: r.search([]), lambda r: r.save("nowhere")])
def test_without_an_index_the_error_says_how_to_make_one(call):
    with pytest.raises(InputError, match=r"call index\(documents\) first"):
        call(BM25())


@pytest.mark.parametrize(
    "arguments",
    [{"k1": -0.1}, {"k1": float("nan")}, {"k1": float("inf")}, {"k1": "1"}, {"b": 1.01}, {"b": -1}, {"b": 10**400}],
)
def test_parameters_out_of_range_are_refused(arguments):
    with pytest.raises(InputError, match=f"the parameter {next(iter(arguments))} of BM25, expected a number from 0"):
        BM25(**arguments)


def test_spanish_documents_are_read_as_spanish():
    documents = InLanguage([Document("a", "", "los cobros del mes"), Document("b", "", "las facturas")], "es")
    retriever = BM25().index(documents)
    assert list(found(retriever, "un cobro")) == ["a"]
    assert found(retriever, "los") == {}  # a stop word


def test_the_argument_overrules_the_language_of_the_documents():
    documents = InLanguage([Document("a", "", "los cobros")], "es")
    assert list(found(BM25("en").index(documents), "los")) == ["a"]
    # English takes the s away but not the o, so "cobro" and "cobros" meet there too; "cobrar" meets in Spanish only.
    assert list(found(BM25().index(documents), "cobrar")) == ["a"]
    assert found(BM25("en").index(documents), "cobrar") == {}


def test_documents_that_say_no_language_are_read_as_english():
    for documents in (list(FRUIT), InLanguage(FRUIT, None), InLanguage(FRUIT, "Fruitish")):
        assert list(found(BM25().index(documents), "the apples")) == ["a"]


BILINGUAL = InLanguage(
    [
        Document("en", "", "The charges of the month, with ERR-4012"),
        Document("es", "", "Los cobros del mes, con ERR-4012"),
        Document("?", "", "cobros charges"),  # no stop word
    ],
    "es",
)
BILINGUAL.languages = ("es", "en")


@pytest.mark.parametrize(
    "text, language, expected",
    [
        # Stems of Snowball. Spanish: cobros, cobrar -> cobr; charges -> charg; charging stays. English: charges,
        # charging, charged -> charg; cobros -> cobro; cobrar stays. "?" is read in Spanish.
        ("cobrar", "es", {"es", "?"}),
        ("charging", "en", {"en", "?"}),
        ("charging", "es", set()),
        ("cobrar", "en", set()),
        ("err 4012", "es", {"en", "es"}),
        ("err 4012", "en", {"en", "es"}),
        ("charging the", None, {"en", "?"}),
        ("cobrar los", None, {"es", "?"}),
        ("cobrar", None, {"es", "?"}),  # nothing tells it: the main one
        ("charging", None, set()),
        ("cobrar the", "fr", {"es", "?"}),  # no language of the dataset: the main one
        ("charging the", "English", {"en", "?"}),  # no code: by its stop words
    ],
)
def test_documents_and_queries_of_two_languages_are_each_read_in_their_own(text, language, expected):
    run = BM25().index(BILINGUAL).search([Query("q", text, language=language)])
    assert set(run["q"]) == expected


def test_a_query_whose_language_no_document_is_in_finds_what_has_the_same_stem():
    documents = InLanguage([Document("a", "", "los cobros de ERR-4012"), Document("b", "", "la factura")], "es")
    documents.languages = ("es", "en")
    retriever = BM25().index(documents)
    # In English "the" is a stop word and "cobrar" is no form of "cobros".
    for text, expected in (("the ERR code", ["a"]), ("cobrar", []), ("facturas", [])):
        assert list(retriever.search([Query("q", text, language="en")])["q"]) == expected


def test_a_query_in_a_language_that_no_document_can_be_read_in_is_read_as_the_documents_are():
    # There is no list of Hungarian stop words, so that documents are read in English, which leaves "felhőben" as it
    # is; Snowball's Hungarian would make "felhő" of it in the query alone, and the same word would not be found.
    documents = InLanguage([Document("hu", "", "a dokumentumok a felhőben"), Document("en", "", "the cloud")], "en")
    documents.languages = ("en", "hu")
    retriever = BM25().index(documents)
    for said in ("hu", None):
        assert list(retriever.search([Query("q", "felhőben", language=said)])["q"]) == ["hu"]


def test_the_argument_reads_documents_and_queries_of_several_languages_in_one():
    run = BM25("es").index(BILINGUAL).search([Query("q", "charging", language="en"), Query("p", "los", language="en")])
    assert run.to_dict() == {"q": {}, "p": {}}


def test_it_is_a_retriever():
    assert isinstance(BM25(), Retriever)


def test_importing_the_package_loads_neither_bm25s_nor_a_stemmer():
    code = (
        "import sys, freshstack_datasets.retrieval as r; r.BM25('es');"
        "print(sorted({'bm25s', 'Stemmer', 'pyarrow', 'rich'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"


def test_the_public_names_are_sorted_and_there():
    import freshstack_datasets.retrieval as retrieval

    assert sorted(retrieval.__all__) == retrieval.__all__
    assert all(hasattr(retrieval, name) for name in retrieval.__all__)
