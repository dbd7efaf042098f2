"""A saved BM25 index: the same when it is loaded, and refused when it is anything else."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from freshstack_datasets.errors import InputError
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import BM25, FakeRetriever
from freshstack_datasets.retrieval.index_folder import NOTE, versions, write_note

DOCUMENTS = [
    Document("z", "", "los cobros del mes"),
    Document('a "b"  c', "Título", "la factura del cobro"),
    Document("ñ\u00a0%", "", "nada que ver con facturas 漢字"),
]
QUERIES = [Query("1", "un cobro"), Query("2", "facturas 漢字"), Query("3", "")]


@pytest.fixture
def folder(tmp_path):
    BM25("es", 1.2, 0.75).index(DOCUMENTS).save(tmp_path / "index")
    return tmp_path / "index"


def renote(folder, **changes):
    """Write the note again, as whoever damages an index on purpose could."""
    note = json.loads((folder / NOTE).read_text())
    (folder / NOTE).unlink()
    write_note(folder, "BM25", {**note["parameters"], **changes}, versions("bm25s", "PyStemmer"))


def test_a_loaded_index_finds_the_same_to_the_last_bit(folder):
    made = BM25("es", 1.2, 0.75).index(DOCUMENTS).search(QUERIES)
    loaded = BM25.load(folder)
    run = loaded.search(QUERIES)
    assert run.to_dict() == made.to_dict()
    assert run.scores.tobytes() == made.scores.tobytes()
    assert set(run["1"]) == {"z", 'a "b"  c'}
    assert set(run["2"]) == {'a "b"  c', "ñ\u00a0%"}
    assert repr(loaded) == "BM25(language='es', k1=1.2, b=0.75)"


def test_a_loaded_index_is_saved_again(folder, tmp_path):
    BM25.load(folder).save(tmp_path / "again")
    assert BM25.load(tmp_path / "again").search(QUERIES) == BM25.load(folder).search(QUERIES)


def test_the_language_of_the_documents_is_kept(tmp_path):
    class Spanish(list):
        language = "es"

    BM25().index(Spanish(DOCUMENTS)).save(tmp_path / "index")
    loaded = BM25.load(tmp_path / "index")
    assert loaded.language is None  # as it was made
    assert set(loaded.search(QUERIES)["1"]) == {"z", 'a "b"  c'}


def test_the_languages_of_the_documents_are_kept_in_their_order(tmp_path):
    class Both(list):
        languages = ("en", "es")

    # Nothing tells the language of "cobrar": it is read in the main one, English, and not as "cobr".
    queries = [Query("es", "cobrar", language="es"), Query("none", "cobrar"), Query("told", "cobrar en la factura")]
    made = BM25().index(Both(DOCUMENTS))
    made.save(tmp_path / "index")
    loaded = BM25.load(tmp_path / "index")
    assert loaded.language is None
    assert json.loads((tmp_path / "index" / NOTE).read_text())["parameters"]["read_as"] == ["en", "es"]
    assert loaded.search(queries).to_dict() == made.search(queries).to_dict()
    assert [set(loaded.search(queries)[query_id]) for query_id in ("es", "none")] == [{"z", 'a "b"  c'}, set()]
    loaded.save(tmp_path / "again")
    assert BM25.load(tmp_path / "again").search(queries) == made.search(queries)


def test_an_index_from_before_datasets_had_several_languages_is_refused(folder):
    note = json.loads((folder / NOTE).read_text())
    parameters = {**note["parameters"], "read_as": "es"}
    (folder / NOTE).write_text(json.dumps({**note, "format": 1, "parameters": parameters}))
    with pytest.raises(InputError, match=r"the format of the index .*, expected 2, got 1; index the documents again"):
        BM25.load(folder)


def test_the_large_arrays_stay_on_disk(folder):
    arrays = BM25.load(folder)._index.scorer.scores
    assert all(isinstance(arrays[name].base, np.memmap) for name in ("data", "indices", "indptr"))


def test_saving_into_a_folder_with_files_is_refused_and_changes_nothing(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="expected a new or an empty folder"):
        BM25().index(DOCUMENTS).save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_that_is_none_or_holds_no_index_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(InputError, match="is no index, expected a"):
            BM25.load(path)


def test_the_index_of_another_retriever_is_refused(tmp_path):
    FakeRetriever({}).save(tmp_path / "fake")
    with pytest.raises(InputError, match=r"the retriever of the index .* expected 'BM25', got 'FakeRetriever'"):
        BM25.load(tmp_path / "fake")


@pytest.mark.parametrize("member, value", [("format", 99), ("format", None), ("libraries", {"bm25s": "0.0.1"})])
def test_an_index_of_another_format_or_library_is_refused(folder, member, value):
    note = json.loads((folder / NOTE).read_text())
    (folder / NOTE).write_text(json.dumps({**note, member: value}))
    with pytest.raises(InputError, match=r"(format|library versions) of the index .*; index the documents again"):
        BM25.load(folder)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"null", b"[" * 100_000, b"{}", b'{"kind": 1}'])
def test_a_note_that_is_none_is_refused(folder, text):
    (folder / NOTE).write_bytes(text)
    with pytest.raises(InputError, match="index the documents again"):
        BM25.load(folder)


def test_a_note_without_its_members_is_refused(folder):
    note = json.loads((folder / NOTE).read_text())
    (folder / NOTE).write_text(json.dumps({**note, "files": []}))
    with pytest.raises(InputError, match="damaged, expected members files and parameters"):
        BM25.load(folder)


def files(folder):
    return sorted(path for path in folder.iterdir() if path.name != NOTE)


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("damage", ["cut", "changed", "removed", "a folder"])
def test_damage_to_any_file_is_found(folder, place, damage):
    path = files(folder)[place]
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-1])
    elif damage == "changed":
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    else:
        path.unlink()
        if damage == "a folder":
            path.mkdir()
    with pytest.raises(InputError, match="index the documents again"):
        BM25.load(folder)


def test_a_file_too_many_is_found(folder):
    (folder / "extra").write_text("")
    with pytest.raises(InputError, match="extra' is damaged, expected no such file, got one"):
        BM25.load(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
@pytest.mark.parametrize("place", range(7))
def test_a_pipe_in_place_of_any_file_is_refused_without_waiting_for_it(folder, place):
    path = [*files(folder), folder / NOTE][place]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InputError, match="is damaged, expected a file, got something else"):
        BM25.load(folder)


def test_a_header_that_numpy_cannot_parse_is_refused(folder):
    path = folder / "data.csc.index.npy"
    path.write_bytes(path.read_bytes().replace(b"}", b"(", 1))
    renote(folder)
    with pytest.raises(InputError, match="is damaged, expected an array of numpy"):
        BM25.load(folder)


class Trap:
    def __reduce__(self):
        return (Path.touch, (Path(self.path),))


def test_nothing_is_unpickled(folder, tmp_path):
    trap = Trap()
    trap.path = str(tmp_path / "sprung")
    for name in ("data.csc.index.npy", "indices.csc.index.npy"):
        array = np.empty(3, object)
        array[0] = trap
        np.save(folder / name, array, allow_pickle=True)
        renote(folder)
        with pytest.raises(InputError, match="is damaged"):
            BM25.load(folder)
        (folder / name).write_bytes(pickle.dumps(trap))
        renote(folder)
        with pytest.raises(InputError, match="is damaged"):
            BM25.load(folder)
    assert not (tmp_path / "sprung").exists()


UNFIT = {
    "another length": ("data", lambda array: array[:-1]),
    "no entry": ("data", lambda array: array[:0]),
    "two dimensions": ("data", lambda array: array.reshape(2, -1)),
    "another type": ("data", lambda array: array.astype(np.float64)),
    "a document too far": ("indices", lambda array: np.full_like(array, 3)),
    "a document before the first": ("indices", lambda array: np.full_like(array, -1)),
    "fewer terms": ("indptr", lambda array: array[[0, -1]]),
    "no term": ("indptr", lambda array: array[:1]),
    "terms that run backwards": ("indptr", lambda array: array[[0, 2, 1, 3, 4, 5, 6]]),
    "a term that begins late": ("indptr", lambda array: np.maximum(array, 1)),
    "a term that ends late": ("indptr", lambda array: np.append(array[:-1], 99)),
}


@pytest.mark.parametrize("name, change", UNFIT.values(), ids=UNFIT.keys())
def test_arrays_that_do_not_fit_together_are_refused(folder, name, change):
    path = folder / f"{name}.csc.index.npy"
    np.save(path, change(np.load(path)))
    renote(folder)
    with pytest.raises(InputError, match="is damaged"):
        BM25.load(folder)


@pytest.mark.parametrize(
    "name, content",
    [
        ("doc_ids.json", '{"a": 1}'),
        ("doc_ids.json", "[1, 2, 3]"),
        ("doc_ids.json", '["b", "a", "c"]'),
        ("doc_ids.json", '["a"]'),
        ("doc_ids.json", "\x00"),
        ("vocab.index.json", "[]"),
        ("vocab.index.json", '{"a": 99}'),
        ("vocab.index.json", '{"a": [1]}'),
        ("vocab.index.json", '{"a": "1"}'),
    ],
)
def test_ids_and_terms_that_do_not_fit_are_refused(folder, name, content):
    (folder / name).write_text(content)
    renote(folder)
    with pytest.raises(InputError, match="is damaged"):
        BM25.load(folder)


BAD_PARAMETERS = [
    {"k1": None},
    {"b": "x"},
    {"language": 5},
    *({"read_as": read_as} for read_as in ("es", [], None, {}, {"es": 1}, ["no code"], ["es", 5], [["es"]])),
]


@pytest.mark.parametrize("changes", BAD_PARAMETERS)
def test_parameters_that_are_none_are_refused(folder, changes):
    renote(folder, **changes)
    with pytest.raises(InputError, match="expected"):
        BM25.load(folder)
