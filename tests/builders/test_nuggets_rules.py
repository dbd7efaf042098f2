"""What is made of a model's nuggets: which are kept, which are wrong, and that nothing is lost on the way."""

import json
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from builders.nuggets.distinct import distinct, likeness
from builders.nuggets.facts import (
    LONGEST,
    MOST,
    Fact,
    Plain,
    Weighed,
    WithImportance,
    problem,
    shape_of,
    taken,
)
from freshstack_datasets.llm.structure import read, strict_schema

SAME = [
    ("Use `foo` twice.", "use foo twice"),
    ("Use  foo,\n twice", "Use foo twice…"),
    ("“Foo” is new", "'foo' is new:"),
    ("Foo is new", "Foo is new ."),
    ("caf\u00e9 closes", "cafe\u0301 closes"),
    ("STRASSE", "straße"),
]
DIFFERENT = [
    ("Use C++", "Use C#"),
    ("Use C", "Use C++"),
    ("a == b is true", "a != b is true"),
    ("a = b", "a == b"),
    ("Rename .env", "Rename env"),
    ("Call save!", "Call save"),
    ("Call nil?", "Call nil"),
    ("Pass --force", "Pass force"),
    ("It takes $x", "It takes x"),
    ("at least 1.5", "at least 15"),
    ("foo.bar", "foo bar"),
    ("foo", "foo()"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_case_space_quotes_and_punctuation_make_no_other_nugget(one, other):
    assert likeness(one) == likeness(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_makes_another_word_in_code_makes_another_nugget(one, other):
    assert likeness(one) != likeness(other)


def test_of_equal_texts_the_first_is_kept_and_the_empty_ones_are_none():
    # places: 0 kept, 1 empty, 2 as 0, 3 kept, 4 empty (no letter, no digit), 5 as 3, 6 as 0
    found = distinct(["Foo is new.", " ", "foo is new", "b", "- ...", "B,", "`Foo` is new"])
    assert (found.kept, found.empty, found.duplicates) == ((0, 3), 2, 3)


def test_nuggets_are_numbered_without_gaps_after_others_are_left_out():
    facts = [Fact("Foo is new.", "vital"), Fact("", "okay"), Fact("foo is new", "okay"), Fact("Bar is old.", "okay")]
    found = taken("q", facts)
    assert [(n.nugget_id, n.query_id, n.position, n.text, n.importance) for n in found.nuggets] == [
        ("q_0", "q", 0, "Foo is new.", "vital"),
        ("q_1", "q", 1, "Bar is old.", "okay"),
    ]
    assert (found.empty, found.duplicates) == (1, 1)


def test_a_nugget_stands_on_one_line():
    assert Plain(nuggets=["  one\n\ttwo   three "]).facts() == (Fact("one two three"),)


def test_a_reply_is_held_to_the_shape_of_its_prompt():
    assert shape_of("nuggets") is Plain
    assert shape_of("nuggets-with-importance") is WithImportance
    assert WithImportance(nuggets=[Weighed(text=" a\nb", importance="okay")]).facts() == (Fact("a b", "okay"),)
    properties = strict_schema(WithImportance)["$defs"]["Weighed"]["properties"]
    assert properties["importance"]["enum"] == ["vital", "okay"]


def test_as_many_nuggets_as_are_allowed_are_right_and_one_more_is_wrong():
    assert problem(Plain(nuggets=[f"fact {n}" for n in range(MOST)])) == ""
    assert problem(Plain(nuggets=[f"fact {n}" for n in range(MOST + 1)])) == (
        "it has 11 nuggets; give the 10 most important ones at most"
    )


def test_duplicates_and_empty_ones_do_not_count_among_the_allowed():
    assert problem(Plain(nuggets=[*(f"fact {n}" for n in range(MOST)), "Fact 1.", "", "?"])) == ""


def test_a_nugget_that_is_too_long_is_wrong_and_is_named():
    assert problem(Plain(nuggets=["x" * LONGEST, " x "])) == ""
    assert problem(Plain(nuggets=["a", "x" * (LONGEST + 1)])) == (
        "nugget 2 has 401 characters, and a nugget is one fact of at most 400"
    )


@pytest.mark.parametrize("text", ["a\0b", "a\x1bb", "a\x07", "\ud800"])
def test_a_nugget_with_what_nobody_types_is_wrong(text):
    assert problem(Plain(nuggets=["fine", text])) == "nugget 2 holds a control character"


@pytest.mark.parametrize(
    "reply",
    [
        '{"nuggets": "one fact"}',
        '{"nuggets": ["a", 1]}',
        '{"nuggets": ["a", null]}',
        '{"nuggets": [{"text": "a"}]}',
        '{"nuggets": ["a"], "more": 1}',
        '{"facts": ["a"]}',
        '["a"]',
        '{"nuggets": ["a"',
        '{"nuggets": ["a"]} {"nuggets": ["b"]}',
        "1. a fact\n2. another fact",
        "null",
        "",
    ],
)
def test_a_reply_of_another_shape_holds_no_nuggets(reply):
    value, wrong = read(reply, Plain, problem)
    assert value is None
    assert wrong


@pytest.mark.parametrize(
    "reply",
    [
        '{"nuggets": ["a"]}',
        '{"nuggets": [{"text": "a", "importance": "high"}]}',
        '{"nuggets": [{"text": "a", "importance": null}]}',
        '{"nuggets": [{"text": "a"}]}',
        '{"nuggets": [{"importance": "vital"}]}',
    ],
)
def test_an_importance_is_never_made_up(reply):
    assert read(reply, WithImportance, problem)[0] is None


TEXTS = st.lists(
    st.text(max_size=12) | st.text(alphabet=string.ascii_letters + " .,'`\n", max_size=6) | st.sampled_from("aAbB"),
    max_size=14,
)


@given(TEXTS)
@example(["."] * 3)
def test_of_any_texts_each_is_kept_or_counted(texts):
    found = distinct(texts)
    assert len(found.kept) + found.empty + found.duplicates == len(texts)
    assert list(found.kept) == sorted(set(found.kept))
    keys = [likeness(texts[place]) for place in found.kept]
    assert len(set(keys)) == len(keys)
    # nothing with a letter is lost: what is not kept is like something that stands before it
    for place, text in enumerate(texts):
        if place not in found.kept and any(letter.isalnum() for letter in text):
            assert any(likeness(texts[other]) == likeness(text) for other in found.kept if other < place)


@given(TEXTS)
def test_the_nuggets_of_any_reply_are_those_of_the_reply_and_in_its_order(texts):
    facts = Plain(nuggets=texts).facts()
    found = taken("q 1", facts)
    assert len(found.nuggets) + found.empty + found.duplicates == len(texts)
    assert [n.position for n in found.nuggets] == list(range(len(found.nuggets)))
    said = [fact.text for fact in facts]
    rest = iter(said)
    assert all(n.text in rest for n in found.nuggets)  # a part of them, in the same order
    assert all(n.text and n.text == " ".join(n.text.split()) for n in found.nuggets)


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.sampled_from(["vital", "okay", "x" * 500, "\ud800", "\0"]),
    lambda value: (
        st.lists(value, max_size=12)
        | st.dictionaries(st.sampled_from(["nuggets", "text", "importance", "more"]), value)
    ),
)


@given(st.text() | VALUES.map(json.dumps) | st.fixed_dictionaries({"nuggets": TEXTS}).map(json.dumps))
def test_of_any_reply_whatsoever_there_are_nuggets_or_a_word_on_what_is_wrong(reply):
    for shape in (Plain, WithImportance):
        value, wrong = read(reply, shape, problem)
        assert (value is None) == bool(wrong)
        if value is not None:
            assert len(taken("q", value.facts()).nuggets) <= MOST


@given(st.text(min_size=1, max_size=30))
def test_likeness_does_not_change_what_it_made(text):
    assert likeness(likeness(text)) == likeness(text)
