"""Reading a dump: rows of any layout come back the same, and a bad one is named and costs no other."""

import hashlib
import io
import tracemalloc
import zipfile
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders.stackexchange.dump import Dump
from builders.stackexchange.posts import BadRow, Post, SeenIds, read_posts
from freshstack_datasets.errors import InputError

QUESTION = '<row Id="{}" PostTypeId="1" Title="T" Score="3" CreationDate="2015-01-02T03:04:05.678" Body="&lt;p&gt;b" />'
GOOD = QUESTION.format(7)


@pytest.fixture
def dump(tmp_path):
    def write(rows, *, head="", tail="</posts>", **options):
        content = rows if isinstance(rows, bytes) else rows.encode("utf-8", "surrogateescape")
        path = tmp_path / "Posts.xml"
        path.write_bytes(head.encode() + b"<posts>" + content + tail.encode())
        return Dump(path, **options)

    return write


def read(dump):
    return list(read_posts(dump, SeenIds()))


def test_a_question_is_read_with_all_that_it_says(dump):
    row = """<row Id="12" PostTypeId="1" AcceptedAnswerId="15" CreationDate="2015-01-27T20:09:32.720" Score="-2"
        Body="&lt;p&gt;caf&#xE9; &amp;amp; tea&lt;/p&gt;&#xA;" OwnerUserId="4" Title=" What  is&#xA;it? "
        Tags="&lt;c#&gt;&lt;.net-4.0&gt;" ContentLicense="CC BY-SA 3.0" ViewCount="9"/>"""
    assert read(dump(row)) == [
        Post(
            line=1,
            post_id=12,
            kind=1,
            date="2015-01-27T20:09:32.720",
            score=-2,
            body="<p>café &amp; tea</p>\n",
            title="What is it?",
            tags=("c#", ".net-4.0"),
            accepted=15,
            parent=None,
            owner=4,
            owner_name="",
            license="CC BY-SA 3.0",
        )
    ]


def test_an_answer_of_a_deleted_user_is_read(dump):
    (post,) = read(dump('<row Id="2" PostTypeId="2" ParentId="1" OwnerDisplayName="user 9" Body="" />'))
    assert (post.kind, post.parent, post.owner, post.owner_name) == (2, 1, None, "user 9")
    assert (post.date, post.score, post.body, post.license) == ("", None, "", "")


@pytest.mark.parametrize("tags", ["&lt;a&gt;&lt;b-c&gt;", "|a|b-c|"])
def test_both_spellings_of_tags_are_read(dump, tags):
    (post,) = read(dump(f'<row Id="1" PostTypeId="1" Title="T" Tags="{tags}" />'))
    assert post.tags == ("a", "b-c")


@pytest.mark.parametrize("head", ["\ufeff", '\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n', "<!-- <users> -->\n"])
def test_what_may_stand_before_the_rows(dump, head):
    assert [post.post_id for post in read(dump(GOOD, head=head))] == [7]


@pytest.mark.parametrize(
    "between",
    ["", "\n", "\r\n  ", "<other/>", "text", "<!-- <row Id='1'/> -->", "<rowing/>", "<![CDATA[<row Id='1'/>]]>"],
)
def test_what_may_stand_between_rows(dump, between):
    assert [post.post_id for post in read(dump(between + GOOD + between + QUESTION.format(8) + between))] == [7, 8]


def test_lines_are_counted_as_an_editor_does(dump):
    rows = f"\r\n{GOOD}\r\n<!--\n\n-->\n\n<row Id='x'\n/>{QUESTION.format(8)}\n<row Id='9'\n\n<row Id='y' />"
    assert [row.line for row in read(dump(rows, head="\n"))] == [3, 8, 9, 10, 12]


row_values = st.fixed_dictionaries(
    {
        "Title": st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=30),
        "Body": st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t\r<>&\"'"), max_size=200),
        "OwnerDisplayName": st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=10),
        "Score": st.integers(-99, 99).map(str),
    }
)


@given(
    st.lists(row_values, max_size=5),
    st.sampled_from(["", " ", "\n", "\r\n  ", "\n<!-- a < b /> -->\n"]),
    st.sampled_from([" ", "\n", "\t\r\n  "]),
    st.integers(1, 300),
)
@example([{"Title": "\ufffe", "Body": "", "OwnerDisplayName": "", "Score": "0"}], "", " ", 1)
def test_rows_of_any_layout_come_back_the_same_with_blocks_of_any_size(tmp_path_factory, rows, between, space, block):
    rows = [row for row in rows if not any("\ufffe" <= c <= "\uffff" for v in row.values() for c in v)]  # never XML
    text = "<?xml version='1.0'?><posts>"
    for i, row in enumerate(rows, 1):
        attributes = {"Id": str(i), "PostTypeId": "1", **row}
        text += between + "<row" + "".join(f"{space}{k}={quoteattr(v)}" for k, v in attributes.items()) + "/>"
    path = tmp_path_factory.mktemp("dump") / "Posts.xml"
    path.write_bytes(f"{text}{between}</posts>".encode())
    posts = read(Dump(path, block=block))
    assert [(p.post_id, p.title, p.body, p.owner_name, str(p.score)) for p in posts] == [
        (i, row["Title"], row["Body"], row["OwnerDisplayName"], row["Score"]) for i, row in enumerate(rows, 1)
    ]
    assert posts == read(Dump(path))  # lines too


damage = st.lists(
    st.sampled_from(
        [
            "<row ",
            "<row",
            "/>",
            "<",
            ">",
            '"',
            "<!--",
            "-->",
            "</row>",
            "<![CDATA[",
            "]]>",
            "\n",
            'Id="1"',
            GOOD,
            "</posts>",
            "x" * 40,
        ]
    )
    | st.binary(max_size=5).map(lambda b: b.decode("utf-8", "surrogateescape")),
    max_size=20,
)


@given(damage, st.integers(1, 60), st.integers(150, 400))
def test_damage_gives_the_same_rows_with_blocks_of_any_size(tmp_path_factory, parts, block, limit):
    path = tmp_path_factory.mktemp("dump") / "Posts.xml"
    path.write_bytes(b"<posts>" + "".join(parts).encode("utf-8", "surrogateescape"))
    assert read(Dump(path, block=block, limit=limit)) == read(Dump(path, limit=limit))


@pytest.mark.parametrize(
    "row, post_id, reason, detail",
    [
        ('<row PostTypeId="1" Title="T" />', "", "no Id", ""),
        ('<row Id="x1" PostTypeId="1" Title="T" />', "x1", "Id is no positive number", "'x1'"),
        ('<row Id="-1" PostTypeId="1" Title="T" />', "-1", "Id is no positive number", "'-1'"),
        ('<row Id="0" PostTypeId="1" Title="T" />', "0", "Id is no positive number", "'0'"),
        ('<row Id="٣" PostTypeId="1" Title="T" />', "٣", "Id is no positive number", "'٣'"),
        (f'<row Id="{"9" * 30}" PostTypeId="1" Title="T" />', "9" * 30, "Id is no positive number", f"'{'9' * 30}'"),
        ('<row Id="1" Title="T" />', "1", "no PostTypeId", ""),
        ('<row Id="1" PostTypeId="100" />', "1", "PostTypeId or ContentLicense is none that exists", "100"),
        (
            '<row Id="1" PostTypeId="1" Title="T" ContentLicense="a&#x7f;b" />',
            "1",
            "PostTypeId or ContentLicense is none that exists",
            r"'a\x7fb'",
        ),
        ('<row Id="1" PostTypeId="1" Title="T" Score="1.5" />', "1", "Score is no number", "'1.5'"),
        ('<row Id="1" PostTypeId="1" Title="T" OwnerUserId="me" />', "1", "OwnerUserId is no number", "'me'"),
        (
            '<row Id="1" PostTypeId="1" Title="T" CreationDate="2015-02-30T00:00:00" />',
            "1",
            "CreationDate is no date",
            "'2015-02-30T00:00:00'",
        ),
        ('<row Id="1" PostTypeId="1" Title="T" CreationDate="soon" />', "1", "CreationDate is no date", "'soon'"),
        ('<row Id="1" PostTypeId="1" Title=" " />', "1", "a question without Title", ""),
        ('<row Id="1" PostTypeId="2" />', "1", "no ParentId", ""),
        (
            '<row Id="1" PostTypeId="1" Title="T" AcceptedAnswerId="b" />',
            "1",
            "AcceptedAnswerId is no positive number",
            "'b'",
        ),
        ('<row Id="1" PostTypeId="1" Title="a & b" />', "1", "malformed XML", "not well-formed (invalid token)"),
        ('<row Id="1" Id="2" PostTypeId="1" Title="T" />', "1", "malformed XML", "duplicate attribute"),
        ('<row Id="1" PostTypeId="1" Title="&nbsp;" />', "1", "malformed XML", "undefined entity"),
        ('<row Id="1" PostTypeId="1" Title="&#0;" />', "1", "malformed XML", "reference to invalid character number"),
        (
            '<row Id="1" PostTypeId="1" Title="&#xD800;" />',
            "1",
            "malformed XML",
            "reference to invalid character number",
        ),
        ('<row Id="1" PostTypeId="1" Title="\0" />', "1", "a control character", "b'\\x00' at byte 34"),
        ('<row Id="1" PostTypeId="1" Title="\x1b[2J" />', "1", "a control character", "b'\\x1b' at byte 34"),
        ('<row Id="1" PostTypeId="1" Title="\udcff" />', "1", "not UTF-8", "byte 34 of the row: b'\\xff\" /'"),
        ('<row Id="1" PostTypeId="1" Title="T"', "1", "a row without /> before the next <", ""),
        ('<row Id="1" PostTypeId="1" Title="T">text</row>', "1", "a row without /> before the next <", ""),
        ('<row Id="1" PostTypeId="1" Title="1 < 2" />', "1", "a row without /> before the next <", ""),
        ('<row Id="1" PostTypeId="1" Title="no quote />', "1", "malformed XML", "unclosed token"),
        (GOOD.replace("7", "1") + GOOD.replace("7", "1"), "1", "duplicate Id", "Id 1 was there before"),
    ],
)
def test_a_bad_row_is_named_and_costs_no_other(dump, row, post_id, reason, detail):
    bads = [row for row in read(dump("\n" + row + GOOD)) if isinstance(row, BadRow)]
    posts = [row.post_id for row in read(dump("\n" + row + GOOD)) if isinstance(row, Post)]
    assert [(bad.line, bad.post_id, bad.reason) for bad in bads] == [(2, post_id, reason)]
    assert bads[0].detail.startswith(detail)
    assert posts == [1, 7][-1 - (reason == "duplicate Id") :]


def test_no_entity_is_ever_expanded(dump, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    head = f'<!DOCTYPE posts [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "{secret.as_uri()}">]>'
    rows = "".join(f'<row Id="{i}" PostTypeId="1" Title="&{name};" />' for i, name in enumerate("abc", 1))
    *bad, good = read(dump(rows + GOOD, head=head))
    assert [(row.post_id, row.reason) for row in bad] == [(str(i), "malformed XML") for i in (1, 2, 3)]
    assert all(row.detail.startswith("undefined entity") for row in bad)
    assert good.post_id == 7


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
@pytest.mark.parametrize("length, good", [(999, True), (1000, True), (1001, False), (5000, False)])
def test_a_row_longer_than_the_limit_is_malformed(dump, block, length, good):
    row = '<row Id="1" PostTypeId="1" Title="T" Body="{}"/>'
    row = row.format("x" * (length - len(row) + 2))
    assert len(row) == length
    first, second = read(dump(f"{row}{' ' * 3000}{GOOD}", block=block, limit=1000))
    assert second.post_id == 7
    if good:
        assert first.post_id == 1
    else:
        assert first == BadRow(1, "1", "a row longer than 1000 bytes")


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_a_file_that_is_cut_off_says_so(dump, block):
    good, half, end = read(dump(GOOD + '\n<row Id="8" Post', tail="", block=block))
    assert good.post_id == 7
    assert half == BadRow(2, "8", "a row without /> before the next <")
    assert end == BadRow(2, "", "the file is cut off: it ends without </posts>")


def test_a_comment_that_is_not_closed_says_so(dump):
    good, bad = read(dump(GOOD + "\n<!-- " + GOOD, block=5))
    assert good.post_id == 7
    assert bad == BadRow(2, "", "a comment is not closed, what follows it is not read")


@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_an_open_comment_within_a_damaged_row_costs_no_other(dump, block):
    bad, good = read(dump('<row Id="1" PostTypeId="1" Title="T" Body="<!-- <![CDATA[ " />' + GOOD, block=block))
    assert (bad.post_id, bad.reason) == ("1", "a row without /> before the next <")
    assert good.post_id == 7


@pytest.mark.parametrize("block", [1, 5, 1 << 20])
@pytest.mark.parametrize("space", ["", " \r\n"])
def test_a_row_with_an_end_tag_of_its_own_is_the_same(dump, space, block):
    rows = QUESTION.format(8).replace("/>", f">{space}</row>") + GOOD
    eight, seven = read(dump(rows, block=block))
    assert (eight.post_id, eight.body) == (8, seven.body)


def test_the_digest_and_the_size_are_those_of_the_file(dump):
    source = dump(GOOD * 3, block=10)
    read(source)
    content = source.path.read_bytes()
    assert source.sha256 == hashlib.sha256(content).hexdigest()
    assert source.size == len(content)


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("Posts.xml", "<posts/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content, got",
    [
        (b"", "an empty file"),
        (b"<?xml version='1.0'?>\n<users>\n<row Id='1'/></users>", "a file with the root element <users>"),
        (b"<!DOCTYPE html><html>", "a file with the root element <html>"),
        (b"<row Id='1'/>", "a file with the root element <row>"),
        (b"<posts2>", "a file with the root element <posts2>"),
        (b"Id,Title\n1,a\n", "no XML, a file that begins with b'Id,Title"),
        (bytes(100), "no XML, a file that begins with b'\\x00"),
        (zipped(), "a ZIP archive; unpack it first"),
        (b"\x1f\x8b\x08", "a gzip file; unpack it first: gunzip FILE"),
        ("<posts></posts>".encode("utf-16"), "UTF-16 or UTF-32; convert it first"),
        ("<posts></posts>".encode("utf-16-be"), "UTF-16 or UTF-32; convert it first"),
        (
            b"<?xml version='1.0' encoding='iso-8859-1'?><posts/>",
            "XML in the encoding 'iso-8859-1'; convert it to UTF-8",
        ),
    ],
)
def test_a_file_that_is_no_posts_dump_is_an_error(tmp_path, content, got):
    path = tmp_path / "a.xml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(Dump(path))
    assert (
        f"{path}' is no posts dump, expected the Posts.xml of a Stack Exchange dump, in UTF-8, or the .7z it comes in, got {got}"
        in str(caught.value)
    )


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(InputError, match="got no such file or directory"):
        read(Dump(tmp_path / "none.xml"))
    with pytest.raises(InputError, match="got is a directory"):
        read(Dump(tmp_path))
    with pytest.raises(InputError, match="got a path with a NUL"):
        read(Dump(tmp_path / "a\0b"))


@given(st.lists(st.integers(1, 300) | st.integers(1, 10**18) | st.integers(8000, 9000), max_size=300))
@example(list(range(8100, 8300)))
def test_seen_ids_are_a_set(numbers):
    seen, expected = SeenIds(), set()
    for number in numbers:
        assert (number in seen) == (number in expected)
        seen.add(number)
        expected.add(number)
    assert all(number in seen for number in expected)
    assert not any(number + 1 in seen for number in expected if number + 1 not in expected)


def test_reading_takes_the_same_memory_however_long_the_dump_is(tmp_path):
    """40 MB of rows, and one more row of 20 MB that is longer than a row may be."""
    path = tmp_path / "Posts.xml"
    row = '<row Id="{}" PostTypeId="2" ParentId="1" Score="1" Body="{}" />\n'
    with path.open("w") as file:
        file.write("<posts>\n")
        for i in range(1, 20_001):
            file.write(row.format(i, "x" * 2_000))
        file.write(row.format(30_000, "x" * 20_000_000) + row.format(30_001, "y") + "</posts>")
    tracemalloc.start()
    try:
        rows = posts = 0
        for post in read_posts(Dump(path, limit=1 << 20), SeenIds()):
            rows += 1
            posts += isinstance(post, Post)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (rows, posts) == (20_002, 20_001)
    assert peak < 8_000_000  # a row of 1 MB at most, a block of 1 MB, and what joining them takes
