"""Datasets written for other tools, and read back by the rules of those tools."""

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import datasets
import pyndeval
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.adapters import beir, jsonl, trec
from freshstack_datasets.errors import InputError, SnapshotError
from freshstack_datasets.loading import Dataset, load
from freshstack_datasets.recipe import Source
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.tables.schema import TABLES

EXPORTS = {"beir": beir.export, "trec": trec.export, "jsonl": jsonl.export}

DOCUMENTS = [
    Document("d1", "Grinders", "Burrs grind\nevenly.", {"url": "https://example.org/1", "score": 3}),
    Document("d2", "", "Water\u2028matters."),
    Document("d3", "Pressure", "Nine bar.\r\nNot \x85 ten."),
    Document('"d 4"', "", ""),
]
QUERIES = [
    Query("q1", "How do I\tgrind\r\nevenly?  Mine\u2028is coarse.", title="How?", tags=("grind", "burr"), score=-2),
    Query("q2", "Which pressure?"),
]
NUGGETS = [
    Nugget("z", "q1", 0, "burrs grind evenly", "vital"),
    Nugget("a", "q1", 1, "water matters"),
    Nugget("m", "q2", 0, "nine bar"),
]
JUDGMENTS = [
    Judgment("q1", "z", "d1", 1),
    Judgment("q1", "a", "d1", 1),
    Judgment("q1", "a", "d2", 1, "call-7"),
    Judgment("q1", "z", "d2", 0),
    Judgment("q1", "z", "d3", 0),
    Judgment("q2", "m", "d3", 1),
    Judgment("q2", "m", '"d 4"', 0),
]


def dataset(folder, documents=DOCUMENTS, queries=QUERIES, nuggets=NUGGETS, judgments=JUDGMENTS, **told):
    write_snapshot(
        folder,
        dataset="tests/exports",
        snapshot="2024-10",
        license=told.pop("license", "CC-BY-SA-4.0"),
        documents=documents,
        queries=queries,
        nuggets=nuggets,
        judgments=judgments,
        **told,
    )
    return load(folder)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("snapshots") / "small")


def beir_reader(folder: Path):
    """Read a BEIR folder as BEIR does: files in text mode, JSON a line, csv with tabs and minimal quoting."""
    corpus, queries, qrels = {}, {}, {}
    with (folder / "corpus.jsonl").open(encoding="utf8") as file:
        for line in file:
            row = json.loads(line)
            corpus[row["_id"]] = {"text": row["text"], "title": row["title"]}
    with (folder / "queries.jsonl").open(encoding="utf8") as file:
        for line in file:
            row = json.loads(line)
            queries[row["_id"]] = row["text"]
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        reader = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        next(reader)
        for row in reader:
            qrels.setdefault(row[0], {})[row[1]] = int(row[2])
    return corpus, queries, qrels


def test_a_beir_folder_reads_back_as_beir_reads_it(data, tmp_path):
    beir.export(data, tmp_path / "out")
    corpus, queries, qrels = beir_reader(tmp_path / "out")
    assert corpus == {d.doc_id: {"text": d.text, "title": d.title} for d in DOCUMENTS}
    assert queries == {q.query_id: q.text for q in QUERIES}
    assert qrels == {"q1": {"d1": 2, "d2": 1, "d3": 0}, "q2": {"d3": 1, '"d 4"': 0}}


def test_a_beir_folder_carries_what_else_is_known(data, tmp_path):
    beir.export(data, tmp_path / "out")
    documents = [json.loads(line) for line in (tmp_path / "out/corpus.jsonl").read_bytes().split(b"\n")[:-1]]
    queries = [json.loads(line) for line in (tmp_path / "out/queries.jsonl").read_bytes().split(b"\n")[:-1]]
    assert {d["_id"]: d["metadata"] for d in documents}["d1"] == {"url": "https://example.org/1", "score": 3}
    assert [q["metadata"] for q in queries] == [{"title": "How?", "tags": ["grind", "burr"], "score": -2}, {}]
    assert (tmp_path / "out/qrels/test.tsv").read_bytes().startswith(b"query-id\tcorpus-id\tscore\nq1\td1\t2\n")


def test_trec_files_hold_topics_and_two_kinds_of_judgments(data, tmp_path):
    trec.export(data, tmp_path / "out")
    assert (tmp_path / "out/topics.tsv").read_bytes() == (
        b"q1\tHow do I grind evenly? Mine is coarse.\nq2\tWhich pressure?\n"
    )
    assert sorted((tmp_path / "out/qrels.txt").read_bytes().split(b"\n")) == [
        b"",
        b"q1\t0\td1\t2",
        b"q1\t0\td2\t1",
        b"q1\t0\td3\t0",
        b'q2\t0\t"d 4"\t0',
        b"q2\t0\td3\t1",
    ]
    # z is the first nugget of q1 and a the second, by position and not by id; m is the first of q2.
    assert sorted((tmp_path / "out/diversity.qrels").read_bytes().split(b"\n")) == [
        b"",
        b"q1\t1\td1\t1",
        b"q1\t1\td2\t0",
        b"q1\t1\td3\t0",
        b"q1\t2\td1\t1",
        b"q1\t2\td2\t1",
        b'q2\t1\t"d 4"\t0',
        b"q2\t1\td3\t1",
    ]
    first = json.loads((tmp_path / "out/corpus.jsonl").read_bytes().split(b"\n")[1])
    assert first == {
        "id": "d1",
        "title": "Grinders",
        "contents": "Grinders Burrs grind\nevenly.",
        "metadata": {"url": "https://example.org/1", "score": 3},
    }


def test_the_sha256_of_each_exported_table_is_its_digest_in_the_manifest(data, tmp_path):
    jsonl.export(data, tmp_path / "out")
    digests = {p.stem: hashlib.sha256(p.read_bytes()).hexdigest() for p in (tmp_path / "out").glob("*.jsonl")}
    manifest = json.loads((data.path / "snapshot.json").read_text())
    assert digests == {name: table["digest"].removeprefix("sha256:") for name, table in manifest["tables"].items()}


def test_exported_json_lines_have_the_columns_of_the_snapshot(data, tmp_path):
    jsonl.export(data, tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out/nugget_qrels.jsonl").read_bytes().split(b"\n")[:-1]]
    assert {"query-id": "q1", "nugget-id": "a", "corpus-id": "d2", "score": 1, "call-id": "call-7"} in rows
    assert len(rows) == len(JUDGMENTS)
    qrels = [json.loads(line) for line in (tmp_path / "out/qrels.jsonl").read_bytes().split(b"\n")[:-1]]
    assert qrels[0] == {"query-id": "q1", "corpus-id": "d1", "score": 2}


def test_trec_eval_and_ndeval_score_from_the_exported_files(data, tmp_path):
    judgments = [j for j in JUDGMENTS if j.doc_id != '"d 4"']  # both split on white space
    plain = dataset(tmp_path / "plain", [d for d in DOCUMENTS if " " not in d.doc_id], judgments=judgments)
    trec.export(plain, tmp_path / "out")
    run = {"q1": {"d3": 3.0, "d2": 2.0, "d1": 1.0}, "q2": {"d3": 1.0}}

    with (tmp_path / "out/qrels.txt").open() as file:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), {"recip_rank", "recall.2"})
    scores = evaluator.evaluate(run)
    # q1: d3 supports nothing, d2 at rank 2 is the first relevant one, and of d1 and d2 the top 2 holds one.
    assert (scores["q1"]["recip_rank"], scores["q1"]["recall_2"]) == (0.5, 0.5)
    assert (scores["q2"]["recip_rank"], scores["q2"]["recall_2"]) == (1.0, 1.0)

    lines = (tmp_path / "out/diversity.qrels").read_text().splitlines()
    fields = [line.split() for line in lines]
    qrels = [pyndeval.SubtopicQrel(q, nugget, doc, int(score)) for q, nugget, doc, score in fields]
    found = pyndeval.ndeval(
        qrels,
        [pyndeval.ScoredDoc(q, doc, score) for q, documents in run.items() for doc, score in documents.items()],
        measures=["strec@5", "strec@10", "P-IA@5"],
    )
    # q1 has two nuggets, both supported within the top 5; P-IA@5: z by one document, a by two, so (1/5 + 2/5) / 2.
    assert found["q1"]["strec@5"] == 1.0
    assert found["q1"]["P-IA@5"] == pytest.approx(0.3)
    assert found["q2"]["P-IA@5"] == pytest.approx(0.2)


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_says_what_it_was_made_of_and_whose_the_texts_are(tmp_path, name):
    source = Source(url="https://example.org/dump", name="<b>Posts</b>.xml", license="CC BY-SA 4.0", counts={"rows": 9})
    made = dataset(tmp_path / "data", license="CC-BY-SA-4.0 <i>", sources=[source])
    EXPORTS[name](made, tmp_path / "out")
    note = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert f"snapshot tests/exports@2024-10, fingerprint `{made.fingerprint}`.\n" in note
    assert "\nLicence of the whole: CC-BY-SA-4.0 &lt;i&gt;. Author, address and licence of " in note
    assert note.endswith(
        "\n\n## Sources\n\n- &lt;b&gt;Posts&lt;/b&gt;.xml: <https://example.org/dump>, licence CC BY-SA 4.0, 9 rows\n"
    )


def test_the_lines_hold_author_address_and_licence_where_the_notes_say_so(tmp_path):
    whose = {"url": "https://example.org/7", "author": "Ada", "license": "CC BY-SA 4.0"}
    made = dataset(
        tmp_path / "data", [replace(d, metadata=whose) for d in DOCUMENTS], [replace(q, **whose) for q in QUERIES]
    )
    for name, export in EXPORTS.items():
        export(made, tmp_path / name)

    def first(path):
        row = json.loads((tmp_path / path).read_bytes().split(b"\n")[0])
        return {key: value for key, value in (row | row.get("metadata", {})).items() if key in whose}

    for path in (
        "beir/corpus.jsonl",
        "beir/queries.jsonl",
        "jsonl/corpus.jsonl",
        "jsonl/queries.jsonl",
        "trec/corpus.jsonl",
    ):
        assert first(path) == whose, path
    assert "Ada" not in (tmp_path / "trec/topics.tsv").read_text()
    assert "`topics.tsv` has no place for those of the questions" in (tmp_path / "trec/README.md").read_text()


def loaded(folder, name, cache):
    """What the datasets library reads, from files alone; its own files lie in the cache folder."""
    return datasets.load_dataset(str(folder), name, cache_dir=str(cache))


def late(tmp_path):
    """A dataset whose first 11 MB say nothing in columns that later rows fill: the library reads 10 MB at a time."""
    documents = [Document(f"d{i:05}", "", "word " * 2_000) for i in range(1_100)]
    documents.append(Document("e", "", "x", {"url": "https://example.org/e", "score": 3}))
    judgments = [Judgment("q1", "z", "e", 1), Judgment("q1", "a", "e", 0), Judgment("q2", "m", "e", 1, "call-7")]
    return dataset(tmp_path / "late", documents, judgments=judgments)


@pytest.mark.parametrize("name", ["beir", "jsonl"])
def test_the_datasets_library_reads_the_corpus_and_the_queries_of_an_export(tmp_path, name):
    EXPORTS[name](late(tmp_path), tmp_path / "out")
    corpus = loaded(tmp_path / "out", "corpus", tmp_path / "cache")["corpus"]
    assert len(corpus) == 1_101
    assert corpus[0]["_id"] == "d00000"
    assert corpus[0]["metadata"]["url"] is None
    assert corpus[1_100]["metadata"]["url"] == "https://example.org/e"
    assert corpus[1_100]["metadata"]["score"] == 3
    (queries,) = loaded(tmp_path / "out", "queries", tmp_path / "cache").values()
    assert queries["_id"] == ["q1", "q2"]
    assert queries["text"] == [q.text for q in QUERIES]
    first = queries[0] if name == "jsonl" else queries[0]["metadata"]
    assert (first["title"], first["tags"], first["score"], first["license"]) == ("How?", ["grind", "burr"], -2, None)


def test_the_datasets_library_reads_every_table_of_json_lines(data, tmp_path):
    jsonl.export(data, tmp_path / "out")
    rows = {name: loaded(tmp_path / "out", name, tmp_path / "cache")[t.split].to_list() for name, t in TABLES.items()}
    assert {name: len(found) for name, found in rows.items()} == {
        "corpus": 4,
        "queries": 2,
        "nuggets": 3,
        "nugget_qrels": 7,
        "qrels": 5,
    }
    assert rows["qrels"][0] == {"query-id": "q1", "corpus-id": "d1", "score": 2}
    assert {"query-id": "q1", "nugget-id": "a", "corpus-id": "d2", "score": 1, "call-id": "call-7"} in rows[
        "nugget_qrels"
    ]


def test_trec_files_of_a_judgment_without_its_nugget_are_refused(data, tmp_path):
    other = Dataset.from_nugget_qrels([("q1", "z", "d1", 1), ("q2", "m", "d3", 1)])
    message = "a judgment of nugget 'a' of query 'q1', expected a nugget of that query, got none of that id; freshstack verify"
    with pytest.raises(SnapshotError, match=message):
        trec.export(replace(data, nuggets=other.nuggets), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_never_overwrites(data, tmp_path, name):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(InputError, match="one that holds files"):
        EXPORTS[name](data, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("name", EXPORTS)
def test_a_dataset_without_documents_is_refused_and_leaves_nothing(tmp_path, name):
    scoring = Dataset.from_nugget_qrels([("q", "n", "d", 1)])
    with pytest.raises(SnapshotError, match="no documents"):
        EXPORTS[name](scoring, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


IDS = st.one_of(
    st.text(st.sampled_from(" \u00a0%#\"'\\,\u2028\x85\x0b\x0c\x1c\ufeffé日1a"), min_size=1, max_size=6),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=6),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(
    docs=st.dictionaries(IDS, st.tuples(TEXTS, TEXTS), min_size=1, max_size=4),
    questions=st.dictionaries(IDS, TEXTS, min_size=1, max_size=3),
)
@settings(max_examples=40, deadline=None)
def test_any_ids_and_texts_come_back_from_the_exports(tmp_path_factory, docs, questions):
    folder = tmp_path_factory.mktemp("any")
    judged = dataset(
        folder / "data",
        [Document(doc_id, title, text) for doc_id, (title, text) in docs.items()],
        [Query(query_id, text) for query_id, text in questions.items()],
        [Nugget(f"n{i}", query_id, 0, "fact") for i, query_id in enumerate(questions)],
        [Judgment(q, f"n{i}", d, i % 2) for i, q in enumerate(questions) for d in docs],
    )
    qrels = {q: dict.fromkeys(docs, i % 2) for i, q in enumerate(questions)}
    beir.export(judged, folder / "beir")
    assert beir_reader(folder / "beir") == (
        {doc_id: {"title": title, "text": text} for doc_id, (title, text) in docs.items()},
        dict(questions),
        qrels,
    )
    trec.export(judged, folder / "trec")
    for file, second in (("qrels.txt", "0"), ("diversity.qrels", "1")):
        rows = [line.split("\t") for line in (folder / "trec" / file).read_bytes().decode().split("\n")[:-1]]
        assert {(q, middle, d): int(score) for q, middle, d, score in rows} == {
            (q, second, d): score for q, documents in qrels.items() for d, score in documents.items()
        }
    topics = [line.split("\t") for line in (folder / "trec/topics.tsv").read_bytes().decode().split("\n")[:-1]]
    assert dict(topics) == {q: " ".join(t.split()) for q, t in questions.items()}
    jsonl.export(judged, folder / "jsonl")
    for path in (folder / "jsonl").glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
        assert len(rows) == {"corpus": len(docs), "queries": len(questions), "nuggets": len(questions)}.get(
            path.stem, len(docs) * len(questions)
        )
