"""The texts that are searched for, one for each technique: what needs no model, and what is made of a model's reply."""

from collections.abc import Sequence

from builders.nuggets.distinct import distinct, has_controls, line
from builders.pipeline.records import ANSWER, NUGGETS, QUESTION, TECHNIQUES
from freshstack_datasets.recipe import Model
from freshstack_datasets.records import Nugget, Query

MOST = 10
"""Questions that one is split into."""
LONGEST = 400
"""Characters of one of them."""


class SubQuestions(Model):
    """The reply to the prompt ``sub-questions``.

    Args:
        sub_questions: The questions.
    """

    sub_questions: list[str]

    def kept(self) -> tuple[str, ...]:
        """Return those that say something, each once, in their order."""
        texts = [line(text) for text in self.sub_questions]
        return tuple(texts[place] for place in distinct(texts).kept)


def problem(reply: SubQuestions) -> str:
    """Return what is wrong with a reply that fits its shape, in words for the model; "" when nothing is.

    Args:
        reply: The reply.
    """
    for number, text in enumerate(map(line, reply.sub_questions), 1):
        if has_controls(text):
            return f"sub-question {number} holds a control character"
        if len(text) > LONGEST:
            return f"sub-question {number} has {len(text)} characters; at most {LONGEST} are wanted"
    number = len(reply.kept())
    if not number:
        return "it holds no sub-question; where there is nothing to split, put the question itself in its clearest form"
    return f"it has {number} sub-questions; give the {MOST} most important ones at most" if number > MOST else ""


def closed_book(text: str) -> str:
    """Return the answer in a model's reply, which is what stands behind its thoughts; "" when nothing does.

    Args:
        text: The reply.
    """
    return text.rpartition("</think>")[2].strip()


def given(technique: str, query: Query, nuggets: Sequence[Nugget]) -> str:
    """Return the text of a technique that needs no model; "" when there is none.

    Args:
        technique: One of the three for which no model is asked.
        query: The question.
        nuggets: Its nuggets, in their order.
    """
    texts = {
        QUESTION: query.text,
        ANSWER: query.answer_text or "",
        NUGGETS: " ".join(nugget.text for nugget in nuggets),
    }
    return texts[technique]


def in_order(techniques: Sequence[str]) -> tuple[str, ...]:
    """Return techniques in their usual order, each once."""
    return tuple(technique for technique in TECHNIQUES if technique in techniques)
