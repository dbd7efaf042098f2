"""The table of calls: what is written is read, whatever texts it holds, and damage is an error and no crash."""

import json
from contextlib import suppress

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from builders.assembling.calls import spent, write_calls
from freshstack_datasets.errors import SnapshotError
from freshstack_datasets.trace.reading import Calls, TracedCall

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXT, values, max_size=3),
    max_leaves=5,
)
TOKENS = st.none() | st.integers(0, 2**40)
CALLS = st.builds(
    TracedCall,
    *(TEXT for _ in range(6)),
    parameters=st.dictionaries(TEXT, JSON, max_size=3),
    reply=st.text(st.characters(exclude_categories=["Cs"]), max_size=500),
    created=TEXT,
    input_tokens=TOKENS,
    output_tokens=TOKENS,
    usd=st.none() | st.floats(0, 1e6),
    documents=st.lists(TEXT, max_size=4).map(tuple),
)
MANY = st.lists(CALLS, max_size=8, unique_by=lambda call: (call.call_id, call.query_id))
SAME_FOLDER = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(folder, calls):
    path = folder / "provenance" / "calls.parquet"
    path.parent.mkdir(exist_ok=True)
    assert write_calls(path, calls) == len(calls)
    return path


@SAME_FOLDER
@given(MANY)
def test_every_call_is_read_as_it_was_written(tmp_path, calls):
    path = written(tmp_path, calls)
    table = Calls(tmp_path)
    for call in calls:
        assert table.get(call.call_id, call.query_id) == call
    assert table.get("no such call", "q") is None
    ids = pq.read_table(path)["call-id"].to_pylist()
    assert ids == sorted(ids)


@SAME_FOLDER
@given(MANY, st.randoms())
def test_the_order_of_the_calls_changes_no_byte(tmp_path, calls, shuffled):
    before = written(tmp_path, calls).read_bytes()
    shuffled.shuffle(calls)
    assert written(tmp_path, calls).read_bytes() == before


def call(number, **changes):
    told = {
        "stage": "support",
        "model": "m",
        "asked": "m",
        "prompt": "p",
        "parameters": {},
        "reply": "r",
        "created": "",
    }
    return TracedCall(**{"call_id": f"c{number:04}", "query_id": "q", **told, **changes})


def test_a_table_of_several_row_groups_is_searched_through(tmp_path):
    calls = [call(number, reply=f"reply {number}") for number in range(450)]
    path = written(tmp_path, calls[::-1])
    assert pq.ParquetFile(path).num_row_groups == 3
    table = Calls(tmp_path)
    assert [table.get(f"c{number:04}", "q").reply for number in (0, 199, 200, 449)] == [
        "reply 0",
        "reply 199",
        "reply 200",
        "reply 449",
    ]


def test_a_call_that_two_questions_share_is_found_for_each_and_counted_once(tmp_path):
    both = [call(1, query_id="q1", documents=("a",)), call(1, query_id="q2", documents=("b",))]
    written(tmp_path, both)
    assert [Calls(tmp_path).get("c0001", query_id).documents for query_id in ("q1", "q2")] == [("a",), ("b",)]
    costs = [{"input_tokens": 5, "output_tokens": 1, "usd": 0.5}, {"input_tokens": 2, "output_tokens": 1, "usd": None}]
    told = spent([call(1, query_id="q1", **costs[0]), call(1, query_id="q2", **costs[0]), call(2, **costs[1])])
    assert told == {"support": {"calls": 2, "input_tokens": 7, "output_tokens": 2, "usd": None}}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    calls = [call(number, documents=("d1", "d2"), reply=json.dumps({"n": number})) for number in range(30)]
    return written(folder, calls).read_bytes()


@SAME_FOLDER
@given(st.integers(0, 10**6), st.integers(1, 255), st.booleans())
def test_a_damaged_byte_is_an_error_of_ours_or_harmless(tmp_path, whole, place, change, cut):
    place %= len(whole)
    damaged = whole[:place] if cut else whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :]
    assume(damaged != whole)
    path = tmp_path / "provenance" / "calls.parquet"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(damaged)
    with suppress(SnapshotError):
        found = Calls(tmp_path).get("c0007", "q")
        assert found is None or isinstance(found.reply, str)
