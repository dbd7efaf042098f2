"""What becomes of calls when a language model's server misbehaves, over real HTTP on loopback."""

import asyncio
import itertools
import threading
import zlib
from email.utils import formatdate

import pytest

from freshstack_datasets.errors import EndpointError, InputError
from freshstack_datasets.llm import transport
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.limits import LONGEST_WAIT, Clock
from freshstack_datasets.llm.reading import same_model
from freshstack_datasets.llm.records import Failed, Message, Reply, Request
from freshstack_datasets.llm.store import Store
from tests.llm_server import Says, Server, chat, error, packed


class Time:
    """A clock that stands still but when somebody sleeps."""

    def __init__(self):
        self.now = 1000.0
        self.slept = []

    async def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def clock(self):
        return Clock(lambda: self.now, lambda: 1_800_000_000.0 + self.now, self.sleep)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "replies.sqlite")
    yield store
    store.close()


def asking(text="why?", **parameters):
    return Request("m", (Message("user", text),), {"temperature": 0.1, **parameters}, stage="support")


def ask(server, store, *texts, time=None, **settings):
    """Ask a server and return what comes of it, with the client."""
    client = Client(server.url, store, clock=(time or Time()).clock(), **settings)
    return client.run([asking(text) for text in texts or ("why?",)], "asking"), client


def test_a_reply_comes_with_what_the_server_says_of_it(store):
    with Server([chat("Because.", model="m-2026")]) as server:
        (reply,), client = ask(server, store)
    assert reply == Reply(asking().digest, "Because.", "m-2026", 11, 7, None, stored=False, attempts=1)
    assert server.asked[0].path == "/v1/chat/completions"
    assert server.asked[0].body == {
        "model": "m",
        "messages": [{"role": "user", "content": "why?"}],
        "temperature": 0.1,
    }
    assert (client.counts.sent, client.counts.answered, client.counts.models.total()) == (1, 1, 0)


def test_what_was_answered_is_not_asked_again_and_needs_no_server(store):
    with Server(lambda asked: chat(asked.text.upper())) as server:
        ask(server, store, "a", "b")
        again, client = ask(server, store, "b", "a", "b")
        assert [reply.text for reply in again] == ["B", "A", "B"]
        assert all(reply.stored for reply in again)
        assert (len(server.asked), server.connections) == (2, 2)
    last, _ = ask(server, store, "a", "b")  # it is gone
    assert [(reply.text, reply.stored) for reply in last] == [("A", True), ("B", True)]
    assert client.counts.sent == 0


def test_the_same_call_under_way_is_sent_once(store):
    hold = threading.Event()

    def script(asked):
        return Says(chat("yes").body, after=hold)

    async def both(server):
        async with Client(server.url, store) as client:
            replies = [asyncio.create_task(client.ask(asking())) for _ in range(5)]
            await asyncio.to_thread(server.arrived.acquire)
            hold.set()
            return await asyncio.gather(*replies)

    with Server(script) as server:
        assert {reply.text for reply in asyncio.run(both(server))} == {"yes"}
        assert len(server.asked) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_fault_that_passes_is_tried_again(store, status):
    with Server([error(status, "busy"), error(status, "busy"), chat("at last")]) as server:
        time = Time()
        (reply,), client = ask(server, store, time=time)
    assert (reply.text, reply.attempts) == ("at last", 3)
    assert client.counts.again == {f"http-{status}": 2}
    first, second = (seconds for seconds in time.slept if seconds)
    assert 0.5 <= first <= 1.5  # one second, give or take a half, then two
    assert 1.0 <= second <= 3.0


def test_a_server_that_stays_broken_fails_the_call_and_a_later_run_asks_it_again(store):
    with Server([error(500, "out of order")]) as server:
        (failed,), client = ask(server, store, retries=2)
        assert failed == Failed(asking().digest, "http-500", "out of order")
        assert (len(server.asked), client.counts.failed) == (3, {"http-500": 1})
        ask(server, store, retries=0)
        assert len(server.asked) == 4
    assert store.lost() == {}


@pytest.mark.parametrize(
    "header, least, most",
    [("7", 7.0, 7.7), ("0.5", 0.5, 0.6), ("900000", LONGEST_WAIT, LONGEST_WAIT), ("-3", 0.5, 1.5), ("0", 0.5, 1.5)],
)
def test_the_server_says_how_long_to_wait_within_reason(store, header, least, most):
    with Server([error(429, Retry_After=header), chat("now")]) as server:
        time = Time()
        ask(server, store, time=time)
    assert least <= time.now - 1000 <= most


def test_the_server_may_name_the_moment(store):
    date = formatdate(1_800_000_000 + 1000 + 42, usegmt=True)
    with Server([error(503, Retry_After=date), chat("now")]) as server:
        time = Time()
        ask(server, store, time=time)
    assert 42 <= time.now - 1000 <= 42 * 1.1


def test_a_moment_that_has_passed_is_no_reason_to_hurry(store):
    date = formatdate(1_700_000_000, usegmt=True)
    with Server([error(429, Retry_After=date), chat("now")]) as server:
        time = Time()
        ask(server, store, time=time)
    assert 0.5 <= time.now - 1000 <= 1.5


def test_nonsense_in_place_of_a_time_is_passed_over(store):
    with Server([error(429, Retry_After="soon" * 1000), chat("now")]) as server:
        time = Time()
        ask(server, store, time=time)
    assert 0.5 <= time.now - 1000 <= 1.5


def test_a_storm_slows_all_calls_and_loses_none(store):
    answered = itertools.count()

    def script(asked):
        storm = 20 <= asked.number < 60
        return error(429, Retry_After="3") if storm else chat(f"{next(answered)}")

    with Server(script) as server:
        time = Time()
        replies, client = ask(server, store, *map(str, range(100)), time=time, concurrency=16, retries=3)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert client.counts.again == {"http-429": 40}
    assert len(server.asked) == 140
    # Calls each on their own would try 16 at a time; here each wait of 3 s ends with half as many, down to one.
    assert time.now - 1000 >= 3 * 5


def test_a_storm_that_does_not_end_ends_the_run(store):
    with Server(lambda asked: error(429, "tokens per day")) as server:
        with pytest.raises(EndpointError, match=r"too busy to answer any call, got http-429 \(tokens per day\)"):
            ask(server, store, *map(str, range(50)), concurrency=4, retries=3)
        assert len(server.asked) <= 8 * 4


def test_a_call_that_is_too_large_for_the_servers_limit_fails_alone(store):
    def script(asked):
        return error(429, "Request too large for m on tokens per min") if asked.text == "b" else chat("x")

    with Server(script) as server:
        replies, client = ask(server, store, "a", "b", "c")
    assert [getattr(reply, "reason", "fine") for reply in replies] == ["fine", "http-429", "fine"]
    assert (len(server.asked), client.counts.slowed) == (3, 0)


def test_no_more_calls_are_under_way_than_is_allowed(store):
    with Server(lambda asked: chat("x")) as server:
        ask(server, store, *map(str, range(60)), concurrency=3)
    assert server.most_under_way <= 3
    assert server.connections <= 3


@pytest.mark.parametrize(
    "says, words",
    [
        (error(401, "bad key"), "refuses the key, got 401 (bad key); set OPENAI_API_KEY"),
        (error(402, "pay"), "has no money left for this account, got 402 (pay)"),
        (error(429, "no quota", "insufficient_quota"), "has no money left for this account"),
        (error(403, "region"), "refuses every call"),
        (error(404, "Not Found"), "does not know the model 'm', or the address, got 404 (Not Found)"),
        (Says(b"", 307, {"location": "http://127.0.0.1:1/v1"}), "sends calls elsewhere, where no key is sent"),
    ],
)
def test_what_holds_for_all_calls_ends_the_run_at_once(store, says, words):
    with Server([says]) as server, pytest.raises(EndpointError) as raised:
        ask(server, store, *map(str, range(50)), concurrency=2)
    assert words in str(raised.value)
    assert len(server.asked) <= 2


def test_one_forbidden_question_among_others_fails_alone(store):
    with Server(lambda asked: error(403, "flagged") if asked.text == "b" else chat("x")) as server:
        replies, _ = ask(server, store, "a", "b", "c", concurrency=1)
    assert [getattr(reply, "reason", "fine") for reply in replies] == ["fine", "http-403", "fine"]


def test_a_forbidden_question_that_is_all_that_is_left_fails_alone_too(store):
    with Server(lambda asked: error(403, "flagged") if asked.text == "b" else chat("x")) as server:
        ask(server, store, "a", concurrency=1)
        replies, _ = ask(server, store, "a", "b", concurrency=1)
    assert [getattr(reply, "reason", "fine") for reply in replies] == ["fine", "http-403"]


def test_a_server_that_is_not_there_is_named_at_once(store):
    with Server([chat("x")]) as server:
        pass
    time = Time()
    with pytest.raises(EndpointError, match=rf"cannot connect to {server.url}.*check that the server runs"):
        ask(server, store, *map(str, range(50)), time=time)
    assert max(time.slept) <= 3.0  # two tries more, after one and two seconds, give or take a half


def test_a_call_that_is_turned_away_for_itself_fails_alone_without_another_try(store):
    with Server(lambda asked: error(400, "too long", "context_length_exceeded")) as server:
        (failed,), _ = ask(server, store)
        assert failed == Failed(asking().digest, "http-400", "too long")
        assert len(server.asked) == 1


def gzip_bomb():
    """A gigabyte of spaces, packed as it is sent."""
    packer = zlib.compressobj(9, wbits=31)
    for _ in range(1024):
        yield packer.compress(b" " * 2**20)
    yield packer.flush()


def endless():
    while True:
        yield b" " * 2**16


FINE = chat("fine")
WRONG = {
    "a body of any size": lambda: Says(parts=endless()),
    "a bomb": lambda: Says(parts=gzip_bomb(), headers={"content-encoding": "gzip"}),
    "damaged packing": lambda: Says(b"no gzip", headers={"content-encoding": "gzip"}),
    "cut packing": lambda: Says(zlib.compress(b"{}" * 999)[:-3], headers={"content-encoding": "deflate"}),
    "unknown packing": lambda: Says(b"{}", headers={"content-encoding": "br"}),
    "no JSON": lambda: Says(b"<html>sign in</html>", headers={"content-type": "text/html"}),
    "no text": lambda: Says(b"\xff\xfe\x00"),
    "NaN": lambda: Says(b'{"choices": [{"message": {"content": "x"}}], "x": NaN}'),
    "deep nesting": lambda: Says(b"[" * 100_000),
    "many digits": lambda: Says(b'{"a": ' + b"1" * 10_000 + b"}"),
    "a list": lambda: Says([]),
    "no choices": lambda: Says({"choices": []}),
    "choices that are none": lambda: Says({"choices": ["x"]}),
    "no message": lambda: Says({"choices": [{"index": 0}]}),
    "broken off": lambda: chat("half", finish="error"),
    "an error with all well": lambda: Says({"error": {"message": "upstream", "code": 502}}),
    "an error in words": lambda: Says({"error": "overloaded"}),
    "an error with a status in digits": lambda: Says({"error": {"message": "upstream", "code": "502"}}),
    "a second answer behind the first": lambda: Says(b'{"id": 1}' * 2),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_answer_that_makes_no_sense_is_no_answer_and_is_asked_for_again(store, what, monkeypatch):
    monkeypatch.setattr(transport, "LARGEST_BODY", 2**20)
    with Server(lambda asked: WRONG[what]() if asked.number == 0 else FINE) as server:
        (reply,), client = ask(server, store)
        assert (reply.text, reply.attempts) == ("fine", 2)
        assert client.counts.again.total() == 1
    assert store.lost() == {}


@pytest.mark.parametrize("what", WRONG)
def test_an_answer_that_never_makes_sense_fails_the_call(store, what, monkeypatch):
    monkeypatch.setattr(transport, "LARGEST_BODY", 2**20)
    with Server(lambda asked: WRONG[what]()) as server:
        (failed,), _ = ask(server, store, retries=1)
    assert failed.detail.isprintable()
    assert failed.reason == ("http-502" if what.startswith("an error") else "bad-reply")
    assert store.get(failed.digest, server.url) is None


def test_a_body_that_is_cut_is_no_answer(store):
    with Server([Says(b'{"choices": [', length=999), chat("whole")]) as server:
        (reply,), client = ask(server, store)
    assert reply.text == "whole"
    assert client.counts.again == {"connection": 1}


def test_a_packed_body_of_any_size_below_the_limit_is_read_whole(store):
    texts = ["x" * size for size in (1, 2**16, 2**18, 2**18 + 1, 3 * 2**18, 10**6)]
    with Server(lambda asked: packed(chat("x" * int(asked.text)))) as server:
        replies, _ = ask(server, store, *(str(len(text)) for text in texts))
    assert [reply.text for reply in replies] == texts


@pytest.mark.parametrize("says", [lambda hold: Says(after=hold), lambda hold: Says(parts=drip())])
def test_a_call_takes_no_longer_than_its_time(store, says):
    hold = threading.Event()
    with Server(lambda asked: says(hold) if asked.number == 0 else chat("quick")) as server:
        (reply,), client = ask(server, store, timeout=0.3)
    assert reply.text == "quick"
    assert client.counts.again == {"timeout": 1}


def drip():
    while True:
        yield b" "


def test_a_call_that_always_takes_too_long_fails(store):
    with Server(lambda asked: Says(after=threading.Event())) as server:
        (failed,), _ = ask(server, store, timeout=0.1, retries=1)
    assert failed == Failed(asking().digest, "timeout", "no whole answer within 0.1 s")


@pytest.mark.parametrize(
    "says, words",
    [
        (error(500, "out of order"), "http-500 (out of order)"),
        (Says(b"<html>"), "bad-reply (an answer that is no JSON: b'<html>')"),
        (Says(after=threading.Event()), "timeout (no whole answer within 0.1 s)"),
    ],
)
def test_a_server_that_answers_no_call_is_left_before_all_are_tried(store, says, words):
    with Server(lambda asked: chat("x") if asked.text == "0" else says) as server:
        with pytest.raises(EndpointError) as raised:
            ask(server, store, *map(str, range(200)), concurrency=4, retries=1, timeout=0.1)
        assert words in str(raised.value)
        assert "answers no call any more, got 16 that failed in a row" in str(raised.value)
        assert len(server.asked) <= 1 + 2 * (16 + 8)  # those that were under way are let be
        assert store.get(asking("0").digest, server.url) is not None


def test_calls_that_fail_for_themselves_among_others_do_not_end_a_run(store):
    with Server(lambda asked: chat("x") if int(asked.text) % 10 == 0 else error(500)) as server:
        replies, client = ask(server, store, *map(str, range(100)), concurrency=2, retries=0)
    assert client.counts.failed == {"http-500": 90}
    assert sum(isinstance(reply, Reply) for reply in replies) == 10


@pytest.mark.parametrize("status", [201, 204, 299, 418, 600, 999])
def test_a_status_that_nobody_expects_fails_the_call(store, status):
    with Server([Says({"detail": "\x1b[2J odd"} if status != 204 else b"", status)]) as server:
        (failed,), _ = ask(server, store, retries=0)
    assert (failed.reason, failed.detail) == (f"http-{status}", "?[2J odd" if status != 204 else "")


@pytest.mark.parametrize(
    "asked, said, same",
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4", "gpt-4-0613", True),
        ("gpt-4-latest", "gpt-4-0613", True),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("claude-3-opus", "anthropic/claude-3-opus@20240229", True),
        ("gemini-2.0-flash", "models/gemini-2.0-flash-001", True),
        ("gemini-2.5-flash", "gemini-2.5-flash-preview-05-20", True),
        ("llama3", "llama3:latest", True),
        ("m", "", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("gpt-4", "gpt-4.1", False),
        ("claude-sonnet-4", "claude-sonnet-4-5", False),
        ("llama3", "llama3:8b", False),
        ("o1", "o1-pro", False),
    ],
)
def test_a_release_of_the_model_that_was_asked_is_that_model_and_a_smaller_sister_is_not(asked, said, same):
    assert same_model(asked, said) is same


def test_odd_replies_are_taken_and_counted(store):
    two = [{"index": at, "message": {"content": text}, "finish_reason": "stop"} for at, text in ((1, "b"), (0, "a"))]
    says = {
        "two choices": chat("", choices=two),
        "no usage": chat("x", usage=None),
        "nonsense usage": chat("x", usage={"prompt_tokens": -1, "completion_tokens": 1e9}),
        "no finish": chat("x", finish=None),
        "parts": chat(None, message={"content": [{"type": "thinking"}, {"type": "text", "text": "p"}]}),
        "surrogate": chat("\ud83d!"),
        "another": chat("x", model="gpt-7"),
    }
    with Server(lambda asked: says[asked.text]) as server:
        replies, client = ask(server, store, *says)
    texts = dict(zip(says, (reply.text for reply in replies), strict=True))
    assert texts == {**dict.fromkeys(says, "x"), "two choices": "a", "parts": "p", "surrogate": "?!"}
    assert replies[1].input_tokens is replies[2].input_tokens is None
    assert client.counts.odd == {"several choices": 1, "no usage": 2, "no finish_reason": 1}
    assert client.counts.models == {"m -> gpt-7": 1}
    assert replies[-1].model == store.get(replies[-1].digest, server.url).model == "gpt-7"


@pytest.mark.parametrize(
    "says, reason, detail",
    [
        (chat(None, message={"refusal": "I will not."}), "refused", "I will not."),
        (chat("", finish="content_filter"), "refused", "content_filter"),
        (error(400, "filtered", "content_filter"), "refused", "filtered"),
        (chat("half a sen", finish="length"), "cut-off", "after 7 tokens"),
        (chat("half a sen", finish="max_tokens"), "cut-off", "after 7 tokens"),
        (chat(None), "does-not-fit", "it says nothing"),
        (chat(" \n"), "does-not-fit", "it says nothing"),
    ],
)
def test_an_answer_that_is_no_reply_is_a_failed_call_and_kept(store, says, reason, detail):
    with Server([says]) as server:
        (failed,), _ = ask(server, store)
        (again,), client = ask(server, store)
    assert (failed.reason, failed.detail) == (reason, detail)
    assert client.counts.failed == {reason: 1}
    assert again == failed
    assert len(server.asked) == 1


def test_a_reply_for_which_there_is_no_room_on_the_disk_ends_the_run_and_is_counted_as_lost(store):
    with store._base() as base:
        base.execute("PRAGMA max_page_count = 1")  # it is larger already: there is room for notes, and little more
    with Server(lambda asked: chat("x" * 100_000 if asked.text == "b" else "x")) as server:
        with pytest.raises(InputError, match="database or disk is full; check the disk"):
            ask(server, store, "a", "b", "c", "d", concurrency=1)
        assert server.texts == ["a", "b"]
        store.close()
        assert store.lost() == {"support": 1}
        replies, _ = ask(server, store, "a", "b", "c", "d")
        assert [reply.stored for reply in replies] == [True, False, False, False]


def test_a_server_that_goes_away_in_the_middle_ends_the_run_and_nothing_is_lost(store):
    with Server(lambda asked: chat("x")) as server:
        ask(server, store, "a")
        server.stop()
        with pytest.raises(EndpointError, match="cannot connect"):
            ask(server, store, "a", "b")
        server.start(server.port)
        replies, _ = ask(server, store, "a", "b")
    assert [reply.stored for reply in replies] == [True, False]
