"""``python -m builders queries``: the texts that are searched for to find the documents to judge."""

import typer

from builders.commands.asking import USUAL, AskingOptions, DryRun, WorkFolder, with_asking
from builders.commands.options import TopicFile
from builders.commands.stages import run_stage
from freshstack_datasets.cli.console import Json, Verbose, counted


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "queries",
        epilog="Example: python -m builders queries builders/topics/laravel.yaml --work laravel.stages --dry-run",
    )(with_asking(_queries))


def _queries(
    topic: TopicFile,
    work: WorkFolder,
    options: AskingOptions = USUAL,
    dry_run: DryRun = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make the texts that are searched for on behalf of each question, to find the documents to judge.

    The topic's pool names the techniques: the question itself, the sub-questions that a model splits it into, the answer
    that a model gives with no document at hand (closed-book), the accepted answer, and the nuggets. For three of them no
    model is asked; those for which one is do not show it the accepted answer. The stages questions and nuggets have to be
    done; questions without nuggets are left out.

    DIR/queries then holds searches.jsonl, dropped.jsonl with the texts that could not be made, each with the reason, and
    stage.json.

    Every reply is kept: the same command, run again after any end, goes on there, and one that was made of the very same
    is not made again.
    """
    from builders.searches import Searches

    run_stage(Searches, topic, work, options, done=_done, dry_run=dry_run, as_json=as_json)


def _done(counts: dict[str, int]) -> str:
    return f"{counted(counts['searches'], 'texts')} to search for, of {counted(counts['questions'], 'questions')}"
