"""The documents to judge: who found them, what is put together, and what is told of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import freshstack_datasets as fsd
from builders.pipeline.reading import pool_of
from builders.pipeline.records import TECHNIQUES, Search
from builders.pipeline.settings import Settings
from builders.pipeline.step import run
from builders.pipeline.work import Work, write_lines
from builders.pooling import Pooling
from builders.pooling.retrievers import slugs
from builders.statistics.tokens import count
from freshstack_datasets.errors import BudgetError, EndpointError, InputError, UnknownNameError
from freshstack_datasets.llm.budget import Budget
from freshstack_datasets.retrieval import fuse
from tests.adapters.dense_by_hand import model_folder
from tests.builders.pipeline_made import DOCUMENTS, QUESTIONS, TOPIC, made_topic, made_work, scripted, sealed
from tests.llm_server import Server, embedded, error

OWN = """
from freshstack_datasets.retrieval import FakeRetriever

FOUND = {found}

def factory():
    return FakeRetriever(FOUND)
"""


def topic_with(folder, retrievers, **pool):
    told = ", ".join([f"retrievers: [{retrievers}]", *(f"{name}: {value}" for name, value in pool.items())])
    defaults = {"depth": 10, "top": 3}
    rest = ", ".join(f"{name}: {value}" for name, value in defaults.items() if name not in pool)
    text = TOPIC.replace(
        "pool: {retrievers: [bm25], depth: 10, top: 3}", f"pool: {{{told}{', ' if rest else ''}{rest}}}"
    )
    return made_topic(folder, text)


def own(folder, monkeypatch, name, found):
    """A retriever of one's own, in a module, that finds the same whatever is searched for."""
    (folder / f"{name}.py").write_text(OWN.format(found=repr(found)))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return f"python:{name}:factory"


def pooling(topic, folder, **options):
    return Pooling(topic, scripted(Settings.of(topic), folder, **options))


def rows(work):
    return pq.read_table(work.folder("pool") / "pool.parquet").to_pylist()


def ranks(found):
    """Scores by which documents stand in an order."""
    return {doc_id: float(len(found) - at) for at, doc_id in enumerate(found)}


def test_the_top_of_each_technique_s_fusion_is_judged(tmp_path, monkeypatch):
    # alpha has d01 1, d02 0.5, d03 0; beta d04 1, d03 0.5, d02 0. Summed: d04 1, d01 1, d03 0.5, d02 0.5
    alpha = own(tmp_path, monkeypatch, "alpha", {"q1": ranks(["docs/d01", "docs/d02", "docs/d03"])})
    beta = own(tmp_path, monkeypatch, "beta", {"q1": ranks(["docs/d04", "docs/d03", "docs/d02"])})
    topic = topic_with(
        tmp_path, f'"{alpha}", {{python: "beta:factory", name: B}}', techniques="[answer, question]", top=3
    )
    work = made_work(tmp_path, until="queries")
    made = run(pooling(topic, tmp_path), work)
    assert pool_of(work) == {"q1": ["docs/d01", "docs/d03", "docs/d04"]}
    found = [(r["corpus-id"], r["technique"], r["retriever"], r["rank"], r["score"]) for r in rows(work)]
    assert found == [
        ("docs/d01", "answer", "fusion", 2, 1.0),
        ("docs/d01", "answer", alpha, 1, 3.0),
        ("docs/d01", "question", "fusion", 2, 1.0),
        ("docs/d01", "question", alpha, 1, 3.0),
        ("docs/d03", "answer", "B", 2, 2.0),
        ("docs/d03", "answer", "fusion", 3, 0.5),
        ("docs/d03", "answer", alpha, 3, 1.0),
        ("docs/d03", "question", "B", 2, 2.0),
        ("docs/d03", "question", "fusion", 3, 0.5),
        ("docs/d03", "question", alpha, 3, 1.0),
        ("docs/d04", "answer", "B", 1, 3.0),
        ("docs/d04", "answer", "fusion", 1, 1.0),
        ("docs/d04", "question", "B", 1, 3.0),
        ("docs/d04", "question", "fusion", 1, 1.0),
    ]
    assert beta == "python:beta:factory"
    files = sorted(path.relative_to(work.path / "pool").as_posix() for path in work.path.glob("pool/runs/*/*"))
    assert files == [
        f"runs/{technique}/{file}.parquet"
        for technique in ("answer", "question")
        for file in ("B", "fusion", "python-alpha-factory")
    ]
    whole = fsd.read_run(work.path / "pool" / "runs" / "answer" / "fusion.parquet")
    assert whole["q1"] == {"docs/d04": 1.0, "docs/d01": 1.0, "docs/d03": 0.5, "docs/d02": 0.5}
    assert made.summary.counts == {
        "questions": 4,
        "documents": 3,
        "retrievers": 2,
        "lists": 16,
        "empty_lists": 12,  # of q2, q3 and q4
        "empty_texts": 0,
        "without": 3,
    }
    assert made.summary.warnings == (
        "12 of 16 lists are empty: nothing fits the text",
        "3 questions without a document to judge",
    )


def test_each_list_is_cut_at_the_depth_and_each_pool_at_the_top_of_every_technique(tmp_path):
    topic = topic_with(tmp_path, "bm25, {dense: e, endpoint: same}", depth=4, top=2)
    work = made_work(tmp_path, until="queries")
    run(pooling(topic, tmp_path), work)
    lists = {}
    for path in (work.path / "pool" / "runs").rglob("*.parquet"):
        lists[path.parent.name, path.stem] = fsd.read_run(path)
    assert set(lists) == {(t, r) for t in TECHNIQUES for r in ("bm25", "dense-e", "fusion")}
    assert max(len(found[q]) for found in lists.values() for q in found) == 4
    pools = {query_id: set() for query_id in QUESTIONS}
    for technique in TECHNIQUES:
        together = fuse([lists[technique, "bm25"], lists[technique, "dense-e"]], k=4)
        assert together == lists[technique, "fusion"]
        for query_id in together:
            pools[query_id] |= set(list(together[query_id])[:2])
    assert {query_id: set(found) for query_id, found in pool_of(work).items()} == pools
    for row in rows(work):
        assert row["corpus-id"] in pools[row["query-id"]]
        found = lists[row["technique"], {"dense:e": "dense-e"}.get(row["retriever"], row["retriever"])][row["query-id"]]
        assert list(found)[row["rank"] - 1] == row["corpus-id"]
        assert found[row["corpus-id"]] == row["score"]
        assert row["rank"] <= (2 if row["retriever"] == "fusion" else 4)


def test_texts_that_say_nothing_find_nothing_and_are_counted(tmp_path):
    topic = topic_with(tmp_path, "bm25, {dense: e, endpoint: same}", techniques="[question, answer]")
    work = made_work(tmp_path, until="queries")
    texts = {"q1": " \n", "q2": "of the and is", "q3": "scheduler"}
    write_lines(work.folder("queries") / "searches.jsonl", [Search(q, "question", text) for q, text in texts.items()])
    sealed(work, "queries")
    made = run(pooling(topic, tmp_path), work)
    assert (made.summary.counts["empty_texts"], made.summary.counts["empty_lists"]) == (1, 3)  # bm25 has stop words
    assert made.summary.counts["without"] == 1
    assert set(pool_of(work)) == {"q2", "q3"}
    assert "nothing is searched for with the technique answer: there is no such text" in made.summary.warnings


def test_it_is_made_again_when_what_it_depends_on_changes_and_not_otherwise(tmp_path, monkeypatch):
    found = {"q1": {"docs/d01": 1.0}}
    name = own(tmp_path, monkeypatch, "gamma", found)
    work = made_work(tmp_path, until="queries")
    topic = topic_with(tmp_path, f'bm25, "{name}"')
    assert [run(pooling(topic, tmp_path), work).kept for _ in range(2)] == [False, True]
    for others in ({"top": 2}, {"depth": 9}, {"techniques": "[question]"}):
        changed = topic_with(tmp_path, f'bm25, "{name}"', **others)
        assert [run(pooling(changed, tmp_path), work).kept for _ in range(2)] == [False, True]
    assert not run(pooling(topic_with(tmp_path, f'"{name}", bm25'), tmp_path), work).kept
    own(tmp_path, monkeypatch, "gamma", {"q1": {"docs/d02": 1.0}})  # its code
    assert not run(pooling(topic_with(tmp_path, f'"{name}", bm25'), tmp_path), work).kept


def test_what_was_embedded_is_not_embedded_again_after_the_stage_failed(tmp_path, monkeypatch):
    work = made_work(tmp_path, until="queries")
    with Server(lambda asked: embedded(asked, lambda text: [len(text), 7, text.count("e")])) as server:
        topic = topic_with(
            tmp_path, f'{{dense: e, endpoint: "{server.url}", document_prefix: "d: "}}, "python:delta:factory"'
        )
        with pytest.raises(InputError, match="module 'delta' is not found"):
            run(pooling(topic, tmp_path), work)
        sent = [text for asked in server.asked for text in asked.body["input"]]
        assert sorted(text for text in sent if text.startswith("d: ")) == sorted(
            f"d: {text}" for text in DOCUMENTS.values()
        )
        assert len(sent) == len(set(sent))
        own(tmp_path, monkeypatch, "delta", {})
        run(pooling(topic, tmp_path), work)
        assert [text for asked in server.asked for text in asked.body["input"]] == sent
    assert not (work.path / "pool.parts").exists()


def test_a_dry_run_says_what_embeddings_will_cost_and_sends_nothing(tmp_path):
    work = made_work(tmp_path, until="queries")
    with Server(lambda asked: embedded(asked, lambda text: [1, len(text)])) as server:
        topic = topic_with(tmp_path, f'bm25, {{dense: e, endpoint: "{server.url}"}}')
        stage = pooling(topic, tmp_path)
        (estimate,) = stage.estimate(work)
        # 12 documents, 20 texts of which those of the closed-book technique begin otherwise, all different: one call
        assert (estimate.stage, estimate.model, estimate.calls, estimate.answered) == ("pool: dense:e", "e", 1, 0)
        assert estimate.endpoint == server.url
        assert 200 < estimate.input_tokens < 800
        assert (estimate.output_tokens, estimate.usd) == (0, None)
        assert server.connections == 0
        run(stage, work)
        asked = len(server.asked)
        (estimate,) = stage.estimate(work)
        assert (estimate.calls, estimate.answered, estimate.input_tokens) == (0, 1, 0)
        assert len(server.asked) == asked


def test_a_dry_run_counts_the_calls_that_are_sent(tmp_path, monkeypatch):
    work = made_work(tmp_path, until="queries")
    monkeypatch.setattr("freshstack_datasets.llm.embeddings.BATCH", 5)
    monkeypatch.setattr("freshstack_datasets.llm.embeddings._CHARACTERS", 200)
    topic = topic_with(tmp_path, "{dense: e, endpoint: same}")
    (estimate,) = pooling(topic, tmp_path).estimate(work)
    assert estimate.calls > 32 // 5  # five short texts go in a call, and fewer long ones
    with Server(lambda asked: embedded(asked, lambda text: [1, len(text)])) as server:
        served = topic_with(tmp_path, f'{{dense: e, endpoint: "{server.url}"}}')
        run(pooling(served, tmp_path), work)
    tokens = estimate.input_tokens
    assert tokens == sum(count(text) for asked in server.asked for text in asked.body["input"])


def test_the_ends_of_texts_that_are_too_long_are_told_of(tmp_path):
    work = made_work(tmp_path, until="queries")
    long = [Search(q, "question", "why are jobs run twice " * 60) for q in ("q1", "q2")]
    write_lines(work.folder("queries") / "searches.jsonl", long)
    sealed(work, "queries")
    topic = topic_with(tmp_path, f"{{dense: {model_folder()}}}", techniques="[question]")
    made = run(pooling(topic, tmp_path), work)
    told = "dense:model: the ends of 2 texts to search for do not count, as they are longer than it takes"
    assert made.summary.warnings == (told,)
    assert made.summary.models == {"pool": ("model",)}
    assert model_folder() not in json.dumps([*map(str, rows(work))])
    key = pooling(topic, tmp_path).key(work)
    assert model_folder() not in json.dumps(key)
    hub = topic_with(tmp_path, "dense:org/model", techniques="[question]")
    assert pooling(hub, tmp_path).key(work)["retrievers"][0][1]["dense"] == "org/model"


def test_a_budget_ends_the_stage_and_leaves_what_was_there(tmp_path):
    work = made_work(tmp_path, until="pool")
    before = pool_of(work)
    topic = topic_with(tmp_path, "{dense: e, endpoint: same}")
    with pytest.raises(BudgetError):
        run(pooling(topic, tmp_path, budget=Budget(max_tokens=10)), work)
    assert pool_of(work) == before


def test_a_server_that_does_not_embed_ends_the_stage(tmp_path):
    work = made_work(tmp_path, until="queries")
    with Server(lambda asked: error(404, "no such model")) as server:
        topic = topic_with(tmp_path, f'{{dense: e, endpoint: "{server.url}"}}')
        with pytest.raises(EndpointError, match="404"):
            run(pooling(topic, tmp_path), work)
    assert not (work.path / "pool").exists()


def test_a_pool_without_a_document_is_refused(tmp_path, monkeypatch):
    work = made_work(tmp_path, until="queries")
    topic = topic_with(tmp_path, f'"{own(tmp_path, monkeypatch, "epsilon", {})}"')
    with pytest.raises(InputError, match="the pools of acme/tidepool, expected a document, got none for any question"):
        run(pooling(topic, tmp_path), work)


def test_stages_that_are_not_done_are_named(tmp_path):
    topic = topic_with(tmp_path, "bm25")
    with pytest.raises(InputError, match="run python -m builders corpus"):
        run(pooling(topic, tmp_path), Work(tmp_path / "empty"))
    with pytest.raises(InputError, match="run python -m builders queries"):
        run(pooling(topic, tmp_path), made_work(tmp_path, until="nuggets"))


def test_a_factory_that_is_not_there_is_refused_with_those_that_are(tmp_path, monkeypatch):
    own(tmp_path, monkeypatch, "zeta", {})
    topic = topic_with(tmp_path, '"python:zeta:factry"')
    with pytest.raises(UnknownNameError, match="did you mean 'factory'"):
        run(pooling(topic, tmp_path), made_work(tmp_path, until="queries"))


def test_the_files_of_retrievers_have_names_of_their_own():
    names = ["bm25", "dense:BAAI/bge", "dense:BAAI:bge", "Fusion", "BM25", "déjà vu", "::", "x" * 300, "x" * 301]
    found = slugs(names)
    assert list(found) == names
    assert [*found.values()][:7] == [
        "bm25",
        "dense-BAAI-bge",
        "dense-BAAI-bge-2",
        "Fusion-2",
        "BM25-2",
        "d-j-vu",
        "retriever",
    ]
    assert len({file.lower() for file in found.values()}) == len(names)


@pytest.mark.parametrize(
    "retrievers, message",
    [
        ("{bm25: true, name: fusion}", "which is what all of them find together"),
        (f"{{dense: {model_folder()}}}, {{dense: {model_folder()}/.}}", "'dense:model' twice; give it a name"),
    ],
)
def test_names_that_say_two_things_are_refused(tmp_path, retrievers, message):
    topic = topic_with(tmp_path, retrievers)
    with pytest.raises(InputError, match=message):
        run(pooling(topic, tmp_path), made_work(tmp_path, until="queries"))


KILLER = """
import os, signal
from pathlib import Path
from freshstack_datasets.retrieval import FakeRetriever

def factory():
    mark = Path(__file__).with_name("killed")
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return FakeRetriever({"q1": {"docs/d11": 1.0}})
"""


@pytest.mark.slow
def test_after_a_kill_the_command_goes_on_without_encoding_the_corpus_again(tmp_path, own_home):
    (tmp_path / "killer.py").write_text(KILLER)
    topic_with(tmp_path, f'{{dense: {model_folder()}, name: minilm}}, "python:killer:factory"')
    work = made_work(tmp_path, until="queries")
    command = [sys.executable, "-m", "builders", "pool", tmp_path / "tidepool.yaml", "--work", work.path, "--json"]

    def once():
        root = str(Path(__file__).parents[2])
        return subprocess.run(
            command, cwd=tmp_path, env=environment(own_home, root), capture_output=True, text=True, check=False
        )

    killed = once()
    assert killed.returncode == -9, killed.stderr
    kept = {path: path.stat().st_mtime_ns for path in (own_home / "embeddings").rglob("*.npy")}
    assert kept
    done = once()
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert "warning: 15 of 40 lists are empty: nothing fits the text" in said
    # what runs the model may warn too, such as tqdm where the machine has no thread left; it shows no bar
    assert all(line.startswith("warning: ") for line in said), done.stderr
    assert json.loads(done.stdout)["counts"]["documents"] > 10
    assert {path: path.stat().st_mtime_ns for path in (own_home / "embeddings").rglob("*.npy")} == kept
    assert "docs/d11" in pool_of(work)["q1"]


def environment(home, root):
    return {**os.environ, "FRESHSTACK_HOME": str(home), "PYTHONPATH": root}
