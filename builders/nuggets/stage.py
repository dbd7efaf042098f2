"""The stage ``nuggets``: a model takes the facts that count out of each question's accepted answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from builders.nuggets.calls import ask_again, calls_of, estimated, reasons
from builders.nuggets.facts import LONGEST, MOST, Plain, Taken, WithImportance, problem, shape_of, taken
from builders.nuggets.posts import post
from builders.outputs import write_sorted
from builders.pipeline.asking import Asking
from builders.pipeline.reading import CALLS, questions_of
from builders.pipeline.records import Lacking, Summary
from builders.pipeline.work import LACKING, NUGGETS, QUESTIONS, Work, write_lines
from builders.topics import Topic
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import InputError
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.estimates import StageEstimate
from freshstack_datasets.llm.records import Answer, Failed, Request
from freshstack_datasets.llm.structure import strict_schema
from freshstack_datasets.records import Query
from freshstack_datasets.tables.schema import NUGGETS as TABLE

NO_ANSWER, NO_NUGGET = "no-answer", "no-nugget"
"""Why a question has none, besides the reasons of failed calls: it has no answer, or the model finds none in it."""
WRITTEN = 200
"""Tokens that are expected to be written of an answer: four sentences, and what is around them."""

Shape = type[Plain] | type[WithImportance]
Outcome = Answer[Plain | WithImportance] | Failed


class NoNuggetsError(InputError):
    """No question has a nugget.

    Args:
        topic: What the topic is called.
        expected: What would have been right.
        got: What was found instead.
        lacking: The questions, and why they have none.
    """

    def __init__(self, topic: str, expected: str, got: str, lacking: Sequence[Lacking]) -> None:
        hint = "take another model, or other questions"
        super().__init__(f"the nuggets of {topic}", expected=expected, got=got, hint=hint)
        self.lacking = tuple(lacking)


@dataclass(frozen=True)
class Nuggets:
    """The nuggets of all questions.

    Args:
        topic: The topic.
        asking: Who is asked.
    """

    topic: Topic
    asking: Asking

    @property
    def name(self) -> str:
        """The stage's name."""
        return NUGGETS

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that the nuggets depend on."""
        return {"questions": work.digest(QUESTIONS), "asking": self.asking.key("nuggets"), "limits": _limits()}

    def make(self, work: Work, folder: Path) -> Summary:
        """Take the nuggets of all questions; a question without any is listed, with the reason.

        Args:
            work: The folder of the build, for the questions.
            folder: Where the table of nuggets, the calls that made them, and the questions without any go.

        Raises:
            InputError: No question has any.
            BudgetError: What may be spent does not take all calls.
            EndpointError: The server answers no call, or not all of them for now.
        """
        queries = questions_of(work)
        ready = [query for query in queries if _has_answer(query)]
        outcomes = self.asking.all([partial(self._ask, query) for query in ready], "taking nuggets", "questions")
        self.asking.refuse_passing(outcomes)
        found = [_found(query, outcome) for query, outcome in zip(ready, outcomes, strict=True)]
        lacking = [Lacking(query.query_id, NO_ANSWER) for query in queries if not _has_answer(query)]
        lacking += [one.lacking for one in found if one.lacking]
        made = [one for one in found if not one.lacking]
        if not made:
            raise self._nothing(queries, lacking)
        write_sorted(folder, TABLE, (nugget for one in made for nugget in one.taken.nuggets))
        write_lines(folder / CALLS, ({"query_id": one.query_id, "calls": one.calls} for one in made))
        write_lines(folder / LACKING, sorted(lacking, key=attrgetter("query_id")))
        return self._summary(found, lacking)

    def estimate(self, work: Work) -> list[StageEstimate]:
        """Return what the nuggets will cost: nothing is sent.

        Args:
            work: The folder of the build, with the questions.

        Raises:
            InputError: The questions are not there.
        """
        requests = (self._asked(query)[0] for query in questions_of(work) if _has_answer(query))
        return [estimated(self.asking, "nuggets", requests, WRITTEN)]

    def _asked(self, query: Query) -> tuple[Request, Shape]:
        """Return what is asked of a question's answer, and what the reply has to fit."""
        shape = shape_of(self.asking.kind("nuggets").prompt.name)
        texts = {"question": post(query), "answer": query.answer_text or ""}
        return self.asking.request("nuggets", strict_schema(shape), **texts, **_limits()), shape

    async def _ask(self, query: Query, client: Client) -> Outcome:
        request, shape = self._asked(query)
        return await client.ask_for(request, shape, problem)

    def _summary(self, found: Sequence["_Found"], lacking: Sequence[Lacking]) -> Summary:
        counts = {
            "questions": sum(not one.lacking for one in found),
            "nuggets": sum(len(one.taken.nuggets) for one in found),
            "left_out": len(lacking),
            "empty": sum(one.taken.empty for one in found),
            "duplicates": sum(one.taken.duplicates for one in found),
        }
        models = {"nuggets": self.asking.models(call for one in found for call in one.calls)}
        return Summary(counts, models, self.asking.prompts("nuggets"), _limits(), tuple(_warnings(lacking)))

    def _nothing(self, queries: Sequence[Query], lacking: Sequence[Lacking]) -> "NoNuggetsError":
        detail = next((f" ({one.detail})" for one in lacking if one.detail), "")
        got = f"none: {reasons(lacking)}{detail}" if lacking else "none"
        return NoNuggetsError(self.topic.name, f"some of {counted(len(queries), 'questions')}", got, lacking)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found for a question."""

    query_id: str
    taken: Taken
    calls: tuple[str, ...]
    lacking: Lacking | None


def _found(query: Query, outcome: Outcome) -> _Found:
    calls, query_id = calls_of(outcome), query.query_id
    if isinstance(outcome, Failed):
        lacking = Lacking(query_id, outcome.reason, outcome.detail, calls=calls)
        return _Found(query_id, taken(query_id, ()), calls, lacking)
    some = taken(query_id, outcome.value.facts())
    return _Found(query_id, some, calls, None if some.nuggets else Lacking(query_id, NO_NUGGET, calls=calls))


def _has_answer(query: Query) -> bool:
    return bool(query.answer_text and query.answer_text.strip())


def _limits() -> dict[str, int]:
    return {"most": MOST, "longest": LONGEST}


def _warnings(lacking: Sequence[Lacking]) -> Iterator[str]:
    if lacking:
        yield f"{counted(len(lacking), 'questions')} without nuggets: {reasons(lacking)}{ask_again(lacking, NUGGETS)}"
