"""BM25 against Lucene's formula written out, and against bm25s used in its own way."""

import math
import random
from collections import Counter

import bm25s
import pytest
import Stemmer

from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import BM25


def lucene(corpus, query, k1, b):
    """Score token lists by Kamphuis et al. (ECIR 2020), table 1, row "Lucene (accurate)", without its factor k1 + 1.

    Lucene dropped that factor in release 8 (LUCENE-8563): it changes no ranking.
    """
    mean = sum(map(len, corpus.values())) / len(corpus)
    scores = {}
    for doc_id, tokens in corpus.items():
        counts = Counter(tokens)
        for term in query:
            if counts[term]:
                n = sum(term in other for other in corpus.values())
                idf = math.log(1 + (len(corpus) - n + 0.5) / (n + 0.5))
                tf = counts[term] / (counts[term] + k1 * (1 - b + b * len(tokens) / mean))
                scores[doc_id] = scores.get(doc_id, 0.0) + idf * tf
    return scores


@pytest.mark.parametrize("seed", range(30))
def test_scores_are_those_of_the_formula_on_random_corpora(seed):
    rng = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(rng.choice([3, 20, 200]))]
    weights = [1 / (i + 1) for i in range(len(vocabulary))]
    corpus = {f"d{i}": rng.choices(vocabulary, weights, k=rng.randint(0, 40)) for i in range(rng.choice([1, 7, 60]))}
    corpus["d0"].append("w0")
    queries = {f"q{i}": rng.choices([*vocabulary, "unknown"], k=rng.randint(1, 15)) for i in range(5)}
    k1, b = rng.choice([(0.9, 0.4), (1.5, 0.75), (0.0, 0.3), (2.0, 0.0), (1.2, 1.0)])

    retriever = BM25("ja", k1, b)  # no stop words, no stems: the words are the terms
    retriever.index([Document(doc_id, "", " ".join(tokens)) for doc_id, tokens in corpus.items()])
    run = retriever.search([Query(query_id, " ".join(tokens)) for query_id, tokens in queries.items()], 1000)

    for query_id, tokens in queries.items():
        assert run[query_id] == pytest.approx(lucene(corpus, tokens, k1, b), rel=1e-5)


@pytest.mark.parametrize(
    "language, algorithm, texts",
    [
        (
            "en",
            "english",
            [
                "Loading the documents lazily",
                "A document is loaded; documents load.",
                "Unrelated words",
                "Lazy loaders",
            ],
        ),
        (
            "es",
            "spanish",
            ["Los cobros del mes", "El cobro se hizo ayer", "Cobrar las facturas", "Una factura sin cobrar"],
        ),
    ],
)
def test_scores_are_bm25s_own_to_the_last_bit(language, algorithm, texts):
    stem = Stemmer.Stemmer(algorithm)
    tokens = bm25s.tokenize(texts, stopwords=language, stemmer=stem, show_progress=False)
    peer = bm25s.BM25(k1=0.9, b=0.4, method="lucene")
    peer.index(tokens, show_progress=False)
    retriever = BM25(language).index([Document(f"d{i}", "", text) for i, text in enumerate(texts)])
    for query in (texts[0], "documents documents", "cobros", "factura y cobro"):
        [asked] = bm25s.tokenize([query], stopwords=language, stemmer=stem, return_ids=False, show_progress=False)
        known = [token for token in asked if token in tokens.vocab]
        scores = peer.get_scores(known).tolist() if known else []
        expected = {f"d{i}": score for i, score in enumerate(scores) if score}
        assert retriever.search([Query("q", query)])["q"] == expected
