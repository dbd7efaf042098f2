"""``python -m builders convert-oct-2024``: the published originals as a snapshot of this project's layout."""

from pathlib import Path
from typing import Annotated

import typer

from builders.commands.built import facts, listed, say_built
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.errors import UnknownNameError

_UNFILTERED = "-unfiltered"
"""How the name of a topic ends whose queries are all those that were judged."""

_WORDS = {
    "missing-document": "judged documents that the corpus lacks",
    "both-lists": "documents in both lists of a nugget",
    "listed-twice": "documents that a list repeats",
    "nugget-without-judgment": "nuggets without a judged document",
    "query-without-nugget": "queries without a judged nugget",
    "null-text": "texts that are null",
    "unread-column": "columns that are not known",
}
"""What a number of problems of each code is called."""


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "convert-oct-2024",
        epilog="Example: python -m builders convert-oct-2024 langchain --corpus corpus-oct-2024 "
        "--queries queries-oct-2024 --out langchain-2024-10",
    )(_convert)


def _convert(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic, such as langchain.")],
    corpus: Annotated[
        list[Path],
        typer.Option(
            metavar="FILES", help="A Parquet file of the corpus, or a folder: of the repository or the topic."
        ),
    ],
    queries: Annotated[list[Path], typer.Option(metavar="FILES", help="The same of the queries.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the snapshot.")],
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make a snapshot of the originals that were published in October 2024.

    They are in two repositories, corpora and queries. What is remarkable about them is listed: documents in both lists
    of a nugget, which count as relevant; judged documents that the corpus lacks, which count all the same; nuggets and
    queries without any judgment, which are left out.
    """
    from freshstack_datasets.layouts.oct_2024 import convert, files_in

    name = _full_name(topic)
    config = topic.removesuffix(_UNFILTERED)
    given = [[file for path in paths for file in files_in(path, config)] for paths in (corpus, queries)]
    converted = convert(given[0], given[1], out, dataset=name)
    for problem in converted.problems:
        console.message(console.one_line(str(problem)))
    if as_json:
        problems = [{"code": p.code, "file": p.file, "id": p.id, "message": p.message} for p in converted.problems]
        counts = {"read": dict(converted.read), "found": dict(converted.found), "problems": problems}
        console.say_json({"path": str(out), **facts(converted.manifest), **counts})
        return
    say_built(out, converted.manifest)
    console.say("read: " + listed(converted.read))
    if converted.found:
        console.say("found: " + listed({_WORDS[code]: number for code, number in converted.found.items()}))


def _full_name(topic: str) -> str:
    """Return the name of a topic's dataset.

    Raises:
        UnknownNameError: Nothing of that topic was published then.
    """
    from freshstack_datasets.catalog import OWNER, known
    from freshstack_datasets.layouts.oct_2024 import SNAPSHOT

    topics = [name.removeprefix(f"{OWNER}/") for name, dataset in known().items() if SNAPSHOT in dataset.snapshots]
    if topic.removesuffix(_UNFILTERED) not in topics:
        raise UnknownNameError("topic", topic, topics)
    return f"{OWNER}/{topic}"
