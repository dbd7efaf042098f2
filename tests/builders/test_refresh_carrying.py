"""Which judgments of an earlier snapshot are carried over, on the small build that is written by hand."""

import json

import pytest

from builders.assembling.calls import write_calls
from builders.judging import Judging, Shown
from builders.pipeline.records import Label
from builders.pipeline.settings import Settings
from builders.refreshing.carrying import Carrying
from builders.refreshing.documents import Moves
from builders.refreshing.earlier import earlier_of
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.trace.reading import TracedCall
from tests.builders.pipeline_made import DOCUMENTS, NUGGETS_OF, POOL, QUESTIONS, made_topic, made_work, scripted

CALL, PROMPT = "c" * 64, "f" * 64
SAME = {doc_id: doc_id for doc_id in DOCUMENTS}


def judged(query_id, doc_id, *supports, calls=()):
    """The judgments of a document against all nuggets of a question; a call for each, or ``CALL`` for all."""
    many = len(NUGGETS_OF[query_id])
    calls = calls or (CALL,) * many
    return [Judgment(query_id, f"{query_id}_{at}", doc_id, int(at in supports), calls[at]) for at in range(many)]


def earlier(folder, judgments, documents=DOCUMENTS, positions=lambda at: at):
    """An earlier snapshot of the small topic, with one call of its trace."""
    table = folder / "calls.parquet"
    shown = ("docs/d03", "docs/d02", "docs/d01")
    write_calls(table, [TracedCall(CALL, "q1", "support", "m", "m", PROMPT, {}, "{}", "2026-07-01", documents=shown)])
    query_ids = sorted({one.query_id for one in judgments})
    write_snapshot(
        folder / "old",
        dataset="acme/tidepool",
        snapshot="2026-07",
        license="MIT",
        documents=[Document(doc_id, "", text) for doc_id, text in documents.items()],
        queries=[Query(query_id, "?") for query_id in query_ids],
        nuggets=[
            Nugget(f"{query_id}_{at}", query_id, positions(at), text)
            for query_id in query_ids
            for at, text in enumerate(NUGGETS_OF[query_id])
        ],
        judgments=judgments,
        recipe={"prompts": {"support@7": PROMPT, "nuggets@7": "0" * 64}},
        provenance={"calls.parquet": table},
    )
    return earlier_of(folder / "old")


def work_of(folder, **fates):
    work = made_work(folder, until="pool")
    told = [{"id": query_id, "fate": fates.get(query_id, "new")} for query_id in QUESTIONS]
    (work.path / "questions" / "fates.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
    return work


def moves(places=SAME, texts=None, before=None):
    return lambda work: Moves(places, {}, texts or {}, before or {})


def test_judgments_of_kept_questions_are_carried_over_with_their_calls(tmp_path):
    old = earlier(tmp_path, [*judged("q1", "docs/d02", 0, 1), *judged("q1", "docs/d03"), *judged("q2", "docs/d05", 0)])
    known = Carrying(old, moves()).known(work_of(tmp_path, q1="kept", q2="edited"))
    assert known.labels == (Label("q1", "docs/d02", (0, 1), CALL), Label("q1", "docs/d03", (), CALL))
    assert known.orders == (Shown(CALL, "q1", ("docs/d03", "docs/d02", "docs/d01")),)
    assert known.prompts == {"support@7": PROMPT}


def test_a_judgment_goes_where_its_text_is_now_or_nowhere(tmp_path):
    old = earlier(tmp_path, [*judged("q1", "docs/d02", 0), *judged("q1", "docs/d03", 1)])
    known = Carrying(old, moves({"docs/d02": "docs/d99"})).known(work_of(tmp_path, q1="kept"))
    assert known.labels == (Label("q1", "docs/d99", (0,), CALL),)
    assert known.orders == (Shown(CALL, "q1", ("docs/d03", "docs/d99", "docs/d01")),)


def test_a_copy_in_the_pool_has_the_judgment_of_its_text_and_one_elsewhere_has_none(tmp_path):
    old = earlier(tmp_path, judged("q1", "docs/d02", 1))
    texts = {"docs/d02": b"t", "docs/d01": b"t", "docs/d11": b"t"}  # d01 is in q1's pool, d11 in none
    known = Carrying(old, moves(SAME, texts, {"docs/d02": b"t"})).known(work_of(tmp_path, q1="kept"))
    assert known.labels == (Label("q1", "docs/d01", (1,), CALL), Label("q1", "docs/d02", (1,), CALL))


def test_what_people_corrected_or_judged_is_carried_over_as_they_left_it(tmp_path):
    corrected = judged("q1", "docs/d02", 1, calls=(CALL, None))
    by_people = judged("q1", "docs/d03", 0, calls=(None, None))
    known = Carrying(earlier(tmp_path, [*corrected, *by_people]), moves()).known(work_of(tmp_path, q1="kept"))
    assert known.labels == (Label("q1", "docs/d02", (1,), CALL, (1,)), Label("q1", "docs/d03", (0,), ""))


def test_a_document_that_was_not_judged_against_every_nugget_is_judged_anew(tmp_path):
    half = [*judged("q1", "docs/d02", 0)[:1], *judged("q1", "docs/d03", 0)]
    known = Carrying(earlier(tmp_path, half), moves()).known(work_of(tmp_path, q1="kept"))
    assert [label.doc_id for label in known.labels] == ["docs/d03"]


def test_nuggets_whose_positions_have_gaps_are_counted_anew(tmp_path):
    old = earlier(tmp_path, judged("q1", "docs/d02", 1), positions=lambda at: 2 + 3 * at)
    known = Carrying(old, moves()).known(work_of(tmp_path, q1="kept"))
    assert known.labels == (Label("q1", "docs/d02", (1,), CALL),)


def test_only_documents_without_a_carried_judgment_are_asked_about(tmp_path):
    topic, work = made_topic(tmp_path), work_of(tmp_path, q1="kept")
    everything = [one for query_id in ("q1",) for doc_id in POOL[query_id] for one in judged(query_id, doc_id)]
    extra = judged("q1", "docs/d11", 0)  # in no pool by now
    asked = []

    def script(request):
        asked.append(request.messages[-1].content)
        documents = request.messages[-1].content.count("<document id=")
        entries = [{"document": at + 1, "reasoning": "-", "supports": []} for at in range(documents)]
        return json.dumps({"documents": entries})

    asking = scripted(Settings.of(topic), tmp_path, {"support": script})
    source = Carrying(earlier(tmp_path, [*everything, *extra]), moves())
    stage = Judging(topic, asking, source)
    (estimate,) = stage.estimate(work)
    (tmp_path / "support").mkdir()
    summary = stage.make(work, tmp_path / "support")
    assert estimate.calls == len(asked) == 3  # one for each of the other questions
    assert not any("Why are jobs run twice?" in text for text in asked)
    labels = [json.loads(line) for line in (tmp_path / "support" / "labels.jsonl").read_text().splitlines()]
    assert {one["doc_id"] for one in labels if one["query_id"] == "q1"} == {*POOL["q1"], "docs/d11"}
    assert {one["call_id"] for one in labels if one["query_id"] == "q1"} == {CALL}
    assert summary.counts["known"] == 4
    assert stage.key(work)["known"] == source.digest


def test_a_call_that_the_earlier_trace_does_not_have_is_not_named(tmp_path):
    other = "d" * 64
    old = earlier(tmp_path, judged("q1", "docs/d02", 1, calls=(other, other)))
    known = Carrying(old, moves()).known(work_of(tmp_path, q1="kept"))
    assert known.labels == (Label("q1", "docs/d02", (1,), ""),)


@pytest.mark.parametrize("fate", ["new", "edited"])
def test_nothing_is_carried_over_for_a_question_of_another_fate(tmp_path, fate):
    known = Carrying(earlier(tmp_path, judged("q1", "docs/d02", 1)), moves()).known(work_of(tmp_path, q1=fate))
    assert known.labels == ()
