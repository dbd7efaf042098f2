"""A forum's export: one JSON object a line, a question with its answers, or a question or an answer alone.

A question: ``id``, ``title``, ``body``, ``tags``, ``date``, ``score``, ``url``, ``author``, ``license``, ``format``
("text", "markdown" or "html"), ``accepted_answer_id``, ``answers``. An answer: ``id``, ``body``, ``date``, ``score``,
``url``, ``author``, ``license``, ``format``, ``accepted``. An answer on a line of its own has ``"type": "answer"`` and
``question_id`` as well, and its question ``"type": "question"``; lines may be in any order. Nothing but ids is needed.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from builders.forums.fields import BadEntryError, LeftOutError, identifier, visible_id
from builders.forums.files import LONGEST_LINE, Files, lines
from builders.forums.gathering import Gathering
from builders.forums.rows import AnswerRow, QuestionRow, answer_of, question_of, row_of, with_answers
from builders.forums.values import parsed
from builders.html.text import html_parser
from builders.questions.records import Answer, Question, Read, Skipped
from builders.stackexchange.posts import SeenIds

MALFORMED = "malformed lines"
"""What lines are counted as that are wrong in themselves, with what is wrong."""


class JsonLines:
    """The questions of a forum's export.

    A question with its answers is yielded as soon as its line is read. Lines of ``"type"`` wait on disk for each other,
    and come last.

    Args:
        files: The files.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._counts: Counter[str] = Counter()
        self._seen = _Ids()

    def entries(self) -> Iterator[Question | Skipped]:
        """Yield every question, and every line that is none and no answer.

        Raises:
            InputError: A file cannot be read.
            MissingExtraError: selectolax is not installed.
        """
        html_parser()
        self._counts.clear()
        self._seen = _Ids()
        with Gathering() as gathered:
            for entry in self._entries(gathered):
                self._counts["questions" if isinstance(entry, Question) else "skipped"] += 1
                self._counts["answers"] += len(entry.answers) if isinstance(entry, Question) else 0
                yield entry

    def source(self) -> Read:
        """Return what was read."""
        return Read(self._files.name, self._files.sha256, {"bytes": self._files.size, **self._counts})

    def _entries(self, gathered: Gathering) -> Iterator[Question | Skipped]:
        for path in self._files.paths:
            for number, data in lines(self._files.blocks(path)):
                if data is None or data.strip():
                    self._counts["lines"] += 1
                    yield from self._line(data, self._files.place(path, f"line {number}"), gathered)
        for question, answers in gathered.matched():
            yield from _matched(question, answers)
        for answer in gathered.strays():
            place, detail = answer["place"], f"no line of type question has the id {answer['question_id']}"
            yield Skipped(answer["answer"]["answer_id"], place, "answers without their question", detail)

    def _line(self, data: bytes | None, place: str, gathered: Gathering) -> Iterator[Question | Skipped]:
        value: Any = None
        try:
            if data is None:
                raise BadEntryError(f"a line of more than {LONGEST_LINE:,} bytes")
            value = parsed(data)
            row = row_of(value)
            if isinstance(row, AnswerRow):
                _keep_answer(row, place, gathered)
            else:
                yield from self._question(row, place, gathered)
        except BadEntryError as wrong:
            yield Skipped(visible_id(value), place, wrong.among(MALFORMED), wrong.detail)

    def _question(self, row: QuestionRow, place: str, gathered: Gathering) -> Iterator[Question]:
        question = question_of(row, place)
        accepted = "" if row.accepted_answer_id is None else identifier(row.accepted_answer_id)
        whole = row.type is None
        if whole:
            question = with_answers(question, accepted, question.answers)
        if not self._seen.add(question.question_id):
            raise LeftOutError("duplicate questions")
        if whole:
            yield question
        else:
            gathered.add_question(question.question_id, {"question": _flat(question), "accepted": accepted})


def _keep_answer(row: AnswerRow, place: str, gathered: Gathering) -> None:
    answer, question = answer_of(row), identifier(row.question_id)
    kept = {"answer": _flat(answer), "question_id": question, "place": place}
    if not gathered.add_answer(question, answer.answer_id, kept):
        raise LeftOutError("duplicate answers")


def _matched(kept: dict[str, Any], answers: list[dict[str, Any]]) -> Iterator[Question | Skipped]:
    """Yield a question with those of its answers that have lines of their own."""
    question = _restored(kept["question"])
    try:
        alone = [Answer(**answer["answer"]) for answer in answers]
        yield with_answers(question, kept["accepted"], [*question.answers, *alone])
    except BadEntryError as wrong:
        yield Skipped(question.question_id, question.place, wrong.among(MALFORMED), wrong.detail)


def _flat(record: Question | Answer) -> dict[str, Any]:
    """Return a record for JSON."""
    said = {field.name: getattr(record, field.name) for field in fields(record)}
    return said | {"answers": [_flat(answer) for answer in record.answers]} if isinstance(record, Question) else said


def _restored(said: dict[str, Any]) -> Question:
    answers = tuple(Answer(**answer) for answer in said["answers"])
    return Question(**{**said, "tags": tuple(said["tags"]), "answers": answers})


class _Ids:
    """Ids that were seen: those that are numbers cost a bit each where they are dense."""

    def __init__(self) -> None:
        self._numbers, self._others = SeenIds(), set[str]()

    def add(self, identifier: str) -> bool:
        """Add an id; return whether it was not there yet."""
        if len(identifier) <= 18 and identifier.isascii() and identifier.isdigit() and identifier[0] != "0":
            number = int(identifier)
            new = number not in self._numbers
            self._numbers.add(number)
            return new
        new = identifier not in self._others
        self._others.add(identifier)
        return new
