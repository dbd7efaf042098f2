"""BM25 over a loaded snapshot: its language, its ids, its index kept."""

import shutil

import pytest

from freshstack_datasets.loading import load
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.retrieval import BM25, indexed
from freshstack_datasets.snapshot import write_snapshot


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FRESHSTACK_HOME", str(tmp_path / "home"))
    write_snapshot(
        tmp_path / "data",
        dataset="pruebas/pagos",
        snapshot="2024-10",
        license="Apache-2.0",
        documents=[Document("z 1", "", "los cobros"), Document("a", "", "la factura"), Document("ñ", "", "cobros")],
        queries=[Query("q", "un cobro", language="es")],
        nuggets=[Nugget("n", "q", 0, "Es un cobro.")],
        judgments=[Judgment("q", "n", "z 1", 1)],
    )
    return tmp_path / "data"


def test_a_snapshot_is_searched_in_its_language(folder):
    data = load(folder)
    run = BM25().index(data.corpus).search(data.queries)
    assert list(run["q"]) == ["ñ", "z 1"]  # "los" is a stop word, so both have one term: a tie, larger id first
    assert run.doc_ids == tuple(data.corpus.ids)


def test_its_index_is_kept(folder, tmp_path):
    first, second = (indexed(BM25(), load(folder)) for _ in range(2))
    assert len(list((tmp_path / "home" / "indexes").iterdir())) == 1
    assert first.search(load(folder).queries) == second.search(load(folder).queries)
    shutil.copytree(folder, tmp_path / "copy")  # with the times of the files
    indexed(BM25(), load(tmp_path / "copy"))
    assert len(list((tmp_path / "home" / "indexes").iterdir())) == 1
