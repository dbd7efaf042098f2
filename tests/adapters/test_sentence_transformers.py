"""The evaluator of sentence-transformers with our measures, held against runs made by hand."""

import csv
import logging
import pickle
import sys

import numpy as np
import pyndeval
import pytest
import pytrec_eval

import freshstack_datasets as fsd
from freshstack_datasets.adapters import sentence_transformers as ours
from freshstack_datasets.errors import InputError, MeasureError, MissingExtraError, RunError, SnapshotError
from tests.adapters.dense_by_hand import cosines, excerpt, model_folder

NAME = "freshstack-nimbus-2026-11"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return excerpt(tmp_path_factory.mktemp("snapshots") / "nimbus")


@pytest.fixture(scope="module")
def minilm():
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(model_folder(), local_files_only=True)


def small(similarity="cosine"):
    """A model of random word vectors, which encodes in no time and comes with no card."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from transformers import AutoTokenizer

    torch.manual_seed(7)
    words = StaticEmbedding(AutoTokenizer.from_pretrained(model_folder()), embedding_dim=16)
    model = SentenceTransformer(modules=[words], device="cpu", similarity_fn_name=similarity)
    model.model_card_data.local_files_only = True
    return model


@pytest.fixture(scope="module")
def model():
    return small()


def tiny(folder, documents, judged, queries=("q 1", "q2")):
    """A dataset with one nugget a query, of document id to text and (query, document) to score."""
    fsd.write_snapshot(
        folder,
        dataset="tests/tiny",
        snapshot="2026-10",
        license="CC0-1.0",
        documents=[fsd.Document(doc_id, "", text) for doc_id, text in documents.items()],
        queries=[fsd.Query(query_id, f"words of {query_id}") for query_id in queries],
        nuggets=[fsd.Nugget(f"n{query_id}", query_id, 0, "fact") for query_id in queries],
        judgments=[fsd.Judgment(q, f"n{q}", doc_id, score) for (q, doc_id), score in judged.items()],
    )
    return fsd.load(folder)


def test_the_values_are_those_of_a_dense_run_made_by_hand(minilm, data):
    evaluator = ours.evaluator(data)
    found = evaluator(minilm)
    run = cosines(minilm, data)
    expected = fsd.evaluate(run, data, intervals=False).mean
    assert found[f"{NAME}_cosine_alpha_ndcg@10"] == pytest.approx(expected["alpha_nDCG@10"], abs=1e-9)
    assert found[f"{NAME}_cosine_coverage@20"] == pytest.approx(expected["Coverage@20"], abs=1e-9)
    assert found[f"{NAME}_cosine_recall@50"] == pytest.approx(expected["Recall@50"], abs=1e-9)
    assert evaluator.primary_metric == f"{NAME}_cosine_alpha_ndcg@10"
    assert all(type(value) is float for value in found.values())

    # the same from pyndeval and pytrec_eval; its map ends at the depth of the search, which holds the whole corpus
    numbers = {nugget.nugget_id: str(nugget.position) for nugget in data.nuggets}
    qrels = [pyndeval.SubtopicQrel(j.query_id, numbers[j.nugget_id], j.doc_id, j.score) for j in data.judgments]
    scored = [pyndeval.ScoredDoc(q, d, score) for q, documents in run.items() for d, score in documents.items()]
    theirs = pyndeval.ndeval(qrels, scored, measures=["alpha-nDCG@10"])
    assert found[f"{NAME}_cosine_alpha_ndcg@10"] == pytest.approx(
        sum(values["alpha-nDCG@10"] for values in theirs.values()) / len(data.queries), abs=1e-9
    )
    names = {"P_5": "precision@5", "recall_10": "recall@10", "map_cut_100": "map@100", "success_1": "accuracy@1"}
    binary = {q: {d: int(score > 0) for d, score in documents.items()} for q, documents in data.qrels.items()}
    means = trec_eval(binary, run, {"P.5", "recall.10", "map_cut.100", "success.1", "ndcg_cut.10"})
    for theirs, name in (names | {"ndcg_cut_10": "ndcg@10"}).items():
        assert found[f"{NAME}_cosine_{name}"] == pytest.approx(means[theirs], abs=1e-9)


def trec_eval(qrels, run, measures):
    """The means of trec_eval over all queries."""
    values = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run).values()
    return {name: sum(value[name] for value in values) / len(qrels) for name in next(iter(values))}


def test_titles_and_texts_are_encoded_as_retrievers_see_them(data):
    evaluator = ours.evaluator(data)
    assert dict(zip(evaluator.corpus_ids, evaluator.corpus, strict=True)) == {
        document.doc_id: f"{document.title} {document.text}".strip() for document in data.corpus
    }
    assert dict(zip(evaluator.queries_ids, evaluator.queries, strict=True)) == {
        q.query_id: q.text for q in data.queries
    }


@pytest.mark.parametrize("chunk", [3, 1000])
def test_ties_are_ranked_by_falling_id_also_where_the_search_ends(model, tmp_path, chunk):
    import torch

    ids = ["a b", "c#1", "d%", "e", "é", "日", "f", "10", "9"]
    judged = {("q 1", "日"): 1, ("q 1", "f"): 1, ("q 1", "a b"): 1, ("q2", "é"): 1, ("q2", "9"): 1, ("q2", "10"): 0}
    data = tiny(tmp_path / "ties", dict.fromkeys(ids, "the same"), judged)
    levels = {doc_id: float(doc_id in ("f", "9")) for doc_id in ids}

    def coarse(queries, documents):
        """Two scores in all: the documents come in chunks, in the order of their ids."""
        here = list(levels)
        columns = [levels[doc_id] for doc_id in sorted(here)][coarse.seen : coarse.seen + len(documents)]
        coarse.seen += len(documents)
        return torch.tensor([columns] * len(queries))

    coarse.seen = 0
    depths = {f"{name}_at_k": [3] for name in ("mrr", "ndcg", "accuracy", "precision_recall", "map")}
    evaluator = ours.evaluator(
        data, "Recall@3 AP@3", score_functions={"coarse": coarse}, corpus_chunk_size=chunk, **depths
    )
    found = evaluator(model)
    run = dict.fromkeys(data.qrels, levels)
    means = trec_eval({q: dict(documents) for q, documents in data.qrels.items()}, run, {"recall.3", "map_cut.3"})
    # f and 9 have the higher score, f first; then 日, the largest id of all. For "q 1" these are the ranks 1 and 3 of
    # three relevant documents, for "q2" the rank 2 of two.
    assert means == pytest.approx({"recall_3": (2 / 3 + 1 / 2) / 2, "map_cut_3": ((1 + 2 / 3) / 3 + 1 / 4) / 2})
    assert found["tests-tiny-2026-10_coarse_recall@3"] == pytest.approx(means["recall_3"], abs=1e-9)
    assert found["tests-tiny-2026-10_coarse_map@3"] == pytest.approx(means["map_cut_3"], abs=1e-9)


def test_means_run_over_all_queries_and_one_query_is_enough(model, tmp_path):
    judged = {("q 1", "a"): 1, ("q 1", "b"): 0, ("q2", "a"): 0, ("q2", "b"): 0}
    two = tiny(tmp_path / "two", {"a": "words", "b": "others"}, judged)
    found = ours.evaluator(two, "Recall@10 Judged@1")(model)
    # no document is relevant for q2, which the library would leave out; for both queries all documents were judged
    assert found["tests-tiny-2026-10_cosine_recall@10"] == 0.5
    assert found["tests-tiny-2026-10_cosine_judged@1"] == 1.0
    one = tiny(tmp_path / "one", {"a": "words", "b": "others"}, {("q 1", "a"): 1}, ["q 1"])
    assert ours.evaluator(one)(model)["tests-tiny-2026-10_cosine_recall@50"] == 1.0


def test_measures_are_named_as_the_library_spells_its_own(model, data):
    measures = "nDCG@10 nDCG(gain=binary)@10 RR@10 AP@100 P@5 Success@1 Judged@7 alpha_nDCG(alpha=0.9)@30"
    evaluator = ours.evaluator(data, measures, name="dev")
    found = evaluator(model)
    expected = fsd.evaluate(cosines(model, data), data, measures, intervals=False).mean
    names = ["ndcg(gain=graded)@10", "ndcg@10", "mrr@10", "map@100", "precision@5", "accuracy@1", "judged@7"]
    for name, measure in zip([*names, "alpha_ndcg(alpha=0.9)@30"], evaluator.measures, strict=True):
        assert found[f"dev_cosine_{name}"] == pytest.approx(expected[measure], abs=1e-9)
    assert evaluator.primary_metric == "dev_cosine_ndcg(gain=graded)@10"


def test_a_deep_measure_makes_the_search_deeper(model, tmp_path):
    documents = {f"d{i:03}": f"word{i}" for i in range(150)}
    data = tiny(tmp_path / "deep", documents, {("q 1", doc_id): 1 for doc_id in documents} | {("q2", "d000"): 1})
    found = ours.evaluator(data, "Coverage@20 Recall@140", name="")(model)
    ranked = sorted((scores := cosines(model, data)["q2"]), key=scores.get, reverse=True)
    assert found["cosine_recall@140"] == pytest.approx((140 / 150 + (ranked.index("d000") < 140)) / 2)
    assert found["cosine_precision@10"] == pytest.approx((1 + (ranked.index("d000") < 10) / 10) / 2)


def test_the_primary_value_is_that_of_the_better_similarity_unless_one_is_named(model, data):
    from sentence_transformers.util import cos_sim

    both = {"cosine": cos_sim, "dot": lambda queries, documents: -cos_sim(queries, documents)}
    evaluator = ours.evaluator(data, name="x", score_functions=both)
    found = evaluator(model)
    better = max(("cosine", "dot"), key=lambda name: found[f"x_{name}_alpha_ndcg@10"])
    assert evaluator.primary_metric == f"x_{better}_alpha_ndcg@10"
    named = ours.evaluator(data, name="x", score_functions=both, main_score_function="dot")
    named(model)
    assert named.primary_metric == "x_dot_alpha_ndcg@10"


def test_an_evaluator_follows_the_similarity_of_each_model(data):
    evaluator = ours.evaluator(data, name="x")
    for similarity in ("cosine", "dot"):
        assert f"x_{similarity}_alpha_ndcg@10" in evaluator(small(similarity))
        assert evaluator.primary_metric == f"x_{similarity}_alpha_ndcg@10"


def test_each_evaluation_is_a_row_of_the_csv_file_with_our_measures(model, data, tmp_path):
    evaluator = ours.evaluator(data, "alpha_nDCG@10 Recall@50 Recall@10", write_predictions=True)
    found = [evaluator(model, str(tmp_path), epoch=1, steps=steps) for steps in (10, 20)]
    with (tmp_path / f"Information-Retrieval_evaluation_{NAME}_results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert [row["steps"] for row in rows] == ["10", "20"]
    for row, values in zip(rows, found, strict=True):
        assert None not in row  # no more values than names
        for column, name in {"alpha_ndcg@10": "alpha_ndcg@10", "recall@50": "recall@50", "MAP@100": "map@100"}.items():
            assert float(row[f"cosine-{column}"]) == values[f"{NAME}_cosine_{name}"]
    assert list(rows[0])[-2:] == ["cosine-alpha_ndcg@10", "cosine-recall@50"]  # that at 10 is one of the library's own
    assert len(list(tmp_path.glob("*_predictions_cosine.jsonl"))) == 1
    ours.evaluator(data, write_csv=False)(model, str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_the_values_are_logged(model, data, caplog):
    with caplog.at_level(logging.INFO):
        found = ours.evaluator(data)(model)
    assert f"alpha_nDCG@10: {found[f'{NAME}_cosine_alpha_ndcg@10']:.4f}" in caplog.messages


def test_the_model_card_has_the_values(data, tmp_path):
    model = small()
    found = ours.evaluator(data)(model)
    (stored,) = model.model_card_data.eval_results_dict.values()
    assert stored == found
    model.save_pretrained(str(tmp_path / "model"))
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    value = found[f"{NAME}_cosine_alpha_ndcg@10"]
    assert f"| **cosine_alpha_ndcg@10** | **{round(value, 4)}** |" in " ".join(card.split(" ")).replace("  ", "")
    assert f"* Dataset: `{NAME}`" in card
    assert "      type: information-retrieval\n      name: Information Retrieval\n" in card  # for the Hub
    assert f"- type: cosine_alpha_ndcg@10\n      value: {value}\n" in card


def test_a_model_that_was_evaluated_can_be_pickled_with_its_evaluator(data):
    model, evaluator = small(), ours.evaluator(data, name="x")
    found = evaluator(model)
    again, evaluator = pickle.loads(pickle.dumps((model, evaluator)))
    assert evaluator(again) == found


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_sparse_encoders_are_evaluated(data, tmp_path):
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding
    from transformers import AutoTokenizer

    model = SparseEncoder(modules=[SparseStaticEmbedding(AutoTokenizer.from_pretrained(model_folder()))], device="cpu")
    evaluator = ours.evaluator(data, encoder="sparse")
    found = evaluator(model, str(tmp_path))
    documents, queries = list(data.corpus), list(data.queries)
    there = model.encode([f"{d.title} {d.text}" for d in documents], convert_to_sparse_tensor=False).numpy()
    asked = model.encode([q.text for q in queries], convert_to_sparse_tensor=False).numpy()
    scores = (asked.astype(np.float64) @ there.T).tolist()
    ids = [document.doc_id for document in documents]
    run = {q.query_id: dict(zip(ids, row, strict=True)) for q, row in zip(queries, scores, strict=True)}
    expected = fsd.evaluate(run, data, intervals=False).mean
    assert evaluator.primary_metric == f"{NAME}_dot_alpha_ndcg@10"
    for name, measure in {
        "alpha_ndcg@10": "alpha_nDCG@10",
        "coverage@20": "Coverage@20",
        "recall@50": "Recall@50",
    }.items():
        assert found[f"{NAME}_dot_{name}"] == pytest.approx(expected[measure], abs=1e-9)
    (file,) = tmp_path.glob("*.csv")
    with file.open(newline="") as lines:
        (row,) = csv.DictReader(lines, strict=True)
    assert float(row["dot-alpha_ndcg@10"]) == found[f"{NAME}_dot_alpha_ndcg@10"]
    assert float(row["avg_flops"]) == found[f"{NAME}_avg_flops"]


def test_multi_vector_encoders_are_evaluated(data):
    import torch
    from sentence_transformers import MultiVectorEncoder

    torch.manual_seed(7)  # its last layer is made anew
    model = MultiVectorEncoder(model_folder(), local_files_only=True)
    evaluator = ours.evaluator(data, encoder="multi_vector")
    found = evaluator(model)
    documents, queries = list(data.corpus), list(data.queries)
    there = [rows.double() for rows in model.encode_document([f"{d.title} {d.text}".strip() for d in documents])]
    asked = [rows.double() for rows in model.encode_query([q.text for q in queries])]
    # MaxSim: for each token of the query the nearest one of the document, summed up
    run = {
        query.query_id: {
            document.doc_id: float((rows @ others.T).max(dim=1).values.sum())
            for document, others in zip(documents, there, strict=True)
        }
        for query, rows in zip(queries, asked, strict=True)
    }
    expected = fsd.evaluate(run, data, intervals=False).mean
    assert evaluator.primary_metric == f"{NAME}_maxsim_alpha_ndcg@10"
    assert found[evaluator.primary_metric] == pytest.approx(expected["alpha_nDCG@10"], abs=1e-9)
    assert found[f"{NAME}_maxsim_coverage@20"] == pytest.approx(expected["Coverage@20"], abs=1e-9)


@pytest.mark.slow
def test_the_best_model_of_a_training_is_chosen_by_alpha_ndcg(data, tmp_path):
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    model = small()
    texts = {document.doc_id: document.default_text() for document in data.corpus}
    pairs = [(q.text, texts[d]) for q in data.queries for d, score in data.qrels[q.query_id].items() if score]
    evaluator = ours.evaluator(data)
    before = evaluator(model)[evaluator.primary_metric]
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path / "out"),
            max_steps=20,
            learning_rate=0.3,
            per_device_train_batch_size=8,
            eval_strategy="steps",
            eval_steps=5,
            save_steps=5,
            load_best_model_at_end=True,
            metric_for_best_model=f"eval_{NAME}_cosine_alpha_ndcg@10",
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
            dataloader_pin_memory=False,
        ),
        train_dataset=Dataset.from_dict({"anchor": [a for a, _ in pairs], "positive": [b for _, b in pairs]}),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=evaluator,
    )
    trainer.train()
    name = f"eval_{NAME}_cosine_alpha_ndcg@10"
    values = [entry[name] for entry in trainer.state.log_history if name in entry]
    assert len(values) == 4
    assert trainer.state.best_metric == max(values) > before
    assert evaluator(model)[evaluator.primary_metric] == max(values)
    model.save_pretrained(str(tmp_path / "best"))
    card = (tmp_path / "best" / "README.md").read_text(encoding="utf-8")
    assert f"- type: cosine_alpha_ndcg@10\n      value: {max(values)}\n" in card


def test_what_cannot_be_evaluated_is_an_error(data):
    with pytest.raises(InputError, match="unknown kind of encoder 'spare'; did you mean 'sparse'"):
        ours.evaluator(data, encoder="spare")
    with pytest.raises(InputError, match=r"options of an evaluator, got .an unexpected keyword argument 'batchsize'"):
        ours.evaluator(data, batchsize=8)
    with pytest.raises(
        InputError, match=r"options of an evaluator, got .multiple values for keyword argument 'corpus'"
    ):
        ours.evaluator(data, corpus={})
    with pytest.raises(InputError, match=r"options of an evaluator, got .'euclid' is not a valid SimilarityFunction"):
        ours.evaluator(data, main_score_function="euclid")
    with pytest.raises(
        InputError, match=r"^the name of an evaluator, expected one without slashes, .*, got 'acme/toy'$"
    ):
        ours.evaluator(data, name="acme/toy")
    with pytest.raises(MeasureError, match="unknown measure"):
        ours.evaluator(data, "gain@10")
    with pytest.raises(SnapshotError, match="no documents"):
        ours.evaluator(fsd.Dataset.from_nugget_qrels([("q", "n", "d", 1)]))


def test_a_model_that_has_gone_wild_is_an_error_that_names_the_query(model, data):
    import torch

    evaluator = ours.evaluator(data, score_functions={"x": lambda a, b: torch.full((len(a), len(b)), torch.nan)})
    with pytest.raises(RunError, match=r"query '.*', document '.*'"):
        evaluator(model)


def test_without_sentence_transformers_the_extra_is_named(data, monkeypatch):
    for name in list(sys.modules):
        if name.startswith(("freshstack_datasets.adapters.sentence_transformers.", "sentence_transformers.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(ours, "evaluators", raising=False)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    message = r"sentence-transformers is not installed; pip install 'freshstack-datasets\[dense\]'"
    with pytest.raises(MissingExtraError, match=message):
        ours.evaluator(data)


def test_a_release_that_has_moved_things_is_named_with_those_that_work(data, monkeypatch):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    monkeypatch.delattr(InformationRetrievalEvaluator, "compute_metrics")
    message = (
        r"lacks what this package stands on \('InformationRetrievalEvaluator.compute_metrics'\), expected sentence-"
    )
    with pytest.raises(InputError, match=message):
        ours.evaluator(data)
