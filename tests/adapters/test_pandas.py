"""Frames, as PyTerrier and ir_measures take them."""

import sys

import ir_measures
import pandas
import pyndeval
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import freshstack_datasets as fsd
from freshstack_datasets.adapters import pandas as adapter
from freshstack_datasets.errors import MissingExtraError, RunError, SnapshotError

DATA = fsd.Dataset.from_nugget_qrels(
    [
        ("a query", "n ü", "doc 1", 1),
        ("b", "n ü", "doc 1", 0),
        ("a query", "m#", "doc 1", 0),
        ("b", "n ü", "d%20", 1),
        ("a query", "m#", "d2", 1),
    ]
)

RUN = fsd.Run.from_dict({"b": {"d2": 0.5, "doc 1": 1.5}, "a query": {"d%20": 1.0, "é": 1.0}, "empty": {}})


def rows(frame):
    return [tuple(row) for row in frame.itertuples(index=False)]


# Runs


def test_a_run_is_a_frame_with_ranks_from_0():
    frame = adapter.run(RUN)
    assert list(frame.columns) == ["qid", "docno", "score", "rank"]
    assert rows(frame) == [
        ("b", "doc 1", 1.5, 0),
        ("b", "d2", 0.5, 1),
        ("a query", "é", 1.0, 0),  # of one score, the larger id first
        ("a query", "d%20", 1.0, 1),
    ]
    assert [str(kind) for kind in frame.dtypes] == ["object", "object", "float64", "int64"]


def test_a_frame_can_be_changed_without_changing_the_run():
    frame = adapter.run(RUN)
    frame["score"] += 1.0
    frame.loc[0, "score"] = 9.0
    assert RUN["b"] == {"doc 1": 1.5, "d2": 0.5}


def test_a_mapping_is_a_run():
    assert rows(adapter.run({"q": {"d": 1}})) == [("q", "d", 1.0, 0)]


def test_a_run_of_nothing_is_an_empty_frame_with_the_same_types():
    frame = adapter.run({})
    assert list(frame.columns) == ["qid", "docno", "score", "rank"]
    assert [str(kind) for kind in frame.dtypes] == ["object", "object", "float64", "int64"]
    assert adapter.read(frame) == fsd.Run.from_dict({})


IDS = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=8)
SCORES = st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(IDS, st.dictionaries(IDS, SCORES, max_size=8), max_size=5))
def test_a_run_comes_back_from_its_frame(run):
    frame = adapter.run(run)
    assert adapter.read(frame) == fsd.Run.from_dict(run)
    assert adapter.read(frame.sample(frac=1, random_state=0)) == fsd.Run.from_dict(run)
    assert adapter.read(frame.astype({"qid": "string", "docno": "string"})) == fsd.Run.from_dict(run)


def test_other_columns_are_ignored_and_scores_may_be_of_any_kind_of_number():
    frame = pandas.DataFrame(
        {"query": ["x", "x"], "score": [2, 3], "docno": ["a", "b"], "qid": ["q", "q"], "rank": [0, 1]}
    )
    assert adapter.read(frame).to_dict() == {"q": {"b": 3.0, "a": 2.0}}
    assert adapter.read(frame.astype({"score": "float32"})).to_dict() == {"q": {"b": 3.0, "a": 2.0}}


FRAME = pandas.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0]})
COLUMNS = "a run, expected a frame with the columns qid, docno, score, each once, got "


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (FRAME.assign(qid=7), "query id, expected a non-empty string without tab or line break, got 7 (int)"),
        (FRAME.assign(docno=7), "query 'q': document id, expected a non-empty string without tab or line break, got 7"),
        (FRAME.assign(docno=["a", None]), "query 'q': document id, expected a non-empty string"),
        (FRAME.assign(score=[1.0, None]), "query 'q', document 'b': score, expected a finite number, got nan (float)"),
        (FRAME.assign(score=["1", "2"]), "query 'q', document 'a': score, expected a finite number, got '1' (str)"),
        (
            FRAME.assign(score=pandas.Series([1, None], dtype="Int64")),
            "query 'q', document 'b': score, expected a finite number, got <NA> (NAType)",
        ),
        (FRAME.assign(docno="a"), "query 'q', document 'a', expected it once, got it twice"),
        (FRAME.drop(columns="docno"), COLUMNS + "'columns qid, score'"),
        (pandas.concat([FRAME, FRAME[["score"]]], axis=1), COLUMNS + "'columns qid, docno, score, score'"),
        (FRAME["score"], COLUMNS),
        (pandas.DataFrame, COLUMNS),
        ("run.trec", COLUMNS + "\"'run.trec' (str)\""),
    ],
)
def test_a_frame_that_no_ranking_can_be_made_of_is_refused(frame, told):
    with pytest.raises(RunError) as error:
        adapter.read(frame)
    assert str(error.value).startswith(told)


def test_a_frame_that_was_not_read_first_is_refused_with_the_way_to_read_it(nimbus):
    with pytest.raises(RunError, match=r"got pandas\.DataFrame; read it with adapters\.pandas\.read$"):
        fsd.evaluate(pandas.DataFrame({"qid": ["q"], "docno": ["a"], "score": [1.0]}), nimbus)


def test_numbers_for_ids_are_refused_with_the_way_to_make_texts_of_them():
    frame = pandas.DataFrame({"qid": [76, 76], "docno": ["a", "b"], "score": [2.0, 1.0]})
    with pytest.raises(RunError, match=r'got 76 \(int\); make texts of the ids with frame\.astype\(\{"qid": str\}\)$'):
        adapter.read(frame)
    assert adapter.read(frame.astype({"qid": str})).to_dict() == {"76": {"a": 2.0, "b": 1.0}}
    with pytest.raises(RunError, match=r'frame\.astype\(\{"qid": str, "docno": str\}\)$'):
        adapter.read(frame.assign(docno=[1, 2]))


# Judgments


def test_labels_are_numbers_of_nuggets():
    frame = adapter.qrels(DATA)
    assert list(frame.columns) == ["qid", "docno", "label"]
    assert sorted(rows(frame)) == [("a query", "d2", 1), ("a query", "doc 1", 1), ("b", "d%20", 1), ("b", "doc 1", 0)]


def test_nuggets_are_numbered_within_their_query_and_zeros_come_first():
    frame = adapter.nuggets(DATA)
    assert list(frame.columns) == ["qid", "docno", "label", "iteration"]
    assert rows(frame) == [
        ("a query", "doc 1", 0, "2"),
        ("a query", "doc 1", 1, "1"),
        ("a query", "d2", 1, "2"),
        ("b", "doc 1", 0, "1"),
        ("b", "d%20", 1, "1"),
    ]


def test_no_judgments_are_empty_frames():
    nothing = fsd.Dataset.from_nugget_qrels([])
    assert adapter.qrels(nothing).columns.tolist() == ["qid", "docno", "label"]
    assert adapter.nuggets(nothing).columns.tolist() == ["qid", "docno", "label", "iteration"]


@pytest.fixture(scope="module")
def nimbus():
    return fsd.load("nimbus")


@pytest.fixture(scope="module")
def run(nimbus):
    """A run without ties, whose scores single precision tells apart."""
    found = fsd.BM25().index(nimbus.corpus).search(nimbus.queries, k=30).to_dict()
    return fsd.Run.from_dict({q: {d: float(-i) for i, d in enumerate(ranked)} for q, ranked in found.items()})


@pytest.fixture(scope="module")
def expected(nimbus, run):
    """alpha-nDCG as ndeval computes it, Recall as trec_eval does."""
    rows = zip(*nimbus.judgments.columns("query_id", "nugget_id", "doc_id", "score"), strict=True)
    judged = [pyndeval.SubtopicQrel(q, n, d, s) for q, n, d, s in rows]
    scored = [pyndeval.ScoredDoc(q, d, s) for q, found in run.to_dict().items() for d, s in found.items()]
    ndeval = pyndeval.RelevanceEvaluator(judged, ["alpha-nDCG@10"]).evaluate(scored)
    trec = pytrec_eval.RelevanceEvaluator({q: dict(d) for q, d in nimbus.qrels.items()}, {"recall.5"}).evaluate(
        run.to_dict()
    )
    return {q: (ndeval[q]["alpha-nDCG@10"], trec[q]["recall_5"]) for q in nimbus.qrels}


def test_ir_measures_takes_the_frames_under_its_own_names(nimbus, run, expected):
    names = adapter.IR_MEASURES
    frames = adapter.nuggets(nimbus).rename(columns=names), adapter.run(run).rename(columns=names)
    measures = [ir_measures.alpha_nDCG @ 10, ir_measures.R @ 5]
    got = {(m.query_id, m.measure): m.value for m in ir_measures.iter_calc(measures, *frames)}
    for query_id, values in expected.items():
        assert [got[query_id, measure] for measure in measures] == pytest.approx(values, abs=1e-9)


def test_an_experiment_of_pyterrier_takes_the_frames_as_they_are(nimbus, run, expected):
    import pyterrier as pt

    def scored(qrels, measures):
        frame = pt.Experiment([adapter.run(run)], adapter.queries(nimbus), qrels, measures, perquery=True)
        return {(row.qid, row.measure): row.value for row in frame.itertuples()}

    got = scored(adapter.nuggets(nimbus), [ir_measures.alpha_nDCG @ 10])
    got |= scored(adapter.qrels(nimbus), [ir_measures.R @ 5])
    for query_id, values in expected.items():
        assert [got[query_id, name] for name in ("alpha_nDCG@10", "R@5")] == pytest.approx(values, abs=1e-9)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # PyTerrier's, with pandas 3.1
def test_ranks_are_those_of_pyterrier(run):
    import pyterrier as pt

    frame = adapter.run(run)
    assert pt.model.add_ranks(frame.drop(columns="rank"))["rank"].tolist() == frame["rank"].tolist()


# Texts


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pandas") / "snapshot"
    fsd.write_snapshot(
        folder,
        dataset="acme/manual",
        snapshot="2026-10",
        license="CC0-1.0",
        documents=[
            fsd.Document("a file.md #1", "Grüße", "Text\nof two lines", {"url": "https://example.org", "score": 7}),
            fsd.Document("ü%20", "", "", {}),
        ],
        queries=[fsd.Query("a question", "How?", tags=("x", "y"), score=-2), fsd.Query("b", "nan", title="Why")],
        nuggets=[fsd.Nugget("n", "a question", 0, "so"), fsd.Nugget("m", "b", 0, "because")],
        judgments=[fsd.Judgment("a question", "n", "ü%20", 1), fsd.Judgment("b", "m", "ü%20", 1)],
    )
    return fsd.load(folder)


def test_queries_are_a_frame_of_all_that_is_known(texts):
    frame = adapter.queries(texts)
    assert frame.columns.tolist()[:3] == ["qid", "query", "title"]
    assert {name: frame[name].tolist() for name in frame} == {
        "qid": ["a question", "b"],
        "query": ["How?", "nan"],
        "title": [None, "Why"],
        "tags": [["x", "y"], None],
        "votes": [-2, pandas.NA],
        **{name: [None, None] for name in ("body", "answer_id", "answer_text", "date", "url", "author")},
        **{name: [None, None] for name in ("license", "language", "type", "difficulty")},
    }


def test_documents_are_a_frame_of_all_that_is_known(texts):
    frame = adapter.documents(texts)
    assert frame.columns.tolist()[:4] == ["docno", "title", "text", "url"]
    assert {name: frame[name].tolist() for name in frame} == {
        "docno": ["a file.md #1", "ü%20"],
        "title": ["Grüße", ""],
        "text": ["Text\nof two lines", ""],
        "url": ["https://example.org", None],
        "votes": [7, pandas.NA],
        **{name: [None, None] for name in ("repository", "path", "commit", "license", "author", "date")},
        **{name: [pandas.NA] * 2 for name in ("start_char", "end_char", "start_byte", "end_byte", "tokens")},
    }


def test_all_documents_and_queries_are_there(nimbus):
    assert adapter.documents(nimbus)["docno"].tolist() == list(nimbus.corpus.ids)
    assert adapter.queries(nimbus)["qid"].tolist() == [query.query_id for query in nimbus.queries]


def test_a_dataset_without_documents_says_so():
    with pytest.raises(SnapshotError, match="has no documents"):
        adapter.documents(DATA)


def test_a_missing_library_is_one_line_with_its_extra(texts, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for make, source in [
        (adapter.run, RUN),
        *((f, texts) for f in (adapter.qrels, adapter.nuggets, adapter.queries, adapter.documents)),
    ]:
        with pytest.raises(MissingExtraError, match=r"pandas is not installed; pip install .*\[hf\]"):
            make(source)
