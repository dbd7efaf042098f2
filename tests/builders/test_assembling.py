"""The two snapshots of a build: what is in them, what is told of their making, and that both are there or none."""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import freshstack_datasets as fsd
from builders import cli
from builders.assembling.assemble import assemble
from builders.assembling.filtering import Filtering
from builders.cards.render import render
from builders.pipeline.records import Label
from builders.pipeline.settings import Settings
from builders.pipeline.step import run
from builders.pipeline.work import Work, write_lines
from builders.publishing.stand_ins import refuse_stand_ins
from builders.tokens import encoding
from freshstack_datasets.card import texts_of
from freshstack_datasets.errors import InputError, SnapshotError
from freshstack_datasets.llm.store import Store
from freshstack_datasets.manifest import read_manifest
from freshstack_datasets.verification import verify
from tests.builders.pipeline_made import (
    DOCUMENTS,
    NUGGETS_OF,
    POOL,
    QUESTIONS,
    SUPPORTS,
    UNJUDGED,
    call_id,
    made_topic,
    made_work,
    scripted,
    sealed,
)

DAY = date(2026, 10, 31)
ROOT = Path(__file__).parents[2]


class Build:
    """A build by hand, all of whose stages are done."""

    def __init__(self, folder, *, again=False):
        self.folder, self.out, self.twin = folder, folder / "out", folder / "out-unfiltered"
        self.topic, self.work = made_topic(folder), Work(folder / "work") if again else made_work(folder)
        self.settings = Settings.of(self.topic)
        self.store = scripted(self.settings, folder).store
        self.filter()

    def filter(self):
        run(Filtering(self.topic, self.settings), self.work)

    def seal(self, stage):
        """Let the next stages know the files that a test wrote into one."""
        sealed(self.work, stage)
        self.filter()

    def assemble(self, **options):
        options = {"created": DAY, "store": self.store, **options}
        return assemble(self.topic, self.work, self.out, "2026-10", **options)


@pytest.fixture
def build(tmp_path):
    made = Build(tmp_path)
    yield made
    made.store.close()


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows(folder, name):
    return pq.read_table(folder / "provenance" / f"{name}.parquet").to_pylist()


def test_both_snapshots_are_whole_and_hold_what_was_judged(build):
    made = build.assemble()
    assert not made.kept
    assert (verify(build.out), verify(build.twin)) == ([], [])
    kept, whole = fsd.load(build.out), fsd.load(build.twin)
    assert (kept.name, kept.snapshot) == ("acme/tidepool", "2026-10")
    assert (whole.name, whole.snapshot) == ("acme/tidepool-unfiltered", "2026-10")
    assert [query.query_id for query in kept.queries] == ["q1"]
    assert [query.query_id for query in whole.queries] == list(QUESTIONS)
    assert len(kept.corpus) == len(whole.corpus) == len(DOCUMENTS)
    assert [nugget.text for nugget in kept.nuggets_of("q1")] == list(NUGGETS_OF["q1"])
    told = {
        (one.query_id, one.doc_id, one.nugget_id): (one.score, one.call_id)
        for one in whole.judgments  # each judged document against each nugget of its question, and no other
    }
    assert told == {
        (query_id, doc_id, f"{query_id}_{position}"): (int(position in of), call_id("support", query_id))
        for (query_id, doc_id), of in SUPPORTS.items()
        for position in range(len(NUGGETS_OF[query_id]))
    }
    assert UNJUDGED[1] not in whole.qrels["q2"]  # it is no 0
    assert made.manifest == read_manifest(build.out)
    assert made.unfiltered_manifest == read_manifest(build.twin)
    assert not (build.folder / "out.parts").exists()


def test_the_manifest_tells_how_all_was_made(build):
    manifest = build.assemble().manifest
    assert (manifest.created, manifest.license) == (DAY, "CC-BY-SA-4.0 AND MIT")
    assert [source.url for source in manifest.sources] == ["https://forum.example.org/", "docs.jsonl"]
    recipe = manifest.recipe
    assert (recipe.builder, recipe.topic_sha256) == ("build", build.topic.digest)
    assert recipe.models == dict.fromkeys(("closed-book", "nuggets", "sub-questions", "support"), "stand-in for m")
    assert set(recipe.prompts) == {"closed-book@1", "nuggets@1", "sub-questions@1", "support@1"}
    assert (recipe.pool["depth"], recipe.pool["top"], recipe.pool["retrievers"]) == (10, 3, ["bm25"])
    assert [(rule.name, rule.dropped, rule.ids) for rule in recipe.filters] == [
        ("support: does-not-fit", 1, None),
        ("filter: incomplete judgments", 1, ("q2",)),
        ("filter: no supported nugget", 1, ("q4",)),
        ("filter: unsupported nugget", 1, ("q3",)),
    ]
    twin = read_manifest(build.twin).recipe
    assert [rule.name for rule in twin.filters] == ["support: does-not-fit"]  # it kept them all


def test_settings_of_calls_and_stages_come_into_the_recipe(build):
    about = build.work.path / "support" / "stage.json"
    told = json.loads(about.read_text())
    kind = {"model": "m", "prompt": "0" * 64, "parameters": {"temperature": 0.1, "stop": ["a", "b"]}}
    told |= {
        "key": {"asking": {"endpoint": "stand-in", "support": kind}},
        "settings": {"seed": 7, "second": {"share": 0.5}},
    }
    told["models"] = {"support": ["gpt-4o", "stand-in for m", "a"]}
    about.write_text(json.dumps(told))
    recipe = build.assemble().manifest.recipe
    assert {name: value for name, value in recipe.parameters.items() if name.startswith("support")} == {
        "support.asked": "m",
        "support.parameters.temperature": 0.1,
        "support.parameters.stop": ["a", "b"],
        "support.seed": 7,
        "support.second.share": 0.5,
    }
    assert recipe.models["support"] == "stand-in for m, a, gpt-4o"  # whoever publishes looks at its beginning


def test_the_trace_of_each_snapshot_is_of_its_own_questions(build):
    build.assemble()
    kinds = ["closed-book", "nuggets", "sub-questions", "support"]
    for folder, questions in ((build.out, ["q1"]), (build.twin, list(QUESTIONS))):
        calls = rows(folder, "calls")
        assert [call["call-id"] for call in calls] == sorted(call_id(kind, q) for kind in kinds for q in questions)
        assert {(call["stage"], call["query-id"]) for call in calls} == {(kind, q) for kind in kinds for q in questions}
        assert {call["model"] for call in calls} == {"stand-in for m"}
        for call in calls:
            shown = list(reversed(POOL[call["query-id"]])) if call["stage"] == "support" else None
            assert call["documents"] == shown
            assert call["reply"] == f"The reply of {call['stage']} for {call['query-id']}"
            assert (call["asked"], call["input-tokens"], call["output-tokens"], call["usd"]) == ("m", 100, 20, 0)
            assert json.loads(call["parameters"])["temperature"] == 0.1
        pool = rows(folder, "pool")
        assert {(row["query-id"], row["corpus-id"]) for row in pool} == {(q, d) for q in questions for d in POOL[q]}
        assert [row for row in pool if (row["corpus-id"], row["technique"]) == ("docs/d02", "answer")] == [
            {"query-id": "q1", "corpus-id": "docs/d02", "technique": "answer", "retriever": "bm25", "rank": 2},
            {"query-id": "q1", "corpus-id": "docs/d02", "technique": "answer", "retriever": "fusion", "rank": 2},
        ]


def test_all_that_any_stage_left_out_is_listed_with_its_reason(build):
    work = build.work.path
    (work / "questions" / "dropped.jsonl").write_text(
        '{"id": "p7", "place": "posts.jsonl:9", "reason": "no accepted answer", "detail": ""}\n'
    )
    (work / "corpus" / "dropped.jsonl").write_text('{"source": "docs", "path": "a/b.bin", "reason": "binary"}\n')
    for stage in ("questions", "corpus"):
        sealed(build.work, stage)
    build.assemble()
    left = [
        {"stage": "questions", "id": "p7", "reason": "no accepted answer", "place": "posts.jsonl:9"},
        {"stage": "corpus", "id": "docs/a/b.bin", "reason": "binary", "source": "docs", "path": "a/b.bin"},
        {
            "stage": "support",
            "id": "q2",
            "reason": "does-not-fit",
            "detail": "no JSON",
            "document": "docs/d12",
            "calls": [call_id("support", "q2")],
        },
    ]
    assert lines(build.twin / "provenance" / "dropped.jsonl") == left
    fallen = {"q2": "incomplete judgments", "q3": "unsupported nugget", "q4": "no supported nugget"}
    found = lines(build.out / "provenance" / "dropped.jsonl")
    assert found[:3] == left
    assert {one["id"]: one["reason"] for one in found[3:]} == fallen
    assert {one["stage"] for one in found[3:]} == {"filter"}


def test_the_first_table_has_the_figures_that_can_be_counted_by_hand(build):
    made = build.assemble()
    count = encoding("o200k_base").encode_ordinary
    title, body, answer = QUESTIONS["q1"]
    # q1: two nuggets, supported by d01 and d02, and by d02: 3 supports of 2 nuggets, by 2 documents
    assert made.statistics["table1"] == {
        "queries": 1,
        "documents": 12,
        "repositories": 0,
        "nuggets_per_query": 2.0,
        "query_tokens": len(count(f"{title} {body}")),
        "answer_tokens": len(count(answer)),
        "document_tokens": pytest.approx(sum(len(count(text)) for text in DOCUMENTS.values()) / 12),
        "query_code_percent": 0.0,
        "answer_code_percent": 0.0,
        "relevant_per_nugget": 1.5,
        "relevant_per_query": 2.0,
    }
    # all: 2 + 3 + 2 + 1 nuggets of 4 questions; 3 + 4 + 1 + 0 supports of 8 nuggets; by 2 + 3 + 1 + 0 documents
    whole = json.loads((build.twin / "provenance" / "statistics.json").read_text())
    table = whole["table1"]
    assert (table["queries"], table["nuggets_per_query"]) == (4, 2.0)
    assert (table["relevant_per_nugget"], table["relevant_per_query"]) == (1.0, 1.5)
    assert whole["calls"]["support"] == {"calls": 4, "input_tokens": 400, "output_tokens": 80, "usd": 0.0}
    assert made.statistics["calls"]["support"]["calls"] == 1
    assert made.statistics["agreement"] is None
    rules = made.statistics["filters"]
    assert (rules["questions"], rules["kept"]) == (4, 1)
    assert [(rule["name"], rule["percent"]) for rule in rules["rules"]] == [
        ("incomplete judgments", 25.0),
        ("no supported nugget", 25.0),
        ("unsupported nugget", 25.0),
    ]


def test_the_second_table_has_a_row_for_each_technique_and_retriever(build):
    table = build.assemble().statistics["pooling"]["table2"]
    techniques = ["question", "sub-questions", "closed-book", "answer", "nuggets"]
    assert [(row["technique"], row["retriever"]) for row in table] == [
        (technique, retriever) for technique in techniques for retriever in ("bm25", "fusion")
    ]
    # Every list of q1 is d01 (nugget 0), d02 (nuggets 0 and 1), d03: 1 + (1/2 + 1)/log2(3) = 1.946395; the best order is
    # d02, d01: 2 + (1/2)/log2(3) = 2.315465; the quotient is 0.840606.
    for row in table:
        assert row["measures"] == {
            "alpha_nDCG@10": pytest.approx(0.840606, abs=1e-6),
            "Coverage@20": 1.0,
            "Recall@50": 1.0,
        }
    # the relevant documents of all four questions: 2 + 3 + 1; bm25 alone found them
    pooling = build.assemble().statistics["pooling"]
    assert pooling["relevant"] == 6
    assert pooling["retrievers"] == [{"retriever": "bm25", "found": 6, "alone": 6, "lost": 6}]


def test_the_card_says_what_it_is_and_how_it_was_chosen(build):
    build.assemble()
    about, told = texts_of((build.out / "README.md").read_text())
    assert "Job queues" in about
    assert "stand-in" in about  # its judgments mean nothing
    assert told["How the questions were chosen"].startswith("Kept: 1 of 4 questions with an answer.")
    assert "Unsupported nugget: 1 dropped (25.0 %)" in told["How the questions were chosen"]
    found = told["How the documents to judge were found"].split("\n\n")
    assert found[0].endswith("each by alpha_nDCG@10 / Coverage@20 / Recall@50:")
    assert found[1] == "Searching for the question: bm25 0.841 / 1.000 / 1.000."
    assert len(found) == 6  # with one retriever, the fusion and what it alone found say nothing
    assert "support: 1 call, 100 tokens read, 20 tokens written, 0.00 dollars." in told["What the calls of models took"]
    about, told = texts_of((build.twin / "README.md").read_text())
    assert "its filtered twin drops them" in about
    assert "How the questions of its filtered twin were chosen" in told


def test_the_agreement_of_a_second_pass_is_told(build):
    measured = {"compared": 10, "agree": 0.9, "kappa": 0.75, "low": 0.5, "high": 0.9}
    told = {"share": 0.5, "seed": 8, "documents": measured, "labels": {**measured, "kappa": None, "low": None}}
    told |= {"sampled": 11, "lacking": 1, "same_call": 0}
    (build.work.path / "support" / "agreement.json").write_text(json.dumps(told))
    build.seal("support")
    assert build.assemble().statistics["agreement"] == told
    _, sections = texts_of((build.out / "README.md").read_text())
    words = sections["How far the judge agrees with itself or another"]
    assert "50% of all judged documents was judged a second time, in another order: 11 documents." in words
    assert "both agree on 90.0 % of 10, Cohen's kappa 0.75 (from 0.50 to 0.90)." in words
    assert words.endswith("Whether it supports a nugget: both agree on 90.0 % of 10.")


def test_the_same_again_changes_nothing_and_something_else_is_refused(build):
    first = build.assemble()
    before = {path: path.stat().st_mtime_ns for path in build.folder.rglob("out*/**/*")}
    assert build.assemble().kept
    assert {path: path.stat().st_mtime_ns for path in build.folder.rglob("out*/**/*")} == before
    with pytest.raises(InputError, match="a new or an empty folder"):
        build.assemble(created=date(2026, 11, 1))
    assert build.assemble(created=date(2026, 11, 1), replace=True).manifest.created == date(2026, 11, 1)
    assert build.assemble(created=date(2026, 11, 1)).manifest.fingerprint == first.manifest.fingerprint


def test_another_list_of_what_was_left_out_is_something_else(build):
    build.assemble()
    list_of = build.work.path / "corpus" / "dropped.jsonl"
    list_of.write_text('{"source": "docs", "path": "late.bin", "reason": "binary"}\n')
    sealed(build.work, "corpus")  # the corpus, made again, has the same documents
    assert not build.assemble(replace=True).kept
    assert "docs/late.bin" in {one["id"] for one in lines(build.out / "provenance" / "dropped.jsonl")}


def test_what_is_somebody_else_s_stays(build):
    build.twin.mkdir()
    (build.twin / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="out-unfiltered"):
        build.assemble()
    assert (build.twin / "notes.txt").read_text() == "mine"
    assert not build.out.exists()


ENDED = """
import os, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from builders.assembling import placing
from tests.builders.test_assembling import Build

def ending(do, at):
    times = iter(range(1, 9))
    def step(*values):
        if next(times) == at:
            os._exit(9)
        return do(*values)
    return step

owner = placing if {step!r} == "_move" else placing.Placing
setattr(owner, {step!r}, ending(getattr(owner, {step!r}), {at}))
Build(Path({folder!r}), again=True).assemble()
"""


@pytest.mark.parametrize(
    ("step", "at", "there"),
    [("_move", 1, (False, False)), ("_move", 2, (False, True)), ("_write", 2, (True, True))],
    ids=["before both", "between the two", "after both"],
)
def test_after_a_kill_the_same_call_leaves_both(build, step, at, there):
    build.store.close()
    script = ENDED.format(root=str(ROOT), step=step, at=at, folder=str(build.folder))
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 9, ended.stderr
    assert (build.out.exists(), build.twin.exists()) == there
    made = build.assemble()
    assert made.kept == (there == (True, True))
    assert made.manifest.fingerprint == read_manifest(build.out).fingerprint
    assert verify(build.twin) == []
    assert not (build.folder / "out.parts").exists()
    assert build.assemble().kept


def test_an_end_within_the_process_leaves_none(build, monkeypatch):
    from builders.assembling import placing

    move, moved = placing._move, []

    def interrupted(folder, place):
        moved.append(place)
        if len(moved) == 2:
            raise KeyboardInterrupt
        move(folder, place)

    monkeypatch.setattr(placing, "_move", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build.assemble()
    assert (build.out.exists(), build.twin.exists()) == (False, False)
    monkeypatch.undo()
    assert not build.assemble().kept


def test_no_question_left_says_why(build):
    labels = [Label(query_id, doc_id, (), call_id("support", query_id)) for query_id, doc_id in SUPPORTS]
    support = build.work.path / "support"
    write_lines(support / "labels.jsonl", labels)
    build.seal("support")
    with pytest.raises(InputError, match=r"no question is left.*1 by incomplete judgments, 3 by no supported nugget"):
        build.assemble()
    assert not build.out.exists()


def test_replies_that_are_gone_are_asked_for_by_name(build, tmp_path):
    with Store(tmp_path / "other.sqlite") as other, pytest.raises(InputError, match=r"other\.sqlite.*--replies FILE"):
        build.assemble(store=other)


def test_a_label_of_a_nugget_that_there_is_not_is_refused(build):
    write_lines(build.work.path / "support" / "labels.jsonl", [Label("q1", "docs/d01", (7,), call_id("support", "q1"))])
    build.seal("support")
    with pytest.raises(InputError, match=r"one of 2 nuggets, got the nugget 7; run the stage support again"):
        build.assemble()


@pytest.mark.parametrize("snapshot", ["2026-13", "october", "2026-10.0"])
def test_a_snapshot_s_name_is_refused_before_anything_is_read(build, snapshot):
    with pytest.raises(InputError, match="--snapshot, expected a month"):
        assemble(build.topic, build.work, build.out, snapshot, store=build.store)


@pytest.mark.parametrize("folder", ["out", "out-unfiltered"])
def test_what_a_stand_in_made_is_not_published(build, folder):
    build.assemble()
    with pytest.raises(SnapshotError, match="the stand-in 'stand-in for m' as the model of"):
        refuse_stand_ins(build.folder / folder, read_manifest(build.folder / folder))


def test_a_stand_in_is_known_by_the_calls_alone(build):
    for stage in ("nuggets", "queries", "support"):
        about = build.work.path / stage / "stage.json"
        about.write_text(json.dumps(json.loads(about.read_text()) | {"models": {"support": ["gpt-4o"]}}))
    made = build.assemble()
    assert made.manifest.recipe.models == {"support": "gpt-4o"}
    with pytest.raises(SnapshotError, match=r"as the model of calls in provenance/calls\.parquet"):
        refuse_stand_ins(build.out, made.manifest)


def test_the_commands_say_what_was_kept_and_made(build, capsys):
    told = [str(build.folder / "tidepool.yaml"), "--work", str(build.work.path)]
    assert cli.main(["filter", *told]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        f"{build.work.path / 'filter'}: 1 of 4 questions kept",
        "dropped: 1 (incomplete judgments), 1 (no supported nugget), 1 (unsupported nugget)",
    ]
    assert cli.main(["filter", *told, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "path": str(build.work.path / "filter"),
        "made_before": True,
        "questions": 4,
        "kept": 1,
        "dropped": {"incomplete judgments": 1, "no supported nugget": 1, "unsupported nugget": 1},
    }
    build.store.close()
    told += ["--snapshot", "2026-10", "--out", str(build.out), "--replies", str(build.folder / "replies.sqlite")]
    assert cli.main(["assemble", *told, "--created", "2026-10-31"]) == 0
    out = capsys.readouterr().out.splitlines()
    manifest, twin = read_manifest(build.out), read_manifest(build.twin)
    assert out == [
        f"{build.out}: acme/tidepool@2026-10, fingerprint {manifest.fingerprint[:12]}",
        "1 query, 12 documents, CC-BY-SA-4.0 AND MIT",
        f"{build.twin}: acme/tidepool-unfiltered@2026-10, fingerprint {twin.fingerprint[:12]}",
        "4 queries, 12 documents, CC-BY-SA-4.0 AND MIT",
    ]
    assert cli.main(["assemble", *told, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["fingerprint"], found["unfiltered"]["fingerprint"]) == (manifest.fingerprint, twin.fingerprint)
    assert (found["made_before"], found["statistics"]["table1"]["queries"]) == (True, 1)
    assert cli.main(["assemble", *told, "--created", "soon"]) == 2
    assert "--created, expected a day, 2026-10-31, got 'soon'" in capsys.readouterr().err


def test_a_stage_that_is_not_done_is_named(tmp_path, capsys):
    made_topic(tmp_path)
    work = made_work(tmp_path, until="pool")
    assert cli.main(["filter", str(tmp_path / "tidepool.yaml"), "--work", str(work.path)]) == 2
    assert "python -m builders support TOPIC.yaml" in capsys.readouterr().err


def test_the_published_card_names_all_licences_and_how_to_follow_a_judgment(build):
    build.assemble()
    text, _ = render(build.out)
    assert "license:\n- cc-by-sa-4.0\n- mit\n" in text
    assert "Licence of the whole: CC-BY-SA-4.0 AND MIT." in text
    assert "Whoever shows a text names its author" in text  # as one of the licences asks for
    assert "with the id of a document behind it, who judged that" in text
