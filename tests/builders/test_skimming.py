"""The quick reading of tags sees what reading post by post sees, whatever is wrong with a dump."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.stackexchange import skimming
from builders.stackexchange.blocks import UnsureError
from builders.stackexchange.dump import Dump
from builders.stackexchange.posts import QUESTION, BadRow, SeenIds, read_posts
from builders.stackexchange.reasons import FABRICATED
from builders.stackexchange.tags import together

USUAL = (
    '<row Id="%d" PostTypeId="1" AcceptedAnswerId="24" CreationDate="2015-01-27T20:09:32.720" Score="-2" '
    'ViewCount="130" Body="&lt;p&gt;Wie heißt &quot;das&quot; &amp;amp; es?&lt;/p&gt;&#xA;" OwnerUserId="4" '
    'LastActivityDate="2015-03-05T19:51:01.263" Title="How?" Tags="|storage|whole-bean|" AnswerCount="3" '
    'CommentCount="4" ContentLicense="CC BY-SA 3.0" />'
)
ANSWER = '<row Id="%d" PostTypeId="2" ParentId="1" CreationDate="2015-01-28T20:09:32.720" Score="1" Body="x" />'
ODD = [
    *("", "<", ">", "&", "&foo;", "&#0;", "&#65;", "&apos;", "&quot", "\0", "\x01", "\t", "\n", "\ufffe", "\u2028", '"', " "),
    *("<row ", "/>", "</posts>", "<!-- a -->", "<!--", "<![CDATA[", '<row Id="9" PostTypeId="1" Title="t" Tags="|a|" />'),
    *('Id="7"', 'Id="07"', 'Id="0"', 'Id="1000000001"', 'PostTypeId="1"', 'PostTypeId="2"', 'PostTypeId="100"'),
    *('OwnerUserId="-1"', 'OwnerUserId=""', 'Score="x"', 'Score=""', 'ParentId=""', 'AcceptedAnswerId="x"'),
    *('CreationDate=""', 'CreationDate="2015-02-30"', 'CreationDate="2015-02-03"', 'CreationDate="2015-01-27T24:00:00"'),
    *('Title=""', 'Title=" "', 'Title="&#xA;"', 'Title="\u00a0"', 'Title="Ü"', 'Title="&amp;"', 'ContentLicense="\u00a0"'),
    *('Tags=""', 'Tags="&lt;a&gt;&lt;B&gt;"', 'Tags="|a b|=|ü|"', 'Tags="&amp;lt;a"', 'Tags="a\nb"', 'Tags="a&#xA;b"'),
]  # fmt: skip


def post_by_post(path):
    found, read = [], Counter()
    for post in read_posts(Dump(path), SeenIds()):
        if isinstance(post, BadRow):
            read["malformed rows"] += 1
        elif post.fabricated:
            read[FABRICATED] += 1
        elif post.kind == QUESTION:
            read["questions"] += 1
            found.append((post.tags, post.date[:10]))
    return found, read


def skimmed(path):
    read = Counter()
    return list(skimming.questions(Dump(path), read)), read


def check(path, content):
    path.write_bytes(content)
    try:
        found = skimmed(path)
    except UnsureError:
        assert re.search(rb"<!--|<!\[CDATA\[", content)
        return
    assert found == post_by_post(path)


def written(rows):
    return "<posts>\n" + "\n".join(rows) + "\n</posts>\n"


def test_rows_of_the_usual_form_are_not_read_as_posts(tmp_path, monkeypatch):
    path = tmp_path / "Posts.xml"
    rows = [(USUAL if number % 3 == 0 else ANSWER) % number for number in range(1, 3_001)]
    path.write_text(written(rows), encoding="utf-8")
    monkeypatch.setattr(skimming, "read_post", None)
    found, read = skimmed(path)
    assert found == [(("storage", "whole-bean"), "2015-01-27")] * 1_000
    assert read == {"questions": 1_000}


@pytest.mark.parametrize("row", [USUAL, ANSWER], ids=["question", "answer"])
@pytest.mark.parametrize("odd", ODD)
def test_every_odd_value_is_seen_as_post_by_post(tmp_path, row, odd):
    path = tmp_path / "Posts.xml"
    named = odd.partition("=")[0]
    rows = [row % number for number in range(2, 6)]
    places = [found.span() for found in re.finditer(rf'(?<= ){named}="[^"]*"', rows[1])] if "=" in odd else []
    places += [(at, at) for at in (4, len(rows[1]) // 2, len(rows[1]) - 3)]
    places += [(found.start() + 1, found.end()) for found in re.finditer('"(?= )', rows[1])]
    for start, end in places:
        strange = rows[1][:start] + odd + rows[1][end:]
        check(path, written([rows[0], strange, *rows[2:]]).encode("utf-8", "surrogatepass"))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_damage_is_seen_as_post_by_post(tmp_path_factory, data):
    rows = [(USUAL if number % 3 == 0 else ANSWER) % number for number in range(1, 40)]
    content = written(rows).encode()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = start + data.draw(st.integers(0, 30))
        content = content[:start] + data.draw(st.binary(max_size=4)) + content[end:]
    if re.search(rb"<posts", content[:200]):
        check(tmp_path_factory.mktemp("dump") / "Posts.xml", content)


def test_blocks_are_put_together_whatever_is_wrong_in_one(tmp_path):
    path = tmp_path / "Posts.xml"
    rows = [(USUAL if number % 3 == 0 else ANSWER) % number for number in range(1, 3_001)]
    rows[1_500] = rows[1_500].replace('Score="', 'Score="x')
    rows[2_000] = rows[10]  # an id that was there
    check(path, written(rows).encode())
    check(path, written(rows).encode()[:-400])
    assert skimmed(path)[1]["malformed rows"] == 4  # those two, one that is cut through, and no end


def test_a_dump_with_a_comment_is_read_row_by_row(tmp_path):
    path = tmp_path / "Posts.xml"
    path.write_text(written([USUAL % 1, f"<!-- {USUAL % 2} -->", USUAL % 3]), encoding="utf-8")
    with pytest.raises(UnsureError):
        skimmed(path)
    found = together(Dump(path), "storage")
    assert (found.use.questions, found.covered, found.read) == (2, [2], {"questions": 2})
