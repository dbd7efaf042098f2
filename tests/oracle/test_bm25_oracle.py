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


class TwoLanguages(list):
    languages = ("es", "en")


BOTH = {
    "es-1": ("es", "ERR-4012: los cobros del mes no se hicieron en la cuenta"),
    "es-2": ("es", "Para cobrar la factura, el sistema responde con un código: if not paid raise ERR-4013"),
    "es-3": ("es", "Nimbus borrador 4012"),  # no stop word: the language of most queries
    "en-1": ("en", "ERR-4012: the charges of the month were not made to the account"),
    "en-2": ("en", "No charge is made, and no account is charged in error, for Nimbus or the like"),
    "en-3": ("en", "for name in names: if name is not charged: raise Error(4012)"),
    "en-4": ("en", "The la carte storage is on the el train"),  # the, is, on, the against la, el
}
ASKED = {
    "q1": ("es", "es", "¿Por qué se cobró dos veces? ERR-4012"),
    "q2": ("en", "en", "why was I charged twice, accounts of Nimbus"),
    "q3": (None, "es", "cobrando la factura"),
    "q4": (None, "en", "the charging of accounts"),
    "q5": (None, "es", "charging 4012"),  # no stop word
    "q6": ("fr", "es", "the cobros"),  # the dataset has no French; in Spanish "the" is a word
    "q7": ("en", "en", "los cobros for ERR-4012"),
}
PEERS = {
    "es": (Stemmer.Stemmer("spanish"), set(bm25s.stopwords.STOPWORDS_SPANISH)),
    "en": (Stemmer.Stemmer("english"), set(bm25s.stopwords.STOPWORDS_EN)),
}


def tokens_by_peers(language, text):
    [words] = bm25s.tokenize([text], stopwords=[], return_ids=False, show_progress=False)
    stemmer, without = PEERS[language]
    return stemmer.stemWords([word for word in words if word not in without])


def test_scores_over_two_languages_are_those_of_each_text_tokenised_in_its_own():
    corpus = {doc_id: tokens_by_peers(language, text) for doc_id, (language, text) in BOTH.items()}
    retriever = BM25().index(TwoLanguages(Document(doc_id, "", text) for doc_id, (_, text) in BOTH.items()))
    run = retriever.search([Query(query_id, text, language=said) for query_id, (said, _, text) in ASKED.items()])

    peer = bm25s.BM25(k1=0.9, b=0.4, method="lucene")
    peer.index(list(corpus.values()), show_progress=False)
    for query_id, (_, language, text) in ASKED.items():
        tokens = tokens_by_peers(language, text)
        assert run[query_id] == pytest.approx(lucene(corpus, tokens, 0.9, 0.4), rel=1e-5)
        scores = peer.get_scores([token for token in tokens if token in peer.vocab_dict]).tolist()
        assert run[query_id] == {doc_id: score for doc_id, score in zip(corpus, scores, strict=True) if score}
        assert run[query_id], query_id


@pytest.mark.parametrize("seed", range(10))
def test_scores_over_random_texts_of_two_languages_are_those_of_the_formula(seed):
    rng = random.Random(seed)
    shared = ["no", "err", "4012", "nimbus", "backup"]  # "no" is a stop word of both
    own = {
        "es": ["el", "la", "de", "que", "cobro", "cobros", "cobrar", "borrado", "borrar", "facturas", "running"],
        "en": ["the", "of", "and", "is", "charge", "charges", "charging", "deleted", "delete", "accounts", "cobros"],
    }
    said = {f"d{i}": rng.choice(["es", "es", "en"]) for i in range(40)}
    texts = {d: rng.choices([*shared, *own[language]], k=rng.randint(0, 25)) for d, language in said.items()}
    for doc_id, language in said.items():
        if not set(texts[doc_id]) & set(own[language][:4]):  # nothing tells it but "no"
            said[doc_id] = "es"
    corpus = {doc_id: tokens_by_peers(said[doc_id], " ".join(words)) for doc_id, words in texts.items()}
    retriever = BM25().index(TwoLanguages(Document(doc_id, "", " ".join(words)) for doc_id, words in texts.items()))
    for language in ("es", "en"):
        text = " ".join(rng.choices([*shared, *own["es"], *own["en"]], k=8))
        run = retriever.search([Query("q", text, language=language)])
        assert run["q"] == pytest.approx(lucene(corpus, tokens_by_peers(language, text), 0.9, 0.4), rel=1e-5)
