"""Replies in a form that a program can read, against a real server that takes some forms and not others."""

import json
from typing import Literal

import pytest
from pydantic import BaseModel

from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.records import Answer, Failed, Message, Request
from freshstack_datasets.llm.running import ask_all
from freshstack_datasets.llm.store import Store
from freshstack_datasets.llm.structure import read, strict_schema
from tests.llm_server import Server, chat, error


class Label(BaseModel):
    doc: int
    supports: list[int]


class Labels(BaseModel):
    reasoning: str
    labels: list[Label]
    title: Literal["yes", "no"] = "no"


FITS = {"reasoning": "so", "labels": [{"doc": 1, "supports": [2]}], "title": "yes"}
WRITTEN = json.dumps(FITS)
REQUEST = Request("m", (Message("system", "Judge."), Message("user", "Which?")), {"temperature": 0.1})


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "replies.sqlite")
    yield store
    store.close()


def ask_for(server, store, request=REQUEST, check=None, client=None):
    client = client or Client(server.url, store, retries=0)

    async def job(client):
        return await client.ask_for(request, Labels, check)

    return ask_all(client, [job], "asking")[0], client


def form(asked):
    return asked.body.get("response_format", {}).get("type", "text")


def test_a_schema_is_as_strict_servers_want_it():
    label = {
        "type": "object",
        "properties": {"doc": {"type": "integer"}, "supports": {"type": "array", "items": {"type": "integer"}}},
        "required": ["doc", "supports"],
        "additionalProperties": False,
    }
    assert strict_schema(Labels) == {
        "$defs": {"Label": label},
        "type": "object",
        "properties": {
            "reasoning": {"type": "string"},
            "labels": {"type": "array", "items": {"$ref": "#/$defs/Label"}},
            "title": {"enum": ["yes", "no"], "type": "string"},
        },
        "required": ["reasoning", "labels", "title"],
        "additionalProperties": False,
    }
    assert list(strict_schema(Labels)["properties"]) == ["reasoning", "labels", "title"]  # reasons before labels


def test_a_reply_is_asked_for_by_its_schema_in_its_order(store):
    with Server([chat(WRITTEN)]) as server:
        answer, _ = ask_for(server, store)
    assert answer.value == Labels(**FITS)
    assert answer.calls == (answer.reply.digest,)
    sent = server.asked[0].body["response_format"]
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"] == strict_schema(Labels)
    assert server.asked[0].raw.index(b'"reasoning"') < server.asked[0].raw.index(b'"labels"')


def refusing(*refused, status=400, words="response_format is not supported", reply=WRITTEN):
    return lambda asked: error(status, words) if form(asked) in refused else chat(reply)


@pytest.mark.parametrize("status", [400, 422, 500, 501])
def test_a_form_that_the_server_refuses_gives_way_to_the_next_and_is_remembered(store, status):
    with Server(refusing("json_schema", "json_object", status=status)) as server:
        answer, client = ask_for(server, store)
        assert answer.value == Labels(**FITS)
        assert [form(asked) for asked in server.asked] == ["json_schema", "json_object", "text"]
        assert [message["role"] for message in server.asked[2].body["messages"]] == ["system", "user"]
        assert '"reasoning"' in server.asked[2].text
        other = Request("m", (Message("user", "And now?"),))
        ask_for(server, store, other, client=client)
        assert [form(asked) for asked in server.asked[3:]] == ["text"]
    assert client.counts.refused_forms == {"m: schema": 1, "m: object": 1}
    assert client.counts.failed == {}


def test_a_refusal_that_does_not_speak_of_the_form_is_about_it_when_the_next_is_taken(store):
    with Server(refusing("json_schema", words="bad request")) as server:
        answer, client = ask_for(server, store)
        assert isinstance(answer, Answer)
        assert [form(asked) for asked in server.asked] == ["json_schema", "json_object"]
        ask_for(server, store, Request("m", (Message("user", "And now?"),)), client=client)
    assert [form(asked) for asked in server.asked[2:]] == ["json_object"]


def test_a_question_that_is_refused_in_every_form_fails_with_the_first_refusal(store):
    with Server(lambda asked: error(400, f"too long, {asked.number}")) as server:
        failed, client = ask_for(server, store)
    assert (failed.reason, failed.detail) == ("http-400", "too long, 0")
    assert client.counts.failed == {"http-400": 1}
    assert client.counts.refused_forms == {}


def test_a_question_that_is_refused_in_a_form_that_was_taken_before_fails_alone(store):
    with Server(lambda asked: error(400, "too long") if asked.text == "long" else chat(WRITTEN)) as server:
        _, client = ask_for(server, store)
        failed, _ = ask_for(server, store, Request("m", (Message("user", "long"),)), client=client)
    assert failed.reason == "http-400"
    assert len(server.asked) == 2


def test_a_run_again_needs_no_server_whatever_form_was_taken(store):
    with Server(refusing("json_schema", "json_object")) as server:
        first, _ = ask_for(server, store)
    again, client = ask_for(server, store)  # it is gone
    assert again.value == first.value
    assert again.reply.stored
    assert client.counts.sent == 0


def test_a_reply_that_does_not_fit_is_asked_for_again_with_what_is_wrong(store):
    said = ["I think document 1.", '{"reasoning": "so", "labels": [{"doc": "one", "supports": []}]}', WRITTEN]
    with Server([chat(text) for text in said]) as server:
        answer, client = ask_for(server, store)
        assert answer.value == Labels(**FITS)
        assert len(answer.calls) == len(set(answer.calls)) == 3
        assert client.counts.unfit == 2
        second, third = (asked.body["messages"] for asked in server.asked[1:])
        assert second[2] == {"role": "assistant", "content": "I think document 1."}
        assert "it holds no JSON value" in second[3]["content"]
        assert "labels.0.doc" in third[5]["content"]
        assert "valid integer" in third[5]["content"]
        again, client = ask_for(server, store)
        assert again.value == answer.value
        assert (len(server.asked), client.counts.sent) == (3, 0)


def test_what_never_fits_is_a_failed_call_and_no_answer_also_the_next_time(store):
    with Server(lambda asked: chat("No document supports anything.")) as server:
        failed, client = ask_for(server, store)
        assert isinstance(failed, Failed)
        assert (failed.reason, failed.detail, len(failed.calls)) == ("does-not-fit", "it holds no JSON value", 3)
        assert failed.digest == failed.calls[-1]
        assert client.counts.failed == {"does-not-fit": 1}
        again, _ = ask_for(server, store)
        assert again == failed
        assert len(server.asked) == 3


def test_a_check_of_ones_own_is_asked_about_like_the_schema(store):
    def check(labels):
        return "" if labels.labels[0].doc <= 1 else f"there is no document {labels.labels[0].doc}"

    with Server([chat(WRITTEN.replace('"doc": 1', '"doc": 9')), chat(WRITTEN)]) as server:
        answer, _ = ask_for(server, store, check=check)
    assert answer.value.labels[0].doc == 1
    assert "there is no document 9" in server.asked[1].text


def test_silence_is_asked_about_too(store):
    with Server([chat(None), chat(WRITTEN)]) as server:
        answer, _ = ask_for(server, store)
    assert isinstance(answer, Answer)
    assert "it says nothing" in server.asked[1].text


@pytest.mark.parametrize(
    "says, reason",
    [(chat(WRITTEN, finish="length"), "cut-off"), (chat(None, message={"refusal": "no"}), "refused")],
)
def test_a_cut_reply_or_a_refusal_is_not_asked_about_again_even_when_it_seems_to_fit(store, says, reason):
    with Server([says]) as server:
        failed, _ = ask_for(server, store)
    assert failed.reason == reason
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        f"```json\n{WRITTEN}\n```",
        f"Documents [1] and [2] {{as asked}}: here it is.\n\n```\n{WRITTEN}\n```\nI hope that helps [3].",
        f'<think>{{"reasoning": "x", "labels": [], "title": "no"}}</think>{WRITTEN}',
        f"The labels are {{1}}</think>{WRITTEN}",
        f"{WRITTEN}\n\n{WRITTEN}",
        "\n \t" + json.dumps(FITS, indent=4) + "\n",
    ],
)
def test_a_value_is_found_where_models_put_it(text):
    assert read(text, Labels) == (Labels(**FITS), "")


@pytest.mark.parametrize("fence", ["", "```json\n"])
def test_a_mark_of_thoughts_in_a_text_that_is_quoted_cuts_nothing_off(fence):
    quoted = {**FITS, "reasoning": 'it says </think>{"reasoning": "", "labels": []}'}
    assert read(fence + json.dumps(quoted), Labels) == (Labels(**quoted), "")


@pytest.mark.parametrize(
    "escaped, taken",
    [
        (r"a \ud800 b", "a \ufffd b"),
        (r"\udc00", "\ufffd"),
        (r"\udc00\ud800", "\ufffd\ufffd"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\\ud800", r"\ud800"),
        ("é\u2028", "é\u2028"),
    ],
)
def test_half_a_surrogate_pair_that_is_escaped_spoils_no_reply(escaped, taken):
    value, problem = read(WRITTEN.replace('"so"', f'"{escaped}"'), Labels)
    assert problem == ""
    assert value == Labels(**{**FITS, "reasoning": taken})


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "no JSON value"),
        ("no {idea}", "no JSON value"),
        (WRITTEN[:-1], "its JSON is broken at character"),
        ('{"reasoning": "x", "labels": [{"doc": 1', "its JSON is broken at character"),
        (f'{{"a": 1 "b": {WRITTEN}}}', "its JSON is broken at character"),  # the inner one is no answer
        (WRITTEN + WRITTEN.replace('"so"', '"but"'), "several JSON values that differ"),
        (WRITTEN.replace("[2]", "[NaN]"), "NaN is no number"),
        (WRITTEN.replace("[2]", "[1e999]"), "1e999 is no number"),
        (WRITTEN.replace('"doc"', '"doc": 3, "doc"'), "a key twice"),
        (WRITTEN.replace("[2]", "[true]"), "valid integer"),
        (WRITTEN.replace("[2]", '["2"]'), "valid integer"),
        (WRITTEN.replace("[2]", "null"), "valid array"),
        (WRITTEN.replace('"title"', '"\\ud800": 1, "\\ud801": 2, "title"'), "a key twice"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ("{" * 1_000_000, "no JSON value"),
    ],
)
def test_what_cannot_be_read_says_why_and_nothing_is_guessed(text, words):
    value, problem = read(text, Labels)
    assert value is None
    assert words in problem
    assert len(problem) < 1000
