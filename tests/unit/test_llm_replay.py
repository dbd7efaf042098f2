"""Where calls go without a network: recordings, the stand-in, and how both are typed."""

import asyncio
import dataclasses
import json
import os
import re
import tracemalloc
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from builders.publishing.stand_ins import _STAND_IN
from freshstack_datasets.errors import EndpointError, InputError
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.fake import Fake
from freshstack_datasets.llm.prices import parse_prices
from freshstack_datasets.llm.reading import chat
from freshstack_datasets.llm.recordings import FORMAT, Embedding, read_recording, write_recording
from freshstack_datasets.llm.records import Answer, Call, Failed, Message, Reply, Request
from freshstack_datasets.llm.replay import Endpoint, export, parse_endpoint, recorded
from freshstack_datasets.llm.store import Store

URL = "http://localhost:8080/v1"


def call(number: int, **changes: object) -> Call:
    values = {
        "digest": f"{number:064x}",
        "endpoint": URL,
        "stage": "support",
        "prompt": "p",
        "asked": "m",
        "parameters": {"temperature": 0.1, "max_tokens": 5},
        "model": "m-1",
        "text": "yes",
        "finish": "stop",
        "input_tokens": 10,
        "output_tokens": None,
        "usd": Decimal("0.00000012"),
        "attempts": 2,
        "created": "2026-11-30T07:00:00+00:00",
    }
    return Call(**(values | changes))


def asked(text: str, **changes: object) -> Request:
    return Request("gpt-4o", (Message("user", text),), {"max_tokens": 50}, stage="support", **changes)


def test_a_recording_gives_back_what_was_written(tmp_path):
    embedding = Embedding(f"{2:064x}", np.array([1.5, -2], "<f4").tobytes())
    entries = [call(1, usd=None, text='{"a": "\u2028 é\\n"}'), embedding, call(3)]
    assert write_recording(tmp_path / "r.jsonl", entries) == 3
    assert list(read_recording(tmp_path / "r.jsonl")) == entries


def test_a_recording_is_the_same_whatever_the_order(tmp_path):
    with Store(tmp_path / "store") as store:
        store.keep(call(1))
        store.keep(call(3))
        store.keep_vectors({f"{2:064x}": b"1234"}, URL)
        digests = [f"{number:064x}" for number in (3, 2, 4, 1)]
        assert export(store, URL, digests, tmp_path / "a") == 3
        assert export(store, URL, reversed(digests), tmp_path / "b") == 3
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert [one.digest[-1] for one in read_recording(tmp_path / "a")] == ["1", "2", "3"]


def test_replies_that_are_not_sorted_are_not_written(tmp_path):
    with pytest.raises(InputError, match="expected replies sorted by their digests"):
        write_recording(tmp_path / "r.jsonl", [call(2), call(1)])
    assert not (tmp_path / "r.jsonl").exists()


def test_a_recording_of_any_size_is_written_in_little_memory(tmp_path):
    with Store(tmp_path / "store") as store:
        digests = [store.keep(call(number, text="x" * 200_000)).digest for number in range(50)]
        vectors = {f"{number:064x}": bytes(200_000) for number in range(50, 100)}
        store.keep_vectors(vectors, URL)
        digests += vectors
        vectors.clear()
        tracemalloc.start()
        try:
            assert export(store, URL, digests, tmp_path / "r.jsonl") == 100
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert (tmp_path / "r.jsonl").stat().st_size > 20_000_000
    assert peak < 5_000_000


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10)
counts = st.none() | st.integers(0, 2**52)
money = st.none() | st.decimals(0, 10**6, places=9)
values = st.recursive(st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner, max_size=2))
recorded_calls = st.builds(
    call,
    st.integers(0, 2**256 - 1),
    endpoint=texts,
    parameters=st.dictionaries(texts, values, max_size=2),
    model=texts,
    text=texts,
    finish=texts,
    input_tokens=counts,
    output_tokens=counts,
    usd=money,
    attempts=st.integers(1, 99),
)


@given(st.lists(recorded_calls, min_size=1, max_size=5, unique_by=lambda one: one.digest))
def test_any_replies_are_read_as_they_were_written(tmp_path_factory, calls):
    path = tmp_path_factory.mktemp("recordings") / "r.jsonl"
    calls.sort(key=lambda one: one.digest)
    write_recording(path, calls)
    assert list(read_recording(path)) == calls


def lines_of(*calls: Call) -> list[str]:
    lines = [json.dumps(FORMAT)]
    return lines + [json.dumps({**dataclasses.asdict(one), "usd": one.usd and f"{one.usd:f}"}) for one in calls]


def changed(**changes: object) -> str:
    return json.dumps(json.loads(lines_of(call(1))[1]) | changes)


@pytest.mark.parametrize(
    "lines, message",
    [
        ([], "expected replies, got none"),
        ([json.dumps(FORMAT)], "expected replies, got none"),
        (lines_of(call(1))[1:], "line 1, expected the line"),
        (['{"format": "freshstack-replies", "version": 2}'], "line 1, expected the line"),
        ([*lines_of(call(1), call(1))], "line 3, expected one reply to a call"),
        ([*lines_of(), "{"], "line 2, expected a reply, or an embedding"),
        ([*lines_of(), "[]"], "line 2"),
        ([*lines_of(), "1" * 5000], "line 2"),
        ([*lines_of(), "[" * 100_000], "line 2"),
        ([*lines_of(), changed(digest="A" * 64)], "line 2"),
        ([*lines_of(), changed(digest="1" * 64 + "\n")], "line 2"),
        ([*lines_of(), changed(other=1)], "line 2"),
        ([*lines_of(), changed(text=None)], "line 2"),
        ([*lines_of(), changed(text="\ud800")], "line 2"),
        ([*lines_of(), changed(usd=1.5)], "line 2"),
        ([*lines_of(), changed(usd="-1")], "line 2"),
        ([*lines_of(), changed(usd="NaN")], "line 2"),
        ([*lines_of(), changed(input_tokens=True)], "line 2"),
        ([*lines_of(), changed(input_tokens=-1)], "line 2"),
        ([*lines_of(), changed(attempts=0)], "line 2"),
        ([*lines_of(), changed(attempts=None)], "line 2"),
        ([*lines_of(), changed(parameters=[])], "line 2"),
        ([*lines_of(), changed(parameters={"a": float("nan")})], "line 2"),
        ([*lines_of(), '{"digest": "' + "1" * 64 + '", "vector": "AAA"}'], "line 2"),
        ([*lines_of(), '{"digest": "' + "1" * 64 + '", "vector": "AAAA"}'], "line 2"),
        ([*lines_of(), '{"digest": "' + "1" * 64 + '", "vector": ""}'], "line 2"),
    ],
)
def test_a_damaged_recording_is_refused_with_its_line(tmp_path, lines, message):
    (tmp_path / "r.jsonl").write_text("".join(line + "\n" for line in lines))
    with pytest.raises(InputError, match=message):
        list(read_recording(tmp_path / "r.jsonl"))


def test_a_recording_that_was_cut_off_is_refused(tmp_path):
    write_recording(tmp_path / "r.jsonl", [call(1)])
    (tmp_path / "r.jsonl").write_bytes((tmp_path / "r.jsonl").read_bytes()[:-1])
    with pytest.raises(InputError, match="line 2"):
        list(read_recording(tmp_path / "r.jsonl"))


@given(st.binary(max_size=100), st.integers(0, 500))
def test_a_recording_with_any_damage_gives_replies_or_an_input_error(tmp_path_factory, noise, at):
    path = tmp_path_factory.mktemp("recordings") / "r.jsonl"
    write_recording(path, [call(1), call(2)])
    content = path.read_bytes()
    path.write_bytes(content[:at] + noise + content[at + len(noise) :])
    try:
        found = list(read_recording(path))
    except InputError:
        return
    assert all(isinstance(one, Call | Embedding) for one in found)


def test_two_replies_to_a_call_are_not_written(tmp_path):
    with pytest.raises(InputError, match="expected one reply to a call"):
        write_recording(tmp_path / "r.jsonl", [call(1), call(1, text="no")])
    assert not (tmp_path / "r.jsonl").exists()


@pytest.mark.parametrize("path", ["nothing.jsonl", ".", "a\0b"])
def test_a_recording_that_cannot_be_opened_is_refused(tmp_path, path):
    with pytest.raises(InputError, match="cannot read the recording"):
        recorded(tmp_path / path, Store(tmp_path / "store"))


def test_what_was_asked_once_is_replayed_without_anybody_to_ask(tmp_path):
    first = Client(Fake({"support": lambda request: request.messages[-1].content.upper()}), Store(tmp_path / "1"))
    one, other = asked("one"), asked("other")
    said = first.run([one, other], "asking")
    assert [reply.text for reply in said] == ["ONE", "OTHER"]
    assert export(first.store, "stand-in", [one.digest, other.digest, "0" * 64, one.digest], tmp_path / "r.jsonl") == 2

    store = Store(tmp_path / "2")
    replayed = recorded(tmp_path / "r.jsonl", store)
    again = Client(replayed, store).run([other, one], "asking")
    assert again == [dataclasses.replace(reply, stored=True) for reply in reversed(said)]
    assert re.fullmatch("recorded:[0-9a-f]{16}", replayed.endpoint)


def test_embeddings_are_replayed_too(tmp_path):
    first = Client(Fake(), Store(tmp_path / "1"))
    vectors = asyncio.run(first.embed(["a b", "c"], "m"))
    digests = [Request("m", (), {"input": text}, path="/embeddings").digest for text in ("a b", "c")]
    assert export(first.store, "stand-in", digests, tmp_path / "r.jsonl") == 2
    store = Store(tmp_path / "2")
    again = asyncio.run(Client(recorded(tmp_path / "r.jsonl", store), store).embed(["c", "a b"], "m"))
    assert (again[::-1] == vectors).all()


def test_a_call_that_is_not_in_the_recording_is_an_error_with_its_stage_and_id(tmp_path):
    write_recording(tmp_path / "r.jsonl", [call(1)])
    store = Store(tmp_path / "store")
    client = Client(recorded(tmp_path / "r.jsonl", store), store)
    request = asked("what nobody asked")
    with pytest.raises(EndpointError, match=rf"no reply to the call {request.digest} of the stage 'support'"):
        client.run([request], "asking")


def test_another_recording_in_the_same_store_does_not_answer(tmp_path):
    store = Store(tmp_path / "store")
    request = asked("x")
    write_recording(tmp_path / "a", [call(1, digest=request.digest)])
    write_recording(tmp_path / "b", [call(2)])
    recorded(tmp_path / "a", store)
    with pytest.raises(EndpointError, match="no reply"):
        Client(recorded(tmp_path / "b", store), store).run([request], "asking")


@pytest.mark.parametrize(
    "text, endpoint",
    [
        ("fake", Endpoint("stand-in")),
        ("recorded:a b.jsonl", Endpoint("recorded", "a b.jsonl")),
        ("recorded:https://x", Endpoint("recorded", "https://x")),
        ("http://localhost:8080/v1/", Endpoint("server", "http://localhost:8080/v1", "MY_KEY")),
        ("https://api.openai.com:443/v1", Endpoint("server", "https://api.openai.com/v1", "MY_KEY")),
    ],
)
def test_where_calls_go_is_read_as_it_is_typed(text, endpoint):
    parsed = parse_endpoint(text, key_from="MY_KEY")
    assert parsed == endpoint
    assert parse_endpoint(str(parsed), key_from="MY_KEY") == parsed


@pytest.mark.parametrize(
    "text",
    ["", "Fake", "fake:x", "recorded:", "recorded", "ftp://x", "sk-1234567890abcdef", "https://", "http://u:p@h/v1"],
)
def test_what_is_nowhere_is_refused_and_never_shown_whole_where_it_may_be_a_key(text):
    with pytest.raises(InputError) as caught:
        parse_endpoint(text)
    assert "sk-" not in str(caught.value)
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize("name", ["sk-1234567890abcdef", "", "A=B", "1A"])
def test_a_key_in_place_of_its_variables_name_is_refused_and_not_shown(name):
    with pytest.raises(InputError) as caught:
        parse_endpoint("fake", key_from=name)
    assert "1234567890" not in str(caught.value)


def test_nothing_costs_anything_where_nobody_is_asked():
    given = parse_prices(["1,2"])
    for endpoint in (Endpoint("stand-in"), Endpoint("recorded", "x")):
        assert endpoint.prices(given).of("gpt-4o").usd(10**6, 10**6) == 0
    assert Endpoint("server", URL).prices(given).of("gpt-4o").usd(10**6, 10**6) == 3
    assert Endpoint("server", "https://api.openai.com/v1").prices().of("gpt-4o").input == Decimal("2.5")


def test_an_endpoint_opens_what_it_names(tmp_path):
    write_recording(tmp_path / "r.jsonl", [call(1)])
    store = Store(tmp_path / "store")
    opened = [
        one.opened(store, timeout=1, connections=1)
        for one in (Endpoint("server", URL), Endpoint("stand-in"), Endpoint("recorded", str(tmp_path / "r.jsonl")))
    ]
    assert [transport.endpoint.partition(":")[0] for transport in opened] == ["http", "stand-in", "recorded"]
    assert [transport.stand_in for transport in opened] == [False, True, False]


def fake_said(request: Request, fake: Fake | None = None) -> str:
    raw = asyncio.run((fake or Fake()).send(request))
    assert raw.status == 200
    return chat(raw.body).text


def test_the_name_of_a_stand_ins_model_is_one_that_publish_refuses():
    raw = asyncio.run(Fake().send(asked("x")))
    model = chat(raw.body).model
    assert model == "stand-in for gpt-4o"
    assert _STAND_IN.match(model)


class Label(BaseModel):
    doc: Annotated[int, Field(ge=1, le=4)]
    why: str
    supports: Annotated[list[Annotated[int, Field(ge=1, le=3)]], Field(max_length=3)]
    grade: Literal["support", "partial", "none"]
    sure: bool
    share: Annotated[float, Field(ge=0, le=1)]
    note: str | None


class Labels(BaseModel):
    reasoning: Annotated[str, Field(max_length=20)]
    labels: Annotated[list[Label], Field(min_length=4, max_length=4)]


def test_the_stand_in_says_what_fits_a_schema_each_document_once():
    request = asked("Some text.\n<document>\nA fact of it.\n</document>", schema=Labels.model_json_schema())
    labels = Labels.model_validate_json(fake_said(request), strict=True)
    assert sorted(label.doc for label in labels.labels) == [1, 2, 3, 4]
    assert {label.why for label in labels.labels} <= {"Some text.", "A fact of it."}
    assert all(len(set(label.supports)) == len(label.supports) for label in labels.labels)


def test_the_stand_in_says_the_same_each_time_and_to_each_something_else():
    schema = Labels.model_json_schema()
    said = [fake_said(asked(f"Line {number}.\nAnother {number}.", schema=schema)) for number in range(20)]
    assert said == [fake_said(asked(f"Line {number}.\nAnother {number}.", schema=schema)) for number in range(20)]
    assert len(set(said)) == 20
    assert {len(json.loads(one)["labels"][0]["supports"]) for one in said} >= {0, 1, 2}


def test_the_client_takes_what_the_stand_in_says(tmp_path):
    client = Client(Fake(), Store(tmp_path / "store"))

    async def ask() -> Answer[Labels] | Failed:
        async with client:
            return await client.ask_for(asked("Some text."), Labels)

    answer = asyncio.run(ask())
    assert isinstance(answer, Answer)
    assert len(answer.value.labels) == 4
    assert len(answer.calls) == 1


def test_a_script_says_what_it_is_told_to_in_its_stage_alone(tmp_path):
    fake = Fake({"support": lambda request: f"{len(request.messages)} messages"})
    assert fake_said(asked("x"), fake) == "1 messages"
    assert fake_said(dataclasses.replace(asked("Words."), stage="nuggets"), fake) == "Words."


def test_the_stand_in_has_something_to_say_to_silence(tmp_path):
    (reply,) = Client(Fake(), Store(tmp_path / "store")).run([asked("...")], "asking")
    assert isinstance(reply, Reply)


def test_texts_with_the_same_words_are_near_each_other_for_the_stand_in(tmp_path):
    vectors = asyncio.run(Client(Fake(), Store(tmp_path / "s")).embed(["how to load", "to load how", "", "x y z"], "m"))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] == pytest.approx(1, abs=1e-5)
    assert vectors[0] @ vectors[3] < 0.9


scalars = st.one_of(
    st.builds(
        lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
        st.integers(-9, 9),
        st.integers(0, 9),
    ),
    st.builds(
        lambda low: {"type": "integer", "exclusiveMinimum": low, "exclusiveMaximum": low + 2}, st.integers(-9, 9)
    ),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.builds(lambda low: {"type": "number", "minimum": low, "maximum": low + 0.5}, st.floats(-9, 9)),
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
        st.integers(0, 9),
        st.integers(1, 9),
    ),
    st.lists(st.text(max_size=3), min_size=1, max_size=3, unique=True).map(lambda words: {"enum": words}),
    st.text(max_size=3).map(lambda word: {"const": word}),
)
schemas = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(
            lambda members: {
                "type": "object",
                "properties": members,
                "required": sorted(members),
                "additionalProperties": False,
            }
        ),
        st.builds(
            lambda items, low, more: {"type": "array", "items": items, "minItems": low, "maxItems": low + more},
            inner,
            st.integers(0, 3),
            st.integers(0, 3),
        ),
        st.lists(inner, min_size=1, max_size=2).map(lambda several: {"anyOf": several}),
    ),
    max_leaves=8,
)


def fits(value: object, schema: dict[str, object]) -> bool:
    """A validator of the few words of JSON Schema that are used here, by the letter of the standard."""
    if "anyOf" in schema:
        return any(fits(value, one) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    match schema["type"]:
        case "integer":
            low, high = schema.get("minimum", -99), schema.get("maximum", 99)
            over, under = schema.get("exclusiveMinimum", -99), schema.get("exclusiveMaximum", 99)
            return type(value) is int and low <= value <= high and over < value < under
        case "number":
            return type(value) in (int, float) and schema["minimum"] <= value <= schema["maximum"]
        case "string":
            return isinstance(value, str) and schema["minLength"] <= len(value) <= schema["maxLength"]
        case "boolean":
            return type(value) is bool
        case "null":
            return value is None
        case "array":
            many = isinstance(value, list) and schema["minItems"] <= len(value) <= schema["maxItems"]
            return many and all(fits(item, schema["items"]) for item in value)
        case _:
            members = schema["properties"]
            same = isinstance(value, dict) and value.keys() == members.keys()
            return same and all(fits(value[name], member) for name, member in members.items())


@given(schemas, st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_whatever_the_stand_in_says_fits_the_schema(schema, text):
    assert fits(json.loads(fake_said(asked(text, schema=schema))), schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^x$"},
        {"type": "string", "format": "date"},
        {"type": "number", "multipleOf": 3},
        {"enum": []},
        {"type": "object", "required": ["x"]},
        {"$ref": "#/$defs/nothing"},
        {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"},
        {"allOf": [{"type": "string"}, {"minLength": 1}]},
        {"type": "something"},
        {"not": {}},
    ],
)
def test_a_schema_that_nothing_can_be_made_up_for_needs_a_script(schema):
    with pytest.raises(InputError, match=r"cannot make up .*give it a script"):
        fake_said(asked("x", schema=schema))


def test_no_recording_is_read_before_it_is_asked_for():
    assert str(Endpoint("recorded", str(Path("nowhere") / "r.jsonl"))) == "recorded:nowhere/r.jsonl"


def test_what_has_no_end_is_no_recording(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (Path(os.devnull), tmp_path, pipe):
        with pytest.raises(InputError, match="expected a file, got a folder, a pipe or a device"):
            recorded(place, Store(tmp_path / "store"))
