"""A forum's export: one JSON object a line becomes a question, or is named and skipped."""

import gzip
import json
import tracemalloc

import pytest

import builders.forums.gathering as gathering_module
import builders.forums.jsonl as jsonl_module
from builders.forums import is_forum, open_forum
from builders.forums.files import lines
from builders.questions.records import Answer, Question, Skipped
from freshstack_datasets.errors import InputError


@pytest.fixture
def export(tmp_path):
    """Write the lines of an export, objects or bytes."""

    def write(*rows, name="forum.jsonl"):
        path = tmp_path / name
        data = b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def entries(path):
    return list(open_forum(path).entries())


def only(path):
    (entry,) = entries(path)
    return entry


def wrong(path):
    """Return what the last line of an export is skipped for."""
    entry = entries(path)[-1]
    assert isinstance(entry, Skipped), entry
    return entry.reason, entry.detail


WHOLE = {
    "id": 7,
    "title": "How  do I\nrotate a key?",
    "body": "I have two.\r\n```\r\nkey  a\r\n```",
    "tags": ["keys", "api", "keys"],
    "date": "2024-02-03T10:00:00+02:00",
    "score": -3,
    "url": "https://forum.example.org/q/7",
    "author": "Ana",
    "license": "CC0-1.0",
    "format": "markdown",
    "answers": [
        {
            "id": "b",
            "body": "<p>Use <code>rotate</code>.</p>",
            "date": "2024-02-05",
            "score": 4,
            "author": "Bo",
            "url": "https://forum.example.org/a/b",
            "license": "CC0-1.0",
            "format": "html",
            "accepted": True,
        },
        {"id": "a", "body": "No *idea*.", "date": "2024-02-04T00:00:00.250Z"},
    ],
}


def test_a_question_is_read_with_all_that_its_line_says(export):
    assert only(export(WHOLE)) == Question(
        question_id="7",
        title="How do I rotate a key?",
        body="I have two.\n```\nkey  a\n```",
        tags=("keys", "api"),
        date="2024-02-03T08:00:00Z",  # two hours before it is ten there
        score=-3,
        url="https://forum.example.org/q/7",
        author="Ana",
        license="CC0-1.0",
        answers=(  # the older one first
            Answer("a", "No *idea*.", date="2024-02-04T00:00:00.250000Z"),
            Answer(
                "b",
                "Use `rotate`.",
                4,
                "2024-02-05",
                "Bo",
                "https://forum.example.org/a/b",
                "CC0-1.0",
                accepted=True,
            ),
        ),
        place="line 1",
    )


def test_nothing_but_an_id_and_a_text_is_needed(export):
    found = only(export({"id": "x", "title": "Why?"}))
    assert found == Question("x", "Why?", "", (), "", None, None, None, None, (), "line 1")
    nulls = dict.fromkeys(("body", "tags", "date", "score", "url", "author", "license", "format", "answers"))
    assert only(export({"id": "x", "title": "Why?", **nulls})) == found


def test_answers_within_a_question_are_written_as_it_is_and_keep_their_order_when_a_date_is_missing(export):
    row = {"id": 1, "body": "<b>Q</b>", "format": "html", "answers": [
        {"id": 2, "body": "<p>two</p>", "date": "2024-01-02"},
        {"id": 3, "body": "<p>three</p>", "format": "text"},
        {"id": 1, "body": "<p>one</p>", "date": "2024-01-01"},
    ]}  # fmt: skip
    found = only(export(row))
    assert found.body == "Q"
    assert [(answer.answer_id, answer.text) for answer in found.answers] == [
        ("2", "two"),
        ("3", "<p>three</p>"),
        ("1", "one"),
    ]


def test_the_accepted_answer_may_be_named_by_the_question(export):
    found = only(export({"id": 1, "title": "T", "accepted_answer_id": 3, "answers": [{"id": "2"}, {"id": "3"}]}))
    assert [answer.accepted for answer in found.answers] == [False, True]


def test_questions_and_answers_on_lines_of_their_own_find_each_other_in_any_order(export):
    path = export(
        {"type": "answer", "id": 20, "question_id": 1, "body": "late", "date": "2024-03-01"},
        {"type": "question", "id": 2, "title": "Two"},
        {"type": "question", "id": "1", "title": "One", "accepted_answer_id": "20"},
        {"type": "answer", "id": "21", "question_id": "1", "body": "early", "date": "2024-01-01"},
        {"type": "answer", "id": "22", "question_id": "9", "body": "lost"},
        {"id": 3, "title": "With its answers", "answers": [{"id": 30, "accepted": True, "body": "x"}]},
    )
    three, two, one, lost = entries(path)
    assert (three.question_id, three.place) == ("3", "line 6")  # not kept waiting
    assert (two.question_id, two.answers) == ("2", ())
    assert (one.question_id, one.title, one.place) == ("1", "One", "line 3")
    assert [(a.answer_id, a.text, a.accepted) for a in one.answers] == [("21", "early", False), ("20", "late", True)]
    assert lost == Skipped("22", "line 5", "answers without their question", "no line of type question has the id 9")


def test_what_was_read_is_counted_and_known_by_its_digest(export):
    path = export(WHOLE, b"", b"{", {"id": 8, "body": "b", "license": "MIT"})
    door = open_forum(path)
    list(door.entries())
    read = door.source()
    assert read.name == "forum.jsonl"
    assert read.counts == {"bytes": path.stat().st_size, "lines": 3, "questions": 2, "answers": 2, "skipped": 1}
    packed = open_forum(export(WHOLE, b"", b"{", {"id": 8, "body": "b", "license": "MIT"}, name="packed.jsonl.gz"))
    assert len(list(packed.entries())) == 3
    assert len(list(packed.entries())) == 3  # a second reading says the same
    assert (packed.source().sha256, packed.source().counts) == (read.sha256, read.counts)


def test_the_digest_of_a_file_is_its_own(export):
    path = export(b'{"id":1,"title":"T"}')
    door = open_forum(path)
    list(door.entries())
    # printf '{"id":1,"title":"T"}\n' | sha256sum
    assert door.source().sha256 == "a5535be6ea36a1ce27fb3b4f76b3eec5da2b8335d24ede001fcb43e2714cb814"


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        (b"{", "malformed lines: malformed JSON", "Expecting property name enclosed in double quotes at character 1"),
        (b'{"id": 1, "title": "T"} x', "malformed lines: malformed JSON", "Extra data at character 24"),
        (b'{"id": 1, "title": "T\xff"}', "malformed lines: not UTF-8", "b'\\xff\"}' at byte 21"),
        (b'{"id": 1, "score": NaN}', "malformed lines: malformed JSON", "NaN is no number"),
        (b'{"id": 1, "score": ' + b"9" * 1_000_000 + b"}", "malformed lines: malformed JSON", "a number of too many digits"),
        (b"[" * 100_000, "malformed lines: malformed JSON", "too many brackets in one another"),
        (b'{"id": 1, "title": "T", "id": 2}', "malformed lines: a key twice", "'id'"),
        (b"7", "malformed lines: no JSON object", "7"),
        (b'{"title": "T"}', "malformed lines: a missing key", "'id'"),
        (b'{"id": 1, "title": "T", "titel": "U"}', "malformed lines: an unknown key", "'titel'"),
        (b'{"id": 1, "title": "T", "answers": [{"id": 2, "question_id": 1}]}', "malformed lines: an unknown key", "'answers.0.question_id'"),
        (b'{"type": "answer", "id": 1, "body": "B"}', "malformed lines: a missing key", "'question_id'"),
        (b'{"type": "comment", "id": 1, "body": "B"}', "malformed lines: a value that is not allowed", "'type': Input should be 'question', got 'comment'"),
        (b'{"id": true, "title": "T"}', "malformed lines: a value that is not allowed", "'id': Input should be a valid string, got True"),
        (b'{"id": 1, "title": "T", "score": "3"}', "malformed lines: a value that is not allowed", "'score': Input should be a valid integer, got '3'"),
        (b'{"id": 1, "title": "T", "score": 3.0}', "malformed lines: a value that is not allowed", "'score': Input should be a valid integer, got 3.0"),
        (b'{"id": 1, "title": "T", "score": 10000000000}', "malformed lines: a value that is not allowed", "'score': Input should be less than or equal to 1000000000, got 10000000000"),
        (b'{"id": 1, "title": "T", "format": "bbcode"}', "malformed lines: a value that is not allowed", "'format': Input should be 'text', 'markdown' or 'html', got 'bbcode'"),
        (b'{"id": 1, "title": "T", "tags": "a,b"}', "malformed lines: a value that is not allowed", "'tags': Input should be a valid list, got 'a,b'"),
        (b'{"id": "", "title": "T"}', "malformed lines: an id that cannot be one", None),
        (b'{"id": "a\\tb", "title": "T"}', "malformed lines: an id that cannot be one", None),
        (b'{"id": "a\\u0000b", "title": "T"}', "malformed lines: an id that cannot be one", r"'a\x00b'"),
        (b'{"id": "\\ud800", "title": "T"}', "malformed lines: an id that cannot be one", None),
        (b'{"id": "' + b"a" * 501 + b'", "title": "T"}', "malformed lines: an id that cannot be one", None),
        (b'{"id": 1, "title": "T", "date": "3 May 2024"}', "malformed lines: a date that is none", "'3 May 2024'"),
        (b'{"id": 1, "title": "T", "date": "2023-02-29"}', "malformed lines: a date that is none", "'2023-02-29'"),
        (b'{"id": 1, "title": "T", "date": "0001-01-01T00:00+23:00"}', "malformed lines: a date that is none", "'0001-01-01T00:00+23:00'"),
        (b'{"id": 1, "title": "T", "date": "20240102"}', "malformed lines: a date that is none", "'20240102'"),
        (b'{"id": 1, "title": "T", "url": "javascript:alert(1)"}', "malformed lines: an address that is none", "'javascript:alert(1)'"),
        (b'{"id": 1, "title": " ", "body": "\\n"}', "malformed lines: neither title nor body", ""),
        (b'{"id": 1, "title": "T", "answers": [{"id": 2}, {"id": "2"}]}', "questions with two answers of one id", ""),
        (b'{"id": 1, "title": "T", "answers": [{"id": 2, "accepted": true}, {"id": 3, "accepted": true}]}', "questions with several accepted answers", "'2', '3'"),
        (b'{"id": 1, "title": "T", "accepted_answer_id": 5, "answers": [{"id": 2}]}', "questions whose accepted answer is missing", "'5'"),
        (b'{"type": "question", "id": 1, "title": "T", "accepted_answer_id": 5}', "questions whose accepted answer is missing", "'5'"),
    ],
)  # fmt: skip
def test_a_line_that_is_wrong_is_named_and_costs_only_itself(export, line, reason, detail):
    path = export({"id": "good", "title": "G"}, line, {"id": "also good", "title": "G"})
    found = entries(path)
    assert [entry.question_id for entry in found if isinstance(entry, Question)] == ["good", "also good"]
    (skipped,) = (entry for entry in found if isinstance(entry, Skipped))
    assert (skipped.place, skipped.reason) == ("line 2", reason)
    assert skipped.detail == detail or detail is None
    assert len(skipped.detail) < 300
    assert skipped.detail.isprintable()


def test_an_id_that_was_there_before_is_named(export):
    question = {"id": 1, "title": "T"}
    answer = {"type": "answer", "id": 1, "question_id": 5, "body": "B"}
    assert wrong(export(question, {"id": "1", "body": "other"})) == ("duplicate questions", "")
    assert wrong(export({"id": "a", "title": "T"}, {"id": "a", "title": "T"})) == (
        "duplicate questions",
        "",
    )
    path = export(
        {"type": "question", "id": 5, "title": "T"}, answer, answer, {"type": "question", "id": 5, "title": "U"}
    )
    again, twice, question = entries(path)
    assert (again.record_id, again.place, again.reason) == ("1", "line 3", "duplicate answers")
    assert (twice.record_id, twice.place, twice.reason) == ("5", "line 4", "duplicate questions")
    assert (question.title, len(question.answers)) == ("T", 1)


def test_the_id_of_a_line_that_is_wrong_is_shown_as_far_as_it_can_be(export):
    assert entries(export({"id": "a" * 200, "x": 1}))[0].record_id == "a" * 100
    assert entries(export({"id": "a\u0000\ud800\nb", "x": 1}))[0].record_id == "a\ufffd\ufffd b"
    assert entries(export({"id": ["a"], "x": 1}))[0].record_id == ""


def test_half_of_a_surrogate_pair_and_a_nul_in_a_text_are_replaced(export):
    # what a program leaves that cuts texts in the middle of an emoji; CommonMark, 2.3, replaces U+0000
    found = only(export(b'{"id": 1, "title": "cut \\ud83d", "body": "a\\u0000b \\ud83d\\ude00 \\ude00"}'))
    assert (found.title, found.body) == ("cut \ufffd", "a\ufffdb \U0001f600 \ufffd")


def test_what_joins_letters_stays_in_a_title_and_control_characters_do_not(export):
    # U+200D makes one emoji of two, U+200C keeps Persian letters apart; U+001B begins a terminal's colour
    title = "\u001b[31mWhy\u2028\U0001f468\u200d\U0001f527 \u0645\u06cc\u200c\u0634\u0648\u062f"
    expected = "[31mWhy \U0001f468\u200d\U0001f527 \u0645\u06cc\u200c\u0634\u0648\u062f"
    assert only(export({"id": 1, "title": title})).title == expected


def test_a_line_that_is_too_long_is_passed_over_without_keeping_it():
    blocks = (b"x" * 65_536 for _ in range(320))  # 20 MiB
    tracemalloc.start()
    found = list(lines(iter([b"one\n", *blocks, b"\nthree"]), 100_000))
    list(lines((b"x" * 65_536 for _ in range(320)), 100_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [(1, b"one"), (2, None), (3, b"three")]
    assert peak < 25 << 20  # the list of blocks above, and little more


def test_a_line_that_is_too_long_is_named(export, monkeypatch):
    monkeypatch.setattr(jsonl_module, "lines", lambda blocks: lines(blocks, 50))
    assert [type(entry) for entry in entries(export({"id": 1, "title": "T"}, b'{"id": 2, "title": "' + b"T" * 50))] == [
        Question,
        Skipped,
    ]


def test_memory_does_not_grow_with_the_number_of_questions(tmp_path):
    def peak(questions):
        path = tmp_path / "large.jsonl"
        with path.open("w") as file:
            for number in range(1, questions + 1):
                body = "word " * 400
                file.write(
                    json.dumps({"id": number, "title": "T", "body": body, "answers": [{"id": 1, "body": body}]}) + "\n"
                )
        tracemalloc.start()
        read = sum(1 for _ in open_forum(path).entries())
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert read == questions
        return most

    few = peak(1_000)
    assert peak(4_000) < few + (1 << 20)  # of 12 MB more


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    (tmp_path / "b.jsonl").write_text('{"id": 2, "title": "T"}\n')
    (tmp_path / "a.ndjson.gz").write_bytes(gzip.compress(b'\xef\xbb\xbf{"id": 1, "title": "T"}\n'))
    (tmp_path / "c.json").write_text("{\n")
    (tmp_path / ".hidden.json").write_text("{}\n")
    (tmp_path / "notes.txt").write_text("no export\n")
    (tmp_path / "d.json").mkdir()
    door = open_forum(tmp_path)
    one, two, three = door.entries()
    assert (one.question_id, one.place) == ("1", "a.ndjson.gz, line 1")
    assert (two.question_id, two.place) == ("2", "b.jsonl, line 1")
    assert (three.place, three.reason) == ("c.json, line 1", "malformed lines: malformed JSON")
    assert door.source().name == tmp_path.name


def test_what_is_a_forum_is_told_by_its_name_or_its_beginning(tmp_path, export):
    def file(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    (tmp_path / "empty").mkdir()
    assert is_forum(export({"id": 1}))
    assert is_forum(file("x.json", b""))
    assert is_forum(file("export", b'\n {"id": 1}'))
    assert is_forum(tmp_path)
    assert not is_forum(tmp_path / "empty")
    assert not is_forum(tmp_path / "nowhere.jsonl")
    assert not is_forum(tmp_path / "nul\0")
    assert not is_forum(file("Posts.xml", b"<?xml version='1.0'?><posts></posts>"))
    assert not is_forum(file("dump.7z", b"7z\xbc\xaf\x27\x1c"))
    assert not is_forum(file("cut.gz", b"\x1f\x8b\x08"))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", None, "no file of that name"),
        ("a.jsonl", b" \n", "is empty"),
        ("a.json", b"[{\"id\": 1, \"title\": \"T\"}]", "got an array; write one object a line: jq -c '.[]' FILE > FILE.jsonl"),
        ("a.jsonl", b"id,title\n1,T\n", "got no JSON"),
        ("a.jsonl", '{"id": 1}'.encode("utf-16"), "got UTF-16 or UTF-32; save it again as UTF-8"),
        ("a.jsonl", '{"id": 1}'.encode("utf-16-be"), "got UTF-16 or UTF-32"),
        ("a.jsonl.gz", gzip.compress(b'{"id": 1, "title": "T"}\n' * 1000)[:-20], "cannot be unpacked"),
        ("a.jsonl.gz", b"\x1f\x8bnonsense, nonsense, nonsense", "cannot be unpacked"),
    ],
)  # fmt: skip
def test_what_is_no_export_is_refused(tmp_path, name, data, message):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as error:
        entries(tmp_path / name)
    assert message in str(error.value)
    assert name in str(error.value)


def test_a_folder_without_an_export_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds no export, expected files that end in \.json or \.jsonl"):
        open_forum(tmp_path)


def test_a_file_that_may_not_be_read_is_refused(tmp_path, export):
    path = export({"id": 1, "title": "T"})
    door = open_forum(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match=r"cannot read .*forum\.jsonl'.*, got is a directory"):
        list(door.entries())
    assert not is_forum(tmp_path / ("a" * 300))


def test_a_full_disk_is_told_from_a_bad_export(export, monkeypatch):
    monkeypatch.setattr(gathering_module, "_SCHEMA", gathering_module._SCHEMA + "PRAGMA max_page_count = 10;")
    path = export(*({"type": "answer", "id": number, "question_id": 1, "body": "x" * 9999} for number in range(20)))
    with pytest.raises(InputError, match=r"cannot be kept on disk.*full; make room in the folder for temporary files"):
        entries(path)
