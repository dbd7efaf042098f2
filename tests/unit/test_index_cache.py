"""Indexes kept between runs: found again, never stale, whole whatever happens."""

import json
import logging
import multiprocessing
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from freshstack_datasets.errors import InputError, SnapshotError
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import BM25, FakeRetriever, index_folder, indexed

QUERIES = [Query("q", "kiwi")]


class Corpus(list):
    """Documents that count how often they are read, and may wait for another process."""

    reads = 0
    language = None
    barrier = None

    def __iter__(self):
        self.reads += 1
        if self.barrier is not None:
            self.barrier.wait(60)
        return super().__iter__()


@dataclass
class Data:
    fingerprint: str = "f1"
    path: Path | None = None
    corpus: Corpus = field(default_factory=lambda: Corpus([Document("a", "", "kiwi"), Document("b", "", "pear")]))


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FRESHSTACK_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "indexes"


def finds(retriever):
    return list(retriever.search(QUERIES)["q"])


def test_the_second_call_reads_no_document(cache):
    first, second = Data(), Data()
    assert finds(indexed(BM25(), first)) == finds(indexed(BM25(), second)) == ["a"]
    assert (first.corpus.reads, second.corpus.reads) == (1, 0)
    assert [len(path.name) for path in cache.iterdir()] == [32]


@pytest.mark.parametrize(
    "retriever, languages, fingerprint",
    [
        (BM25(k1=1), (), "f1"),
        (BM25(b=0), (), "f1"),
        (BM25("es"), (), "f1"),
        (BM25(), ("es",), "f1"),
        (BM25(), ("en", "es"), "f1"),
        (BM25(), (), "f2"),
    ],
)
def test_whatever_could_change_the_index_makes_another(retriever, languages, fingerprint):
    indexed(BM25(), Data())
    other = Data(fingerprint)
    other.corpus.languages = languages
    indexed(retriever, other)
    assert other.corpus.reads == 1


@pytest.mark.parametrize(
    "before, after, reads",
    [
        ({"languages": ("en", "es")}, {"languages": ("es", "en")}, 1),  # the first one is read where nothing tells
        ({"languages": ("en", "es")}, {"languages": ("en",)}, 1),
        ({"language": None}, {"language": "es"}, 1),
        ({"languages": ("pt-BR", "es")}, {"languages": ("pt", "es")}, 0),  # one language
        ({"language": "es"}, {"languages": ("es",)}, 0),
    ],
)
def test_other_languages_of_the_corpus_make_another(before, after, reads):
    for said, expected in ((before, 1), (after, reads)):
        data = Data()
        vars(data.corpus).update(said)
        indexed(BM25(), data)
        assert data.corpus.reads == expected


@pytest.mark.parametrize("change", ["format", "version"])
def test_another_format_or_library_makes_another(monkeypatch, change):
    indexed(BM25(), Data())
    if change == "format":
        monkeypatch.setattr("freshstack_datasets.retrieval.bm25.FORMAT", 99)
    else:
        monkeypatch.setattr("freshstack_datasets.retrieval.bm25.versions", lambda *names: dict.fromkeys(names, "0.0.1"))
    other = Data()
    indexed(BM25(), other)
    assert other.corpus.reads == 1


def test_a_folder_whose_corpus_changed_behind_its_fingerprint_makes_another(tmp_path):
    file = tmp_path / "data" / "corpus" / "corpus.parquet"
    file.parent.mkdir(parents=True)
    file.write_text("one")
    os.utime(file, ns=(1, 1))
    (tmp_path / "data" / "README.md").write_text("the card")
    for step, reads in [
        (lambda: None, 1),
        (lambda: None, 0),
        (lambda: (tmp_path / "data" / "README.md").write_text("another card"), 0),
        (lambda: os.utime(file, ns=(1, 2)), 1),  # touched
        (lambda: (file.write_text("three"), os.utime(file, ns=(1, 2))), 1),  # another size
        (lambda: (file.parent / "more.parquet").write_text(""), 1),
    ]:
        step()
        data = Data(path=tmp_path / "data")
        indexed(BM25(), data)
        assert data.corpus.reads == reads


@pytest.mark.parametrize("damage", ["cut", "note", "emptied", "a file"])
def test_a_damaged_index_is_made_anew(cache, damage):
    indexed(BM25(), Data())
    [folder] = cache.iterdir()
    if damage == "cut":
        (folder / "indices.csc.index.npy").write_bytes(b"")
    elif damage == "note":
        (folder / index_folder.NOTE).write_text("{")
    else:
        for path in folder.iterdir():
            path.unlink()
        if damage == "a file":
            folder.rmdir()
            folder.write_text("")
    again, third = Data(), Data()
    assert finds(indexed(BM25(), again)) == finds(indexed(BM25(), third)) == ["a"]
    assert (again.corpus.reads, third.corpus.reads) == (1, 0)
    assert list(cache.iterdir()) == [folder]


@pytest.mark.parametrize("place", ["home", "home/indexes"])
def test_where_nothing_can_be_written_a_warning_says_so(tmp_path, caplog, place):
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("a file where a folder should be")
    assert finds(indexed(BM25(), Data())) == ["a"]
    [record] = caplog.records[-1:]
    assert (record.levelno, record.name) == (logging.WARNING, "freshstack_datasets.retrieval.index_cache")
    assert record.getMessage().startswith("the index is not kept: ")


def test_a_full_disk_leaves_nothing_behind(monkeypatch, cache, caplog):
    def full(folder, *rest):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("freshstack_datasets.retrieval.bm25.write_note", full)
    assert finds(indexed(BM25(), Data())) == ["a"]
    assert "No space left on device" in caplog.text
    assert list(cache.iterdir()) == []


def test_a_user_without_home_folder_is_warned(monkeypatch, caplog):
    def nowhere():
        raise InputError("no cache folder", hint="set FRESHSTACK_HOME")

    monkeypatch.setattr("freshstack_datasets.retrieval.index_cache.home", nowhere)
    assert finds(indexed(BM25(), Data())) == ["a"]
    assert "the index is not kept: no cache folder; set FRESHSTACK_HOME" in caplog.text


def test_a_dataset_whose_languages_cannot_be_read_is_refused_without_a_word_on_the_cache(caplog):
    class Damaged(Corpus):
        @property
        def languages(self):
            raise SnapshotError("the queries cannot be read")

    with pytest.raises(SnapshotError, match="the queries cannot be read"):
        indexed(BM25(), Data(corpus=Damaged()))
    assert caplog.records == []


def test_another_process_that_was_first_is_no_reason_for_a_warning(cache, caplog):
    class Meanwhile(Corpus):
        def __iter__(self):
            indexed(BM25(), Data())
            return super().__iter__()

    assert finds(indexed(BM25(), Data(corpus=Meanwhile(Data().corpus)))) == ["a"]
    assert len(list(cache.iterdir())) == 1
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_damaged_index_that_another_process_removed_first_is_made_anew(monkeypatch, cache):
    indexed(BM25(), Data())

    def load(folder):
        shutil.rmtree(folder)
        raise InputError("damaged")

    with monkeypatch.context() as patched:
        patched.setattr(BM25, "load", load)
        assert finds(indexed(BM25(), Data())) == ["a"]
    data = Data()
    assert finds(indexed(BM25(), data)) == ["a"]
    assert data.corpus.reads == 0


def test_what_has_no_key_or_no_fingerprint_is_indexed_and_not_kept(cache):
    fake = FakeRetriever({"q": {"a": 1.0}})
    assert indexed(fake, Data()) is fake
    assert finds(indexed(BM25(), Data(fingerprint=""))) == ["a"]
    assert not cache.exists()


def build(home, barrier, results):
    os.environ["FRESHSTACK_HOME"] = home
    data = Data()
    data.corpus.barrier = barrier  # both have seen that there is no index before either reads a document
    run = indexed(BM25(), data).search(QUERIES)
    results.put(json.dumps([run.to_dict(), data.corpus.reads]))


@pytest.mark.parametrize("damaged", [False, True])
def test_processes_that_build_at_once_both_end_right(tmp_path, cache, damaged):
    if damaged:
        indexed(BM25(), Data())
        for path in next(cache.iterdir()).iterdir():
            path.write_text("")
    spawn = multiprocessing.get_context("spawn")
    barrier, results = spawn.Barrier(2), spawn.Queue()
    workers = [spawn.Process(target=build, args=(str(cache.parent), barrier, results)) for _ in range(2)]
    for worker in workers:
        worker.start()
    answers = [json.loads(results.get(timeout=60)) for _ in workers]
    for worker in workers:
        worker.join()
    after = Data()
    expected = indexed(BM25(), after).search(QUERIES).to_dict()
    assert answers == [[expected, 1], [expected, 1]]
    assert after.corpus.reads == 0
    assert [path.name for path in cache.iterdir() if path.name.startswith(".")] == []
