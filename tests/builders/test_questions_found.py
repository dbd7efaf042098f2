"""Questions out of a dump: the same ones whichever way it is read, and those that another reading of it gives."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path
from xml.sax.saxutils import quoteattr

import py7zr
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import builders.stackexchange.selecting as selecting
from builders.questions.dump import DumpDoor
from builders.questions.records import Question
from builders.questions.rules import Rules
from builders.stackexchange.blocks import UnsureError, blocks
from builders.stackexchange.filters import Filters
from builders.stackexchange.site import Site

ROOT = Path(__file__).parents[2]
COFFEE = ROOT.parent / "shared" / "data" / "coffee.stackexchange.com-Posts.xml"
WHOLE = 1 << 30


def entries(path, rules, work, *, size=WHOLE, processes=1):
    door = DumpDoor(path, Site("example.org"), rules, work, processes=processes, size=size)
    found = list(door.entries())
    return found, door.source()


def every_way(content, rules, folder):
    """Return what each way of reading a dump gives; with care is that of a dump that begins with a comment."""
    plain, careful = folder / "Posts.xml", folder / "Careful.xml"
    plain.write_bytes(content)
    careful.write_bytes(b"<!-- -->" + content)
    with py7zr.SevenZipFile(folder / "site.7z", "w", filters=[{"id": py7zr.FILTER_LZMA2, "preset": 0}]) as archive:
        archive.writestr(content, "Posts.xml")
    yield "whole", entries(plain, rules, folder / "1")
    for size in (700, 97):
        yield f"ranges of {size}", entries(plain, rules, folder / str(size), size=size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selecting, "blocks", partial(blocks, size=150))
        yield "small blocks", entries(plain, rules, folder / "2")
        yield "small blocks of ranges", entries(plain, rules, folder / "3", size=1000)
        patch.setattr("builders.stackexchange.finding.blocks", partial(blocks, size=150))
        yield "archive", entries(folder / "site.7z", rules, folder / "4")
        patch.setattr(selecting, "_ROWS", 2)
        yield "with care", entries(careful, rules, folder / "5")


def same_in_every_way(content, rules, folder):
    (_, (expected, source)), *others = every_way(content, rules, folder)
    for how, (found, other) in others:
        assert found == expected, how
        assert (other.counts == source.counts and other.sha256 == source.sha256) or how == "with care", how
        assert other.unlisted == source.unlisted, how
    return expected


def row(**attributes):
    return "  <row" + "".join(f" {name}={quoteattr(str(value))}" for name, value in attributes.items()) + " />\r\n"


def dump(rows):
    return ("\ufeff<?xml version='1.0'?>\r\n<posts>\r\n" + "".join(rows) + "</posts>").encode(
        "utf-8", "surrogateescape"
    )


TAGS = ["langchain", "LangChain", "langchain-js", "c++", "Ö", "ς", "a;langchain"]

posts = st.fixed_dictionaries(
    {
        "kind": st.sampled_from([1, 1, 1, 2, 2, 2, 4, 5]),
        "tags": st.lists(st.sampled_from(TAGS), max_size=3, unique=True),
        "bars": st.booleans(),
        "refers": st.integers(1, 12),
        "score": st.integers(-1, 3),
        "day": st.integers(1, 28),
        "body": st.sampled_from(["<p>hello", "a <langchain> |langchain|", "", "\u00e4 > \u2028", " Tags=", "'"]),
        "owner": st.sampled_from(["", "x Tags=", "Jo"]),
    }
)


@st.composite
def dumps(draw):
    told = draw(st.lists(posts, max_size=10))
    ids = draw(st.permutations(range(1, len(told) + 1)) | st.just(range(1, len(told) + 1)))
    rows = []
    for number, post in zip(ids, told, strict=True):
        values = {"Id": number, "PostTypeId": post["kind"]}
        if post["kind"] == 1 and post["refers"] <= 10:
            values["AcceptedAnswerId"] = post["refers"]
        if post["kind"] == 2:
            values["ParentId"] = post["refers"]
        values |= {"CreationDate": f"2024-01-{post['day']:02}T00:00:00.000", "Score": post["score"]}
        values |= {"Body": post["body"], "Title": f"T{number}"}
        if post["kind"] == 1:
            values["Tags"] = (
                "".join(f"|{t}" for t in post["tags"]) + "|"
                if post["bars"]
                else "".join(f"<{t}>" for t in post["tags"])
            )
        rows.append(row(**values, **({"OwnerDisplayName": post["owner"]} if post["owner"] else {})))
    return dump(rows)


def naive(content, tags, first, least, best):
    """Read a dump as a whole, by another parser, and return the questions' ids with those of their answers."""
    rows = [element.attrib for element in ET.fromstring(content)]
    answers = {r["Id"]: r for r in rows if r["PostTypeId"] == "2"}
    usable = {i: r for i, r in answers.items() if r["Body"].strip() and int(r["Score"]) >= 1}
    found = {}
    for r in rows:
        if r["PostTypeId"] != "1" or r["CreationDate"] < first or int(r["Score"]) < least:
            continue
        if not {t.lower() for t in re.split(r"[<>|]+", r["Tags"])} & tags:
            continue
        if best:
            mine = [a for a in usable.values() if a["ParentId"] == r["Id"]]
            most = [a for a in mine if int(a["Score"]) == max(int(a["Score"]) for a in mine)]
            of_most = [a["Id"] for a in most if a["Id"] == r.get("AcceptedAnswerId")] or [a["Id"] for a in most]
            if mine:
                found[r["Id"]] = of_most[0]
        elif r.get("AcceptedAnswerId") in usable and usable[r["AcceptedAnswerId"]]["ParentId"] == r["Id"]:
            found[r["Id"]] = r["AcceptedAnswerId"]
    return found


@settings(max_examples=40)
@given(dumps(), st.sampled_from([{"langchain"}, {"c++", "ö"}, {"σ", "a;langchain"}]), st.booleans())
@example(dump([]), {"langchain"}, False)
def test_every_way_gives_the_questions_that_another_reading_gives(tmp_path_factory, content, tags, best):
    filters = Filters(frozenset(tags), first="2024-01-05", min_score=0)
    rules = Rules(filters, "best" if best else "accepted")
    found = same_in_every_way(content, rules, tmp_path_factory.mktemp("dump"))
    taken = {}
    for entry in found:
        answer = (isinstance(entry, Question) and (rules.failed(entry) or rules.answer_of(entry))) or ""
        if not isinstance(answer, str):
            taken[entry.question_id] = answer.answer_id
    # the naive reading lowers each tag alone, where a Greek sigma at its end is another letter
    assert taken == naive(content, tags, "2024-01-05", 0, best)


GOOD = row(Id=3, PostTypeId=1, AcceptedAnswerId=40, CreationDate="2024-01-09", Score=1, Body="b", Title="T", Tags="<x>")
DAMAGE = [
    GOOD,
    row(Id=40, PostTypeId=2, ParentId=3, Score=2, Body="yes"),
    row(Id=5, PostTypeId=1, CreationDate="2024-01-09", Score=1, Body="b", Title="other", Tags="<y>"),
    row(Id=6, PostTypeId=2, ParentId=5, Score=2, Body="x" * 300),
    GOOD.replace("/>", ""),
    GOOD.replace("/>", "></row>"),
    GOOD.replace('Id="3"', "Id='3'"),
    GOOD.replace('Body="b"', 'Body="a > b/> c"'),
    GOOD.replace('Body="b"', 'Body="a < b"'),
    GOOD.replace('Body="b"', 'Body="<row Id=1"'),
    GOOD.replace('Body="b"', 'Body="\udcff"'),
    GOOD.replace('Body="b"', 'Body="\x01"'),
    GOOD.replace('"3"', '"0"'),
    GOOD.replace("&lt;x&gt;", "&lt;&#120;&gt;").replace('"3"', '"8"'),
    GOOD.replace('Score="1"', 'Score="many"'),
    row(Id=40, PostTypeId=2, ParentId=3, Score="?", Body="no"),
    row(Id=1000000001, PostTypeId=1, OwnerUserId=-1, Body="b", Title="made up", Tags="<z>"),
    row(Id=1000000010, PostTypeId=2, ParentId=3, OwnerUserId=-1, Body="b"),
    "between\r\n",
    "<rowing/>\n",
    "</row>",
    "\n\n<row\n",
    '<row Id="9" PostTypeId="1"',
    "</posts>\n",
]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(DAMAGE), max_size=12), st.booleans(), st.booleans())
@example(DAMAGE, True, False)
@example([*DAMAGE, *reversed(DAMAGE)], False, True)
@example([GOOD + "<!-- a <row -->", *DAMAGE, "<![CDATA[ <row Id='1'/>", "]]>"], True, False)
def test_damage_costs_the_same_rows_in_every_way(tmp_path_factory, rows, whole, best):
    content = dump(rows)
    rules = Rules(Filters(frozenset({"x"})), "best" if best else "accepted")
    same_in_every_way(content if whole else content.removesuffix(b"</posts>"), rules, tmp_path_factory.mktemp("dump"))


def lines_of(found):
    return [(entry.place, entry.reason, entry.detail) for entry in found if not isinstance(entry, Question)]


def test_what_is_wrong_is_named_with_its_line(tmp_path):
    rows = [
        GOOD,  # line 3: its answer is missing
        row(Id=5, PostTypeId=1, AcceptedAnswerId=6, Title="T", Tags="|x|"),  # line 4: answered elsewhere
        row(Id=6, PostTypeId=2, ParentId=3, Body="yes"),
        row(Id=7, PostTypeId=2, ParentId=5, Body="unwanted, and its end is lost").replace(" />", ""),
        row(Id=5, PostTypeId=1, Title="again", Tags="|x|"),
        row(Id=8, PostTypeId=1, AcceptedAnswerId=1000000010, Title="T", Tags="|x|"),
        row(Id=1000000001, PostTypeId=1, OwnerUserId=-1, Title="made up", Tags="|y|"),
        row(Id=1000000010, PostTypeId=2, ParentId=8, OwnerUserId=-1, Body="b"),
    ]
    found = same_in_every_way(dump(rows).removesuffix(b"</posts>"), Rules(Filters(frozenset({"x"}))), tmp_path)
    invented = "the dumps since mid-2025 hold two invented posts to mark copies"
    foreign = "it is a post of another type, or answers another question"
    missing = "no usable row of the dump has its id"
    assert lines_of(found) == [
        ("line 3", "questions whose accepted answer is missing", f"40: {missing}"),
        ("line 4", "questions whose accepted answer is no answer to them", f"6: {foreign}"),
        ("line 6", "malformed rows: a row without /> before the next <", ""),
        ("line 7", "malformed rows: duplicate Id", "Id 5 was there before"),
        ("line 8", "questions whose accepted answer is no answer to them", f"1000000010: {foreign}"),
        ("line 9", "fabricated posts", invented),
        ("line 10", "fabricated posts", invented),
        ("line 11", "malformed rows: the file is cut off: it ends without </posts>", ""),
    ]


def test_an_answer_may_stand_before_its_question_and_far_from_it(tmp_path):
    filler = [row(Id=number, PostTypeId=4, Body="x" * 100) for number in range(100, 120)]
    question = row(Id=3, PostTypeId=1, AcceptedAnswerId=40, Title="T", Tags="|x|")
    answer = row(Id=40, PostTypeId=2, ParentId=3, Score=1, Body="yes")
    for number, rows in enumerate([[answer, *filler, question], [question, *filler, answer]]):
        (folder := tmp_path / str(number)).mkdir()
        (entry,) = same_in_every_way(dump(rows), Rules(Filters(frozenset({"x"}))), folder)
        assert [answer.text for answer in entry.answers] == ["yes"]


def test_blocks_give_back_every_byte_of_a_range(tmp_path):
    content = dump([row(Id=number, PostTypeId=4, Body="y" * number) for number in range(200)])
    path = tmp_path / "Posts.xml"
    path.write_bytes(content)
    starts = [0, *(match.start() for match in re.finditer(b"<row ", content)), len(content)]
    for size in (1, 50, 1000):
        for start, end in ((0, None), (0, 3000), (3000, 3010), (3000, 9000), (9000, len(content))):
            with path.open("rb") as file:
                file.seek(start)
                found = list(blocks(file, start, end, size=size))
            first = min(place for place in starts if place >= start)
            last = len(content) if end is None else min(place for place in starts if place >= end)
            assert b"".join(block.data for block in found) == content[first:last]
            assert all(content[block.at :].startswith(block.data) and block.at in starts for block in found)


def test_a_row_that_is_too_long_is_left_to_the_careful_reading(tmp_path):
    path = tmp_path / "Posts.xml"
    path.write_bytes(dump([row(Id=1, PostTypeId=4, Body="y" * 3000)]))
    with path.open("rb") as file, pytest.raises(UnsureError):
        list(blocks(file, size=100, limit=2000))


@pytest.mark.slow
@pytest.mark.skipif(not COFFEE.is_file(), reason="the real dump is not beside the checkout: shared/data")
@pytest.mark.parametrize("answer", ["accepted", "best"])
def test_any_number_of_processes_finds_the_same(tmp_path, answer):
    rules = Rules(Filters(frozenset({"espresso", "brewing"})), answer)
    alone = entries(COFFEE, rules, tmp_path / "1")
    assert entries(COFFEE, rules, tmp_path / "2", size=100_000, processes=3) == alone
    assert entries(COFFEE, rules, tmp_path / "3", size=100_000) == alone


KILLED = """
import os, signal, sys
from pathlib import Path
import builders.stackexchange.selecting as selecting
from tests.builders.test_questions_found import COFFEE, entries
from builders.questions.rules import Rules
from builders.stackexchange.filters import Filters

made = selecting.Finding.make
def make(self, shard, part):
    if shard.start == 400_000:
        os.kill(os.getpid(), signal.SIGKILL)
    made(self, shard, part)
selecting.Finding.make = make
entries(COFFEE, Rules(Filters(frozenset({"espresso"}))), Path(sys.argv[1]), size=100_000)
"""


@pytest.mark.skipif(not COFFEE.is_file(), reason="the real dump is not beside the checkout: shared/data")
def test_a_reading_that_was_killed_goes_on_where_it_stopped(tmp_path):
    rules = Rules(Filters(frozenset({"espresso"})))
    command = [sys.executable, "-c", KILLED, str(tmp_path / "work")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=100, check=False)
    assert ended.returncode == -9
    parts = sorted((tmp_path / "work" / "questions").glob("0*.part"))
    assert [part.name for part in parts] == ["000000.part", "000001.part", "000002.part", "000003.part"]
    before = [part.stat().st_mtime_ns for part in parts]
    resumed = entries(COFFEE, rules, tmp_path / "work", size=100_000)
    assert [part.stat().st_mtime_ns for part in parts] == before
    assert resumed == entries(COFFEE, rules, tmp_path / "new")
