"""Budgets and estimates: hand-made sums, and many calls at once that never spend more than they may."""

import asyncio
import random
import threading
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import BudgetError, InputError
from freshstack_datasets.llm.budget import (
    UNSEEN,
    Budget,
    Spent,
    dollars,
    most_input_tokens,
    most_output_tokens,
    parse_usd,
)
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.estimates import Estimate, StageEstimate, estimate_stage, rough_tokens
from freshstack_datasets.llm.prices import Price, Prices, Tier
from freshstack_datasets.llm.records import EMBEDDINGS, Failed, Message, Reply, Request
from freshstack_datasets.llm.store import Store
from tests.llm_server import Server, chat

PRICE = Price(Decimal(2), Decimal(10), "a list")
"""A call of 1,000 tokens there and 100 back costs 0.002 + 0.001 = $0.003."""


def test_what_was_set_aside_is_free_again_when_a_call_was_cheaper():
    async def run() -> None:
        budget = Budget(Decimal("0.003"))
        reservation = await budget.reserve(1_000, 100, PRICE)
        assert budget.spent == Spent()
        assert reservation.settle(500, 50) == Decimal("0.0015")
        assert budget.spent == Spent(1, 550, Decimal("0.0015"))
        (await budget.reserve(500, 50, PRICE)).settle(500, 50)
        assert budget.spent == Spent(2, 1_100, Decimal("0.003"))
        with pytest.raises(BudgetError):
            await budget.reserve(1, 0, PRICE)

    asyncio.run(run())


@pytest.mark.parametrize("said", [(None, None), (None, 5), (5, None), (-1, 5), (5, -1), ()])
def test_a_server_that_does_not_say_what_a_call_had_is_charged_all_that_was_set_aside(said):
    async def run() -> None:
        budget = Budget()
        assert (await budget.reserve(1_000, 100, PRICE)).settle(*said) == Decimal("0.003")
        assert budget.spent == Spent(1, 1_100, Decimal("0.003"))

    asyncio.run(run())


def test_a_call_that_nobody_settled_counts_in_full_and_one_that_was_released_not_at_all():
    async def run() -> None:
        budget = Budget()
        with pytest.raises(ZeroDivisionError), await budget.reserve(1_000, 100, PRICE):
            raise ZeroDivisionError
        assert budget.spent == Spent(1, 1_100, Decimal("0.003"))
        with await budget.reserve(1_000, 100, PRICE) as reservation:
            reservation.release()
        with await budget.reserve(1_000, 100, PRICE) as reservation:
            reservation.settle(10, 0)
            reservation.settle(10, 0)
        assert budget.spent == Spent(2, 1_110, Decimal("0.00302"))

    asyncio.run(run())


def test_a_call_waits_while_another_one_may_turn_out_cheaper():
    async def run() -> list[str]:
        budget, seen = Budget(Decimal("0.004")), []
        first = await budget.reserve(1_000, 100, PRICE)

        async def second() -> None:
            (await budget.reserve(1_000, 100, PRICE)).settle(1_000, 100)
            seen.append("second")

        waiting = asyncio.ensure_future(second())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        seen.append("first")
        first.settle(100, 10)
        await waiting
        return seen

    assert asyncio.run(run()) == ["first", "second"]


def test_a_call_that_waited_in_vain_is_refused():
    async def run() -> None:
        budget = Budget(Decimal("0.004"))
        first = await budget.reserve(1_000, 100, PRICE)
        waiting = asyncio.ensure_future(budget.reserve(1_000, 100, PRICE))
        await asyncio.sleep(0)
        first.settle(1_000, 100)
        with pytest.raises(BudgetError):
            await waiting

    asyncio.run(run())


def test_a_call_that_never_fits_does_not_wait():
    async def run() -> None:
        budget = Budget(Decimal("0.004"))
        with await budget.reserve(1_000, 0, PRICE), pytest.raises(BudgetError):
            await budget.reserve(10_000, 0, PRICE)

    asyncio.run(run())


def test_a_refusal_says_what_is_left_and_what_to_do_and_ends_a_command_with_1():
    async def run() -> BudgetError:
        budget = Budget(Decimal(5))
        budget.charge(1_000, Decimal("4.9876"), calls=3)
        assert budget.refused is None
        with pytest.raises(BudgetError) as caught:
            await budget.reserve(10_000, 0, PRICE)
        assert budget.refused is caught.value
        assert budget.spent == Spent(3, 1_000, Decimal("4.9876"))
        return caught.value

    error = asyncio.run(run())
    assert str(error) == (
        "the budget of --max-usd $5 does not take another call, expected at most what is left of it after $4.99, got "
        "a call of up to $0.02; run it again with a larger --max-usd: what was answered is kept and costs nothing"
    )
    assert error.exit_code == 1


def test_tokens_are_limited_without_a_price():
    async def run() -> None:
        budget = Budget(max_tokens=1_100)
        assert (await budget.reserve(1_000, 100, None)).settle(900, 100) is None
        assert budget.spent == Spent(1, 1_000, Decimal(0))
        with pytest.raises(BudgetError, match=r"--max-tokens 1,100 .* after 1,000, got a call of up to 101 tokens"):
            await budget.reserve(100, 1, None)
        (await budget.reserve(100, 0, None)).settle()
        assert budget.spent.tokens == 1_100

    asyncio.run(run())


def test_a_limit_needs_to_know_how_much_a_call_may_take():
    async def run() -> None:
        with pytest.raises(InputError, match="models whose price is known"):
            await Budget(Decimal(1)).reserve(1, 1, None)
        with pytest.raises(InputError, match="got 'qwen', whose price is not; give --price IN,OUT"):
            await Budget(Decimal(1)).reserve(1, 1, None, "qwen")
        with pytest.raises(InputError, match="set max_tokens"):
            await Budget(max_tokens=1).reserve(1, None, None)
        assert (await Budget().reserve(1, None, None)).settle(10**12, 10**12) is None

    asyncio.run(run())


def test_the_dearest_of_a_models_prices_is_set_aside():
    async def run() -> None:
        price = Price(Decimal(2), Decimal(10), "x", tiers=(Tier(500, Decimal(1), Decimal(20)),))
        reservation = await Budget().reserve(1_000, 100, price)
        assert reservation.usd == Decimal("0.004")  # 1,000 x $2 and 100 x $20, in millionths

    asyncio.run(run())


@pytest.mark.parametrize("limits", [(Decimal(-1),), (Decimal("nan"),), (Decimal("inf"),), (None, -1)])
def test_what_is_no_limit_is_refused(limits):
    with pytest.raises(InputError, match="--max-"):
        Budget(*limits)


calls = st.lists(
    st.tuples(
        st.integers(1, 2_000),  # tokens there, at most
        st.integers(0, 500),  # and back
        st.floats(0, 1),  # which share of both it has
        st.sampled_from(["settle", "settle", "settle", "says nothing", "release", "breaks", "is cancelled"]),
        st.integers(0, 3),  # how often others get their turn meanwhile
    ),
    min_size=32,
    max_size=60,
)


@given(calls, st.integers(0, 30_000), st.integers(0, 60_000), st.integers(0, 2**32))
def test_calls_at_once_never_spend_more_than_they_may_and_none_waits_forever(wanted, max_tokens, max_usd, seed):
    chance = random.Random(seed)
    budget = Budget(Decimal(max_usd).scaleb(-6), max_tokens)
    aside = {"tokens": 0, "usd": Decimal(0)}
    spent = {"calls": 0, "tokens": 0, "usd": Decimal(0)}

    def check() -> None:
        assert spent["tokens"] + aside["tokens"] <= max_tokens
        assert spent["usd"] + aside["usd"] <= budget.max_usd
        assert (budget.spent.calls, budget.spent.tokens, budget.spent.usd) == tuple(spent.values())

    async def call(there: int, back: int, share: float, end: str, turns: int) -> str:
        try:
            reservation = await budget.reserve(there, back, PRICE)
        except BudgetError:
            return "refused"
        most = there * Decimal(2).scaleb(-6) + back * Decimal(10).scaleb(-6)
        aside["tokens"] += there + back
        aside["usd"] += most
        check()
        for _ in range(turns):
            await asyncio.sleep(0)
        aside["tokens"] -= there + back
        aside["usd"] -= most
        had = (int(there * share), int(back * share)) if end == "settle" else (there, back)
        if end != "release":
            spent["calls"] += 1
            spent["tokens"] += sum(had)
            spent["usd"] += had[0] * Decimal(2).scaleb(-6) + had[1] * Decimal(10).scaleb(-6)
        with reservation:
            if end == "settle":
                reservation.settle(*had)
            elif end == "release":
                reservation.release()
            elif end == "says nothing":
                reservation.settle(None, had[1])
        check()
        return "sent"

    async def run() -> list[object]:
        tasks = [asyncio.ensure_future(call(*one)) for one in wanted]
        for task, one in zip(tasks, wanted, strict=True):
            if one[3] == "is cancelled" and one[4] == 0 and chance.random() < 0.5:  # while it waits, if it does
                asyncio.get_running_loop().call_soon(task.cancel)
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)

    results = asyncio.run(run())
    assert all(isinstance(one, str | asyncio.CancelledError) for one in results), results
    assert (budget.refused is not None) == ("refused" in results)


def test_a_call_that_is_given_up_while_it_waits_holds_up_no_other():
    async def run() -> None:
        budget = Budget(max_tokens=10)
        first = await budget.reserve(10, 0, None)
        given_up = asyncio.ensure_future(budget.reserve(10, 0, None))
        waiting = asyncio.ensure_future(budget.reserve(5, 0, None))
        await asyncio.sleep(0)
        given_up.cancel()
        first.settle(5, 0)
        (await waiting).settle(5, 0)
        assert budget.spent.tokens == 10

    asyncio.run(run())


def test_loops_of_several_threads_share_a_budget():
    budget = Budget(max_tokens=1_000)

    async def one() -> int:
        try:
            with await budget.reserve(10, 0, None) as reservation:
                await asyncio.sleep(0)
                reservation.settle(7, 0)
        except BudgetError:
            return 0
        return 7

    async def many() -> None:
        sent.append(sum(await asyncio.gather(*(one() for _ in range(50)))))

    sent: list[int] = []
    threads = [threading.Thread(target=lambda: asyncio.run(many())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Of 200 calls of 7 tokens each, as many as fit, while the last one needs room for 10: 7 n + 10 > 1,000
    assert sum(sent) == budget.spent.tokens
    assert 990 < sum(sent) <= 1_000


def request(text: str, **parameters: object) -> Request:
    return Request("m", (Message("user", text),), parameters, stage="support")


def test_a_request_has_no_more_tokens_than_bytes_and_what_a_server_puts_around():
    body = request("Añade").body
    assert most_input_tokens(body) == len(body) + UNSEEN


@pytest.mark.parametrize(
    "parameters, tokens",
    [
        ({}, None),
        ({"max_tokens": 7}, 7),
        ({"max_completion_tokens": 9}, 9),
        ({"max_tokens": 7, "max_completion_tokens": 9}, 9),
        ({"max_tokens": "7"}, None),
        ({"max_tokens": True}, None),
        ({"max_tokens": -7}, None),
    ],
)
def test_the_most_that_comes_back_is_what_the_request_allows(parameters, tokens):
    assert most_output_tokens(request("x", **parameters)) == tokens


def test_of_embeddings_nothing_comes_back_that_is_paid_for():
    assert most_output_tokens(Request("m", parameters={"input": ["x"]}, path=EMBEDDINGS)) == 0


@pytest.mark.parametrize("text, usd", [("5", "5"), (" $2.50", "2.50"), ("0", "0"), ("1e2", "100")])
def test_an_amount_is_read_as_it_is_typed(text, usd):
    assert parse_usd(text) == Decimal(usd)


@pytest.mark.parametrize("text", ["", "five", "-1", "nan", "inf", "1e99", "5 EUR", "1,000"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(InputError, match="an amount of USD"):
        parse_usd(text)


@pytest.mark.parametrize(
    "usd, text",
    [
        (None, "unknown"),
        ("0", "$0.00"),
        ("325", "$325.00"),
        ("1234567.891", "$1,234,567.90"),
        ("0.0000001", "$0.000001"),
        ("0.0123", "$0.02"),
    ],
)
def test_money_is_shown_rounded_up(usd, text):
    assert dollars(None if usd is None else Decimal(usd)) == text


def test_an_estimate_counts_what_is_sent_once_and_what_was_answered_not_at_all():
    requests = [request("x" * 40, max_tokens=100), request("y" * 80, max_tokens=10), request("x" * 40, max_tokens=100)]
    known = request("z", max_tokens=1)
    stage = estimate_stage(
        "support",
        "http://localhost/v1",
        "m",
        [*requests, known],
        PRICE,
        answered={known.digest}.__contains__,
        count=len,
        output_tokens=50,
    )
    # 40 + 4 and 80 + 4 tokens there, 50 and 10 back: 128 x $2 + 60 x $10, in millionths
    assert stage == StageEstimate("support", "http://localhost/v1", "m", 2, 1, 128, 60, Decimal("0.000856"), "a list")


def test_an_estimate_counts_a_schema_and_texts_to_embed():
    schema = {"type": "object"}
    asked = Request("m", (Message("user", "ab"),), {"max_tokens": 1}, schema)
    assert estimate_stage("s", "e", "m", [asked], None, count=len).input_tokens == 2 + 4 + len(str(schema))
    embedded = Request("m", parameters={"input": ["ab", "cde"]}, path=EMBEDDINGS)
    stage = estimate_stage("s", "e", "m", [embedded], PRICE, count=len)
    assert (stage.input_tokens, stage.output_tokens, stage.usd) == (5, 0, Decimal("0.00001"))


def test_an_estimate_without_a_limit_of_answers_is_refused():
    with pytest.raises(InputError, match="set max_tokens"):
        estimate_stage("s", "e", "m", [request("x")], PRICE)


def test_a_token_has_about_four_bytes():
    assert [rough_tokens(text) for text in ("", "abcd", "abcde", "\ud800")] == [0, 1, 2, 1]


JUDGE = StageEstimate(
    "support", "https://api.openai.com/v1", "gpt-4o", 7_464, 0, 103_000_000, 6_750_000, Decimal(325), "a list"
)
LOCAL = StageEstimate("nuggets", "http://localhost:8080/v1", "mine", 1_244, 10, 2_000_000, 250_000, None)


def test_an_estimate_is_a_table_for_people():
    free = StageEstimate("nuggets", "http://localhost:8080/v1", "mine", 0, 10, 0, 0, Decimal(0), "given")
    assert str(Estimate((free, JUDGE))).splitlines() == [
        "stage    endpoint                   model   calls  answered  input tokens  output tokens      USD",
        "nuggets  http://localhost:8080/v1   mine        0        10             0              0    $0.00",
        "support  https://api.openai.com/v1  gpt-4o  7,464         0   103,000,000      6,750,000  $325.00",
        "total                                       7,464        10   103,000,000      6,750,000  $325.00",
        "",
        "mine: given",
        "gpt-4o: a list",
    ]


def test_a_price_that_nobody_knows_makes_the_total_unknown():
    estimate = Estimate((LOCAL, JUDGE))
    assert estimate.usd is None
    last = str(estimate).splitlines()
    assert [line.split()[-1] for line in last[1:4]] == ["unknown", "$325.00", "unknown"]
    assert last[-1] == "a price is unknown: give --price IN,OUT, USD for a million input and output tokens"


def test_an_estimate_is_json_for_programs():
    assert Estimate((LOCAL,)).to_json() == {
        "stages": [
            {
                "stage": "nuggets",
                "endpoint": "http://localhost:8080/v1",
                "model": "mine",
                "calls": 1_244,
                "answered": 10,
                "input_tokens": 2_000_000,
                "output_tokens": 250_000,
                "usd": None,
                "price": "",
            }
        ],
        "total": {"calls": 1_244, "answered": 10, "input_tokens": 2_000_000, "output_tokens": 250_000, "usd": None},
    }
    assert Estimate((JUDGE,)).to_json()["total"]["usd"] == "325"


def sent_at_once(server: Server, folder: Path, budget: Budget) -> list[Reply | Failed]:
    """Send 60 calls, 32 at once, each of which costs at most what its bytes and its longest answer do."""
    client = Client(
        server.url, Store(folder / "store"), concurrency=32, budget=budget, prices=Prices(given={"": PRICE})
    )
    return client.run([request(f"{number:03}", max_tokens=100) for number in range(60)], "asking")


def test_thirty_two_calls_at_once_stop_at_the_limit_and_keep_what_was_answered(tmp_path):
    with Server([chat("yes")]) as server:  # which says 11 tokens there and 7 back: $0.000092
        budget = Budget(Decimal("0.003"))
        replies = sent_at_once(server, tmp_path, budget)
        answered = [reply for reply in replies if isinstance(reply, Reply)]
        refused = [reply.reason for reply in replies if isinstance(reply, Failed)]
        most = PRICE.usd(most_input_tokens(request("000", max_tokens=100).body), 100)
        assert len(server.asked) == len(answered)
        assert budget.spent.usd == len(answered) * Decimal("0.000092") <= budget.max_usd
        assert budget.spent.usd + most > budget.max_usd  # no further call would have fitted
        assert set(refused) == {"budget"}
        assert str(budget.refused).startswith("the budget of --max-usd $0.003 does not take another call")
        again = sent_at_once(server, tmp_path, Budget())  # what was answered is not asked again
        assert sum(reply.stored for reply in again) == len(answered)


def test_of_a_server_that_does_not_say_what_calls_had_the_most_of_each_counts(tmp_path):
    with Server([chat("yes", usage=None)]) as server:
        budget = Budget(Decimal("0.02"))
        sent_at_once(server, tmp_path, budget)
        most = PRICE.usd(most_input_tokens(request("000", max_tokens=100).body), 100)
        assert len(server.asked) == int(budget.max_usd / most)
        assert budget.spent.usd == len(server.asked) * most
