"""``python -m builders convert-oct-2024``: the published originals as a snapshot of this project's layout."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builders.commands.built import facts, listed, say_built
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from freshstack_datasets.recipe import Source

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
        epilog="Example: python -m builders convert-oct-2024 langchain --out langchain-2024-10",
    )(_convert)


def _convert(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic, such as langchain.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the snapshot.")],
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILES", help="A Parquet file of the corpus, or a folder: of the repository or the topic."
        ),
    ] = None,
    queries: Annotated[list[Path] | None, typer.Option(metavar="FILES", help="The same of the queries.")] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make a snapshot of the originals that were published in October 2024.

    They are in two repositories, corpora and queries, and are downloaded unless files of both are given. What is remarkable about them is listed: documents in both lists
    of a nugget, which count as relevant; judged documents that the corpus lacks, which count all the same; nuggets and
    queries without any judgment, which are left out.
    """
    from freshstack_datasets.files import refuse_taken
    from freshstack_datasets.layouts.oct_2024 import convert

    name = _full_name(topic)
    refuse_taken(out)
    files, sources = _given(topic, corpus, queries) if corpus or queries else _downloaded(name)
    converted = convert(files[0], files[1], out, dataset=name, sources=sources)
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


def _given(topic: str, corpus: list[Path] | None, queries: list[Path] | None) -> tuple[list[list[Path]], None]:
    """Return the files that somebody named, which say of themselves what they are."""
    from freshstack_datasets.layouts.oct_2024 import files_in

    if not (corpus and queries):
        lacking, other = ("--corpus", "--queries") if queries else ("--queries", "--corpus")
        hint = "give both, or neither to download them"
        raise InputError(lacking, expected=f"files, as there are some for {other}", got="none", hint=hint)
    config = topic.removesuffix(_UNFILTERED)
    return [[file for path in paths for file in files_in(path, config)] for paths in (corpus, queries)], None


def _downloaded(name: str) -> tuple[tuple[list[Path], list[Path]], list["Source"]]:
    """Return the files of a dataset from the Hub, and what they are."""
    from freshstack_datasets.hub.download import originals
    from freshstack_datasets.hub.pins import pin, sources
    from freshstack_datasets.layouts.oct_2024 import SNAPSHOT

    found = pin(name, SNAPSHOT)
    return originals(found), sources(found)


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
