"""Requests and their digests, and the store of replies."""

import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError
from freshstack_datasets.llm import store as store_module
from freshstack_datasets.llm.records import EMBEDDINGS, Call, Failed, Message, Request
from freshstack_datasets.llm.store import Store, default_store

TEXT = st.text(max_size=20)
NUMBER = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OURS = {"model", "messages", "n", "stream", "response_format"}
PARAMETERS = st.dictionaries(TEXT.filter(lambda name: name not in OURS), JSON, max_size=4)
MESSAGES = st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), TEXT), min_size=1, max_size=3)
REQUESTS = st.builds(Request, TEXT, MESSAGES.map(tuple), PARAMETERS, st.none() | st.just({"type": "object"}))


def turned(value):
    """The same JSON with the keys of all objects in another order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(part) for part in value] if isinstance(value, list) else value


@given(REQUESTS)
def test_the_order_of_parameters_does_not_change_a_digest(request):
    assert replace(request, parameters=turned(request.parameters)).digest == request.digest


@given(REQUESTS, TEXT, st.sampled_from(["model", "content", "role", "message", "parameter", "value", "schema", "path"]))
def test_each_thing_that_is_sent_changes_a_digest(request, text, what):
    first, *rest = request.messages
    other = {
        "model": lambda: replace(request, model=request.model + "x"),
        "content": lambda: replace(request, messages=(Message(first.role, first.content + "x"), *rest)),
        "role": lambda: replace(
            request, messages=(Message("user" if first.role == "system" else "system", first.content), *rest)
        ),
        "message": lambda: replace(request, messages=(*request.messages, Message("user", text))),
        "parameter": lambda: replace(request, parameters={**request.parameters, "one more": None}),
        "value": lambda: replace(request, parameters={**request.parameters, "seed": [request.parameters.get("seed")]}),
        "schema": lambda: replace(request, schema={"type": "array"}),
        "path": lambda: replace(request, path=EMBEDDINGS),
    }[what]()
    assert other.digest != request.digest
    assert len(request.digest) == 64


def test_what_is_not_sent_does_not_change_a_digest():
    request = Request("m", (Message("user", "x"),))
    assert replace(request, stage="s", prompt="p").digest == request.digest


def test_the_order_of_a_schema_counts_since_a_reply_is_written_in_it():
    one, other = ({"properties": {name: {} for name in names}} for names in ("ab", "ba"))
    assert Request("m", schema=one).digest != Request("m", schema=other).digest


@given(REQUESTS)
def test_a_body_is_json_and_holds_what_was_given(request):
    body = json.loads(request.body)
    assert body["model"] == request.model
    assert [(one["role"], one["content"]) for one in body["messages"]] == [
        (one.role, one.content) for one in request.messages
    ]
    for name, value in request.parameters.items():
        assert body[name] == value
    assert ("response_format" in body) == (request.schema is not None)


def test_half_a_surrogate_pair_is_sent_as_a_question_mark():
    assert json.loads(Request("m", (Message("user", "a\ud800b"),)).body)["messages"][0]["content"] == "a?b"


@pytest.mark.parametrize("name", ["model", "messages", "n", "stream"])
def test_a_parameter_says_nothing_that_has_a_place_of_its_own(name):
    with pytest.raises(InputError, match=f"parameters of a request.*{name}"):
        Request("m", parameters={name: 1})
    with pytest.raises(InputError, match="response_format"):
        Request("m", parameters={"response_format": {}}, schema={})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1: 2, "a": 3}])
def test_what_json_cannot_say_is_refused(value):
    with pytest.raises(InputError, match="a request to a model, expected what JSON can say"):
        _ = Request("m", parameters={"x": value}).digest


def test_reasons_of_failures_are_a_closed_list():
    for reason in ("refused", "does-not-fit", "cut-off", "timeout", "connection", "bad-reply", "budget", "http-529"):
        assert Failed("d", reason).reason == reason
    for reason in ("", "no", "http-", "http-99", "http-5000", "refused "):
        with pytest.raises(InputError, match="reason of a failed call"):
            Failed("d", reason)


def call(digest="d", endpoint="e", **values):
    given = {
        "stage": "s", "prompt": "p", "asked": "m", "parameters": {}, "model": "m", "text": "t", "finish": "stop",
        "input_tokens": 1, "output_tokens": 2, "usd": None, "attempts": 1, "created": "2026-11-30T00:00:00+00:00",
    }  # fmt: skip
    return Call(digest, endpoint, **{**given, **values})


COUNTS = st.none() | st.integers(0, 2**40)
CALLS = st.builds(
    Call, TEXT, TEXT, TEXT, TEXT, TEXT, PARAMETERS, TEXT, st.text(), TEXT, COUNTS, COUNTS,
    st.none() | st.decimals(0, 10**6, places=9), st.integers(1, 99), TEXT,
)  # fmt: skip


@given(st.lists(CALLS, max_size=4, unique_by=lambda one: (one.digest, one.endpoint)))
@settings(max_examples=50)
def test_calls_come_back_as_they_were_kept(tmp_path_factory, calls):
    path = tmp_path_factory.mktemp("store") / "replies.sqlite"
    with Store(path) as first:
        for one in calls:
            assert first.keep(one) == one
    with Store(path) as second:
        assert [second.get(one.digest, one.endpoint) for one in calls] == calls


def test_the_first_answer_stays_whoever_comes_later(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.keep(call(text="first", usd=Decimal("0.5")))
    assert store.keep(call(text="second")).text == "first"
    assert store.get("d", "e").usd == Decimal("0.5")
    store.close()


def test_endpoints_do_not_answer_for_each_other(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.keep(call(endpoint="http://one/v1"))
    assert store.get("d", "http://other/v1") is None
    store.keep_vectors({"d": b"1234"}, "http://one/v1")
    assert store.vectors(["d"], "http://other/v1") == {}
    assert store.vectors(["x", "d"], "http://one/v1") == {"d": b"1234"}
    store.close()


def test_some_calls_are_found_in_the_order_asked(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    for digest in "abc":
        store.keep(call(digest))
    assert [one.digest for one in store.calls(["c", "x", "a"], "e")] == ["c", "a"]
    store.close()


def test_the_default_is_in_the_home_folder_and_nothing_is_made_before_it_is_used(own_home):
    assert default_store() == own_home / "llm" / "replies.sqlite"
    Store(default_store())
    assert not (own_home / "llm").exists()


KILLED = """
import os, sys
from freshstack_datasets.llm.store import Store
store = Store(sys.argv[1])
ended = store.begin("a", "e", "nuggets", 600)
store.begin("b", "e", "support", 600)
store.begin("c", "e", "support", 600)
store.end(ended)
os._exit(9)
"""


def test_calls_under_way_at_a_kill_are_counted_once_and_for_good(tmp_path):
    path = tmp_path / "s.sqlite"
    for times in (1, 2):
        subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
        store = Store(path)
        assert store.lost() == {"support": 2 * times}
        assert store.found_lost == {"support": 2}
        store.close()
    store = Store(path)
    assert store.lost() == {"support": 4}
    assert store.found_lost == {}
    store.close()


def test_calls_that_somebody_still_waits_for_are_not_lost(tmp_path, monkeypatch):
    one, other = Store(tmp_path / "s.sqlite"), Store(tmp_path / "s.sqlite")
    one.begin("a", "e", "s", 600)
    assert other.lost() == {}
    with sqlite3.connect(tmp_path / "s.sqlite") as base:
        base.execute("UPDATE under_way SET process = ?", (os.getppid(),))  # another process that runs
    base.close()
    other.close()
    assert other.lost() == {}
    now = time.time()
    monkeypatch.setattr(store_module.time, "time", lambda: now + 601)  # nobody waits so long
    other.close()
    assert other.lost() == {"s": 1}
    one.close()
    other.close()


def test_a_process_of_the_same_number_in_another_container_is_not_this_one(tmp_path):
    one = Store(tmp_path / "s.sqlite")
    one.begin("a", "e", "s", 600)
    with sqlite3.connect(tmp_path / "s.sqlite") as base:
        base.execute("UPDATE under_way SET session = 'of a process that is gone'")
    base.close()
    other = Store(tmp_path / "s.sqlite")
    assert other.lost() == {"s": 1}
    one.close()
    other.close()


def keep_many(path, name):
    store = Store(path)
    for number in range(100):
        note = store.begin(f"{number}", "e", "s", 600)
        store.keep(call(f"{number}", text=name), note)
    store.close()


def test_processes_on_one_store_do_no_harm(tmp_path):
    path = tmp_path / "s.sqlite"
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=keep_many, args=(path, name)) for name in "xyz"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    store = Store(path)
    assert all(store.get(f"{number}", "e").text in "xyz" for number in range(100))
    assert store.lost() == {}
    store.close()


def open_at_once(path, barrier, trouble):
    barrier.wait()
    try:
        with Store(path) as store:
            store.lost()
    except InputError as error:
        trouble.put(str(error))


@pytest.mark.slow
def test_processes_may_open_a_new_store_at_the_same_moment(tmp_path):
    fork = multiprocessing.get_context("fork")
    trouble = fork.SimpleQueue()
    for round_ in range(60):
        barrier = fork.Barrier(6)
        path = tmp_path / f"{round_}.sqlite"
        workers = [fork.Process(target=open_at_once, args=(path, barrier, trouble)) for _ in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert trouble.empty(), trouble.get()


def test_a_store_that_another_process_holds_for_a_moment_is_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "s.sqlite"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA user_version = 0")
    other.execute("BEGIN EXCLUSIVE")  # with this, changing to the write-ahead mode fails at once, and waits for nobody
    monkeypatch.setattr(store_module, "_PATIENCE", 0.1)
    monkeypatch.setattr(store_module.time, "sleep", lambda seconds: other.in_transaction and other.execute("COMMIT"))
    with Store(path) as store:
        assert store.lost() == {}
    other.close()


@pytest.mark.parametrize("column, value", [("usd", "much"), ("parameters", "{"), ("text", b"\xff")])
def test_a_reply_that_is_damaged_is_an_error_that_names_the_file(tmp_path, column, value):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.keep(call("a"))
        with store._base() as base:
            base.execute(f"UPDATE replies SET {column} = CAST(? AS TEXT)", (value,))
        with pytest.raises(InputError, match=f"replies cannot be kept in '{path}'"):
            store.get("a", "e")


@pytest.mark.parametrize("what", ["text", "folder", "newer", "below a file"])
def test_a_file_that_cannot_be_a_store_is_named(tmp_path, what):
    path = tmp_path / "s.sqlite"
    if what == "text":
        path.write_text("no database" * 100, encoding="utf-8")
    elif what == "folder":
        path.mkdir()
    elif what == "newer":
        base = sqlite3.connect(path)
        base.execute("PRAGMA user_version = 99")
        base.close()
    else:
        path.write_text("", encoding="utf-8")
        path = path / "s.sqlite"
    with pytest.raises(InputError, match=rf"replies .*in '{path}'"):
        Store(path).get("d", "e")
