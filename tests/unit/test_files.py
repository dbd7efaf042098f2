"""Writing that is all or nothing."""

import os
import stat

import pytest

from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import atomic_file, atomic_folder, refuse_taken


def test_a_folder_appears_when_its_block_ends(tmp_path):
    target = tmp_path / "deep" / "folder"
    with atomic_folder(target) as work:
        (work / "a").write_text("1")
        assert not target.exists()
    assert [path.name for path in target.parent.iterdir()] == ["folder"]
    assert (target / "a").read_text() == "1"


def test_nothing_is_left_of_a_folder_whose_block_fails(tmp_path):
    def interrupted():
        with atomic_folder(tmp_path / "folder") as work:
            (work / "a").write_text("1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_taken_and_a_full_one_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with atomic_folder(tmp_path / "empty") as work:
        (work / "a").write_text("1")
    with pytest.raises(InputError, match="empty', expected a new or an empty folder, got one that holds files; choose"):
        atomic_folder(tmp_path / "empty").__enter__()
    assert (tmp_path / "empty" / "a").read_text() == "1"


def test_a_folder_that_somebody_fills_meanwhile_is_left_to_them(tmp_path):
    target = tmp_path / "folder"
    folder = atomic_folder(target)
    folder.__enter__()
    target.mkdir()
    (target / "theirs").write_text("2")
    with pytest.raises(InputError, match="expected a new or an empty folder"):
        folder.__exit__(None, None, None)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert (target / "theirs").read_text() == "2"


def test_a_link_is_refused_even_to_nowhere(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="expected a new or an empty folder, got a link"):
        atomic_folder(tmp_path / "link").__enter__()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="expected a new or an empty folder, got a file"):
        atomic_folder(tmp_path / "file").__enter__()


@pytest.mark.parametrize(
    "path, got",
    [
        ("file/folder", "got a path through the file '.*/file'"),
        ("x" * 300, "got file name too long"),
        ("a\0b", "got a path with a NUL"),
        ("a\udcff", "got a path with a NUL or bytes that are no text"),
    ],
)
def test_a_place_where_no_folder_can_be_is_refused(tmp_path, path, got):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=got):
        refuse_taken(tmp_path / path)


def test_the_root_of_a_file_system_is_refused_even_when_it_is_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(type(tmp_path), "is_mount", lambda path: path == tmp_path)
    with pytest.raises(InputError, match="got the root of a file system, which cannot be replaced"):
        refuse_taken(tmp_path)
    refuse_taken(tmp_path / "folder")


def test_the_empty_folder_that_one_is_in_can_be_taken(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with atomic_folder(".") as work:
        (work / "a").write_text("1")
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
    assert (tmp_path / "here" / "a").read_text() == "1"


@pytest.mark.parametrize("name", ["x" * 255, "☕" * 80])
def test_a_name_as_long_as_can_be_is_written(tmp_path, name):
    with atomic_folder(tmp_path / name) as work:
        pass
    assert not work.exists()
    (tmp_path / name).rmdir()
    with atomic_file(tmp_path / name):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_is_replaced_only_when_its_block_ends_well(tmp_path):
    target = tmp_path / "file.txt"
    target.write_text("old")

    def failing():
        with atomic_file(target) as work:
            work.write_text("half")
            raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        failing()
    assert target.read_text() == "old"
    with atomic_file(target) as work:
        work.write_text("new")
        assert target.read_text() == "old"
        assert work.suffix == ".txt"
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_a_folder_is_no_place_for_a_file(tmp_path):
    with pytest.raises(InputError, match="expected a file's path, got a folder"):
        atomic_file(tmp_path).__enter__()


@pytest.mark.skipif(os.name != "posix", reason="pipes are those of POSIX")
def test_a_pipe_is_no_place_for_a_file_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe', expected a file's path, got a device or a pipe"):
        atomic_file(tmp_path / "pipe").__enter__()
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_what_is_written_has_the_permissions_that_the_user_gives_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_folder(tmp_path / "folder"), atomic_file(tmp_path / "file"):
            pass
    finally:
        os.umask(before)
    # 777 and 666 without the bits of 027
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_the_umask_is_not_set_since_it_is_that_of_all_threads(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "umask", asked.append)
    with atomic_folder(tmp_path / "folder"), atomic_file(tmp_path / "file"):
        pass
    assert asked == []


@pytest.mark.parametrize("name", ["file/below", "x" * 300, "a\0b"])
def test_a_place_where_nothing_can_be_is_named_as_it_was_asked_for(tmp_path, name):
    (tmp_path / "file").touch()
    for make in (atomic_file, atomic_folder):
        with pytest.raises(InputError, match=r"^cannot write '.*', ") as caught:
            make(tmp_path / name).__enter__()
        assert shown_path(tmp_path / name) in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
