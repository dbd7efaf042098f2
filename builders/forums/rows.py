"""The lines of a forum's export, typed: a question with its answers, or a question or an answer alone."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from builders.forums.fields import BadEntryError, Format, LeftOutError, address, body, day, identifier, line, short
from builders.questions.records import Answer, Question
from builders.stackexchange.reasons import MISSING
from freshstack_datasets.errors import shown

_Score = Annotated[int, Field(ge=-(10**9), le=10**9)]
_Id = str | int


class _Post(BaseModel):
    """What a question and an answer have in common; a key that is not known may be a misspelt one, and is refused.

    Args:
        id: Its id, a text or a whole number.
        body: What it says.
        date: When it was written, ISO 8601.
        score: Its votes.
        url: Where it stands.
        author: Who wrote it.
        license: The licence of its text.
        format: What ``body`` is written in; an answer's is its question's, or plain text, when not given.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: _Id
    body: str | None = None
    date: str | None = None
    score: _Score | None = None
    url: str | None = None
    author: str | None = None
    license: str | None = None
    format: Format | None = None


class AnswerOfQuestion(_Post):
    """An answer within its question.

    Args:
        accepted: Whether it is the one that was accepted.
    """

    accepted: bool | None = None


class AnswerRow(AnswerOfQuestion):
    """An answer on a line of its own.

    Args:
        type: What it is.
        question_id: The id of its question.
    """

    type: Literal["answer"]
    question_id: _Id


class QuestionRow(_Post):
    """A question.

    Args:
        type: Given when its answers are on lines of their own.
        title: Its title.
        tags: Its tags.
        accepted_answer_id: The id of the answer that was accepted.
        answers: Its answers.
    """

    type: Literal["question"] | None = None
    title: str | None = None
    tags: list[str] | None = None
    accepted_answer_id: _Id | None = None
    answers: list[AnswerOfQuestion] | None = None


def row_of(value: Any) -> QuestionRow | AnswerRow:
    """Return what a line says.

    Raises:
        BadEntryError: It says something else than a question or an answer.
    """
    if not isinstance(value, dict):
        raise BadEntryError("no JSON object", shown(value))
    model = AnswerRow if value.get("type") == "answer" else QuestionRow
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise told(error) from None


def told(error: ValidationError) -> BadEntryError:
    """Return what a model finds wrong first."""
    first = error.errors(include_url=False, include_context=False)[0]
    # a value that may be of several types is named with the type that was tried
    place = ".".join(str(part) for part in first["loc"] if part not in ("str", "int"))
    if first["type"] == "extra_forbidden":
        return BadEntryError("an unknown key", shown(place))
    if first["type"] == "missing":
        return BadEntryError("a missing key", shown(place))
    return BadEntryError("a value that is not allowed", f"{shown(place)}: {first['msg']}, got {shown(first['input'])}")


def answer_of(row: AnswerOfQuestion, form: Format | None = None) -> Answer:
    """Return a row's answer.

    Args:
        row: The row.
        form: What the question is written in.

    Raises:
        BadEntryError: An id, a date or an address is none.
    """
    return Answer(
        answer_id=identifier(row.id),
        text=body(row.body, row.format or form),
        score=row.score,
        date=day(row.date),
        author=short(row.author),
        url=address(row.url),
        license=short(row.license),
        accepted=bool(row.accepted),
    )


def question_of(row: QuestionRow, place: str) -> Question:
    """Return a row's question, with the answers that it has within it.

    Args:
        row: The row.
        place: Where it was found.

    Raises:
        BadEntryError: An id, a date or an address is none, or it has neither title nor body.
    """
    question = Question(
        question_id=identifier(row.id),
        title=line(row.title),
        body=body(row.body, row.format),
        tags=tuple(dict.fromkeys(tag for tag in map(line, row.tags or ()) if tag)),
        date=day(row.date),
        score=row.score,
        url=address(row.url),
        author=short(row.author),
        license=short(row.license),
        answers=tuple(answer_of(answer, row.format) for answer in row.answers or ()),
        place=place,
    )
    if not question.title and not question.body.strip():
        raise BadEntryError("neither title nor body")
    return question


def with_answers(question: Question, accepted: str, answers: Iterable[Answer]) -> Question:
    """Return a question with its answers, the older ones first where all have a date, and the accepted one marked.

    Args:
        question: The question.
        accepted: The id of the accepted answer, "" when it is marked itself or there is none.
        answers: All its answers.

    Raises:
        LeftOutError: The accepted answer is missing, several are accepted, or two have one id.
    """
    found = [replace(answer, accepted=True) if answer.answer_id == accepted else answer for answer in answers]
    if len({answer.answer_id for answer in found}) < len(found):
        raise LeftOutError("questions with two answers of one id")
    marked = [answer.answer_id for answer in found if answer.accepted]
    if len(marked) > 1:
        raise LeftOutError("questions with several accepted answers", ", ".join(map(shown, marked[:3])))
    if accepted and not marked:
        raise LeftOutError(MISSING, shown(accepted))
    if all(answer.date for answer in found):
        found.sort(key=lambda answer: answer.date)
    return replace(question, answers=tuple(found))
