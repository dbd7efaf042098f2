"""The converted originals against the published loader and scorer, and where those two are known to go wrong."""

import random
import warnings
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from freshstack_datasets.evaluation import Result, evaluate
from freshstack_datasets.layouts.oct_2024 import convert
from freshstack_datasets.loading import load
from tests.originals import Row, document, nugget, query, write_corpus, write_queries

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import datasets
    from freshstack.datasets import DataLoader, data_loader
    from freshstack.retrieval.evaluation import EvaluateRetrieval

MEASURES = ("alpha_nDCG@10", "Coverage@20", "Recall@50")
Run = dict[str, dict[str, float]]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write originals, and let the published loader read these files instead of the Hub's."""

    def read(repository: str, topic: str, **options: object) -> dict[str, datasets.Dataset]:
        split = {"corpus": "train", "queries": "test"}[Path(repository).stem]
        return {split: datasets.Dataset(pq.read_table(repository))}

    monkeypatch.setattr(data_loader, "load_dataset", read)

    def written(documents: list[Row], rows: list[Row]) -> Path:
        write_corpus(tmp_path / "corpus.parquet", documents)
        write_queries(tmp_path / "queries.parquet", rows)
        return tmp_path

    return written


def loader_of(folder: Path) -> DataLoader:
    loader = DataLoader(str(folder / "queries.parquet"), str(folder / "corpus.parquet"), topic="toy")
    loader.load()  # load_qrels fails without
    return loader


def theirs_of(folder: Path, run: Run) -> list[float]:
    qrels_nuggets, qrels_query, query_to_nuggets = loader_of(folder).load_qrels()
    found = EvaluateRetrieval([10, 20, 50]).evaluate(qrels_nuggets, query_to_nuggets, qrels_query, run)
    return [values[name] for values, name in zip(found, ("alpha-nDCG@10", "Coverage@20", "Recall@50"), strict=True)]


def ours_of(folder: Path, run: Run) -> Result:
    convert([folder / "corpus.parquet"], [folder / "queries.parquet"], folder / "out", dataset="a/b")
    return evaluate(run, load(folder / "out"), MEASURES, intervals=False)


def values(result: Result) -> list[float]:
    return [result.mean[name] for name in MEASURES]


def drawn(seed: int) -> tuple[list[Row], list[Row], Run]:
    """Draw originals without a trap, and a run; every nugget is supported and every query ranked.

    Ids of queries have one length and no underscore, so that none begins another. A tenth of the judged documents are
    not in the corpus, and lists repeat documents: neither matters to the published code.
    """
    dice = random.Random(seed)
    names = [f"r/file {i}.py_{i}_{i + 9}" for i in range(120)]
    documents = [document(name, f"text of {name}", url="u") for name in names if dice.random() < 0.9]
    rows, run = [], {}
    for number in range(25):
        query_id, nuggets = str(7_000_000 + number), []
        for place in range(dice.randint(1, 5)):
            judged = dice.sample(names, dice.randint(1, 15))
            relevant = judged[: dice.randint(1, len(judged))]
            other = judged[len(relevant) :]
            nuggets.append(nugget(f"{query_id}_{place}", [*relevant, relevant[0]], other))
        rows.append(query(query_id, *nuggets))
        ranked = dice.sample(names, dice.randint(1, 70))
        run[query_id] = dict(zip(ranked, map(float, dice.sample(range(1000), len(ranked))), strict=True))
    return documents, rows, run


@pytest.mark.parametrize("seed", range(12))
def test_scores_are_those_of_the_published_code_to_its_rounding(files, seed):
    documents, rows, run = drawn(seed)
    folder = files(documents, rows)
    theirs = theirs_of(folder, run)
    assert values(ours_of(folder, run)) == pytest.approx(theirs, abs=5.6e-5)
    assert min(theirs) > 0


def test_texts_and_documents_are_those_of_the_published_loader(files):
    documents, rows, _ = drawn(99)
    rows[0] |= {"query_title": "Why?", "query_text": " It fails.\n"}
    folder = files(documents, rows)
    corpus, queries, nuggets = loader_of(folder).load()
    convert([folder / "corpus.parquet"], [folder / "queries.parquet"], folder / "out", dataset="a/b")
    data = load(folder / "out")
    assert {found.query_id: found.text for found in data.queries} == queries
    assert {found.nugget_id: found.text for found in data.nuggets} == nuggets
    assert {found.doc_id: found.text for found in data.corpus} == {doc_id: c["text"] for doc_id, c in corpus.items()}


THREE = [document(doc_id) for doc_id in ("a", "b", "c")]


def test_a_document_in_both_lists_supports_its_nugget(files):
    # a is listed as relevant first and as not relevant after. Theirs ends as 0, so that nothing supports the nugget.
    folder = files(THREE, [query("q", nugget("q_0", ["a"], ["a", "b"]))])
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert theirs_of(folder, run)[1:] == [0.0, 0.0]
    assert values(ours_of(folder, run)) == [1.0, 1.0, 1.0]  # the one relevant document is first


def test_a_query_does_not_take_the_nuggets_of_one_whose_id_it_begins(files):
    # Query 1 has the nugget 1_0, supported by a, and 12 has 12_0, supported by b. Theirs gives 12_0 to query 1 too,
    # whose run covers one nugget of two then and finds one document of two: means of 0.75.
    folder = files(THREE, [query("1", nugget("1_0", ["a"])), query("12", nugget("12_0", ["b"]))])
    run = {"1": {"a": 1.0}, "12": {"b": 1.0}}
    assert theirs_of(folder, run)[1:] == [0.75, 0.75]
    assert values(ours_of(folder, run)) == [1.0, 1.0, 1.0]


def test_a_query_whose_id_has_an_underscore_keeps_its_nuggets(files):
    # Theirs takes what stands before the first underscore of a nugget's id for the query's id.
    folder = files(THREE, [query("x_y", nugget("x_y_0", ["a"])), query("z", nugget("odd", ["b"], ["c"]))])
    assert set(loader_of(folder).load_qrels()[1]) == {"x", "odd"}
    result = ours_of(folder, {"x_y": {"a": 1.0}, "z": {"c": 2.0, "b": 1.0}})
    # z: b is second, so its gain of 1 is discounted by log2(3).
    assert result.per_query["alpha_nDCG@10"] == pytest.approx({"x_y": 1.0, "z": 0.6309297535714575}, abs=1e-12)
    assert values(result)[1:] == [1.0, 1.0]


def test_a_document_that_the_corpus_lacks_counts_among_the_relevant_ones_for_both(files):
    # Two relevant documents, one of which no retriever can find: half of them, and one nugget of two.
    folder = files(THREE, [query("q", nugget("q_0", ["a"]), nugget("q_1", ["gone"]))])
    run = {"q": {"a": 1.0}}
    assert theirs_of(folder, run)[1:] == [0.5, 0.5]
    result = ours_of(folder, run)
    assert values(result)[1:] == [0.5, 0.5]
    # alpha-nDCG: 1 found of an ideal of 1 + 1 / log2(3)
    assert result.mean["alpha_nDCG@10"] == pytest.approx(0.6131471927654584, abs=1e-12)
    assert load(folder / "out").manifest.missing == ("gone",)


def test_a_nugget_without_any_judged_document_no_longer_counts(files):
    # Theirs counts it among the nuggets to be covered, which nothing can; a snapshot has no such nuggets.
    folder = files(THREE, [query("q", nugget("q_0", ["a"]), nugget("q_1", []))])
    run = {"q": {"a": 1.0}}
    assert theirs_of(folder, run)[1] == 0.5
    assert values(ours_of(folder, run)) == [1.0, 1.0, 1.0]
