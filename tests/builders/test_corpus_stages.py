"""Running stages: parts of shards, whatever ends a run, and going on after it."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from builders.stages import pool, run
from freshstack_datasets.errors import InputError
from tests.builders.counting_stage import Changing, Squares


def made(log):
    return Counter(line for line in log.read_text().split() if line != "closed")


def test_parts_come_in_the_order_of_their_shards(tmp_path):
    parts = run(Squares(tmp_path / "log"), [3, 1, 2], tmp_path)
    assert [part.read_text() for part in parts] == ["9", "1", "4"]
    assert (tmp_path / "log").read_text().split() == ["3", "1", "2", "closed"]


def test_what_is_made_is_not_made_again_unless_it_is_of_something_else_or_damaged(tmp_path):
    log = tmp_path / "log"
    run(Squares(log), [3, 1, 2], tmp_path)
    parts = run(Squares(log), [3, 5, 2], tmp_path)
    assert [part.read_text() for part in parts] == ["9", "25", "4"]
    assert made(log) == {"3": 1, "1": 1, "5": 1, "2": 1}
    parts[0].write_text("")
    parts[2].unlink()
    run(Squares(log), [3, 5, 2], tmp_path)
    assert [part.read_text() for part in parts] == ["9", "25", "4"]
    assert made(log) == {"3": 2, "1": 1, "5": 1, "2": 2}


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path, processes):
    command = [sys.executable, "-m", "tests.builders.counting_stage", str(tmp_path), str(processes), "5"]
    # it returns when all processes have closed its standard output: none outlives the one that was killed
    ended = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, timeout=100, check=False)
    assert ended.returncode == -9
    log = tmp_path / "log"
    whole = {str(int(mark.stem)) for mark in (tmp_path / "squares").glob("*.done")}
    before = made(log)
    assert "5" not in whole
    assert before["5"] == 1
    parts = run(Squares(log), range(8), tmp_path)
    assert [part.read_text() for part in parts] == ["0", "1", "4", "9", "16", "25", "36", "49"]
    after = made(log)
    assert after["5"] == 2
    assert whole >= ({"0", "1", "2"} if processes == 1 else {"4"})  # the second process begins in the middle
    assert all(after[shard] == 1 for shard in whole)


@pytest.mark.slow
def test_processes_give_the_same_parts_and_say_what_went_wrong(tmp_path):
    parts = run(Squares(tmp_path / "log"), range(8), tmp_path / "parts", processes=3)
    assert [part.read_text() for part in parts] == ["0", "1", "4", "9", "16", "25", "36", "49"]
    assert made(tmp_path / "log") == {str(shard): 1 for shard in range(8)}
    with pytest.raises(InputError, match=r"^no square of a bad shard$"):
        run(Squares(tmp_path / "log"), [1, "bad", 3], tmp_path / "bad", processes=2)


def test_a_process_gets_what_follows_and_then_half_of_what_another_has_left():
    shares = pool._Shares(range(10), 2)
    assert [shares.next(0) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert [shares.next(0), shares.next(1), shares.next(1)] == [7, 5, 6]  # the other had 5 to 9
    assert [shares.next(1), shares.next(0), shares.next(0), shares.next(1)] == [9, 8, None, None]


def test_a_process_that_would_make_something_else_makes_nothing(tmp_path):
    with pytest.raises(InputError, match=r"^code, libraries or sources changed.*run the same command again"):
        run(Changing(tmp_path / "log"), [3], tmp_path)
    assert not list((tmp_path / "squares").iterdir())
