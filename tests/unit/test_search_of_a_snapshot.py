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


def test_a_snapshot_of_two_languages_is_searched_in_both(tmp_path, monkeypatch):
    monkeypatch.setenv("FRESHSTACK_HOME", str(tmp_path / "home"))
    write_snapshot(
        tmp_path / "both",
        dataset="pruebas/pagos",
        snapshot="2024-11",
        license="Apache-2.0",
        documents=[
            Document("en-1", "ERR-4012", "The charges of the month are listed in the account."),
            Document("en-2", "", "The storage of a copy is free."),
            Document("es-1", "ERR-4012", "Los cobros del mes están en la cuenta."),
            Document("es-2", "", "La copia de un archivo no se borra."),
        ],
        queries=[
            Query("q1", "cobrar", language="es"),
            Query("q2", "copiar", language="es-MX"),
            Query("q3", "charging", language="en"),
            Query("q4", "ERR-4012", language="en"),
        ],
        nuggets=[Nugget(f"n{i}", f"q{i}", 0, "Es un cobro.") for i in range(1, 5)],
        judgments=[Judgment(f"q{i}", f"n{i}", "es-1", 1) for i in range(1, 5)],
    )
    data = load(tmp_path / "both")
    assert data.languages == ("en", "es")
    for retriever in (BM25().index(data.corpus), indexed(BM25(), data), indexed(BM25(), data)):
        run = retriever.search(data.queries)
        # Stems of Snowball: cobros, cobrar -> cobr; copia, copiar -> copi; charges, charging -> charg. The English
        # stem of "copy" is copi as well: one vocabulary.
        assert {query_id: set(run[query_id]) for query_id in run.query_ids} == {
            "q1": {"es-1"},
            "q2": {"es-2", "en-2"},
            "q3": {"en-1"},
            "q4": {"en-1", "es-1"},
        }


def test_its_index_is_kept(folder, tmp_path):
    first, second = (indexed(BM25(), load(folder)) for _ in range(2))
    assert len(list((tmp_path / "home" / "indexes").iterdir())) == 1
    assert first.search(load(folder).queries) == second.search(load(folder).queries)
    shutil.copytree(folder, tmp_path / "copy")  # with the times of the files
    indexed(BM25(), load(tmp_path / "copy"))
    assert len(list((tmp_path / "home" / "indexes").iterdir())) == 1
