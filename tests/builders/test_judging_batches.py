"""``support --batch``: the calls of the stage as batches at a provider, and by themselves what these leave open."""

import json
from decimal import Decimal
from types import SimpleNamespace

import pytest

from builders.cli import main
from builders.pipeline import batching
from builders.pipeline.reading import labels_of, lacking_of
from freshstack_datasets.llm.records import Message, Request
from tests.builders.pipeline_made import SUPPORTS, TOPIC, UNJUDGED, made_topic, made_work
from tests.builders.test_judging_stage import said
from tests.llm_batches import Provider, serving

KEY = "sk-canary-of-batches-1234567890"
MODELS = "models: {endpoint: fake, model: m, parameters: {temperature: 0.1, max_tokens: 500}}"


class Judging(Provider):
    """A provider whose model knows the truth, asked by batches and by single calls."""

    def __init__(self):
        super().__init__()
        self.single = []
        self.lost = set()

    def answer(self, method, path, headers, body):
        if path.endswith("/chat/completions"):
            self.single.append(json.loads(body))
            self.keys.add(headers["authorization"])
            return self.said(self.reply(self.single[-1]))
        return super().answer(method, path, headers, body)

    def result(self, call):
        if call["custom_id"] in self.lost:
            return {"custom_id": call["custom_id"], "response": None, "error": {"code": "batch_expired"}}
        return {"custom_id": call["custom_id"], "response": {"status_code": 200, "body": self.reply(call["body"])}}

    def reply(self, body):
        text = said(Request("m", tuple(Message(**message) for message in body["messages"])))
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return {"model": "m", "choices": [choice], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}

    def sent(self):
        """The ids of the calls in all batches that were begun."""
        files = (self.files[batch["input_file_id"]] for batch in self.batches.values())
        return [json.loads(line)["custom_id"] for file in files for line in file.splitlines()]


@pytest.fixture
def place(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("A_KEY", KEY)
    monkeypatch.setattr(batching, "EVERY", 0.0)
    with serving(Judging()) as provider:
        made_topic(tmp_path, TOPIC.replace(MODELS, MODELS.replace("}}", "}, support: {documents: 3}}")))
        work = made_work(tmp_path, until="pool")

        def support(*more):
            typed = ["support", tmp_path / "tidepool.yaml", "--work", work.path, "--llm", provider.url, "--json"]
            typed += ["--key-from", "A_KEY", "--replies", tmp_path / "replies.sqlite", *more]
            code = main([str(one) for one in typed])
            captured = capsys.readouterr()
            return code, json.loads(captured.out or "null"), captured.err

        yield SimpleNamespace(provider=provider, work=work, support=support, folder=tmp_path / "batches", path=tmp_path)


def test_documents_are_judged_by_batches_and_what_these_leave_open_by_single_calls(place):
    code, told, messages = place.support("--batch", place.folder, "--price", "2,10", "--max-usd", "1")
    assert code == 0, messages
    assert {(label.query_id, label.doc_id): label.supports for label in labels_of(place.work)} == SUPPORTS
    [lacking] = lacking_of(place.work, "support")
    assert (lacking.query_id, lacking.doc_id) == UNJUDGED
    sent = place.provider.sent()
    assert len(sent) == len(set(sent)) == 5  # pools of 3, 2 and 2 documents, and two calls for that of 4
    assert len(place.provider.batches) == 1
    # the one document of which the model says nothing spoils a call, and is asked about by itself
    assert place.provider.single
    assert "5 new replies" in messages
    assert place.provider.keys == {f"Bearer {KEY}"}
    for path in (path for path in place.path.rglob("*") if path.is_file()):
        assert KEY.encode() not in path.read_bytes(), path
    # it is made: nothing is sent any more
    seen = dict(place.provider.seen)
    code, again, _ = place.support("--batch", place.folder)
    assert (code, again["made_before"]) == (0, True)
    assert again["counts"] == told["counts"]
    assert dict(place.provider.seen) == seen


def test_a_reply_of_a_batch_costs_half(place):
    code, _, messages = place.support("--batch", place.folder, "--price", "2,10")
    assert code == 0, messages
    from freshstack_datasets.llm.store import Store

    sent = place.provider.sent()
    with Store(place.path / "replies.sqlite") as store:
        costs = {call.usd for call in store.calls(sent, place.provider.url)}
    # (1,000 x $2 + 100 x $10) / 1,000,000, halved
    assert {float(usd) for usd in costs} == {0.0015}


def test_a_dry_run_shows_the_price_of_batches_and_sends_nothing(place):
    _, single, _ = place.support("--dry-run", "--price", "2,10")
    code, batches, messages = place.support("--batch", place.folder, "--dry-run", "--price", "2,10")
    assert code == 0, messages
    assert batches["total"]["calls"] == single["total"]["calls"] == 5
    assert batches["total"]["input_tokens"] == single["total"]["input_tokens"]
    assert Decimal(batches["total"]["usd"]) * 2 == Decimal(single["total"]["usd"]) > 0
    assert batches["stages"][0]["price"] == "half of given, as batches usually cost"
    assert not place.provider.seen
    assert not place.folder.exists()


def test_prices_are_taken_from_a_file(place):
    (place.path / "prices.toml").write_text("[m]\ninput = 2\noutput = 10\n")
    _, typed, _ = place.support("--dry-run", "--price", "2,10")
    code, told, messages = place.support("--dry-run", "--price", place.path / "prices.toml")
    assert code == 0, messages
    assert told["total"]["usd"] == typed["total"]["usd"]
    assert told["stages"][0]["price"] == "given in prices.toml"


def test_a_dry_run_of_batches_refuses_whom_no_batch_can_be_sent_to(place):
    code, _, messages = place.support("--batch", place.folder, "--dry-run", "--llm", "fake")
    assert code == 2
    assert "--batch, expected a provider that takes batches, got fake" in messages


def test_a_run_that_ends_while_it_waits_goes_on_and_sends_nothing_twice(place):
    place.provider.instead = lambda method, path: (401, {}, b"{}") if "/batches/" in path else None
    code, _, messages = place.support("--batch", place.folder)
    assert code == 2, messages
    assert not (place.work.path / "support").exists()
    place.provider.instead = lambda method, path: None
    code, _, messages = place.support("--batch", place.folder)
    assert code == 0, messages
    assert (len(place.provider.batches), place.provider.seen["POST /files"]) == (1, 1)
    assert {(label.query_id, label.doc_id): label.supports for label in labels_of(place.work)} == SUPPORTS


def test_a_batch_that_leaves_many_calls_open_ends_the_command_before_these_are_paid_for_in_full(place):
    begin = place.provider.begin

    def begun(asked):
        lines = place.provider.files[asked["input_file_id"]].splitlines()
        place.provider.lost = {json.loads(line)["custom_id"] for line in lines[:3]} if len(lines) == 5 else set()
        return begin(asked)

    place.provider.begin = begun
    code, _, messages = place.support("--batch", place.folder)
    assert code == 2
    assert "3 of 5 calls in" in messages
    assert "leave out --batch to ask them one by one" in messages
    assert not place.provider.single
    code, _, messages = place.support("--batch", place.path / "more")
    assert code == 0, messages
    assert len(place.provider.sent()) == 5 + 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--price", "2,10", "--max-usd", "0.01"], "--max-usd $0.01 does not take the batches"),
        (["--max-usd", "5"], "expected models whose price is known, got 'm'"),
        (["--max-tokens", "3000"], "--max-tokens 3,000 does not take the batches"),
        (["--llm", "fake"], "--batch, expected a provider that takes batches, got fake"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_sent(place, more, message):
    code, _, messages = place.support("--batch", place.folder, *more)
    assert code in (1, 2)
    assert message in messages
    assert not place.provider.seen
    assert not place.provider.single


def test_a_folder_with_the_batches_of_something_else_is_refused(place):
    place.folder.mkdir()
    (place.folder / "batch-0001.jsonl").write_text(json.dumps({"custom_id": "a" * 64}) + "\n")
    code, _, messages = place.support("--batch", place.folder)
    assert code == 2
    assert "expected the calls of this stage, got others; name another folder" in messages
    assert not place.provider.seen
