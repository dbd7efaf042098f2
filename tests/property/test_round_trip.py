"""Any records written and loaded again are the same, and their digests do not depend on their order."""

import hashlib
import json
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.tables.digest import TableDigest
from freshstack_datasets.tables.schema import TABLES
from freshstack_datasets.verification import verify

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ids = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=12),
    st.sampled_from(["a b", "a  b", "a", "a#1", "50%", "ä", "\U0001f600", "\uffff", "12", "123", "\x00", "a\u2028b"]),
)
maybe = st.none() | texts
numbers = st.integers(-(2**63), 2**63 - 1)
METADATA = {
    **dict.fromkeys(["url", "repository", "path", "commit", "license", "author", "date"], texts),
    **dict.fromkeys(["score", "start_char", "end_char", "start_byte", "end_byte", "tokens"], numbers),
}
documents = st.builds(Document, ids, texts, texts, st.fixed_dictionaries({}, optional=METADATA))
queries = st.builds(
    Query,
    ids,
    texts,
    *[maybe] * 5,
    st.none() | st.lists(texts, max_size=3).map(tuple),
    maybe,
    maybe,
    st.none() | numbers,
    *[maybe] * 4,
)


@st.composite
def datasets(draw):
    """Records that make a whole dataset."""
    found_documents = draw(st.lists(documents, min_size=1, max_size=6, unique_by=lambda d: d.doc_id))
    found_queries = draw(st.lists(queries, min_size=1, max_size=4, unique_by=lambda q: q.query_id))
    nugget_ids = draw(st.lists(ids, min_size=len(found_queries), max_size=7, unique=True))
    nuggets, judgments = [], []
    for i, nugget_id in enumerate(nugget_ids):
        query = found_queries[i % len(found_queries)].query_id
        importance = draw(st.sampled_from([None, "vital", "okay"]))
        nuggets.append(Nugget(nugget_id, query, draw(st.integers(0, 2**31 - 1)), draw(texts), importance))
        for document in draw(st.lists(st.sampled_from(found_documents), min_size=1, unique_by=lambda d: d.doc_id)):
            judgments.append(
                Judgment(query, nugget_id, document.doc_id, draw(st.integers(0, 1)), draw(st.none() | ids))
            )
    return found_documents, found_queries, nuggets, judgments


def write(folder, records):
    names = ("documents", "queries", "nuggets", "judgments")
    given_records = dict(zip(names, map(iter, records), strict=True))
    return write_snapshot(folder, dataset="a/b", snapshot="2026-10", license="MIT", **given_records)


def digest(rows, key):
    lines = (json.dumps(r, ensure_ascii=False, sort_keys=True, separators=(",", ":")) for r in sorted(rows, key=key))
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()


@settings(max_examples=30, deadline=None)
@given(datasets(), st.randoms(use_true_random=False))
def test_records_written_and_loaded_again_are_the_same(records, shuffler):
    shuffled = [shuffler.sample(part, len(part)) for part in records]
    with tempfile.TemporaryDirectory() as temporary:
        manifest = write(Path(temporary) / "s", records)
        assert write(Path(temporary) / "t", shuffled).fingerprint == manifest.fingerprint
        data = load(Path(temporary) / "s")
        found_documents, found_queries, nuggets, judgments = records
        assert list(data.corpus) == sorted(found_documents, key=lambda d: d.doc_id)
        assert data.corpus.get_many([d.doc_id for d in found_documents]) == found_documents
        assert list(data.queries) == sorted(found_queries, key=lambda q: q.query_id)
        assert [data.nuggets[n.nugget_id] for n in nuggets] == nuggets
        assert [data.judgments[j.query_id, j.nugget_id, j.doc_id] for j in judgments] == judgments
        assert verify(Path(temporary) / "s") == []


@settings(max_examples=25, deadline=None)
@given(datasets())
def test_a_digest_is_sha256_over_sorted_canonical_lines(records):
    keys = {
        "corpus": lambda r: r["_id"],
        "queries": lambda r: r["_id"],
        "nuggets": lambda r: r["_id"],
        "nugget_qrels": lambda r: (r["query-id"], r["nugget-id"], r["corpus-id"]),
        "qrels": lambda r: (r["query-id"], r["corpus-id"]),
    }
    with tempfile.TemporaryDirectory() as temporary:
        manifest = write(Path(temporary) / "s", records)
        for name, key in keys.items():
            rows = pq.read_table(Path(temporary) / "s" / name).to_pylist()
            assert manifest.tables[name].digest == digest(rows, key)


@settings(max_examples=40, deadline=None)
@given(datasets(), st.randoms(use_true_random=False))
def test_judgments_alone_have_the_digest_of_their_table(records, shuffler):
    rows = [(j.query_id, j.nugget_id, j.doc_id, j.score) for j in records[3]]
    table = [
        dict(zip(("query-id", "nugget-id", "corpus-id", "score"), r, strict=True)) | {"call-id": None} for r in rows
    ]
    expected = digest(table, lambda r: (r["query-id"], r["nugget-id"], r["corpus-id"]))
    line = f"nugget_qrels {expected}\n"
    shuffler.shuffle(rows)
    assert Dataset.from_nugget_qrels(rows).fingerprint == hashlib.sha256(line.encode()).hexdigest()


@given(st.integers(0, 40), st.integers(1, 17))
def test_a_digest_does_not_depend_on_how_the_rows_are_cut(rows, step):
    table = TABLES["corpus"].schema.empty_table()
    made = [{"_id": f"d{i:02}", "title": "", "text": "é" * i, "metadata": {"score": i}} for i in range(rows)]
    table = table.from_pylist(made, TABLES["corpus"].schema)
    whole, cut = TableDigest(), TableDigest()
    whole.update(table)
    for start in range(0, rows, step):
        cut.update(table.slice(start, step))
    assert whole.hexdigest() == cut.hexdigest() == digest(table.to_pylist(), lambda r: r["_id"])
