"""The digest of our own code in what parts depend on."""

import sys

import pytest

from builders.stages import code


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return the folder of a package of two modules, and the digest of it, read anew each time."""
    folder = tmp_path / "kitchen"
    (folder / "oven").mkdir(parents=True)
    for name in ("__init__.py", "knife.py", "oven/__init__.py", "oven/heat.py"):
        (folder / name).write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    return folder, lambda *names: code.__wrapped__(*(names or ("kitchen",)))


def test_any_change_of_the_source_is_one_of_the_digest(package):
    folder, digest = package
    seen = [digest()]
    for name in ("__init__.py", "knife.py", "oven/heat.py"):
        (folder / name).write_text("x = 2\n")
        seen.append(digest())
    (folder / "oven" / "heat.py").rename(folder / "oven" / "cold.py")
    seen.append(digest())
    assert len(set(seen)) == len(seen)


def test_what_is_no_source_changes_nothing(package):
    folder, digest = package
    before = digest()
    (folder / "notes.txt").write_text("salt")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "knife.cpython-311.pyc").write_bytes(b"x")
    assert digest() == before


def test_a_module_counts_alone_and_is_not_imported(package):
    folder, digest = package
    before = digest("kitchen.knife")
    (folder / "oven" / "heat.py").write_text("x = 2\n")
    assert digest("kitchen.knife") == before
    (folder / "knife.py").write_text("x = 2\n")
    assert digest("kitchen.knife") != before
    assert "kitchen.knife" not in sys.modules


def test_a_name_without_source_is_refused(package):
    _, digest = package
    with pytest.raises(ModuleNotFoundError, match=r"kitchen\.spoon"):
        digest("kitchen.spoon")
