"""What the stages of a build leave is read as it was written."""

import json

import pytest

from builders.pipeline import reading
from builders.pipeline.records import Lacking
from builders.pipeline.work import Work
from freshstack_datasets.errors import InputError
from tests.builders import pipeline_made as made


@pytest.fixture
def work(tmp_path):
    return made.made_work(tmp_path)


def test_questions_come_by_id_with_their_answers(work):
    questions = reading.questions_of(work)
    assert [(q.query_id, q.title, q.body, q.answer_text) for q in questions] == [
        (query_id, *texts) for query_id, texts in made.QUESTIONS.items()
    ]
    assert questions[0].tags == ("tidepool",)


def test_documents_are_looked_up_and_gone_through(work):
    corpus = reading.topic_corpus(work)
    assert len(corpus) == 12
    assert list(corpus.ids) == sorted(made.DOCUMENTS)
    assert corpus["docs/d04"].text == made.DOCUMENTS["docs/d04"]
    assert [d.doc_id for d in corpus.get_many(["docs/d12", "docs/d01"])] == ["docs/d12", "docs/d01"]
    assert corpus.language == "en"


def test_nuggets_come_by_question_in_their_order(work):
    found = reading.nuggets_of(work)
    assert {q: tuple(n.text for n in nuggets) for q, nuggets in found.items()} == made.NUGGETS_OF
    assert [n.nugget_id for n in found["q2"]] == ["q2_0", "q2_1", "q2_2"]
    assert reading.nugget_calls_of(work)["q3"] == (made.call_id("nuggets", "q3"),)


def test_searches_pools_labels_and_orders_are_read(work):
    assert len(reading.searches_of(work)) == 4 * 5
    assert reading.pool_of(work) == {q: sorted(documents) for q, documents in made.POOL.items()}
    assert {(one.query_id, one.doc_id): one.supports for one in reading.labels_of(work)} == made.SUPPORTS
    call = made.call_id("support", "q3")
    assert reading.orders_of(work)[call] == ("q3", ("docs/d08", "docs/d04"))
    assert reading.lacking_of(work, "support") == [
        Lacking("q2", "does-not-fit", "no JSON", "docs/d12", (made.call_id("support", "q2"),))
    ]
    assert reading.lacking_of(work, "nuggets") == []


def test_a_stage_that_is_not_done_is_named_with_what_makes_it(tmp_path):
    with pytest.raises(InputError, match=r"python -m builders nuggets TOPIC\.yaml --work"):
        reading.nuggets_of(made.made_work(tmp_path, until="corpus"))


@pytest.mark.parametrize(
    "stage, file, read",
    [
        ("questions", "queries/test-00000-of-00001.parquet", reading.questions_of),
        ("corpus", "corpus/corpus-00000-of-00001.parquet", reading.topic_corpus),
        ("nuggets", "nuggets/test-00000-of-00001.parquet", reading.nuggets_of),
        ("nuggets", "calls.jsonl", reading.nugget_calls_of),
        ("queries", "searches.jsonl", reading.searches_of),
        ("pool", "pool.parquet", reading.pool_of),
        ("support", "labels.jsonl", reading.labels_of),
        ("support", "orders.jsonl", reading.orders_of),
    ],
)
@pytest.mark.parametrize("content", [b"\xff\x00garbage", b"{", b"[1]\n", json.dumps({"x": 1}).encode() + b"\n", None])
def test_a_damaged_file_is_an_error_that_names_the_stage(work: Work, stage, file, read, content):
    path = work.path / stage / file
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(InputError, match=stage):
        read(work)
