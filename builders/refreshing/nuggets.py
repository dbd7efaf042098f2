"""The nuggets of a refreshed snapshot: those of questions that are kept, and new ones for all others."""

import shutil
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from builders.nuggets import Nuggets
from builders.nuggets.stage import NoNuggetsError
from builders.outputs import write_sorted
from builders.pipeline.asking import Asking
from builders.pipeline.reading import CALLS, lacking_of, nugget_calls_of, nuggets_of
from builders.pipeline.records import Lacking, Summary
from builders.pipeline.step import run
from builders.pipeline.work import LACKING, NUGGETS, QUESTIONS, Work, write_lines
from builders.refreshing.earlier import Earlier
from builders.refreshing.questions import fates_of, open_questions, write_questions
from builders.refreshing.rules import KEPT
from builders.topics import Topic
from freshstack_datasets.errors import InputError
from freshstack_datasets.llm.estimates import StageEstimate
from freshstack_datasets.records import Nugget
from freshstack_datasets.tables.schema import NUGGETS as TABLE

OPEN = "open"
"""The folder, within that of the refresh, of the build of the questions for which nothing is known yet."""


@dataclass(frozen=True)
class CarriedNuggets:
    """The stage ``nuggets`` of a refresh.

    Args:
        topic: The topic.
        asking: Who is asked for new ones.
        earlier: The earlier snapshot.
    """

    topic: Topic
    asking: Asking
    earlier: Earlier

    @property
    def name(self) -> str:
        """The stage's name."""
        return NUGGETS

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that the nuggets depend on."""
        return {**Nuggets(self.topic, self.asking).key(work), "earlier": self.earlier.digest}

    def make(self, work: Work, folder: Path) -> Summary:
        """Carry over the nuggets of kept questions, and have those of all others made.

        Args:
            work: The folder of the refresh, for the questions.
            folder: Where the table of nuggets, the calls that made them, and the questions without any go.

        Raises:
            InputError: No question has any.
            BudgetError: What may be spent does not take all calls.
            EndpointError: The server answers no call, or not all of them for now.
        """
        carried = carried_nuggets(self.earlier, work)
        calls, lacking = {query_id: self._calls.get(query_id, ()) for query_id in carried}, list[Lacking]()
        fresh, summary = self._made(work)
        nuggets = dict(carried)
        if fresh is not None:
            nuggets |= nuggets_of(fresh)
            calls |= nugget_calls_of(fresh)
            lacking = lacking_of(fresh, NUGGETS)
        if not nuggets:
            raise InputError(
                f"the nuggets of {self.topic.name}", expected="some", got="none", hint="take other questions"
            )
        if isinstance(summary, NoNuggetsError):
            lacking, summary = list(summary.lacking), Summary({})
        write_sorted(folder, TABLE, (one for query_id in sorted(nuggets) for one in nuggets[query_id]))
        write_lines(folder / CALLS, ({"query_id": one, "calls": list(calls.get(one, ()))} for one in sorted(nuggets)))
        write_lines(folder / LACKING, lacking)
        return self._summary(nuggets, carried, calls, lacking, summary)

    def estimate(self, work: Work) -> list[StageEstimate]:
        """Return what new nuggets will cost: nothing is sent.

        Args:
            work: The folder of the refresh, with the questions.

        Raises:
            InputError: The questions are not there.
        """
        fresh = open_build(self.topic, work)
        return [] if fresh is None else Nuggets(self.topic, self.asking).estimate(fresh)

    def _made(self, work: Work) -> tuple[Work | None, Summary | NoNuggetsError]:
        """Return the build of the questions for which nothing is known, and what it says of its nuggets."""
        fresh = open_build(self.topic, work)
        if fresh is None:
            return None, Summary({})
        try:
            return fresh, run(Nuggets(self.topic, self.asking), fresh).summary
        except NoNuggetsError as error:
            return None, error

    @property
    def _calls(self) -> Mapping[str, tuple[str, ...]]:
        """The calls that made the nuggets of each earlier question, the oldest first."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for call in self.earlier.calls:
            if call.stage == NUGGETS:
                found[call.query_id].append((call.created, call.call_id))
        return {query_id: tuple(call_id for _, call_id in sorted(calls)) for query_id, calls in found.items()}

    def _summary(
        self,
        nuggets: Mapping[str, tuple[Nugget, ...]],
        carried: Mapping[str, tuple[Nugget, ...]],
        calls: Mapping[str, tuple[str, ...]],
        lacking: list[Lacking],
        fresh: Summary,
    ) -> Summary:
        counts = {
            "questions": len(nuggets),
            "nuggets": sum(map(len, nuggets.values())),
            "left_out": len(lacking),
            "carried": sum(map(len, carried.values())),
        }
        models = {NUGGETS: self.asking.models(call for of in calls.values() for call in of)}
        earlier = {
            name: digest for name, digest in self.earlier.manifest.recipe.prompts.items() if name.startswith(NUGGETS)
        }
        return Summary(
            counts, models, {**(earlier if carried else {}), **fresh.prompts}, fresh.settings, fresh.warnings
        )


def carried_nuggets(earlier: Earlier, work: Work) -> dict[str, tuple[Nugget, ...]]:
    """Return the nuggets of kept questions, by the question's id, at positions from 0.

    Args:
        earlier: The earlier snapshot.
        work: The folder of the refresh, with the questions.

    Raises:
        InputError: The stage of the questions is not done.
    """
    kept = sorted(query_id for query_id, one in fates_of(work).items() if one.get("fate") == KEPT)
    return {
        query_id: tuple(replace(one, position=at) for at, one in enumerate(earlier.whole.nuggets_of(query_id)))
        for query_id in kept
    }


def open_build(topic: Topic, work: Work) -> Work | None:
    """Return the folder of a build of the questions for which nothing is known yet; None when there is none.

    Args:
        topic: The topic.
        work: The folder of the refresh, with the questions.

    Raises:
        InputError: The stage of the questions is not done.
    """
    questions = open_questions(work)
    fresh = Work(work.path / OPEN)
    shutil.rmtree(fresh.path / QUESTIONS, ignore_errors=True)
    if not (work.path / NUGGETS).exists():  # people remove it so that calls are made again that a server turned away
        shutil.rmtree(fresh.path / NUGGETS, ignore_errors=True)
    if not questions:
        return None
    write_questions(questions, topic, work, fresh)
    return fresh
