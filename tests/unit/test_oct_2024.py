"""The originals of October 2024 as a snapshot: what becomes of each row, what is reported, what is refused."""

import json
import os
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets.errors import FreshStackError, InputError, RecordError, SnapshotError
from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.layouts import source_files
from freshstack_datasets.layouts.oct_2024 import convert, files_in
from freshstack_datasets.loading import load
from freshstack_datasets.recipe import Source
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.verification import verify
from tests.originals import CORPUS, NUGGET, QUERIES, document, nugget, query, write, write_corpus, write_queries

DOCUMENTS = [document(doc_id, f"text of {doc_id}") for doc_id in ("a", "b", "c", "d")]


def converted(folder, documents, queries, **changes):
    """Convert rows; the snapshot is in ``folder/out``."""
    corpus = write_corpus(folder / "corpus.parquet", documents)
    asked = write_queries(folder / "queries.parquet", queries)
    return convert([corpus], [asked], folder / "out", **({"dataset": "acme/toy"} | changes))


def judged(folder):
    return {(j.query_id, j.nugget_id, j.doc_id): j.score for j in load(folder / "out").judgments}


def told(result, folder):
    """The problems as (code, file, id), the file's folder left out."""
    return [(p.code, p.file.removeprefix(f"{folder}/"), p.id) for p in result.problems]


def test_every_row_becomes_the_record_it_stands_for(tmp_path):
    documents = [
        document("r/b.py_0_10", "def f(): ...", url="https://x/blob/main/b.py", start_byte=0, end_byte=10),
        document("r/ä b.py_10_20", "", url="https://x/c"),
        document("r/c.py", "c"),
    ]
    row = query(
        "77",
        nugget("77_0", ["r/b.py_0_10"], ["r/c.py"], "first fact"),
        nugget("other shape", ["r/ä b.py_10_20"], [], "second fact"),
        query_title="How?",
        query_text="I tried.\nIt failed.",
        answer_id="78",
        answer_text="So.",
        metadata={"date": "2024-02-03T04:05:06Z", "tags": ["py", "x y"]},
    )
    result = converted(tmp_path, documents, [row], created=date(2024, 10, 31))
    assert (result.problems, result.found) == ((), {})
    assert result.read == {"documents": 3, "queries": 1, "nuggets": 2, "judgments": 3}
    assert verify(tmp_path / "out") == []
    data = load(tmp_path / "out")
    assert (data.name, data.snapshot, data.fingerprint) == ("acme/toy", "2024-10", result.manifest.fingerprint)
    assert list(data.corpus) == [
        Document(
            "r/b.py_0_10", "", "def f(): ...", {"url": "https://x/blob/main/b.py", "start_byte": 0, "end_byte": 10}
        ),
        Document("r/c.py", "", "c"),
        Document("r/ä b.py_10_20", "", "", {"url": "https://x/c"}),
    ]
    assert list(data.queries) == [
        Query(
            "77",
            "How? I tried.\nIt failed.",
            title="How?",
            body="I tried.\nIt failed.",
            answer_id="78",
            answer_text="So.",
            date="2024-02-03T04:05:06Z",
            tags=("py", "x y"),
        )
    ]
    assert list(data.nuggets) == [
        Nugget("77_0", "77", 0, "first fact"),
        Nugget("other shape", "77", 1, "second fact"),
    ]
    assert list(data.judgments) == [
        Judgment("77", "77_0", "r/b.py_0_10", 1),
        Judgment("77", "77_0", "r/c.py", 0),
        Judgment("77", "other shape", "r/ä b.py_10_20", 1),
    ]


def test_the_manifest_tells_what_the_files_were(tmp_path):
    result = converted(tmp_path, DOCUMENTS, [query("q", nugget("n", ["a"]))])
    manifest = result.manifest
    assert (manifest.dataset, manifest.snapshot, manifest.license) == ("acme/toy", "2024-10", "CC-BY-SA-4.0")
    assert [source.url for source in manifest.sources] == ["corpus.parquet", "queries.parquet"]
    assert (manifest.recipe.builder, manifest.recipe.filters) == ("oct-2024", ())
    assert (manifest.missing, manifest.provenance) == ((), ())


def test_sources_and_names_are_those_that_were_given(tmp_path):
    sources = [Source(url="https://hub/corpus", commit="069f66d", license="CC-BY-SA-4.0")]
    given = {"dataset": "freshstack/x", "snapshot": "2024-11.2", "license": "MIT", "sources": sources}
    manifest = converted(tmp_path, DOCUMENTS, [query("q", nugget("n", ["a"]))], **given).manifest
    assert (manifest.dataset, manifest.snapshot, manifest.license) == ("freshstack/x", "2024-11.2", "MIT")
    assert manifest.sources == tuple(sources)


def test_a_document_in_both_lists_of_a_nugget_is_relevant(tmp_path):
    # The published loader writes the second list over the first, so that b would be 0 there.
    result = converted(
        tmp_path, DOCUMENTS, [query("q", nugget("n", ["a", "b"], ["c", "b"]), nugget("m", ["c"], ["b"]))]
    )
    assert judged(tmp_path) == {
        ("q", "n", "a"): 1,
        ("q", "n", "b"): 1,
        ("q", "n", "c"): 0,
        ("q", "m", "c"): 1,
        ("q", "m", "b"): 0,
    }
    assert told(result, tmp_path) == [("both-lists", "queries.parquet", "q n b")]
    assert str(result.problems[0]) == (
        f"{tmp_path}/queries.parquet: both-lists 'q n b': "
        "row 1, nugget 1: listed as relevant and as not relevant; counts as relevant"
    )
    assert result.read["judgments"] == 6
    assert [(f.name, f.dropped) for f in result.manifest.recipe.filters] == [("both-lists", 1)]
    dropped = json.loads((tmp_path / "out" / "provenance" / "dropped.jsonl").read_text())
    assert (dropped["query_id"], dropped["nugget_id"], dropped["doc_id"]) == ("q", "n", "b")


def test_a_document_that_a_list_repeats_is_reported_once_and_counts_once(tmp_path):
    result = converted(tmp_path, DOCUMENTS, [query("q", nugget("n", ["a", "a", "a"], ["b", "b"]))])
    assert judged(tmp_path) == {("q", "n", "a"): 1, ("q", "n", "b"): 0}
    assert told(result, tmp_path) == [
        ("listed-twice", "queries.parquet", "q n a"),
        ("listed-twice", "queries.parquet", "q n b"),
    ]
    assert "nugget 1: 3 times in relevant_corpus_ids" in result.problems[0].message


def test_a_judged_document_that_the_corpus_lacks_counts_and_is_reported(tmp_path):
    rows = [query("q", nugget("n", ["a", "gone"], ["lost"]), nugget("m", ["gone"])), query("p", nugget("o", ["gone"]))]
    result = converted(tmp_path, DOCUMENTS, rows)
    assert result.manifest.missing == ("gone", "lost")
    assert told(result, tmp_path) == [
        ("missing-document", "queries.parquet", "gone"),
        ("missing-document", "queries.parquet", "lost"),
    ]
    assert "has 3 judgments" in result.problems[0].message
    assert "has 1 judgment;" in result.problems[1].message
    assert "corpus lacks: 2." in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert verify(tmp_path / "out") == []
    # q has two relevant documents, a and gone, of which a run over this corpus can find one; p has none to be found.
    scores = evaluate({"q": {"a": 1.0}, "p": {"b": 1.0}}, load(tmp_path / "out"), ["Recall@50", "Coverage@20"])
    assert dict(scores.per_query["Recall@50"]) == {"p": 0.0, "q": 0.5}
    assert dict(scores.per_query["Coverage@20"]) == {"p": 0.0, "q": 0.5}


def test_a_nugget_belongs_to_the_query_of_its_row_whatever_its_id_looks_like(tmp_path):
    # By their shape, 1_0 and 12_0 would both be nuggets of query 1, and "x_y_0" one of a query "x".
    rows = [
        query("12", nugget("1_0", ["a"])),
        query("1", nugget("12_0", ["b"])),
        query("x_y", nugget("x_y_0", ["c"]), nugget("12", ["d"])),
    ]
    result = converted(tmp_path, DOCUMENTS, rows)
    assert result.problems == ()
    assert {nugget.nugget_id: nugget.query_id for nugget in load(tmp_path / "out").nuggets} == {
        "1_0": "12",
        "12_0": "1",
        "x_y_0": "x_y",
        "12": "x_y",
    }


def test_nuggets_and_queries_without_judgments_are_left_out_and_reported(tmp_path):
    rows = [
        query("q1", nugget("n1", []), nugget("n2", [], ["a"]), nugget("n3", [], None) | {"relevant_corpus_ids": None}),
        query("q2", nugget("n4", [])),
        query("q3"),
        query("q4", nuggets=None),
    ]
    result = converted(tmp_path, DOCUMENTS, rows)
    data = load(tmp_path / "out")
    assert list(data.queries.columns("query_id")[0]) == ["q1"]
    assert list(data.nuggets) == [Nugget("n2", "q1", 1, "f")]  # its place among all nuggets of the row
    assert [(code, which) for code, _, which in told(result, tmp_path)] == [
        ("nugget-without-judgment", "n1"),
        ("nugget-without-judgment", "n3"),
        ("nugget-without-judgment", "n4"),
        ("query-without-nugget", "q2"),
        ("query-without-nugget", "q3"),
        ("query-without-nugget", "q4"),
    ]
    assert result.found == {"nugget-without-judgment": 3, "query-without-nugget": 3}
    assert result.read == {"documents": 4, "queries": 4, "nuggets": 4, "judgments": 1}
    lines = (tmp_path / "out" / "provenance" / "dropped.jsonl").read_text().splitlines()
    assert [json.loads(line).get("nugget_id") for line in lines] == ["n1", "n3", "n4", None, None, None]


def test_texts_that_are_null_are_empty_and_reported(tmp_path):
    rows = [
        query("q", nugget("n", ["a"], text=None), query_title=None),
        query("p", nugget("m", ["a"]), query_text=None),
    ]
    result = converted(tmp_path, [document("a", None)], rows)
    data = load(tmp_path / "out")
    assert (data.corpus["a"].text, data.nuggets["n"].text) == ("", "")
    assert [query.text for query in data.queries] == ["title ", " body"]
    assert told(result, tmp_path) == [
        ("null-text", "queries.parquet", "n"),
        ("null-text", "queries.parquet", "q"),
        ("null-text", "queries.parquet", "p"),
        ("null-text", "corpus.parquet", "a"),
    ]


def test_many_problems_of_one_kind_are_counted_instead_of_listed(tmp_path):
    result = converted(tmp_path, DOCUMENTS, [query("q", *(nugget(f"n{i}", ["a"], ["a"]) for i in range(500)))])
    assert len(result.problems) == 21
    assert result.problems[-1].message == "480 more of this kind"
    assert result.found == {"both-lists": 500}
    assert len((tmp_path / "out" / "provenance" / "dropped.jsonl").read_text().splitlines()) == 500


def test_title_and_commit_are_read_where_there_are_some(tmp_path):
    struct = pa.struct([("url", pa.string()), ("commit_id", pa.string())])
    columns = pa.schema(
        [(name, pa.string()) for name in ("commit_id", "title", "text", "_id")] + [("metadata", struct)]
    )
    rows = [
        {"_id": "a", "text": "t", "title": "T", "commit_id": "c1", "metadata": {"url": "u"}},
        {"_id": "b", "text": "t", "title": None, "commit_id": "c1", "metadata": {"commit_id": "c2"}},
        {"_id": "c", "text": "t", "title": "", "commit_id": None, "metadata": None},
    ]
    corpus = write_corpus(tmp_path / "c.parquet", rows, columns)
    asked = write_queries(tmp_path / "q.parquet", [query("q", nugget("n", ["a"]))])
    assert convert([corpus], [asked], tmp_path / "out", dataset="a/b").problems == ()
    assert list(load(tmp_path / "out").corpus) == [
        Document("a", "T", "t", {"url": "u", "commit": "c1"}),
        Document("b", "", "t", {"commit": "c2"}),
        Document("c", "", "t"),
    ]


def test_columns_that_need_not_be_there_may_lack(tmp_path):
    corpus = write_corpus(tmp_path / "c.parquet", [document("a", "t")], pa.schema([CORPUS.field(0), CORPUS.field(1)]))
    asked = write_queries(tmp_path / "q.parquet", [query("q", nugget("n", ["a"]))], pa.schema(list(QUERIES)[:4]))
    convert([corpus], [asked], tmp_path / "out", dataset="a/b")
    assert list(load(tmp_path / "out").queries) == [Query("q", "title body", title="title", body="body")]


def test_other_kinds_of_strings_lists_and_columns_of_nulls_are_read(tmp_path):
    ids = pa.large_list(pa.large_string())
    members = {"_id": pa.large_string(), "text": pa.string()}
    nuggets = pa.struct(members | {"relevant_corpus_ids": ids, "non_relevant_corpus_ids": pa.null()})
    queries = QUERIES.set(0, pa.field("query_id", pa.dictionary(pa.int32(), pa.string())))
    queries = queries.set(3, pa.field("nuggets", pa.large_list(nuggets))).set(6, pa.field("metadata", pa.null()))
    corpus = CORPUS.set(0, pa.field("_id", pa.string_view())).set(1, pa.field("text", pa.large_string()))
    row = query("q", {"_id": "n", "text": "f", "relevant_corpus_ids": ["a"], "non_relevant_corpus_ids": None})
    files = (
        write_corpus(tmp_path / "c.parquet", DOCUMENTS, corpus),
        write_queries(tmp_path / "q.parquet", [row], queries),
    )
    convert([files[0]], [files[1]], tmp_path / "out", dataset="a/b")
    assert judged(tmp_path) == {("q", "n", "a"): 1}


def test_columns_that_are_not_known_are_reported_and_not_read(tmp_path):
    metadata = pa.struct([("url", pa.string()), ("stars", pa.int64())])
    columns = CORPUS.set(2, pa.field("metadata", metadata)).append(pa.field("embedding", pa.list_(pa.float32())))
    nuggets = pa.list_(pa.struct([*NUGGET, pa.field("weight", pa.float64())]))
    corpus = write_corpus(tmp_path / "c.parquet", [document("a", stars=3, url="u") | {"embedding": [1.0]}], columns)
    row = query("q", nugget("n", ["a"]) | {"weight": 1.0})
    asked = write_queries(tmp_path / "q.parquet", [row], QUERIES.set(3, pa.field("nuggets", nuggets)))
    result = convert([corpus], [asked], tmp_path / "out", dataset="a/b")
    assert told(result, tmp_path) == [
        ("unread-column", "c.parquet", "metadata.stars"),
        ("unread-column", "c.parquet", "embedding"),
        ("unread-column", "q.parquet", "nuggets.weight"),
    ]
    assert load(tmp_path / "out").corpus["a"].metadata == {"url": "u"}


def test_the_order_of_files_does_not_matter(tmp_path):
    corpus = [write_corpus(tmp_path / f"c{i}.parquet", DOCUMENTS[i : i + 2]) for i in (0, 2)]
    empty = write_corpus(tmp_path / "c1.parquet", [])
    rows = [query("q", nugget("n", ["a"], ["a", "z"])), query("p", nugget("m", ["d", "d"], ["b"]))]
    asked = [write_queries(tmp_path / f"q{i}.parquet", [row]) for i, row in enumerate(rows)]
    one = convert([*corpus, empty], asked, tmp_path / "one", dataset="a/b", created=date(2024, 10, 1))
    two = convert([empty, *corpus[::-1]], asked[::-1], tmp_path / "two", dataset="a/b", created=date(2024, 10, 1))
    assert one == two
    for path in (tmp_path / "one").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_a_link_to_a_file_is_read_as_the_file(tmp_path):
    blob = write_corpus(tmp_path / "blobs" / "0123", DOCUMENTS)
    (tmp_path / "c.parquet").symlink_to(blob)
    asked = write_queries(tmp_path / "q.parquet", [query("q", nugget("n", ["a"]))])
    convert([tmp_path / "c.parquet"], [asked], tmp_path / "out", dataset="a/b")
    assert len(load(tmp_path / "out").corpus) == 4


GOOD = [query("q", nugget("n", ["a"]))]
TWICE = "remove one of them, or give each file once"

BAD_ROWS = {
    "a document without id": (
        [*DOCUMENTS, document(None)],
        GOOD,
        r"corpus.parquet, row 5: document id, expected .* got",
    ),
    "a document with an empty id": ([document(""), *DOCUMENTS], GOOD, r"row 1: document id, expected .* got ''"),
    "a document with a tab": ([*DOCUMENTS, document("a\tb")], GOOD, r"row 5: document id, expected .* got 'a\\tb'"),
    "a document twice": (
        [*DOCUMENTS, DOCUMENTS[1]],
        GOOD,
        rf"corpus.parquet, row 5: document 'b', expected each document once, got it also in .*, row 2; {TWICE}",
    ),
    "a query without id": (DOCUMENTS, [*GOOD, query(None)], r"queries.parquet, row 2: query id, expected .* got None"),
    "a query with a line break": (DOCUMENTS, [query("a\nb")], r"row 1: query id, expected .* got 'a\\nb'"),
    "a query twice": (
        DOCUMENTS,
        [*GOOD, query("p"), query("q")],
        rf"queries.parquet, row 3: query 'q', expected each query once, got it also in .*, row 1; {TWICE}",
    ),
    "a nugget without id": (DOCUMENTS, [query("q", nugget(None, []))], "row 1, nugget 1: nugget id, expected"),
    "a nugget with a tab": (DOCUMENTS, [query("q", nugget("\t", []))], r"nugget 1: nugget id, expected .* got '\\t'"),
    "a nugget that is null": (
        DOCUMENTS,
        [query("q", nugget("n", ["a"]), None)],
        "nugget 2, expected a nugget, got null",
    ),
    "a nugget twice in a row": (
        DOCUMENTS,
        [query("q", nugget("n", ["a"]), nugget("n", ["b"]))],
        "row 1, nugget 2: nugget 'n', expected each nugget once, got it also in .*, row 1, nugget 1",
    ),
    "a nugget of two queries": (
        DOCUMENTS,
        [*GOOD, query("p", nugget("n", ["a"]))],
        "row 2, nugget 1: nugget 'n', expected each nugget once, got it also in .*, row 1, nugget 1",
    ),
    "a judged id that is null": (
        DOCUMENTS,
        [query("q", nugget("n", ["a", None]))],
        r"row 1, nugget 1: document id, expected .* got None \(NoneType\)",
    ),
    "a judged id with a tab": (DOCUMENTS, [query("q", nugget("n", [], ["a\tb"]))], r"nugget 1: document id, .*'a\\tb'"),
    "a tag that is null": (
        DOCUMENTS,
        [query("q", nugget("n", ["a"]), metadata={"tags": ["x", None]})],
        "row 1: metadata.tags, expected strings, got a null among them",
    ),
    "no documents": ([], GOOD, "corpus.parquet, expected at least one document, got none"),
    "no queries": (DOCUMENTS, [], "queries.parquet, expected at least one query with a judged nugget, got none"),
    "no query with a nugget": (DOCUMENTS, [query("q")], "expected at least one query with a judged nugget, got none"),
    "another topic's corpus": (
        DOCUMENTS,
        [query("q", nugget("n", ["x"], ["y"]))],
        "judged documents, expected some of the corpus, got none of 2; check that corpus and queries are of one topic",
    ),
}


@pytest.mark.parametrize(("documents", "queries", "says"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_rows_that_no_snapshot_can_hold_are_refused_with_their_place(tmp_path, documents, queries, says):
    with pytest.raises(InputError, match=says) as caught:
        converted(tmp_path, documents, queries)
    assert isinstance(caught.value, RecordError) == (", row " in str(caught.value))
    assert "; " in str(caught.value)  # a next step
    assert not (tmp_path / "out").exists()


def test_a_document_in_two_files_is_refused_with_both(tmp_path):
    corpus = [write_corpus(tmp_path / f"c{i}.parquet", DOCUMENTS[i : i + 3]) for i in range(2)]
    asked = write_queries(tmp_path / "q.parquet", GOOD)
    with pytest.raises(RecordError, match=r"c1\.parquet, row 1: document 'b', .* it also in .*c0\.parquet, row 2"):
        convert(corpus, [asked], tmp_path / "out", dataset="a/b")
    with pytest.raises(RecordError, match=r"c0\.parquet, row 1: document 'a', .* it also in .*c0\.parquet, row 1"):
        convert([corpus[0], corpus[0]], [asked], tmp_path / "out", dataset="a/b")


def other(schema, name, kind):
    return schema.set(schema.get_field_index(name), pa.field(name, kind))


BAD_COLUMNS = {
    "the queries as corpus": (
        "corpus",
        QUERIES,
        "corpus.parquet: columns, expected _id, text, got 'query_id, query_titl",
    ),
    "the corpus as queries": (
        "queries",
        CORPUS,
        "queries.parquet: columns, expected query_id, query_title, query_text, nuggets, got '_id, text, metadata'",
    ),
    "ids that are numbers": ("corpus", other(CORPUS, "_id", pa.int64()), "_id, expected strings, got 'int64'"),
    "texts that are bytes": ("corpus", other(CORPUS, "text", pa.binary()), "text, expected strings, got 'binary'"),
    "metadata that is text": (
        "corpus",
        other(CORPUS, "metadata", pa.string()),
        "metadata, expected a struct, got 'str",
    ),
    "a place that is a float": (
        "corpus",
        other(CORPUS, "metadata", pa.struct([("start_byte", pa.float64())])),
        "metadata.start_byte, expected whole numbers, got 'double'",
    ),
    "a column twice": (
        "corpus",
        pa.schema([*CORPUS, CORPUS.field(1)]),
        "text, expected it once, got 'it several times'",
    ),
    "nuggets that are text": (
        "queries",
        other(QUERIES, "nuggets", pa.string()),
        "nuggets, expected a list, got 'string'",
    ),
    "nuggets that are texts": (
        "queries",
        other(QUERIES, "nuggets", pa.list_(pa.string())),
        "nuggets, expected a struct, got 'string'",
    ),
    "nuggets without judgments": (
        "queries",
        other(QUERIES, "nuggets", pa.list_(pa.struct([("_id", pa.string()), ("text", pa.string())]))),
        "nuggets, expected _id, text, relevant_corpus_ids, non_relevant_corpus_ids, got '_id, text'",
    ),
    "tags that are one text": (
        "queries",
        other(QUERIES, "metadata", pa.struct([("tags", pa.string())])),
        "metadata.tags, expected a list, got 'string'",
    ),
}


@pytest.mark.parametrize(("which", "columns", "says"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_files_with_other_columns_are_refused_before_anything_is_read(tmp_path, which, columns, says):
    write_corpus(tmp_path / "corpus.parquet", DOCUMENTS)
    write_queries(tmp_path / "queries.parquet", GOOD)
    pq.write_table(columns.empty_table(), tmp_path / f"{which}.parquet")
    with pytest.raises(InputError, match=says) as caught:
        convert([tmp_path / "corpus.parquet"], [tmp_path / "queries.parquet"], tmp_path / "out", dataset="a/b")
    assert str(caught.value).endswith("; give the files as they were published")


@pytest.mark.parametrize("which", ["corpus", "queries"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", b'{"_id": "a"}'], ids=range(4))
def test_what_is_no_parquet_is_refused_with_its_name(tmp_path, which, content):
    write_corpus(tmp_path / "corpus.parquet", DOCUMENTS)
    write_queries(tmp_path / "queries.parquet", GOOD)
    (tmp_path / f"{which}.parquet").write_bytes(content)
    with pytest.raises(InputError, match=rf"{which}\.parquet cannot be read, got .*; give the files") as caught:
        convert([tmp_path / "corpus.parquet"], [tmp_path / "queries.parquet"], tmp_path / "out", dataset="a/b")
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf8_is_refused(tmp_path):
    buffers = pa.array([b"t", b"\xff"], pa.binary()).buffers()
    broken = pa.Array.from_buffers(pa.string(), 2, buffers)
    pq.write_table(pa.table([pa.array(["a", "b"]), broken], names=["_id", "text"]), tmp_path / "c.parquet")
    asked = write_queries(tmp_path / "q.parquet", GOOD)
    with pytest.raises(InputError, match=r"c\.parquet cannot be read, got .*UTF8"):
        convert([tmp_path / "c.parquet"], [asked], tmp_path / "out", dataset="a/b")
    assert not (tmp_path / "out").exists()


def test_a_small_file_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    # One text of 100 KB, which Parquet keeps once and 300 rows refer to: 30 MB unpacked, some kilobytes here.
    monkeypatch.setattr(source_files, "_ROOM", 5_000_000)
    rows = [document(f"d{i}", "x" * 100_000) for i in range(300)]
    corpus = write_corpus(tmp_path / "c.parquet", rows)
    assert corpus.stat().st_size * 200 < 5_000_000
    asked = write_queries(tmp_path / "q.parquet", [query("q", nugget("n", ["d0"]))])
    with pytest.raises(InputError, match=r"c\.parquet cannot be read, expected rows of a usual size"):
        convert([corpus], [asked], tmp_path / "out", dataset="a/b")
    assert not (tmp_path / "out").exists()
    convert([write_corpus(tmp_path / "c.parquet", rows[:30])], [asked], tmp_path / "out", dataset="a/b")


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nothing", "cannot read '.*nothing', expected a Parquet file, got none"),
        ("folder", "cannot read '.*folder', expected a Parquet file, got a folder"),
        ("pipe", "cannot read '.*pipe', expected a Parquet file, got something else"),
        ("x" * 300, "cannot be read, got 'File name too long'"),
        ("a\nb", r"cannot read '.*a\\nb', expected a Parquet file, got none"),
    ],
)
def test_what_is_no_file_is_refused(tmp_path, place, says):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    asked = write_queries(tmp_path / "q.parquet", GOOD)
    with pytest.raises(InputError, match=says) as caught:
        convert([tmp_path / place], [asked], tmp_path / "out", dataset="a/b")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("which", ["corpus", "queries"])
def test_no_files_at_all_are_refused(tmp_path, which):
    asked, corpus = write_queries(tmp_path / "q.parquet", GOOD), write_corpus(tmp_path / "c.parquet", DOCUMENTS)
    files = {"corpus": [corpus], "queries": [asked]} | {which: []}
    with pytest.raises(InputError, match=f"the {which}, expected at least one Parquet file, got none"):
        convert(files["corpus"], files["queries"], tmp_path / "out", dataset="a/b")


def test_a_name_that_is_not_allowed_is_refused(tmp_path):
    with pytest.raises(SnapshotError, match="dataset"):
        converted(tmp_path, DOCUMENTS, GOOD, dataset="../x")
    assert not (tmp_path / "out").exists()


def test_a_taken_folder_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    with pytest.raises(InputError, match="empty folder"):
        convert([tmp_path / "no"], [tmp_path / "no"], tmp_path / "out", dataset="a/b")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_a_path_stands_for_a_file_a_topic_or_the_topic_in_a_repository(tmp_path):
    files = [
        write(tmp_path / folder / name, [document("a")], CORPUS)
        for folder in ("yolo", "godot")
        for name in ("train-1.parquet", "train-0.parquet")
    ]
    assert files_in(files[0], "yolo") == [files[0]]
    assert files_in(tmp_path, "yolo") == files_in(tmp_path / "yolo", "yolo") == [files[1], files[0]]
    assert files_in(tmp_path / "gone", "yolo") == [tmp_path / "gone"]
    with pytest.raises(FreshStackError, match="a folder with Parquet files, got none in it"):
        files_in(tmp_path, "angular")
    with pytest.raises(FreshStackError, match="file name too long"):
        files_in(tmp_path / ("x" * 300), "angular")
