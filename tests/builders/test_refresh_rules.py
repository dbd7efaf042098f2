"""What a refresh keeps, adds, retires and carries over, case by case, without a model."""

from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import freshstack_datasets as fsd
from builders.refreshing.documents import EDITED, FATES, GONE, KEPT, MOVED, NEW, moves_of
from builders.refreshing.earlier import CarryingStore, earlier_of
from builders.refreshing.rules import Rules, merged
from builders.refreshing.systems import systems
from builders.refreshing.tau import kendall_tau
from freshstack_datasets.errors import InputError, SnapshotError
from freshstack_datasets.llm.store import Store
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.trace.reading import TracedCall


def query(query_id, day="2026-05-01", answer="So.", tags=("lamp",), **more):
    return Query(query_id, f"About {query_id}", date=day, answer_text=answer, tags=tags, **more)


def fates(earlier, chosen, left_out=None, **rules):
    found = merged(earlier, chosen, left_out or {}, Rules(**rules))
    assert {one.query_id for one in found.questions} == found.fates.keys()
    assert [one.query_id for one in found.questions] == sorted(found.fates)
    assert not found.fates.keys() & found.left_out.keys()
    before = {one.query_id for one in earlier}
    assert found.retired.keys() == before - found.fates.keys()
    assert not found.kept_out.keys() & before
    return dict(found.fates), dict(found.left_out)


PERIOD = {"first": date(2026, 1, 1), "last": date(2026, 6, 30)}
OLD = query("q")
DUMPED = {"chosen": [OLD], "left_out": {}}
ABSENT = {"chosen": [], "left_out": {}}


@pytest.mark.parametrize(
    ("earlier", "dump", "rules", "fate", "why"),
    [
        ([OLD], DUMPED, {}, "kept", ""),
        ([], DUMPED, {}, "new", ""),
        ([OLD], {"chosen": [query("q", answer="Not so.")], "left_out": {}}, {}, "edited", ""),
        ([OLD], {"chosen": [query("q", score=9)], "left_out": {}}, {}, "kept", ""),
        ([OLD], ABSENT, {}, "kept", ""),
        ([OLD], ABSENT, {"retire_gone": True}, "", "retired: no longer in the dump"),
        ([OLD], {"chosen": [], "left_out": {"q": "no score"}}, {}, "", "retired: no score"),
        (
            [query("q", "2025-12-31")],
            ABSENT,
            PERIOD,
            "",
            "retired: asked before the topic's period, which begins on 2026-01-01",
        ),
        (
            [query("q", "2026-07-01T00:00:00")],
            ABSENT,
            PERIOD,
            "",
            "retired: asked after the topic's period, which ends on 2026-06-30",
        ),
        ([query("q", "2026-06-30T23:59:59")], ABSENT, PERIOD, "kept", ""),
        ([query("q", None)], ABSENT, PERIOD, "kept", ""),
        ([OLD], ABSENT, {"tags": frozenset({"torch"})}, "", "retired: no tag of the topic"),
        ([OLD], ABSENT, {"tags": frozenset({"lamp", "torch"})}, "kept", ""),
        ([query("q", tags=None)], ABSENT, {"tags": frozenset({"torch"})}, "kept", ""),
        ([OLD], DUMPED, {"retire_before": date(2026, 5, 2)}, "", "retired: asked before 2026-05-02"),
        ([], DUMPED, {"retire_before": date(2026, 5, 2)}, "", "retired: asked before 2026-05-02"),
        ([OLD], DUMPED, {"retire_before": date(2026, 5, 1)}, "kept", ""),
    ],
)
def test_each_rule_decides_on_the_question_it_speaks_of(earlier, dump, rules, fate, why):
    found, retired = fates(earlier, dump["chosen"], dump["left_out"], **rules)
    assert (found, retired) == ({"q": fate} if fate else {}, {"q": why} if why else {})


def test_a_kept_question_has_the_dump_s_record_where_there_is_one():
    found = merged([OLD, query("p")], [query("q", score=9)], {}, Rules())
    assert [one.score for one in found.questions] == [None, 9]
    assert found.gone == {"p"}


def test_a_question_that_people_removed_does_not_come_back_unless_people_brought_it_back():
    found = merged([OLD], [OLD, query("p"), query("r")], {}, Rules(), {"q", "r"})
    assert (dict(found.fates), dict(found.kept_out), dict(found.retired)) == (
        {"q": "kept", "p": "new"},
        {"r": "retired: removed by a correction"},
        {},
    )


def test_a_question_that_people_changed_is_kept_as_they_left_it():
    changed = query("q", answer="So, but for lamps of brass.")
    found = merged([changed], [OLD], {}, Rules(), {"q"})
    assert (found.questions, dict(found.fates)) == ((changed,), {"q": "kept"})


def document(doc_id, text, path=None):
    return Document(doc_id, "", text, {"repository": "a/b", "path": path} if path else {})


def test_documents_are_known_by_their_texts_and_files():
    before = [
        document("b/one_0_9", "same", "one"),
        document("b/two_0_9", "shifted", "two"),
        document("b/three_0_9", "changed", "three"),
        document("b/four_0_9", "away", "four"),
        document("docs/1", "old words"),
    ]
    now = [
        document("b/one_0_9", "same", "one"),
        document("b/two_5_14", "shifted", "two"),
        document("b/three_0_12", "changed a lot", "three"),
        document("docs/1", "new words"),
        document("b/five_0_9", "fresh", "five"),
    ]
    found = moves_of(before, now)
    assert dict(found.counts) == {KEPT: 1, MOVED: 1, EDITED: 2, GONE: 1, NEW: 3}
    assert dict(found.places) == {"b/one_0_9": "b/one_0_9", "b/two_0_9": "b/two_5_14"}


def test_of_several_with_one_text_those_of_the_same_file_belong_together():
    before = [document("a1", "x", "a"), document("b1", "x", "b"), document("c1", "x", "c")]
    now = [document("b9", "x", "b"), document("d1", "x", "d"), document("c1", "x", "c")]
    assert dict(moves_of(before, now).places) == {"c1": "c1", "b1": "b9", "a1": "d1"}


corpora = st.dictionaries(
    st.sampled_from("abcdefgh"), st.tuples(st.sampled_from("xyz"), st.sampled_from([None, "m", "n"]))
)


@settings(max_examples=200)
@given(corpora, corpora)
def test_whatever_the_documents_each_has_one_fate_and_a_place_has_the_same_text(old, new):
    def made(corpus):
        return [document(doc_id, text, path) for doc_id, (text, path) in corpus.items()]

    found = moves_of(made(old), made(new))
    counts = found.counts
    assert counts[KEPT] + counts[MOVED] + counts[EDITED] + counts[GONE] == len(old)
    assert counts[KEPT] + counts[MOVED] + counts[NEW] == len(new)
    assert set(counts) == set(FATES)
    assert len(set(found.places.values())) == len(found.places)
    assert all(old[was][0] == new[place][0] for was, place in found.places.items())
    # As many texts as both have, each as often as both have it, are found again.
    texts = (Counter(text for text, _ in corpus.values()) for corpus in (old, new))
    assert len(found.places) == (next(texts) & next(texts)).total()
    assert moves_of(made(old)[::-1], made(new)[::-1]) == found


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_kendall_s_tau_is_that_of_another_library(pairs):
    one, other = [a for a, _ in pairs], [b for _, b in pairs]
    found = kendall_tau(one, other)
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert found is None
    else:
        assert found == pytest.approx(stats.kendalltau(one, other, variant="b").statistic, abs=1e-12)


def test_kendall_s_tau_by_hand():
    # Of the six pairs of four systems five are in the same order and one is not: (5 - 1) / 6.
    assert kendall_tau([4, 3, 2, 1], [4, 3, 1, 2]) == pytest.approx(4 / 6)
    # One pair of the second is tied: (5 - 0) / sqrt(6 * 5).
    assert kendall_tau([4, 3, 2, 1], [4, 3, 2, 2]) == pytest.approx(5 / 30**0.5)


def result(name, score):
    data = fsd.Dataset.from_nugget_qrels([("q", "n1", "d1", 1), ("q", "n2", "d2", 1)])
    run = {"q": {"d1": 2.0, "d2": 1.0} if score else {"d1": 1.0}}
    return fsd.evaluate(fsd.Run.from_dict(run, name), data, intervals=False)


def test_systems_are_paired_by_name():
    found = systems([result("a", 1), result("b", 0)], [result("b", 1), result("a", 0)])
    assert found.scores["Coverage@20"] == {"a": (1.0, 0.5), "b": (0.5, 1.0)}
    assert found.tau["Coverage@20"] == -1.0
    with pytest.raises(InputError, match="the runs of 'b', expected one on each snapshot, of one name"):
        systems([result("a", 1), result("b", 0)], [result("a", 1)])
    with pytest.raises(InputError, match="the runs of 'a', expected one on each snapshot, got two"):
        systems([result("a", 1), result("a", 0)], [])


def call(call_id, reply="earlier"):
    return TracedCall(call_id, "q", "support", "m-1", "m", "p", {"temperature": 0}, reply, "2026-07-01", 5, 2, 0.25)


def test_earlier_replies_are_known_and_never_written_into_the_file_of_replies(tmp_path):
    with CarryingStore(tmp_path / "replies.sqlite", [call("c1")]) as store:
        found = store.get("c1", "http://anywhere/v1")
        assert (found.text, found.model, found.endpoint, float(found.usd)) == (
            "earlier",
            "m-1",
            "http://anywhere/v1",
            0.25,
        )
        assert [one.digest for one in store.calls(["c1", "c2"], "x")] == ["c1"]
    with Store(tmp_path / "replies.sqlite") as plain:
        assert plain.get("c1", "http://anywhere/v1") is None


def snapshot(folder: Path, name="acme/lamp", month="2026-07", text="fact"):
    write_snapshot(
        folder,
        dataset=name,
        snapshot=month,
        license="MIT",
        documents=[Document("d", "", "d")],
        queries=[query("q")],
        nuggets=[Nugget("q_0", "q", 0, text)],
        judgments=[Judgment("q", "q_0", "d", 1)],
    )
    return folder


def test_the_unfiltered_snapshot_beside_one_is_taken_when_it_is_of_the_same_build(tmp_path):
    old = snapshot(tmp_path / "old")
    assert earlier_of(old).whole.name == "acme/lamp"
    assert earlier_of(old).calls == ()
    snapshot(tmp_path / "old-unfiltered", "acme/lamp-unfiltered")
    assert earlier_of(old).whole.name == "acme/lamp-unfiltered"


@pytest.mark.parametrize(
    "other",
    [{"name": "acme/torch-unfiltered"}, {"month": "2026-04"}, {"text": "another fact"}],
    ids=lambda other: min(other),
)
def test_an_unfiltered_snapshot_of_another_build_is_refused(tmp_path, other):
    old = snapshot(tmp_path / "old")
    snapshot(tmp_path / "old-unfiltered", **{"name": "acme/lamp-unfiltered", **other})
    with pytest.raises(InputError, match="of the same build"):
        earlier_of(old)


def test_a_damaged_snapshot_is_not_refreshed(tmp_path):
    old = snapshot(tmp_path / "old")
    other = snapshot(tmp_path / "other", text="another fact")
    name = "nuggets/test-00000-of-00001.parquet"
    (old / name).write_bytes((other / name).read_bytes())
    with pytest.raises(SnapshotError, match="is not whole"):
        earlier_of(old)
