"""Sorting a source's questions into those that are taken and those that are left out, with a list of either."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from builders.questions.records import Answer, Door, Question, Skipped
from builders.questions.rules import Rules
from builders.stackexchange.filters import UNTAGGED
from freshstack_datasets.records import Query

ANSWERS = "answers.jsonl"
DROPPED = "dropped.jsonl"
_MOST_LICENCES = 20


class Sorting:
    """Takes what satisfies the rules, and lists the answers, and what was left out though it has the tags.

    Args:
        folder: Where the lists go.
        rules: What a question must satisfy.
        language: The language of questions.
        license: The licence of texts that say none.
    """

    def __init__(self, folder: Path, rules: Rules, language: str | None, license: str | None) -> None:
        self.dropped: Counter[str] = Counter()
        self.first_wrong: dict[str, str] = {}
        """From a reason for which entries are malformed to the first of them: where it is, and what is wrong with it."""
        self.licenses: set[str] = set()
        self.taken = 0
        self._folder, self._rules = folder, rules
        self._language, self._license = language, license
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._answers, self._left_out = (
            self._stack.enter_context((self._folder / name).open("w", encoding="utf-8", newline="\n"))
            for name in (ANSWERS, DROPPED)
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def queries(self, door: Door) -> Iterator[Query]:
        """Yield the questions of a source that are taken, in its order.

        Raises:
            InputError: It cannot be read.
        """
        for entry in door.entries():
            if isinstance(entry, Skipped):
                self._drop(entry.record_id, entry.place, entry.reason, entry.detail)
            elif (query := self._query(entry)) is not None:
                self.taken += 1
                yield query
        self.dropped.update(door.source().unlisted)

    def _query(self, question: Question) -> Query | None:
        """Return a question as it is taken; None when it is left out, which is then written down."""
        answer = self._rules.failed(question) or self._rules.answer_of(question)
        if isinstance(answer, str):
            self._drop(question.question_id, question.place, answer)
            return None
        self._attribute(question.question_id, answer)
        return Query(
            query_id=question.question_id,
            text=f"{question.title} {question.body}".strip(),
            title=question.title,
            body=question.body,
            answer_id=answer.answer_id,
            answer_text=answer.text,
            date=question.date or None,
            tags=question.tags,
            url=question.url,
            author=question.author,
            score=question.score,
            license=self._licensed(question.license),
            language=self._language,
        )

    def _attribute(self, question_id: str, answer: Answer) -> None:
        """Write down whose the answer is."""
        told = {
            "id": answer.answer_id,
            "question": question_id,
            "url": answer.url,
            "author": answer.author,
            "date": answer.date or None,
            "score": answer.score,
            "license": self._licensed(answer.license),
        }
        self._answers.write(_line(told))

    def _licensed(self, name: str | None) -> str | None:
        """Return the licence of a text, and keep it."""
        name = name or self._license
        if name and len(self.licenses) < _MOST_LICENCES:
            self.licenses.add(name)
        return name

    def _drop(self, record_id: str, place: str, reason: str, detail: str = "") -> None:
        self.dropped[reason] += 1
        if reason.startswith("malformed") and detail:
            self.first_wrong.setdefault(reason, f"{place}: {detail}")
        if reason != UNTAGGED:
            told = {"id": record_id, "place": place, "reason": reason, "detail": detail}
            self._left_out.write(_line(told))


def _line(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False) + "\n"
