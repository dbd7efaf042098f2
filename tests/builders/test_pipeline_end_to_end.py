"""Whole builds, from a topic file and a forum's posts to a snapshot, with a scripted model behind a real HTTP server.

The labels are known by construction: see ``pipeline_topic``.
"""

import contextlib
import io
import itertools
import json
import random
import shutil
import sqlite3
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

import freshstack_datasets as fsd
from builders.cli import main
from freshstack_datasets.verification import verify
from tests.builders import pipeline_topic as topic
from tests.builders.pipeline_forks import Forks
from tests.builders.pipeline_server import (
    MODEL,
    PipelineServer,
    digests_of,
    documents,
    kind_of,
    labels,
    question,
    right,
)
from tests.llm_server import Says, chat, error

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyndeval
    import pytrec_eval

POOL = "{retrievers: [bm25, {dense: lamp-e, endpoint: same, name: dense}], depth: 20, top: 6}"


def models(url):
    return f"{{endpoint: '{url}', model: {MODEL}, parameters: {{temperature: 0.1, max_tokens: 900}}}}"


def command(given, url, folder, *options):
    """The command that builds the topic in a folder."""
    file = topic.write(folder / "lantern.yaml", given, models(url), POOL)
    places = ["--out", folder / "out", "--replies", folder / "replies.sqlite"]
    told = ["build", file, "--posts", given.posts, "--snapshot", "2026-10", "--processes", "1"]
    return [str(one) for one in (*told, *places, "--key-from", "NO_KEY_IS_SET", *options)]


@dataclass(frozen=True)
class Built:
    """A build.

    Args:
        path: The snapshot.
        server: Who was asked.
        told: What the command says, as JSON.
        messages: What it says on standard error.
    """

    path: Path
    server: PipelineServer
    told: dict
    messages: str

    @property
    def unfiltered(self):
        return self.path.with_name(f"{self.path.name}-unfiltered")


def run(arguments, home):
    """Run a command with a home of its own; return its exit code, and what it says in both ways."""
    said, messages = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as own, contextlib.redirect_stdout(said), contextlib.redirect_stderr(messages):
        own.setenv("FRESHSTACK_HOME", str(home))
        code = main(arguments)
    return code, said.getvalue(), messages.getvalue()


def build(given, folder, trouble=lambda call: None, options=()):
    with PipelineServer(trouble) as server:
        code, said, messages = run(command(given, server.url, folder, "--json", *options), folder / "home")
        assert code == 0, messages
    return Built(folder / "out", server, json.loads(said), messages)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return topic.given(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def built(tmp_path_factory, given):
    return build(given, tmp_path_factory.mktemp("whole"))


def begin(built, folder):
    """Begin a build with the questions and the corpus of another one, which ask no model and take the longest."""
    for part in ("questions", "corpus", "sources"):
        shutil.copytree(stages(built.path) / part, stages(folder / "out") / part)


def stages(path):
    return path.with_name(f"{path.name}.stages")


def path_of(doc_id):
    """The path of the file of which a document of the topic is a chunk; each file is one."""
    return doc_id.removeprefix("lantern/").rsplit("_", 2)[0]


def judged(path):
    """By question and path: the positions of the nuggets that the document supports, of those judged."""
    data = fsd.load(path)
    positions = {nugget.nugget_id: nugget.position for nugget in data.nuggets}
    found = {}
    for judgment in data.judgments:
        at = found.setdefault((judgment.query_id, path_of(judgment.doc_id)), {})
        at[positions[judgment.nugget_id]] = judgment.score
    return found


def assert_known_by_construction(path, but=()):
    """Each document that was judged has its labels, and all that support something were judged."""
    found = judged(path)
    for (query_id, document), scores in found.items():
        right_ones = topic.supports(query_id, document)
        assert scores == {at: int(at in right_ones) for at in range(len(topic.FACTS[query_id]))}, (query_id, document)
    asked = {query.query_id for query in fsd.load(path).queries}
    homes = {(query_id, home) for (query_id, _), all_of in topic.PLACES.items() for home in all_of if query_id in asked}
    assert homes - found.keys() == set(but)
    return found


def test_from_a_topic_file_to_a_verified_snapshot_whose_judgments_are_those_known_by_construction(built):
    assert verify(built.path) == verify(built.unfiltered) == []
    data, all_of = fsd.load(built.path), fsd.load(built.unfiltered)
    assert sorted(query.query_id for query in all_of.queries) == sorted(topic.SUBJECTS)
    assert sorted(query.query_id for query in data.queries) == sorted(topic.SUBJECTS.keys() - set(topic.FILTERED))
    assert len(data.corpus) == len(topic.files()) >= 30
    assert [nugget.text for nugget in data.nuggets_of("q06")] == list(topic.FACTS["q06"])
    found = assert_known_by_construction(built.path)
    assert_known_by_construction(built.unfiltered)
    assert any(document == topic.HOSTILE for _, document in found)  # it was judged, and its words were not obeyed
    assert all(not any(scores.values()) for (_, document), scores in found.items() if document == topic.HOSTILE)


def test_bm25_scores_on_it_what_other_tools_say(built):
    data = fsd.load(built.path)
    run = fsd.BM25().index(data.corpus).search(data.queries, k=50)
    mean = fsd.evaluate(run, data).mean
    rows = [(one.query_id, one.nugget_id, one.doc_id, one.score) for one in data.judgments]
    entries = [(query, doc, score) for query, docs in run.to_dict().items() for doc, score in docs.items()]
    theirs = pyndeval.RelevanceEvaluator(rows, ["alpha-nDCG@10"]).evaluate(entries)
    assert mean["alpha_nDCG@10"] == pytest.approx(sum(one["alpha-nDCG@10"] for one in theirs.values()) / 8, abs=1e-12)
    qrels = {query_id: dict(data.qrels[query_id]) for query_id in (query.query_id for query in data.queries)}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recall.50"}).evaluate(run.to_dict())
    assert mean["Recall@50"] == pytest.approx(sum(one["recall_50"] for one in theirs.values()) / 8, abs=1e-12)
    assert 0.5 < mean["alpha_nDCG@10"] < 1.0


def test_every_judgment_leads_to_the_call_that_made_it(built):
    import pyarrow.parquet as pq

    sent = {digest: asked for asked in built.server.asked for digest in digests_of(asked)}
    calls = {row["call-id"]: row for row in pq.read_table(built.path / "provenance" / "calls.parquet").to_pylist()}
    for judgment in fsd.load(built.path).judgments:
        assert kind_of(sent[judgment.call_id]) == "support"
        assert calls[judgment.call_id]["stage"] == "support"
        assert json.loads(calls[judgment.call_id]["reply"])["documents"] == labels(sent[judgment.call_id])


def test_nothing_is_asked_twice_and_a_build_again_asks_nobody(given, built):
    assert max(built.server.times.values()) == 1
    before = fingerprints(built.path)
    code, said, _ = run(
        command(given, built.server.url, built.path.parent), built.path.with_name("home")
    )  # the server is gone
    assert code == 0
    assert "nothing had to be done" in said
    assert fingerprints(built.path) == before


def fingerprints(path):
    """Those of a snapshot, of the unfiltered one beside it, and of the pools."""
    both = (path, path.with_name(f"{path.name}-unfiltered"))
    return [json.loads((one / "snapshot.json").read_text())["fingerprint"] for one in both]


# The server misbehaves.


def question_of(asked):
    """The id of the question that a request for a chat is about."""
    return next(query_id for query_id, (_, title) in topic.SUBJECTS.items() if title in question(asked))


def is_correction(asked):
    return len(asked.body["messages"]) > 2


NEVER = '"""The colour of a lantern.'
"""What is in the document, src/colour.py, of which no reply says anything."""


class Misbehaving:
    """All that section by section may go wrong, each in some call."""

    def __init__(self):
        self.storm = itertools.count()
        self.hang = threading.Event()
        self.seen = set()

    def once(self, name):
        """Tell whether it is the first time."""
        first = name not in self.seen
        self.seen.add(name)
        return first

    def __call__(self, call):
        if call.kind == "embeddings":
            return self.embeddings(call)
        says = getattr(self, call.kind.replace("-", "_"))
        return says(call.asked, question_of(call.asked))

    def embeddings(self, call):
        return error(500, "out of order") if call.arrived == 0 else None

    def nuggets(self, asked, query_id):
        if next(self.storm) < 20:
            return error(429, "slow down", Retry_After="0.01")
        if query_id == "q02" and not is_correction(asked):
            return chat("Gladly! Here are the nuggets that you asked for: {one, two}", model=MODEL)
        if query_id == "q07":
            return chat("I would rather say it in prose.", model=MODEL)
        return None

    def sub_questions(self, asked, query_id):
        if query_id == "q01" and self.once("500"):
            return error(500, "out of order")
        return (
            chat(right(asked).body["choices"][0]["message"]["content"], model="lamp-0") if query_id == "q03" else None
        )

    def closed_book(self, asked, query_id):
        if query_id == "q01" and self.once("cut body"):
            return Says(b'{"choices": [', length=999)
        if query_id == "q04":
            return chat("Set it in", finish="length", model=MODEL)
        return chat(None, message={"refusal": "I do not speak of glass."}, model=MODEL) if query_id == "q05" else None

    def support(self, asked, query_id):
        if asked.body.get("response_format", {}).get("type") == "json_schema":
            return error(400, "response_format json_schema is not supported")
        if query_id == "q06" and self.once("hang"):
            return Says(after=self.hang)
        said = labels(asked)
        if query_id == "q01" and self.once("unasked"):
            said = [*said[1:], {"document": len(said) + 7, "reasoning": "", "supports": [1]}]
        elif query_id == "q02" and self.once("number"):
            said[0]["supports"] = [99]
        elif query_id == "q03" and self.once("twice"):
            said.append({**said[0], "supports": []})
        elif query_id == "q08":
            said = [one for one, text in zip(said, documents(asked), strict=True) if NEVER not in text]
        else:
            return None
        return reply(said)


def reply(said):
    return chat(json.dumps({"documents": said}), model=MODEL)


def test_a_server_that_misbehaves_loses_nothing_and_nothing_is_guessed(tmp_path, given, built):
    misbehaving = Misbehaving()
    begin(built, tmp_path)
    got = build(given, tmp_path, misbehaving, options=("--timeout", "3"))
    misbehaving.hang.set()
    assert verify(got.path) == verify(got.unfiltered) == []
    queries = {query.query_id for query in fsd.load(got.path).queries}
    assert queries == topic.SUBJECTS.keys() - set(topic.FILTERED) - {"q07", "q08"}
    assert_known_by_construction(got.path)
    found, undisturbed = assert_known_by_construction(got.unfiltered), judged(built.unfiltered)
    never = ("q08", "src/colour.py")  # of which no label ever came: it is not judged, which is no "no"
    assert never in undisturbed.keys() - found.keys()
    assert_counted(got)


def assert_counted(got):
    """Everything that went wrong is counted where people see it, and where programs do."""
    stages_told = {stage["name"]: stage for stage in got.told["stages"]}
    counts = {name: stage["counts"] for name, stage in stages_told.items()}
    assert (counts["nuggets"]["questions"], counts["nuggets"]["left_out"]) == (9, 1)  # q07, in prose
    assert stages_told["nuggets"]["warnings"] == ["1 question without nuggets: 1 does-not-fit"]
    assert (counts["queries"]["closed-book"], counts["queries"]["left_out"]) == (7, 2)  # q04 cut off, q05 refused
    assert stages_told["queries"]["models"]["sub-questions"] == ["lamp-0", MODEL]
    support = counts["support"]
    assert (support["unasked"], support["wrong_nuggets"], support["twice"]) == (1, 1, 1)
    assert (support["missing"], support["lacking"]) == (2, 1)  # one came when it was asked for again, the other never
    assert support["labels"] == support["documents"] - 1
    assert counts["filter"]["incomplete judgments"] == 1
    lines = got.messages.splitlines()
    assert "warning: 1 reply by another model than asked: lamp-1 -> lamp-0" in lines
    (asked,) = (line for line in lines if line.startswith("asked "))
    # Tried again: 20 in the storm, two of 500, a cut body, a hang. Failed: q04, q05, q07, and the document of q08.
    assert "24 tried again" in asked
    assert "4 failed" in asked
    dropped = [json.loads(line) for line in (got.path / "provenance" / "dropped.jsonl").read_text().splitlines()]
    reasons = {(one["stage"], one["id"], one["reason"]) for one in dropped}
    assert reasons >= {
        ("nuggets", "q07", "does-not-fit"),
        ("queries", "q04", "cut-off"),
        ("queries", "q05", "refused"),
        ("support", "q08", "does-not-fit"),
    }


# Killed.

CONCURRENCY = 4


@dataclass
class Kept:
    """What the file of replies holds.

    Args:
        digests: What was answered.
        under_way: The notes of calls that are sent, each with what tells it from all others.
    """

    digests: set
    under_way: set


def kept(path):
    """What is kept at the moment, read past the code under test."""
    if not path.exists():
        return Kept(set(), set())
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as base:
        try:
            digests = {row[0] for name in ("replies", "vectors") for row in base.execute(f"SELECT digest FROM {name}")}
            return Kept(digests, set(base.execute("SELECT session, number FROM under_way")))
        except sqlite3.OperationalError:  # killed before the tables were made
            return Kept(set(), set())


def without_reply(asked, replies):
    """How many of the requests that came to the server led to no reply that is kept."""
    answered = {one.raw for one in asked if replies.digests.issuperset(digests_of(one))}
    return len(asked) - len(answered)


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    with Forks(tmp_path_factory.mktemp("forks")) as made:
        yield made


def killed(given, built, forks, folder, kills, seed, *, whole):
    """Build again and again, killed at random moments, until it was killed so often.

    Args:
        given: What is built.
        built: A build that nobody disturbed.
        forks: What runs them.
        folder: Where builds go.
        kills: How many times they are killed.
        seed: What the moments depend on.
        whole: Whether each begins with nothing; else with the questions and the corpus.
    """
    moments, left, most = random.Random(seed), kills, 0.0
    with PipelineServer(takes=0.02) as server:
        for number in itertools.count():
            place = folder / f"build-{number}"
            place.mkdir()
            if not whole:
                begin(built, place)
            replies, start = place / "replies.sqlite", len(server.asked)
            arguments = command(given, server.url, place, "--concurrency", str(CONCURRENCY), "--json")
            code, lost = None, set()
            while code is None:
                before, first = kept(replies), len(server.asked)
                lost |= before.under_way
                began = time.monotonic()
                code = forks.run(arguments, place / "home", moments.uniform(0, most) if most and left else None)
                left -= code is None
                for asked in server.asked[first:]:
                    assert not before.digests & set(digests_of(asked)), "a reply that was stored is asked for again"
                # What the server got and nobody keeps was noted before it was sent; no more is noted than is under way.
                after = kept(replies)
                assert without_reply(server.asked[start:], after) <= len(lost | after.under_way)
                assert len(after.under_way) <= (CONCURRENCY if code is None else 0)
            assert code == 0, forks.messages.read_text()
            most = most or time.monotonic() - began  # nobody killed the first one
            assert fingerprints(place / "out") == fingerprints(built.path)
            assert_known_by_construction(place / "out")
            assert after.digests == {digest for asked in server.asked[start:] for digest in digests_of(asked)}
            assert sum(json.loads(forks.said.read_text())["lost"].values()) == len(lost)
            if not left:
                return


def test_a_build_that_is_killed_twenty_times_ends_with_the_same_fingerprint_and_repeats_no_call(
    given, built, forks, tmp_path
):
    killed(given, built, forks, tmp_path, kills=20, seed=1, whole=False)


@pytest.mark.slow
def test_so_does_one_that_is_killed_while_it_reads_questions_and_cuts_documents(given, built, forks, tmp_path):
    killed(given, built, forks, tmp_path, kills=20, seed=2026, whole=True)


def test_calls_that_were_in_flight_at_a_kill_are_counted(given, built, forks, tmp_path):
    """The server answers nothing of the judge until as many wait as may; then they are killed."""
    waiting, never = threading.Event(), threading.Event()

    def trouble(call):
        if call.kind != "support" or waiting.is_set():
            return None
        if call.arrived == CONCURRENCY - 1:
            waiting.set()
        return Says(after=never)

    begin(built, tmp_path)
    with PipelineServer(trouble) as server:
        arguments = command(given, server.url, tmp_path, "--concurrency", str(CONCURRENCY), "--json")
        assert forks.run(arguments, tmp_path / "home", at=waiting) is None
        never.set()
        assert server.kinds["support"] == CONCURRENCY
        assert forks.run(arguments, tmp_path / "home") == 0, forks.messages.read_text()
    assert json.loads(forks.said.read_text())["lost"] == {"support": CONCURRENCY}
    # Of ten questions each is asked about once, and again about the four.
    assert server.kinds["support"] == len(topic.SUBJECTS) + CONCURRENCY
    assert sum(server.times.values()) - len(server.times) == CONCURRENCY
