"""Many calls at once: their order, their errors, and an end by Ctrl-C or by a kill that loses no reply."""

import _thread
import asyncio
import io
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from decimal import Decimal
from functools import partial

import pytest

from freshstack_datasets.errors import EndpointError
from freshstack_datasets.llm import calls
from freshstack_datasets.llm.budget import Budget
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.counting import Counts
from freshstack_datasets.llm.prices import EVERY, Price, Prices
from freshstack_datasets.llm.records import Message, Request
from freshstack_datasets.llm.running import ask_all
from freshstack_datasets.llm.store import Store
from tests.llm_server import Says, Server, chat, error


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "replies.sqlite")
    yield store
    store.close()


def request(text, **parameters):
    return Request("m", (Message("user", text),), parameters, stage="support")


def known(store, server, texts):
    return [text for text in texts if store.get(request(text).digest, server.url)]


def test_results_come_in_the_order_of_jobs_whatever_is_quick(store):
    slow = threading.Event()

    def script(asked):
        if asked.text == "9":
            slow.set()
        return Says(chat(asked.text).body, after=slow if asked.text == "0" else None)

    with Server(script) as server:
        replies = Client(server.url, store).run([request(str(number)) for number in range(10)], "asking")
    assert [reply.text for reply in replies] == list("0123456789")


def test_a_job_may_ask_several_times(store):
    async def job(client, text):
        first = await client.ask(request(text))
        return (await client.ask(request(first.text + "!"))).text

    with Server(lambda asked: chat(asked.text * 2)) as server:
        client = Client(server.url, store)
        assert ask_all(client, [partial(job, text=text) for text in "ab"], "asking") == ["aa!aa!", "bb!bb!"]


def test_nothing_to_do_is_done_at_once(store):
    assert Client("http://localhost:1/v1", store).run([], "asking") == []


def test_it_runs_within_a_running_loop_as_in_a_notebook(store):
    async def cell(server):
        return Client(server.url, store).run([request("a")], "asking")

    with Server([chat("x")]) as server:
        assert asyncio.run(cell(server))[0].text == "x"


def test_a_client_runs_again_after_its_server_was_mended(store):
    with Server([error(401), chat("x")]) as server:
        client = Client(server.url, store)
        with pytest.raises(EndpointError):
            client.run([request("a")], "asking")
        assert client.run([request("a")], "asking")[0].text == "x"


def test_the_error_of_a_job_comes_when_the_replies_to_what_was_sent_are_kept(store):
    hold = threading.Event()

    async def bad(client):
        await asyncio.to_thread(both.wait)
        hold.set()
        raise ValueError("a fault of the job")

    both = threading.Event()

    def script(asked):
        if asked.number == 1:
            both.set()
        return Says(chat("late").body, after=hold)

    with Server(script) as server:
        client = Client(server.url, store, concurrency=4)
        jobs = [partial(ask, text="a"), partial(ask, text="b"), bad]
        with pytest.raises(ValueError, match="a fault of the job"):
            ask_all(client, jobs, "asking")
        assert known(store, server, "ab") == ["a", "b"]
    assert store.lost() == {}


async def ask(client, text):
    return await client.ask(request(text))


def interrupted(client, server, texts, then):
    """Ask, press Ctrl-C when as many calls are under way as may be, and do something then."""

    def press():
        for _ in range(client.concurrency):
            server.arrived.acquire()
        _thread.interrupt_main()
        then()

    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        client.run([request(text) for text in texts], "asking")
    pressing.join()


def test_at_ctrl_c_replies_to_what_was_sent_are_kept_and_nothing_more_is_sent(store, monkeypatch, capsys):
    hold = threading.Event()
    waiting = io.StringIO()
    waiting.write = lambda text: hold.set()  # what is said when it takes longer than a moment
    with Server(lambda asked: Says(chat("late").body, after=hold)) as server:
        monkeypatch.setattr(sys, "stderr", waiting)
        interrupted(Client(server.url, store, concurrency=3), server, "abcdefgh", lambda: None)
        assert len(server.asked) == 3
        assert known(store, server, "abcdefgh") == ["a", "b", "c"]
        hold.set()
        Client(server.url, store).run([request(text) for text in "abcdefgh"], "asking")
        assert sorted(server.texts) == list("abcdefgh")  # none twice
    assert store.lost() == {}


def test_a_second_ctrl_c_gives_up_the_replies_and_they_are_counted(store, monkeypatch):
    says, pressed = io.StringIO(), []
    says.write = lambda text: pressed.append(text) or _thread.interrupt_main() if not pressed else None
    with Server(lambda asked: Says(after=threading.Event())) as server:
        monkeypatch.setattr(sys, "stderr", says)
        interrupted(Client(server.url, store, concurrency=2), server, "abcd", lambda: None)
    store.close()
    assert store.lost() == {"support": 2}


def test_replies_are_not_waited_for_for_ever(store, monkeypatch):
    monkeypatch.setattr(calls, "_GRACE", 0.1)
    with Server(lambda asked: Says(after=threading.Event())) as server:
        interrupted(Client(server.url, store, concurrency=2), server, "abcd", lambda: None)


KILLED = """
import sys
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.counting import Counts
from freshstack_datasets.llm.records import Message, Request
from freshstack_datasets.llm.store import Store
requests = [Request("m", (Message("user", text),), stage="support") for text in "abcdef"]
print(len(Client(sys.argv[1], Store(sys.argv[2]), concurrency=2).run(requests, "asking")))
"""


def test_after_a_kill_no_reply_is_asked_for_again_and_what_was_under_way_is_counted(store):
    hold = threading.Event()
    with Server(lambda asked: Says(chat("x").body, after=hold if asked.number in (2, 3) else None)) as server:
        command = [sys.executable, "-c", KILLED, server.url, str(store.path)]
        killed = subprocess.Popen(command, stdout=subprocess.PIPE)
        for _ in range(4):
            server.arrived.acquire()
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        hold.set()
        assert store.lost() == {"support": 2}
        before = set(known(store, server, "abcdef"))
        assert len(before) == 2
        again = subprocess.run(command, capture_output=True, text=True, check=True)
        assert again.stdout == "6\n"
        assert set(server.texts[4:]) == set("abcdef") - before
        assert len(server.asked) == 4 + 4
    assert store.lost() == {"support": 2}


def test_a_budget_stops_sending_and_what_is_known_still_comes(store):
    price = Price(Decimal(1), Decimal(1_000_000), "test")  # a dollar for each token that comes back
    prices = Prices(given={EVERY: price})

    def run(server, usd, texts):
        client = Client(server.url, store, concurrency=1, budget=Budget(Decimal(usd)), prices=prices)
        return client.run([request(text, max_tokens=7) for text in texts], "asking"), client

    with Server(lambda asked: chat("x")) as server:
        replies, client = run(server, "15", "abcd")
        # Each call may take 7 tokens, that is $7, and a little for what is read; it takes 7: two fit into $15.
        assert [getattr(reply, "reason", "fine") for reply in replies] == ["fine", "fine", "budget", "budget"]
        assert client.counts.usd == sum(reply.usd for reply in replies[:2])
        assert replies[0].usd == Decimal("7.000011")
        assert len(server.asked) == 2
        again, _ = run(server, "0", "abcd")
        assert [getattr(reply, "text", "none") for reply in again] == ["x", "x", "none", "none"]


def test_a_bar_shows_what_became_of_the_calls(store, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with Server(lambda asked: chat("x")) as server:
        Client(server.url, store).run([request(text) for text in "abc"], "judging support")
    assert "judging support" in terminal.getvalue()
    assert "3 answered, 54 tokens" in terminal.getvalue()


def test_calls_that_a_budget_kept_back_are_not_told_as_calls_that_failed():
    counts = Counts(answered=2, failed=Counter({"budget": 8, "refused": 1}))
    assert str(counts) == "2 answered, 1 failed, 8 not sent"
    assert counts.failed == {"budget": 8, "refused": 1}


def test_what_calls_cost_is_told_as_budgets_tell_it():
    assert str(Counts(answered=1, usd=Decimal("0.002785"))) == "1 answered, $0.002785"
    assert str(Counts(answered=1, usd=Decimal("1.231"))) == "1 answered, $1.24"
