"""Encoders: a model of sentence-transformers, and the embeddings of a server on loopback."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import freshstack_datasets as fsd
from freshstack_datasets.errors import BudgetError, EndpointError, InputError, MissingExtraError
from freshstack_datasets.llm.budget import Budget
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.store import Store
from freshstack_datasets.records import Document, Query
from freshstack_datasets.retrieval import Dense, EndpointEncoder, SentenceEncoder, encoders
from freshstack_datasets.retrieval.encoders import encoder_told, endpoint_encoder
from tests.adapters.dense_by_hand import cosines, excerpt, model_folder
from tests.llm_server import Server, embedded, error

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def minilm():
    return SentenceEncoder(model_folder())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return excerpt(tmp_path_factory.mktemp("snapshots") / "nimbus")


def test_a_model_finds_what_is_found_by_hand(minilm, data):
    run = Dense(minilm).index(data.corpus).search(data.queries, k=1000)
    expected = cosines(minilm._loaded, data)
    assert run.query_ids == tuple(expected)
    for query_id, scores in expected.items():
        assert run[query_id] == pytest.approx(scores, abs=1e-6)
    assert fsd.evaluate(run, data).mean["Coverage@20"] > 0.5


def test_texts_longer_than_the_model_takes_are_cut_and_counted(minilm):
    short, long = "how to upload a file " * 10, "how to upload a file " * 60  # 6 tokens each time, of 256
    found = minilm.encode([short, long, long + " and what this says does not count", ""], "document", None)
    assert found.cut == 2
    assert found.vectors[1] == pytest.approx(found.vectors[2], abs=1e-6)
    assert minilm.encode([short + "upload a file " * 73], "query", None).cut == 1  # 60 + 292 tokens


def test_a_prefix_is_put_before_each_text_and_takes_room(minilm):
    with_prefix = minilm.encode(["upload a file"], "query", "how to ").vectors
    assert with_prefix == pytest.approx(minilm.encode(["how to upload a file"], "query", "").vectors, abs=1e-6)
    text = "file " * 253  # with the two marks around it, 255 of 256
    assert (minilm.encode([text], "query", "").cut, minilm.encode([text], "query", "how to do ").cut) == (0, 1)


def test_what_a_model_itself_puts_before_texts_is_taken_where_nothing_else_is_said(tmp_path):
    folder = shutil.copytree(model_folder(), tmp_path / "model")
    config = json.loads((folder / "config_sentence_transformers.json").read_text())
    config["prompts"] = {"query": "how to ", "document": "page: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(config))
    model, plain = SentenceEncoder(str(folder)), SentenceEncoder(model_folder())
    for role, prompt in (("query", "how to "), ("document", "page: ")):
        said = plain.encode([prompt + "upload a file"], role, None).vectors
        assert model.encode(["upload a file"], role, None).vectors == pytest.approx(said, abs=1e-6)
        assert model.encode(["upload a file"], role, "").vectors == pytest.approx(
            plain.encode(["upload a file"], role, None).vectors, abs=1e-6
        )
    assert model.encode(["file " * 253], "query", None).cut == 1
    assert model.identity != plain.identity


def test_where_a_model_lies_makes_no_difference_and_what_it_is_does(tmp_path, minilm):
    folder = shutil.copytree(model_folder(), tmp_path / "copy")
    assert SentenceEncoder(str(folder)).identity == minilm.identity
    assert str(folder) not in json.dumps(SentenceEncoder(str(folder)).identity)
    (folder / "README.md").write_text("another")
    assert SentenceEncoder(str(folder)).identity != minilm.identity


def test_a_saved_index_loads_its_model_again(tmp_path, minilm):
    documents = [Document("a", "", "how to upload a file"), Document("b", "", "prices and plans")]
    dense = Dense(model_folder()).index(documents)
    dense.save(tmp_path / "index")
    queries = [Query("q", "uploading")]
    assert Dense.load(tmp_path / "index").search(queries) == dense.search(queries)
    assert list(dense.search(queries)["q"]) == ["a", "b"]


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "replies.sqlite")
    yield store
    store.close()


HUB = """
from freshstack_datasets.retrieval import SentenceEncoder
encoder = SentenceEncoder("org/mini")
print(encoder.identity["commit"], encoder.encode(["text"], "query", None).vectors.shape)
"""


@pytest.mark.slow
def test_a_model_of_the_hub_is_told_with_its_commit(tmp_path):
    commit = "a" * 40
    shutil.copytree(model_folder(), tmp_path / "models--org--mini" / "snapshots" / commit)
    (tmp_path / "models--org--mini" / "refs").mkdir()
    (tmp_path / "models--org--mini" / "refs" / "main").write_text(commit)
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", HUB], env=environment, capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split("\n")[0] == f"{commit} (1, 384)"


def test_vectors_of_several_lengths_from_a_server_are_refused(store):
    texts = [f"{number}" for number in range(65)]  # two calls
    with (
        Server(lambda asked: embedded(asked, lambda text: [1] * len(asked.body["input"]))) as server,
        pytest.raises(EndpointError, match="expected vectors of one length, got 1 and 64"),
    ):
        EndpointEncoder(Client(server.url, store), "e5").encode(texts, "document", None)


@pytest.mark.parametrize("content", [{}, {"config.json": "{}"}, {"modules.json": "no JSON"}])
def test_a_folder_without_a_model_is_refused(tmp_path, content):
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="expected a model of sentence-transformers"):
        Dense(str(tmp_path)).index([Document("a", "", "text")])


def test_a_model_s_files_that_cannot_be_read_are_named(tmp_path, monkeypatch):
    (tmp_path / "config.json").touch()

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(encoders.hashlib, "file_digest", refuse)
    with pytest.raises(InputError, match="cannot be read, got permission denied"):
        Dense(str(tmp_path)).index([Document("a", "", "text")])


def test_a_model_that_reads_words_one_by_one_cuts_nothing(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from transformers import AutoTokenizer

    words = StaticEmbedding(AutoTokenizer.from_pretrained(model_folder()), embedding_dim=8)
    SentenceTransformer(modules=[words], device="cpu").save(str(tmp_path / "model"), create_model_card=False)
    found = SentenceEncoder(str(tmp_path / "model")).encode(["word " * 5000], "document", None)
    assert (found.cut, found.vectors.shape) == (0, (1, 8))


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"freshstack-datasets\[dense\]"):
        Dense("some/model")


def by_letters(text):
    return [text.count("a"), text.count("b"), 1]


def test_a_server_s_embeddings_are_searched_and_asked_for_once(store):
    documents = [Document("x", "", "aaa"), Document("y", "", "bb"), Document("z", "", "")]
    with Server(lambda asked: embedded(asked, by_letters)) as server:
        encoder = EndpointEncoder(Client(server.url, store), "e5", dimensions=3)
        run = Dense(encoder, query_prefix="?", document_prefix="d: ").index(documents).search([Query("q", "ab")])
        sent = [asked.body for asked in server.asked]
        assert sent == [
            {"model": "e5", "input": ["d: aaa", "d: bb"], "dimensions": 3},
            {"model": "e5", "input": ["?ab"], "dimensions": 3},
        ]
        Dense(encoder, query_prefix="?", document_prefix="d: ").index(documents).search([Query("q", "ab")])
        assert len(server.asked) == 2
    # (1, 1, 1) with (3, 0, 1) is 4 / sqrt(30), with (0, 2, 1) 3 / sqrt(15)
    assert run["q"] == {"y": pytest.approx(3 / 15**0.5, abs=1e-7), "x": pytest.approx(4 / 30**0.5, abs=1e-7)}


def test_a_text_that_a_server_refuses_for_its_length_is_cut_and_counted(store):
    def script(asked):
        longest = max(map(len, asked.body["input"]))
        return error(400, "maximum context length") if longest > 3000 else embedded(asked, lambda text: [len(text), 1])

    texts = ["a" * 10, "b" * 10_000, "c" * 3_000]
    with Server(script) as server:
        encoder = EndpointEncoder(Client(server.url, store, retries=0), "e5")
        found = encoder.encode(texts, "document", None)
    assert (found.vectors[:, 0].tolist(), found.cut) == ([10, 2_500, 3_000], 1)


def test_a_server_that_refuses_everything_is_named(store):
    with Server(lambda asked: error(400, "no such model")) as server:
        encoder = EndpointEncoder(Client(server.url, store, retries=0), "e5")
        with pytest.raises(EndpointError, match="http-400"):
            encoder.encode(["a", "b"], "document", None)
        assert len(server.asked) < 10


def test_a_budget_that_is_used_up_is_no_server_s_fault(store):
    with Server(lambda asked: embedded(asked, by_letters)) as server:
        encoder = EndpointEncoder(Client(server.url, store, budget=Budget(max_tokens=5)), "e5")
        with pytest.raises(BudgetError):
            encoder.encode(["a", "b"], "document", None)
        assert server.connections == 0


def test_an_encoder_of_a_server_is_made_again_by_what_it_told(own_home, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sesame-open-123")
    with Server(lambda asked: embedded(asked, by_letters)) as server:
        first = endpoint_encoder(server.url, "e5", "MY_KEY", dimensions=3)
        told = json.loads(json.dumps(first.told))
        assert "sesame" not in json.dumps([told, first.identity])
        again = encoder_told(told)
        assert (again.identity, again.told) == (first.identity, first.told)
        assert np.array_equal(again.encode(["ab"], "query", None).vectors, [[1, 1, 1]])
        assert server.asked[0].headers["authorization"] == "Bearer sesame-open-123"
    for none in ({}, {"kind": "endpoint"}, {"kind": "pickle", "model": "x"}):
        with pytest.raises(InputError, match="give it as encoder"):
            encoder_told(none)
