"""The folder for parts: what a run that was killed leaves is in it, and goes with it."""

import subprocess
import sys
from pathlib import Path

import pytest

from builders.stages.workshop import result, workshop
from freshstack_datasets.errors import InputError

KILLED = """
import os, signal, sys
from pathlib import Path
from builders.stages.workshop import result, workshop
out = Path(sys.argv[1])
with workshop(out, "ours") as work, result(work, out) as folder:
    (work / "part").write_text("a part")
    (folder / "table").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_of_a_run_that_was_killed_is_left_once_another_ended_well(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, str(out)]
    ended = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, timeout=100, check=False)
    assert ended.returncode == -9
    assert [path.name for path in tmp_path.iterdir()] == ["out.parts"]
    with workshop(out, "ours") as work, result(work, out) as folder:
        assert (work / "part").read_text() == "a part"
        assert not list(folder.iterdir())
        (folder / "list").write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in out.iterdir()] == ["list"]


def overtaken(out):
    """Make a folder while somebody else puts another in its place."""
    with workshop(out, "ours") as work, result(work, out) as folder:
        (work / "part").write_text("a part")
        (folder / "list").write_text("ours")
        out.mkdir()
        (out / "list").write_text("theirs")


def test_a_place_that_was_taken_meanwhile_stays_as_it_is(tmp_path):
    with pytest.raises(InputError, match="expected a new or an empty folder"):
        overtaken(tmp_path / "out")
    assert (tmp_path / "out" / "list").read_text() == "theirs"
    assert sorted(path.name for path in (tmp_path / "out.parts").iterdir()) == ["ours", "part"]


def test_two_builds_of_the_same_at_once_are_refused_and_the_first_is_left_alone(tmp_path):
    out = tmp_path / "out"
    with workshop(out, "ours") as work, result(work, out) as folder:
        (work / "part").write_text("a part")
        with pytest.raises(InputError, match=r"out' is being made by another process; wait"), workshop(out, "ours"):
            pass
        assert (work / "part").read_text() == "a part"
        (folder / "list").write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["out.parts", "out.parts/ours", "out.parts/questions", "out.parts/result"])
def test_links_that_lead_elsewhere_from_the_folder_for_parts_are_refused(tmp_path, name):
    elsewhere, link = tmp_path / "elsewhere", tmp_path / name
    elsewhere.mkdir()
    if name != "out.parts":
        link.parent.mkdir()
        (link.parent / "ours").touch()
        link.unlink(missing_ok=True)
    target = elsewhere / "a file" if name.endswith("ours") else elsewhere
    link.symlink_to(target)
    with pytest.raises(InputError, match=r"out\.parts' is needed for parts, got .*; remove it"):
        workshop(tmp_path / "out", "ours").__enter__()
    assert not list(elsewhere.iterdir())


def test_a_file_in_the_place_of_the_folder_for_parts_is_refused(tmp_path):
    (tmp_path / "out.parts").touch()
    with pytest.raises(InputError, match=r"out\.parts' is needed for parts, got a file; remove it"):
        workshop(tmp_path / "out", "ours").__enter__()


def test_a_place_where_no_folder_can_be_is_refused():
    with pytest.raises(InputError, match=r"cannot write '/proc/out\.parts', got .*; choose another place"):
        workshop(Path("/proc/out"), "ours").__enter__()
