"""Processes that end while they work: nothing else is lost by it, and what ends them is found."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from builders.stages import run
from freshstack_datasets.errors import InputError
from tests.builders.crashing_stage import WAYS, DivisibleWords, NeedsAStart, Words

SHARDS = [("a", "b"), ("c", "crash", "d"), ("e",), ("null",), ("f", "out of memory"), ("g", "h")]
PARTS = [
    "a\nb\n",
    "c\ncrash was given up\nd\n",
    "e\n",
    "null was given up\n",
    "f\nout of memory was given up\n",
    "g\nh\n",
]


@pytest.fixture(autouse=True)
def _no_core_files(monkeypatch, tmp_path):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 3])
def test_a_piece_that_ends_its_process_is_given_up_and_all_else_is_made(tmp_path, processes):
    parts = run(DivisibleWords(tmp_path / "log"), SHARDS, tmp_path, processes=processes)
    assert [part.read_text() for part in parts] == PARTS
    tried = [line.split(" ", 1) for line in (tmp_path / "log").read_text().splitlines()]
    # with the shard, with the shard alone, as a piece, and as a piece alone; a shard of one piece has no others
    assert len({process for process, word in tried if word == "crash"}) == 4
    assert len({process for process, word in tried if word == "null"}) == 2
    assert str(os.getpid()) not in {process for process, _ in tried}
    assert sorted(path.suffix for path in (tmp_path / "words").iterdir()) == [".done"] * 6 + [".part"] * 6
    assert not list((tmp_path / "scratch").iterdir())
    run(DivisibleWords(tmp_path / "log"), SHARDS, tmp_path)
    assert len((tmp_path / "log").read_text().splitlines()) == len(tried)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_end_a_process_is_one_to_give_up(tmp_path, way):
    (part,) = run(DivisibleWords(tmp_path / "log"), [(way,)], tmp_path)
    assert part.read_text() == f"{way} was given up\n"


@pytest.mark.slow
def test_what_cannot_be_taken_to_pieces_is_tried_twice_and_ends_the_run(tmp_path):
    with pytest.raises(InputError, match=r"ended twice.*fewer --processes"):
        run(Words(tmp_path / "log"), [("a",), ("crash",), ("b",)], tmp_path, processes=2)
    words = [line.split(" ", 1)[1] for line in (tmp_path / "log").read_text().splitlines()]
    assert sorted(words) == ["a", "b", "crash", "crash"]
    assert (tmp_path / "words" / "000002.part").read_text() == "b\n"


@pytest.mark.slow
def test_a_process_that_cannot_be_started_is_no_reason_to_give_anything_up(tmp_path):
    with pytest.raises(InputError, match="ends as soon as it is started; in a script"):
        run(NeedsAStart(tmp_path / "log"), [("a",), ("b",)], tmp_path, processes=2)
    assert not list((tmp_path / "words").iterdir())


@pytest.mark.slow
def test_a_defect_is_shown_where_it_is(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)crashing_stage\.py.*TypeError"):
        run(DivisibleWords(tmp_path / "log"), [(1,), ([],)], tmp_path)


def test_a_process_whose_parent_was_killed_ends_without_a_word(tmp_path):
    script = """
import sys
import multiprocessing
from builders.stages.worker import _serve
from tests.builders.counting_stage import Squares
from pathlib import Path
ours, theirs = multiprocessing.Pipe()
ours.close()
_serve(Squares(Path(sys.argv[1])), theirs, ".")
"""
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", script, tmp_path / "log"]
    ended = subprocess.run(command, cwd=root, capture_output=True, timeout=100, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert (tmp_path / "log").read_text(encoding="utf-8") == "closed\n"
