"""``python -m builders corpus``: all sources of a topic as one table of documents."""

import os
from pathlib import Path
from typing import Annotated

import typer

from builders.commands.built import parts_told
from builders.commands.options import ClusterFile, Processes, TopicFile
from builders.commands.secrets import AllowSecrets, findings_shown
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command("corpus", epilog="Example: python -m builders corpus builders/topics/laravel.yaml --out corpus")(
        _corpus
    )


def _corpus(
    topic: TopicFile,
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the corpus.")],
    sources: Annotated[
        Path | None, typer.Option(metavar="BUNDLES", help="A folder that fetch filled; no network is then used.")
    ] = None,
    like: Annotated[
        str, typer.Option(metavar="oct-2024", help="Ids and texts as published then, to compare with that release.")
    ] = "",
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="The tokenizer that counts, by tiktoken's name.")
    ] = "cl100k_base",
    limit: Annotated[int, typer.Option(metavar="N", help="Tokens that a chunk may have.")] = 2048,
    fast: Annotated[
        bool, typer.Option("--fast", help="Count with quicktok, compared with tiktoken first; the result is the same.")
    ] = False,
    processes: Processes = None,
    cluster: ClusterFile = None,
    allow_secrets: AllowSecrets = "",
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Make the corpus of a topic: the files of all its sources, cut into chunks.

    DIR then holds the table corpus/, dropped.jsonl with every file that is not in it and the reason, and corpus.json with
    the sources and how it was made. The same sources give the same bytes, whatever the number of processes.

    By default a chunk is exactly the text of its file between the two numbers of its id, and no file is lost. With --like
    oct-2024, ids and texts are those published then, faults included: texts are shifted after letters beyond ASCII, and
    C++, reStructuredText and long files are among what is left out. That is for comparing with the published corpora, and
    for nothing else.

    What is done is kept in DIR.parts until the end: the same command, run again after an interruption, goes on there.

    Before the end all documents are searched for secrets. Places where one seems to be are listed in DIR.secrets.jsonl,
    and end the build, with exit code 1, unless --allow-secrets names a list that has them.
    """
    from builders.corpus import Settings, build
    from builders.secrets import Allowed
    from builders.stages import Cluster
    from builders.topics import read_topic

    where = Cluster.read(cluster) if cluster else None
    settings = Settings(encoding, limit, like, fast)
    count = processes or os.cpu_count() or 1
    with findings_shown(as_json), parts_told(out):
        built = build(
            read_topic(topic),
            out,
            sources=sources,
            settings=settings,
            processes=count,
            cluster=where,
            allowed=Allowed.of(allow_secrets),
            say=console.message,
        )
    if as_json:
        told = {"digest": built.digest, "counts": built.counts, "dropped": built.dropped}
        console.say_json({"path": str(out), **told})
        return
    counts = built.counts
    console.say(f"{out}: {console.counted(counts['documents'], 'documents')}, digest {built.digest[:12]}")
    console.say(f"of {counts['files_in_the_corpus']:,} of {console.counted(counts['files'], 'files')}")
    if built.dropped:
        console.say("left out: " + ", ".join(f"{count:,} {reason}" for reason, count in built.dropped.items()))
