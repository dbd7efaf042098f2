"""freshstack show DATASET QUERY DOC: where a judgment came from, from the published files alone."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Judgment
from freshstack_datasets.runs import write_run
from freshstack_datasets.trace.replies import LARGEST, Said, said_of
from tests.unit.cli_tiny import Terminal, write_tiny
from tests.unit.trace_made import CALL_TYPES, CALLS, PROMPT, REPLY, parquet, write_traced


@pytest.fixture
def run(capsys):
    return Terminal(capsys)


@pytest.fixture
def traced(tmp_path):
    return write_traced(tmp_path / "traced")


def test_a_judgment_is_followed_to_its_call_and_to_what_found_the_document(run, traced):
    facts = run.json("show", traced, "q1", "d1")
    assert (facts["dataset"], facts["query_id"], facts["doc_id"], facts["judged"]) == ("tests/traced", "q1", "d1", True)
    assert [(one["nugget_id"], one["score"], one["call_id"]) for one in facts["nuggets"]] == [
        ("n1", 1, "c1"),
        ("n2", 0, "c1"),
    ]
    (call,) = facts["calls"]
    assert call == {
        "call_id": "c1",
        "stage": "support",
        "model": "gpt-4o-2024-08-06",
        "asked": "gpt-4o",
        "prompt": PROMPT,
        "prompt_name": "support@1",
        "parameters": {"seed": 7, "temperature": 0.1},
        "created": "2026-10-31T12:00:00+00:00",
        "input_tokens": 1500,
        "output_tokens": 60,
        "usd": 0.00435,
        "document": 2,  # it was shown d2 and then d1
        "documents": 2,
        "reasoning": "Burrs grind evenly, it says.",
        "supports": [0],
        "reply": REPLY,
        "reply_characters": len(REPLY),
    }
    assert facts["pool"] == [
        {"technique": "answer", "retriever": "bm25", "rank": 4},
        {"technique": "question", "retriever": "fusion", "rank": 1},
    ]
    assert (facts["notes"], facts["run"], facts["rank"]) == ([], None, None)


def test_it_is_told_in_words_that_a_terminal_does_not_obey(run, traced):
    code, out, err = run("show", traced, "q1", "d2")
    assert (code, err) == (0, "")
    assert out.splitlines()[2:] == [
        "query q1: How do I grind evenly?",
        "document d2",
        "",
        "nugget 1: burrs grind \\x1b[1mevenly",
        "  not supported, call c1",
        "nugget 2: water matters",
        "  supported, call c1",
        "",
        "call c1",
        "  support by gpt-4o-2024-08-06, which was asked for as gpt-4o, 2026-10-31T12:00:00+00:00",
        f"  prompt support@1, sha256 {PROMPT}",
        "  parameters: seed = 7, temperature = 0.1",
        "  tokens: 1,500 read, 60 written, 0.004350 USD",
        "  the document was number 1 of 2",
        "  the reply supports of its nuggets: 2",
        "  the reply's reasoning: It is about \\x1b[2Jwater\\u202e alone.",
        "",
        "brought before the judge by:",
        "searched for  retriever  rank",
        "question      fusion        2",
    ]


def test_the_rank_of_the_document_in_a_run_is_told_too(run, traced, tmp_path):
    path = tmp_path / "mine.trec"
    write_run(Run.from_dict({"q1": {"d9": 3.0, "d1": 2.0}}, "mine"), path)
    assert "mine: rank 2\n" in run("show", traced, "q1", "d1", "--run", path)[1]
    assert "mine: not among the documents\n" in run("show", traced, "q1", "d2", "--run", path)[1]


def test_a_reply_that_cannot_be_read_is_told_of_and_kept_whole(run, traced):
    (call,) = run.json("show", traced, "q2", "d3")["calls"]
    assert (call["document"], call["reasoning"], call["supports"], call["reply"]) == (1, None, None, "I cannot say.")
    assert (call["prompt_name"], call["input_tokens"], call["usd"]) == (None, None, None)
    out = run("show", traced, "q2", "d3")[1]
    assert "tokens: an unknown number read, an unknown number written\n" in out
    assert "the reply says nothing of it that can be read" in out


def test_a_document_that_nobody_judged_is_told_from_one_that_there_is_not(run, traced):
    facts = run.json("show", traced, "q1", "d5")
    assert (facts["judged"], facts["calls"], facts["pool"]) == (False, [], [])
    assert {one["score"] for one in facts["nuggets"]} == {None}
    assert facts["notes"] == [
        "the document was not judged for this query; scores take it for one that supports nothing",
        "no search brought it before the judge",
    ]
    assert run.json("show", traced, "q1", "d3")["judged"] is False  # another query's
    code, out, err = run("show", traced, "q1", "d77")
    assert (code, out) == (2, "")
    assert err.startswith("error: unknown document 'd77'; known: 'd1', 'd2'")
    assert run("show", traced, "q7", "d1")[2].startswith("error: unknown query 'q7'; did you mean")


def test_a_document_whose_judgment_failed_says_why(run, traced):
    facts = run.json("show", traced, "q2", "d4")
    assert facts["judged"] is False
    assert facts["pool"] == [{"technique": "nuggets", "retriever": "fusion", "rank": 2}]
    assert facts["notes"][1:] == ["support left it out: refused (content\x1b filter)"]
    assert "support left it out: refused (content\\x1b filter)\n" in run("show", traced, "q2", "d4")[1]


def test_a_snapshot_without_a_trace_says_so(run, tmp_path):
    write_tiny(tmp_path / "tiny")
    facts = run.json("show", tmp_path / "tiny", "q1", "d1")
    assert [one["score"] for one in facts["nuggets"]] == [1, 0]
    assert (facts["calls"], facts["pool"]) == ([], None)
    assert facts["notes"] == [
        "the judgments do not say which call of a model made them",
        "the snapshot has no provenance/pool.parquet, which would tell what brought the document before the judge",
    ]
    bare = write_traced(tmp_path / "bare", provenance={}, dropped=None)
    assert run.json("show", bare, "q1", "d1")["notes"][0] == (
        "the snapshot has no provenance/calls.parquet, which would tell of the call c1"
    )
    assert run.json("show", "nimbus", "exact-01", "err-4012")["judged"] is True


def test_a_call_that_the_trace_lacks_is_named(run, tmp_path):
    folder = write_traced(tmp_path / "traced", calls={"query-id": ["q2", "q2"]})
    facts = run.json("show", folder, "q1", "d1")
    assert (facts["calls"], facts["notes"]) == ([], ["provenance/calls.parquet does not have the call c1"])


def test_a_label_that_is_not_the_reply_s_is_told_of(run, tmp_path):
    changed = [
        Judgment("q1", "n1", "d1", 1, "c1"),
        Judgment("q1", "n2", "d1", 1, "c1"),  # somebody corrected it; the reply supports the first one alone
        Judgment("q2", "n3", "d3", 1, "c2"),
    ]
    folder = write_traced(tmp_path / "traced", judgments=changed)
    assert run.json("show", folder, "q1", "d1")["notes"] == ["the label of nugget 2 is not what the reply says"]


def test_a_call_that_does_not_say_what_it_was_shown_is_told_of(run, tmp_path):
    folder = write_traced(tmp_path / "traced", calls={"documents": [None, None]})
    (call,) = run.json("show", folder, "q1", "d1")["calls"]
    assert (call["document"], call["documents"], call["supports"]) == (None, 0, None)
    assert "it does not say that it was shown this document" in run("show", folder, "q1", "d1")[1]


BROKEN = {
    "no table": b"PAR1 no table PAR1",
    "empty": b"",
    "other columns": {"call-id": ["c1"]},
    "numbers for texts": {**CALLS, "reply": [1, 2]},
    "a null for an id": {**CALLS, "model": [None, None]},
    "parameters that are no JSON": {**CALLS, "parameters": ["{", "{"]},
    "parameters that are a list": {**CALLS, "parameters": ["[]", "[]"]},
    "parameters without end": {**CALLS, "parameters": ["[" * 100_000, "{}"]},
    "a null for a document": {**CALLS, "documents": [[None, "d1"], ["d3"]]},
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_trace_is_an_error_of_one_line(run, traced, content):
    path = traced / "provenance" / "calls.parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        pq.write_table(pa.table(content), path)
        if set(content) == set(CALLS) and content["reply"] == CALLS["reply"]:
            parquet(path, content, CALL_TYPES)
    code, out, err = run("show", traced, "q1", "d1")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    assert "provenance/calls.parquet" in err


def test_a_trace_that_is_gone_or_a_link_out_of_the_folder_is_an_error(run, traced, tmp_path):
    path = traced / "provenance" / "pool.parquet"
    path.rename(tmp_path / "elsewhere.parquet")
    assert "'provenance/pool.parquet'" in run("show", traced, "q1", "d1")[2]
    path.symlink_to(tmp_path / "elsewhere.parquet")
    assert "got a link out of the folder" in run("show", traced, "q1", "d1")[2]


@pytest.mark.parametrize(
    "text", ['{"document" ', '["document"]', "\udcff".encode("utf-8", "surrogateescape") + b'"document"\n']
)
def test_a_broken_list_of_what_was_left_out_is_an_error(run, traced, text):
    path = traced / "provenance" / "dropped.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    code, _, err = run("show", traced, "q2", "d4")
    assert code == 2
    assert err.startswith("error: provenance/dropped.jsonl cannot be read, expected a JSON object on each line")


def test_a_huge_reply_is_cut_in_json_and_not_printed(run, tmp_path):
    folder = write_traced(tmp_path / "traced", calls={"reply": [f'{{"documents": ["{"x" * 3_000_000}"]}}', "no"]})
    (call,) = run.json("show", folder, "q1", "d1")["calls"]
    assert (len(call["reply"]), call["reply_characters"]) == (LARGEST, 3_000_019)
    assert len(run("show", folder, "q1", "d1")[1]) < 2_000


def entry(number, *supports, reasoning="so"):
    return {"document": number, "reasoning": reasoning, "supports": list(supports)}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"documents": [entry(2, 3, 1, 3)]}, Said("so", (0, 2))),
        ({"documents": [entry(1), entry(2), {"document": "x"}]}, Said("so", ())),
        ({"documents": [entry(1, 1)]}, None),
        ({"documents": [entry(2, 1), entry(2)]}, None),  # nobody knows which is meant
        ({"documents": [entry(2, "1")]}, None),
        ({"documents": [entry(True), entry(2.0)]}, None),
        ({"documents": {"2": [1]}}, None),
        ([1], None),
    ],
)
def test_a_reply_is_read_for_one_document(reply, said):
    assert said_of(json.dumps(reply), 2) == said
    assert said_of(f"Here it is:\n```json\n{json.dumps(reply)}\n```", 2) == said


@pytest.mark.parametrize("reply", ["", "no", "{", '{"documents": ' + "[" * 100_000, '{"documents": [NaN]}'])
def test_a_reply_that_is_no_json_says_nothing(reply):
    assert said_of(reply, 1) is None
