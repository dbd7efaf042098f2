"""``python -m builders new``: what it asks, what it writes, and what it leaves alone."""

import datetime
import errno
import io
import json
import re
import sys
from pathlib import Path

import pytest

from builders.cli import main
from builders.topics import read_topic
from builders.topics.questions import Questions

COMMIT = "724c31ccd3edce6b6dfe5e0dd2a594a47217f078"
OPTIONS = ["--domain", "Customer support", "--no-input"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """The working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


@pytest.fixture
def typing(monkeypatch):
    """Type lines at the questions."""
    return lambda *lines: monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_options_say_everything(here, capsys):
    sources = [
        "--repository",
        f"https://github.com/acme/docs.git#{COMMIT}",
        "--repository",
        "git@example.org:acme/api#v1.0",
    ]
    more = ["--documents", "handbook", "--tags", "Billing, login,billing", "--from", "2024-01", "--to", "2024"]
    assert main(["new", "acme/support", *OPTIONS, *sources, *more]) == 0
    topic = read_topic(here / "support.yaml")
    assert (topic.name, topic.domain, topic.tags) == ("acme/support", "Customer support", ("Billing", "login"))
    assert (topic.first, topic.last) == (datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))
    docs, api = topic.repositories
    assert (docs.url, docs.name, docs.commit) == ("https://github.com/acme/docs.git", "acme/docs", COMMIT)
    assert (api.url, api.name, api.tag) == ("git@example.org:acme/api", "acme/api", "v1.0")
    assert topic.documents[0].path == str(here / "handbook")
    out, err = capsys.readouterr()
    assert out == (
        "support.yaml: topic acme/support, 2 repositories, 1 source of documents\n"
        "look it through, then: python -m builders build support.yaml --posts DUMP --snapshot YYYY-MM --out DIR --dry-run\n"
    )
    assert err == ""


def test_the_file_has_comments_and_what_may_be_added_to_it_is_read(here):
    assert main(["new", "support", *OPTIONS, "--repository", "https://github.com/acme/docs#v1"]) == 0
    text = (here / "support.yaml").read_text(encoding="utf-8")
    for example in ("from: 2024-01", "to: 2026-06-30", "license: MIT", 'include: [docs/, "*.md"]', "exclude: [tests/]"):
        assert f"# {example}\n" in text
        text = text.replace(f"# {example}", example)
    for example in ("documents:", "  - path: handbook", "    name: handbook"):
        assert f"# {example}\n" in text
        text = text.replace(f"# {example}\n", f"{example}\n")
    start = text.index("# questions:\n")
    text = text[:start] + re.sub(r"^# (?=(?:models|pool|filter|questions):|  [a-z_-]+: )", "", text[start:], flags=re.M)
    (here / "support.yaml").write_text(text, encoding="utf-8")
    topic = read_topic(here / "support.yaml")
    assert (topic.models.key_from, topic.models.second.share) == ("OPENAI_API_KEY", 0.1)
    assert [one.label for one in topic.pool.retrievers] == ["bm25", "dense:text-embedding-3-small"]
    assert topic.filter.contamination.closed_book_coverage == 0.9
    assert topic.questions == Questions()  # what stands there is what counts anyway
    assert topic.repositories[0].include == ("docs/", "*.md")
    assert topic.documents[0].prefix == "handbook"
    assert topic.last == datetime.date(2026, 6, 30)


def test_what_no_option_says_is_asked_for(here, typing, capsys):
    typing(
        "", "Customer support",  # a domain there has to be
        "",  # the tag is the name
        "2024-13", "2024-02",
        "2024-01", "",
        "https://me:hunter2@example.org/acme/docs", "https://example.org/acme/docs", "https://example.org/other/docs#v2", "",
        "",
    )  # fmt: skip
    assert main(["new", "support"]) == 0
    topic = read_topic(here / "support.yaml")
    assert (topic.domain, topic.tags) == ("Customer support", ("support",))
    assert (topic.first, topic.last) == (datetime.date(2024, 2, 1), None)
    assert [(one.name, one.prefix) for one in topic.repositories] == [
        ("acme/docs", "docs"),
        ("other/docs", "other-docs"),
    ]
    assert abs(topic.repositories[0].date - datetime.datetime.now(datetime.UTC).date()) <= datetime.timedelta(1)
    out, err = capsys.readouterr()
    assert "Tags of its questions, with commas; a comma alone takes all [support]: " in err
    assert "expected a day, a month or a year" in err
    assert "expected a day that is not before 2024-02, got 2024-01" in err
    assert "hunter2" not in err
    assert "What is it about" not in out


def test_a_comma_alone_takes_questions_of_all_tags(here, typing):
    typing("Customer support", ",", "", "", "https://example.org/acme/docs", "", "")
    assert main(["new", "support"]) == 0
    assert read_topic(here / "support.yaml").tags == ()


def test_answers_that_are_no_text_are_told(here, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9\n"), encoding="utf-8"))
    assert main(["new", "support"]) == 2
    assert "error: the answers, expected text in utf-8, got other bytes" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_json_is_one_object_on_standard_output(typing, capsys):
    typing("Customer support", "", "", "", "", "handbook", "")
    assert main(["new", "support", "--json"]) == 0
    out, _ = capsys.readouterr()
    told = json.loads(out)
    assert (told["path"], told["name"], told["tags"]) == ("support.yaml", "support", ["support"])
    assert told["digest"] == read_topic("support.yaml").digest
    assert [entry["name"] for entry in told["documents"]] == ["handbook"]


def test_paths_are_written_as_seen_from_the_file(here):
    options = ["--repository", "services/api#v1", "--documents", "Unser Handbuch.jsonl", "--repository", "/srv/web#v1"]
    assert main(["new", "support", *OPTIONS, *options, "--out", "topics/mine.yaml"]) == 0
    text = (here / "topics" / "mine.yaml").read_text(encoding="utf-8")
    assert "url: ../services/api\n    name: services/api\n" in text
    assert "url: /srv/web\n    name: srv/web\n" in text
    assert "path: ../Unser Handbuch.jsonl\n    name: Unser-Handbuch\n" in text
    topic = read_topic("topics/mine.yaml")
    assert topic.repositories[0].url == str(here / "services" / "api")
    assert topic.documents[0].path == str(here / "Unser Handbuch.jsonl")


def test_a_file_that_is_there_stays_as_it_is(here, typing, capsys):
    (here / "support.yaml").write_text("mine")
    (here / "link.yaml").symlink_to("nowhere")
    typing()  # asked is nothing
    assert main(["new", "support"]) == 2
    assert main(["new", "x", *OPTIONS, "--documents", "a", "--out", "link.yaml"]) == 2
    assert (here / "support.yaml").read_text() == "mine"
    assert sorted(path.name for path in here.iterdir()) == ["link.yaml", "support.yaml"]
    _, err = capsys.readouterr()
    assert err.splitlines()[0] == (
        "error: cannot write 'support.yaml', expected a new file, got one that is there; "
        "remove it first, or choose another path with --out"
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["support", "--no-input"], "--domain, expected a value, got none; with --no-input nothing is asked for"),
        (
            ["support", *OPTIONS],
            "a topic's sources, expected a repository or documents, got neither; give --repository",
        ),
        (["../support", *OPTIONS], "NAME, expected letters and digits, with . _ - within, or owner/name"),
        (["support", *OPTIONS, "--from", "soon"], "--from, expected a day, a month or a year"),
        (
            ["support", *OPTIONS, "--from", "2024", "--to", "2023"],
            "--to, expected a day that is not before 2024, got 2023",
        ),
        (["support", *OPTIONS, "--repository", "https://a:hunter2@b/c"], "--repository, url, expected a URL without a"),
        (["support", *OPTIONS, "--repository", "https://example.org/a/b#"], "--repository, tag, expected the name of"),
        (
            ["support", *OPTIONS, "--repository", "https://example.org/a/b#2024-02-30"],
            "--repository, date, expected a day that there is, got '2024-02-30'",
        ),
        (["support", *OPTIONS, "--documents", ""], "--documents, path, expected a line of text, got ''"),
        (
            ["support", *OPTIONS, "--documents", "a", "--documents", "b/a"],
            "expected ids that begin otherwise than those",
        ),
        (["support"], "the answers, expected a line for each question, got their end; give options, and --no-input"),
    ],
)
def test_what_goes_wrong_is_one_line_and_nothing_is_written(here, typing, capsys, arguments, message):
    typing()
    assert main(["new", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    line = err.splitlines()[-1]
    assert line.startswith("error: ")
    assert message in line
    assert "hunter2" not in err
    assert list(here.iterdir()) == []


def test_a_file_that_cannot_be_written_leaves_nothing(here, capsys):
    (here / "file").write_text("mine")
    assert main(["new", "support", *OPTIONS, "--documents", "a", "--out", "file/support.yaml"]) == 2
    assert "cannot write 'file/support.yaml'" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["file"]


def test_a_full_disk_leaves_nothing(here, capsys, monkeypatch):
    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["new", "support", *OPTIONS, "--documents", "a"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert list(here.iterdir()) == []
