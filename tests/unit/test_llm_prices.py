"""Prices: those of the package, those that somebody gives, and that none is ever made up."""

import sys
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError, MissingExtraError
from freshstack_datasets.llm.prices import EVERY, Price, Prices, Tier, parse_prices, read_prices

OPENAI = "https://api.openai.com/v1"


def test_a_call_costs_its_tokens_at_the_price_of_a_million():
    # 26,000 x $2.50 / 1,000,000 = $0.065 and 1,000 x $10 / 1,000,000 = $0.01
    assert Price(Decimal("2.5"), Decimal(10), "x").usd(26_000, 1_000) == Decimal("0.075")


def test_the_money_is_exact_where_floats_are_not():
    # 3 x 0.1 is 0.30000000000000004 in floats
    assert str(Price(Decimal("0.1"), Decimal(0), "x").usd(3, 0)) == "3E-7"
    assert sum((Price(Decimal("0.1"), Decimal(0), "x").usd(1, 0) for _ in range(10)), Decimal(0)) == Decimal("0.000001")


def test_a_long_call_costs_another_price_for_all_its_tokens():
    price = Price(Decimal("1.25"), Decimal(10), "x", Decimal(0), (Tier(200_000, Decimal("2.5"), Decimal(15)),))
    assert price.usd(200_000, 1_000) == Decimal("0.26")  # 0.2 x 1.25 + 0.001 x 10
    assert price.usd(200_001, 1_000) == Decimal("0.5150025")  # 0.200001 x 2.5 + 0.001 x 15


def test_a_price_for_each_call_is_added():
    assert Price(Decimal(1), Decimal(1), "x", call=Decimal("0.005")).usd(0, 0) == Decimal("0.005")


rates = st.decimals(0, 100, places=3)
prices = st.builds(
    Price,
    rates,
    rates,
    st.just("x"),
    rates,
    st.lists(st.builds(Tier, st.integers(0, 1000), rates, rates), max_size=3).map(
        lambda tiers: tuple(sorted(tiers, key=lambda tier: tier.over))
    ),
)


@given(prices, st.integers(0, 2_000), st.integers(0, 2_000), st.integers(0, 2_000), st.integers(0, 2_000))
def test_no_smaller_call_costs_more_than_the_most(price, sent, came, fewer_sent, fewer_came):
    assert price.usd(min(sent, fewer_sent), min(came, fewer_came)) <= price.most(sent, came)


def test_the_most_is_at_the_dearest_price_of_each_kind_that_such_a_call_or_a_shorter_one_has():
    tiers = (Tier(500, Decimal(1), Decimal(20)), Tier(800, Decimal(3), Decimal(5)))
    price = Price(Decimal(2), Decimal(10), "x", tiers=tiers)
    assert price.most(500, 100) == Decimal("0.002")  # 500 x $2 + 100 x $10, in millionths
    assert price.most(801, 100) == Decimal("0.004403")  # 801 x $3 + 100 x $20


@given(prices, st.integers(0, 2_000), st.integers(0, 2_000))
def test_half_the_price_is_half_the_money(price, sent, came):
    assert price.halved().usd(sent, came) * 2 == price.usd(sent, came)


def test_the_package_knows_the_usual_models():
    # OpenAI's and Anthropic's price lists, per million tokens, and their batches at half of it
    price = Prices(OPENAI).of("gpt-4o-2024-08-06")
    assert (price.input, price.output) == (Decimal("2.50"), Decimal(10))
    assert price.source.startswith("genai-prices ")
    assert price.source.endswith("openai gpt-4o")
    batch = Prices(OPENAI).of("gpt-4o", batch=True)
    assert (batch.input, batch.output) == (Decimal("1.25"), Decimal(5))
    assert batch.source.endswith("openai gpt-4o, batch")
    long = Prices().of("claude-sonnet-4-5")
    assert (long.input, long.output, long.tiers) == (
        Decimal(3),
        Decimal(15),
        (Tier(200_000, Decimal(6), Decimal("22.5")),),
    )


def test_a_batch_costs_half_where_the_package_does_not_say_it():
    price = Prices("https://api.deepseek.com").of("deepseek-chat")
    batch = Prices("https://api.deepseek.com").of("deepseek-chat", batch=True)
    assert (batch.input * 2, batch.output * 2) == (price.input, price.output)
    assert batch.source == f"half of {price.source}, as batches usually cost"


def test_embeddings_have_no_output_that_costs():
    # OpenAI's price list: $0.02 for a million tokens
    price = Prices(OPENAI).of("text-embedding-3-small", embeddings=True)
    assert (price.input, price.output) == (Decimal("0.02"), 0)
    with pytest.raises(InputError, match="unknown"):  # as a chat, its output would be free
        Prices(OPENAI).of("text-embedding-3-small")


@pytest.mark.parametrize(
    "url, model",
    [
        ("", "no-such-model"),
        ("", ""),
        (OPENAI, "no-such-model"),
        (OPENAI, "gemini-2.5-flash"),  # another provider's
        ("http://127.0.0.1:8000/v1", "SmolLM2-135M"),
    ],
)
def test_a_price_that_nobody_knows_is_an_error_with_the_next_step_and_never_0(url, model):
    assert Prices(url).known(model) is None
    with pytest.raises(InputError, match=r"the price of the model .* is unknown; give --price IN,OUT"):
        Prices(url).of(model)


def test_at_an_address_that_nobody_knows_the_models_name_decides():
    assert Prices("https://gateway.example.org/v1").of("gpt-4o").output == 10


def test_a_given_price_goes_before_the_packages():
    prices = Prices(OPENAI, parse_prices(["gpt-4o=1,2"]))
    assert (prices.of("gpt-4o").input, prices.of("gpt-4o").output) == (Decimal(1), Decimal(2))
    assert prices.of("gpt-4o", batch=True).output == 1
    assert prices.of("gpt-4o-mini").input == Decimal("0.15")  # OpenAI's price list


def test_a_price_for_all_models_is_for_those_without_their_own():
    prices = Prices(OPENAI, parse_prices(["0,0", "gpt-4o=1,2"]))
    assert prices.of("a-model-of-mine").usd(1000, 1000) == 0
    assert prices.of("gpt-4o").input == 1


def test_prices_are_read_as_they_are_typed():
    assert parse_prices(["2.5,10", "a=b/c:free=0.1,0"]) == {
        EVERY: Price(Decimal("2.5"), Decimal(10), "given"),
        "a=b/c:free": Price(Decimal("0.1"), Decimal(0), "given"),
    }


@pytest.mark.parametrize(
    "texts",
    [
        ["1"],
        ["1,2,3"],
        ["x=1"],
        ["x,y"],
        ["-1,2"],
        ["nan,1"],
        ["1,inf"],
        ["1,1e7"],
        [""],
        ["1,2", "3,4"],
        [","],
        ["=1,2", "1,2"],
    ],
)
def test_what_is_no_price_is_refused(texts):
    with pytest.raises(InputError, match="a price"):
        parse_prices(texts)


def test_a_file_gives_prices_of_models(tmp_path):
    file = tmp_path / "prices.toml"
    file.write_text('["meta-llama/Llama-3"]\ninput = 0.1\noutput = 2\n\n[mine]\ninput = 0\noutput = 0\n')
    assert read_prices(file) == {
        "meta-llama/Llama-3": Price(Decimal("0.1"), Decimal(2), "given in prices.toml"),
        "mine": Price(Decimal(0), Decimal(0), "given in prices.toml"),
    }


@pytest.mark.parametrize(
    "content, message",
    [
        (b"[a]\ninput = 1\n", "the prices of 'a', expected input and output"),
        (b"a = 1\n", "the prices of 'a'"),
        (b"[a]\ninput = 1\noutput = 2\nother = 3\n", "the prices of 'a'"),
        (b"[a]\ninput = '$1'\noutput = 2\n", "a price, expected a number from 0"),
        (b"[a]\ninput = nan\noutput = 2\n", "a price"),
        (b"[a]\ninput = true\noutput = 2\n", "a price"),
        (b"[a]\ninput = 1\noutput = -2\n", "a price"),
        (b"\xff", "cannot read the prices"),
        (b"[a]\n[a]\n", "cannot read the prices"),
        (b"#" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, content, message):
    (tmp_path / "prices.toml").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_prices(tmp_path / "prices.toml")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot read the prices .*nothing\.toml"):
        read_prices(tmp_path / "nothing.toml")


def test_a_file_is_typed_as_a_price_is_and_other_prices_beside_it(tmp_path):
    file = tmp_path / "a=1,2.toml"
    file.write_text('["gpt-4o"]\ninput = 2.5\noutput = 10\n')
    assert parse_prices([str(file), "0,0"]) == {
        "gpt-4o": Price(Decimal("2.5"), Decimal(10), "given in a=1,2.toml"),
        EVERY: Price(Decimal(0), Decimal(0), "given"),
    }
    with pytest.raises(InputError, match="expected one for each model, got two for 'gpt-4o'"):
        parse_prices(["gpt-4o=1,2", str(file)])
    with pytest.raises(InputError, match="cannot read the prices"):
        parse_prices([str(tmp_path / "nothing.toml")])


@given(st.text(max_size=30) | st.from_regex(r"(\w=)?[-0-9.e_ ]+,[-0-9.e_ ]+", fullmatch=True))
def test_any_text_is_a_price_from_0_on_or_an_input_error(text):
    try:
        (price,) = parse_prices([text]).values()
    except InputError:
        return
    assert 0 <= price.usd(1_000_000, 1_000_000) <= 2_000_000


@given(st.binary(max_size=60))
def test_any_file_gives_prices_or_an_input_error(tmp_path_factory, content):
    file = tmp_path_factory.mktemp("prices") / "prices.toml"
    file.write_bytes(content)
    try:
        found = read_prices(file)
    except InputError:
        return
    assert all(price.input >= 0 for price in found.values())


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(MissingExtraError, match=r"freshstack-datasets\[llm\]"):
        Prices().of("gpt-4o")
    assert Prices(given=parse_prices(["1,2"])).of("gpt-4o").output == 2
