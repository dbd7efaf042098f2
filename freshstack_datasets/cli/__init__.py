"""The command line: one module a command group; what the commands need is imported when they run."""

import sys
from typing import Annotated

import typer

from freshstack_datasets import __version__
from freshstack_datasets.cli import console, data, export, hub, irds, mteb, runs
from freshstack_datasets.cli.values import SeveralValues
from freshstack_datasets.cli.wrapped import Wrapped

app = console.command_line("freshstack")


def _version(asked: bool) -> None:
    if asked:
        console.say(f"freshstack-datasets {__version__}")
        raise typer.Exit


@app.callback()
def freshstack(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Look into benchmarks for retrieval over technical documents, and score runs on them.

    DATASET is the name of a dataset, its name and snapshot as in name@2024-10, or a folder that holds a snapshot.
    Every command has --json for one JSON object on standard output, except those of another tool, mteb and irds.
    Exit codes: 0 fine, 1 a check failed, 2 bad input or usage, 3 not comparable, 130 interrupted.
    """


for _function, _words in (
    (hub.list_, "list"),
    (hub.info, "info nimbus"),
    (data.show, "show nimbus exact-01 --run bm25.trec"),
    (data.search, 'search nimbus "me han cobrado dos veces" -k 5'),
    (hub.download, "download langchain@2024-10"),
    (hub.verify, "verify bread"),
    (runs.retrieve, "retrieve nimbus --retriever bm25 --out bm25.trec"),
    (runs.evaluate, "evaluate nimbus --retriever bm25 --by type"),
    (runs.compare, "compare nimbus bm25.trec mine.trec"),
    (export.export, "export nimbus --to beir --out beir/nimbus"),
):
    app.command(_words.split()[0], cls=SeveralValues, epilog=f"Example: freshstack {_words}")(_function)

for _tool, _words in (
    (mteb.mteb, "mteb run -t FreshStackNimbusRetrieval -m mteb/baseline-bm25s"),
    (irds.irds, "irds export freshstack/nimbus qrels"),
):
    app.command(
        _words.split()[0],
        cls=Wrapped,
        add_help_option=False,
        options_metavar="COMMAND …",
        epilog=f"Example: freshstack {_words}",
    )(_tool)


def main() -> None:
    """Run ``freshstack`` with the process's arguments and end the process."""
    sys.exit(console.run(app, name="freshstack"))
