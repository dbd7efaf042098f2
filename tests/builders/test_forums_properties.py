"""Whatever an export holds, in whatever order and layout: what should be read is, and nothing else ends the reading."""

import gzip
import json
import string
import tempfile
import tracemalloc
from pathlib import Path

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from builders.forums import open_forum
from builders.forums.values import values
from builders.questions.records import Question, Skipped
from freshstack_datasets.errors import InputError

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=8)
IDS = st.one_of(st.integers(-5, 10**20), st.text(string.ascii_letters + "é-# ", min_size=1).filter(str.strip))
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=30)
SCORES = st.none() | st.integers(-(10**9), 10**9)
PAGE = "https://github.com/own/repo"


def entries(data, name="export.jsonl"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return list(open_forum(path).entries())


@st.composite
def forums(draw):
    """Draw questions with unique ids, each with answers whose ids are unique in all of the forum."""
    ids = draw(st.lists(IDS, min_size=1, max_size=8, unique_by=str))
    answer_ids = iter(draw(st.lists(IDS, min_size=16, max_size=16, unique_by=str)))
    found = []
    for question_id in ids:
        answers = [
            {"id": next(answer_ids), "body": draw(TEXTS), "score": draw(SCORES)} for _ in range(draw(st.integers(0, 2)))
        ]
        accepted = draw(st.sampled_from([None, *(answer["id"] for answer in answers)]))
        question = {"id": question_id, "title": draw(WORDS), "body": draw(TEXTS), "score": draw(SCORES)}
        found.append((question, answers, accepted))
    return found


def told(entries):
    """Return what questions say, in a form that is easy to expect."""
    return {
        entry.question_id: (
            entry.title,
            entry.body,
            entry.score,
            {answer.answer_id: (answer.text, answer.score, answer.accepted) for answer in entry.answers},
        )
        for entry in entries
    }


def expected(forum):
    return {
        str(question["id"]): (
            question["title"],
            question["body"],
            question["score"],
            {str(a["id"]): (a["body"], a["score"], a["id"] == accepted) for a in answers},
        )
        for question, answers, accepted in forum
    }


@settings(max_examples=40)
@given(forums(), st.data())
def test_questions_are_read_the_same_with_their_answers_in_them_and_beside_them(forum, data):
    nested, flat = [], []
    for question, answers, accepted in forum:
        if data.draw(st.booleans()):
            marked = [{**answer, "accepted": answer["id"] == accepted} for answer in answers]
            nested.append({**question, "answers": marked})
        else:
            nested.append({**question, "answers": answers, "accepted_answer_id": accepted})
        flat.append({**question, "type": "question", "accepted_answer_id": accepted})
        flat += [{**answer, "type": "answer", "question_id": str(question["id"])} for answer in answers]
    flat = data.draw(st.permutations(flat))
    for rows in (nested, flat):
        text = "\r\n".join(json.dumps(row, ensure_ascii=data.draw(st.booleans())) for row in rows)
        found = entries(text.encode())
        assert not [entry for entry in found if isinstance(entry, Skipped)]
        assert told(found) == expected(forum)
    # with their answers in them, the order is that of the lines
    nested_ids = [str(question["id"]) for question, _, _ in forum]
    assert [entry.question_id for entry in entries("\n".join(map(json.dumps, nested)).encode())] == nested_ids


@settings(max_examples=40)
@given(forums(), st.lists(st.binary(min_size=1, max_size=20), max_size=5), st.randoms())
def test_lines_of_anything_between_them_cost_nothing_but_themselves(forum, lines, random):
    rows = [json.dumps({**question, "answers": answers}).encode() for question, answers, _ in forum]
    assume(all(b"\n" not in line and line.strip() for line in lines))
    assume(not any(line.lstrip()[:1] in b"{[" for line in lines))
    mixed = rows[1:] + lines
    random.shuffle(mixed)
    found = entries(b"\n".join([rows[0], *mixed]))
    assert sorted(entry.question_id for entry in found if isinstance(entry, Question)) == sorted(expected(forum))
    assert sum(isinstance(entry, Skipped) for entry in found) == len(lines)


@st.composite
def trackers(draw):
    """Draw issues closed as completed, pull requests, and comments of either by maintainers and others."""
    numbers = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=6, unique=True))
    things, wanted = [], {}
    comment_id = 0
    for number in numbers:
        is_pull = draw(st.booleans())
        page = f"{PAGE}/{'pull' if is_pull else 'issues'}/{number}"
        title, body, up = draw(WORDS), draw(TEXTS), draw(st.integers(0, 50))
        thing = {"number": number, "title": title, "body": body, "html_url": page, "state": "closed",
                 "reactions": {"+1": up}, "user": {"login": "asker", "type": "User"}}  # fmt: skip
        things.append({**thing, "pull_request": {"url": page}} if is_pull else thing)
        answers = {}
        for _ in range(draw(st.integers(0, 3))):
            comment_id += 1
            login = draw(st.sampled_from(["asker", "b", "c"]))
            kind = draw(st.sampled_from(["User", "Bot"]))
            association = draw(st.sampled_from(["OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "NONE"]))
            text, votes = draw(TEXTS), draw(st.integers(0, 50))
            things.append({
                "id": comment_id, "html_url": f"{page}#issuecomment-{comment_id}", "body": text,
                "issue_url": f"https://api.github.com/repos/own/repo/issues/{number}", "reactions": {"+1": votes},
                "user": {"login": login, "type": kind}, "author_association": association,
            })  # fmt: skip
            if login != "asker" and kind == "User" and association in ("OWNER", "MEMBER", "COLLABORATOR"):
                answers[f"own/repo#issuecomment-{comment_id}"] = (text, votes, False)
        if not is_pull:
            wanted[f"own/repo#{number}"] = (title, body, up, answers)
    return things, wanted


@settings(max_examples=40)
@given(trackers(), st.data())
def test_issues_are_read_the_same_from_pages_in_any_order_and_layout(tracker, data):
    things, wanted = tracker
    things = data.draw(st.permutations(things))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(things)), max_size=3)))
    pages = [things[a:b] for a, b in zip([0, *cuts], [*cuts, len(things)], strict=True)]
    indent = data.draw(st.sampled_from([None, 2]))
    layouts = {
        "following.json": "".join(json.dumps(page, indent=indent) for page in pages),
        "slurped.json": json.dumps(pages, indent=indent),
        "lines.json": "\n".join(json.dumps(thing) for thing in things),
    }
    for name, text in layouts.items():
        found = entries(text.encode(), name)
        assert not [entry for entry in found if isinstance(entry, Skipped)]
        assert told(found) == wanted


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), JSON, max_size=4)


@given(st.lists(st.lists(OBJECTS, max_size=4), max_size=4), st.integers(1, 9), st.data())
def test_values_are_found_whatever_they_hold_and_however_the_bytes_arrive(pages, size, data):
    indent, plain = data.draw(st.sampled_from([None, 1])), data.draw(st.booleans())
    data = json.dumps(pages, indent=indent).encode() + b"".join(json.dumps(page).encode() for page in pages)
    if plain:
        data = json.dumps(pages, ensure_ascii=False).encode("utf-8", "surrogatepass")
        data += b"".join(json.dumps(page, ensure_ascii=False).encode("utf-8", "surrogatepass") for page in pages)
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    found = list(values(iter(blocks)))
    assert [json.loads(value.data.decode("utf-8", "surrogatepass")) for value in found] == [
        *(thing for page in pages for thing in page)
    ] * 2
    assert [value.number for value in found] == [*range(1, len(found) + 1)]


def test_an_array_of_any_length_needs_the_memory_of_a_block():
    def array(entries):
        yield b"["
        for number in range(entries):
            yield b'{"number": %d, "body": "%s"},' % (number, b'[{\\" ' * 200)
        yield b"{}]"

    tracemalloc.start()
    count = sum(1 for value in values(array(20_000)) if not value.wrong)  # 24 MB
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_001
    assert peak < 1 << 20


def test_a_value_without_an_end_is_not_kept():
    def without_an_end():  # 30 MB, all of which are read for the digest
        yield b'[{"a": "'
        for _ in range(300):
            yield b"x" * 100_000

    tracemalloc.start()
    (found,) = values(without_an_end(), longest=1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.wrong == "a value of more than 1,000,000 bytes: what follows is not read"
    assert peak < 10_000_000


WHOLE = [
    b"""{"id": 1, "title": "T", "tags": ["a"], "date": "2024-01-01", "answers": [{"id": 2, "body": "B", "accepted": true}]}
    {"type": "answer", "id": "x", "question_id": 3, "body": "\\ud83d\\ude00"}
    {"type": "question", "id": 3, "title": "Q"}""",
    b"""[{"number": 1, "title": "T", "html_url": "https://github.com/a/b/issues/1", "labels": [{"name": "l"}], "user": null},
    {"id": 5, "issue_url": "https://api.github.com/repos/a/b/issues/1", "body": "x", "user": {"login": "l"}}]""",
    b"""{"data": {"repository": {"nameWithOwner": "a/b", "discussions": {"nodes": [{"number": 2, "title": "T", "url":
    "https://github.com/a/b/discussions/2", "answer": {"id": "D"}, "comments": {"nodes": [{"id": "D", "body": "x",
    "replies": {"nodes": []}}]}}]}}}}""",
]
"""Small exports that are right."""


def changed(data, draw):
    """Return an export in which some bytes are others, left out or doubled."""
    data = bytearray(data)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 6))] = draw(
            st.binary(max_size=3) | st.sampled_from([b"null", b"-1", b"[", b'"'])
        )
    return bytes(data)


@given(st.data())
def test_whatever_happened_to_an_export_it_is_read_or_refused(data):
    export = changed(data.draw(st.sampled_from(WHOLE)), data.draw)
    if data.draw(st.booleans()):
        export = changed(gzip.compress(export), data.draw)
    found, refusal = read_or_refused(export)
    assert "\n" not in refusal
    for entry in found:
        assert isinstance(entry, Question | Skipped)
        texts = (
            [entry.record_id, entry.reason, entry.detail] if isinstance(entry, Skipped) else [entry.title, entry.body]
        )
        assert isinstance(entry, Question) or entry.reason
        assert "\n" not in "".join([*texts[:1], entry.place])
        "".join(texts).encode()  # no halves of surrogate pairs


def with_other(value, draw):
    """Return a value of JSON in which one of its members, at any depth, is another value."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 4)):
        keys = list(value) if isinstance(value, dict) else [*range(len(value))]
        key = draw(st.sampled_from(keys))
        changed = dict(value) if isinstance(value, dict) else list(value)
        changed[key] = with_other(value[key], draw)
        return changed
    return draw(JSON)


@given(st.sampled_from(WHOLE), st.data())
def test_values_of_any_type_in_any_place_are_read_or_named(export, data):
    lines = [json.loads(line) for line in export.splitlines()] if export is WHOLE[0] else [json.loads(export)]
    for _ in range(data.draw(st.integers(1, 3))):
        lines = [with_other(line, data.draw) for line in lines]
    found, _ = read_or_refused("\n".join(map(json.dumps, lines)).encode())
    assert all(isinstance(entry, Question | Skipped) for entry in found)


@given(st.binary(max_size=200), st.sampled_from([b"", b"{", b"[", b'{"data":', b'{"id":1,"title":"T"}\n', b"\x1f\x8b"]))
@example(b"\xd8" * 3, b'{"id": 1, "title": "')
def test_bytes_of_no_meaning_are_read_or_refused(noise, start):
    found, refusal = read_or_refused(start + noise)
    assert refusal == "" or "export.json" in refusal
    assert all(isinstance(entry, Question | Skipped) for entry in found)


def read_or_refused(data):
    """Return what is read, and for what the rest is refused; anything else that is raised fails the test."""
    try:
        return entries(data, "export.json"), ""
    except InputError as error:
        return [], str(error)
