"""Pages of queries written by several processes: the same files as by one, and nothing left behind."""

import multiprocessing
from dataclasses import replace

import pytest

from freshstack_datasets.errors import InputError
from freshstack_datasets.loading import load
from leaderboard.boards.reading import read_board
from leaderboard.site import filing, writing
from leaderboard.site.filing import shares_of
from leaderboard.site.pages import Page
from leaderboard.site.writing import build_site, site_of
from tests.leaderboard.made import BOARD, SNAPSHOT, made_board


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return made_board(tmp_path_factory.mktemp("made"), systems=3, topics=3, hostile=True, queries=5)


@pytest.fixture(scope="module")
def board(root):
    return read_board(root / BOARD / SNAPSHOT)


@pytest.fixture
def many(monkeypatch):
    """A machine with two processors, on which the smallest site is worth both."""
    monkeypatch.setattr(filing, "LEAST", 0)
    monkeypatch.setattr(filing.os, "cpu_count", lambda: 2)


def bytes_of(out):
    return {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def topics_of(shares):
    return [[topic.name for _, topic in share] for share in shares]


def widened(board, **queries):
    """Return the board with one system, as if it had so many queries of each topic."""
    first = board.entries[0]
    held = {
        name: replace(first.per_query[name], query_ids=tuple(map(str, range(number))))
        for name, number in queries.items()
    }
    return replace(board, entries=(replace(first, per_query=held),), baseline=None)


def test_topics_are_dealt_so_that_processes_have_about_the_same_to_do(board, monkeypatch):
    monkeypatch.setattr(filing, "LEAST", 20)
    site = site_of([widened(board, alpha=5, beta=9, gamma=6)], load, resamples=100)
    # the largest first, each to whoever has least: 9 alone, 6 and 5 together
    assert topics_of(shares_of(site, 2)) == [["beta"], ["gamma", "alpha"]]
    assert topics_of(shares_of(site, 8)) == [["beta"], ["gamma"], ["alpha"]]
    assert topics_of(shares_of(site, 1)) == [["beta", "gamma", "alpha"]]


def test_a_small_site_and_data_that_only_this_process_can_open_are_written_by_this_process(board, monkeypatch):
    large = widened(board, alpha=5, beta=9, gamma=6)
    monkeypatch.setattr(filing, "LEAST", 21)
    assert len(shares_of(site_of([large], load, resamples=100), 2)) == 1
    monkeypatch.setattr(filing, "LEAST", 20)
    assert len(shares_of(site_of([large], lambda name, snapshot: load(name, snapshot), resamples=100), 2)) == 1
    assert shares_of(site_of([], load), 2) == []


@pytest.mark.slow
def test_several_processes_write_the_same_bytes_as_one(root, tmp_path, many, monkeypatch):
    def here(*_):
        raise AssertionError("written by the process that was to wait")

    with monkeypatch.context() as one:
        one.setattr(filing.os, "cpu_count", lambda: 1)
        alone = build_site(root, tmp_path / "one", resamples=100, with_text=True, repository="https://git.example/a/b")
    monkeypatch.setattr(filing, "_written", here)
    built = build_site(root, tmp_path / "many", resamples=100, with_text=True, repository="https://git.example/a/b")
    files = bytes_of(tmp_path / "one")
    assert bytes_of(tmp_path / "many") == files
    assert (built.files, built.size) == (alone.files, alone.size) == (len(files), sum(map(len, files.values())))
    assert sum(1 for path in files if path.name.startswith("q-")) == 3 * 5
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_what_a_process_that_was_killed_had_to_write_is_written_by_this_one(root, tmp_path, many, monkeypatch):
    class Killed(filing._Helper):
        def __init__(self):
            super().__init__()
            self._process.kill()

    build_site(root, tmp_path / "well", resamples=100, datasets=lambda name, snapshot: load(name, snapshot))
    monkeypatch.setattr(filing, "_Helper", Killed)
    build_site(root, tmp_path / "killed", resamples=100)
    assert bytes_of(tmp_path / "killed") == bytes_of(tmp_path / "well")


def test_where_no_process_can_be_started_this_one_writes_all(root, tmp_path, many, monkeypatch):
    def none(*_):
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(filing, "_Helper", none)
    build_site(root, tmp_path / "site", resamples=100)
    assert sum(1 for path in bytes_of(tmp_path / "site") if path.name.startswith("q-")) == 3 * 5


@pytest.mark.slow
def test_what_a_process_fails_at_is_told_as_by_this_one(root, tmp_path, many, monkeypatch):
    run = next(iter((root / BOARD / SNAPSHOT).glob("*/alpha.*")))
    held = run.read_bytes()
    original = writing.read_board

    def read_board_and_lose_a_run(folder):
        board = original(folder)
        run.unlink()
        return board

    monkeypatch.setattr(writing, "read_board", read_board_and_lose_a_run)
    try:
        with pytest.raises(InputError, match=run.name):
            build_site(root, tmp_path / "site", resamples=100)
    finally:
        run.write_bytes(held)
    assert list(tmp_path.iterdir()) == []
    assert not multiprocessing.active_children()


@pytest.mark.slow
@pytest.mark.parametrize("error", [InputError("a page that fails"), KeyboardInterrupt()])
def test_no_process_and_no_file_outlives_a_build_that_ends_early(root, tmp_path, many, monkeypatch, error):
    def broken(_):
        yield Page("index.html", "new")
        assert len(multiprocessing.active_children()) == 2
        raise error

    monkeypatch.setattr(writing, "SECTIONS", (broken,))
    with pytest.raises(type(error)):
        build_site(root, tmp_path / "site", resamples=100)
    assert not multiprocessing.active_children()
    assert list(tmp_path.iterdir()) == []


def test_pages_of_queries_hide_no_other_page(root, tmp_path, monkeypatch):
    path = f"{BOARD}/{SNAPSHOT}/queries/alpha/index.html"
    monkeypatch.setattr(writing, "SECTIONS", (lambda _: [Page(path, "1")],))
    with pytest.raises(InputError, match="two pages at"):
        build_site(root, tmp_path / "site", resamples=100)
