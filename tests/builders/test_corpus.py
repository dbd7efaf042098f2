"""Corpora of topics: what is in them, what is not and why, and the same bytes every time."""

import errno
import json
import os
import subprocess
import sys
import tarfile
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from builders.chunking.counting import tokenizer
from builders.corpus import Settings, build, work
from builders.corpus import rows as corpus_rows
from builders.corpus.records import Item
from builders.corpus.sources import _on_github
from builders.repositories import SourceFile, fetch, opened
from builders.secrets import Allowed
from builders.stages import runner
from builders.topics import read_topic
from freshstack_datasets.errors import FreshStackError, InputError, MissingExtraError, SnapshotError
from tests.builders import mixed_tree
from tests.builders.crashing_stage import Crashing
from tests.builders.git_servers import commit, git, new

DATA = Path(__file__).parents[3] / "shared" / "data"
LARAVEL = DATA / "laravel-docs.git.tar.gz"
ENCODINGS = {"odd/utf16.txt": "utf-16", "odd/utf16_no_mark.cs": "utf-16-le", "odd/latin1.txt": "latin-1"}
"""Of the files of the mixed tree that are not in UTF-8."""


def topic_of(folder, *, repositories="", documents=""):
    path = folder / "topic.yaml"
    listed = (f"repositories:\n{repositories}" if repositories else "") + (
        f"documents:\n{documents}" if documents else ""
    )
    path.write_text(f"name: mine/toys\ndomain: toys\ntags: [toy]\n{listed}")
    return read_topic(path)


def repository(url, name, pin, more=""):
    return f"  - {{url: {url}, name: {name}, commit: {pin}{more}}}\n"


def rows(folder):
    return pq.read_table(folder / "corpus" / "corpus-00000-of-00001.parquet").to_pylist()


def dropped(folder):
    return [json.loads(line) for line in (folder / "dropped.jsonl").read_text(encoding="utf-8").splitlines()]


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def mixed(tmp_path):
    """A topic of two repositories and a folder, and what git lists of the first one."""
    folder = new(tmp_path / "mixed")
    files = {path: data for path, data in mixed_tree.files().items() if len(data) < 300_000}
    first = commit(folder, files | {"vendor/a.py": b"x = 1\n"})
    second = commit(new(tmp_path / "other"), {"a b.md": "# Ä\n".encode(), "b.md": b"# B\n"})
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "start.md").write_bytes("# Über uns\r\n\r\nText".encode())
    (tmp_path / "handbook" / "logo.svg").write_text("<svg/>")
    listed = git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD").decode("utf-8", "surrogateescape").split("\0")
    topic = topic_of(
        tmp_path,
        repositories=repository("mixed", "owner/mixed", first, ", license: MIT")
        + repository("other", "owner/other", second),
        documents="  - {path: handbook, license: private}\n",
    )
    return topic, [path for path in listed if path]


def test_every_file_is_in_the_corpus_or_among_those_left_out(mixed, tmp_path):
    topic, listed = mixed
    built = build(topic, tmp_path / "out")
    taken = {row["metadata"]["path"] for row in rows(built.path) if row["metadata"]["repository"] == "owner/mixed"}
    out = [line["path"] for line in dropped(built.path) if line["source"] == "owner/mixed"]
    assert len(taken) + len(out) == len(listed) > 40
    assert not taken & set(out)
    assert taken <= set(listed)
    assert len(set(listed) - taken - set(out)) <= 1  # a path with a line break is written with numbers
    assert {"vendored", "binary", "empty"} <= {line["reason"] for line in dropped(built.path)}
    handbook = [line for line in dropped(built.path) if line["source"] == "handbook"]
    assert [(line["path"], line["reason"]) for line in handbook] == [("logo.svg", "excluded")]


def test_texts_are_slices_of_their_files_and_ids_say_where(mixed, tmp_path):
    topic, _ = mixed
    built = build(topic, tmp_path / "out")
    found = rows(built.path)
    ids = [row["_id"] for row in found]
    assert ids == sorted(set(ids))
    assert "other/a b.md_0_4" in ids
    files = mixed_tree.files()
    for row in found:
        at = row["metadata"]
        assert row["_id"].endswith(f"_{at['start_char']}_{at['end_char']}")
        assert len(row["text"]) == at["end_char"] - at["start_char"]
        assert len(row["text"].encode()) == at["end_byte"] - at["start_byte"]
        if at["repository"] == "owner/mixed" and at["path"] != "odd/notebook.ipynb":  # whose text is made of it
            text = files[at["path"]].decode(ENCODINGS.get(at["path"], "utf-8-sig"))
            assert row["text"] == text[at["start_char"] : at["end_char"]]
        assert 0 < at["tokens"] <= 2048
        assert row["title"] == ""
    (start,) = [row for row in found if row["_id"].startswith("handbook/")]
    assert start["text"] == "# Über uns\r\n\r\nText"
    assert (start["metadata"]["license"], start["metadata"]["repository"]) == ("private", None)


@pytest.mark.slow
def test_any_number_of_processes_gives_the_same_bytes(mixed, tmp_path, monkeypatch):
    topic, _ = mixed
    monkeypatch.setattr(work, "FILES", 7)
    fetch(topic.repositories, tmp_path / "bundles")
    for processes in (1, 3):
        build(topic, tmp_path / f"out{processes}", sources=tmp_path / "bundles", processes=processes)
    monkeypatch.undo()
    build(topic, tmp_path / "again")
    assert contents(tmp_path / "out1") == contents(tmp_path / "out3") == contents(tmp_path / "again")
    assert not list(tmp_path.glob("*.parts"))


def test_a_build_that_was_ended_goes_on_and_gives_the_same(mixed, tmp_path, monkeypatch):
    topic, _ = mixed
    build(topic, tmp_path / "whole")
    monkeypatch.setattr(work, "FILES", 7)
    parts, seen = tmp_path / "out.parts", []

    def ended(items, *_):
        for number, _ in enumerate(items, 1):
            if number == 4:
                raise KeyboardInterrupt
            yield

    monkeypatch.setattr(runner, "track", ended)
    while not (tmp_path / "out").exists():
        try:
            build(topic, tmp_path / "out")
        except KeyboardInterrupt:
            seen.append({part: part.stat().st_ino for part in parts.glob("*/*.part")})
    assert len(seen) > 1
    for before, after in pairwise(seen):
        assert before.items() < after.items()  # none is made twice
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_a_file_that_a_library_crashes_on_is_left_out_and_nothing_else(mixed, tmp_path):
    topic, _ = mixed
    whole, less = build(topic, tmp_path / "whole"), build(topic, tmp_path / "less", settings=Crashing())
    fatal = {"docs/guide.md", "b.md"}
    assert rows(less.path) == [row for row in rows(whole.path) if row["metadata"]["path"] not in fatal]
    assert [line for line in dropped(less.path) if line not in dropped(whole.path)] == [
        {"source": "owner/mixed", "path": "docs/guide.md", "reason": "crash", "detail": "the process ends, or hangs"},
        {"source": "owner/other", "path": "b.md", "reason": "crash", "detail": "ZeroDivisionError"},
    ]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), MemoryError()])
def test_what_the_machine_lacks_is_no_fault_of_a_file(error):
    class Full(Settings):
        def chunker(self, name):
            def cut(path, data):
                raise error

            return cut

    with pytest.raises(type(error)):
        work.Cutting(Full())._line(SimpleNamespace(name="toys"), Item("a.md", b"text"))


def test_the_description_says_how_it_was_made_and_no_path_of_this_machine(mixed, tmp_path):
    topic, listed = mixed
    built = build(topic, tmp_path / "out", settings=Settings(limit=64))
    text = (built.path / "corpus.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    told = json.loads(text)
    assert told["dataset"] == "mine/toys"
    assert told["recipe"]["topic_sha256"] == topic.digest
    assert told["recipe"]["chunker"]["parameters"]["limit"] == 64
    assert told["recipe"]["tokenizer"]["parameters"] == {"encoding": "cl100k_base"}
    first, second, third = told["sources"]
    assert (first["url"], first["commit"], first["date"], first["license"]) == (
        "owner/mixed",
        topic.repositories[0].commit,
        "2024-10-24",
        "MIT",
    )
    assert first["counts"]["files"] == len(listed)
    assert (second["counts"]["files"], second["counts"]["documents"]) == (2, 2)
    assert (third["url"], third["counts"]["files_in_the_corpus"]) == ("handbook", 1)
    assert told["counts"]["documents"] == told["table"]["rows"] == len(rows(built.path)) == built.counts["documents"]
    assert told["counts"]["files"] == told["counts"]["files_in_the_corpus"] + len(dropped(built.path))
    assert sum(rule["dropped"] for rule in told["recipe"]["filters"]) == len(dropped(built.path))


def test_rows_of_a_file_keep_title_and_url(tmp_path):
    told = [{"id": "a", "title": "A", "text": "Ein Satz.", "url": "https://x.example/a"}, {"id": 2, "text": "Zwei."}]
    lines = [json.dumps(row) for row in told]
    text = "\n\n".join([*lines, json.dumps({"id": "c", "text": " "})])
    (tmp_path / "faq.jsonl").write_text(text, encoding="utf-8-sig")  # with the mark that some programs put in front
    built = build(topic_of(tmp_path, documents="  - path: faq.jsonl\n"), tmp_path / "out")
    assert [(row["_id"], row["title"], row["text"], row["metadata"]["url"]) for row in rows(built.path)] == [
        ("faq/2_0_5", "", "Zwei.", None),
        ("faq/a_0_9", "A", "Ein Satz.", "https://x.example/a"),
    ]
    assert [(line["path"], line["reason"]) for line in dropped(built.path)] == [("c", "empty")]


@pytest.mark.parametrize(
    "line, message",
    [
        ('{"id": "a"}', r"faq\.jsonl:2, expected JSON with id and text, got 'text: Field required'"),
        ("{", r"faq\.jsonl:2, expected JSON with id and text, got 'Invalid JSON"),
        ('{"id": "", "text": "x"}', r"faq\.jsonl:2, .* got 'an empty id'"),
        (
            '{"id": "first", "text": "Another text, of another length."}',
            r"document 'first' of 'faq', expected each id once, got it again; give each row an id of its own",
        ),
    ],
)
def test_rows_that_are_none_are_named(tmp_path, line, message):
    (tmp_path / "faq.jsonl").write_text('{"id": "first", "text": "Eins."}\n' + line)
    with pytest.raises(InputError, match=message):
        build(topic_of(tmp_path, documents="  - path: faq.jsonl\n"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_line_without_end_or_a_pipe_is_no_file_of_documents(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus_rows, "LONGEST", 1_000)
    line = {"id": "a", "text": "x"}
    for length, number in ((1_000, 2), (1_001, 1)):  # with its line break
        (tmp_path / "faq.jsonl").write_text(json.dumps(line).ljust(length - 1) + "\n" + "x" * 2_000)
        with pytest.raises(InputError, match=rf"faq\.jsonl:{number}, .* got 'a line of more than 1,000 bytes'"):
            build(topic_of(tmp_path, documents="  - path: faq.jsonl\n"), tmp_path / "out")
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(InputError, match="expected a folder or a JSONL file, got neither"):
        build(topic_of(tmp_path, documents="  - path: pipe.jsonl\n"), tmp_path / "out")


def test_two_files_of_one_id_are_named(tmp_path):
    pin = commit(new(tmp_path / "docs"), {"ü.md": b"# A\n", "é.md": b"# B\n"})
    topic = topic_of(tmp_path, repositories=repository("docs", "owner/docs", pin))
    assert build(topic, tmp_path / "out").counts["documents"] == 2
    with pytest.raises(InputError, match=r"'docs/.md_0_.'.*from owner/docs, 'é.md' and from owner/docs, 'ü.md'"):
        build(topic, tmp_path / "like", settings=Settings(like="oct-2024"))


def test_the_faster_tokenizer_makes_the_same_bytes(mixed, tmp_path, monkeypatch):
    pytest.importorskip("quicktok")
    topic, _ = mixed
    build(topic, tmp_path / "out", settings=Settings(limit=64))
    build(topic, tmp_path / "fast", settings=Settings(limit=64, fast=True))
    assert contents(tmp_path / "fast") == contents(tmp_path / "out")
    monkeypatch.setitem(sys.modules, "quicktok", None)
    tokenizer.cache_clear()
    with pytest.raises(MissingExtraError, match="quicktok-v1"):
        Settings(fast=True)


def test_what_cannot_be_built_is_said_before_anything_is_read(tmp_path):
    pin = commit(new(tmp_path / "docs"), {"a.bin": b"\0"})
    topic = topic_of(tmp_path, repositories=repository("docs", "owner/docs", pin))
    like = {"like": "oct-2024"}
    for wrong in (
        {"encoding": "no"},
        {"limit": 3},
        {"like": "x"},
        {**like, "encoding": "o200k_base"},
        {**like, "fast": True},
    ):
        with pytest.raises(FreshStackError):
            Settings(**wrong)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "a").touch()
    with pytest.raises(InputError, match="expected a new or an empty folder"):
        build(topic, tmp_path / "taken")
    (tmp_path / "mine.parts").mkdir()
    (tmp_path / "mine.parts" / "a").touch()
    with pytest.raises(InputError, match="a folder that holds other files"):
        build(topic, tmp_path / "mine")
    assert (tmp_path / "mine.parts" / "a").exists()
    with pytest.raises(SnapshotError, match="at least one document"):
        build(topic, tmp_path / "out")
    (tmp_path / "bundles").mkdir()
    with pytest.raises(InputError, match="'owner/docs' is not in"):
        build(topic, tmp_path / "new", sources=tmp_path / "bundles")
    assert not (tmp_path / "new.parts").exists()


@pytest.mark.parametrize(
    "url, home",
    [
        ("https://github.com/laravel/docs", "laravel/docs"),
        ("https://github.com/laravel/docs.git", "laravel/docs"),
        ("git@github.com:laravel/docs.git", "laravel/docs"),
        ("ssh://git@github.com/laravel/docs", "laravel/docs"),
        ("https://gitlab.com/laravel/docs", None),
        ("https://github.com.example.org/laravel/docs", None),
        ("/srv/github.com/laravel/docs", None),
    ],
)
def test_pages_are_known_on_github_alone(url, home):
    assert _on_github(url) == home


@pytest.fixture(scope="module")
def laravel(tmp_path_factory):
    if not LARAVEL.exists():
        pytest.skip(f"{LARAVEL.name} is not there")
    folder = tmp_path_factory.mktemp("laravel")
    with tarfile.open(LARAVEL) as packed:
        packed.extractall(folder, filter="data")
    pin = "724c31ccd3edce6b6dfe5e0dd2a594a47217f078"
    return topic_of(folder, repositories=repository("laravel-docs.git", "laravel/docs", pin))


@pytest.mark.slow
def test_laravels_documentation_has_the_455_published_documents(laravel, tmp_path):
    built = build(laravel, tmp_path / "out", settings=Settings(like="oct-2024"))
    assert built.counts["documents"] == 455  # rows of the published corpus whose repository is laravel/docs
    assert all(row["_id"].startswith("docs/") for row in rows(built.path))


@pytest.mark.slow
def test_chunks_of_laravels_documentation_are_slices_of_its_files(laravel, tmp_path):
    seen = Allowed(everything=True)  # two of its pages have passwords in their examples
    built = build(laravel, tmp_path / "out", processes=2, allowed=seen)
    with opened(laravel.repositories[0]) as checkout:
        texts = {file.path: file.data.decode() for file in checkout.files() if isinstance(file, SourceFile)}
    found = rows(built.path)
    assert len(texts) == built.counts["files_in_the_corpus"] == 98
    for row in found:
        at = row["metadata"]
        assert row["text"] == texts[at["path"]][at["start_char"] : at["end_char"]]
        assert row["text"].encode() == texts[at["path"]].encode()[at["start_byte"] : at["end_byte"]]


def test_the_command_says_what_was_made(mixed, tmp_path):
    _, listed = mixed
    command = ["-m", "builders", "corpus", str(tmp_path / "topic.yaml"), "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, *command, "--processes", "1"], capture_output=True, check=True, cwd=Path(__file__).parents[2]
    )
    first, second, third = done.stdout.decode().splitlines()
    assert first.startswith(f"{tmp_path / 'out'}: {len(rows(tmp_path / 'out'))} documents, digest ")
    assert second.endswith(f" of {len(listed) + 4} files")
    assert third.startswith("left out: ")
