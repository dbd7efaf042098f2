"""A topic's task of MTEB, from the release of October 2024 on the Hub to a stored result."""

import json

import pytest

from freshstack_datasets import catalog
from freshstack_datasets.evaluation import evaluate
from freshstack_datasets.loading import Dataset
from tests import originals
from tests.hub.released import release

pytestmark = pytest.mark.slow

DOCUMENTS = [
    originals.document("ultralytics/docs/train a.md_0_9", "train the detector on images"),
    originals.document("ultralytics/docs/export.md_0_9", "export the weights to another format"),
    originals.document("pytorch/docs/grad.md_0_9", "gradients are accumulated"),
]
QUERIES = [
    originals.query(
        "77",
        originals.nugget("77_0", ["ultralytics/docs/train a.md_0_9"], []),
        query_title="How to train a",
        query_text="detector?",
    ),
    originals.query(
        "78",
        originals.nugget("78_0", ["ultralytics/docs/export.md_0_9", "lost.md_0_1"], []),
        query_title="Export",
        query_text="weights",
    ),
]
ROWS = [
    ("77", "77_0", "ultralytics/docs/train a.md_0_9", 1),
    ("78", "78_0", "ultralytics/docs/export.md_0_9", 1),
    ("78", "78_0", "lost.md_0_1", 1),
]

RUN = """
import json, sys
from pathlib import Path
import mteb
from freshstack_datasets.adapters import mteb as adapter

adapter.register()
task, folder = mteb.get_task("FreshStackYoloOct2024Retrieval"), Path(sys.argv[1])
found = {}
for model in ("mteb/baseline-random-encoder", "mteb/baseline-bm25s"):
    cache = mteb.ResultCache(folder / "results")
    mteb.evaluate(mteb.get_model(model), task, cache=cache, prediction_folder=folder / model, show_progress_bar=False)
    (file,) = (folder / "results").rglob(f"*{model.partition('/')[2]}/*/{task.metadata.name}.json")
    run = adapter.read_predictions(folder / model / f"{task.metadata.name}_predictions.json")
    stored = json.loads(file.read_text())
    found[model] = {"stored": stored, "run": run.to_dict(), "stale": adapter.stale(file, task)}
print(json.dumps(found))
"""


def test_a_topic_is_downloaded_when_it_is_evaluated_and_scored_by_its_nuggets(hub, client, tmp_path):
    corpus = originals.write_corpus(tmp_path / "corpus.parquet", DOCUMENTS)
    queries = originals.write_queries(tmp_path / "queries.parquet", QUERIES)
    release(hub, {"yolo": corpus}, {"yolo": queries})
    home = tmp_path / "home"
    registered = "from freshstack_datasets.adapters import mteb; mteb.register(); print(len(mteb.tasks()))"
    assert client.result(registered, home=home) == 6
    assert hub.log == []
    found = client.result(RUN, tmp_path / "out", home=home)
    for told in found.values():
        stored, run = told["stored"], told["run"]
        assert stored["dataset_revision"] == catalog.originals().queries.commit
        (entry,) = stored["scores"]["test"]
        assert (entry["hf_subset"], entry["languages"], entry["queries"]) == ("default", ["eng-Latn"], 2)
        assert entry["dataset"] == "freshstack/yolo@2024-10"
        assert set(run) == {"77", "78"}
        ours = evaluate(run, Dataset.from_nugget_qrels(ROWS), "alpha_nDCG@10 Coverage@20 Recall@50", intervals=False)
        names = ("alpha_ndcg_at_10", "coverage_at_20", "recall_at_50")
        assert [entry[name] for name in names] == [round(value, 6) for value in ours.mean.values()]
        assert told["stale"] is None
    # Every document is among the first 20 of three; the one that the corpus lacks is never found.
    (entry,) = found["mteb/baseline-bm25s"]["stored"]["scores"]["test"]
    assert (entry["coverage_at_20"], entry["recall_at_50"]) == (1.0, 0.75)
    hub.log.clear()
    again = client.result(RUN, tmp_path / "out", home=home, offline=True)
    assert json.dumps(again, sort_keys=True) == json.dumps(found, sort_keys=True)
    assert hub.log == []
