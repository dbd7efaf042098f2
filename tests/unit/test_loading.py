"""Opening datasets and reading from them."""

import gc
import json
import os
import weakref
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets import catalog
from freshstack_datasets.errors import HubError, InputError, RecordError, SnapshotError, UnknownNameError
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.tables import corpus
from freshstack_datasets.tables.schema import TABLES

DOCUMENTS = [Document(f"d{i:05}", f"title {i}", f"text {i}", {"tokens": i}) for i in range(3500)]
QUERIES = [
    Query("q1", "T1 B1", "T1", "B1", "a1", "A1", language="de"),
    Query("q2", "T2 B2", "T2", None, "a2", "A2", language="en"),
    Query("q3", "T3 B3", "T3", "B3", "a3", "A3", language="de"),
]
NUGGETS = [
    Nugget("n9", "q1", 0, "first"),
    Nugget("n1", "q1", 1, "second"),
    Nugget("n2", "q2", 0, "only"),
    Nugget("n3", "q3", 0, "other"),
]
JUDGMENTS = [
    Judgment("q1", "n9", "d00001", 1),
    Judgment("q1", "n1", "d00001", 1),
    Judgment("q1", "n1", "d03000", 0, "call-1"),
    Judgment("q2", "n2", "d00002", 1),
    Judgment("q3", "n3", "d00002", 0),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("loading") / "toy"
    write_snapshot(
        path,
        dataset="acme/toy",
        snapshot="2026-10",
        license="MIT",
        documents=DOCUMENTS,
        queries=QUERIES,
        nuggets=NUGGETS,
        judgments=JUDGMENTS,
    )
    return path


@pytest.fixture
def data(folder):
    return load(folder)


@pytest.fixture
def copy(folder, tmp_path):
    """A copy to break."""
    for path in folder.rglob("*"):
        if path.is_file():
            target = tmp_path / "copy" / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return tmp_path / "copy"


def change(folder, alter):
    told = json.loads((folder / "snapshot.json").read_text())
    alter(told)
    (folder / "snapshot.json").write_text(json.dumps(told))


def test_a_dataset_says_what_it_is(data, folder):
    told = json.loads((folder / "snapshot.json").read_text())
    assert (data.name, data.snapshot, data.path) == ("acme/toy", "2026-10", folder)
    assert data.fingerprint == told["fingerprint"]
    assert repr(data) == "<Dataset acme/toy@2026-10: 3 queries, 3500 documents>"


def test_documents_are_found_by_id_in_the_order_asked_and_again(data):
    wanted = [3499, 0, 1000, 999, 0, 2500]
    assert data.corpus.get_many(f"d{i:05}" for i in wanted) == [DOCUMENTS[i] for i in wanted]
    assert data.corpus["d01234"] == DOCUMENTS[1234]
    assert data.corpus.get_many([]) == []


def test_documents_are_iterated_by_ascending_id(data):
    assert list(data.corpus) == DOCUMENTS
    assert len(data.corpus) == 3500
    assert list(data.corpus.ids) == [d.doc_id for d in DOCUMENTS]


def test_membership_takes_anything(data):
    assert "d00000" in data.corpus
    assert all(other not in data.corpus for other in ("d", "", "zzz", 7, None))
    assert "q1" in data.queries
    assert "n1" not in data.queries
    assert ("q1", "n9", "d00001") in data.judgments


@pytest.mark.parametrize("doc_id", ["d99999", "", "\ud800", 7, None])
def test_an_unknown_document_is_an_error_that_offers_near_ones(data, doc_id):
    with pytest.raises(UnknownNameError, match="unknown document"):
        data.corpus[doc_id]


def test_an_unknown_document_near_a_known_one_is_offered_that(data):
    with pytest.raises(UnknownNameError, match=r"did you mean .*'d03499'"):
        data.corpus["d03499x"]


def test_row_groups_are_read_once_and_few_are_kept(folder, monkeypatch):
    data = load(folder)
    read = []
    real = data.corpus._reader.group
    monkeypatch.setattr(data.corpus._reader, "group", lambda number: read.append(number) or real(number))
    data.corpus.get_many(["d00000", "d03499", "d00500", "d02000"])
    assert read == [0, 2, 3]  # 1,000 documents a group
    data.corpus["d00001"]
    assert read == [0, 2, 3]
    monkeypatch.setattr(corpus, "_CACHE_BYTES", 0)  # then only the last one is kept
    data.corpus.get_many(["d01000", "d00000"])
    assert list(data.corpus._kept) == [1]


def test_opening_reads_no_rows(folder, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", refuse)
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", refuse)
    data = load(folder)
    assert (len(data.corpus), len(data.queries), len(data.nuggets), len(data.judgments)) == (3500, 3, 4, 5)


def test_queries_and_nuggets_are_found_by_id_and_as_columns(data):
    assert data.queries["q2"] == QUERIES[1]
    assert list(data.queries) == QUERIES
    assert data.nuggets["n9"] == NUGGETS[0]
    assert data.judgments["q1", "n1", "d03000"] == JUDGMENTS[2]
    assert data.queries.columns("query_id", "body") == (["q1", "q2", "q3"], ["B1", None, "B3"])
    by_key = sorted(JUDGMENTS, key=lambda j: (j.query_id, j.nugget_id, j.doc_id))
    assert data.judgments.columns("doc_id", "score") == ([j.doc_id for j in by_key], [j.score for j in by_key])


def test_unknown_ids_and_fields_are_errors(data):
    with pytest.raises(UnknownNameError, match="unknown query 'q9'; did you mean"):
        data.queries["q9"]
    with pytest.raises(UnknownNameError, match="unknown field 'corpus-id'"):
        data.judgments.columns("corpus-id")
    with pytest.raises(UnknownNameError, match="unknown query 'n1'"):
        data.nuggets_of("n1")


def test_nuggets_come_by_position_not_by_id(data):
    assert data.nuggets_of("q1") == (NUGGETS[0], NUGGETS[1])


def test_qrels_count_nuggets_and_keep_zeros(data):
    # d00001 supports n9 and n1; d03000 was judged for n1 only, and does not support it.
    assert data.qrels == {"q1": {"d00001": 2, "d03000": 0}, "q2": {"d00002": 1}, "q3": {"d00002": 0}}


def test_the_language_is_that_of_most_queries(data):
    assert (data.language, data.corpus.language) == ("de", "de")


@pytest.mark.parametrize(
    ("said", "languages"),
    [
        ([None], ()),
        ([None, "", "German", "e n"], ()),  # none of them is a code
        (["en", None, "es", "es"], ("es", "en")),
        (["fr", "en", "es", "es", "en", "de"], ("en", "es", "de", "fr")),  # equally frequent: by the alphabet
        (["pt-BR", "es", "es", "pt", "PT_pt"], ("pt", "es")),  # regions are one language, which makes it the first
    ],
)
def test_the_languages_are_those_of_the_queries_by_frequency(tmp_path, said, languages):
    write_snapshot(
        tmp_path / "data",
        dataset="acme/toy",
        snapshot="2026-10",
        license="MIT",
        documents=DOCUMENTS[:1],
        queries=[Query(f"q{i}", "text", language=language) for i, language in enumerate(said)],
        nuggets=[Nugget(f"n{i}", f"q{i}", 0, "fact") for i in range(len(said))],
        judgments=[Judgment(f"q{i}", f"n{i}", "d00000", 1) for i in range(len(said))],
    )
    data = load(tmp_path / "data")
    assert data.languages == data.corpus.languages == languages
    assert data.language == data.corpus.language == (languages[0] if languages else None)


@pytest.mark.parametrize(
    ("name", "said", "languages"),
    [("freshstack/yolo", None, ("en",)), ("freshstack/yolo", "de", ("de",)), ("acme/yolo", None, ())],
)
def test_where_no_query_says_its_language_it_is_what_is_known_of_the_dataset(tmp_path, name, said, languages):
    write_snapshot(
        tmp_path / "data",
        dataset=name,
        snapshot="2026-10",
        license="MIT",
        documents=DOCUMENTS[:1],
        queries=[Query("q", "text", language=said)],
        nuggets=[Nugget("n", "q", 0, "fact")],
        judgments=[Judgment("q", "n", "d00000", 1)],
    )
    data = load(tmp_path / "data")
    assert data.languages == data.corpus.languages == languages


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text", ["T1 B1", "T2 B2", "T3 B3"]),
        ("title", ["T1", "T2", "T3"]),
        ("answer", ["A1", "A2", "A3"]),
        ("nuggets", ["first\nsecond", "only", "other"]),
        ({"q1": "x", "q2": "", "q3": "z", "unknown": "w"}, ["x", "", "z"]),
    ],
)
def test_queries_can_be_searched_with_another_text(data, text, expected):
    changed = data.queries_with(text)
    assert [query.text for query in changed] == expected
    assert [query.title for query in changed] == ["T1", "T2", "T3"]
    assert data.queries["q1"].text == "T1 B1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("body", "query 'q2': body, expected a string, got none"),
        ({"q1": "x"}, "query 'q2': text in the mapping, expected a string, got none"),
        ({"q1": "x", "q2": 3}, r"got 3 \(int\)"),
        ({"q1": "x", "q2": "\ud800", "q3": ""}, "valid strings"),
        ("answers", "unknown text of a query 'answers'; did you mean 'answer'"),
    ],
)
def test_queries_without_the_text_asked_for_are_an_error(data, text, says):
    with pytest.raises(InputError, match=says):
        data.queries_with(text)


def test_a_dataset_is_itself_only_and_can_be_forgotten(folder):
    data = load(folder)
    assert data != load(folder)
    assert len(list(data.corpus)) == 3500
    assert data.qrels
    gone = weakref.ref(data)
    del data
    gc.collect()
    assert gone() is None


def test_a_table_in_several_files_is_one_table(copy):
    path = copy / TABLES["corpus"].file()
    rows = pq.read_table(path)
    files = []
    for i, (start, length) in enumerate(((0, 1500), (1500, 0), (1500, 2000))):
        name = f"corpus/corpus-0000{i}-of-00003.parquet"
        pq.write_table(rows.slice(start, length), copy / name, row_group_size=700)
        files.insert(0, {"path": name, "size": 1, "sha256": sha256(b"").hexdigest()})
    path.unlink()
    change(copy, lambda told: told["tables"]["corpus"].update(files=files))
    data = load(copy)
    assert list(data.corpus) == DOCUMENTS
    wanted = [0, 699, 700, 1499, 1500, 2199, 2200, 3499]
    assert data.corpus.get_many([f"d{i:05}" for i in wanted]) == [DOCUMENTS[i] for i in wanted]


# Names and paths


def test_a_folder_is_found_as_text_and_relative(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    for name in (str(folder), "toy", "./toy", f"{folder}@2026-10", "./toy@2026-10", Path("toy@2026-10")):
        assert load(name).name == "acme/toy"
    assert load("toy", "2026-10").snapshot == "2026-10"


def test_a_folder_of_another_snapshot_is_an_error(folder):
    for arguments in ((f"{folder}@2026-11",), (folder, "2026-11")):
        with pytest.raises(SnapshotError, match="snapshot, expected '2026-11', got 2026-10"):
            load(*arguments)
    with pytest.raises(InputError, match="expected one snapshot"):
        load(f"{folder}@2026-11", "2026-10")


def test_a_folder_whose_own_name_holds_an_at_sign_is_that_folder(copy):
    copy = copy.rename(copy.with_name("toy@2024-10"))
    assert load(copy).snapshot == "2026-10"


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere", "../nowhere", Path("nowhere")])
def test_what_looks_like_a_path_is_looked_for_as_one(name):
    with pytest.raises(SnapshotError, match="is no snapshot"):
        load(name)


@pytest.mark.parametrize("name", ["langchian", "freshstack/langchian"])
def test_an_unknown_name_offers_near_ones(name):
    with pytest.raises(UnknownNameError, match="did you mean 'freshstack/langchain'"):
        load(name)


@pytest.mark.parametrize("name", ["", "@", "@2024-10", "x" * 10_000, "a\0b", "\ud800"])
def test_names_that_nobody_can_mean_are_errors_of_ours(name):
    with pytest.raises(InputError):
        load(name)


@pytest.mark.parametrize("name", ["freshstack/langchain", "langchain", "freshstack/langchain@2024-10"])
def test_a_published_dataset_that_is_not_here_says_so(name):
    with pytest.raises(HubError, match=r"freshstack/langchain@2024-10 is not on this machine.*freshstack download"):
        load(name)


def test_an_unknown_snapshot_of_a_known_dataset_offers_the_known_ones():
    with pytest.raises(UnknownNameError, match="unknown snapshot of freshstack/yolo '2024-1'; did you mean '2024-10'"):
        load("freshstack/yolo", "2024-1")


def test_bundled_snapshots_are_found_by_name(folder, monkeypatch, tmp_path):
    (tmp_path / "bundled").mkdir()
    (tmp_path / "bundled" / "toy").symlink_to(folder)
    monkeypatch.setattr(catalog, "_BUNDLED", tmp_path / "bundled")
    for name in ("toy", "freshstack/toy", "toy@2026-10"):
        assert len(load(name).queries) == 3
    with pytest.raises(HubError, match="freshstack/toy@2026-11 is not on this machine"):
        load("toy@2026-11")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy").mkdir()  # a folder of that name does not hide it
    assert load("toy").path == tmp_path / "bundled" / "toy"
    with pytest.raises(SnapshotError, match="toy is no snapshot"):
        load("./toy")
    listed = {(entry.dataset, entry.name): entry for entry in catalog.listed()[0]}
    size = sum(p.stat().st_size for p in folder.rglob("*.parquet"))
    assert (listed["freshstack/toy", "2026-10"].cached, listed["freshstack/toy", "2026-10"].bytes) == (True, size)
    assert (listed["freshstack/godot", "2024-10"].cached, listed["freshstack/godot", "2024-10"].bytes) == (False, None)


# Broken folders


def test_rows_that_are_not_as_many_as_the_manifest_says_are_an_error(copy):
    change(copy, lambda told: told["tables"]["nuggets"].update(rows=5))
    with pytest.raises(SnapshotError, match=r"nuggets of .*, expected 5 rows, got 4; freshstack verify"):
        load(copy)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("content", [None, b"", b"garbage" * 99])
def test_a_table_that_is_missing_or_garbage_is_an_error_of_ours(copy, name, content):
    (copy / TABLES[name].file()).unlink()
    if content is not None:
        (copy / TABLES[name].file()).write_bytes(content)
    with pytest.raises(SnapshotError, match=f"{name}/"):
        load(copy)


def test_other_columns_are_an_error(copy):
    path = copy / TABLES["queries"].file()
    pq.write_table(pq.read_table(path).drop_columns("tags"), path)
    with pytest.raises(SnapshotError, match=r"the columns of queries/.*, expected _id string"):
        load(copy)


def test_damaged_rows_are_an_error_of_ours_when_they_are_read(copy):
    path = copy / TABLES["corpus"].file()
    content = bytearray(path.read_bytes())
    content[100:20_000] = b"\xff" * 19_900
    path.write_bytes(content)
    data = load(copy)
    with pytest.raises(SnapshotError, match="cannot be read"):
        list(data.corpus)
    with pytest.raises(SnapshotError, match="cannot be read"):
        data.corpus["d00000"]


def test_a_folder_that_goes_while_its_dataset_is_open_is_an_error_of_ours(copy):
    data = load(copy)
    (copy / "queries" / "test-00000-of-00001.parquet").unlink()
    with pytest.raises(
        SnapshotError, match=r"^queries/test-00000-of-00001\.parquet cannot be read, got .*No such file"
    ):
        list(data.queries)


def test_text_that_is_not_utf8_is_an_error_of_ours(copy):
    path = copy / TABLES["nuggets"].file()
    table = pq.read_table(path)
    broken = pa.Array.from_buffers(pa.string(), 4, pa.array([b"x", b"\xff", b"z", b""], pa.binary()).buffers())
    pq.write_table(table.set_column(3, "text", broken), path)
    with pytest.raises(SnapshotError, match="cannot be read"):
        list(load(copy).nuggets)


def test_documents_out_of_order_are_an_error_when_one_is_looked_for(copy):
    path = copy / TABLES["corpus"].file()
    pq.write_table(pq.read_table(path).sort_by([("_id", "descending")]), path)
    with pytest.raises(SnapshotError, match="expected ascending ids"):
        load(copy).corpus["d00000"]


@pytest.mark.parametrize(
    "path", ["../x.parquet", "/etc/passwd", "corpus/../../x.parquet", "corpus/a/b.parquet", "C:\\x"]
)
def test_paths_that_leave_the_folder_are_refused(copy, path):
    change(copy, lambda told: told["tables"]["corpus"]["files"][0].update(path=path))
    with pytest.raises(SnapshotError):
        load(copy)


def test_links_out_of_the_folder_and_pipes_are_refused(copy, folder):
    path = copy / TABLES["qrels"].file()
    path.unlink()
    path.symlink_to(folder / TABLES["qrels"].file())
    with pytest.raises(SnapshotError, match="a link out of the folder"):
        load(copy)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SnapshotError, match="a regular file"):
        load(copy)


@pytest.mark.parametrize(
    ("name", "column"), [("corpus", "_id"), ("corpus", "text"), ("queries", "_id"), ("queries", "text")]
)
def test_a_null_where_a_value_must_be_is_an_error_of_ours(copy, name, column):
    path = copy / TABLES[name].file()
    rows = pq.read_table(path).to_pylist()
    rows[0][column] = None
    pq.write_table(pa.Table.from_pylist(rows, TABLES[name].schema), path)
    data = load(copy)
    with pytest.raises(InputError, match="null"):
        list(data.corpus if name == "corpus" else data.queries)
    with pytest.raises(InputError, match="null"):
        data.corpus.get_many(["d00000"]) if name == "corpus" else data.queries.columns("query_id", "text")


def test_a_judgment_of_no_query_is_an_error_of_ours(copy):
    path = copy / TABLES["nugget_qrels"].file()
    rows = pq.read_table(path).to_pylist()
    rows[0]["query-id"] = "q0"
    pq.write_table(pa.Table.from_pylist(rows, TABLES["nugget_qrels"].schema), path)
    with pytest.raises(SnapshotError, match="a judgment of query 'q0'"):
        _ = load(copy).qrels


# Judgments alone

ROWS = [("q2", "n", "b", 1), ("q2", "n", "a", 0), ("q1", "n", "a", 1), ("q2", "m", "a", 1)]


def test_judgments_alone_make_a_dataset_in_their_own_order():
    data = Dataset.from_nugget_qrels(iter(ROWS), name="x", snapshot="s")
    assert (data.name, data.snapshot, data.path, data.manifest, data.language) == ("x", "s", None, None, None)
    assert data.languages == ()
    assert data.queries.columns("query_id") == (["q2", "q1"],)
    assert data.nuggets.columns("query_id", "nugget_id", "position") == (["q2", "q1", "q2"], ["n", "n", "m"], [0, 0, 1])
    assert list(zip(*data.judgments.columns("query_id", "nugget_id", "doc_id", "score"), strict=True)) == ROWS
    assert list(data.judgments)[1] == Judgment("q2", "n", "a", 0)
    assert data.qrels == {"q2": {"b": 1, "a": 1}, "q1": {"a": 1}}
    assert [n.nugget_id for n in data.nuggets_of("q2")] == ["n", "m"]


def test_judgments_alone_have_no_documents():
    with pytest.raises(SnapshotError, match="'x' has no documents"):
        _ = Dataset.from_nugget_qrels(ROWS, name="x").corpus


def test_no_judgment_is_a_dataset_without_queries():
    data = Dataset.from_nugget_qrels([])
    assert (len(data.queries), len(data.nuggets), len(data.judgments), data.qrels) == (0, 0, 0, {})
    # sha256 over the line of an empty table, whose digest is the sha256 of nothing
    line = f"nugget_qrels {sha256(b'').hexdigest()}\n"
    assert data.fingerprint == sha256(line.encode()).hexdigest()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (("q1", "n", "a", 1), "query 'q1', nugget 'n', document 'a', expected one judgment"),
        (("q1", "n", "a", 0), "query 'q1', nugget 'n', document 'a', expected one judgment"),
        (("q", "n", "d", 2), "score, expected 0 or 1, got 2"),
        (("q", "n", "d", np.array([0, 1])), r"score, expected 0 or 1, got array\(\[0, 1\]\) \(ndarray\)"),
        (("q", "n", "d", True), r"got True \(bool\)"),
        (("q", "n", "d", "1"), r"got '1' \(str\)"),
        (("q", "n", "d"), "row 5, expected"),
        ("qnd1", "row 5, expected"),
        (None, "row 5, expected"),
        (("q", "n", "d", 1, 1), "row 5, expected"),
        (("", "n", "d", 1), "query id"),
        (("q", "n\t", "d", 1), "nugget id"),
        (("q", "n", 7, 1), "document id"),
        (("q", "n", [], 1), "document id"),
        (("q", "n", "\ud800", 1), "half a surrogate pair"),
    ],
)
def test_judgments_that_are_none_are_named(row, says):
    with pytest.raises(RecordError, match=says):
        Dataset.from_nugget_qrels([*ROWS, row])


def test_whole_floats_are_scores_too():
    data = Dataset.from_nugget_qrels([("q", "n", "d", 1.0)])
    assert data.judgments.columns("score") == ([1],)


def test_a_nugget_id_that_two_queries_use_is_not_guessed_at():
    data = Dataset.from_nugget_qrels([("q1", "n", "a", 1), ("q2", "n", "b", 0), ("q2", "m", "b", 1)])
    assert data.nuggets["m"].query_id == "q2"
    with pytest.raises(InputError, match="nugget 'n', expected one of that id, got several"):
        data.nuggets["n"]


@pytest.mark.parametrize("name", [None, 5, b"folder", "a\0b"])
def test_what_is_neither_name_nor_path_is_refused(name):
    with pytest.raises(InputError, match="a dataset, expected its name, or the path of a snapshot's folder, got"):
        load(name)


def test_a_fingerprint_that_does_not_follow_from_the_digests_is_an_error(copy):
    change(copy, lambda told: told.update(fingerprint="0" * 64))
    with pytest.raises(SnapshotError, match=r"which follows from its tables' digests, got 0{64}; freshstack verify"):
        load(copy)


def test_records_and_documents_say_how_many_they_are(data):
    assert repr(data.queries) == "<Records of the table queries: 3>"
    assert repr(data.corpus) == "<Corpus of 3,500 documents>"


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_before_it_has(copy):
    # One text of 4 MB and 1,000 references to it: 4 GB of rows in a file of some kilobytes, and a header that says
    # nothing of it. A table may unpack to 512 MB and 200 times its file, a row group to 512 MB.
    rows = 1000
    table = TABLES["nuggets"]
    columns = {field.name: pa.nulls(rows, field.type) for field in table.schema}
    columns["_id"] = pa.array([f"n{i:04}" for i in range(rows)])
    columns["text"] = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["x" * 4_000_000])
    path = copy / table.file()
    pq.write_table(pa.table(columns), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 100_000
    change(copy, lambda told: told["tables"]["nuggets"].update(rows=rows))
    with pytest.raises(SnapshotError, match=r"row group 0 of nuggets/.* expected rows of a usual size"):
        list(load(copy).nuggets)


def test_an_unknown_document_is_told_with_how_many_there_are(data):
    with pytest.raises(UnknownNameError, match=r"unknown document 'no'; known: .* and 3495 more$"):
        data.corpus["no"]


def test_a_document_in_other_capitals_is_offered_wherever_it_stands():
    corpus = load("nimbus").corpus  # capitals come before small letters: the last id of all stands at the other end
    known = corpus.ids[-1]
    with pytest.raises(UnknownNameError, match=rf"unknown document '{known.upper()}'; did you mean '{known}'"):
        corpus[known.upper()]


def test_judgments_that_are_no_rows_are_refused():
    with pytest.raises(RecordError, match="judgments, expected rows of query id, nugget id, document id and score"):
        Dataset.from_nugget_qrels(None)
