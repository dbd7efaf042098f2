"""Which questions a snapshot keeps, and why the others fall."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.assembling.closed_book import coverage
from builders.assembling.filtering import Filtering, filtered_of
from builders.assembling.making import UNKNOWN_LICENSE, VARIOUS_LICENSES, license_of
from builders.assembling.rules import (
    CONTAMINATED,
    EMPTY_POOL,
    INCOMPLETE,
    NO_NUGGETS,
    NO_SUPPORT,
    RULES,
    UNSUPPORTED,
    sift,
)
from builders.pipeline.records import Label
from builders.pipeline.settings import Settings
from builders.pipeline.step import run
from freshstack_datasets.errors import InputError
from freshstack_datasets.recipe import Source
from freshstack_datasets.records import Nugget, Query
from tests.builders.pipeline_made import TOPIC, made_topic, made_work


def label(query_id, doc_id, *supports):
    return Label(query_id, doc_id, supports, "c")


def test_each_question_falls_to_the_first_rule_that_it_breaks():
    nuggets = dict.fromkeys(("kept", "empty", "open", "none", "half", "known"), ("a fact", "another"))
    pool = {name: ["d1", "d2"] for name in ("kept", "none", "half", "open", "known", "bare")}
    labels = [
        *(label("kept", "d1", 0), label("kept", "d2", 1)),
        *(label("none", "d1"), label("none", "d2")),
        *(label("half", "d1", 1), label("half", "d2", 1)),
        label("open", "d1", 0, 1),  # all its nuggets are supported, but nobody knows what d2 supports
        *(label("known", "d1", 0, 1), label("known", "d2")),
    ]
    questions = ["known", "bare", "empty", "open", "none", "half", "kept"]
    sifted = sift(questions, nuggets, pool, labels, known={"known", "half"})
    assert sifted.kept == ("kept",)
    assert sifted.dropped == {
        NO_NUGGETS: ("bare",),
        EMPTY_POOL: ("empty",),
        INCOMPLETE: ("open",),
        NO_SUPPORT: ("none",),
        UNSUPPORTED: ("half",),  # it is known by heart too, which comes later
        CONTAMINATED: ("known",),
    }


QUESTIONS = st.lists(st.sampled_from("abcdef"), unique=True)
SOME = st.dictionaries(st.sampled_from("abcdefg"), st.lists(st.sampled_from(["d1", "d2"]), max_size=2, unique=True))
LABELS = st.lists(st.builds(label, st.sampled_from("abcdefg"), st.sampled_from(["d1", "d2"]), st.integers(0, 3)))


@given(QUESTIONS, SOME, SOME, LABELS, st.sets(st.sampled_from("abcdef")), st.randoms())
def test_every_question_is_kept_or_falls_once_in_any_order(questions, nuggets, pool, labels, known, shuffled):
    sifted = sift(questions, nuggets, pool, labels, known)
    told = [*sifted.kept, *(query_id for ids in sifted.dropped.values() for query_id in ids)]
    assert sorted(told) == sorted(questions)
    assert list(sifted.dropped) == list(RULES)
    for several in (questions, labels):
        shuffled.shuffle(several)
    assert sift(questions, nuggets, pool, labels, known) == sifted


def question(text, language="en"):
    return Query("q", text, language=language)


def facts(*texts):
    return [Nugget(f"n{place}", "q", place, text) for place, text in enumerate(texts)]


def test_the_closed_book_answer_is_held_to_the_terms_that_the_question_lacks():
    asked = question("How long does Tidepool keep a result?")
    # Stems without stop words; "tidepool", "keep" and "result" stand in the question. Left of the nuggets: ten, minut |
    # ttl, zero, ten. The answer has ten, minut and ten again, but neither ttl nor zero: 3 of 5.
    nuggets = facts("Tidepool keeps a result for ten minutes.", "A ttl of zero is ten.")
    assert coverage(asked, nuggets, "They are kept for TEN minute.") == 3 / 5
    assert coverage(asked, nuggets, "") == 0
    assert coverage(asked, facts("Tidepool keeps the results."), "anything") is None  # the question says it all


def test_terms_are_those_of_the_question_s_language():
    nuggets = facts("die Katzen")
    assert coverage(question("Was?", "de"), nuggets, "eine Katze") == 1  # "die" is a stop word, and both have one stem
    assert coverage(question("Was?", "en"), nuggets, "eine Katze") == 0


@given(st.text(), st.lists(st.text(), max_size=4), st.text(), st.one_of(st.none(), st.text(max_size=5)))
def test_the_share_of_any_texts_is_one(text, nuggets, answer, language):
    score = coverage(question(text or "x", language), facts(*(one or "x" for one in nuggets)), answer)
    assert score is None or 0 <= score <= 1


def test_the_stage_keeps_what_is_judged_and_supported_to_the_end(tmp_path):
    topic, work = made_topic(tmp_path), made_work(tmp_path)
    made = run(Filtering(topic, Settings.of(topic)), work)
    assert made.summary.counts == {"questions": 4, "kept": 1, INCOMPLETE: 1, NO_SUPPORT: 1, UNSUPPORTED: 1}
    found = filtered_of(work)
    assert found.kept == ("q1",)
    assert found.dropped == {INCOMPLETE: ("q2",), NO_SUPPORT: ("q4",), UNSUPPORTED: ("q3",)}
    assert [(rule.name, rule.dropped) for rule in found.filters] == [(INCOMPLETE, 1), (NO_SUPPORT, 1), (UNSUPPORTED, 1)]
    # Terms of q1's nuggets that its question lacks: start, schedul, it, own | schedul, leader, let, one. Its closed-book
    # answer, "Perhaps: Set scheduler.leader = true on one.", has schedul, twice, leader and one: 4 of 8.
    assert found.closed_book["q1"] == 0.5
    assert run(Filtering(topic, Settings.of(topic)), work).kept


def test_questions_known_by_heart_fall_only_where_the_topic_says_so(tmp_path):
    work = made_work(tmp_path)
    topic = made_topic(tmp_path)
    run(Filtering(topic, Settings.of(topic)), work)
    share = filtered_of(work).closed_book["q1"]
    for most, kept in ((share, ()), (min(1.0, share + 0.01), ("q1",))):
        text = TOPIC + f"filter: {{contamination: {{closed_book_coverage: {most}}}}}\n"
        stage = Filtering(told := made_topic(tmp_path, text), Settings.of(told))
        made = run(stage, work)
        assert (made.kept, filtered_of(work).kept) == (False, kept)
        assert made.summary.settings == {"closed_book_coverage": most}
    assert run(Filtering(topic, Settings.of(topic)), work).kept is False  # the rule is gone again


def test_a_list_that_is_none_is_an_error_that_says_what_to_run(tmp_path):
    topic, work = made_topic(tmp_path), made_work(tmp_path)
    run(Filtering(topic, Settings.of(topic)), work)
    path = work.path / "filter" / "filter.json"
    for text in ("", "[]", '{"kept": 1}', json.dumps({"kept": [], "dropped": [], "filters": [], "closed_book": {}})):
        path.write_text(text)
        with pytest.raises(InputError, match=r"filter\.json.*run the stage again"):
            filtered_of(work)


def source(license=None, **counts):
    return Source(url="https://example.org", license=license, counts=counts)


@pytest.mark.parametrize(
    ("sources", "whole"),
    [
        ([source("MIT"), source("MIT")], "MIT"),
        (
            [source("MIT", documents=3), source("CC-BY-SA-3.0 AND CC-BY-SA-4.0")],
            "CC-BY-SA-3.0 AND CC-BY-SA-4.0 AND MIT",
        ),
        ([source("CC BY-SA 3.0 AND CC BY-SA 4.0"), source("CC-BY-SA-4.0")], "CC-BY-SA-3.0 AND CC-BY-SA-4.0"),
        ([source("MIT OR Apache-2.0"), source("ISC")], "(MIT OR Apache-2.0) AND ISC"),
        ([source("(MIT OR ISC) AND Zlib"), source("ISC")], "(MIT OR ISC) AND Zlib AND ISC"),
        ([source("GPL-3.0", documents=0), source("MIT")], "MIT"),
        ([source(), source("MIT")], f"{UNKNOWN_LICENSE} AND MIT"),
        ([], UNKNOWN_LICENSE),
        ([source(f"LicenseRef-{number:03}") for number in range(100)], VARIOUS_LICENSES),
    ],
)
def test_the_whole_has_the_licences_of_all_that_is_in_it(sources, whole):
    assert license_of(sources) == whole
    assert license_of(sources[::-1]) == whole
