"""The document store behind ir_datasets: quick, whole, and safe for several processes at once."""

import hashlib
import os
import resource
import shutil
import subprocess
import sys

import ir_datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import freshstack_datasets as fsd
from freshstack_datasets.adapters import hf
from freshstack_datasets.adapters import ir_datasets as adapter
from freshstack_datasets.errors import InputError, RecordError, SnapshotError
from freshstack_datasets.records import Document, Judgment, Nugget, Query

SIZE = 2_500
"""More than two batches of the store."""


def document(i):
    return Document(f"dir/file {i:05}.py_{i}", f"T{i}", f"text {i} " * 40, {"url": f"https://example.org/{i}"})


def written(folder, size=SIZE):
    fsd.write_snapshot(
        folder,
        dataset="tests/many",
        snapshot="2024-10",
        license="CC0-1.0",
        documents=map(document, range(size)),
        queries=[Query("q", "x")],
        nuggets=[Nugget("n", "q", 0, "y")],
        judgments=[Judgment("q", "n", document(0).doc_id, 1)],
    )
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(tmp_path_factory.mktemp("many") / "data")


@pytest.fixture
def many(folder, monkeypatch):
    monkeypatch.setattr(ir_datasets, "registry", ir_datasets.util.Registry())
    adapter.register(folder, "tests/many")
    return ir_datasets.load("tests/many")


def numbers(documents):
    return [int(doc.title[1:]) for doc in documents]


def files(home):
    return sorted(path.name for path in home.rglob("*") if path.is_file())


def test_going_through_all_documents_builds_nothing_and_one_by_its_id_does(many, own_home):
    assert numbers(many.docs_iter()) == list(range(SIZE))
    assert files(own_home) == []
    store = many.docs_store()
    assert not store.built()
    assert store.get("dir/file 02001.py_2001") == (
        "dir/file 02001.py_2001",
        "T2001",
        document(2001).text,
        "https://example.org/2001",
    )
    assert store.built()
    assert files(own_home) == ["corpus.arrow", "lock"]
    assert store.path.is_relative_to(own_home / "documents")
    assert store.count() == SIZE
    assert list(many.docs_iter()) == list(store)
    assert numbers(many.docs_iter()) == list(range(SIZE))


def test_a_store_that_was_removed_is_built_again(many, own_home):
    store = many.docs_store()
    store.build()
    store.clear_cache()
    store.clear_cache()
    assert not store.built()
    assert files(own_home) == ["lock"]
    assert store.get("dir/file 00007.py_7").title == "T7"


slices = st.builds(
    slice,
    st.none() | st.integers(-SIZE - 5, SIZE + 5),
    st.none() | st.integers(-SIZE - 5, SIZE + 5),
    st.none() | st.integers(1, 900) | st.integers(-900, -1),
)


@pytest.fixture(scope="module")
def kept(folder, tmp_path_factory):
    """All documents of a store that the examples share."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("FRESHSTACK_HOME", str(tmp_path_factory.mktemp("kept")))
        patched.setattr(ir_datasets, "registry", ir_datasets.util.Registry())
        adapter.register(folder, "tests/kept")
        store = ir_datasets.load("tests/kept").docs_store()
        store.build()
        yield store


@settings(max_examples=60)
@given(first=slices, second=slices)
def test_slices_are_those_of_a_list(kept, first, second):
    rows = list(range(SIZE))
    assert numbers(iter(kept)[first]) == rows[first]
    assert numbers(iter(kept)[first][second]) == rows[first][second]


def test_slices_of_shares_single_documents_and_what_is_still_to_come(many):
    documents = many.docs_iter()
    assert numbers(documents[:0.5]) == list(range(1_250))
    assert numbers(documents[0.5:]) == list(range(1_250, 2_500))
    assert numbers(documents[1 / 3 : 2 / 3]) == list(range(833, 1_666))
    assert (documents[0].title, documents[-1].title, many.docs[999].title) == ("T0", "T2499", "T999")
    with pytest.raises(IndexError):
        documents[SIZE]
    with pytest.raises(InputError, match=r"expected a number from 0 to 1, got 1\.5"):
        documents[:1.5]
    rest = many.docs_iter()  # of the store, now that there is one
    assert [next(rest).title, next(rest).title] == ["T0", "T1"]
    assert numbers(rest[:3]) == [2, 3, 4]
    assert numbers(rest) == list(range(2, SIZE))


def test_another_corpus_in_the_same_folder_has_another_store(tmp_path, many):
    many.docs_store().build()
    smaller = written(tmp_path / "data", 3)
    adapter.register(smaller, "tests/smaller")
    store = ir_datasets.load("tests/smaller").docs_store()
    store.build()
    (part,) = (smaller / "corpus").iterdir()
    before = store.path
    os.utime(part, (1, 1))
    assert store.path != before
    assert many.docs_store().path.parent != store.path.parent


@pytest.mark.parametrize("content", [b"", b"ARROW1\0\0", b"no Arrow at all " * 100])
def test_a_file_that_was_cut_off_is_not_taken_for_whole(many, content):
    store = many.docs_store()
    store.path.parent.mkdir(parents=True)
    store.path.write_bytes(content)
    assert not store.built()
    assert store.get("dir/file 00007.py_7").title == "T7"


def test_a_part_of_a_file_is_not_taken_for_whole(many):
    store = many.docs_store()
    store.build()
    content = store.path.read_bytes()
    with pa.ipc.open_stream(content) as stream:
        first, _, last = stream
    between = pa.BufferOutputStream()
    with pa.ipc.new_stream(between, first.schema) as stream:
        stream.write_batch(first)
        stream.write_batch(last)
    for part in (content[: len(content) // 2], between.getvalue().to_pybytes()):
        store.clear_cache()
        store.path.write_bytes(part)
        assert not store.built()
        assert store.count() == SIZE


def test_bytes_that_a_disk_lost_are_not_taken_for_documents(many):
    store = many.docs_store()
    store.build()
    whole = store.path.read_bytes()
    for start, content in ((len(whole) // 2, bytes(4096)), (len(whole) // 3, b"\xff" * 100), (len(whole) - 1, b"\0")):
        store.clear_cache()
        store.path.write_bytes(whole[:start] + content + whole[start + len(content) :])
        assert not store.built()
        assert numbers(store) == list(range(SIZE))
        assert store.path.read_bytes() == whole


def test_a_snapshot_whose_folder_is_gone_is_an_error_in_words(tmp_path, many):
    data = written(tmp_path / "data", 3)
    adapter.register(data, "tests/gone")
    store = ir_datasets.load("tests/gone").docs_store()
    shutil.rmtree(data)
    for ask in (store.build, store.built, store.clear_cache, lambda: list(store), lambda: store.path):
        with pytest.raises(SnapshotError, match=r"^corpus of .*/data cannot be read, got .*No such file"):
            ask()


def test_what_datasets_reads_is_the_same_file(many, folder, own_home):
    many.docs_store().build()
    rows = hf.dataset_dict(fsd.load(folder), "corpus")["corpus"]
    assert [entry["filename"] for entry in rows.cache_files] == [str(many.docs_store().path)]
    assert rows[2001]["metadata"]["url"] == "https://example.org/2001"
    assert files(own_home) == ["corpus.arrow", "lock"]


@pytest.mark.parametrize("column", ["_id", "title", "text"])
def test_documents_that_lack_something_are_an_error_and_leave_no_file(tmp_path, many, own_home, column):
    data = written(tmp_path / "data", 3)
    (part,) = (data / "corpus").iterdir()
    table = pq.read_table(part)
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.array([None, "b", "c"])), part)
    adapter.register(data, "tests/lacking")
    with pytest.raises(SnapshotError, match=r"expected .* in every row, got a null"):
        ir_datasets.load("tests/lacking").docs_store().build()
    assert files(own_home) == ["lock"]


def test_an_id_that_is_not_allowed_is_an_error(tmp_path, many):
    data = written(tmp_path / "data", 3)
    (part,) = (data / "corpus").iterdir()
    table = pq.read_table(part)
    pq.write_table(table.set_column(0, "_id", pa.array(["a\tb", "b", "c"])), part)
    adapter.register(data, "tests/foreign")
    with pytest.raises(RecordError, match=r"'a\\tb'"):
        ir_datasets.load("tests/foreign").docs_store().build()


def test_a_home_that_cannot_be_written_is_one_error_and_documents_come_all_the_same(many, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("FRESHSTACK_HOME", str(tmp_path / "file"))
    assert numbers(many.docs_iter()) == list(range(SIZE))
    with pytest.raises(InputError, match=r"cannot write .*; set FRESHSTACK_HOME"):
        many.docs_store().get("dir/file 00007.py_7")


def test_a_disk_that_fills_up_is_one_error_and_leaves_nothing_behind(many, own_home):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))  # to write on is refused, as on a full disk
    try:
        with pytest.raises(
            InputError, match=r"cannot write .*corpus\.arrow.*; free some space, or set FRESHSTACK_HOME"
        ):
            many.docs_store().build()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert files(own_home) == ["lock"]
    assert many.docs_store().count() == SIZE


BUILDS = """
import hashlib, os, sys
import ir_datasets
from freshstack_datasets.adapters import ir_datasets as adapter
from freshstack_datasets.tables.corpus import Corpus

writes, batches = [], Corpus.batches

def counted(corpus, rows):
    writes.append(rows)
    return batches(corpus, rows)

Corpus.batches = counted
print("ready", flush=True)
for i, line in enumerate(sys.stdin):
    folder, os.environ["FRESHSTACK_HOME"] = line.rstrip("\\n").split("\\t")
    adapter.register(folder, f"tests/{i}")
    store = ir_datasets.load(f"tests/{i}").docs_store()
    writes.clear()
    store.build()
    digest = hashlib.sha256("".join(map(repr, map(tuple, store))).encode()).hexdigest()
    print(len(writes), store.count(), digest, store.get("dir/file 02499.py_2499").title, flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 4])
def test_processes_that_build_at_once_eight_times_over_have_it_whole_each_time(processes, folder, tmp_path):
    command = [sys.executable, "-c", BUILDS]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, **pipes) for _ in range(processes)]
    # what every process must have: title, text and address of document() in the order of the ids
    rows = [(d.doc_id, d.title, d.text, d.metadata["url"]) for d in map(document, range(SIZE))]
    whole = f"{SIZE} {hashlib.sha256(''.join(map(repr, rows)).encode()).hexdigest()} T2499\n"
    try:
        assert [process.stdout.readline() for process in started] == ["ready\n"] * processes
        for again in range(8):
            home = tmp_path / str(again)
            for process in started:
                process.stdin.write(f"{folder}\t{home}\n")
                process.stdin.flush()
            answers = [process.stdout.readline().partition(" ") for process in started]
            assert [found for _, _, found in answers] == [whole] * processes
            assert sum(int(writes) for writes, _, _ in answers) == 1  # the others waited for it
            assert files(home) == ["corpus.arrow", "lock"]
    finally:
        for process in started:
            process.stdin.close()
            process.wait()
            process.stdout.close()


KILLED = """
import sys
import ir_datasets
from freshstack_datasets.adapters import ir_datasets as adapter
from freshstack_datasets.tables.corpus import Corpus

batches = Corpus.batches

def slowly(corpus, rows):
    for i, batch in enumerate(batches(corpus, rows)):
        if i == 2:
            print("half", flush=True)
            sys.stdin.read()  # until the process is killed
        yield batch

Corpus.batches = slowly
adapter.register(sys.argv[1], "tests/killed")
ir_datasets.load("tests/killed").docs_store().build()
"""


@pytest.mark.slow
def test_a_build_that_was_killed_leaves_nothing_that_is_taken_for_whole_and_the_next_one_cleans_up(
    folder, many, own_home
):
    command = [sys.executable, "-c", KILLED, str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "half\n"
    finally:
        process.kill()
        process.communicate()
    leftover = [name for name in files(own_home) if name != "lock"]
    assert len(leftover) == 1
    assert leftover[0] != "corpus.arrow"
    assert not many.docs_store().built()
    many.docs_store().build()
    assert files(own_home) == ["corpus.arrow", "lock"]
    assert numbers(many.docs_store()) == list(range(SIZE))


def test_where_files_cannot_be_locked_a_store_is_built_all_the_same(many, monkeypatch, own_home):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    store = many.docs_store()
    (store.path.parent).mkdir(parents=True)
    (store.path.parent / ".corpus.arrow-x.arrow").touch()  # perhaps another process is writing it
    assert store.get("dir/file 00007.py_7").title == "T7"
    assert files(own_home) == [".corpus.arrow-x.arrow", "corpus.arrow", "lock"]
