"""Writing snapshots."""

import errno
import hashlib
import json
import os
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets.errors import InputError, RecordError, SnapshotError
from freshstack_datasets.manifest import Filter, Recipe, Source
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.tables.parquet import TableWriter
from freshstack_datasets.tables.schema import TABLES
from freshstack_datasets.verification import verify

DOCUMENTS = [
    Document("b.py 10%", "", "def b(): ..."),
    Document("a#1", "A", "naïve\ntext", {"url": "https://x/a", "score": -3}),
]
QUERIES = [Query("q2", "How? Why?", title="How?", body="Why?", tags=("x", "y"), score=4), Query("q1", "What?")]
NUGGETS = [Nugget("n3", "q2", 1, "third"), Nugget("n1", "q1", 0, "first", "vital"), Nugget("n2", "q2", 0, "second")]
JUDGMENTS = [
    Judgment("q2", "n3", "a#1", 1),
    Judgment("q2", "n2", "a#1", 1, "call-7"),
    Judgment("q2", "n2", "b.py 10%", 0),
    Judgment("q1", "n1", "b.py 10%", 1),
]


def written(folder, **changes):
    given = {
        "dataset": "acme/toy",
        "snapshot": "2026-10",
        "license": "CC-BY-SA-4.0",
        "documents": DOCUMENTS,
        "queries": QUERIES,
        "nuggets": NUGGETS,
        "judgments": JUDGMENTS,
        "created": date(2026, 10, 1),
    }
    return write_snapshot(folder, **(given | changes))


def rows(folder, name):
    return pq.read_table(folder / TABLES[name].file()).to_pylist()


def test_tables_have_exactly_the_columns_of_the_design(tmp_path):
    written(tmp_path / "s")
    types = {
        name: [(f.name, str(f.type)) for f in pq.read_schema(tmp_path / "s" / TABLES[name].file())] for name in TABLES
    }
    assert types["qrels"] == [("query-id", "string"), ("corpus-id", "string"), ("score", "int32")]
    assert [name for name, _ in types["corpus"]] == ["_id", "title", "text", "metadata"]
    members = "url repository path commit license author date score start_char end_char start_byte end_byte tokens"
    assert [part.split(":")[0] for part in types["corpus"][3][1][7:-1].split(", ")] == members.split()
    assert [name for name, _ in types["queries"]] == (
        [
            "_id",
            "text",
            "title",
            "body",
            "answer_id",
            "answer_text",
            "date",
            "tags",
            "url",
            "author",
            "score",
            "license",
            "language",
            "type",
            "difficulty",
        ]
    )
    assert [name for name, _ in types["nuggets"]] == ["_id", "query-id", "position", "text", "importance"]
    assert types["nugget_qrels"] == [
        ("query-id", "string"),
        ("nugget-id", "string"),
        ("corpus-id", "string"),
        ("score", "int32"),
        ("call-id", "string"),
    ]


def test_qrels_count_the_nuggets_that_a_document_supports_and_keep_judged_zeros(tmp_path):
    written(tmp_path / "s")
    # a#1 supports n2 and n3 of q2; b.py 10% was judged for n2 of q2 and does not support it, but supports n1 of q1.
    assert rows(tmp_path / "s", "qrels") == [
        {"query-id": "q1", "corpus-id": "b.py 10%", "score": 1},
        {"query-id": "q2", "corpus-id": "a#1", "score": 2},
        {"query-id": "q2", "corpus-id": "b.py 10%", "score": 0},
    ]


def test_rows_are_sorted_by_key(tmp_path):
    written(tmp_path / "s")
    assert [row["_id"] for row in rows(tmp_path / "s", "corpus")] == ["a#1", "b.py 10%"]
    assert [row["_id"] for row in rows(tmp_path / "s", "nuggets")] == ["n1", "n2", "n3"]
    keys = [(r["query-id"], r["nugget-id"], r["corpus-id"]) for r in rows(tmp_path / "s", "nugget_qrels")]
    assert keys == sorted(keys)


def test_digests_and_fingerprint_are_those_that_an_independent_reading_gives(tmp_path):
    manifest = written(tmp_path / "s")
    digests = {}
    for name in TABLES:
        ids = [
            column for column in ("_id", "query-id", "nugget-id", "corpus-id") if column in TABLES[name].schema.names
        ]
        ids = ids[:1] if ids[0] == "_id" else ids
        ordered = sorted(rows(tmp_path / "s", name), key=lambda row: [row[column] for column in ids])
        lines = [json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n" for row in ordered]
        digests[name] = hashlib.sha256("".join(lines).encode()).hexdigest()
        assert manifest.tables[name].digest == digests[name]
    lines = "".join(f"{name} {digests[name]}\n" for name in sorted(digests))
    assert manifest.fingerprint == hashlib.sha256(lines.encode()).hexdigest()


def test_files_are_listed_with_their_size_and_sha256(tmp_path):
    manifest = written(tmp_path / "s", dropped=[{"id": "x", "reason": "empty"}])
    there = {str(p.relative_to(tmp_path / "s")) for p in (tmp_path / "s").rglob("*") if p.is_file()}
    assert there == {file.path for file in manifest.files()} | {"README.md", "snapshot.json"}
    for file in manifest.files():
        content = (tmp_path / "s" / file.path).read_bytes()
        assert (file.size, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())


def test_the_same_records_in_any_order_give_the_same_bytes(tmp_path):
    written(tmp_path / "one", sources=[Source(url="https://x", counts={"documents": 2})])
    written(
        tmp_path / "two",
        sources=[Source(url="https://x", counts={"documents": 2})],
        documents=DOCUMENTS[::-1],
        queries=QUERIES[::-1],
        nuggets=NUGGETS[::-1],
        judgments=JUDGMENTS[::-1],
    )
    for path in (tmp_path / "one").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_many_documents_are_sorted_across_batches_and_cut_into_row_groups(tmp_path):
    # 9,001 documents fill three batches of the spool and ten row groups; a stride through them shuffles the order.
    ids = [f"d{(i * 4001) % 9001:05}" for i in range(9001)]
    documents = [*(Document(doc_id, "", f"text of {doc_id}") for doc_id in ids), *DOCUMENTS]
    written(tmp_path / "s", documents=iter(documents))
    file = pq.ParquetFile(tmp_path / "s" / TABLES["corpus"].file())
    assert file.metadata.num_row_groups == 10
    table = file.read()
    assert table["_id"].to_pylist() == sorted(d.doc_id for d in documents)
    assert table["text"].to_pylist() == [d.text for d in sorted(documents, key=lambda d: d.doc_id)]


def test_a_member_of_the_metadata_that_is_none_is_one_that_is_not_known(tmp_path):
    written(tmp_path / "s", documents=[*DOCUMENTS, Document("c", "", "", {"url": None, "tokens": 2})])
    metadata = rows(tmp_path / "s", "corpus")[2]["metadata"]
    assert {name: value for name, value in metadata.items() if value is not None} == {"tokens": 2}


def test_queries_wait_on_disk_as_documents_do(tmp_path):
    """20 MB of queries, of which none is in Arrow's memory when the next records are asked for."""
    ids = [f"q{i:04}" for i in range(2_000)]
    held = []

    def nuggets():
        held.append(pa.total_allocated_bytes())
        yield from (Nugget(f"{query_id}_0", query_id, 0, "fact") for query_id in ids)

    before = pa.total_allocated_bytes()
    written(
        tmp_path / "s",
        queries=(Query(query_id, "x" * 5_000, answer_text="y" * 5_000) for query_id in reversed(ids)),
        nuggets=nuggets(),
        judgments=(Judgment(query_id, f"{query_id}_0", "a#1", 1) for query_id in ids),
    )
    assert len(held) == 1
    assert held[0] - before < 2_000_000
    assert [row["_id"] for row in rows(tmp_path / "s", "queries")] == ids


def test_long_texts_make_shorter_row_groups(tmp_path):
    documents = [Document(f"d{i}", "", "x" * 5_000_000) for i in range(7)]
    written(tmp_path / "s", documents=[*documents, *DOCUMENTS])
    # 16 million characters of text hold three such texts: a#1, b.py 10% and three; then three; then one.
    file = pq.ParquetFile(tmp_path / "s" / TABLES["corpus"].file())
    assert [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)] == [5, 3, 1]


def test_files_are_compressed_and_have_a_page_index(tmp_path):
    written(tmp_path / "s")
    for table in TABLES.values():
        column = pq.ParquetFile(tmp_path / "s" / table.file()).metadata.row_group(0).column(0)
        assert (column.compression, column.has_offset_index, column.has_column_index) == ("ZSTD", True, True)


def test_two_snapshots_of_nearly_the_same_documents_share_most_of_their_bytes(tmp_path):
    # What content-defined chunking is for: with 900 texts of random digits and one new one at the front, most pages of
    # the second file are byte for byte in the first. Pages cut by count would all differ after the first row.
    texts = ["".join(hashlib.sha256(f"{i} {j}".encode()).hexdigest() for j in range(60)) for i in range(900)]
    old = [Document(f"m{i:04}", "", text) for i, text in enumerate(texts)]
    written(tmp_path / "one", documents=[*old, *DOCUMENTS])
    written(tmp_path / "two", documents=[Document("a", "", "new"), *old, *DOCUMENTS])
    one, two = ((tmp_path / name / TABLES["corpus"].file()).read_bytes() for name in ("one", "two"))
    pieces = [two[i : i + 64] for i in range(0, len(two) - 64, len(two) // 50)]
    assert sum(piece in one for piece in pieces) > len(pieces) / 2


def test_judgments_of_documents_that_the_corpus_is_said_to_lack_are_kept(tmp_path):
    gone = [Judgment("q1", "n1", "zz", 1), Judgment("q1", "n1", "z", 0)]
    manifest = written(tmp_path / "s", judgments=[*JUDGMENTS, *gone], missing=iter(["zz", "z"]))
    assert json.loads((tmp_path / "s" / "snapshot.json").read_text())["missing"] == ["z", "zz"]
    assert manifest.missing == ("z", "zz")
    assert {"query-id": "q1", "corpus-id": "zz", "score": 1} in rows(tmp_path / "s", "qrels")
    assert {"query-id": "q1", "corpus-id": "z", "score": 0} in rows(tmp_path / "s", "qrels")
    assert [row["_id"] for row in rows(tmp_path / "s", "corpus")] == ["a#1", "b.py 10%"]


BAD = {
    "a document twice": ({"documents": [*DOCUMENTS, DOCUMENTS[0]]}, SnapshotError, "'b.py 10%'"),
    "a query twice": ({"queries": [*QUERIES, QUERIES[0]]}, SnapshotError, "'q2'"),
    "a nugget twice": ({"nuggets": [*NUGGETS, NUGGETS[0]]}, SnapshotError, "'n3'"),
    "a judgment twice": ({"judgments": [*JUDGMENTS, replace(JUDGMENTS[0], score=0)]}, SnapshotError, "'n3', 'a#1'"),
    "a query without nugget": ({"queries": [*QUERIES, Query("q9", "")]}, SnapshotError, "'q9', expected at least one"),
    "a nugget without query": ({"nuggets": [*NUGGETS, Nugget("n9", "q9", 0, "")]}, SnapshotError, "'n9'.*'q9'"),
    "a nugget without judgment": ({"nuggets": [*NUGGETS, Nugget("n9", "q1", 1, "")]}, SnapshotError, "'n9'"),
    "a judgment of no nugget": ({"judgments": [*JUDGMENTS, Judgment("q1", "n9", "a#1", 1)]}, SnapshotError, "'n9'"),
    "a judgment of another query's nugget": (
        {"judgments": [*JUDGMENTS, Judgment("q1", "n2", "a#1", 1)]},
        SnapshotError,
        "'n2', expected a nugget of the query, got one of query 'q2'",
    ),
    "a judgment of no document": ({"judgments": [*JUDGMENTS, Judgment("q1", "n1", "zz", 1)]}, SnapshotError, "'zz'"),
    "a judgment of no document though others are missing": (
        {"judgments": [*JUDGMENTS, Judgment("q1", "n1", "zz", 1), Judgment("q1", "n1", "z", 1)], "missing": ["z"]},
        SnapshotError,
        "expected a document of the corpus, got 'zz'",
    ),
    "a missing document that is there": (
        {"missing": ["a#1"]},
        SnapshotError,
        "missing document 'a#1', expected one that the corpus lacks, got one of the corpus",
    ),
    "a missing document that nobody judged": (
        {"missing": ["zz"]},
        SnapshotError,
        "missing document 'zz', expected one that was judged, got one without judgment",
    ),
    "a document missing twice": (
        {"judgments": [*JUDGMENTS, Judgment("q1", "n1", "zz", 1)], "missing": ["zz", "zz"]},
        SnapshotError,
        "missing: expected ascending ids, each once",
    ),
    "a missing document without id": ({"missing": [None]}, RecordError, "missing document id, expected a non-empty"),
    "a score of 2": ({"judgments": [replace(JUDGMENTS[0], score=2)]}, RecordError, "score, expected 0 or 1, got 2"),
    "a score that is a bool": ({"judgments": [replace(JUDGMENTS[0], score=True)]}, RecordError, "got True"),
    "no documents": ({"documents": []}, SnapshotError, "corpus, expected at least one document"),
    "no queries": ({"queries": []}, SnapshotError, "queries, expected at least one query"),
    "no nuggets": ({"nuggets": []}, SnapshotError, "at least one nugget"),
    "no judgments": ({"judgments": []}, SnapshotError, "at least one judgment"),
    "a title of None": ({"documents": [Document("x", None, "")]}, RecordError, "'x': title, expected a string"),
    "unknown metadata": ({"documents": [Document("x", "", "", {"uri": "u"})]}, RecordError, "got 'uri'"),
    "metadata of a wrong type": ({"documents": [Document("x", "", "", {"url": 1})]}, RecordError, "url to be a string"),
    "metadata too large": ({"documents": [Document("x", "", "", {"tokens": 2**63})]}, RecordError, "64 bits"),
    "metadata that is none": ({"documents": [Document("x", "", "", ["url"])]}, RecordError, "a mapping"),
    "half a surrogate pair": ({"documents": [Document("x", "", "a\ud800")]}, RecordError, "half a surrogate pair"),
    "tags that are one string": ({"queries": [replace(QUERIES[0], tags="xy")]}, RecordError, "a tuple of strings"),
    "a position below 0": (
        {"nuggets": [replace(NUGGETS[0], position=-1)]},
        RecordError,
        "position, expected 0 or more",
    ),
    "another importance": ({"nuggets": [replace(NUGGETS[0], importance="ok")]}, RecordError, "importance"),
    "another kind of record": ({"queries": [NUGGETS[0]]}, RecordError, "expected a Query"),
    "another kind of dropped item": ({"dropped": [{"x": {1, 2}}]}, RecordError, "JSON values"),
    "a trace that leaves its folder": (
        {"provenance": {"../x": b""}},
        SnapshotError,
        "path, expected .*provenance/../x",
    ),
    "a trace in a folder below": ({"provenance": {"a/b": b""}}, SnapshotError, "path, expected .*got 'provenance/a/b'"),
    "a trace that is not there": (
        {"provenance": {"pool.parquet": Path("no such file")}},
        InputError,
        "provenance 'pool.parquet', expected a file to copy, got 'no such file'",
    ),
    "a trace that is a text": ({"provenance": {"a.txt": "b"}}, InputError, r"a path or bytes, got 'b' \(str\)"),
    "two lists of what was dropped": (
        {"provenance": {"dropped.jsonl": b""}, "dropped": []},
        InputError,
        "'dropped.jsonl', expected it or dropped items, got both",
    ),
    "a call without id": (
        {"judgments": [replace(JUDGMENTS[0], call_id="a\tb")]},
        RecordError,
        r"judgment 'n3': call_id, expected a non-empty string without tab or line break, got 'a\\tb'",
    ),
    "a description that is none": ({"about": None}, SnapshotError, "about, expected a valid string, got None"),
    "a section that is none": ({"sections": {"Use": None}}, SnapshotError, "sections.Use, expected a valid string"),
    "sections that are none": (
        {"sections": ["Use"]},
        SnapshotError,
        r"sections, expected a valid dictionary, got \['Use'\]",
    ),
    "a description that is no Unicode": ({"about": "a\ud800"}, SnapshotError, "about, expected a valid string"),
    "a recipe that is none": ({"recipe": "boil"}, SnapshotError, "recipe, expected a valid dictionary .*got 'boil'"),
    "a number of too many digits": (
        {"recipe": {"pool": {"depth": 10**5000}}},
        SnapshotError,
        "recipe.pool, .* 'depth'",
    ),
    "a month 13": ({"snapshot": "2026-13"}, SnapshotError, "snapshot"),
    "a snapshot of digits": ({"snapshot": "202610"}, SnapshotError, "snapshot"),
    "a name that leaves its folder": ({"dataset": "../x"}, SnapshotError, "dataset"),
    "a licence of two lines": ({"license": "MIT\nx: y"}, SnapshotError, "license"),
    "an unknown part of the recipe": ({"recipe": {"cook": "me"}}, SnapshotError, "cook"),
    "an infinite number": ({"recipe": {"pool": {"depth": float("inf")}}}, SnapshotError, "pool"),
}


@pytest.mark.parametrize(("changes", "error", "says"), BAD.values(), ids=BAD)
def test_what_is_no_dataset_is_refused_and_leaves_nothing_behind(tmp_path, changes, error, says):
    with pytest.raises(error, match=says):
        written(tmp_path / "s", **changes)
    assert list(tmp_path.iterdir()) == []


def test_documents_that_end_in_an_error_leave_nothing_behind(tmp_path):
    def documents():
        yield from DOCUMENTS
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(tmp_path / "s", documents=documents())
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(self, rows):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(TableWriter, "write_group", full)
    with pytest.raises(OSError, match="No space left"):
        written(tmp_path / "s")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_a_spool_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    real = pa.OSFile
    monkeypatch.setattr(pa, "OSFile", lambda path, mode: real("/dev/full", mode))
    with pytest.raises(OSError, match="No space left"):
        written(tmp_path / "s", documents=[Document(f"d{i}", "", "x" * 100_000) for i in range(100)])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "mine").write_text("keep")
    with pytest.raises(InputError, match="empty folder"):
        written(tmp_path / "s")
    assert [p.name for p in (tmp_path / "s").iterdir()] == ["mine"]


def test_the_manifest_tells_where_it_came_from_and_what_was_dropped(tmp_path):
    recipe = Recipe(builder="toy", filters=(Filter(name="no body", dropped=3, reason="nothing to search for"),))
    written(
        tmp_path / "s", sources=[Source(url="https://x", license="MIT")], recipe=recipe, dropped=[{"b": 1, "a": "é"}]
    )
    told = json.loads((tmp_path / "s" / "snapshot.json").read_text(encoding="utf-8"))
    assert told["sources"] == [{"url": "https://x", "license": "MIT", "counts": {}}]
    assert told["recipe"]["filters"] == [{"name": "no body", "dropped": 3, "reason": "nothing to search for"}]
    assert told["created"] == "2026-10-01"
    assert (tmp_path / "s" / "provenance" / "dropped.jsonl").read_text(encoding="utf-8") == '{"a": "é", "b": 1}\n'


def test_files_of_the_trace_are_copied_byte_for_byte_and_vouched_for(tmp_path):
    pool = tmp_path / "a pool.bin"
    pool.write_bytes(bytes(range(256)) * 10)
    trace = {"pool.parquet": pool, "corrections.jsonl": b'{"a":1}\n'}
    manifest = written(tmp_path / "s", provenance=trace, dropped=[{"b": 1}])
    folder = tmp_path / "s" / "provenance"
    assert (folder / "pool.parquet").read_bytes() == bytes(range(256)) * 10
    assert (folder / "corrections.jsonl").read_bytes() == b'{"a":1}\n'
    assert [(file.path, file.size) for file in manifest.provenance] == [
        ("provenance/corrections.jsonl", 8),
        ("provenance/dropped.jsonl", 9),  # {"b": 1} and a line feed
        ("provenance/pool.parquet", 2560),
    ]
    assert manifest.provenance[0].sha256 == hashlib.sha256(b'{"a":1}\n').hexdigest()
    assert manifest.fingerprint == written(tmp_path / "t").fingerprint  # the trace is no part of it
    assert verify(tmp_path / "s") == []


def test_a_file_of_the_trace_that_goes_away_is_named_and_leaves_nothing_behind(tmp_path):
    pool = tmp_path / "pool"
    pool.write_bytes(b"1")

    def documents():
        yield from DOCUMENTS
        pool.unlink()

    with pytest.raises(InputError, match=r"cannot read '.*pool', got no such file or directory"):
        written(tmp_path / "s", documents=documents(), provenance={"pool.parquet": pool})
    assert list(tmp_path.iterdir()) == []
