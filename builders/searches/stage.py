"""The stage ``queries``: the texts that are searched for to find the documents to judge, two of them a model's."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from builders.nuggets.calls import ask_again, calls_of, estimated, reasons
from builders.nuggets.posts import post
from builders.pipeline import records
from builders.pipeline.asking import Asking
from builders.pipeline.reading import nugget_calls_of, nuggets_of, questions_of
from builders.pipeline.records import SUB_QUESTIONS, Lacking, Search, Summary
from builders.pipeline.settings import KindName
from builders.pipeline.work import LACKING, NUGGETS, QUERIES, QUESTIONS, SEARCHES, STAGE, Work, write_lines
from builders.searches.texts import LONGEST, MOST, SubQuestions, closed_book, given, in_order, problem
from builders.topics import Topic
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import InputError
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.estimates import StageEstimate
from freshstack_datasets.llm.records import Answer, Failed, Reply, Request
from freshstack_datasets.llm.structure import strict_schema
from freshstack_datasets.records import Query

ASKED: tuple[KindName, ...] = ("sub-questions", "closed-book")
"""The techniques for which a model is asked, each of which is a kind of call."""
NO_TEXT = "no-text"
"""Why there is nothing to search for, besides the reasons of failed calls: what would be searched for is empty."""
WRITTEN: Mapping[KindName, int] = {"sub-questions": 150, "closed-book": 450}
"""Tokens that are expected to be written: of a few short questions, and of an answer of 300 words with some code."""

Outcome = Answer[SubQuestions] | Reply | Failed


@dataclass(frozen=True)
class Searches:
    """What is searched for on behalf of all questions that have nuggets; of others nothing can be judged.

    Args:
        topic: The topic.
        asking: Who is asked, and for which techniques.
    """

    topic: Topic
    asking: Asking

    @property
    def name(self) -> str:
        """The stage's name."""
        return QUERIES

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that the texts depend on."""
        key: dict[str, Any] = {stage: work.digest(stage) for stage in (QUESTIONS, NUGGETS)}
        key |= {"techniques": self._techniques}
        return key | ({"asking": self.asking.key(*self._kinds), "limits": _limits()} if self._kinds else {})

    def make(self, work: Work, folder: Path) -> Summary:
        """Make the texts of all questions; one that cannot be made is listed, with the reason.

        Args:
            work: The folder of the build, for questions and nuggets.
            folder: Where the texts, and what is lacking, go.

        Raises:
            InputError: There is nothing to search for.
            BudgetError: What may be spent does not take all calls.
            EndpointError: The server answers no call, or not all of them for now.
        """
        queries = self._queries(work)
        asked = [(query, kind) for query in queries for kind in self._kinds]
        outcomes: list[Outcome] = []
        if asked:
            jobs = [partial(self._ask, query, kind) for query, kind in asked]
            outcomes = self.asking.all(jobs, "making queries", "calls")
            self.asking.refuse_passing(outcomes)
        found = self._given(work, queries)
        for (query, kind), outcome in zip(asked, outcomes, strict=True):
            found[query.query_id, kind] = _inferred(query, kind, outcome)
        made = [found[query.query_id, technique] for query in queries for technique in self._techniques]
        searches = [one for one in made if isinstance(one, Search)]
        lacking = [one for one in made if isinstance(one, Lacking)]
        if not searches:
            raise self._nothing(queries, lacking)
        write_lines(folder / SEARCHES, searches)
        write_lines(folder / LACKING, lacking)
        return self._summary(searches, lacking)

    def estimate(self, work: Work) -> list[StageEstimate]:
        """Return what the texts will cost, nothing when no model is asked for them: nothing is sent.

        As long as there are no nuggets, all questions count.

        Args:
            work: The folder of the build, with the questions.

        Raises:
            InputError: The questions are not there.
        """
        done = (work.path / NUGGETS / STAGE).is_file()
        queries = self._queries(work) if done else questions_of(work)
        return [
            estimated(self.asking, kind, (self._request(query, kind) for query in queries), WRITTEN[kind])
            for kind in self._kinds
        ]

    @property
    def _techniques(self) -> tuple[str, ...]:
        return in_order(self.asking.settings.pool.techniques)

    @property
    def _kinds(self) -> tuple[KindName, ...]:
        return tuple(kind for kind in ASKED if kind in self._techniques)

    def _queries(self, work: Work) -> list[Query]:
        nuggets = nuggets_of(work)
        return [query for query in questions_of(work) if query.query_id in nuggets]

    def _request(self, query: Query, kind: KindName) -> Request:
        """Return what is asked of a question, of which the accepted answer is no part."""
        if kind == SUB_QUESTIONS:
            return self.asking.request(kind, strict_schema(SubQuestions), question=post(query), **_limits())
        return self.asking.request(kind, question=post(query))

    async def _ask(self, query: Query, kind: KindName, client: Client) -> Outcome:
        request = self._request(query, kind)
        return await (client.ask(request) if request.schema is None else client.ask_for(request, SubQuestions, problem))

    def _given(self, work: Work, queries: Sequence[Query]) -> dict[tuple[str, str], Search | Lacking]:
        """Return the texts for which no model is asked."""
        nuggets, calls = nuggets_of(work), nugget_calls_of(work)
        found: dict[tuple[str, str], Search | Lacking] = {}
        for query in queries:
            for technique in self._techniques:
                if technique not in ASKED:
                    text = given(technique, query, nuggets[query.query_id])
                    of = calls.get(query.query_id, ()) if technique == records.NUGGETS else ()
                    found[query.query_id, technique] = _search(query, technique, text, of)
        return found

    def _summary(self, searches: Sequence[Search], lacking: Sequence[Lacking]) -> Summary:
        each = Counter(search.technique for search in searches)
        counts = {
            "questions": len({search.query_id for search in searches}),
            "searches": len(searches),
            "left_out": len(lacking),
            **{technique: each[technique] for technique in self._techniques},
        }
        models: dict[str, tuple[str, ...]] = {
            kind: self.asking.models(call for search in searches if search.technique == kind for call in search.calls)
            for kind in self._kinds
        }
        settings = {"techniques": list(self._techniques)} | (_limits() if SUB_QUESTIONS in self._kinds else {})
        return Summary(counts, models, self.asking.prompts(*self._kinds), settings, tuple(_warnings(lacking)))

    def _nothing(self, queries: Sequence[Query], lacking: Sequence[Lacking]) -> InputError:
        detail = next((f" ({one.detail})" for one in lacking if one.detail), "")
        return InputError(
            f"what to search for on behalf of {self.topic.name}",
            expected=f"some text for {counted(len(queries), 'questions with nuggets')}",
            got=f"none: {reasons(lacking)}{detail}" if lacking else "none",
            hint="take another model, or more techniques",
        )


def _inferred(query: Query, technique: str, outcome: Outcome) -> Search | Lacking:
    """Return the text that a model made, or why there is none."""
    if isinstance(outcome, Failed):
        detail = f"{technique}: {outcome.detail}" if outcome.detail else technique
        return Lacking(query.query_id, outcome.reason, detail, calls=calls_of(outcome))
    text = closed_book(outcome.text) if isinstance(outcome, Reply) else " ".join(outcome.value.kept())
    return _search(query, technique, text, calls_of(outcome))


def _search(query: Query, technique: str, text: str, calls: tuple[str, ...]) -> Search | Lacking:
    if text.strip():
        return Search(query.query_id, technique, text, calls)
    return Lacking(query.query_id, NO_TEXT, technique, calls=calls)


def _limits() -> dict[str, int]:
    return {"most": MOST, "longest": LONGEST}


def _warnings(lacking: Sequence[Lacking]) -> Iterator[str]:
    if lacking:
        texts, why = counted(len(lacking), "texts"), reasons(lacking)
        yield f"{texts} to search for could not be made: {why}{ask_again(lacking, QUERIES)}"
