"""``python -m builders stats``: what it prints of snapshots and of what builds wrote, and what it refuses."""

import json
import shutil
import xml.etree.ElementTree as ElementTree

import pyarrow as pa
import pytest

import freshstack_datasets as fsd
from builders.cli import main
from freshstack_datasets.tables.parquet import TableWriter
from freshstack_datasets.tables.schema import CORPUS, QUERIES
from tests.builders import small_dataset


def written(folder, name, table, rows, **changes):
    """What a build writes: a table, and what it says of itself."""
    folder.mkdir(parents=True)
    with TableWriter(folder, table) as writer:
        writer.write_group(pa.Table.from_pylist(rows, table.schema))
    about = {"dataset": "acme/toy", "sources": [], "table": {"file": table.file(), "rows": len(rows)}, "counts": {}}
    (folder / name).write_text(json.dumps(about | changes))
    return folder


ASKED = [
    {"_id": "1", "text": "hello world", "answer_text": "```\nhello\n```", "date": "2023-02-01"},
    {"_id": "2", "text": "Why?\n\n```\nhello\n```", "answer_text": "hello", "date": "2023-11-30T12:00:00Z"},
    {"_id": "3", "text": "hello " * 30, "answer_text": None, "date": None},
    {"_id": "4", "text": "", "answer_text": "", "date": "long ago"},
]
KEPT = [{"_id": "a", "title": "Hello", "text": "world", "metadata": None}, {"_id": "b", "title": "", "text": ""}]
LEAST, MOST = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32], [0, 1, 2, 3, 5, 7, 11, 15, 23, 31, 47]
SOURCES = [{"url": "https://x/y", "commit": "0" * 40}, {"url": "z.jsonl", "sha256": "0" * 64}]


@pytest.fixture
def questions(tmp_path):
    return written(tmp_path / "questions", "questions.json", QUERIES, ASKED)


@pytest.fixture
def corpus(tmp_path):
    return written(tmp_path / "corpus", "corpus.json", CORPUS, KEPT, sources=SOURCES)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return small_dataset.write(tmp_path_factory.mktemp("toy") / "toy")


def printed(capsys, *arguments):
    """The object that a command prints."""
    assert main(["stats", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    """The error that a command ends with, and its code."""
    code = main(["stats", *map(str, arguments)])
    told = capsys.readouterr()
    assert told.out == ""
    return code, told.err.splitlines()[-1]


def test_a_snapshot_has_the_whole_row(capsys, toy):
    found = printed(capsys, toy)
    assert found["table1"] == {
        "queries": 3,
        "documents": 3,
        "repositories": 0,
        "nuggets_per_query": pytest.approx(4 / 3),
        "query_tokens": pytest.approx(35 / 3),  # 2, 31 and 2
        "answer_tokens": 1.5,  # 1 and 2
        "document_tokens": 14,  # 2, 0 and 40
        "query_code_percent": 0,
        "answer_code_percent": 0,
        "relevant_per_nugget": 1.25,
        "relevant_per_query": pytest.approx(4 / 3),
    }
    assert (found["dataset"], found["snapshot"]) == ("acme/toy", "2026-10")
    assert found["fingerprint"] == fsd.load(toy).fingerprint
    assert found["quarters"] == [{"quarter": "2023 Q1", "questions": 1}, {"quarter": "2023 Q4", "questions": 1}]
    assert found["undated"] == 1
    assert found["lengths"]["documents"] == {
        "texts": 3,
        "mean": 14,
        "median": 2,
        "longest": 40,
        "bins": [
            {"least": least, "most": most, "texts": texts}
            for least, most, texts in zip(LEAST, MOST, [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1], strict=True)
        ],
    }


def test_questions_before_there_is_a_snapshot(capsys, questions):
    found = printed(capsys, questions)
    row = found["table1"]
    assert (row["queries"], row["query_code_percent"]) == (4, 25)
    assert row["answer_code_percent"] == pytest.approx(100 / 3)  # of three answers
    unknown = {name for name, value in row.items() if value is None}
    judged = {"nuggets_per_query", "relevant_per_nugget", "relevant_per_query"}
    assert unknown == judged | {"documents", "repositories", "document_tokens"}
    assert (found["snapshot"], found["fingerprint"], found["undated"]) == (None, None, 2)
    assert list(found["lengths"]) == ["questions", "answers"]


def test_a_corpus_before_there_is_a_snapshot(capsys, corpus):
    found = printed(capsys, corpus)
    row = found["table1"]
    known = {name: value for name, value in row.items() if value is not None}
    assert known == {"documents": 2, "repositories": 1, "document_tokens": 1.0}  # "Hello world", and nothing
    assert found["detectable"]["measures"] == {}
    assert found["quarters"] == []


def test_a_table_of_many_batches_is_counted_whole(capsys, tmp_path):
    rows = [{"_id": f"{number:04}", "title": "", "text": "hello" if number % 3 else ""} for number in range(1_000)]
    found = printed(capsys, written(tmp_path / "corpus", "corpus.json", CORPUS, rows))
    assert found["table1"]["documents"] == found["lengths"]["documents"]["texts"] == 1_000
    bins = {bar["least"]: bar["texts"] for bar in found["lengths"]["documents"]["bins"]}
    assert bins == {0: 334, 1: 666}  # 0, 3, …, 999


def test_questions_and_a_corpus_make_one_row_in_any_order(capsys, questions, corpus):
    found = printed(capsys, questions, corpus)
    assert (found["table1"]["queries"], found["table1"]["documents"]) == (4, 2)
    assert found == printed(capsys, corpus, questions)


def test_what_so_many_questions_can_show_is_told_with_what_is_assumed(capsys, toy):
    found = printed(capsys, toy)["detectable"]
    assert (found["queries"], found["kept"], found["power"], found["level"]) == (3, None, 0.8, 0.05)
    assert found["spread"] == "assumed"
    measure = found["measures"]["alpha_nDCG@10"]
    assert measure["spread"] == {"low": 0.24, "high": 0.46}
    # (1.959964 + 0.841621) * s / sqrt(3)
    assert measure["difference"] == pytest.approx({"low": 0.388199, "high": 0.744048}, abs=1e-5)
    assert measure["difference_of_kept"] is None
    # ((1.959964 + 0.841621) * s / d)^2: 180.8 and 664.3; 502.3 and 1,845.4; 1,130.2 and 4,152.1
    assert measure["queries_needed"] == {
        "0.05": {"low": 181, "high": 665},
        "0.03": {"low": 503, "high": 1846},
        "0.02": {"low": 1131, "high": 4153},
    }


def test_questions_that_were_not_filtered_yet_are_told_as_fewer_too(capsys, tmp_path):
    rows = [{"_id": f"{number:03}", "text": "hello"} for number in range(100)]
    questions = written(tmp_path / "questions", "questions.json", QUERIES, rows)
    found = printed(capsys, questions, "--spread", "0.3")["detectable"]
    assert (found["queries"], found["kept"], found["spread"]) == (100, 54, "given")
    for measure in found["measures"].values():
        assert measure["difference"]["low"] == measure["difference"]["high"] == pytest.approx(0.0840475, abs=1e-6)
        assert measure["difference_of_kept"]["low"] == pytest.approx(0.114375, abs=1e-5)  # 0.8404755 / sqrt(54)


def test_runs_tell_how_much_systems_differ(capsys, toy, tmp_path):
    data = fsd.load(toy)
    one = fsd.BM25().index(data.corpus).search(data.queries).named("one")
    fsd.write_run(one, tmp_path / "one.trec")
    fsd.write_run(fsd.Run.from_dict({"q1": {"d2": 1.0}}, name="two"), tmp_path / "two.trec")
    runs = ("--run", tmp_path / "one.trec", "--run", tmp_path / "two.trec")
    found = printed(capsys, toy, *runs)["detectable"]
    assert found["spread"] == "runs"
    assert main(["stats", str(toy), *map(str, runs)]) == 0
    assert "The spread is that of the runs" in capsys.readouterr().out
    compared = fsd.compare(one, {"q1": {"d2": 1.0}}, data).to_json()["measures"]
    assert list(found["measures"]) == list(compared)
    for name, measure in found["measures"].items():
        assert measure["difference"]["low"] == measure["difference"]["high"] == compared[name]["detectable"]


def test_what_people_read(capsys, questions, corpus):
    assert main(["stats", str(questions), str(corpus), "--spread", "0.1,0.2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # tokens of questions 2, 7, 31 and 0, of answers 5, 1 and 0, of documents 2 and 0
    assert [" ".join(line.split()) for line in lines[: lines.index("")]] == [
        "mean, or number acme/toy",
        "queries 4",
        "documents 2",
        "repositories 1",
        "nuggets a query –",
        "tokens of a query 10.0",
        "tokens of an answer 2.0",
        "tokens of a document 1.0",
        "queries with code 25.0 %",
        "answers with code 33.3 %",
        "relevant documents a nugget –",
        "relevant documents a query –",
    ]
    assert "asked 2023 Q1 to 2023 Q4, 2 questions without a date" in lines
    start = next(number for number, line in enumerate(lines) if line.startswith("measure"))
    assert " ".join(lines[start].split()) == "measure spread 4 questions 2 questions for 0.05 for 0.03 for 0.02"
    # 2.801585 * s / 2 and / sqrt(2); (2.801585 * s / d)^2
    numbers = "0.10–0.20 0.140–0.280 0.198–0.396 32–126 88–349 197–785"
    assert " ".join(lines[start + 1].split()) == f"alpha_nDCG@10 {numbers}"
    assert "The spread is what --spread says." in lines
    assert lines[-1] == "The paper's filters left 54 % of its questions; of these they would leave 2."


def test_of_documents_alone_nothing_is_said_of_questions(capsys, corpus):
    assert main(["stats", str(corpus)]) == 0
    out = capsys.readouterr().out
    assert "documents       2   1.0     1.0        2" in out
    assert "asked" not in out
    assert "smallest difference" not in out


def test_one_question_shows_nothing(capsys, tmp_path):
    folder = written(tmp_path / "one", "questions.json", QUERIES, [{"_id": "1", "text": "hello", "date": "1969-12-31"}])
    measure = printed(capsys, folder)["detectable"]["measures"]["Recall@50"]
    assert (measure["difference"], measure["queries_needed"]["0.05"]["low"]) == (None, 139)
    assert main(["stats", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "asked 1969 Q4\n" in out
    assert "1 question " in out


def test_pictures_are_written_and_are_the_same_each_time(capsys, questions, corpus, tmp_path):
    pictures = tmp_path / "deep" / "pictures"
    found = printed(capsys, questions, corpus, "--pictures", pictures)
    paths = [pictures / "questions-per-quarter.svg", pictures / "token-lengths.svg"]
    assert found["pictures"] == [str(path) for path in paths]
    first = [path.read_bytes() for path in paths]
    titles = [ElementTree.fromstring(content)[0].text for content in first]
    assert titles == ["acme/toy: questions by quarter", "acme/toy: lengths in tokens of o200k_base"]
    assert b"Questions: 4, mean" in first[1]
    assert b"Answers: 3, mean" in first[1]
    assert b"Documents: 2, mean" in first[1]
    assert main(["stats", str(questions), str(corpus), "--pictures", str(pictures)]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [str(path) for path in paths]
    assert [path.read_bytes() for path in paths] == first


def test_no_picture_is_made_of_what_there_is_not(capsys, tmp_path):
    folder = written(tmp_path / "questions", "questions.json", QUERIES, [{"_id": "1", "text": "hello"}])
    assert len(printed(capsys, folder, "--pictures", tmp_path / "p")["pictures"]) == 1
    empty = written(tmp_path / "none", "questions.json", QUERIES, [])
    assert printed(capsys, empty, "--pictures", tmp_path / "q")["pictures"] == []


def test_questions_that_are_none_are_counted_as_none(capsys, tmp_path):
    empty = written(tmp_path / "none", "questions.json", QUERIES, [])
    row = printed(capsys, empty)["table1"]
    assert {name: value for name, value in row.items() if value is not None} == {"queries": 0}
    assert main(["stats", str(empty)]) == 0


def test_texts_of_the_originals_tell_nothing_of_code(capsys, tmp_path):
    recipe = {"builder": "oct-2024", "parameters": {"version": 1}}
    folder = small_dataset.write(tmp_path / "old", recipe=recipe, sources=[{"url": "https://x", "commit": "1" * 40}])
    row = printed(capsys, folder)["table1"]
    assert (row["query_code_percent"], row["answer_code_percent"], row["repositories"]) == (None, None, None)
    dataset = {"dataset": "freshstack/yolo", "snapshot": "2024-10"}
    row = printed(capsys, small_dataset.write(tmp_path / "yolo", recipe=recipe, **dataset))["table1"]
    assert row["repositories"] == 5  # table 7 of the paper


def test_it_counts_what_the_command_corpus_wrote(capsys, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Hello\n\nworld\n")
    (tmp_path / "topic.yaml").write_text("name: toy\ndomain: toys\ntags: [toy]\ndocuments:\n  - {path: docs}\n")
    assert main(["corpus", str(tmp_path / "topic.yaml"), "--out", str(tmp_path / "made"), "--processes", "1"]) == 0
    capsys.readouterr()
    found = printed(capsys, tmp_path / "made")
    assert (found["dataset"], found["table1"]["documents"], found["table1"]["repositories"]) == ("toy", 1, 0)
    assert found["lengths"]["documents"]["bins"] == [{"least": 4, "most": 5, "texts": 1}]  # "#", " Hello", "\n\n", …


def test_it_counts_what_the_command_questions_wrote(capsys, tmp_path):
    posts = [
        {"id": 1, "title": "How?", "body": "So:\n\n```\nx = 1\n```", "tags": ["toy"]},
        {"id": 2, "title": "Why?", "body": "Use `x`", "tags": ["toy"]},
    ]
    rows = []
    for number, post in enumerate(posts):
        answer = {"id": 10 + number, "body": "hello", "score": 2, "accepted": True}
        rows.append(json.dumps(post | {"date": f"2024-0{3 + number}-30", "score": 1, "answers": [answer]}))
    (tmp_path / "forum.jsonl").write_text("\n".join(rows))
    (tmp_path / "docs").mkdir()
    (tmp_path / "topic.yaml").write_text("name: toy\ndomain: toys\ntags: [toy]\ndocuments:\n  - {path: docs}\n")
    told = ("--posts", str(tmp_path / "forum.jsonl"), "--out", str(tmp_path / "made"), "--processes", "1")
    assert main(["questions", str(tmp_path / "topic.yaml"), *told]) == 0
    capsys.readouterr()
    found = printed(capsys, tmp_path / "made")
    row = found["table1"]
    assert (found["dataset"], row["queries"], row["answer_tokens"]) == ("toy", 2, 1)
    assert (row["query_code_percent"], row["answer_code_percent"]) == (50, 0)
    assert [of["quarter"] for of in found["quarters"]] == ["2024 Q1", "2024 Q2"]


@pytest.mark.parametrize("names", [["questions", "questions"], ["corpus", "toy"], ["questions", "corpus", "corpus"]])
def test_what_does_not_go_together_is_refused(capsys, questions, corpus, toy, names):
    paths = {"questions": questions, "corpus": corpus, "toy": toy}
    code, error = refused(capsys, *(paths[name] for name in names))
    assert code == 2
    assert "expected one snapshot, or the folder that questions wrote and the one that corpus wrote, got '" in error


def test_two_topics_are_refused(capsys, questions, tmp_path):
    other = written(tmp_path / "other", "corpus.json", CORPUS, KEPT, dataset="acme/other")
    code, error = refused(capsys, questions, other)
    assert (code, error) == (
        2,
        "error: what to count, expected one topic, got questions of 'acme/toy' and a corpus of 'acme/other'",
    )


def test_a_folder_of_something_else_is_refused(capsys, tmp_path):
    code, error = refused(capsys, tmp_path)
    assert code == 2
    expected = "snapshot.json of a snapshot, or questions.json or corpus.json of a build"
    assert error == f"error: {str(tmp_path)!r}, expected {expected}, got none of them"
    assert refused(capsys, "nimbsu")[1].startswith("error: unknown dataset 'nimbsu'; did you mean 'nimbus'?")
    assert refused(capsys, "a\0b")[0] == 2


@pytest.mark.parametrize(
    "said",
    [
        *("", "{", "[]", "null", '{"dataset": 1}', '{"dataset": "a"}', "[" * 100_000, "\udcff"),
        json.dumps({"dataset": "a", "table": {"rows": "4"}}),
        json.dumps({"dataset": "a", "table": [4]}),
        json.dumps({"dataset": "a", "table": {"rows": 4}, "sources": 5}),
    ],
)
def test_what_a_folder_says_of_itself_is_not_trusted(capsys, questions, said):
    (questions / "questions.json").write_bytes(said.encode("utf-8", "surrogateescape"))
    code, error = refused(capsys, questions)
    assert code == 2
    assert "questions.json', expected JSON with the dataset, its sources and the rows of its table" in error


def test_a_huge_description_is_not_read(capsys, questions, monkeypatch):
    monkeypatch.setattr("builders.statistics.given._MOST_BYTES", 10)
    assert "questions.json', expected at most 10 bytes, got more" in refused(capsys, questions)[1]


def test_sources_that_are_none_are_no_repositories(capsys, tmp_path):
    folder = written(tmp_path / "corpus", "corpus.json", CORPUS, KEPT, sources=[1, None, {"commit": ""}, {}])
    assert printed(capsys, folder)["table1"]["repositories"] == 0


@pytest.mark.parametrize("damage", ["cut", "gone", "rows", "columns"])
def test_a_damaged_table_is_one_line(capsys, questions, corpus, damage):
    table = questions / QUERIES.file()
    if damage == "cut":
        content = table.read_bytes()
        table.write_bytes(content[: len(content) // 2])
    elif damage == "gone":
        table.unlink()
    elif damage == "rows":
        (questions / "questions.json").write_text(json.dumps({"dataset": "acme/toy", "table": {"rows": 5}}))
    else:
        shutil.copy(corpus / CORPUS.file(), table)
    code, error = refused(capsys, questions)
    assert code == 2
    assert error.startswith("error: ")
    assert str(questions) in error
    assert "freshstack verify" not in error  # which is for snapshots


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--spread", "2"], "--spread, expected a standard deviation above 0 and at most 1"),
        (["--run", "a.trec"], "--run, expected a snapshot, by whose judgments it is scored, got none"),
        (["--run", "a.trec", "--spread", "0.2"], "--spread, expected no --run beside it"),
        (["--pictures", __file__], "expected a folder, got a file"),
    ],
)
def test_options_are_looked_at_before_anything_is_counted(capsys, questions, monkeypatch, arguments, said):
    monkeypatch.setattr("builders.statistics.report.report", None)
    code, error = refused(capsys, questions, *arguments)
    assert code == 2
    assert said in error


def test_one_run_cannot_be_compared(capsys, toy, tmp_path):
    fsd.write_run(fsd.Run.from_dict({"q1": {"d2": 1.0}}, name="two"), tmp_path / "two.trec")
    code, error = refused(capsys, toy, "--run", tmp_path / "two.trec")
    assert (code, error) == (3, "error: the spread of differences, expected two runs or more, got 1")
    assert refused(capsys, toy, "--run", tmp_path / "none.trec")[0] == 2


def test_huge_and_odd_texts_are_counted(capsys, tmp_path):
    rows = [
        {"_id": "1", "text": " " * 300_000, "answer_text": "\0\x1b[31m<|endoftext|>", "date": "9999-12-31"},
        {"_id": "2", "text": "\ud7ff\U0010ffff", "answer_text": "```" * 50_000, "date": "0000-01-01"},
    ]
    folder = written(tmp_path / "odd", "questions.json", QUERIES, rows, dataset="\x1b]0;x\x07 odd")
    found = printed(capsys, folder, "--pictures", tmp_path / "p")
    assert [of["quarter"] for of in found["quarters"]] == ["0000 Q1", "9999 Q4"]
    assert found["lengths"]["questions"]["longest"] == 3 * 782  # 100,000 spaces in a row have 782 tokens
    assert main(["stats", str(folder)]) == 0
    assert "\x1b" not in capsys.readouterr().out
    ElementTree.parse(tmp_path / "p" / "questions-per-quarter.svg")
