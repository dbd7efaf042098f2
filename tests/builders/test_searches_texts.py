"""The texts of searches: each technique's own, and what is made of a model's sub-questions and of its answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.nuggets.posts import post
from builders.pipeline.records import ANSWER, CLOSED_BOOK, NUGGETS, QUESTION, SUB_QUESTIONS
from builders.searches import texts
from builders.searches.texts import LONGEST, MOST, SubQuestions, closed_book, in_order, problem
from freshstack_datasets.llm.structure import read
from freshstack_datasets.records import Nugget, Query

ASKED = Query("q", "How? Like this", title="How?", body="Like this", answer_text="So.")
FACTS = (Nugget("q_0", "q", 0, "One."), Nugget("q_1", "q", 1, "Two."))


@pytest.mark.parametrize(("technique", "text"), [(QUESTION, "How? Like this"), (ANSWER, "So."), (NUGGETS, "One. Two.")])
def test_three_techniques_need_no_model(technique, text):
    assert texts.given(technique, ASKED, FACTS) == text


def test_what_is_not_there_is_not_searched_for():
    bare = Query("q", "How?")
    assert texts.given(ANSWER, bare, ()) == ""
    assert texts.given(NUGGETS, bare, ()) == ""


def test_techniques_have_one_order_whatever_the_configured_one():
    assert in_order([NUGGETS, CLOSED_BOOK, QUESTION, NUGGETS]) == (QUESTION, CLOSED_BOOK, NUGGETS)
    assert in_order([]) == ()
    assert in_order([ANSWER, SUB_QUESTIONS]) == (SUB_QUESTIONS, ANSWER)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        (ASKED, "How?\n\nLike this"),
        (Query("q", "How?", title="How?", body=" \n"), "How?"),
        (Query("q", "both", body="body"), "body"),
        (Query("q", "both"), "both"),
    ],
)
def test_a_question_is_shown_as_its_title_with_the_body_below(query, shown):
    assert post(query) == shown


def test_sub_questions_are_kept_once_and_in_their_order():
    reply = SubQuestions(sub_questions=["What is `a`?", "", "What  is\n'b'", "what is `A`?", "What is a"])
    # "what is a?" and "What is a" differ in the question mark, which is a letter of some names in code
    assert reply.kept() == ("What is `a`?", "What is 'b'", "What is a")


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ([], "it holds no sub-question; where"),
        (["", "?"], "it holds no sub-question; where"),
        (["a", "x" * (LONGEST + 1)], "sub-question 2 has 401 characters; at most 400 are wanted"),
        (["a", "b\0"], "sub-question 2 holds a control character"),
        ([f"what is {n}?" for n in range(MOST + 1)], "it has 11 sub-questions; give the 10 most important ones"),
        ([f"what is {n}?" for n in range(MOST)], ""),
        (["x" * LONGEST], ""),
    ],
)
def test_what_is_wrong_with_sub_questions(given, wrong):
    found = problem(SubQuestions(sub_questions=given))
    assert found.startswith(wrong)
    assert bool(found) == bool(wrong)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (" Use `a`.\n", "Use `a`."),
        ("<think>Is it a?</think>\n\nUse `a`.", "Use `a`."),
        ("Is it a?</think>Use `a`.", "Use `a`."),
        ("<think>one</think> two </think> Use `a`.", "Use `a`."),
        ("<think>Is it a?</think>\n", ""),
        (" \n", ""),
    ],
)
def test_a_closed_book_answer_is_what_stands_behind_the_thoughts(reply, answer):
    assert closed_book(reply) == answer


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.sampled_from(["x" * 500, "\ud800", "\0", "."]),
    lambda value: st.lists(value, max_size=12) | st.dictionaries(st.sampled_from(["sub_questions", "text"]), value),
)


@given(
    st.text()
    | VALUES.map(json.dumps)
    | st.fixed_dictionaries({"sub_questions": st.lists(st.text(max_size=9), max_size=12)}).map(json.dumps)
)
def test_of_any_reply_whatsoever_there_are_sub_questions_or_a_word_on_what_is_wrong(reply):
    value, wrong = read(reply, SubQuestions, problem)
    assert (value is None) == bool(wrong)
    if value is not None:
        kept = value.kept()
        assert 0 < len(kept) <= MOST
        rest = iter(" ".join(text.split()) for text in value.sub_questions)
        assert all(text in rest for text in kept)
