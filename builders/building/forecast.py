"""What a build will cost, said before any model is asked."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from builders.building.assumed import assumed
from builders.building.build import Told, made
from builders.building.stages import FromSources, Stage
from builders.pipeline import step
from builders.pipeline.settings import Settings
from builders.pipeline.work import Work
from freshstack_datasets.llm.estimates import Estimate, StageEstimate


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a build will cost.

    Args:
        estimate: The cost, stage by stage.
        kept: The stages that were made before, of the same.
        assumed: What is assumed of stages that are not done, in lines for people, by the stage.
    """

    estimate: Estimate
    kept: tuple[str, ...]
    assumed: dict[str, str]


def forecast(
    stages: Sequence[Stage], work: Work, settings: Settings, tell: Callable[[Told], None] = lambda _: None
) -> Forecast:
    """Return what a build will cost.

    Stages that ask no model are made, and kept for the build itself: nothing is known without questions and documents.

    Args:
        stages: Its stages, in their order.
        work: Its folder.
        settings: How it is set.
        tell: Takes what is known of a stage that is made, as ``build`` has it.

    Raises:
        InputError: What it is made from cannot be read.
        SecretsError: Something seems to be secret, and is not allowed.
    """
    costs: list[StageEstimate] = []
    kept: list[str] = []
    guesses: dict[str, str] = {}
    known = True  # what is made of a stage that is not what it would be now is made again too
    with tempfile.TemporaryDirectory(prefix="freshstack-") as folder:
        place = Work(Path(folder))
        for number, stage in enumerate(stages, 1):
            if isinstance(stage, FromSources):
                made(stage, number, len(stages) + 1, work, tell)
                _link(stage.name, work, place)
                continue
            known = known and _kept(stage, work, place)
            if known:
                kept.append(stage.name)
                continue
            costs += stage.estimate(place)
            if guess := assumed(stage.name, place, settings):
                guesses[stage.name] = guess.told
                step.run(guess, place)
    return Forecast(Estimate(tuple(costs)), tuple(kept), guesses)


def _kept(stage: Stage, work: Work, place: Work) -> bool:
    """Tell whether a stage need not be made again, and take it over where it need not."""
    if (work.path / stage.name).is_dir() and stage.kept(work) is not None:
        _link(stage.name, work, place)
        return True
    return False


def _link(name: str, work: Work, place: Work) -> None:
    (place.path / name).symlink_to((work.path / name).absolute(), target_is_directory=True)
