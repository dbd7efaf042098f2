"""``python -m builders filter``: which questions a snapshot keeps."""

import typer

from builders.commands.asking import Recipe, WorkFolder
from builders.commands.options import TopicFile
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "filter", epilog="Example: python -m builders filter builders/topics/laravel.yaml --work laravel.stages"
    )(_filter)


def _filter(
    topic: TopicFile,
    work: WorkFolder,
    recipe: Recipe = "",
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Drop the questions whose nuggets are not all supported.

    First those that have no nuggets, no document to judge, or documents that could not be judged; then those of which no
    nugget is supported, and those with any that is not. The stage support has to be done. No model is asked.

    The topic's filter may say contamination: {closed_book_coverage: 0.9}: then questions are dropped whose closed-book
    answer, a model's from memory, holds so large a share of the terms of the nuggets, those of the question not counted.
    It is told by words alone, and is a sign of what a model knows, no proof.

    DIR/filter then holds filter.json: the ids that are kept, those that fell to each rule, and the share for each question.
    """
    from builders.assembling.filtering import Filtering
    from builders.pipeline.settings import Settings
    from builders.pipeline.step import run
    from builders.pipeline.work import Work
    from builders.topics import read_topic

    about = read_topic(topic)
    made = run(Filtering(about, Settings.of(about, recipe)), Work(work))
    counts, rules = made.summary.counts, _rules(made.summary.counts)
    for warning in made.summary.warnings:
        console.warn(warning)
    if as_json:
        kept = {"questions": counts["questions"], "kept": counts["kept"]}
        console.say_json({"path": str(work / made.name), "made_before": made.kept, **kept, "dropped": rules})
        return
    console.say(f"{work / made.name}: {counts['kept']:,} of {console.counted(counts['questions'], 'questions')} kept")
    if rules:
        console.say("dropped: " + ", ".join(f"{count:,} ({rule})" for rule, count in rules.items()))


def _rules(counts: dict[str, int]) -> dict[str, int]:
    """Return from a rule to how many questions fell to it."""
    return {name: count for name, count in counts.items() if name not in ("questions", "kept")}
