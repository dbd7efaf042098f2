"""Which questions are taken, and with which of their answers."""

import datetime

import pytest

from builders.questions.records import Answer, Question
from builders.questions.rules import Rules
from builders.stackexchange.filters import Filters
from builders.topics import Topic
from builders.topics.questions import Questions


def question(*answers, **told):
    known = {"tags": ("Rye", "oven"), "date": "2024-03-05T10:00:00", "score": 3} | told
    none = {"url": None, "author": None, "license": None}
    return Question(question_id="1", title="T", body="b", answers=answers, place="line 1", **known, **none)


def test_the_rules_of_a_topic_are_what_it_says():
    topic = Topic(
        name="bread",
        domain="Baking",
        tags=("Rye", "C++"),
        **{"from": datetime.date(2024, 1, 1), "to": datetime.date(2024, 6, 30)},
        documents=(),
        repositories=({"url": "https://example.org/a/b", "name": "a/b", "tag": "v1"},),
        questions=Questions(min_score=2, answer="best", min_answer_score=None),
        digest="0" * 64,
    )
    filters = Filters(frozenset({"rye", "c++"}), "2024-01-01", "2024-06-30", 2)
    assert Rules.of(topic) == Rules(filters, "best", None)


@pytest.mark.parametrize(
    "told, failed",
    [
        ({}, ""),
        ({"tags": ("rye-flour",)}, "questions without any of the tags"),
        ({"tags": ()}, "questions without any of the tags"),
        ({"date": "2024-02-28"}, "questions before 2024-03-01"),
        ({"date": ""}, "questions before 2024-03-01"),
        ({"date": "2024-04-01"}, "questions after 2024-03-31"),
        ({"date": "2024-03-31T23:59:59"}, ""),
        ({"score": 1}, "questions with a score below 2"),
        ({"score": None}, "questions with a score below 2"),
    ],
)
def test_a_question_fails_by_the_first_rule_that_it_breaks(told, failed):
    assert Rules(Filters(frozenset({"rye"}), "2024-03-01", "2024-03-31", 2)).failed(question(**told)) == failed


YES = Answer("7", "yes", score=4, accepted=True)


@pytest.mark.parametrize(
    "answers, least, taken",
    [
        ([Answer("5", "no", score=9), YES], 1, "7"),
        ([Answer("5", "no", score=9)], 1, "questions without an accepted answer"),
        ([], 1, "questions without an accepted answer"),
        ([Answer("7", "", score=4, accepted=True)], 1, "questions whose accepted answer is empty"),
        ([Answer("7", "yes", score=0, accepted=True)], 1, "questions whose accepted answer has a score below 1"),
        ([Answer("7", "yes", score=0, accepted=True)], None, "7"),
        ([Answer("7", "yes", accepted=True)], 1, "questions whose accepted answer has no score"),
        ([Answer("7", "yes", accepted=True)], None, "7"),
        ([YES], 4, "7"),
        ([YES], 5, "questions whose accepted answer has a score below 5"),
    ],
)
def test_the_accepted_answer_is_taken_if_it_was_voted_for(answers, least, taken):
    found = Rules(min_answer_score=least).answer_of(question(*answers))
    assert (found if isinstance(found, str) else found.answer_id) == taken


@pytest.mark.parametrize(
    "answers, least, taken",
    [
        ([Answer("5", "a", score=2), Answer("6", "b", score=9), YES], 1, "6"),
        ([Answer("5", "a", score=4), YES], 1, "7"),  # of equals the accepted one
        ([Answer("5", "a", score=4), Answer("6", "b", score=4)], 1, "5"),  # then the older one
        ([Answer("5", "", score=9), Answer("6", "b", score=1)], 1, "6"),
        ([Answer("5", "a", score=0), Answer("6", "b")], 1, "questions without an answer that may be taken"),
        ([Answer("5", "a"), Answer("6", "b", score=-3)], None, "6"),  # votes that are known
        ([Answer("5", "a"), Answer("6", "b", accepted=True)], None, "6"),
        ([], None, "questions without an answer that may be taken"),
    ],
)
def test_the_best_answer_is_the_one_with_the_most_votes(answers, least, taken):
    found = Rules(answer="best", min_answer_score=least).answer_of(question(*answers))
    assert (found if isinstance(found, str) else found.answer_id) == taken
