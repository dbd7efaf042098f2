"""``python -m builders pool``: the documents to judge."""

import typer

from builders.commands.asking import USUAL, AskingOptions, DryRun, WorkFolder, with_asking
from builders.commands.options import TopicFile
from builders.commands.stages import run_stage
from freshstack_datasets.cli.console import Json, Verbose, counted


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "pool",
        epilog="Example: python -m builders pool builders/topics/laravel.yaml --work laravel.stages --dry-run",
    )(with_asking(_pool))


def _pool(
    topic: TopicFile,
    work: WorkFolder,
    options: AskingOptions = USUAL,
    dry_run: DryRun = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Search for the texts of each question with several retrievers, and choose the documents to judge.

    The topic's pool names the techniques and the retrievers: bm25; dense:MODEL, a model of sentence-transformers, or of
    a server where an endpoint is named; python:module:factory, one of your own. Each finds as many documents as depth
    says. For each technique, what all of them find is put together: scores are brought between 0 and 1 in each list, and
    summed. The top of it goes into the pool. The stages corpus and queries have to be done.

    DIR/pool then holds pool.parquet with all that found each document of a pool, and at which rank; runs/ with the whole
    lists, a file for each technique and retriever, and for the fusion; and stage.json.

    Vectors are kept: the same command, run again after any end, goes on there, and one that was made of the very same is
    not made again. With --dry-run, only the embeddings of servers are counted: nothing else costs money.
    """
    from builders.pooling import Pooling

    run_stage(Pooling, topic, work, options, done=_done, dry_run=dry_run, as_json=as_json)


def _done(counts: dict[str, int]) -> str:
    who = f"{counted(counts['retrievers'], 'retrievers')} and {counted(counts['lists'], 'lists')}"
    return f"{counted(counts['documents'], 'documents')} to judge, of {counted(counts['questions'], 'questions')}, by {who}"
