"""Embeddings from a server, over real HTTP on loopback."""

import asyncio
import base64
from decimal import Decimal

import numpy as np
import pytest

from freshstack_datasets.errors import BudgetError, EndpointError
from freshstack_datasets.llm.budget import Budget, Spent
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.embeddings import BATCH
from freshstack_datasets.llm.prices import Prices, parse_prices
from freshstack_datasets.llm.running import ask_all
from freshstack_datasets.llm.store import Store
from tests.llm_server import Says, Server, embedded, error


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "replies.sqlite")
    yield store
    store.close()


def vector(text):
    return [len(text), 0.5, -ord(text[0])]


def embed(server, store, texts, **parameters):
    client = Client(server.url, store, retries=0)
    return embedded_by(client, texts, **parameters), client


def embedded_by(client, texts, **parameters):
    return ask_all(client, [lambda asked: asked.embed(texts, "e5", **parameters)], "embedding")[0]


def test_texts_come_back_as_rows_in_order_and_equal_ones_are_sent_once(store):
    with Server(lambda asked: embedded(asked, vector)) as server:
        rows, client = embed(server, store, ["bb", "a", "bb", "ccc"], dimensions=3)
    assert rows.dtype == np.float32
    assert rows.tolist() == [[2, 0.5, -98], [1, 0.5, -97], [2, 0.5, -98], [3, 0.5, -99]]
    assert server.asked[0].body == {"model": "e5", "input": ["bb", "a", "ccc"], "dimensions": 3}
    assert server.asked[0].path == "/v1/embeddings"
    assert client.counts.input_tokens == 3


def test_a_text_that_was_embedded_is_not_sent_again_whatever_stands_beside_it(store):
    with Server(lambda asked: embedded(asked, vector)) as server:
        embed(server, store, ["a", "b"])
        rows, _ = embed(server, store, ["c", "b"])
        assert [asked.body["input"] for asked in server.asked] == [["a", "b"], ["c"]]
        assert (rows[:, 2] == [-99, -98]).all()
        embed(server, store, ["b"], dimensions=3)  # another call
        assert len(server.asked) == 3
    rows, _ = embed(server, store, ["c", "a"])  # it is gone
    assert rows[:, 2].tolist() == [-99, -97]


def test_many_texts_go_in_calls_of_a_bearable_size(store):
    texts = [f"{number} " for number in range(3 * BATCH + 5)] + ["x" * 100_000, "y" * 100_000]
    with Server(lambda asked: embedded(asked, vector)) as server:
        rows, _ = embed(server, store, texts)
    assert rows.shape == (len(texts), 3)
    assert rows[:, 0].tolist() == [len(text) for text in texts]
    assert sorted(len(asked.body["input"]) for asked in server.asked) == [1, 6, BATCH, BATCH, BATCH]


def test_another_model_than_asked_is_counted(store):
    with Server(lambda asked: embedded(asked, vector, model="e5-small" if asked.number else "e5-2024-01-01")) as server:
        _, client = embed(server, store, [f"{number} " for number in range(BATCH + 1)])
    assert client.counts.models == {"e5 -> e5-small": 1}


def test_a_budget_that_is_used_up_says_so_and_what_was_embedded_is_kept(store):
    with Server(lambda asked: embedded(asked, vector)) as server:
        client = Client(server.url, store, concurrency=1, budget=Budget(max_tokens=600))
        texts = [f"{number} " for number in range(BATCH + 1)]  # a call of the others has some 400 bytes, and 256 unseen
        embedded_by(client, texts[:2])
        with pytest.raises(BudgetError, match="--max-tokens 600 does not take another call"):
            embedded_by(client, texts)
        assert len(server.asked) == 1
        rows, _ = embed(server, store, texts[:2])
        assert len(server.asked) == 1
    assert rows[:, 0].tolist() == [2, 2]


def test_no_texts_have_no_rows(store):
    with Server(lambda asked: embedded(asked, vector)) as server:
        assert embed(server, store, [])[0].shape == (0, 0)
    assert server.connections == 0


def test_what_is_too_much_for_one_call_goes_in_halves(store):
    def script(asked):
        return error(413, "too large") if len(asked.body["input"]) > 2 else embedded(asked, vector)

    with Server(script) as server:
        rows, _ = embed(server, store, list("abcdefg"))
    assert rows[:, 2].tolist() == [-ord(letter) for letter in "abcdefg"]


def test_a_text_that_the_server_does_not_take_is_named(store):
    def script(asked):
        return error(400, "too long") if "bad" in asked.body["input"] else embedded(asked, vector)

    with (
        Server(script) as server,
        pytest.raises(EndpointError, match=r"the text 'bad' cannot be embedded by e5 of http.*http-400 \(too long\)"),
    ):
        embed(server, store, ["a", "bad", "c"])


def test_rows_are_put_into_the_order_of_their_texts_and_may_be_packed(store):
    def script(asked):
        says = embedded(asked, vector)
        for row in says.body["data"]:
            row["embedding"] = base64.b64encode(np.array(row["embedding"], dtype="<f4").tobytes()).decode()
        says.body["data"].reverse()
        return says

    with Server(script) as server:
        assert embed(server, store, ["a", "bb"])[0].tolist() == [[1, 0.5, -97], [2, 0.5, -98]]


def data(*rows):
    return Says({"model": "e5", "data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]})


@pytest.mark.parametrize(
    "says",
    [
        Says(b'{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}'),
        Says(b'{"data": [{"index": 0, "embedding": [1e400]}, {"index": 1, "embedding": [1]}]}'),
        data([1.0], [1e39]),  # beyond 32 bits
        data([1.0], [True]),
        data([1.0], ["1"]),
        data([1.0], []),
        data([1.0], None),
        data([1.0], "no base64!"),
        data([1.0], [1.0, 2.0]),
        data([1.0]),
        data([1.0], [1.0], [1.0]),
        Says({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}),
        Says({"data": [{"index": 0, "embedding": [1]}, {"index": {}, "embedding": [1]}]}),
        Says({"data": ["x", "y"]}),
        Says({}),
    ],
)
def test_what_are_no_embeddings_is_no_answer(store, says):
    with Server([says]) as server, pytest.raises(EndpointError, match=r"2 texts cannot be embedded.*bad-reply"):
        embed(server, store, ["a", "b"])
    assert store.lost() == {}


def test_vectors_of_another_length_than_before_are_refused(store):
    with Server(lambda asked: embedded(asked, lambda text: [1.0] * len(text))) as server:
        embed(server, store, ["a"])
        with pytest.raises(EndpointError, match=r"embeddings of e5, expected vectors of one length, got 1, 2"):
            embed(server, store, ["a", "bb"])


def test_a_client_embeds_within_a_loop_too(store):
    async def go(server):
        async with Client(server.url, store) as client:
            return await client.embed(["a"], "e5")

    with Server(lambda asked: embedded(asked, vector)) as server:
        assert asyncio.run(go(server)).tolist() == [[1, 0.5, -97]]


def test_what_was_embedded_costs_what_the_server_says_was_read(store):
    budget, prices = Budget(Decimal(10**6)), Prices(given=parse_prices(["e5=1000000,0"]))  # a dollar a token
    with Server(lambda asked: embedded(asked, vector)) as server:
        client = Client(server.url, store, budget=budget, prices=prices)
        embedded_by(client, ["one", "two", "three"])  # of which the server says a token a text
    assert budget.spent == Spent(1, 3, Decimal(3))
    assert client.counts.usd == 3
