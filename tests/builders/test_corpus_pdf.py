"""Corpora of folders with PDFs."""

import json
from importlib.metadata import PackageNotFoundError, version

import pyarrow.parquet as pq
import pytest

from builders.chunking import pdf
from builders.cli import main
from builders.repositories import records
from tests.builders import pdfs
from tests.builders.git_servers import commit, new

WITHOUT = """
import importlib.metadata as metadata
known = metadata.version
def version(name):
    if name == "pypdfium2":
        raise metadata.PackageNotFoundError(name)
    return known(name)
metadata.version = version
"""


def none(name):
    raise PackageNotFoundError(name)


@pytest.fixture
def topic(tmp_path):
    handbook = tmp_path / "handbook"
    handbook.mkdir()
    (handbook / "Anleitung Größe.pdf").write_bytes(pdfs.written([["Install it first."], ["Then start it."]]))
    (handbook / "locked.pdf").write_bytes(pdfs.written([["hello"]], password=pdfs.PASSWORD))
    (handbook / "scan.PDF").write_bytes(pdfs.scanned())
    (handbook / "empty.pdf").write_bytes(b"")
    (handbook / "start.md").write_text("# Start\n")
    (handbook / "page.html").write_text("<p>Hello <b>you</b></p>\n")
    made = commit(new(tmp_path / "docs"), {"paper.pdf": pdfs.written([["hello"]]), "a.md": b"# A\n"})
    path = tmp_path / "topic.yaml"
    path.write_text(
        f"name: mine/toys\ndomain: toys\ntags: [toy]\nrepositories:\n"
        f"  - {{url: docs, name: owner/docs, commit: {made}}}\ndocuments:\n  - {{path: handbook}}\n"
    )
    return path


def made(topic, out, capsys, *more):
    assert main(["corpus", str(topic), "--out", str(out), "--processes", "1", *more]) == 0
    rows = pq.read_table(out / "corpus").to_pylist()
    dropped = [json.loads(line) for line in (out / "dropped.jsonl").read_text(encoding="utf-8").splitlines()]
    left = {line["path"]: (line["reason"], line["detail"]) for line in dropped}
    recipe = json.loads((out / "corpus.json").read_text(encoding="utf-8"))["recipe"]
    return {row["_id"]: row for row in rows}, left, recipe, capsys.readouterr().err


def test_pdfs_of_documents_are_in_the_corpus_and_those_of_repositories_are_not(topic, tmp_path, capsys):
    rows, left, recipe, said = made(topic, tmp_path / "out", capsys)
    # "Install it first.\n\nThen start it.\n" has 17 + 2 + 14 + 1 characters
    assert set(rows) == {
        "docs/a.md_0_4",
        "handbook/Anleitung Größe.pdf_0_34",
        "handbook/page.html_0_24",
        "handbook/start.md_0_8",
    }
    row = rows["handbook/Anleitung Größe.pdf_0_34"]
    assert row["text"] == "Install it first.\n\nThen start it.\n"
    at = row["metadata"]
    assert (at["path"], at["start_char"], at["end_char"], at["end_byte"]) == ("Anleitung Größe.pdf", 0, 34, 34)
    assert rows["handbook/page.html_0_24"]["text"] == "<p>Hello <b>you</b></p>\n"  # HTML stays what it is
    assert left == {
        "paper.pdf": ("binary", "a PDF"),
        "empty.pdf": ("empty", ""),
        "locked.pdf": ("pdf", "it is encrypted"),
        "scan.PDF": ("scanned", "a PDF without text: its pages are empty, or pictures"),
    }
    assert recipe["chunker"]["parameters"]["pypdfium2"] == version("pypdfium2")
    assert "warning" not in said


def test_without_the_package_pdfs_are_listed_with_the_command_that_installs_it(topic, tmp_path, capsys, monkeypatch):
    # in this process and in those that it starts
    here = tmp_path / "here"
    here.mkdir()
    (here / "sitecustomize.py").write_text(WITHOUT)
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", str(here))
        patch.setattr(pdf, "version", none)
        rows, left, recipe, said = made(topic, tmp_path / "without", capsys)
    assert not [name for name in rows if "pdf" in name]
    missing = ("missing-extra", "to read PDFs: pip install 'freshstack-datasets[pdf]'")
    assert [left[name] for name in ("Anleitung Größe.pdf", "locked.pdf", "scan.PDF")] == [missing] * 3
    assert "pypdfium2" not in recipe["chunker"]["parameters"]
    warning = "warning: 4 PDFs are left out; to read them: pip install 'freshstack-datasets[pdf]'"
    assert said.splitlines().count(warning) == 1
    assert "handbook/Anleitung Größe.pdf_0_34" in made(topic, out, capsys)[0]


@pytest.mark.slow
def test_a_pdf_may_be_larger_than_other_files_up_to_a_most(topic, tmp_path, capsys, monkeypatch):
    handbook = tmp_path / "handbook"
    heavy = pdfs.written([["hello"]]) + b"%" * records.LARGEST
    (handbook / "heavy.pdf").write_bytes(heavy)
    with (handbook / "huge.pdf").open("wb") as file:
        file.write(heavy)
        file.truncate(records.LARGEST_PDF + 1)
    (handbook / "heavy.txt").write_bytes(b"a\n" * (records.LARGEST // 2 + 1))
    rows, left, _, _ = made(topic, tmp_path / "out", capsys)
    assert "handbook/heavy.pdf_0_6" in rows
    assert left["huge.pdf"] == ("too-large", "more than 104,857,600 bytes")
    assert left["heavy.txt"] == ("too-large", "more than 10,485,760 bytes")


@pytest.mark.slow
def test_the_compatible_mode_reads_no_pdfs_and_does_not_speak_of_them(topic, tmp_path, capsys):
    _, left, recipe, said = made(topic, tmp_path / "out", capsys, "--like", "oct-2024")
    assert left["Anleitung Größe.pdf"][0] in ("encoding", "excluded")
    assert "pypdfium2" not in recipe["chunker"]["parameters"]
    assert "warning" not in said
