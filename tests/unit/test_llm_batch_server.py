"""Batches at a provider on loopback: sent once, whatever ends a run, and fetched whole."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from freshstack_datasets.errors import EndpointError, InputError
from freshstack_datasets.llm import batch_server
from freshstack_datasets.llm.batch import write_batches
from freshstack_datasets.llm.batch_results import read_results
from freshstack_datasets.llm.batch_server import BatchServer, send_batches
from freshstack_datasets.llm.records import Message, Request
from freshstack_datasets.llm.store import Store
from tests.llm_batches import Provider, serving

KEY = "sk-a-key-of-a-test-and-long-enough"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving(Provider()) as provider:
        yield provider


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def server(provider, waits, monkeypatch) -> Iterator[BatchServer]:
    monkeypatch.setenv("A_KEY", KEY)
    server = BatchServer(provider.url, "A_KEY", sleep=waits.append)
    yield server
    server.close()


REQUESTS = [
    Request(model, (Message("user", text),), {"max_tokens": 5}) for model in "ab" for text in ("one", "will fail")
]


@pytest.fixture
def files(tmp_path) -> list[Path]:
    return [file.path for file in write_batches(REQUESTS, tmp_path / "b")]


def test_batches_are_sent_waited_for_and_read_into_the_store(provider, server, waits, files, tmp_path):
    told: list[str] = []
    results = send_batches(files, server, every=60, tell=told.append)
    assert [path.name for path in results] == [
        "batch-0001.output.jsonl",
        "batch-0001.errors.jsonl",
        "batch-0002.output.jsonl",
        "batch-0002.errors.jsonl",
    ]
    store = Store(tmp_path / "store")
    read = read_results(results, REQUESTS, store, provider.url)
    assert (read.kept, set(read.failed), read.missing) == (2, {REQUESTS[1].digest, REQUESTS[3].digest}, ())
    assert store.get(REQUESTS[0].digest, provider.url).text == "ONE"
    assert waits == [60] * 4  # two looks at each batch found it under way
    assert told[:2] == ["batch-0001.jsonl is the batch batch_0", "batch-0002.jsonl is the batch batch_1"]
    assert provider.keys == {f"Bearer {KEY}"}


def test_the_files_arrive_as_they_are(provider, server, files):
    send_batches(files, server)
    assert [provider.files["file-0"], provider.files["file-1"]] == [path.read_bytes() for path in files]
    marks = [batch["metadata"]["freshstack_sha256"] for batch in provider.batches.values()]
    assert marks == [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]


def test_what_was_done_is_not_done_again(provider, server, files):
    first = send_batches(files, server)
    before = Counter(provider.seen)
    assert send_batches(files, server) == first
    assert provider.seen == before


@pytest.mark.parametrize("step", range(1, 25))
def test_a_run_that_was_ended_at_any_request_goes_on_and_begins_no_batch_twice(provider, server, files, step):
    requests = 0

    def broken(method: str, path: str) -> tuple[int, dict[str, str], bytes] | None:
        nonlocal requests
        requests += 1
        if requests == step:  # it is done, and whoever asked for it is gone before it hears of it
            provider.instead = lambda method, path: None
            if (method, path) == ("POST", "/batches"):
                provider.begin({**lost, "input_file_id": f"file-{len(provider.files) - 1}"})
            raise ConnectionAbortedError
        return None

    lost = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    lost["metadata"] = {"freshstack_sha256": digests[0 if step <= 2 else 1]}
    provider.instead = broken
    try:
        results = send_batches(files, server)
    except EndpointError:
        results = send_batches(files, server)
    assert len(provider.batches) == 2
    assert len(results) == 4


def test_a_provider_with_too_much_to_do_is_asked_again_after_a_while(provider, server, waits, files):
    busy = iter([(503, {}, b"{}"), (429, {}, b"{}"), (500, {}, b"oops")])
    provider.instead = lambda method, path: next(busy, None) if (method, path) == ("POST", "/files") else None
    send_batches(files[:1], server, every=60)
    assert waits[:3] == [1, 2, 4]
    assert provider.files["file-0"] == files[0].read_bytes()


def test_a_provider_that_stays_busy_is_given_up(provider, server, waits, files):
    provider.instead = lambda method, path: (503, {}, b'{"error": {"message": "Busy."}}')
    with pytest.raises(EndpointError, match=r"refuses POST /files, got 503 \(Busy\.\); run it again"):
        send_batches(files, server)
    assert waits == [1, 2, 4, 8, 16]


def test_a_connection_that_breaks_is_made_again(provider, server, waits, files):
    broken = iter([True, True])

    def instead(method: str, path: str) -> None:
        if path.startswith("/batches/") and next(broken, False):
            raise ConnectionAbortedError

    provider.instead = instead
    assert len(send_batches(files[:1], server, every=60)) == 2
    assert waits == [1, 2, 60, 60]


def test_a_batch_that_failed_as_a_whole_is_an_error_and_begun_anew_by_the_next_run(provider, server, files):
    provider.last = "failed"
    with pytest.raises(EndpointError, match=r"the batch of batch-0001\.jsonl failed"):
        send_batches(files[:1], server)
    provider.last = "completed"
    assert len(send_batches(files[:1], server)) == 2
    assert len(provider.batches) == 2


def test_a_batch_of_an_ended_run_that_brings_nothing_is_begun_anew(provider, server, files):
    mark = {"freshstack_sha256": hashlib.sha256(files[0].read_bytes()).hexdigest()}
    for state in ("failed", "expired", "cancelling", "cancelled"):
        provider.batches[state] = {"id": state, "status": state, "metadata": mark}
    provider.batches |= {"a": {"id": "a", "metadata": None}, "b": {"id": "b", "status": "completed", "metadata": {}}}
    note = {"sha256": mark["freshstack_sha256"], "file": server.upload(files[0])}
    (files[0].parent / "batches.json").write_text(json.dumps({files[0].name: note}))
    assert len(send_batches(files[:1], server)) == 2
    assert list(provider.batches)[6:] == ["batch_6"]
    assert len(provider.files) == 3  # the calls, uploaded once, and two files of results


@pytest.mark.parametrize("last", ["expired", "cancelled", "COMPLETED"])
def test_a_batch_that_ended_otherwise_brings_what_there_is(provider, server, files, last):
    provider.last = last
    assert len(send_batches(files[:1], server)) == 2


def test_waiting_ends_and_the_next_run_goes_on_with_it(provider, server, files):
    provider.looks = 50
    with pytest.raises(EndpointError, match=r"expected results, got 'validating'; run it again to go on waiting"):
        send_batches(files[:1], server, every=60, patience=600)
    assert len(send_batches(files[:1], server, every=60)) == 2
    assert len(provider.batches) == 1


def test_other_files_of_the_same_name_are_sent_anew(provider, server, files):
    send_batches(files[:1], server)
    files[0].write_bytes(files[0].read_bytes().replace(b"one", b"two"))
    send_batches(files[:1], server)
    assert b'"TWO"' in files[0].with_suffix(".output.jsonl").read_bytes()


@pytest.mark.parametrize(
    "said, message",
    [
        ((401, {}, json.dumps({"error": {"message": f"Wrong key {KEY}."}}).encode()), "refuses the key"),
        ((302, {"location": "https://example.org/"}, b""), "sends calls elsewhere"),
        ((200, {}, b"[]"), "expected JSON"),
        ((200, {}, b"\xff"), "expected JSON"),
        ((200, {}, b'{"id": "../../x"}'), "expected an id, got '../../x'"),
        ((200, {}, b'{"id": 1}'), "expected an id, got 1"),
        ((200, {"content-length": "100"}, b"{}"), "no connection"),
        ((400, {}, b'{"error": {"message": "No."}}'), r"refuses POST /files, got 400 \(No\.\)"),
    ],
)
def test_what_makes_no_sense_ends_the_run_and_never_shows_the_key(provider, server, files, said, message):
    provider.instead = lambda method, path: said
    with pytest.raises(EndpointError, match=message) as caught:
        send_batches(files, server)
    assert KEY not in str(caught.value)
    assert KEY not in "".join(path.read_text() for path in files[0].parent.iterdir())


def test_results_that_do_not_come_whole_are_not_kept(provider, server, files):
    provider.instead = lambda method, path: (
        (200, {"content-length": "1000000"}, b'{"custom_id"') if path.endswith("/content") else None
    )
    with pytest.raises(EndpointError, match="no connection"):
        send_batches(files[:1], server)
    assert sorted(path.name for path in files[0].parent.iterdir()) == [
        "batch-0001.jsonl",
        "batch-0002.jsonl",
        "batches.json",
    ]
    provider.instead = lambda method, path: None
    assert len(send_batches(files[:1], server)) == 2
    assert len(provider.batches) == 1


def test_results_without_end_are_not_kept(provider, server, files, monkeypatch):
    monkeypatch.setattr(batch_server, "LARGEST_RESULTS", 20)
    with pytest.raises(EndpointError, match="more than 20 bytes"):
        send_batches(files[:1], server)
    assert not files[0].with_suffix(".output.jsonl").exists()


@pytest.mark.parametrize(
    "notes", ["[]", "{", '{"batch-0001.jsonl": 1}', '{"batch-0001.jsonl": {"batch": 1}}', "\0", "1"]
)
def test_damaged_notes_are_an_error_since_batches_cost_money(provider, server, files, notes):
    (files[0].parent / "batches.json").write_text(notes)
    with pytest.raises(InputError, match=r"batches\.json.*expected notes of what was sent"):
        send_batches(files, server)
    assert not provider.seen


def test_a_batch_that_is_not_there_is_an_error(server, tmp_path):
    with pytest.raises(InputError, match="cannot read the batch"):
        send_batches([tmp_path / "nothing.jsonl"], server)
