"""What the commands of single stages that ask a model do alike: run the stage, or say what it will cost."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.commands.asking import AskingOptions, asking_of, say_asked, say_dangers, say_estimate
from freshstack_datasets.cli import console

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from builders.pipeline.asking import Asking
    from builders.pipeline.step import Step
    from builders.pipeline.work import Work
    from builders.topics import Topic
    from freshstack_datasets.llm.estimates import StageEstimate

    class Asked(Step, Protocol):
        """A stage that asks a model."""

        def estimate(self, work: Work) -> Sequence[StageEstimate]:
            """Return what it will cost."""
            ...


def run_stage(
    of: "Callable[[Topic, Asking], Asked]",
    topic: Path,
    work: Path,
    options: AskingOptions,
    *,
    done: "Callable[[dict[str, int]], str]",
    dry_run: bool,
    as_json: bool,
    before: "Callable[[Any, Asking, Work], None] | None" = None,
    costs: "Callable[[Any, Asking, Work], Sequence[StageEstimate]] | None" = None,
) -> None:
    """Run a stage and say what it made, or say what it will cost.

    Args:
        of: Makes the stage.
        topic: The topic's file.
        work: The folder of the build.
        options: Who is asked, and within which limits.
        done: Says in a line what the stage made, by its counts.
        dry_run: Whether nothing is sent.
        as_json: Whether to say it as JSON.
        before: What is done before the stage is run, unless it was made before, of the same.
        costs: Returns what it will cost; the stage says so itself when not given.
    """
    from builders.pipeline.reading import lacking_of
    from builders.pipeline.step import kept, run
    from builders.pipeline.work import POOL, Work
    from builders.topics import read_topic

    about, folder = read_topic(topic), Work(work)
    with asking_of(about, options) as asking:
        stage = of(about, asking)
        if dry_run:
            say_estimate(costs(stage, asking, folder) if costs else stage.estimate(folder), as_json)
            return
        say_dangers(asking, pool=stage.name == POOL)
        if before and kept(stage, folder) is None:
            before(stage, asking, folder)
        try:
            made = run(stage, folder)
        finally:
            say_asked(asking)
    for warning in made.summary.warnings:
        console.warn(warning)
    path, counts = work / made.name, made.summary.counts
    if as_json:
        lacking = dict(sorted(Counter(one.reason for one in lacking_of(folder, made.name)).items()))
        models = {kind: list(names) for kind, names in made.summary.models.items()}
        told = {"path": str(path), "made_before": made.kept, "counts": counts, "dropped": lacking, "models": models}
        console.say_json(told)
        return
    console.say(f"{path}: {done(counts)}" + (", made before" if made.kept else ""))
