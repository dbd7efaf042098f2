"""``python -m builders questions``: the questions of a topic, out of a dump or a forum's export."""

import os
from pathlib import Path
from typing import Annotated

import typer

from builders.commands.built import listed, parts_told
from builders.commands.options import ClusterFile, Processes, TopicFile
from builders.commands.secrets import AllowSecrets, findings_shown
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "questions",
        epilog="Example: python -m builders questions builders/topics/laravel.yaml --posts stackoverflow.com-Posts.7z "
        "--out questions",
    )(_questions)


def _questions(
    topic: TopicFile,
    posts: Annotated[
        Path,
        typer.Option(
            metavar="PATH",
            help="The file Posts.xml of a site's dump, or the .7z it comes in; or a forum's export: JSON lines, or "
            "issues or discussions as GitHub's API gives them, in a file or a folder.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the questions.")],
    processes: Processes = None,
    cluster: ClusterFile = None,
    allow_secrets: AllowSecrets = "",
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Take the questions of a topic, each with its answer, out of a dump or a forum's export.

    A question is taken that has a tag of the topic, was asked in its period, and whose accepted answer has a score of at
    least 1; the topic's questions say otherwise.

    A line of a forum's export is a question: id, title, body, tags, date, score, url, author, license,
    accepted_answer_id and answers, each with id, body, date, score, url, author, license and accepted. Only ids are
    needed, with a title or a body; format says whether bodies are text, markdown or html. An answer may stand on a
    line of its own, with "type": "answer" and question_id, if its question's line has "type": "question".

    Of GitHub, give the file or the folder with what gh api --paginate prints of repos/OWNER/REPO/issues?state=all and of
    repos/OWNER/REPO/issues/comments, in files that end in .json; discussions likewise. Issues have no accepted answer:
    the topic's questions need answer: best, and min_answer_score: 0 for answers without votes.

    DIR then holds the table queries/, answers.jsonl with whom to name for each answer, dropped.jsonl with what was left
    out though it has a tag, and with damaged rows, each with the reason, and questions.json with the source and how it
    was made. The same input gives the same bytes, whatever the number of processes.

    What is done on a Posts.xml is kept in DIR.parts until the end: the same command, run again after an interruption,
    goes on there.

    Questions and answers are searched for secrets. Places where one seems to be are listed in DIR.secrets.jsonl, and end
    the build, with exit code 1, unless --allow-secrets names a list that has them.
    """
    from builders.questions.build import build
    from builders.secrets import Allowed
    from builders.stages import Cluster
    from builders.topics import read_topic

    where = Cluster.read(cluster) if cluster else None
    allowed, count = Allowed.of(allow_secrets), processes or os.cpu_count() or 1
    with findings_shown(as_json), parts_told(out):
        built = build(read_topic(topic), posts, out, processes=count, cluster=where, allowed=allowed)
    if as_json:
        told = {"digest": built.digest, "counts": built.counts, "read": built.read, "url": built.url}
        console.say_json({"path": str(out), **told, "dropped": built.dropped})
        return
    console.say(f"{out}: {console.counted(built.counts['questions'], 'questions')}, digest {built.digest[:12]}")
    console.say("read: " + listed(built.read) + (f", of {built.url}" if built.url else ""))
    if built.dropped:
        console.say("left out: " + listed(built.dropped))
