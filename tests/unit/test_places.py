"""What somebody means by the name or the path of a dataset."""

from pathlib import Path

import pytest

from freshstack_datasets.errors import InputError
from freshstack_datasets.places import meant


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A working directory with folders of all kinds of names."""
    for name in ("nimbus", "mine", "acme/forum", "odd@2024-10"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(
    ("given", "name", "snapshot"),
    [
        ("nimbus", "nimbus", None),  # a known name is no folder
        ("nimbus@2026-11", "nimbus", "2026-11"),
        ("./nimbus", Path("nimbus"), None),
        ("mine", Path("mine"), None),
        ("mine@2024-10", Path("mine"), "2024-10"),
        ("acme/forum", Path("acme/forum"), None),
        ("acme/other", "acme/other", None),
        ("acme/other@2024-10.1", "acme/other", "2024-10.1"),
        ("acme/other@main", "acme/other", "main"),
        ("odd@2024-10", Path("odd@2024-10"), None),
        ("odd@2024-10@2024-10", Path("odd@2024-10"), "2024-10"),
        ("../x@y/z", Path("../x@y/z"), None),
        (Path("nimbus"), Path("nimbus"), None),
        (Path("gone@2024-10"), Path("gone"), "2024-10"),
        ("@2024-10", "@2024-10", None),
        ("", "", None),
    ],
)
def test_a_name_is_told_from_a_folder_and_from_its_snapshot(given, name, snapshot):
    assert meant(given) == (name, snapshot)


def test_a_snapshot_may_be_given_apart_but_not_twice():
    assert meant("acme/x", "2024-10") == meant("acme/x@2024-10", "2024-10") == ("acme/x", "2024-10")
    with pytest.raises(InputError, match=r"^snapshot of 'acme/x@2024-10', expected one snapshot, got also '2024-11'"):
        meant("acme/x@2024-10", "2024-11")


@pytest.mark.parametrize("given", [None, 7, b"nimbus", "a\0b", Path("a\0b")])
def test_what_is_neither_is_refused(given):
    with pytest.raises(InputError, match=r"^a dataset, expected its name, or the path of a snapshot's folder"):
        meant(given)
