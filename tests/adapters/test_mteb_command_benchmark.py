"""``freshstack mteb run -b FreshStack`` on a Hub that has small originals of all five topics."""

import json

import pytest

from freshstack_datasets.adapters.mteb import read_predictions
from tests import originals
from tests.adapters.mteb_commands import BATCH, SCORED, headline, result
from tests.hub.clients import Client
from tests.hub.released import release
from tests.hub.server import TestHub

pytestmark = pytest.mark.slow

TOPICS = ("langchain", "yolo", "laravel", "angular", "godot")
TASKS = {topic: f"FreshStack{topic.capitalize()}Oct2024Retrieval" for topic in TOPICS}
MEAN = "FreshStackOct2024Retrieval"
MODELS = ("mteb/baseline-bm25s", "mteb/baseline-random-encoder")

# Whoever searches for words finds the document of each query first. The first query has one nugget, which that document
# supports: 1 by every measure. The second has another nugget, which only a document supports that the corpus lost:
# alpha-nDCG is 1 / (1 + 1 / log2(3)), Coverage and Recall are 1/2. Godot has the first query alone.
HALF = 1 / (1 + 0.6309297535714575)
BY_WORDS = [(1 + HALF) / 2, 0.75, 0.75]
OF_GODOT = [1.0, 1.0, 1.0]
MACRO = [(4 * one + other) / 5 for one, other in zip(BY_WORDS, OF_GODOT, strict=True)]


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    corpora, queries = {}, {}
    for topic in TOPICS:
        documents = [
            originals.document("a b/ünï.md_0_9", f"pelican {topic}"),
            originals.document("100%.py_0_7", f"walrus {topic}"),
            originals.document("c#.md_0_5", f"other {topic}"),
        ]
        asked = [
            originals.query(
                "1", originals.nugget("1_0", ["a b/ünï.md_0_9"]), query_title="pelican", query_text="please"
            ),
            originals.query(
                "2",
                originals.nugget("2_0", ["100%.py_0_7"]),
                originals.nugget("2_1", ["lost.md_0_1"]),
                query_title="walrus",
                query_text="please",
            ),
        ]
        corpora[topic] = originals.write_corpus(folder / topic / "corpus.parquet", documents)
        rows = asked[:1] if topic == "godot" else asked
        queries[topic] = originals.write_queries(folder / topic / "queries.parquet", rows)
    (folder / "kept").mkdir()
    with TestHub(folder / "kept") as running:
        release(running, corpora, queries)
        yield running
    assert not running.bugs, running.bugs[0]


def test_the_benchmark_runs_with_mtebs_baselines_and_again_offline(hub, tmp_path):
    client, home, out = Client(hub, tmp_path), tmp_path / "home", tmp_path / "out"
    keep = ["--output-folder", str(out), "--prediction-folder", str(tmp_path / "pred")]
    of = {"MTEB_CACHE": str(tmp_path / "cache"), "TQDM_DISABLE": "1"}
    runs = [["mteb", "run", "-b", "FreshStack", "-m", model, *keep] for model in MODELS]
    for code, _, err in client.result(BATCH, json.dumps(runs), home=home, env=of):
        assert code == 0, err
    paths = [
        (str(next((tmp_path / "pred").glob(f"{model.replace('/', '__')}/*/{TASKS[topic]}_predictions.json"))), topic)
        for model in MODELS
        for topic in TOPICS
    ]
    asked = [(path, TASKS[topic], f"freshstack/{topic}") for path, topic in paths]
    offline = [
        ["mteb", "run", "--topics", "godot,yolo", "-m", MODELS[0], *keep],
        ["mteb", "run", "-t", MEAN, "-m", MODELS[0], *keep],
        SCORED.format(asked=asked),
    ]
    topics, mean, scored = client.result(BATCH, json.dumps(offline), home=home, env=of, offline=True)
    for code, out_, err in (topics, mean):
        assert code == 0, err
        assert "already exist in cache" in " ".join(out_.split())
    found = [
        headline(result(out, f"{model.replace('/', '__')}/*", TASKS[topic])) for model in MODELS for topic in TOPICS
    ]
    for one, expected in zip(found, scored, strict=True):
        assert one == pytest.approx(expected, abs=1e-6)  # MTEB rounds
    for topic, one in zip(TOPICS, found, strict=False):
        assert one == pytest.approx(OF_GODOT if topic == "godot" else BY_WORDS, abs=1e-6)
    assert headline(result(out, "mteb__baseline-bm25s/*", MEAN)) == pytest.approx(MACRO, abs=1e-6)
    assert read_predictions(paths[0][0], TASKS["langchain"]).query_ids == ("1", "2")


def test_a_topic_that_is_not_on_this_machine_is_told_in_a_line_when_offline(hub, tmp_path):
    words = [["mteb", "run", "--topics", "yolo", "-m", MODELS[0], "--output-folder", str(tmp_path / "out")]]
    env = {"MTEB_CACHE": str(tmp_path / "cache"), "TQDM_DISABLE": "1"}
    ((code, _, err),) = Client(hub, tmp_path).result(BATCH, json.dumps(words), env=env, offline=True)
    assert code == 2
    assert err.splitlines()[-1].startswith("error: ")
    assert "freshstack/yolo" in err or "queries-oct-2024" in err
    assert "Traceback" not in err
