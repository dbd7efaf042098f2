"""Tables as ``datasets`` has them, against what it reads from the same folder by itself."""

import logging
import os
import sys
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import freshstack_datasets as fsd
from freshstack_datasets.adapters import hf
from freshstack_datasets.errors import InputError, MissingExtraError, SnapshotError, UnknownNameError
from freshstack_datasets.tables.schema import TABLES

CONFIGS = ["qrels", "corpus", "queries", "nuggets", "nugget_qrels"]


def written(folder: Path) -> fsd.Dataset:
    """A snapshot with values and nulls in every column that may have them, and ids of every kind."""
    fsd.write_snapshot(
        folder,
        dataset="acme/manual",
        snapshot="2026-10",
        license="CC0-1.0",
        documents=[
            fsd.Document("docs/a file.md #1", "Grüße", "Text\nof two lines", {"url": "https://example.org", "tokens": 7}),
            fsd.Document("docs/ü%20.md", "", ""),
            fsd.Document("zwölf", "日本", "語", {"score": -3, "date": "2026-01-31", "author": "A. B."}),
        ],
        queries=[
            fsd.Query("a question", "How?", title="How", tags=("x", "y"), score=2, language="en"),
            fsd.Query("b#", "Wie?", body="Wie", answer_id="7", answer_text="So.", type="how", difficulty="hard"),
        ],
        nuggets=[
            fsd.Nugget("2 of a", "a question", 0, "first"),
            fsd.Nugget("1 of a", "a question", 1, "second", "vital"),
            fsd.Nugget("n", "b#", 0, "only", "okay"),
        ],
        judgments=[
            fsd.Judgment("a question", "2 of a", "zwölf", 1, "call 1"),
            fsd.Judgment("a question", "1 of a", "zwölf", 1),
            fsd.Judgment("a question", "1 of a", "docs/a file.md #1", 0),
            fsd.Judgment("b#", "n", "docs/ü%20.md", 1),
        ],
    )  # fmt: skip
    return fsd.load(folder)


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    return written(tmp_path_factory.mktemp("hf") / "manual")


@pytest.mark.parametrize("config", [None, *CONFIGS])
@pytest.mark.parametrize("name", ["nimbus", "manual"])
def test_every_config_is_what_datasets_reads_from_the_folder(name, config, manual, tmp_path):
    data = manual if name == "manual" else fsd.load(name)
    expected = datasets.load_dataset(str(data.path), config, cache_dir=str(tmp_path))
    got = hf.dataset_dict(data, config)
    assert list(got) == list(expected)
    for split, rows in expected.items():
        assert got[split].features == rows.features
        assert got[split].column_names == rows.column_names
        assert got[split].split == rows.split
        assert got[split].to_list() == rows.to_list()
        assert len(rows)


def test_the_configs_are_those_of_a_snapshot():
    assert set(CONFIGS) == set(TABLES)


def test_an_unknown_config_is_told_with_the_nearest_ones(manual):
    with pytest.raises(UnknownNameError, match="unknown config 'nugget-qrels'; did you mean 'nugget_qrels'"):
        hf.dataset_dict(manual, "nugget-qrels")


def test_judgments_made_in_memory_have_all_tables_but_the_documents():
    data = fsd.Dataset.from_nugget_qrels([("q 2", "n", "d ü", 1), ("q 1", "n", "d ü", 0), ("q 2", "m", "d ü", 1)])
    rows = {config: hf.dataset_dict(data, config)["test"] for config in CONFIGS if config != "corpus"}
    assert rows["qrels"].to_list() == [
        {"query-id": "q 1", "corpus-id": "d ü", "score": 0},
        {"query-id": "q 2", "corpus-id": "d ü", "score": 2},
    ]
    assert [tuple(row.values()) for row in rows["nugget_qrels"]] == [
        ("q 2", "n", "d ü", 1, None),
        ("q 1", "n", "d ü", 0, None),
        ("q 2", "m", "d ü", 1, None),
    ]
    assert rows["queries"]["_id"][:] == ["q 2", "q 1"]
    assert rows["nuggets"]["position"][:] == [0, 0, 1]
    for config, found in rows.items():
        assert found.features == datasets.Features.from_arrow_schema(TABLES[config].schema)
    with pytest.raises(SnapshotError, match="has no documents, expected a dataset with a corpus"):
        hf.dataset_dict(data, "corpus")


def test_no_judgments_are_empty_tables():
    assert len(hf.dataset_dict(fsd.Dataset.from_nugget_qrels([]))["test"]) == 0


# The file of the documents


def kept(home: Path) -> list[Path]:
    return sorted((home / "documents").rglob("*.arrow"))


def documents(data: fsd.Dataset) -> datasets.Dataset:
    return hf.dataset_dict(data, "corpus")["corpus"]


def test_the_documents_are_mapped_from_a_file_that_is_written_once(manual, own_home):
    first = documents(manual)
    (file,) = kept(own_home)
    assert [entry["filename"] for entry in first.cache_files] == [str(file)]
    os.utime(file, ns=(1, 1))
    assert documents(manual).to_list() == first.to_list()
    assert file.stat().st_mtime_ns == 1


def test_what_is_made_of_the_documents_is_kept_beside_them(manual, own_home):
    longer = documents(manual).map(lambda row: {"length": len(row["text"])})
    assert longer["length"][:] == [17, 0, 1]
    assert len(kept(own_home)) == 2


def test_a_damaged_file_is_written_anew(manual, own_home):
    expected = documents(manual).to_list()
    (file,) = kept(own_home)
    whole = file.read_bytes()
    nothing = pa.BufferOutputStream()
    pa.ipc.new_stream(nothing, TABLES["corpus"].schema).close()  # as if it were cut off before the first batch
    for damaged in (b"", b"no arrow at all", whole[:200], whole[: len(whole) // 2], nothing.getvalue().to_pybytes()):
        file.write_bytes(damaged)
        assert documents(manual).to_list() == expected
    middle = len(whole) // 2
    file.write_bytes(whole[:middle] + bytes(16) + whole[middle + 16 :])  # what a disk may leave of a page
    assert documents(manual).to_list() == expected


def test_a_folder_that_was_changed_has_a_file_of_its_own(tmp_path, own_home):
    data = written(tmp_path / "manual")
    before = documents(data).to_list()
    path = data.path / TABLES["corpus"].file()
    table = pq.read_table(path)
    pq.write_table(table.set_column(2, "text", pa.array(["changed"] * len(before))), path)
    assert [row["text"] for row in documents(fsd.load(tmp_path / "manual"))] == ["changed"] * len(before)
    assert len(kept(own_home)) == 2


def test_where_nothing_can_be_written_the_documents_are_held_in_memory(manual, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FRESHSTACK_HOME", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        rows = documents(manual)
    assert rows["_id"][:] == list(manual.corpus.ids)
    assert rows.cache_files == []
    (told,) = caplog.messages
    assert told.startswith("the documents are held in memory: cannot write")


def test_documents_that_cannot_be_read_are_an_error_and_leave_no_file(tmp_path, own_home):
    data = written(tmp_path / "manual")
    path = data.path / TABLES["corpus"].file()
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + bytes(40) + whole[44:])  # the first page's header
    with pytest.raises(InputError, match="cannot be read"):
        documents(data)
    assert kept(own_home) == []


def test_a_missing_library_is_one_line_with_its_extra(manual, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"datasets is not installed; pip install .*\[hf\]"):
        hf.dataset_dict(manual)
