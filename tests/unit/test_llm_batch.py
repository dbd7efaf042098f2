"""Batches: files that a provider takes, and results that are believed nothing."""

import json
import random
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError
from freshstack_datasets.llm.batch import BatchFile, write_batches
from freshstack_datasets.llm.batch_results import LONGEST_LINE, read_results
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.prices import Prices, parse_prices
from freshstack_datasets.llm.records import EMBEDDINGS, Message, Request
from freshstack_datasets.llm.replay import Recorded
from freshstack_datasets.llm.store import Store

URL = "https://api.example.org/v1"


def asked(text: str, model: str = "m", **changes: object) -> Request:
    return Request(model, (Message("user", text),), {"max_tokens": 5}, stage="support", prompt="p", **changes)


def lines(path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def test_a_batch_is_a_line_for_each_call_under_its_id(tmp_path):
    request = asked("Añade\n\u2028")
    (file,) = write_batches([request], tmp_path / "b")
    assert lines(file.path) == [
        {
            "custom_id": request.digest,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": "m", "messages": [{"role": "user", "content": "Añade\n\u2028"}], "max_tokens": 5},
        }
    ]
    assert file == BatchFile(tmp_path / "b" / "batch-0001.jsonl", "m", 1, file.path.stat().st_size)
    assert len(request.digest) <= 64  # the longest custom_id that providers take


def test_a_file_is_for_one_model_and_a_call_is_written_once_and_not_when_it_was_answered(tmp_path):
    one, two, three = asked("1"), asked("2", "other"), asked("3")
    files = write_batches([one, two, one, three], tmp_path / "b", answered=lambda digest: digest == three.digest)
    assert [(file.path.name, file.model, file.requests) for file in files] == [
        ("batch-0001.jsonl", "m", 1),
        ("batch-0002.jsonl", "other", 1),
    ]
    assert [line["custom_id"] for file in files for line in lines(file.path)] == [one.digest, two.digest]


@given(
    st.lists(st.tuples(st.text(max_size=40), st.sampled_from("ab")), max_size=20),
    st.integers(1, 5),
    st.integers(400, 900),
)
def test_no_file_is_larger_than_a_provider_takes_and_nothing_is_lost(tmp_path_factory, texts, most, size):
    folder = tmp_path_factory.mktemp("batches")
    requests = [asked(text, model) for text, model in texts]
    files = write_batches(requests, folder / "b", most_requests=most, most_bytes=size)
    assert sorted(path.name for path in (folder / "b").iterdir()) == [file.path.name for file in files]
    for file in files:
        assert 1 <= file.requests <= most
        assert file.size == file.path.stat().st_size <= size
        assert {line["body"]["model"] for line in lines(file.path)} == {file.model}
        assert len(lines(file.path)) == file.requests
    written = [line["custom_id"] for file in files for line in lines(file.path)]
    assert Counter(written) == Counter({request.digest for request in requests})


@pytest.mark.slow
def test_the_usual_bounds_are_those_of_the_providers(tmp_path):
    (*_, last) = write_batches((asked(str(number)) for number in range(50_001)), tmp_path / "b")
    assert (last.path.name, last.requests) == ("batch-0002.jsonl", 1)


def test_a_call_that_fits_into_no_file_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(InputError, match=r"the call [0-9a-f]{64} of the stage 'support', expected at most 300 bytes"):
        write_batches([asked("1"), asked("x" * 300)], tmp_path / "b", most_bytes=300)
    assert not list(tmp_path.iterdir())


def test_embeddings_do_not_go_into_a_batch(tmp_path):
    with pytest.raises(InputError, match="expected chats, got '/embeddings'"):
        write_batches([Request("m", parameters={"input": "x"}, path=EMBEDDINGS)], tmp_path / "b")


def reply(text: str, model: str = "m-2026", **changes: object) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {"model": model, "choices": choices, "usage": {"prompt_tokens": 100, "completion_tokens": 10}, **changes}


def result(digest: object, body: object, status: object = 200) -> dict[str, object]:
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": digest, "response": response, "error": None}


class Batch:
    """A store, three calls, and files of what came back for them."""

    def __init__(self, folder) -> None:
        self.folder, self.store = folder, Store(folder / "store")
        self.requests = [asked("one"), asked("two"), asked("three")]
        self.ids = [request.digest for request in self.requests]

    def read(self, *results: object, **options: object):
        path = self.folder / "output.jsonl"
        with path.open("wb") as stream:
            for one in results:
                stream.write(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n")
        return read_results([path], self.requests, self.store, URL, **options)

    def texts(self) -> list[str | None]:
        calls = [self.store.get(digest, URL) for digest in self.ids]
        return [call.text if call else None for call in calls]


@pytest.fixture
def batch(tmp_path) -> Batch:
    return Batch(tmp_path)


def test_replies_in_any_order_go_into_the_store_where_the_client_finds_them(batch, tmp_path):
    one, two, three = batch.ids
    results = batch.read(result(three, reply("c")), result(one, reply("a")), result(two, reply("b")))
    assert (results.kept, results.known, results.failed, results.missing) == (3, 0, {}, ())
    client = Client(Recorded(tmp_path, URL), batch.store)  # which sends nothing
    assert [said.text for said in client.run(batch.requests, "asking")] == ["a", "b", "c"]
    call = batch.store.get(one, URL)
    assert (call.stage, call.prompt, call.asked, call.model) == ("support", "p", "m", "m-2026")
    assert (call.parameters, call.finish, call.attempts) == ({"max_tokens": 5}, "stop", 1)
    assert (call.input_tokens, call.output_tokens, call.usd) == (100, 10, None)


def test_a_reply_costs_half_of_what_it_would_alone(batch):
    prices = Prices(given=parse_prices(["2,10"]))
    no_usage = reply("b", usage=None)
    results = batch.read(result(batch.ids[0], reply("a")), result(batch.ids[1], no_usage), prices=prices)
    # (100 x $2 + 10 x $10) / 1,000,000 / 2
    assert batch.store.get(batch.ids[0], URL).usd == results.usd == Decimal("0.00015")
    assert batch.store.get(batch.ids[1], URL).usd is None


def test_the_schema_is_kept_with_the_parameters_as_the_client_does(batch):
    batch.requests = [asked("x", schema={"type": "object"})]
    batch.read(result(batch.requests[0].digest, reply("{}")))
    call = batch.store.get(batch.requests[0].digest, URL)
    assert call.parameters == {"max_tokens": 5, "schema": {"type": "object"}}


def test_files_may_be_read_again(batch):
    batch.read(result(batch.ids[0], reply("a")))
    results = batch.read(result(batch.ids[0], reply("a")), result(batch.ids[1], reply("b")))
    assert (results.kept, results.known, results.missing) == (1, 1, (batch.ids[2],))
    results = batch.read(result(batch.ids[2], reply("c")))
    assert (results.kept, results.known, results.missing) == (1, 0, ())


def test_what_failed_is_named_and_not_kept_so_that_it_is_asked_again(batch):
    one, two, three = batch.ids
    error = {"error": {"message": "The server is\nbusy", "code": "x"}}
    expired = {
        "id": "1",
        "custom_id": three,
        "response": None,
        "error": {"code": "batch_expired", "message": "Too late."},
    }
    results = batch.read(result(one, error, 500), result(two, reply("b")), expired)
    assert {digest: (one.reason, one.detail) for digest, one in results.failed.items()} == {
        one: ("http-500", "The server is busy"),
        three: ("timeout", "batch_expired Too late."),
    }
    assert batch.texts() == [None, "b", None]
    assert results.missing == ()


def test_a_call_that_failed_and_was_answered_is_answered(batch):
    one, two, _ = batch.ids
    failed = result(one, {"error": {"message": "x"}}, 500)
    results = batch.read(failed, result(one, reply("a")), result(two, reply("b")), result(two, None, 500))
    assert results.failed == {}
    assert batch.texts() == ["a", "b", None]


def test_a_reply_that_a_filter_turned_away_is_an_answer_that_is_kept_as_the_client_does(batch):
    body = {"error": {"message": "Filtered.", "code": "content_filter"}}
    results = batch.read(result(batch.ids[0], body, 400))
    assert (results.kept, results.failed) == (1, {})
    assert batch.store.get(batch.ids[0], URL).finish == "content_filter"


def test_of_two_replies_to_a_call_the_first_counts_and_the_other_is_named(batch):
    one = batch.ids[0]
    results = batch.read(result(one, reply("a")), result(one, reply("a")), result(one, reply("z")))
    assert (results.kept, results.known) == (1, 1)
    assert (results.contradicting.number, results.contradicting.first) == (1, [one])
    assert batch.texts()[0] == "a"


def test_what_was_not_asked_is_counted_and_named_and_not_kept(batch):
    results = batch.read(*(result("f" * 64, reply("z")) for _ in range(30)), result("", reply("z")))
    assert results.unknown.number == 31
    assert len(results.unknown.first) == 20
    assert results.unknown.first[0] == f"output.jsonl:1 '{'f' * 64}'"
    assert batch.store.get("f" * 64, URL) is None
    assert results.missing == tuple(batch.ids)


def test_another_model_than_was_asked_is_named(batch):
    results = batch.read(result(batch.ids[0], reply("a", "gpt-2")))
    assert results.other_models.first == ["'gpt-2' for 'm'"]


@pytest.mark.parametrize(
    "line",
    [
        b"{\n",
        b"[]\n",
        b"\xff\n",
        b"1" * 5000 + b"\n",
        b"[" * 100_000 + b"\n",
        b'{"custom_id": 1}\n',
        b'{"custom_id": NaN}\n',
        b"{}\n",
        b'{"custom_id": "' + b"x" * LONGEST_LINE + b'"}\n',
    ],
    ids=range(9),
)
def test_a_line_that_is_no_result_is_counted_and_named_and_costs_no_other(batch, line):
    results = batch.read(line, b"\n", result(batch.ids[0], reply("a")))
    assert (results.unreadable.number, results.unreadable.first) == (1, ["output.jsonl:1"])
    assert batch.texts()[0] == "a"


@pytest.mark.parametrize(
    "body, status, reason",
    [
        (None, 200, "bad-reply"),
        ({}, 200, "bad-reply"),
        ({"choices": []}, 200, "bad-reply"),
        ("text", 200, "bad-reply"),
        ({"choices": [{"message": None}]}, 200, "bad-reply"),
        (reply("a"), 404, "http-404"),
        (reply("a"), "200", "http-502"),
        (reply("a"), True, "http-502"),
        (reply("a"), 99, "http-502"),
        (reply("a"), None, "http-502"),
    ],
)
def test_a_result_that_makes_no_sense_is_a_call_that_failed(batch, body, status, reason):
    results = batch.read(result(batch.ids[0], body, status))
    assert results.failed[batch.ids[0]].reason == reason
    assert batch.texts()[0] is None


@pytest.mark.parametrize("response", [None, [], "x", 1])
def test_a_result_without_a_response_is_a_call_that_failed(batch, response):
    results = batch.read({"custom_id": batch.ids[0], "response": response})
    assert results.failed[batch.ids[0]].reason == "bad-reply"


def test_what_came_back_is_told_line_by_line(batch):
    one, two, three = batch.ids
    results = batch.read(
        result(one, reply("a")), result(two, {"error": {"message": "Busy."}}, 503), result("x", reply("z")), b"{\n"
    )
    assert str(results).splitlines() == [
        "1 new replies, 0 known ones",
        f"1 failed: {two} (http-503: Busy.)",
        f"1 without a result: {three}",
        "1 answers to what was not asked: output.jsonl:3 'x'",
        "1 lines that are no results: output.jsonl:4",
    ]


def test_a_file_that_cannot_be_read_is_an_error(batch, tmp_path):
    with pytest.raises(InputError, match=r"cannot read the results .*nothing\.jsonl"):
        read_results([tmp_path / "nothing.jsonl"], batch.requests, batch.store, URL)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 2, "?"]), json_values, st.sampled_from([200, 500, "x"]), st.booleans()),
        max_size=8,
    )
)
def test_any_results_are_each_told_of_and_only_good_ones_are_kept(tmp_path_factory, made):
    batch = Batch(tmp_path_factory.mktemp("batch"))
    results = []
    for at, value, status, good in made:
        digest = batch.ids[at] if isinstance(at, int) else at
        results.append(result(digest, reply(f"good {at}") if good else value, status))
    found = batch.read(*results)
    good = {at for at, _, status, good in made if good and status == 200 and at != "?"}
    texts = batch.texts()
    assert {at for at, text in enumerate(texts) if text is not None} == good
    assert all(texts[at] == f"good {at}" for at in good)
    asked_for = {at for at, *_ in made if at != "?"}
    assert set(found.failed) == {batch.ids[at] for at in asked_for - good}
    assert set(found.missing) == {batch.ids[at] for at in {0, 1, 2} - asked_for}
    assert found.unknown.number == sum(at == "?" for at, *_ in made)
    assert found.unreadable.number == 0


@given(st.binary(max_size=60), st.integers(0, 400))
def test_a_damaged_file_ends_nothing(tmp_path_factory, noise, at):
    batch = Batch(tmp_path_factory.mktemp("batch"))
    content = b"".join(json.dumps(result(digest, reply("x"))).encode() + b"\n" for digest in batch.ids)
    found = batch.read(content[:at] + noise + content[at:])
    assert found.kept >= 1
    assert found.kept + len(found.failed) + len(found.missing) == 3


def test_the_order_of_files_does_not_count(tmp_path):
    chance = random.Random(3)
    told = []
    for number in range(5):
        batch = Batch(tmp_path / str(number))
        batch.folder.mkdir()
        good = [result(digest, reply(digest)) for digest in batch.ids]
        bad = [result(digest, {"error": {"message": "Busy."}}, 503) for digest in batch.ids[:2]]
        results = [*good, *bad]
        chance.shuffle(results)
        told.append((str(batch.read(*results)), batch.texts()))
    assert len({str(one) for one in told}) == 1
