"""One run, scored by every library that people use: everywhere the same values."""

import json
import random
from pathlib import Path

import pytest

import freshstack_datasets as fsd

MEASURES = ("alpha_nDCG@10", "Coverage@20", "Recall@50", "nDCG@10")
EXACT = 1e-9
ON_DISK = 5.1e-7  # MTEB rounds to six decimals


def with_spaces(folder: Path) -> fsd.Dataset:
    """A random dataset whose ids hold spaces and letters beyond ASCII; every nugget is supported, as ndeval assumes."""
    dice = random.Random(7)
    documents = [
        fsd.Document(f"docs/a file {i}.md #{i} ü%20", f"File {i}" if i % 3 else "", f"words {i}") for i in range(120)
    ]
    queries, nuggets, judgments = [], [], []
    for q in range(25):
        query_id = f"question {q} ä"
        queries.append(fsd.Query(query_id, f"How about {q}?"))
        near = dice.sample(documents, 30)
        for n in range(dice.randint(1, 5)):
            nugget_id = f"nugget {n} of {q}"
            nuggets.append(fsd.Nugget(nugget_id, query_id, n, f"fact {n}"))
            judged = dice.sample(near, dice.randint(2, 12))
            scores = [1] + [int(dice.random() < 0.4) for _ in judged[1:]]
            judgments += [
                fsd.Judgment(query_id, nugget_id, document.doc_id, score)
                for document, score in zip(judged, scores, strict=True)
            ]
    fsd.write_snapshot(
        folder, dataset="acme/spaces", snapshot="2026-10", license="CC0-1.0",
        documents=documents, queries=queries, nuggets=nuggets, judgments=judgments,
    )  # fmt: skip
    return fsd.load(folder)


def without_ties(run: fsd.Run) -> fsd.Run:
    """The same ranking with the scores 1000, 999, …: libraries that break ties otherwise, or keep scores in single
    precision, then have the same ranking as we do."""
    ranked = {q: {d: 1000.0 - place for place, d in enumerate(found)} for q, found in run.to_dict().items()}
    return fsd.Run.from_dict(ranked, name=run.name)


@pytest.fixture(scope="module", params=["nimbus", "spaces"])
def case(request, tmp_path_factory):
    """A dataset and a run on it."""
    if request.param == "nimbus":
        data = fsd.load("nimbus")
        run = fsd.BM25().index(data.corpus).search(data.queries, k=100)
    else:
        data = with_spaces(tmp_path_factory.mktemp("spaces") / "snapshot")
        dice = random.Random(11)
        doc_ids = list(data.corpus.ids)
        found = {query.query_id: dice.sample(doc_ids, dice.randint(1, 90)) for query in data.queries}
        del found[dice.choice(list(found))]  # a query that the run lacks counts 0 everywhere
        run = fsd.Run.from_dict({q: {d: float(-i) for i, d in enumerate(ids)} for q, ids in found.items()}, "drawn")
    return data, without_ties(run)


@pytest.fixture(scope="module")
def ours(case):
    data, run = case
    return fsd.evaluate(run, data, measures=MEASURES, intervals=False)


def assert_same(per_query: dict[str, float], ours: fsd.Result, measure: str) -> None:
    """Queries that a library leaves out, because the run lacks them, must be those that count 0 here."""
    expected = dict(ours.per_query[measure])
    assert per_query.keys() <= expected.keys()
    assert {q: v for q, v in expected.items() if q not in per_query and v} == {}
    assert per_query == pytest.approx({q: expected[q] for q in per_query}, abs=EXACT)


def in_ir_measures(names=MEASURES):
    import ir_measures

    fsd.adapters.ir_measures.install()
    spelled = {"Recall@50": "R@50"}
    return {name: ir_measures.parse_measure(spelled.get(name, name)) for name in names}


def scored_by_ir_measures(qrels, run, names):
    import ir_measures

    measures = in_ir_measures(names)
    found: dict[str, dict[str, float]] = {name: {} for name in names}
    back = {measure: name for name, measure in measures.items()}
    for metric in ir_measures.iter_calc(list(measures.values()), qrels, run.to_dict()):
        found[back[metric.measure]][metric.query_id] = metric.value
    return found


def register_with_ir_datasets(data: fsd.Dataset) -> None:
    if data.name == "freshstack/nimbus":
        fsd.adapters.ir_datasets.register()
    else:
        fsd.adapters.ir_datasets.register(data, data.name)


NUGGETS = ("alpha_nDCG@10", "Coverage@20", "Recall@50")


def test_ir_measures_through_the_provider(case, ours):
    data, run = case
    for name, per_query in scored_by_ir_measures(fsd.adapters.ir_measures.qrels(data), run, NUGGETS).items():
        assert per_query.keys() == set(data.qrels)
        assert_same(per_query, ours, name)


def test_ir_measures_over_the_judgments_of_ir_datasets(case, ours):
    import ir_datasets

    data, run = case
    register_with_ir_datasets(data)
    qrels = list(ir_datasets.load(data.name).qrels_iter())
    for measure, per_query in scored_by_ir_measures(qrels, run, NUGGETS).items():
        assert_same(per_query, ours, measure)


def test_ir_measures_over_numbers_of_nuggets(case, ours):
    data, run = case
    for measure, per_query in scored_by_ir_measures(dict(data.qrels), run, ("nDCG@10", "Recall@50")).items():
        assert_same(per_query, ours, measure)


def test_mteb_with_the_run_replayed(case, ours, tmp_path):
    import mteb

    data, run = case
    task = fsd.adapters.mteb.task(data)
    mteb.evaluate(
        fsd.adapters.mteb.replay(run), task, cache=mteb.ResultCache(tmp_path / "results"),
        prediction_folder=tmp_path / "predictions", show_progress_bar=False,
    )  # fmt: skip
    (file,) = (tmp_path / "results").rglob(f"{task.metadata.name}.json")
    (scores,) = json.loads(file.read_text(encoding="utf-8"))["scores"]["test"]
    keys = ("alpha_ndcg_at_10", "coverage_at_20", "recall_at_50", "ndcg_at_10")
    for measure, key in zip(MEASURES, keys, strict=True):
        assert scores[key] == pytest.approx(ours.mean[measure], abs=ON_DISK)
    assert scores["main_score"] == scores["alpha_ndcg_at_10"]
    (stored,) = (tmp_path / "predictions").rglob("*_predictions.json")
    again = fsd.evaluate(fsd.adapters.mteb.read_predictions(stored), data, measures=MEASURES, intervals=False)
    for measure in MEASURES:
        assert dict(again.per_query[measure]) == dict(ours.per_query[measure])


def test_the_experiment_of_pyterrier(case, ours):
    import pyterrier as pt

    data, run = case
    if data.name == "freshstack/nimbus":
        dataset = pt.get_dataset("freshstack:nimbus")
        topics, qrels = dataset.get_topics(), dataset.get_qrels()
    else:  # it is in no catalog; frames are what Experiment takes of any dataset
        topics, qrels = fsd.adapters.pandas.queries(data), fsd.adapters.pandas.nuggets(data)
    measures = in_ir_measures(NUGGETS)
    frame = pt.Experiment(
        [pt.Transformer.from_df(fsd.adapters.pandas.run(run))],
        topics,
        qrels,
        list(measures.values()),
        names=["run"],
        perquery=True,
    )
    for name, measure in measures.items():
        rows = frame[frame["measure"] == str(measure)]
        assert_same(dict(zip(rows["qid"], rows["value"], strict=True)), ours, name)


def test_pytrec_eval_on_recall(case, ours):
    import pytrec_eval

    data, run = case
    found = pytrec_eval.RelevanceEvaluator(dict(data.qrels), {"recall.50", "ndcg_cut.10"}).evaluate(run.to_dict())
    assert_same({q: values["recall_50"] for q, values in found.items()}, ours, "Recall@50")
    assert_same({q: values["ndcg_cut_10"] for q, values in found.items()}, ours, "nDCG@10")


def test_pyndeval_on_alpha_ndcg(case, ours):
    import pyndeval

    data, run = case
    numbers = {q.query_id: str(i) for i, q in enumerate(data.queries)}  # it wants ids without spaces
    qrels = [
        pyndeval.SubtopicQrel(numbers[j.query_id], f"{numbers[j.query_id]}/{j.nugget_id}", j.doc_id, j.score)
        for j in data.judgments
    ]
    scored = [pyndeval.ScoredDoc(numbers[q], d, s) for q, found in run.to_dict().items() for d, s in found.items()]
    found = pyndeval.ndeval(qrels, scored, measures=["alpha-nDCG@10"])
    back = {number: query_id for query_id, number in numbers.items()}
    assert_same({back[n]: values["alpha-nDCG@10"] for n, values in found.items()}, ours, "alpha_nDCG@10")
