"""The builder on dumps that the tests write: what becomes a query, what a document, and what is left out and why."""

import hashlib
import json
import tracemalloc
from xml.sax.saxutils import quoteattr

import pytest

import builders.stackexchange.accepted_answers as builder
from builders.scratch import Scratch
from builders.stackexchange.collected import collect
from builders.stackexchange.dump import Dump
from builders.stackexchange.filters import Filters
from builders.stackexchange.posts import Post
from builders.stackexchange.site import Site, licence, licence_of_all
from freshstack_datasets import load, verify
from freshstack_datasets.errors import FreshStackError, InputError, MissingExtraError

HOST = "pottery.example.org"


def row(post_id, kind, **attributes):
    known = {"Id": post_id, "PostTypeId": kind, "CreationDate": "2019-05-06T07:08:09.010", "Score": 1}
    named = {**known, **attributes}
    return "<row " + " ".join(f"{k}={quoteattr(str(v))}" for k, v in named.items() if v is not None) + " />\n"


def question(post_id, accepted=None, **attributes):
    return row(post_id, 1, AcceptedAnswerId=accepted, **{"Title": f"Title {post_id}", "Body": "<p>b</p>", **attributes})


def answer(post_id, parent, **attributes):
    return row(post_id, 2, ParentId=parent, **{"Body": f"<p>Answer {post_id}</p>", **attributes})


@pytest.fixture
def build(tmp_path):
    def run(*rows, name="out", **options):
        posts = tmp_path / "Posts.xml"
        posts.write_text("<posts>\n" + "".join(rows) + "</posts>", encoding="utf-8", newline="")
        out = tmp_path / name
        built = builder.build(posts, out, **{"site": HOST, "snapshot": "2019-06", **options})
        assert verify(out) == []
        return built, load(out)

    return run


def listed(built):
    lines = (built.path / "provenance" / "dropped.jsonl").read_text().splitlines()
    return [(item["id"], item["line"], item["reason"]) for item in map(json.loads, lines)]


def test_a_question_and_its_accepted_answer_become_query_nugget_judgment_and_document(build):
    _, data = build(
        question(
            10,
            12,
            Title="Why  does\nit crack?",
            Body="<p>My <b>pot</b> cracks:</p><pre><code>x\n  y\n</code></pre>",
            Tags="<glaze><Kiln>",
            OwnerUserId=5,
            Score=7,
            ContentLicense="CC BY-SA 4.0",
        ),
        answer(11, 10, OwnerDisplayName="user7", Score=-3),
        answer(12, 10, OwnerUserId=6),
        answer(13, 10),
    )
    query = data.queries["10"]
    assert query.title == "Why does it crack?"
    assert query.body == "My pot cracks:\n\n```\nx\n  y\n```"
    assert query.text == query.title + " " + query.body
    assert (query.answer_id, query.answer_text) == ("12", "Answer 12")
    assert (query.url, query.author) == (f"https://{HOST}/q/10", f"https://{HOST}/users/5")
    assert (query.date, query.score, query.tags) == ("2019-05-06T07:08:09.010", 7, ("glaze", "Kiln"))
    assert (query.license, query.language) == ("CC BY-SA 4.0", "en")
    assert [(n.nugget_id, n.position, n.text) for n in data.nuggets] == [("10_0", 0, "Why does it crack?")]
    assert [(j.query_id, j.nugget_id, j.doc_id, j.score) for j in data.judgments] == [("10", "10_0", "12", 1)]
    documents = {document.doc_id: document for document in data.corpus}
    assert {key: (d.title, d.text) for key, d in documents.items()} == {
        "11": ("", "Answer 11"),
        "12": ("", "Answer 12"),
        "13": ("", "Answer 13"),
    }
    about = {"date": "2019-05-06T07:08:09.010", "license": "CC BY-SA 4.0"}
    urls = {key: f"https://{HOST}/a/{key}" for key in documents}
    assert documents["11"].metadata == {**about, "url": urls["11"], "author": "user7", "score": -3}
    assert documents["12"].metadata == {**about, "url": urls["12"], "author": f"https://{HOST}/users/6", "score": 1}
    assert documents["13"].metadata == {**about, "url": urls["13"], "score": 1}


def test_an_accepted_answer_may_stand_before_its_question(build):
    _, data = build(answer(5, 9), answer(4, 9), question(9, 5), answer(3, 9))
    assert data.queries["9"].answer_text == "Answer 5"
    assert list(data.corpus.ids) == ["3", "4", "5"]


def test_every_question_left_out_has_its_reason(build):
    built, data = build(
        question(1, 2),  # line 2
        answer(2, 1),
        question(3),  # accepted none
        answer(4, 3),
        question(5, 99),  # line 6: no such row
        question(6, 2),  # line 7: the answer to another question
        question(7, 3),  # line 8: accepted a question
        question(8, 9),  # line 9: accepted an empty answer
        answer(9, 8, Body="<p> </p>"),  # line 10
        question(10, 11),  # line 11: accepted a malformed row
        answer(11, 10, Score="many"),  # line 12
        row(20, 5, Body="a wiki"),
        row(21, 4, Body="an excerpt"),
        question(1_000_000_001, 1_000_000_010, OwnerUserId=-1),  # line 15: the two invented posts
        answer(1_000_000_010, 1_000_000_001, OwnerUserId=-1),
    )
    assert data.queries.columns("query_id")[0] == ["1"]
    assert list(data.corpus.ids) == ["2", "4"]
    assert dict(built.dropped) == {
        "questions without an accepted answer": 1,
        "questions whose accepted answer is missing": 2,
        "questions whose accepted answer is no answer to them": 2,
        "questions whose accepted answer is empty": 1,
        "empty answers": 1,
        "malformed rows: Score is no number": 1,
        "fabricated posts": 2,
    }
    assert {(f.name, f.dropped) for f in built.manifest.recipe.filters} == set(built.dropped.items())
    invented = "the dumps since mid-2025 hold two invented posts to mark copies"
    assert sorted(listed(built), key=lambda item: item[1]) == [
        ("5", 6, "its accepted answer, 99: no usable row of the dump has its id"),
        ("6", 7, "its accepted answer, 2: it is a post of another type, or answers another question"),
        ("7", 8, "its accepted answer, 3: it is a post of another type, or answers another question"),
        ("8", 9, "its accepted answer, 9: no text is left of it"),
        ("9", 10, "an answer without text"),
        ("10", 11, "its accepted answer, 11: no usable row of the dump has its id"),
        ("11", 12, "Score is no number: 'many'"),
        ("1000000001", 15, invented),
        ("1000000010", 16, invented),
    ]


def test_posts_with_the_ids_of_the_invented_ones_but_of_real_users_are_kept(build):
    _, data = build(question(1_000_000_001, 1_000_000_010, OwnerUserId=3), answer(1_000_000_010, 1_000_000_001))
    assert len(data.queries) == 1


def test_the_manifest_says_where_everything_came_from(build, tmp_path):
    built, _ = build(
        question(1, 2, Tags="|A|b|", CreationDate="2010-01-01T00:00:00.000"),
        answer(2, 1, CreationDate="2012-01-01T00:00:00.000"),
        row(3, 5),
        "<row/>",
        filters=Filters.parsed("a", "2009", "2010-06", -1),
    )
    content = (tmp_path / "Posts.xml").read_bytes()
    (source,) = built.manifest.sources
    assert (source.url, source.name) == (f"https://{HOST}", "Posts.xml")
    assert source.sha256 == hashlib.sha256(content).hexdigest()
    assert source.license == "CC BY-SA 2.5 AND CC BY-SA 3.0"
    assert source.counts == {
        "bytes": len(content),
        "rows": 4,
        "questions": 1,
        "answers": 1,
        "tag wikis": 1,
        "malformed rows": 1,
    }
    assert built.manifest.license == "CC-BY-SA-3.0"
    recipe = built.manifest.recipe
    assert recipe.builder == "accepted-answers"
    assert recipe.parameters == {"tags": ["a"], "from": "2009-01-01", "to": "2010-06-30", "min_score": -1}
    card = (built.path / "README.md").read_text()
    for said in ("one nugget a query", "only the accepted answer is judged", "CC BY-SA 2.5, CC BY-SA 3.0", "author"):
        assert said in card


@pytest.mark.parametrize(
    "options, said",
    [
        (("b,a", None, None, None), "with any of the tags a, b"),
        (
            (",".join(["a", *(f"t{i:02}" + "x" * 1_000 for i in range(40))]), None, None, None),
            "with any of the tags a, " + ", ".join(f"t{i:02}" + "x" * 47 for i in range(19)) + " and 21 more",
        ),
        ((None, "2010-02", None, None), "asked on 2010-02-01 or later"),
        ((None, None, "2010-02", None), "asked on 2010-02-28 or earlier"),
        ((None, None, None, 0), "with a score of at least 0"),
        (
            ("a", "2009", "2011", None),
            "with any of the tags a and asked on 2009-01-01 or later and asked on 2011-12-31 or earlier",
        ),
    ],
)
def test_the_card_says_which_questions_were_taken(build, options, said):
    rows = question(1, 2, Tags="|a|", CreationDate="2010-02-10T00:00:00.000", Score=4), answer(2, 1)
    some, _ = build(*rows, name="some", filters=Filters.parsed(*options))
    assert f"Only questions {said} were taken." in (some.path / "README.md").read_text().replace("\\", "")
    everything, _ = build(*rows, name="everything")
    assert "Only questions" not in (everything.path / "README.md").read_text()


def test_the_name_of_a_dump_may_be_any_that_a_file_can_have(tmp_path):
    posts = tmp_path / "Posts\n\x7f\udcff.xml"
    posts.write_text("<posts>" + question(1, 2) + answer(2, 1) + "</posts>")
    built = builder.build(posts, tmp_path / "out", site=HOST, snapshot="2019-06")
    assert built.manifest.sources[0].name == "Posts\ufffd\ufffd\ufffd.xml"


@pytest.mark.parametrize(
    "options, kept, dropped",
    [
        ({"tags": "GLAZE"}, ["1"], {"questions without any of the tags": 2}),
        ({"tags": " glaze , kiln"}, ["1", "3"], {"questions without any of the tags": 1}),
        ({"first": "2015-02"}, ["3", "5"], {"questions before 2015-02-01": 1}),
        ({"last": "2015-02"}, ["1", "3"], {"questions after 2015-02-28": 1}),
        ({"last": "2015-02-27"}, ["1"], {"questions after 2015-02-27": 2}),
        (
            {"first": "2015-02-28", "last": "2015-02-28"},
            ["3"],
            {"questions before 2015-02-28": 1, "questions after 2015-02-28": 1},
        ),
        ({"first": "2015", "last": "2015"}, ["1", "3", "5"], {}),
        ({"min_score": 2}, ["3", "5"], {"questions with a score below 2": 1}),
        ({"min_score": -5}, ["1", "3", "5"], {}),
    ],
)
def test_filters_take_the_questions_they_should(build, options, kept, dropped):
    built, data = build(
        question(1, 2, Tags="<glaze>", CreationDate="2015-01-31T23:59:59.999", Score=-1),
        answer(2, 1),
        question(3, 4, Tags="<clay><Kiln>", CreationDate="2015-02-28T23:59:59.999", Score=2),
        answer(4, 3),
        question(5, 6, CreationDate="2015-03-01T00:00:00.000", Score=9),
        answer(6, 5),
        filters=Filters.parsed(*(options.get(name) for name in ("tags", "first", "last", "min_score"))),
    )
    assert data.queries.columns("query_id")[0] == kept
    assert dict(built.dropped) == dropped
    assert list(data.corpus.ids) == ["2", "4", "6"]  # the corpus is every answer all the same


def test_posts_without_date_or_score_pass_only_where_nobody_asks(build):
    rows = question(1, 2, CreationDate=None, Score=None), answer(2, 1, CreationDate=None, Score=None)
    _, data = build(*rows)
    assert (data.queries["1"].date, data.queries["1"].score, data.queries["1"].license) == (None, None, None)
    for i, options in enumerate([(None, "2000", None, None), (None, None, "2030", None), (None, None, None, -9)]):
        with pytest.raises(InputError, match="left out: 1 question "):
            build(*rows, name=f"out{i}", filters=Filters.parsed(*options))


@pytest.mark.parametrize(
    "options, message",
    [
        ((None, "2015-13", None, None), "--from, expected a day, a month or a year: .* got '2015-13'"),
        ((None, "2015-02-29", None, None), "--from, expected .* got '2015-02-29'"),
        ((None, None, "01/02/2015", None), "--to, expected .* got '01/02/2015'"),
        ((None, None, "0000", None), "--to, expected .* got '0000'"),
        ((None, "", None, None), "--from, expected .* got ''"),
        ((None, "2016", "2015", None), "--from 2016-01-01 --to 2015-12-31, expected a first day that is not after"),
        (("a,\udcff", None, None, None), r"--tags, expected tags separated by commas, got 'a,\\udcff'"),
        ((" ,", None, None, None), "--tags, expected tags separated by commas, got ' ,'"),
    ],
)
def test_filters_that_mean_nothing_are_errors(options, message):
    with pytest.raises(InputError, match=message):
        Filters.parsed(*options)


def test_no_question_left_says_which_filter_removed_how_many(build, tmp_path):
    with pytest.raises(InputError) as caught:
        build(question(1, 2), answer(2, 1), question(3), filters=Filters.parsed("none", "2020", None, None))
    assert str(caught.value).endswith(
        "Posts.xml' is left, expected at least one with its accepted answer, got 3 rows, 2 questions, 1 answer; "
        "left out: 2 questions without any of the tags; loosen the filters, or take another dump"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["Posts.xml"]


def test_the_same_dump_gives_the_same_snapshot_and_the_order_of_rows_does_not_matter(build):
    rows = [question(1, 3), question(2, 4), answer(3, 1), answer(4, 2), answer(10, 2)]
    prints = {
        build(*order, name=name)[0].manifest.fingerprint
        for name, order in {"a": rows, "b": rows, "c": rows[::-1]}.items()
    }
    assert len(prints) == 1


def test_no_text_of_a_dump_is_kept_in_memory(tmp_path):
    """15 MB of questions that all wait for their answers to the end."""
    posts = tmp_path / "Posts.xml"
    with posts.open("w") as file:
        file.write("<posts>")
        file.writelines(question(i, i + 1000, Body="x" * 50_000) for i in range(1, 301))
        file.writelines(answer(i + 1000, i) for i in range(1, 301))
        file.write("</posts>")
    with Scratch(tmp_path / "a") as answers, Scratch(tmp_path / "b") as asked, Scratch(tmp_path / "c") as listed:
        tracemalloc.start()
        try:
            found = collect(Dump(posts), Site(HOST), Filters(), answers, asked, listed)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(found.questions) == 300
        assert found.post(found.questions[0]).body == "x" * 50_000
    assert peak < 6_000_000  # two blocks of 1 MB, and one row in the forms it goes through


def test_an_existing_folder_is_refused_before_the_dump_is_read(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    with pytest.raises(InputError, match="expected a new or an empty folder"):
        builder.build(tmp_path / "no-such-dump", tmp_path / "out", site=HOST, snapshot="2019-06")
    assert (tmp_path / "out" / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    "site, snapshot, message",
    [
        ("https://a.example.org", "2019-06", "--site, expected the site's host in small letters"),
        ("a.example.org/", "2019-06", "--site"),
        ("../x", "2019-06", "--site"),
        ("", "2019-06", "--site"),
        (
            HOST,
            "2019-13",
            "--snapshot, expected the dump's month, 2015-03, or a correction of it, 2015-03.1, got '2019-13'",
        ),
        (HOST, "june", "--snapshot"),
    ],
)
def test_a_bad_site_or_snapshot_is_refused_before_the_dump_is_read(tmp_path, site, snapshot, message):
    with pytest.raises(InputError, match=message):
        builder.build(tmp_path / "no-such-dump", tmp_path / "out", site=site, snapshot=snapshot)


@pytest.mark.parametrize("broken", [FreshStackError("x"), OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_behind_when_writing_fails(build, tmp_path, monkeypatch, broken):
    def fails(*_):
        raise broken

    monkeypatch.setattr(builder, "_query", fails)
    with pytest.raises(type(broken)):
        build(question(1, 2), answer(2, 1))
    assert [path.name for path in tmp_path.iterdir()] == ["Posts.xml"]


def test_a_missing_extra_is_said_before_the_dump_is_read(tmp_path, monkeypatch):
    def absent():
        raise MissingExtraError("selectolax", "build")

    monkeypatch.setattr(builder, "html_parser", absent)
    with pytest.raises(MissingExtraError):
        builder.build(tmp_path / "no-such-dump", tmp_path / "out", site=HOST, snapshot="2019-06")


@pytest.mark.parametrize(
    "host, language",
    [
        ("stackoverflow.com", "en"),
        ("es.stackoverflow.com", "es"),
        ("pt.stackoverflow.com", "pt"),
        ("ru.stackoverflow.com", "ru"),
        ("ja.stackoverflow.com", "ja"),
        ("es.example.org", "en"),
        ("meta.stackoverflow.com", "en"),
    ],
)
def test_the_language_follows_from_the_site(host, language):
    assert Site(host).language == language


@pytest.mark.parametrize(
    "date, said, name",
    [
        ("2011-04-07T23:59:59.999", "", "CC BY-SA 2.5"),
        ("2011-04-08T00:00:00.000", "", "CC BY-SA 3.0"),
        ("2018-05-01T23:59:59.999", "", "CC BY-SA 3.0"),
        ("2018-05-02T00:00:00.000", "", "CC BY-SA 4.0"),
        ("2010-01-01", "CC BY-SA 4.0", "CC BY-SA 4.0"),
        ("", "", None),
    ],
)
def test_the_licence_is_the_one_said_or_that_of_the_day(date, said, name):
    post = Post(1, 1, 1, date, 0, "", "T", (), None, None, None, "", said)
    assert licence(post) == name


@pytest.mark.parametrize(
    "licences, whole",
    [
        (["CC BY-SA 3.0"], "CC-BY-SA-3.0"),
        (["CC BY-SA 2.5", "CC BY-SA 4.0", "CC BY-SA 3.0"], "CC-BY-SA-4.0"),
        (["CC BY-SA 3.0", "in house"], "CC BY-SA 3.0 AND in house"),
        ([], "unknown"),
    ],
)
def test_the_licence_of_the_whole(licences, whole):
    assert licence_of_all(licences) == whole
