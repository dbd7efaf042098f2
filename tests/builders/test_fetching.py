"""Fetching many repositories: at once, past those that fail, and with nothing left behind by an interruption."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

from builders.cli import main
from builders.repositories import fetch, opened
from builders.repositories.address import host_of
from builders.repositories.git import Git, GitError
from builders.repositories.lock import ADDED, NAME, Lock, Locked, key_of
from builders.repositories.together import Together
from builders.repositories.turns import PER_HOST, in_turn
from builders.topics import Repository
from freshstack_datasets.errors import InputError
from tests.builders import git_servers
from tests.builders.git_servers import commit, git, new

ROOT = Path(__file__).parents[2]
PATIENCE = 60


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Four repositories with a tag each, ``0.git`` to ``3.git``."""
    root = tmp_path_factory.mktemp("served")
    for number in range(4):
        work = new(root / f"work{number}")
        commit(work, {"a.md": b"# %d\n" % number})
        git(work, "tag", "v1")
        git(root, "clone", "--quiet", "--bare", str(work), f"{number}.git")
    return root


def repository(url, name="owner/some", **pin):
    return Repository(url=str(url), name=name, **(pin or {"tag": "v1"}))


def texts(repositories, into):
    found = []
    for one in repositories:
        with opened(one, bundles=into) as checkout:
            found += [file.data for file in checkout.files()]
    return found


def listed(folder):
    return sorted(path.suffix for path in folder.iterdir())


def is_first(path):
    """Whether a request is the first of its repository."""
    return path.endswith("/info/refs?service=git-upload-pack")


@pytest.mark.slow
def test_as_many_as_asked_for_are_fetched_at_once(root, tmp_path):
    meeting = threading.Barrier(3)  # nobody is answered before three have asked
    with git_servers.smart(root, before=lambda path: is_first(path) and meeting.wait(PATIENCE)) as server:
        sources = [repository(f"{server.url}/{number}.git") for number in range(3)]
        fetched = fetch(sources, tmp_path / "into", jobs=3)
    assert [found.source.url for found in fetched] == [source.url for source in sources]
    assert texts(sources, tmp_path / "into") == [b"# 0\n", b"# 1\n", b"# 2\n"]


class _ByHand(Executor):
    """Does nothing by itself, and has some results at once."""

    def __init__(self, quick):
        self.quick, self.futures = quick, {}

    def submit(self, work, repository):
        future = self.futures[repository.url] = Future()
        if repository.url == self.quick:
            future.set_result(work(repository))
        return future


def test_no_more_than_a_few_are_fetched_from_one_host_and_order_decides_among_the_others():
    urls = [f"https://one.example/o/{number}" for number in range(6)]
    urls += ["git@two.example:o/6", "/here/7", "ssh://git@two.example/o/8", "/here/9"]
    pool, begun = _ByHand(quick=urls[3]), []
    results = in_turn(
        [repository(url) for url in urls], pool, 8, lambda one: one.url[-1], lambda one: begun.append(one.url)
    )
    one, result = next(results)
    assert (one.url, result) == (urls[3], "3")
    assert PER_HOST == 4
    assert begun == [*urls[:4], *urls[6:]]  # four of the first host, and all of the others
    pool.futures[urls[9]].set_result("9")
    assert next(results)[0].url == urls[9]
    assert begun[8:] == [urls[4]]  # the first host has had a place since its fourth was finished


@pytest.mark.parametrize(
    "url, host",
    [
        ("https://user@One.example:8443/a/b.git", "one.example"),
        ("git@One.example:a/b.git", "one.example"),
        ("ssh://git@one.example:22/a/b", "one.example"),
        ("file:///srv/git/b", ""),
        ("/srv/git/b", ""),
        ("../b", ""),
    ],
)
def test_the_host_of_an_address(url, host):
    assert host_of(url) == host


@pytest.mark.slow
def test_those_that_fail_are_listed_at_the_end_and_all_others_are_there(root, tmp_path, capsys):
    topic = tmp_path / "topic.yaml"
    lines = [
        f"  - {{url: {root / 'work0'}, name: owner/first, tag: v8}}",
        f"  - {{url: {root / 'work1'}, name: owner/second, tag: v1}}",
        f"  - {{url: {root / 'none'}, name: owner/third, tag: v1}}",
        f"  - {{url: {root / 'work2'}, name: owner/fourth, tag: v1}}",
    ]
    topic.write_text("name: toy\ndomain: toys\ntags: [toy]\nrepositories:\n" + "\n".join(lines))
    into = tmp_path / "into"
    assert main(["fetch", str(topic), "--into", str(into), "--jobs", "2"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"not fetched: owner/first: '.*/work0' has no tag 'v8'", said[-3])
    assert re.fullmatch(r"not fetched: owner/third: no folder or repository at '.*/none'", said[-2])
    assert said[-1].startswith("error: 2 of 4 repositories cannot be fetched; the others are there")
    assert {source.name for source in Lock.read(into).sources.values()} == {"owner/second", "owner/fourth"}
    assert listed(into) == [".bundle", ".bundle", ".json"]


@pytest.mark.slow
def test_what_a_topic_names_twice_is_fetched_once(root, tmp_path):
    with git_servers.smart(root) as server:
        twice = [repository(f"{server.url}/0.git"), repository(f"{server.url}/0.git", name="other/name")]
        fetched = fetch(twice, tmp_path)
        assert sum(map(is_first, server.requests)) == 1
    assert [found.was_there for found in fetched] == [False, True]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked for in /proc")
def test_an_interruption_ends_all_that_was_started_and_keeps_what_came(root, tmp_path):
    asked, ended = threading.Semaphore(0), threading.Event()

    def hang(path):
        if "/0.git" not in path:
            asked.release()
            ended.wait(PATIENCE)

    into = tmp_path / "into"
    with git_servers.smart(root, before=hang) as server:
        topic = tmp_path / "topic.yaml"
        lines = [f"  - {{url: {server.url}/{n}.git, name: owner/r{n}, tag: v1}}\n" for n in range(4)]
        topic.write_text("name: toy\ndomain: toys\ntags: [toy]\nrepositories:\n" + "".join(lines))
        command = [sys.executable, "-m", "builders", "fetch", str(topic), "--into", str(into), "--jobs", "2"]
        process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        assert asked.acquire(timeout=PATIENCE)
        assert asked.acquire(timeout=PATIENCE)  # two that hang, so the first one was finished
        assert len(_started_for(into)) >= 2
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        ended.set()
    assert (process.returncode, said.splitlines()[-1]) == (130, "error: interrupted")
    assert _started_for(into) == []
    assert [source.name for source in Lock.read(into).sources.values()] == ["owner/r0"]
    assert listed(into) == [".bundle", ".json"]


def _started_for(folder):
    """Numbers of the processes that work on repositories in a folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            if b"GIT_DIR=" + os.fsencode(folder) in environment:
                found.append(process.name)
    return found


def test_nothing_is_started_any_more_for_work_that_was_ended(tmp_path):
    together = Together()

    def interrupted():
        with together:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with together.joined(), pytest.raises(GitError, match="everything was ended meanwhile") as caught:
        Git(tmp_path).run("version")
    assert caught.value.late  # so that nobody tries it in another way
    assert Git(tmp_path).run("version").startswith(b"git version")  # what is no part of that work goes on


def _locked(name, url="https://one.example/a/b"):
    return Locked(
        url=url, name=name, pin="tag v1", commit="1" * 40, date="", how="shallow", bundle="b", size=1, sha256="0" * 64
    )


def test_what_was_added_counts_without_the_line_that_was_cut_off(tmp_path):
    lock = Lock({})
    lock.add(tmp_path, _locked("a/b"))
    lock.add(tmp_path, _locked("c/d", "https://one.example/ü"))
    lines = (tmp_path / ADDED).read_bytes().splitlines(keepends=True)
    assert len(lines) == 2
    (tmp_path / ADDED).write_bytes(lines[0] + lines[1] + lines[1][: len(lines[1]) // 2])
    again = Lock.read(tmp_path)
    assert again.sources == lock.sources
    assert not (tmp_path / NAME).exists()
    again.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert Lock.read(tmp_path).sources == lock.sources
    lock.add(tmp_path, _locked("e/f"))  # the same address and pin as the first one
    assert Lock.read(tmp_path).of(repository("https://one.example/a/b")).name == "e/f"
    assert key_of(repository("https://one.example/a/b")) == ("https://one.example/a/b", "tag v1")


def test_what_was_added_under_other_rules_does_not_count(tmp_path):
    Lock({}).add(tmp_path, _locked("a/b"))
    line = json.loads((tmp_path / ADDED).read_text())
    (tmp_path / ADDED).write_text(json.dumps(line | {"largest": 1}) + "\n")
    assert Lock.read(tmp_path).sources == {}


@pytest.mark.slow
def test_a_server_that_is_sure_not_to_have_a_commit_is_not_cloned_for_it(root):
    def fetches(version_2):
        with git_servers.smart(root, version_2=version_2) as server:
            missing = repository(f"{server.url}/0.git", commit="1" * 40)
            with pytest.raises(InputError, match="1" * 40), opened(missing):
                pass
            return sum(map(is_first, server.requests))

    assert fetches(version_2=True) == 1
    assert fetches(version_2=False) == 2  # it may have one that it does not give by its name
