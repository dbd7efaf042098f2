"""``python -m builders nuggets``: the facts that accepted answers state."""

import typer

from builders.commands.asking import USUAL, AskingOptions, DryRun, WorkFolder, with_asking
from builders.commands.options import TopicFile
from builders.commands.stages import run_stage
from freshstack_datasets.cli.console import Json, Verbose, counted


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "nuggets",
        epilog="Example: python -m builders nuggets builders/topics/laravel.yaml --work laravel.stages --max-usd 5",
    )(with_asking(_nuggets))


def _nuggets(
    topic: TopicFile,
    work: WorkFolder,
    options: AskingOptions = USUAL,
    dry_run: DryRun = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Let a model take the nuggets out of accepted answers: the facts that an answer to the question has to state.

    The stage questions has to be done. The topic's models say who is asked. Where they say
    nuggets: {prompt: nuggets-with-importance}, each nugget is called vital or okay.

    DIR/nuggets then holds the table nuggets/, calls.jsonl with the calls that made each question's, dropped.jsonl with
    the questions that have none, each with the reason, and stage.json.

    Every reply is kept: the same command, run again after any end, goes on there, and one that was made of the very same
    is not made again.
    """
    from builders.nuggets import Nuggets

    run_stage(Nuggets, topic, work, options, done=_done, dry_run=dry_run, as_json=as_json)


def _done(counts: dict[str, int]) -> str:
    left_out = {"empty ones": counts["empty"], "duplicates": counts["duplicates"]}
    without = ", ".join(counted(number, name) for name, number in left_out.items() if number)
    of = f"{counted(counts['nuggets'], 'nuggets')} of {counted(counts['questions'], 'questions')}"
    return of + (f"; left out: {without}" if without else "")
