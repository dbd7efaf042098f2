"""Any originals become the snapshot that plain dictionaries say, and any bytes become that or an error of ours."""

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import FreshStackError
from freshstack_datasets.layouts.oct_2024 import convert
from freshstack_datasets.loading import load
from freshstack_datasets.verification import verify
from tests.originals import document, nugget, query, write_corpus, write_queries

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ids = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=8),
    # Ids that are beginnings of others, with and without the shape that published nuggets have.
    st.sampled_from(["1", "12", "1_0", "12_0", "1_1", "a b", "a", "a/b.py_0_10", "ä", "\U0001f600", "\uffff", "\x00"]),
)
maybe = st.none() | texts
places = st.fixed_dictionaries({}, optional={"url": maybe, "start_byte": st.none() | st.integers(-(2**63), 2**63 - 1)})
details = st.none() | st.fixed_dictionaries({"date": maybe, "tags": st.none() | st.lists(texts, max_size=3)})


@st.composite
def originals(draw):
    """Rows of a corpus and of queries; lists repeat and contradict themselves, documents and judgments are missing."""
    doc_ids = draw(st.lists(ids, min_size=1, max_size=8, unique=True))
    held = draw(st.lists(st.sampled_from(doc_ids), min_size=1, unique=True))
    documents = [document(doc_id, draw(texts), **draw(places)) for doc_id in held]
    judged = st.lists(st.sampled_from(doc_ids), max_size=5)
    nugget_ids = iter(draw(st.lists(ids, min_size=12, max_size=12, unique=True)))
    rows = []
    for query_id in draw(st.lists(ids, min_size=1, max_size=4, unique=True)):
        nuggets = [
            nugget(next(nugget_ids), draw(judged), draw(judged), draw(texts)) for _ in range(draw(st.integers(0, 3)))
        ]
        given_texts = {"query_title": draw(texts), "query_text": draw(texts), "answer_text": draw(maybe)}
        rows.append(query(query_id, *nuggets, **given_texts, answer_id=draw(maybe), metadata=draw(details)))
    return documents, rows


def expected_of(documents, rows):
    """What the rules say, in dictionaries: nuggets by id, judgments by key, and how often each rule applies."""
    nuggets, judgments, found = {}, {}, Counter()
    for row in rows:
        before = len(nuggets)
        for position, fact in enumerate(row["nuggets"]):
            yes, no = fact["relevant_corpus_ids"], fact["non_relevant_corpus_ids"]
            found["listed-twice"] += sum(len({d for d in part if part.count(d) > 1}) for part in (yes, no))
            found["both-lists"] += len(set(yes) & set(no))
            found["nugget-without-judgment"] += not (yes or no)
            if yes or no:
                nuggets[fact["_id"]] = (row["query_id"], position, fact["text"])
            judgments |= {(row["query_id"], fact["_id"], d): 0 for d in no}
            judgments |= {(row["query_id"], fact["_id"], d): 1 for d in yes}
        found["query-without-nugget"] += len(nuggets) == before
    missing = {doc_id for _, _, doc_id in judgments} - {row["_id"] for row in documents}
    found["missing-document"] = len(missing)
    return nuggets, judgments, sorted(missing), {code: number for code, number in found.items() if number}


def in_files(folder, name, rows, cuts, write):
    """Write rows to several files, some of them empty."""
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    return [write(folder / f"{name}{i}.parquet", rows[a:b]) for i, (a, b) in enumerate(pairwise(bounds))]


@settings(max_examples=40, deadline=None)
@given(originals(), st.lists(st.integers(0, 8), max_size=2), st.randoms(use_true_random=False))
def test_originals_become_the_records_that_dictionaries_say(rows, cuts, shuffler):
    documents, asked = rows
    nuggets, judgments, missing, found = expected_of(documents, asked)
    assume(nuggets)
    assume({doc_id for _, _, doc_id in judgments} - set(missing))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        corpus = in_files(folder, "c", documents, cuts, write_corpus)
        queries = in_files(folder, "q", asked, cuts, write_queries)
        result = convert(corpus, queries, folder / "one", dataset="a/b")
        assert dict(result.found) == found
        assert result.manifest.missing == tuple(missing)
        assert verify(folder / "one") == []

        data = load(folder / "one")
        assert {n.nugget_id: (n.query_id, n.position, n.text) for n in data.nuggets} == nuggets
        assert {(j.query_id, j.nugget_id, j.doc_id): j.score for j in data.judgments} == judgments
        for row in documents:
            place = {name: value for name, value in (row["metadata"] or {}).items() if value is not None}
            assert (data.corpus[row["_id"]].text, data.corpus[row["_id"]].metadata) == (row["text"], place)
        assert len(data.corpus) == len(documents)
        kept = {row["query_id"]: row for row in asked if row["query_id"] in {n.query_id for n in data.nuggets}}
        assert set(kept) == set(data.queries.columns("query_id")[0])
        for query_id, row in kept.items():
            record, about = data.queries[query_id], row["metadata"] or {"date": None, "tags": None}
            assert record.text == row["query_title"] + " " + row["query_text"]
            assert (record.title, record.body) == (row["query_title"], row["query_text"])
            assert (record.answer_id, record.answer_text) == (row["answer_id"], row["answer_text"])
            assert record.date == about["date"]
            assert record.tags == (None if about["tags"] is None else tuple(about["tags"]))

        shuffled = [shuffler.sample(part, len(part)) for part in rows]
        again = convert(
            [write_corpus(folder / "all.parquet", shuffled[0])],
            [write_queries(folder / "asked.parquet", shuffled[1])],
            folder / "two",
            dataset="a/b",
        )
        assert again.manifest.fingerprint == result.manifest.fingerprint
        assert dict(again.found) == found


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    write_corpus(folder / "corpus", [document(f"d{i}", f"text {i}", url="u", start_byte=i) for i in range(50)])
    rows = [query(f"q{i}", *(nugget(f"n{i}_{j}", [f"d{i}"], ["d1", f"d{j}"]) for j in range(3))) for i in range(9)]
    write_queries(folder / "queries", rows)
    return folder


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["corpus", "queries"]),
    edits=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4
    ),
    cut=st.none() | st.floats(0, 1),
)
def test_damaged_files_are_an_error_of_ours_or_a_whole_snapshot(good, name, edits, cut):
    content = bytearray((good / name).read_bytes())
    for place, new in edits:
        at = int(place * len(content))
        content[at : at + len(new)] = new
    if cut is not None:
        del content[int(cut * len(content)) :]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = {part: good / part for part in ("corpus", "queries")} | {name: folder / name}
        files[name].write_bytes(content)
        said = ""
        try:
            convert([files["corpus"]], [files["queries"]], folder / "out", dataset="a/b")
        except FreshStackError as error:
            said = str(error)
        assert "\n" not in said
        assert bool(said) != (folder / "out").exists()
        assert said or verify(folder / "out") == []
        assert {path.name for path in folder.iterdir()} <= {name, "out"}
