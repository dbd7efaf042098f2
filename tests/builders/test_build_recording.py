"""``build --record``: a file with which the same snapshot is made again on a machine without a network."""

import contextlib
import io
import json
import shutil

import pytest

from builders.cli import main
from tests.builders import pipeline_topic as lantern
from tests.builders.pipeline_server import MODEL, PipelineServer
from tests.llm_server import error

POOL = "{retrievers: [bm25, {dense: lamp-e, endpoint: same, name: dense}], depth: 20, top: 6}"
MODELS = f"{{model: {MODEL}, parameters: {{temperature: 0.1, max_tokens: 900}}}}"


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return lantern.given(tmp_path_factory.mktemp("given"))


def build(given, folder, *more):
    """Run the command in a folder with a home of its own; return its exit code, its JSON and its messages."""
    folder.mkdir(exist_ok=True)
    topic = lantern.write(folder / "lantern.yaml", given, MODELS, POOL)
    typed = ["build", topic, "--posts", given.posts, "--snapshot", "2026-10", "--out", folder / "out", "--json"]
    typed += ["--processes", "1", "--key-from", "NO_KEY_IS_SET", *more]
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as own, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        own.setenv("FRESHSTACK_HOME", str(folder / "home"))
        code = main([str(one) for one in typed])
    return code, json.loads(out.getvalue() or "null"), err.getvalue()


def begin(folder, other):
    """Begin a build with the questions and the corpus of another one, which take the longest and ask no model."""
    for part in ("questions", "corpus", "sources"):
        shutil.copytree(other / "out.stages" / part, folder / "out.stages" / part)


def test_the_same_snapshot_is_made_of_a_recording_where_there_is_no_server(given, tmp_path):
    recording = tmp_path / "replies.jsonl"
    with PipelineServer() as server:
        code, told, messages = build(given, tmp_path / "one", "--llm", server.url, "--record", recording)
        assert code == 0, messages
        asked = {asked.raw for asked in server.asked}
        # also of a build that has nothing to do any more
        code, again, _ = build(given, tmp_path / "one", "--llm", server.url, "--record", tmp_path / "again.jsonl")
        assert (code, again["made_before"]) == (0, True)
        assert (tmp_path / "again.jsonl").read_bytes() == recording.read_bytes()
        assert {asked.raw for asked in server.asked} == asked
    chats = sum(number for kind, number in server.kinds.items() if kind != "embeddings")
    lines = recording.read_text().splitlines()
    assert sum('"text":' in line for line in lines) == chats
    assert told["recorded"] == len(lines) - 1

    begin(tmp_path / "two", tmp_path / "one")
    code, replayed, messages = build(given, tmp_path / "two", "--llm", f"recorded:{recording}")
    assert code == 0, messages
    assert replayed["fingerprint"] == told["fingerprint"]
    assert replayed["unfiltered"]["fingerprint"] == told["unfiltered"]["fingerprint"]


def test_what_a_server_turned_away_is_told_since_a_recording_lacks_it(given, tmp_path):
    def trouble(call):
        return error(400, "too long") if call.kind == "closed-book" and "radio" in call.asked.text.lower() else None

    with PipelineServer(trouble) as server:
        code, _, messages = build(given, tmp_path / "one", "--llm", server.url, "--record", tmp_path / "replies.jsonl")
    assert code == 0, messages
    assert "1 call without a reply, failed or kept in another file of replies: a build of" in messages


def test_replies_that_are_kept_elsewhere_are_asked_for(given, tmp_path):
    with PipelineServer() as server:
        assert build(given, tmp_path / "one", "--llm", server.url)[0] == 0
        more = ("--replies", tmp_path / "other.sqlite", "--record", tmp_path / "replies.jsonl")
        code, _, messages = build(given, tmp_path / "one", "--llm", server.url, *more)
    assert code == 2
    assert "other.sqlite'; name the file that the build was made with: --replies FILE" in messages
    assert not (tmp_path / "replies.jsonl").exists()


def test_a_stand_in_is_not_recorded(given, tmp_path):
    code, told, messages = build(given, tmp_path / "one", "--llm", "fake", "--record", tmp_path / "replies.jsonl")
    assert (code, told) == (2, None)
    assert "--record, expected a server whose replies are recorded, got a stand-in" in messages
    assert not (tmp_path / "replies.jsonl").exists()
    assert not (tmp_path / "one" / "out.stages" / "nuggets").exists()
