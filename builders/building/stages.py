"""The stages of a build as one list, in their order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from builders.building import sources
from builders.pipeline import step
from builders.pipeline.asking import Asking
from builders.pipeline.records import Summary
from builders.pipeline.step import Made
from builders.pipeline.work import Work
from builders.topics import Topic
from freshstack_datasets.llm.estimates import StageEstimate


class Stage(Protocol):
    """A stage of a build, of whichever kind."""

    @property
    def name(self) -> str:
        """What it is called; its folder too."""
        ...

    def kept(self, work: Work) -> Summary | None:
        """Return what it says of itself when it was made of the very same and is whole, None when it was not.

        Raises:
            InputError: An earlier stage is not done.
        """
        ...

    def run(self, work: Work) -> Made:
        """Make it, unless it was made of the very same and is whole."""
        ...

    def estimate(self, work: Work) -> list[StageEstimate]:
        """Return what it will cost.

        Raises:
            InputError: An earlier stage is not done.
        """
        ...


@dataclass(frozen=True)
class FromSources:
    """A stage that asks no model and is made from what is given.

    Args:
        stage: The stage.
    """

    stage: sources.Source

    @property
    def name(self) -> str:
        """What it is called; its folder too."""
        return self.stage.name

    def kept(self, work: Work) -> Summary | None:
        """See ``Stage``."""
        return sources.kept(self.stage, work)

    def run(self, work: Work) -> Made:
        """See ``Stage``."""
        return sources.run(self.stage, work)

    def estimate(self, work: Work) -> list[StageEstimate]:
        """Return nothing: nobody is asked."""
        return []


class _Step(Protocol):
    """A step, which may be able to tell what it will cost."""

    @property
    def name(self) -> str: ...

    def key(self, work: Work) -> Mapping[str, Any]: ...

    def make(self, work: Work, folder: Path) -> Summary: ...


@dataclass(frozen=True)
class FromStages:
    """A stage that is made from earlier ones.

    Args:
        step: How.
    """

    step: _Step

    @property
    def name(self) -> str:
        """What it is called; its folder too."""
        return self.step.name

    def kept(self, work: Work) -> Summary | None:
        """See ``Stage``."""
        return step.kept(self.step, work)

    def run(self, work: Work) -> Made:
        """See ``Stage``."""
        return step.run(self.step, work)

    def estimate(self, work: Work) -> list[StageEstimate]:
        """See ``Stage``."""
        estimate = getattr(self.step, "estimate", None)
        told = None if estimate is None else estimate(work)
        if told is None:
            return []
        return list(told) if isinstance(told, Sequence) else [told]


def stages_of(topic: Topic, asking: Asking, given: sources.Given) -> list[Stage]:
    """Return the stages of a build, in their order.

    Args:
        topic: The topic.
        asking: Who is asked.
        given: What the stages that ask nobody are made from.
    """
    from builders.assembling.filtering import Filtering
    from builders.judging import Judging
    from builders.nuggets import Nuggets
    from builders.pooling import Pooling
    from builders.searches import Searches

    steps: list[_Step] = [
        Nuggets(topic, asking),
        Searches(topic, asking),
        Pooling(topic, asking),
        Judging(topic, asking),
        Filtering(topic, asking.settings),
    ]
    return [
        FromSources(sources.Questions(topic, given)),
        FromSources(sources.Corpus(topic, given)),
        *map(FromStages, steps),
    ]
