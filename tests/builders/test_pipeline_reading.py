"""What the stages of a build leave is read as it was written."""

import json

import pytest

from builders.pipeline import reading
from builders.pipeline.records import Lacking, Summary
from builders.pipeline.step import Made, run, summary_of
from builders.pipeline.work import Work, write_lines
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


@pytest.mark.parametrize(
    "told",
    [
        {"supports": "01"},
        {"supports": None},
        {"supports": [True]},
        {"supports": [0.0]},
        {"supports": [[0]]},
        {"supports": {"0": 1}},
        {"query_id": 5},
        {"doc_id": None},
        {"call_id": ["a"]},
        {"corrected": "x"},
    ],
)
def test_a_label_of_other_types_is_refused_with_its_line(work, told):
    path = work.path / "support" / "labels.jsonl"
    first, *rest = map(json.loads, path.read_text().splitlines())
    write_lines(path, [*rest, first | told])
    with pytest.raises(InputError, match=rf"labels\.jsonl:{len(made.SUPPORTS)}, expected a label"):
        reading.labels_of(work)


@pytest.mark.parametrize("line", [{"documents": "docs/d01"}, {"documents": [1]}, {"query_id": None}, {"call_id": {}}])
def test_an_order_of_other_types_is_refused(work, line):
    told = {"call_id": "c", "query_id": "q1", "documents": ["docs/d01"], **line}
    write_lines(work.path / "support" / "orders.jsonl", [told])
    with pytest.raises(InputError, match=r"orders\.jsonl"):
        reading.orders_of(work)


@pytest.mark.parametrize(
    "stage, file",
    [
        ("questions", "queries/test-00000-of-00001.parquet"),
        ("corpus", "corpus/corpus-00000-of-00001.parquet"),
        ("nuggets", "calls.jsonl"),
        ("queries", "searches.jsonl"),
        ("pool", "runs/answer/bm25.parquet"),
        ("support", "labels.jsonl"),
    ],
)
def test_files_that_are_not_those_that_the_stage_made_are_refused(work, stage, file):
    path = work.path / stage / file
    content = path.read_bytes()
    assert work.digest(stage)
    path.write_bytes(content.replace(b"0", b"1"))
    with pytest.raises(InputError, match=rf"{stage}', expected what the stage made.*run the stage {stage} again"):
        work.digest(stage)
    path.write_bytes(content)
    assert work.digest(stage)


@pytest.mark.parametrize(
    "stage, file", [("questions", "answers.jsonl"), ("questions", "dropped.jsonl"), ("corpus", "dropped.jsonl")]
)
@pytest.mark.parametrize("left", [None, b'{"id": "p7"}\n'])
def test_lists_beside_a_table_that_are_not_those_that_were_written_are_refused(work, stage, file, left):
    path = work.path / stage / file
    content = path.read_bytes()
    path.unlink() if left is None else path.write_bytes(left)
    with pytest.raises(InputError, match=rf"{stage}', expected what the stage made.*run the stage {stage} again"):
        work.digest(stage)
    path.write_bytes(content)
    assert work.digest(stage)


@pytest.mark.parametrize("stage", ["questions", "corpus"])
def test_a_folder_that_was_made_before_lists_had_digests_is_read(work, stage):
    about = work.path / stage / f"{stage}.json"
    told = json.loads(about.read_text())
    del told["lists"]
    about.write_text(json.dumps(told))
    (work.path / stage / "dropped.jsonl").unlink()
    assert work.digest(stage)


@pytest.mark.parametrize("lists", [None, [], "x", {"dropped.jsonl": None}, {"a\0b": ""}, {"": ""}])
def test_what_is_no_account_of_lists_is_refused(work, lists):
    about = work.path / "questions" / "questions.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"lists": lists}))
    with pytest.raises(InputError, match="expected what the stage made"):
        work.digest("questions")


class _After:
    """A stage that is made of earlier ones, whose text is its only file."""

    def __init__(self, name, *earlier, text="one"):
        self.name, self.earlier, self.text = name, earlier, text

    def key(self, work):
        return {"text": self.text, **{stage: work.digest(stage) for stage in self.earlier}}

    def make(self, work, folder):
        (folder / "text").write_text(self.text)
        return Summary({})


def test_a_stage_is_refused_when_one_that_it_was_made_of_was_made_anew_since(tmp_path):
    work = made.made_work(tmp_path, until="corpus")
    nuggets, queries, pool = _After("nuggets", "questions"), _After("queries", "nuggets"), _After("pool", "queries")
    for stage in (nuggets, queries, pool):
        run(stage, work)
    assert work.digest("pool")
    run(_After("nuggets", "questions", text="two"), work)
    for stage in ("queries", "pool"):  # the pool too, though the queries are as they were
        with pytest.raises(InputError, match=r"was made of what the stage nuggets made before; run the stage"):
            work.digest(stage)
    run(nuggets, work)
    assert run(queries, work) == Made("queries", Summary({}), kept=True)
    assert work.digest("pool")


@pytest.mark.parametrize("name", ["counts", "models", "prompts", "settings", "warnings"])
@pytest.mark.parametrize("value", [None, 5, "x", [1], {"a": [5]}])
def test_a_summary_of_other_types_is_refused(work, name, value):
    about = work.path / "support" / "stage.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {name: value}))
    if name == "settings" and isinstance(value, dict):
        assert summary_of(work, "support").settings == value  # they may hold anything
        return
    with pytest.raises(InputError, match="what the stage support says of itself is damaged"):
        summary_of(work, "support")


@pytest.mark.parametrize("table", [None, 5, [1], {}, {"digest": 5}])
def test_a_table_without_a_digest_is_refused(work, table):
    about = work.path / "corpus" / "corpus.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"table": table}))
    with pytest.raises(InputError, match="has no digest"):
        work.digest("corpus")
