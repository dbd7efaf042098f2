"""``python -m builders tags``: which tags go together with a topic's, and from which new ones topics are picked."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.commands.built import listed
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.errors import InputError

if TYPE_CHECKING:
    from builders.stackexchange.tags import Together, Use
    from builders.topics import Topic

_LEAST = 50

_Repository = Mapping[str, str | None]
"""Its name, its address, and the topic that has it."""

_Known = Mapping[str, list[_Repository]]
"""The repositories of each tag."""


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command("tags", epilog="Example: python -m builders tags stackoverflow.com-Posts.7z --tag langchain --top 25")(
        _tags
    )


def _tags(
    dump: Annotated[
        Path, typer.Argument(metavar="DUMP", help="The file Posts.xml of a site's dump, or the .7z it comes in.")
    ],
    tag: Annotated[
        str | None, typer.Option(metavar="TAG", help="List the tags that go together with this one.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--new-since", metavar="MONTH", help="List the tags first used in this month or later: 2023-01."),
    ] = None,
    least: Annotated[
        int | None,
        typer.Option("--min-posts", metavar="N", min=1, help=f"The least questions of a new tag. By default {_LEAST}."),
    ] = None,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="List so many tags.")] = 25,
    topics: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of topic files; those of the clone when not given.")
    ] = None,
    given: Annotated[
        Path | None,
        typer.Option(
            "--map", metavar="FILE", help="YAML with more repositories: the address of one, or a list, by tag."
        ),
    ] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """List the tags that go together with one, or with --new-since the young, frequent ones.

    Of the questions with --tag, covered is the share that has any of the tags up to that line. Beside each tag are the
    repositories of the topic files that are about it, and those that --map has for it. The dump is read once.
    """
    from builders.stackexchange.dump import Dump
    from builders.stackexchange.filters import parse_day
    from builders.stackexchange.tags import together, young

    if (tag is None) == (since is None):
        raise InputError("tags", expected="either --tag or --new-since", got="neither" if tag is None else "both")
    if tag is not None and least is not None:
        raise InputError("--min-posts", expected="--new-since beside it", got="--tag")
    known = _known(topics, given)
    if tag is not None:
        _say_together(together(Dump(dump), tag), top, known, as_json)
        return
    assert since is not None, "one of the two is given"
    uses, read = young(Dump(dump), parse_day(since, "--new-since", end=False), least or _LEAST)
    if as_json:
        console.say_json({"tags": [_facts(use, known) for use in uses[:top]], "found": len(uses), "read": dict(read)})
        return
    _say_read(read)
    rows = [(use.tag, f"{use.questions:,}", use.first, use.last, _repositories(use, known)) for use in uses[:top]]
    if rows:
        console.say_table(("tag", "questions", "first", "last", "repositories"), rows, right=["questions"])
    _say_rest(len(uses), top)


def _say_together(found: "Together", top: int, known: _Known, as_json: bool) -> None:
    all_of_them = found.use.questions
    lines = list(zip(found.others, found.covered, strict=True))[:top]
    if as_json:
        tags = [
            {**_facts(use, known), "share": use.questions / all_of_them, "covered": covered / all_of_them}
            for use, covered in lines
        ]
        of_itself = _facts(found.use, known)
        console.say_json({**of_itself, "tags": tags, "found": len(found.others), "read": dict(found.read)})
        return
    use = found.use
    _say_read(found.read)
    of_topics = _repositories(use, known)
    days = f", {use.first} to {use.last}" if use.first else ""
    repositories = f"; {of_topics}" if of_topics else ""
    console.say(f"{use.tag}: {console.counted(all_of_them, 'questions')}{days}{repositories}")
    rows = [
        (
            use.tag,
            f"{use.questions:,}",
            f"{use.questions / all_of_them:.1%}",
            f"{covered / all_of_them:.1%}",
            use.first,
            use.last,
            _repositories(use, known),
        )
        for use, covered in lines
    ]
    if rows:
        columns = ("tag", "questions", "share", "covered", "first", "last", "repositories")
        console.say_table(columns, rows, right=columns[1:4])
    _say_rest(len(found.others), top)


def _known(folder: Path | None, given: Path | None) -> _Known:
    """Return the repositories of each tag, each once: those of a map, then those of the topics that are about it."""
    from builders.topics.tag_map import read_map

    found: dict[str, dict[str, _Repository]] = {}
    for tag, name, url in read_map(given) if given else ():
        found.setdefault(tag, {}).setdefault(name, {"name": name, "url": url, "topic": None})
    for topic in _topics(folder):
        for tag in map(str.lower, topic.tags):
            for one in topic.repositories:
                told = {"name": one.name, "url": one.url, "topic": topic.name}
                found.setdefault(tag, {}).setdefault(one.name, told)
    return {tag: list(repositories.values()) for tag, repositories in found.items()}


def _topics(folder: Path | None) -> "list[Topic]":
    """Return the topics of a folder, or those that come with the builders."""
    from builders.topics import read_topic, topic_files

    if folder is None:
        return [read_topic(path) for path in topic_files()]
    files = sorted(path for path in folder.glob("*.y*ml") if path.suffix in (".yaml", ".yml"))
    if not files:
        raise InputError("--topics", expected="a folder of topic files, *.yaml", got=console.one_line(str(folder)))
    return [read_topic(path) for path in files]


def _repositories(use: "Use", known: _Known) -> str:
    return ", ".join(str(repository["name"]) for repository in known.get(use.tag, ()))


def _facts(use: "Use", known: _Known) -> dict[str, Any]:
    return {
        "tag": use.tag,
        "questions": use.questions,
        "first": use.first or None,
        "last": use.last or None,
        "repositories": known.get(use.tag, []),
    }


def _say_read(read: Mapping[str, int]) -> None:
    console.say("read: " + (listed(read) or "no rows"))


def _say_rest(number: int, top: int) -> None:
    if number == 0:
        console.say("no tags")
    elif number > top:
        console.say(f"{number - top:,} more; --top {number} lists all")
