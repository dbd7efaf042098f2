"""BM25 on any documents: the cut, the order, what is saved."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import BM25, FakeRetriever

IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=6)
WORDS = st.lists(st.sampled_from(["ab", "cd", "ef", "the", "ñandú", "x1"]), max_size=5).map(" ".join)
ANY_TEXT = st.one_of(WORDS, st.text(max_size=30))  # lone surrogates as well
DOCUMENTS = st.lists(st.builds(Document, IDS, ANY_TEXT, ANY_TEXT), max_size=12, unique_by=lambda d: d.doc_id)
QUERIES = st.lists(st.builds(Query, IDS, ANY_TEXT), max_size=4, unique_by=lambda q: q.query_id)


def rankings(run):
    return {query_id: list(documents.items()) for query_id, documents in run.to_dict().items()}


@given(DOCUMENTS, QUERIES, st.integers(1, 14))
def test_the_cut_is_the_beginning_of_the_whole_ranking_sorted_by_hand(documents, queries, k):
    retriever = BM25().index(documents)
    whole = retriever.search(queries, 1000).to_dict()
    by_hand = {
        query_id: sorted(scores.items(), key=lambda entry: (entry[1], entry[0]), reverse=True)[:k]
        for query_id, scores in whole.items()
    }
    assert rankings(retriever.search(queries, k)) == by_hand
    assert list(whole) == [query.query_id for query in queries]
    assert all(score > 0 for scores in whole.values() for score in scores.values())


@given(DOCUMENTS, QUERIES, st.randoms(use_true_random=False))
def test_the_order_of_the_documents_makes_no_difference(documents, queries, random):
    shuffled = random.sample(documents, len(documents))
    assert rankings(BM25().index(documents).search(queries, 3)) == rankings(BM25().index(shuffled).search(queries, 3))


@settings(max_examples=50)
@given(DOCUMENTS, QUERIES, st.sampled_from([None, "en", "es", "ja"]))
def test_what_is_saved_finds_the_same_to_the_last_bit(documents, queries, language):
    retriever = BM25(language).index(documents)
    with tempfile.TemporaryDirectory() as folder:
        retriever.save(Path(folder) / "index")
        loaded = BM25.load(Path(folder) / "index")
        assert rankings(loaded.search(queries)) == rankings(retriever.search(queries))


class InLanguages(list):
    def __init__(self, documents, languages):
        super().__init__(documents)
        self.languages = languages


SPANISH = ["el", "la", "de", "los", "cobro", "cobros", "cobrar"]
ENGLISH = ["the", "of", "charge", "charges", "charged"]
TWO_TEXTS = st.lists(st.sampled_from([*SPANISH, *ENGLISH, "no", "err", "4012"]), max_size=8).map(" ".join)
TWO_DOCUMENTS = st.lists(st.builds(Document, IDS, st.just(""), TWO_TEXTS), max_size=12, unique_by=lambda d: d.doc_id)
SAID = st.sampled_from([None, "es", "en-GB", "fr", "Spanish"])
TWO_QUERIES = st.lists(
    st.builds(Query, IDS, TWO_TEXTS, language=SAID), min_size=1, max_size=4, unique_by=lambda q: q.query_id
)
SEVERAL = st.sampled_from([("es", "en"), ("en", "es"), ("hu", "en", "es"), ("es", "pt", "en")])


@given(DOCUMENTS, QUERIES, st.sampled_from(["en", "es", "pt-BR", "ja"]))
def test_a_corpus_of_one_language_is_read_as_with_the_argument(documents, queries, language):
    told = BM25().index(InLanguages(documents, (language,)))
    assert rankings(told.search(queries)) == rankings(BM25(language).index(documents).search(queries))


@given(TWO_DOCUMENTS, TWO_QUERIES, SEVERAL)
def test_the_argument_reads_everything_in_one_language(documents, queries, languages):
    told = BM25("es").index(InLanguages(documents, languages))
    assert rankings(told.search(queries)) == rankings(BM25("es").index(documents).search(queries))


@given(TWO_DOCUMENTS, TWO_QUERIES)
def test_a_second_language_that_no_text_is_in_changes_nothing(documents, queries):
    foreign = {"the", "of"}  # the English stop words among the words above, but for "no", which is Spanish as well
    spanish = [
        Document(d.doc_id, "", " ".join(word for word in d.text.split() if word not in foreign)) for d in documents
    ]
    asked = [Query(q.query_id, q.text, language="es") for q in queries]
    told = BM25().index(InLanguages(spanish, ("es", "en")))
    assert rankings(told.search(asked)) == rankings(BM25("es").index(spanish).search(asked))


@given(TWO_DOCUMENTS, TWO_QUERIES, SEVERAL, st.randoms(use_true_random=False))
def test_of_several_languages_the_order_of_the_documents_makes_no_difference(documents, queries, languages, random):
    shuffled = random.sample(documents, len(documents))
    one, other = (BM25().index(InLanguages(order, languages)) for order in (documents, shuffled))
    assert rankings(one.search(queries, 3)) == rankings(other.search(queries, 3))


@settings(max_examples=50)
@given(TWO_DOCUMENTS, TWO_QUERIES, SEVERAL)
def test_what_is_saved_of_several_languages_finds_the_same_to_the_last_bit(documents, queries, languages):
    retriever = BM25().index(InLanguages(documents, languages))
    with tempfile.TemporaryDirectory() as folder:
        retriever.save(Path(folder) / "index")
        assert rankings(BM25.load(Path(folder) / "index").search(queries)) == rankings(retriever.search(queries))


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.floats(allow_nan=False, allow_infinity=False), max_size=5)), IDS)
def test_a_saved_fake_holds_the_same_run(run, other):
    fake = FakeRetriever(run)
    queries = [Query(query_id, "") for query_id in {**run, other: None}]
    with tempfile.TemporaryDirectory() as folder:
        fake.save(Path(folder) / "fake")
        assert rankings(FakeRetriever.load(Path(folder) / "fake").search(queries)) == rankings(fake.search(queries))
