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


@given(st.dictionaries(IDS, st.dictionaries(IDS, st.floats(allow_nan=False, allow_infinity=False), max_size=5)), IDS)
def test_a_saved_fake_holds_the_same_run(run, other):
    fake = FakeRetriever(run)
    queries = [Query(query_id, "") for query_id in {**run, other: None}]
    with tempfile.TemporaryDirectory() as folder:
        fake.save(Path(folder) / "fake")
        assert rankings(FakeRetriever.load(Path(folder) / "fake").search(queries)) == rankings(fake.search(queries))
