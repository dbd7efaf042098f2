"""``python -m builders new``: a topic file, written from a few answers."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.asking import Questions
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.errors import InputError

if TYPE_CHECKING:
    from builders.topics.topic import Topic


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "new",
        epilog="Example: python -m builders new acme/support --domain 'Customer support' --tags billing,login "
        "--repository https://github.com/acme/docs#2026-10-01 --no-input",
    )(_new)


def _new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the topic is called, such as support.")],
    domain: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is about, in a few words.")] = None,
    tags: Annotated[
        str | None, typer.Option(metavar="A,B", help='The tags of its questions, any of which is enough; "" for all.')
    ] = None,
    first: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="The first day, month or year of its questions.")
    ] = None,
    last: Annotated[str | None, typer.Option("--to", metavar="DATE", help="The last day, month or year.")] = None,
    repositories: Annotated[
        list[str] | None,
        typer.Option(
            "--repository",
            metavar="URL[#PIN]",
            help="A repository, or several; PIN is a day, a whole commit or a tag, today when not given.",
        ),
    ] = None,
    documents: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="A JSONL file or a folder of documents, or several."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file; NAME.yaml in the working folder when not given.")
    ] = None,
    no_input: Annotated[bool, typer.Option("--no-input", help="Ask nothing.")] = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write a topic file: what a benchmark is about, and which repositories and documents it is made of.

    What no option says is asked for. The file explains itself, and is never written over another one.
    """
    from builders.topics.new import Answers, distinct, documents_of, refuse_there, repository_of, write_new
    from builders.topics.topic import Domain, Name
    from freshstack_datasets.typed_files import checked

    name = checked(Name, name, "NAME")
    path = out or Path(f"{name.rpartition('/')[2]}.yaml")
    refuse_there(path)
    asked = Questions(not no_input)
    today = datetime.datetime.now(datetime.UTC).date()
    about = asked.one(domain, "--domain", "What is it about?", None, lambda text, what: checked(Domain, text, what))
    labels = asked.one(
        tags, "--tags", "Tags of its questions, with commas; a comma alone takes all", name.rpartition("/")[2], _tags
    )
    start = asked.one(first, "--from", "The first day of its questions, such as 2024-01", "", _first)
    end = asked.one(last, "--to", "The last day", "", lambda text, what: _last(text, what, start))
    found = asked.several(
        repositories,
        "--repository",
        "A repository: its URL or path, and behind a # a day, a commit or a tag",
        lambda text, what: repository_of(text, today, what),
    )
    more = asked.several(documents, "--documents", "A JSONL file or a folder of documents", documents_of)
    if not found and not more:
        hint = "give --repository or --documents"
        raise InputError("a topic's sources", expected="a repository or documents", got="neither", hint=hint)
    topic = write_new(Answers(name, about, labels, start, end, distinct(found), tuple(more)), path)
    if as_json:
        console.say_json(_facts(topic, path))
        return
    console.say(f"{path}: topic {topic.name}, {console.counted(len(found), 'repositories')}" + _and(len(more)))
    next_step = f"python -m builders build {path} --posts DUMP --snapshot YYYY-MM --out DIR --dry-run"
    console.say(f"look it through, then: {next_step}")


def _and(number: int) -> str:
    return f", {console.counted(number, 'sources')} of documents" if number else ""


def _tags(text: str, what: str) -> tuple[str, ...]:
    """Return the tags that somebody typed, each once."""
    from builders.topics.topic import Tags
    from freshstack_datasets.typed_files import checked

    typed: dict[str, str] = {}
    for tag in filter(None, map(str.strip, text.split(","))):
        typed.setdefault(tag.lower(), tag)
    found: tuple[str, ...] = checked(Tags, tuple(typed.values()), what)
    return found


def _first(text: str, what: str) -> str:
    """Return the first day as it was typed, checked."""
    from builders.topics.topic import FirstDay
    from freshstack_datasets.typed_files import checked

    if text:
        checked(FirstDay, text, what)
    return text


def _last(text: str, what: str, first: str) -> str:
    """Return the last day as it was typed, checked, also against the first."""
    from builders.topics.topic import FirstDay, LastDay
    from freshstack_datasets.typed_files import checked

    if text:
        day = checked(LastDay, text, what)
        if first and day < checked(FirstDay, first, what):
            raise InputError(what, expected=f"a day that is not before {first}", got=text)
    return text


def _facts(topic: "Topic", path: Path) -> dict[str, Any]:
    told = topic.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {"path": str(path), **told}
