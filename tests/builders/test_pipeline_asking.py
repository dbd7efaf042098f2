"""Asking models on behalf of stages: one client, one budget, and no stage that is done by a server's mood."""

from decimal import Decimal

import pytest

from builders.pipeline.asking import Asking
from builders.pipeline.settings import Settings
from freshstack_datasets.errors import BudgetError, EndpointError
from freshstack_datasets.llm.budget import Budget
from freshstack_datasets.llm.prices import parse_prices
from freshstack_datasets.llm.records import Failed, Reply
from tests.builders import pipeline_made as made
from tests.llm_server import Server, chat

OLD = "models: {endpoint: fake, model: m,"


@pytest.fixture
def topic(tmp_path):
    return made.made_topic(tmp_path)


@pytest.fixture
def settings(topic):
    return Settings.of(topic)


def ask(asking, number):
    requests = [asking.request("closed-book", question=f"Why {i}?") for i in range(number)]
    return asking.all([lambda client, one=one: client.ask(one) for one in requests], "answering", "questions")


def test_a_request_has_the_model_parameters_and_prompt_of_its_kind(settings, tmp_path):
    asking = made.scripted(settings, tmp_path)
    request = asking.request("closed-book", question="Why?")
    assert (request.model, dict(request.parameters)) == ("m", {"temperature": 0.1, "max_tokens": 500})
    assert (request.stage, request.prompt) == ("closed-book", settings.kind("closed-book").prompt.digest)
    assert "Why?" in request.messages[-1].content


def test_replies_are_kept_and_their_models_told(settings, tmp_path):
    asking = made.scripted(settings, tmp_path, {"closed-book": lambda request: "Because."})
    replies = ask(asking, 3)
    assert [reply.text for reply in replies] == ["Because."] * 3
    assert asking.models([reply.digest for reply in replies]) == ("stand-in for m",)
    assert [call.text for call in asking.calls([replies[0].digest] * 2)] == ["Because."]
    again = made.scripted(settings, tmp_path, {"closed-book": lambda request: "Something else."})
    assert [reply.text for reply in ask(again, 3)] == ["Because."] * 3
    assert (again.client.counts.sent, again.client.counts.stored) == (0, 3)


def test_the_key_of_a_kind_changes_with_all_that_its_replies_depend_on(topic, tmp_path):
    def key(*kinds, **told):
        return made.scripted(Settings.of(topic, **told), tmp_path).key(*kinds)

    assert key("nuggets") == key("nuggets")
    assert key("nuggets") != key("nuggets", model="other")
    assert key("nuggets")["nuggets"]["prompt"] != key("closed-book")["closed-book"]["prompt"]
    assert key("nuggets", llm="http://localhost:1/v1")["endpoint"] == "http://localhost:1/v1"
    other = made.made_topic(tmp_path, made.TOPIC.replace(OLD, OLD + " support: {parameters: {seed: 1}},"))
    changed = made.scripted(Settings.of(other), tmp_path)
    assert (changed.key("nuggets"), changed.key("support")) != (key("nuggets"), key("support"))
    assert changed.key("nuggets") == key("nuggets")


def test_a_budget_that_is_used_up_ends_a_stage_after_all_that_fits_was_asked(topic, tmp_path):
    with Server(lambda asked: chat("Because.")) as server:
        told = Settings.of(topic, llm=server.url)
        body = len(Asking(told).request("closed-book", question="Why 0?").body)
        # each call may take its bytes, 256 tokens around them and 500 of reply; the server says that it took 18
        budget = Budget(max_tokens=body + 256 + 500 + 2 * 18)
        asking = Asking(told, replies=tmp_path / "r.sqlite", budget=budget, concurrency=1)
        with pytest.raises(BudgetError, match=r"2 calls of answering are open: the budget of --max-tokens") as caught:
            ask(asking, 5)
        assert "what was answered is kept" in caught.value.hint
        assert asking.client.counts.answered == 3
        free = Asking(told, replies=tmp_path / "r.sqlite")
        assert len(ask(free, 5)) == 5
        assert (free.client.counts.stored, free.client.counts.answered) == (3, 2)


def test_one_budget_is_for_every_client(settings, tmp_path):
    asking = made.scripted(settings, tmp_path, budget=Budget(Decimal(1)))
    other = asking.client_at("http://localhost:9/v1")
    assert other is asking.client_at("http://localhost:9/v1")
    assert other.calls.budget is asking.client.calls.budget is asking.budget
    assert other.store is asking.store
    assert asking.client_at("same") is asking.client


def test_no_key_is_sent_elsewhere_unless_its_variable_is_named(topic, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-server")
    with Server(lambda asked: chat("Because.")) as server:
        asking = made.scripted(Settings.of(topic), tmp_path)
        request = asking.request("closed-book", question="Why?")
        for key_from, sent in (("", None), ("OPENAI_API_KEY", "Bearer sk-of-another-server")):
            asking = made.scripted(Settings.of(topic), tmp_path / (key_from or "none"))
            asking.client_at(server.url, key_from).run([request], "answering")
            assert server.asked[-1].headers.get("authorization") == sent


def test_prices_that_were_given_count(topic, tmp_path):
    asking = Asking(Settings.of(topic, llm="http://localhost:9/v1"), prices=parse_prices(["m=1,2"]))
    price = asking.prices.of("m")
    assert (price.input, price.output) == (1, 2)


@pytest.mark.parametrize("reason", ["timeout", "connection", "http-500", "http-429"])
def test_a_failure_that_passes_ends_the_stage_and_says_how_many_calls_are_open(settings, tmp_path, reason):
    results = [Reply("a" * 64, "x", "m"), Failed("b" * 64, reason, "busy"), Failed("c" * 64, "refused")]
    with pytest.raises(EndpointError, match="1 of 3 calls is open") as caught:
        made.scripted(settings, tmp_path).refuse_passing(results)
    assert f"{reason} from stand-in (busy)" in str(caught.value)
    assert "the same command goes on there" in caught.value.hint


def test_a_call_that_did_not_fit_into_the_budget_is_open(settings, tmp_path):
    with pytest.raises(BudgetError, match="1 call is open"):
        made.scripted(settings, tmp_path).refuse_passing([Failed("b" * 64, "budget")])


@pytest.mark.parametrize("reason", ["refused", "does-not-fit", "cut-off", "bad-reply"])
def test_a_failure_that_stands_is_let_through(settings, tmp_path, reason):
    made.scripted(settings, tmp_path).refuse_passing([Failed("b" * 64, reason)])


def test_what_a_server_turns_away_stands_where_it_answered_others(settings, tmp_path):
    asking, turned_away = made.scripted(settings, tmp_path), Failed("b" * 64, "http-400", "too long")
    asking.refuse_passing([turned_away, Reply("a" * 64, "x", "m")])
    with pytest.raises(EndpointError, match="2 of 2 calls are open"):  # a parameter that it does not take, perhaps
        asking.refuse_passing([turned_away, turned_away])


def test_what_a_server_turns_away_is_open_where_all_that_it_answered_was_so_in_an_earlier_run(settings, tmp_path):
    # the key has run out since then, which some servers say by a 400
    asking, turned_away = made.scripted(settings, tmp_path), Failed("b" * 64, "http-400", "API key expired")
    known = [Reply(f"{number:064}", "x", "m", stored=True) for number in range(20)]
    with pytest.raises(EndpointError, match="3 of 23 calls are open"):
        asking.refuse_passing([*known, turned_away, turned_away, turned_away])
    asking.refuse_passing([*known, turned_away, turned_away])  # as much may be what a run left open that was killed
    asking.refuse_passing([*known, Reply("a" * 64, "x", "m"), *[turned_away] * 9])
