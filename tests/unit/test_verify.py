"""Verifying snapshots: each test breaks a good one in one way and expects exactly that to be said."""

import json
import os
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets.errors import SnapshotError
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.tables.digest import TableDigest, fingerprint
from freshstack_datasets.tables.schema import TABLES
from freshstack_datasets.verification import verify

FILES = {name: table.file() for name, table in TABLES.items()}


@pytest.fixture
def folder(tmp_path):
    """A snapshot of three documents; q1 has the nuggets n1 and n2, q2 has n3.

    nugget_qrels: q1 n1 a 1, q1 n1 b 0, q1 n2 a 1, q2 n3 c 1; so qrels: q1 a 2, q1 b 0, q2 c 1.
    """
    write_snapshot(
        tmp_path / "s",
        dataset="acme/toy",
        snapshot="2026-10",
        license="MIT",
        documents=[Document(doc_id, "", f"text of {doc_id}", {"url": "https://x"}) for doc_id in "abc"],
        queries=[Query("q1", "one?", tags=("t",)), Query("q2", "two?")],
        nuggets=[Nugget("n1", "q1", 0, "x"), Nugget("n2", "q1", 1, "y"), Nugget("n3", "q2", 0, "z")],
        judgments=[
            Judgment("q1", "n1", "a", 1),
            Judgment("q1", "n1", "b", 0),
            Judgment("q1", "n2", "a", 1),
            Judgment("q2", "n3", "c", 1),
        ],
        dropped=[{"id": "d", "reason": "empty"}],
    )
    return tmp_path / "s"


def found(folder):
    return [(problem.code, problem.file, problem.id) for problem in verify(folder)]


def edit(folder, name, change, seal=True):
    """Change a table's rows; with ``seal`` the manifest is made to agree, as someone who means it would."""
    path = folder / FILES[name]
    rows = change(pq.read_table(path).to_pylist())
    table = pa.Table.from_pylist(rows, TABLES[name].schema)
    pq.write_table(table, path)
    if seal:
        told = manifest_of(folder)
        digest = TableDigest()
        digest.update(table)
        told["tables"][name] |= {"rows": len(rows), "digest": digest.hexdigest()}
        told["fingerprint"] = fingerprint({n: t["digest"] for n, t in told["tables"].items()})
        put(folder, told)
        reseal(folder, name)


def manifest_of(folder):
    return json.loads((folder / "snapshot.json").read_text())


def put(folder, told):
    (folder / "snapshot.json").write_text(json.dumps(told))


def reseal(folder, name):
    content = (folder / FILES[name]).read_bytes()
    told = manifest_of(folder)
    told["tables"][name]["files"][0] |= {"size": len(content), "sha256": sha256(content).hexdigest()}
    put(folder, told)


def having(key, value, **changes):
    """A change of the one row whose column ``key`` is ``value``."""
    return lambda rows: [row | changes if row[key] == value else row for row in rows]


def without(**wanted):
    return lambda rows: [row for row in rows if any(row[k.replace("_id", "-id")] != v for k, v in wanted.items())]


def judged(*keys, score=1):
    return dict(zip(("query-id", "nugget-id", "corpus-id"), keys, strict=True)) | {"score": score, "call-id": None}


def test_a_good_snapshot_has_no_problem_whatever_its_card_says(folder):
    (folder / "README.md").write_text("mine")
    (folder / ".gitattributes").write_text("*.parquet filter=lfs")
    assert verify(folder) == []


def test_a_changed_byte_is_found_where_only_the_sha256_can_tell(folder):
    path = folder / "provenance" / "dropped.jsonl"
    path.write_bytes(path.read_bytes().replace(b"empty", b"fully"))
    assert found(folder) == [("changed-file", "provenance/dropped.jsonl", "")]


def test_a_file_of_another_size_is_found(folder):
    with (folder / "provenance" / "dropped.jsonl").open("a") as stream:
        stream.write("{}\n")
    assert found(folder) == [("changed-file", "provenance/dropped.jsonl", "")]


def test_an_edited_table_shows_in_its_file_its_digest_and_what_no_longer_fits(folder):
    edit(folder, "nugget_qrels", having("corpus-id", "b", score=1), seal=False)
    assert found(folder) == [
        ("changed-file", FILES["nugget_qrels"], ""),
        ("digest", FILES["nugget_qrels"], ""),
        ("qrels-score", FILES["qrels"], "q1 b"),
    ]


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_file_is_found_and_nothing_is_made_of_it(folder, name):
    (folder / FILES[name]).unlink()
    assert found(folder) == [("missing-file", FILES[name], "")]


def test_extra_files_are_found_however_they_are_called(folder):
    (folder / "corpus" / "corpus-00001.parquet").write_bytes(b"")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "new\nline").write_text("")
    assert found(folder) == [
        ("extra-file", "corpus/corpus-00001.parquet", ""),
        ("extra-file", "deep/er/new\\nline", ""),
    ]


def test_a_link_is_not_followed_even_to_the_right_bytes(folder, tmp_path):
    path = folder / FILES["qrels"]
    path.rename(tmp_path / "elsewhere.parquet")
    path.symlink_to(tmp_path / "elsewhere.parquet")
    assert found(folder)[0] == ("not-a-file", FILES["qrels"], "")


def as_in_a_cache(folder, blobs):
    """Move every file to another folder, and leave links to them, as the cache of the Hub has them."""
    blobs.mkdir()
    for number, path in enumerate([path for path in folder.rglob("*") if path.is_file()]):
        path.rename(blobs / str(number))
        path.symlink_to(os.path.relpath(blobs / str(number), path.parent))


def test_links_to_files_below_the_root_are_files(folder, tmp_path):
    as_in_a_cache(folder, tmp_path / "blobs")
    with pytest.raises(SnapshotError, match=r"is no snapshot, expected a folder with a snapshot\.json, got none"):
        verify(folder)
    assert verify(folder, root=tmp_path) == []
    blob = (folder / FILES["corpus"]).resolve()
    content = blob.read_bytes()
    blob.write_bytes(content[:-9] + b"?" + content[-8:])
    assert verify(folder, root=tmp_path)[0].code == "changed-file"
    blob.unlink()
    assert [(p.code, p.file) for p in verify(folder, root=tmp_path)] == [("missing-file", FILES["corpus"])]


def test_links_that_lead_out_of_the_root_are_none(folder, tmp_path):
    as_in_a_cache(folder, tmp_path / "blobs")
    (tmp_path / "secret").write_bytes((folder / FILES["qrels"]).read_bytes())
    (folder / FILES["qrels"]).unlink()
    (folder / FILES["qrels"]).symlink_to(tmp_path / "secret")
    (tmp_path / "cache").mkdir()
    for name in ("blobs", folder.name):
        (tmp_path / name).rename(tmp_path / "cache" / name)
    found = [(p.code, p.file) for p in verify(tmp_path / "cache" / folder.name, root=tmp_path / "cache")]
    assert found == [("not-a-file", FILES["qrels"]), ("unreadable", FILES["qrels"])]


def test_a_loop_of_links_and_a_pipe_are_no_files(folder):
    (folder / "loop").symlink_to(folder / "loop")
    (folder / FILES["qrels"]).unlink()
    os.mkfifo(folder / FILES["qrels"])
    assert found(folder) == [("not-a-file", "loop", ""), ("not-a-file", FILES["qrels"], "")]


def test_a_folder_in_a_files_place_is_found(folder):
    (folder / FILES["qrels"]).unlink()
    (folder / FILES["qrels"]).mkdir()
    assert found(folder) == [("not-a-file", FILES["qrels"], "")]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 100 + b"PAR1", b"\0" * 5000])
def test_a_table_that_is_no_parquet_is_unreadable(folder, name, content):
    (folder / FILES[name]).write_bytes(content)
    reseal(folder, name)
    assert found(folder) == [("unreadable", FILES[name], "")]


def test_text_that_is_not_utf8_is_unreadable(folder):
    path = folder / FILES["nuggets"]
    table = pq.read_table(path)
    buffers = pa.array([b"x", b"\xff", b"z"], pa.binary()).buffers()
    broken = pa.Array.from_buffers(pa.string(), 3, buffers)
    pq.write_table(table.set_column(3, "text", broken), path)
    reseal(folder, "nuggets")
    assert found(folder) == [("unreadable", FILES["nuggets"], "")]


def test_other_columns_are_found(folder):
    path = folder / FILES["qrels"]
    pq.write_table(pq.read_table(path).drop_columns("score"), path)
    reseal(folder, "qrels")
    assert found(folder) == [("wrong-columns", FILES["qrels"], "")]


def test_another_type_of_column_is_found(folder):
    path = folder / FILES["corpus"]
    table = pq.read_table(path)
    pq.write_table(table.set_column(2, "text", table["text"].cast(pa.large_binary())), path)
    reseal(folder, "corpus")
    assert found(folder) == [("wrong-columns", FILES["corpus"], "")]


def test_a_wrong_row_count_is_found(folder):
    told = manifest_of(folder)
    told["tables"]["queries"]["rows"] = 3
    put(folder, told)
    assert found(folder) == [("row-count", FILES["queries"], "")]


def test_a_wrong_digest_is_found_with_the_fingerprint_that_is_made_of_it(folder):
    told = manifest_of(folder)
    told["tables"]["queries"]["digest"] = "0" * 64
    put(folder, told)
    assert found(folder) == [("digest", FILES["queries"], ""), ("fingerprint", "snapshot.json", "")]


def test_a_wrong_fingerprint_is_found(folder):
    put(folder, manifest_of(folder) | {"fingerprint": "0" * 64})
    assert found(folder) == [("fingerprint", "snapshot.json", "")]


def test_rows_out_of_order_are_found(folder):
    edit(folder, "corpus", lambda rows: [rows[0], rows[2], rows[1]])
    assert found(folder) == [("unsorted", FILES["corpus"], "b")]


def test_keys_of_several_columns_are_ordered_by_the_first_that_differs(folder):
    edit(folder, "nugget_qrels", lambda rows: [rows[0], rows[2], rows[1], rows[3]])
    assert found(folder) == [("unsorted", FILES["nugget_qrels"], "q1 n1 b")]


@pytest.mark.parametrize(("name", "which"), [("corpus", "b"), ("queries", "q1"), ("nuggets", "n2")])
def test_an_id_that_comes_twice_is_found(folder, name, which):
    edit(folder, name, lambda rows: sorted([*rows, *(r for r in rows if r["_id"] == which)], key=lambda r: r["_id"]))
    assert found(folder) == [("duplicate-id", FILES[name], which)]


def test_a_judgment_that_comes_twice_is_found(folder):
    edit(folder, "nugget_qrels", lambda rows: [rows[0], *rows])
    assert ("duplicate-id", FILES["nugget_qrels"], "q1 n1 a") in found(folder)


def test_qrels_that_come_twice_are_found(folder):
    edit(folder, "qrels", lambda rows: [rows[0], *rows])
    assert found(folder) == [("duplicate-id", FILES["qrels"], "q1 a")]


def test_duplicates_are_found_in_unsorted_rows_too(folder):
    edit(folder, "queries", lambda rows: [*rows, rows[0]])
    assert found(folder) == [("unsorted", FILES["queries"], "q1"), ("duplicate-id", FILES["queries"], "q1")]


def test_a_row_that_points_to_no_document_is_found(folder):
    edit(folder, "nugget_qrels", lambda rows: [*rows, judged("q2", "n3", "zz")])
    assert found(folder) == [("dangling", FILES["nugget_qrels"], "zz")]


def test_a_judged_document_that_is_listed_as_missing_is_no_problem(folder):
    put(folder, manifest_of(folder) | {"missing": ["zz"]})
    edit(folder, "nugget_qrels", lambda rows: [*rows, judged("q2", "n3", "zz")])
    assert found(folder) == [("qrels-missing", FILES["qrels"], "q2 zz")]
    edit(folder, "qrels", lambda rows: [*rows, {"query-id": "q2", "corpus-id": "zz", "score": 1}])
    assert verify(folder) == []
    edit(folder, "nugget_qrels", lambda rows: [*rows, judged("q2", "n3", "zzz")])
    assert found(folder) == [("dangling", FILES["nugget_qrels"], "zzz")]


def test_documents_that_are_wrongly_listed_as_missing_are_found(folder):
    put(folder, manifest_of(folder) | {"missing": ["b", "c", "zz"]})
    assert [str(problem) for problem in verify(folder)] == [
        "snapshot.json: wrong-missing 'b': listed as missing, but the corpus has it",
        "snapshot.json: wrong-missing 'c': listed as missing, but the corpus has it",
        "snapshot.json: wrong-missing 'zz': listed as missing, but nobody judged it",
    ]


def test_an_id_that_the_corpus_has_twice_is_found_beside_missing_ones(folder):
    put(folder, manifest_of(folder) | {"missing": ["b"]})
    edit(folder, "corpus", lambda rows: [rows[0], rows[1], *rows[1:]])
    assert found(folder) == [("wrong-missing", "snapshot.json", "b"), ("duplicate-id", FILES["corpus"], "b")]


def test_many_documents_that_are_wrongly_listed_as_missing_are_counted(folder):
    put(folder, manifest_of(folder) | {"missing": [f"z{i:05}" for i in range(100_000)]})
    problems = verify(folder)
    assert len(problems) == 21
    assert problems[-1].message == "99,980 more of this kind"


@pytest.mark.parametrize("name", ["corpus", "nugget_qrels"])
def test_missing_documents_are_not_looked_for_in_a_table_that_cannot_be_read(folder, name):
    put(folder, manifest_of(folder) | {"missing": ["b", "zz"]})
    (folder / FILES[name]).write_bytes(b"PAR1")
    reseal(folder, name)
    there = [("wrong-missing", "snapshot.json", "b")] if name != "corpus" else []
    assert found(folder) == [*there, ("unreadable", FILES[name], "")]


def test_a_row_that_points_to_no_query_is_found(folder):
    edit(folder, "nuggets", lambda rows: [*rows, rows[0] | {"_id": "n4", "query-id": "q9"}])
    assert found(folder) == [
        ("dangling", FILES["nuggets"], "q9"),
        ("nugget-without-judgment", FILES["nuggets"], "n4"),
    ]


def test_a_row_that_points_to_no_nugget_is_found(folder):
    edit(folder, "nugget_qrels", lambda rows: [*rows, judged("q2", "n9", "c")])
    assert found(folder) == [("dangling", FILES["nugget_qrels"], "n9")]


def test_a_judgment_of_another_querys_nugget_is_found(folder):
    edit(folder, "nugget_qrels", lambda rows: [*rows, judged("q2", "n1", "c", score=0)])
    assert sorted(found(folder)) == [
        ("dangling", FILES["nugget_qrels"], "n1"),
        ("unsorted", FILES["nugget_qrels"], "q2 n1 c"),
    ]


def test_qrels_that_point_to_no_document_are_found(folder):
    edit(folder, "qrels", lambda rows: [*rows, {"query-id": "q2", "corpus-id": "zz", "score": 1}])
    assert found(folder) == [("dangling", FILES["qrels"], "zz")]


def test_a_query_without_nugget_is_found(folder):
    edit(folder, "queries", lambda rows: [*rows, rows[0] | {"_id": "q3"}])
    assert found(folder) == [("query-without-nugget", FILES["queries"], "q3")]


def test_a_nugget_without_judgment_is_found(folder):
    edit(folder, "nuggets", lambda rows: [*rows, rows[0] | {"_id": "n4", "position": 2}])
    assert found(folder) == [("nugget-without-judgment", FILES["nuggets"], "n4")]


@pytest.mark.parametrize("score", [0, 1, 3, -1])
def test_a_qrels_score_that_is_not_the_number_of_nuggets_supported_is_found(folder, score):
    edit(folder, "qrels", having("corpus-id", "a", score=score))
    assert found(folder) == [("qrels-score", FILES["qrels"], "q1 a")]


def test_tables_without_rows_are_looked_at_like_any_other(folder):
    edit(folder, "qrels", lambda rows: [])
    lacking = [("qrels-missing", FILES["qrels"], f"q{q} {d}") for q, d in ((1, "a"), (1, "b"), (2, "c"))]
    assert found(folder) == lacking
    edit(folder, "nugget_qrels", lambda rows: [])
    unjudged = [("nugget-without-judgment", FILES["nuggets"], nugget) for nugget in ("n1", "n2", "n3")]
    assert found(folder) == unjudged
    edit(folder, "nuggets", lambda rows: [])
    assert found(folder) == [("query-without-nugget", FILES["queries"], query) for query in ("q1", "q2")]


def test_a_lacking_row_of_qrels_is_found(folder):
    edit(folder, "qrels", without(corpus_id="b"))
    assert found(folder) == [("qrels-missing", FILES["qrels"], "q1 b")]


def test_a_row_of_qrels_that_nobody_judged_is_found(folder):
    edit(folder, "qrels", lambda rows: [*rows[:2], {"query-id": "q1", "corpus-id": "c", "score": 0}, rows[2]])
    assert found(folder) == [("qrels-extra", FILES["qrels"], "q1 c")]


@pytest.mark.parametrize(
    ("name", "change", "which"),
    [
        ("corpus", having("_id", "b", text=None), "b"),
        ("corpus", having("_id", "b", title=None), "b"),
        ("queries", having("_id", "q2", text=None), "q2"),
        ("nuggets", having("_id", "n1", position=None), "n1"),
        ("nuggets", having("_id", "n1", position=-1), "n1"),
        ("nuggets", having("_id", "n1", importance="so-so"), "n1"),
    ],
)
def test_values_that_a_column_must_not_hold_are_found(folder, name, change, which):
    edit(folder, name, change)
    assert found(folder) == [("bad-value", FILES[name], which)]


def test_a_judgment_that_is_neither_0_nor_1_is_found(folder):
    edit(folder, "nugget_qrels", having("corpus-id", "c", score=2))
    assert found(folder) == [("bad-value", FILES["nugget_qrels"], "q2 n3 c")]


@pytest.mark.parametrize("doc_id", ["", "x\ty", "x\ny"])
def test_an_id_that_is_not_allowed_is_found(folder, doc_id):
    edit(folder, "corpus", lambda rows: sorted([*rows, rows[0] | {"_id": doc_id}], key=lambda row: row["_id"]))
    assert found(folder) == [("bad-value", FILES["corpus"], doc_id)]
    assert "\n" not in str(verify(folder)[0])


def test_a_null_id_is_found(folder):
    edit(folder, "corpus", lambda rows: [rows[0] | {"_id": None}, *rows])
    assert ("bad-value", FILES["corpus"], "None") in found(folder)


def test_null_ids_in_judgments_are_found(folder):
    edit(folder, "nugget_qrels", lambda rows: [judged(None, None, None), *rows])
    assert {(code, which) for code, _, which in found(folder)} == {("bad-value", "None None None")}


def test_many_problems_of_one_kind_are_counted_instead_of_listed(folder):
    edit(folder, "nugget_qrels", lambda rows: [*rows, *(judged("q2", "n3", f"z{i:03}") for i in range(500))])
    problems = verify(folder)
    assert len(problems) == 21
    assert problems[-1].message == "480 more of this kind"


def test_a_table_in_several_files_is_read_in_the_order_of_their_paths(folder):
    path = folder / FILES["corpus"]
    rows = pq.read_table(path)
    told = manifest_of(folder)
    told["tables"]["corpus"]["files"] = []
    for i, part in enumerate((rows.slice(0, 2), rows.slice(2))):
        name = f"corpus/corpus-0000{i}-of-00002.parquet"
        pq.write_table(part, folder / name)
        content = (folder / name).read_bytes()
        entry = {"path": name, "size": len(content), "sha256": sha256(content).hexdigest()}
        told["tables"]["corpus"]["files"].append(entry)
    path.unlink()
    put(folder, told)
    assert verify(folder) == []
    (folder / "corpus" / "corpus-00001-of-00002.parquet").write_bytes(b"PAR1")
    assert {(p.code, p.file) for p in verify(folder)} == {
        ("changed-file", "corpus/corpus-00001-of-00002.parquet"),
        ("unreadable", "corpus/corpus-00001-of-00002.parquet"),
    }


def test_a_folder_without_manifest_is_no_snapshot(tmp_path):
    with pytest.raises(SnapshotError, match=r"is no snapshot, expected a folder with a snapshot\.json"):
        verify(tmp_path)


def test_a_problem_prints_as_one_line_with_file_code_and_id(folder):
    edit(folder, "qrels", without(corpus_id="b"))
    assert str(verify(folder)[0]) == (
        "qrels/test-00000-of-00001.parquet: qrels-missing 'q1 b': this pair was judged, but has no row"
    )
