"""Which questions of a topic are taken, and with which of their answers.

Thakur et al., FreshStack, arXiv:2504.13128, section 3.1: questions with an accepted answer that was voted for.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self

from builders.questions.records import Answer, Question
from builders.stackexchange.filters import Filters
from builders.stackexchange.reasons import EMPTY, UNANSWERED

if TYPE_CHECKING:
    from builders.topics import Topic

UNSCORED = "questions whose accepted answer has no score"
NO_ANSWER = "questions without an answer that may be taken"

REASONS = {
    UNSCORED: "nobody knows how many voted for it",
    NO_ANSWER: "none has text and the least score",
}
"""Why each rule leaves a question out, where its name does not say."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a question must satisfy, and its answer.

    Args:
        filters: Tags, days and least score of the question.
        answer: "accepted" for the answer that was accepted, "best" for the one with the most votes.
        min_answer_score: The least score of the answer, None when any will do, also one that nobody knows.
    """

    filters: Filters = field(default_factory=Filters)
    answer: Literal["accepted", "best"] = "accepted"
    min_answer_score: int | None = 1

    @classmethod
    def of(cls, topic: "Topic") -> Self:
        """Return the rules of a topic."""
        filters = Filters(
            tags=frozenset(tag.strip().lower() for tag in topic.tags),
            first=topic.first.isoformat() if topic.first else "",
            last=topic.last.isoformat() if topic.last else "",
            min_score=topic.questions.min_score,
        )
        return cls(filters, topic.questions.answer, topic.questions.min_answer_score)

    def failed(self, question: Question) -> str:
        """Return the first rule that a question does not satisfy, in words; "" when it satisfies all."""
        return self.filters.failed(question)

    def answer_of(self, question: Question) -> Answer | str:
        """Return the answer that a question is taken with, or in words the rule by which there is none."""
        if self.answer == "best":
            usable = [answer for answer in question.answers if answer.text and not self._too_low(answer)]
            # of several, the first that max() meets: the older one
            return max(usable, key=_votes) if usable else NO_ANSWER
        answer = next((answer for answer in question.answers if answer.accepted), None)
        if answer is None:
            return UNANSWERED
        if not answer.text:
            return EMPTY
        if self._too_low(answer):
            low = f"questions whose accepted answer has a score below {self.min_answer_score}"
            return UNSCORED if answer.score is None else low
        return answer

    def _too_low(self, answer: Answer) -> bool:
        least = self.min_answer_score
        return least is not None and (answer.score is None or answer.score < least)


def _votes(answer: Answer) -> tuple[bool, int, bool]:
    """Return what the best answer has most of: known votes, and among equals that it was accepted."""
    return answer.score is not None, answer.score or 0, answer.accepted
