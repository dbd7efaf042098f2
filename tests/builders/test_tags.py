"""Counting tags: what goes together with one, what is young, and which repositories the topic files have for it."""

import json
import tracemalloc
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import py7zr
import pytest

import builders.stackexchange.tags as tags_module
from builders.cli import main
from builders.stackexchange.dump import Dump
from builders.stackexchange.tags import together, young
from builders.topics import read_topic, topic_files
from freshstack_datasets.errors import InputError, UnknownNameError

ROOT = Path(__file__).parents[2]
POSTS = ROOT / "tests" / "data" / "Posts.xml"
COFFEE = ROOT.parent / "shared" / "data" / "coffee.stackexchange.com-Posts.xml"


def question(post_id, tags, day="2024-01-02", **attributes):
    spelled = tags if isinstance(tags, str) else "|" + "|".join(tags) + "|"
    named = {"Id": post_id, "PostTypeId": 1, "Title": "T", "CreationDate": day, "Tags": spelled, **attributes}
    return "<row " + " ".join(f"{key}={quoteattr(str(value))}" for key, value in named.items() if value) + " />\n"


@pytest.fixture
def dump(tmp_path):
    def write(*rows):
        path = tmp_path / "Posts.xml"
        path.write_text("<posts>\n" + "".join(rows) + "</posts>", encoding="utf-8")
        return path

    return write


@pytest.fixture
def small(dump):
    """Write questions on a: three with b, two with c (one of them with b too), one with d alone, one with nothing."""
    return dump(
        question(1, ["a", "b"], "2023-05-06"),
        question(2, ["b", "a"], "2022-01-01"),
        question(3, "<a><b><c>", "2024-02-03"),
        question(4, "<c><a>", "2023-07-08"),
        question(5, ["A", "d"], ""),
        question(6, ["a"], "2021-01-01"),
        question(7, ["b", "d"], "2020-01-01"),
        '<row Id="8" PostTypeId="2" ParentId="1" Tags="|a|b|" />',
    )


def test_tags_that_go_together_are_counted_ranked_and_dated(small):
    found = together(Dump(small), "a")
    assert (found.use.questions, found.use.first, found.use.last) == (6, "2021-01-01", "2024-02-03")
    assert [(use.tag, use.questions, use.first, use.last) for use in found.others] == [
        ("b", 3, "2022-01-01", "2024-02-03"),
        ("c", 2, "2023-07-08", "2024-02-03"),
        ("d", 1, "", ""),  # its only question with a has no date
    ]
    assert found.read == {"questions": 7}


def test_a_question_is_covered_once_by_the_best_of_its_tags(small):
    """By b: 1, 2, 3. By b or c: 4 too. By b, c or d: 5 too; 6 has a alone."""
    assert together(Dump(small), "a").covered == [3, 4, 5]


def test_letters_of_a_tag_may_be_small_or_capital(small):
    assert together(Dump(small), " A ").use.questions == 6


def test_tags_that_are_alone_have_no_company(dump):
    found = together(Dump(dump(question(1, ["a"]))), "a")
    assert (found.others, found.covered) == ([], [])


def test_a_tag_written_twice_counts_once(dump):
    found = together(Dump(dump(question(1, ["a", "b", "B", "a"]))), "a")
    assert [(use.tag, use.questions) for use in found.others] == [("b", 1)]


def test_what_is_kept_may_go_to_disk(small, monkeypatch):
    monkeypatch.setattr(tags_module, "_IN_MEMORY", 1)
    monkeypatch.setattr(tags_module, "_BLOCK", 8)  # one number
    assert together(Dump(small), "a").covered == [3, 4, 5]


def test_an_unknown_tag_has_near_ones(small, dump):
    with pytest.raises(UnknownNameError, match=r"unknown tag 'langchian'; did you mean 'langchain'\?"):
        together(Dump(dump(question(1, ["langchain"]))), "langchian")


def test_invented_posts_and_rows_that_are_wrong_are_named_and_not_counted(dump):
    found = together(
        Dump(
            dump(
                question(1, ["a", "b"]),
                question(1, ["a", "c"]),
                question(1_000_000_001, ["a", "b"], "2025-06-01", OwnerUserId=-1),
                '<row Id="x" />',
            )
        ),
        "a",
    )
    assert found.read == {"questions": 1, "fabricated posts": 1, "malformed rows": 2}
    assert (found.use.questions, found.use.last) == (1, "2024-01-02")


def test_young_tags_are_those_first_used_since_and_often_enough(dump):
    path = dump(
        *(question(n, ["new", "old"], "2023-01-01") for n in range(1, 4)),
        *(question(n, ["newer"], "2023-03-01") for n in range(4, 6)),
        question(6, ["rare"], "2024-01-01"),
        question(7, ["old"], "2022-12-31"),
        *(question(n, ["undated"], "") for n in range(8, 12)),
    )
    found, read = young(Dump(path), "2023-01-01", 2)
    assert [(use.tag, use.questions, use.first) for use in found] == [
        ("new", 3, "2023-01-01"),
        ("newer", 2, "2023-03-01"),
    ]
    assert read == {"questions": 11}


def test_tags_without_end_are_refused(dump, monkeypatch):
    path = dump(*(question(n, [f"tag{n}"]) for n in range(1, 6)))
    monkeypatch.setattr(tags_module, "_MOST_TAGS", 4)
    with pytest.raises(InputError, match="expected at most 4 tags"):
        young(Dump(path), "", 1)
    monkeypatch.setattr(tags_module, "_MOST_TAGS", 5)
    monkeypatch.setattr(tags_module, "_MOST_LETTERS", 19)  # the five have 20
    with pytest.raises(InputError, match="of 19 letters together"):
        young(Dump(path), "", 1)


def test_memory_does_not_grow_with_the_questions(dump, monkeypatch):
    monkeypatch.setattr(tags_module, "_IN_MEMORY", 1 << 16)

    def peak(number):
        path = dump(*(question(n, ["a", f"t{n % 50}"], Body="b" * 300) for n in range(1, number + 1)))
        tracemalloc.start()
        try:
            together(Dump(path, block=1 << 16), "a")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)  # what is imported at first
    assert peak(10_000) < peak(2_000) + 300_000  # of numbers alone 8,000 questions more would be twice that


def counted_with_xml_etree(path, tag):
    """Count with the parser of the standard library, and the covered questions by asking each of them anew."""
    sets = [
        (
            set(row.get("Tags").replace("|", " ").replace("<", " ").replace(">", " ").split()),
            row.get("CreationDate")[:10],
        )
        for row in ElementTree.parse(path).getroot()
        if row.get("PostTypeId") == "1"
    ]
    having = [(tags - {tag}, day) for tags, day in sets if tag in tags]
    counts = Counter(other for tags, _ in having for other in tags)
    order = sorted(counts, key=lambda other: (-counts[other], other))
    days = {other: sorted(day for tags, day in having if other in tags) for other in order}
    covered = [sum(1 for tags, _ in having if tags & set(order[: n + 1])) for n in range(len(order))]
    return len(having), [(other, counts[other], days[other][0], days[other][-1]) for other in order], covered


@pytest.mark.parametrize(
    "path, tag", [(POSTS, "sourdough"), (POSTS, "crust"), (COFFEE, "espresso"), (COFFEE, "brewing-process")]
)
def test_counts_of_whole_dumps_are_those_of_another_parser(path, tag):
    if not path.is_file():
        pytest.skip("that dump is not here")
    found = together(Dump(path), tag)
    others = [(use.tag, use.questions, use.first, use.last) for use in found.others]
    assert (found.use.questions, others, found.covered) == counted_with_xml_etree(path, tag)
    assert others


def test_young_tags_of_a_whole_dump_are_those_of_another_parser():
    rows = [row for row in ElementTree.parse(POSTS).getroot() if row.get("PostTypeId") == "1"]
    days = {}
    for row in rows:
        for tag in row.get("Tags").strip("|").split("|"):
            days.setdefault(tag, []).append(row.get("CreationDate")[:10])
    wanted = {tag: len(of_tag) for tag, of_tag in days.items() if min(of_tag) >= "2024-03-10"}
    found, _ = young(Dump(POSTS), "2024-03-10", 1)
    assert wanted
    assert {use.tag: use.questions for use in found} == wanted


@pytest.fixture
def topics(tmp_path):
    folder = tmp_path / "topics"
    folder.mkdir()
    topic = "name: {}\ndomain: d\ntags: [{}]\nrepositories:\n"
    one = "  - url: https://github.com/{0}\n    name: {0}\n    date: 2024-10-24\n"
    (folder / "one.yaml").write_text(topic.format("one", "B, x") + one.format("o/b") + one.format("o/shared"))
    (folder / "two.yml").write_text(topic.format("two", "b, a") + one.format("o/shared") + one.format("o/a"))
    (folder / "notes.txt").write_text("no topic")
    return folder


def test_the_command_prints_a_table(small, topics, capsys):
    assert main(["tags", str(small), "--tag", "a", "--top", "2", "--topics", str(topics)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines() == [
        "read: 7 questions",
        "a: 6 questions, 2021-01-01 to 2024-02-03; o/shared, o/a",
        "tag  questions  share  covered  first       last        repositories",
        "b            3  50.0%    50.0%  2022-01-01  2024-02-03  o/b, o/shared, o/a",
        "c            2  33.3%    66.7%  2023-07-08  2024-02-03",
        "1 more; --top 3 lists all",
    ]


def test_the_command_prints_json(small, topics, capsys):
    assert main(["tags", str(small), "--tag", "a", "--topics", str(topics), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["tag"], told["questions"], told["found"], told["read"]) == ("a", 6, 3, {"questions": 7})
    assert told["tags"][0] == {
        "tag": "b",
        "questions": 3,
        "share": 0.5,
        "covered": 0.5,
        "first": "2022-01-01",
        "last": "2024-02-03",
        "repositories": [
            {"name": "o/b", "url": "https://github.com/o/b", "topic": "one"},
            {"name": "o/shared", "url": "https://github.com/o/shared", "topic": "one"},
            {"name": "o/a", "url": "https://github.com/o/a", "topic": "two"},
        ],
    }
    assert told["tags"][2]["first"] is None


def test_without_a_folder_the_topics_of_the_clone_are_used(dump, capsys):
    path = dump(question(1, ["python", "langchain"]))
    assert main(["tags", str(path), "--tag", "python", "--json"]) == 0
    (langchain,) = json.loads(capsys.readouterr().out)["tags"]
    (topic,) = (read_topic(path) for path in topic_files() if path.stem == "langchain")
    assert [repository["name"] for repository in langchain["repositories"]] == [r.name for r in topic.repositories]


def test_the_command_lists_young_tags_of_an_archive(small, tmp_path, capsys):
    packed = tmp_path / "site.7z"
    with py7zr.SevenZipFile(packed, "w") as archive:
        archive.write(small, "Posts.xml")
    assert main(["tags", str(packed), "--new-since", "2023-07", "--min-posts", "2"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["read:", "7", "questions"],
        ["tag", "questions", "first", "last", "repositories"],
        ["c", "2", "2023-07-08", "2024-02-03"],
    ]
    assert main(["tags", str(packed), "--new-since", "2023-07"]) == 0  # none has 50
    assert capsys.readouterr().out == "read: 7 questions\nno tags\n"
    assert main(["tags", str(packed), "--new-since", "2023-07", "--min-posts", "2", "--json"]) == 0
    assert [use["tag"] for use in json.loads(capsys.readouterr().out)["tags"]] == ["c"]


@pytest.mark.parametrize(
    "options, told",
    [
        ([], "tags, expected either --tag or --new-since, got neither"),
        (["--tag", "a", "--new-since", "2023"], "got both"),
        (["--tag", "a", "--min-posts", "3"], "--min-posts, expected --new-since beside it, got --tag"),
        (["--new-since", "soon"], "--new-since, expected a day, a month or a year"),
        (["--tag", "nowhere"], "unknown tag 'nowhere'"),
        (["--tag", "a", "--topics", "no-folder"], "--topics, expected a folder of topic files, *.yaml, got no-folder"),
    ],
)
def test_what_cannot_be_done_is_said_on_one_line(small, capsys, options, told):
    assert main(["tags", str(small), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert err.count("\n") == 1


def test_a_map_adds_repositories_to_those_of_topics(small, topics, tmp_path, capsys):
    (tmp_path / "map.yaml").write_text(
        "B: [https://github.com/o/more.git, https://github.com/o/b]\nC: git@example.org:x/c\n", encoding="utf-8"
    )
    assert main(["tags", str(small), "--tag", "a", "--topics", str(topics), "--map", str(tmp_path / "map.yaml")]) == 0
    of_b, of_c = capsys.readouterr().out.splitlines()[3:5]
    assert of_b.endswith("  o/more, o/b, o/shared, o/a")
    assert of_c.endswith("  x/c")
    options = ["--new-since", "2023", "--min-posts", "1", "--map", str(tmp_path / "map.yaml"), "--json"]
    assert main(["tags", str(small), *options]) == 0
    (of_c,) = json.loads(capsys.readouterr().out)["tags"]
    assert of_c["repositories"] == [{"name": "x/c", "url": "git@example.org:x/c", "topic": None}]


@pytest.mark.parametrize(
    "content, message",
    [
        ("b: 7", "map.yaml:1, 'b', expected the address of a repository, or a list of such, got '7'"),
        ("a: []\nb:", "map.yaml:2, 'b', expected the address of a repository, or a list of such, got nothing"),
        ("b: ext::sh", "map.yaml:1, 'b', expected https://…, ssh://…"),
        ("b: https://me:hunter2@example.org/x", "map.yaml:1, 'b', expected a URL without a name or a password"),
        ("- b", "map.yaml, expected keys and their values, got a list"),
        (None, "map.yaml', expected a file that maps tags to repositories, got no such file or directory"),
    ],
)
def test_a_map_that_is_none_is_told(small, tmp_path, capsys, content, message):
    if content is not None:
        (tmp_path / "map.yaml").write_text(content, encoding="utf-8")
    assert main(["tags", str(small), "--tag", "a", "--map", str(tmp_path / "map.yaml")]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "hunter2" not in err
