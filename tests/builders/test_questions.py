"""``python -m builders questions``: a table, whom to name, what was left out, and how it was made."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import quoteattr

import py7zr
import pyarrow.parquet as pq
import pytest

from builders.cli import main

ROOT = Path(__file__).parents[2]
COFFEE = ROOT.parent / "shared" / "data" / "coffee.stackexchange.com-Posts.xml"
HEAD = "name: bread\ndomain: Baking\nfrom: 2024-01\nto: 2024-12\ndocuments: [{path: handbook.jsonl}]\n"


def row(**attributes):
    return "  <row" + "".join(f" {name}={quoteattr(str(value))}" for name, value in attributes.items()) + " />\n"


def asked(number, answer="", **more):
    told = {"Id": number, "PostTypeId": 1, **({"AcceptedAnswerId": answer} if answer else {})}
    told |= {"CreationDate": f"2024-05-0{number}T10:00:00.000", "Score": 2, "Body": f"<p>body {number}</p>"}
    return row(**{**told, "Title": f"title {number}", "Tags": "|oven|Rye|", "OwnerUserId": 70 + number, **more})


def answered(number, question, **more):
    told = {"Id": number, "PostTypeId": 2, "ParentId": question, "CreationDate": "2025-01-01T00:00:00.000"}
    return row(**{**told, "Score": 1, "Body": f"<p>answer <code>{number}</code></p>", "OwnerDisplayName": "Jo", **more})


POSTS = [
    asked(2, 12, ContentLicense="CC BY-SA 4.0"),
    asked(1, 11, Tags="<rye><crust>", Title=" title \n 1 ", Body="<pre><code>a\n  b</code></pre>"),
    answered(11, 1),
    answered(12, 2, Score=5, OwnerUserId=9, ContentLicense="CC BY-SA 3.0"),
    asked(3),
    asked(4, 14),
    answered(14, 4, Score=0),
    asked(5, 15, Tags="|rye-flour|"),
    asked(6, 16, CreationDate="2023-12-31T23:59:59.999"),
    answered(16, 6),
    asked(7, 17, Score=-1),
    answered(17, 7, Body="<p> </p>"),
    answered(18, 3, Score=8),
    answered(19, 7, Score=2),
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bread.yaml").write_text(HEAD + "tags: [rye]\nquestions: {site: bread.stackexchange.com}\n")
    (tmp_path / "Posts.xml").write_text("<?xml version='1.0'?>\n<posts>\n" + "".join(POSTS) + "</posts>\n")
    return tmp_path


def run(capsys, *options, posts="Posts.xml", out="out"):
    code = main(["questions", "bread.yaml", "--posts", posts, "--out", out, "--processes", "1", *options])
    return code, *capsys.readouterr()


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_questions_with_an_accepted_and_upvoted_answer_are_taken(here, capsys):
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    first, *rest = out.splitlines()
    assert first.startswith("out: 2 questions, digest ")
    size = (here / "Posts.xml").stat().st_size
    assert rest[0] == f"read: {size:,} bytes, 14 rows, 7 questions, 7 answers, of https://bread.stackexchange.com"
    assert rest[1] == (
        "left out: 1 question before 2024-01-01, 1 question whose accepted answer has a score below 1, 1 question whose "
        "accepted answer is empty, 1 question without an accepted answer, 1 question without any of the tags"
    )
    assert sorted(path.name for path in (here / "out").iterdir()) == [
        "answers.jsonl",
        "dropped.jsonl",
        "queries",
        "questions.json",
    ]
    assert not (here / "out.parts").exists()
    rows = pq.read_table(here / "out" / "queries" / "test-00000-of-00001.parquet").to_pylist()
    assert rows == [
        {
            "_id": "1",
            "text": "title 1 ```\na\n  b\n```",
            "title": "title 1",
            "body": "```\na\n  b\n```",
            "answer_id": "11",
            "answer_text": "answer `11`",
            "date": "2024-05-01T10:00:00.000",
            "tags": ["rye", "crust"],
            "url": "https://bread.stackexchange.com/q/1",
            "author": "https://bread.stackexchange.com/users/71",
            "score": 2,
            "license": "CC BY-SA 4.0",  # that of its day: the row says none
            "language": "en",
            "type": None,
            "difficulty": None,
        },
        {
            "_id": "2",
            "text": "title 2 body 2",
            "title": "title 2",
            "body": "body 2",
            "answer_id": "12",
            "answer_text": "answer `12`",
            "date": "2024-05-02T10:00:00.000",
            "tags": ["oven", "Rye"],
            "url": "https://bread.stackexchange.com/q/2",
            "author": "https://bread.stackexchange.com/users/72",
            "score": 2,
            "license": "CC BY-SA 4.0",
            "language": "en",
            "type": None,
            "difficulty": None,
        },
    ]


def test_whom_to_name_and_what_was_left_out_are_listed_in_the_order_of_the_dump(here, capsys):
    run(capsys)
    url = "https://bread.stackexchange.com"
    assert lines(here / "out" / "answers.jsonl") == [
        {
            "id": "12",
            "question": "2",
            "url": f"{url}/a/12",
            "author": f"{url}/users/9",
            "date": "2025-01-01T00:00:00.000",
            "score": 5,
            "license": "CC BY-SA 3.0",
        },
        {
            "id": "11",
            "question": "1",
            "url": f"{url}/a/11",
            "author": "Jo",
            "date": "2025-01-01T00:00:00.000",
            "score": 1,
            "license": "CC BY-SA 4.0",
        },
    ]
    assert [(line["id"], line["place"], line["reason"]) for line in lines(here / "out" / "dropped.jsonl")] == [
        ("3", "line 7", "questions without an accepted answer"),
        ("4", "line 8", "questions whose accepted answer has a score below 1"),
        ("6", "line 11", "questions before 2024-01-01"),
        ("7", "line 13", "questions whose accepted answer is empty"),
    ]


def test_how_it_was_made_is_told(here, capsys):
    run(capsys)
    told = json.loads((here / "out" / "questions.json").read_text())
    table = here / "out" / told["table"]["file"]
    assert told["dataset"] == "bread"
    assert told["counts"] == {"questions": 2, "left_out": 5}
    assert told["table"]["rows"] == 2
    assert told["table"]["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert told["lists"] == {
        name: hashlib.sha256((here / "out" / name).read_bytes()).hexdigest()
        for name in ("answers.jsonl", "dropped.jsonl")
    }
    (source,) = told["sources"]
    assert source["sha256"] == hashlib.sha256((here / "Posts.xml").read_bytes()).hexdigest()
    assert (source["url"], source["name"]) == ("https://bread.stackexchange.com", "Posts.xml")
    assert source["license"] == "CC BY-SA 3.0 AND CC BY-SA 4.0"
    assert told["recipe"]["topic_sha256"] == hashlib.sha256((here / "bread.yaml").read_bytes()).hexdigest()
    given = {"tags": ["rye"], "from": "2024-01-01", "to": "2024-12-31", "answer": "accepted", "min_answer_score": 1}
    assert told["recipe"]["parameters"].items() >= given.items()
    assert {"name": "questions without any of the tags", "dropped": 1, "reason": ""} in told["recipe"]["filters"]


def test_an_interruption_says_what_goes_on(here, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("builders.questions.build.review", interrupted)
        code, out, err = run(capsys)
    assert (code, out) == (130, "")
    assert err.splitlines() == ["what is done is kept in 'out.parts': the same command goes on", "error: interrupted"]
    assert run(capsys)[0] == 0
    assert not (here / "out.parts").exists()


def test_json_says_the_same(here, capsys):
    code, out, err = run(capsys, "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert (told["path"], told["counts"]) == ("out", {"questions": 2, "left_out": 5})
    assert told["read"]["rows"] == 14
    assert told["url"] == "https://bread.stackexchange.com"
    assert told["dropped"]["questions without an accepted answer"] == 1
    assert told["digest"] == json.loads((here / "out" / "questions.json").read_text())["table"]["digest"]


def test_the_best_answers_are_taken_when_the_topic_says_so(here, capsys):
    (here / "bread.yaml").write_text(HEAD + "tags: []\nquestions: {answer: best, min_score: 0, language: de}\n")
    assert run(capsys)[0] == 0
    rows = pq.read_table(here / "out" / "queries" / "test-00000-of-00001.parquet").to_pylist()
    assert [(row["_id"], row["answer_id"], row["language"]) for row in rows] == [
        ("1", "11", "de"),
        ("2", "12", "de"),
        ("3", "18", "de"),
    ]
    reasons = {line["id"]: line["reason"] for line in lines(here / "out" / "dropped.jsonl")}
    none = "questions without an answer that may be taken"
    assert reasons == {"4": none, "5": none, "6": "questions before 2024-01-01", "7": "questions with a score below 0"}


def test_a_dump_in_its_archive_gives_the_same_table_and_lists(here, capsys):
    with py7zr.SevenZipFile(here / "bread.7z", "w", filters=[{"id": py7zr.FILTER_LZMA2, "preset": 0}]) as archive:
        archive.write(here / "Posts.xml", "Posts.xml")
    assert run(capsys)[0] == run(capsys, posts="bread.7z", out="packed")[0] == 0
    plain, packed = contents(here / "out"), contents(here / "packed")
    about = plain.pop("questions.json").replace(b'"Posts.xml"', b'"bread.7z/Posts.xml"')
    assert packed.pop("questions.json") == about
    assert packed == plain
    assert not list(here.glob("*.parts"))


def test_a_forum_s_export_is_read_by_the_same_command(here, capsys):
    told = {"title": "How hot?", "body": "The *oven*.", "tags": ["rye"], "date": "2024-02-03"}
    answers = [{"id": "a1", "body": "250 degrees", "accepted": True, "author": "Kim"}]
    rows = [{"id": "q1", **told, "answers": answers}, {"id": "q2", **told, "tags": ["wheat"], "answers": answers}]
    (here / "forum.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = run(capsys, posts="forum.jsonl")
    assert code == 2
    assert err == (
        "error: no question of 'forum.jsonl' is left, expected one that has a tag of the topic, and an answer, got "
        f"{(here / 'forum.jsonl').stat().st_size} bytes, 2 lines, 2 questions, 2 answers; left out: 1 question whose "
        "accepted answer has no score, 1 question without any of the tags; min_answer_score: null in the topic's "
        "questions lets any answer pass, or take another source\n"
    )
    assert not (here / "out").exists()
    rules = "questions: {min_answer_score: null, language: en, license: proprietary}"
    (here / "bread.yaml").write_text(HEAD + f"tags: [rye]\n{rules}\n")
    assert run(capsys, posts="forum.jsonl")[0] == 0
    (found,) = pq.read_table(here / "out" / "queries" / "test-00000-of-00001.parquet").to_pylist()
    assert (found["_id"], found["answer_id"], found["answer_text"]) == ("q1", "a1", "250 degrees")
    assert (found["license"], found["language"], found["url"]) == ("proprietary", "en", None)
    (answer,) = lines(here / "out" / "answers.jsonl")
    assert (answer["author"], answer["license"], answer["score"]) == ("Kim", "proprietary", None)
    assert lines(here / "out" / "dropped.jsonl") == []  # the other one is of another topic


def test_where_nothing_is_left_the_first_line_that_is_wrong_is_told(here, capsys):
    (here / "forum.jsonl").write_text(
        '{"id": 1, "title": "a", "text": "b"}\n{"id": 2, "title": "a", "question": "b"}\n'
    )
    code, _, err = run(capsys, posts="forum.jsonl")
    assert code == 2
    assert "2 lines, 2 skipped; left out: 2 malformed lines: an unknown key (line 1: 'text'); " in err
    assert "; mend the lines: python -m builders questions --help names their keys, or take another source\n" in err


@pytest.mark.parametrize(
    "tags, hint",
    [
        ("rye", "answer: best in the topic's questions takes the answer with the most votes"),
        ("wheat", "compare the topic's tags with those of the source"),
    ],
)
def test_where_nothing_is_left_it_is_told_what_would_leave_something(here, capsys, tags, hint):
    (here / "bread.yaml").write_text(HEAD + f"tags: [{tags}]\n")
    row = {
        "id": 1,
        "title": "How hot?",
        "date": "2024-02-03",
        "tags": ["rye"],
        "answers": [{"id": 2, "body": "250 degrees"}],
    }
    (here / "forum.jsonl").write_text(json.dumps(row))
    code, _, err = run(capsys, posts="forum.jsonl")
    assert code == 2
    assert err.endswith(f"; {hint}, or take another source\n")


@pytest.mark.parametrize(
    "posts, message",
    [
        ("nothing.xml", "error: cannot read 'nothing.xml', expected the Posts.xml of a Stack Exchange dump"),
        ("bread.yaml", "error: 'bread.yaml' is no posts dump"),
        ("nothing.jsonl", "error: cannot read 'nothing.jsonl', expected questions and answers, one JSON object a line"),
        (f"{'n' * 300}.json", f"error: cannot read '{'n' * 10}"),
        (".", "error: '.' holds no export, expected files that end in .json or .jsonl, got none; of a dump, give"),
    ],
)
def test_what_cannot_be_read_is_told_and_leaves_nothing_behind(here, capsys, posts, message):
    code, out, err = run(capsys, posts=posts)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert sorted(path.name for path in here.iterdir()) == ["Posts.xml", "bread.yaml"]


def test_a_folder_that_is_there_is_refused_before_anything_is_read(here, capsys):
    (here / "out").mkdir()
    (here / "out" / "x").touch()
    code, _, err = run(capsys, posts="nothing.xml")
    assert code == 2
    assert err.startswith("error: cannot write")


def test_a_dump_that_changes_while_it_is_read_is_refused(here, capsys, monkeypatch):
    import builders.stackexchange.selecting as selecting

    made = selecting.Finding.make

    def changing(self, shard, part):
        made(self, shard, part)
        with (here / "Posts.xml").open("a") as file:
            file.write("\n")

    monkeypatch.setattr(selecting.Finding, "make", changing)
    code, _, err = run(capsys)
    assert (code, err) == (2, "error: 'Posts.xml' changed while it was read; run the same command again\n")


@pytest.mark.skipif(not COFFEE.is_file(), reason="the real dump is not beside the checkout: shared/data")
def test_a_real_dump_gives_what_is_known_of_it(here, capsys):
    """225 questions, 105 with their accepted answer present; 14 of those tagged espresso, counted with another parser."""
    (here / "bread.yaml").write_text(
        "name: coffee\ndomain: Coffee\ntags: []\ndocuments: [{path: x.jsonl}]\n"
        "questions: {site: coffee.stackexchange.com, min_answer_score: null}\n"
    )
    code, out, _ = run(capsys, "--json", posts=str(COFFEE))
    told = json.loads(out)
    assert code == 0
    assert told["counts"] == {"questions": 105, "left_out": 120}
    assert told["dropped"] == {"questions without an accepted answer": 120}
    rows = {r["_id"]: r for r in pq.read_table(here / "out" / "queries" / "test-00000-of-00001.parquet").to_pylist()}
    assert rows["1"]["title"] == "How should I store whole bean coffee?"
    assert (rows["1"]["answer_id"], rows["1"]["tags"]) == ("24", ["storage", "whole-bean"])
    assert "2" not in rows
    assert len(lines(here / "out" / "answers.jsonl")) == 105


@pytest.mark.slow
def test_any_number_of_processes_gives_the_same_bytes(here):
    for processes in ("1", "3"):
        options = ["--posts", "Posts.xml", "--out", f"out{processes}", "--processes", processes]
        command = [sys.executable, "-m", "builders", "questions", str(here / "bread.yaml"), *options]
        subprocess.run(command, cwd=here, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    assert contents(here / "out1") == contents(here / "out3")
