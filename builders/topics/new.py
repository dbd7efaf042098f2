"""A new topic file, with comments, made of a few answers."""

import datetime
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.topics.addresses import is_path
from builders.topics.reading import parse_topic
from builders.topics.template import MORE, NO_DOCUMENTS, TEXT
from builders.topics.topic import Documents, Repository, Topic
from freshstack_datasets.errors import InputError, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.typed_files import checked, in_one_line

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_PINS = ("commit", "tag", "date")


@dataclass(frozen=True, slots=True)
class Answers:
    """What somebody said of a new topic.

    Args:
        name: What it is called.
        domain: What it is about.
        tags: The tags of its questions.
        first: The first day of its questions; a month or a year too, "" for none.
        last: The last one.
        repositories: What its documents are made of.
        documents: Further documents.
    """

    name: str
    domain: str
    tags: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    repositories: tuple[Repository, ...] = ()
    documents: tuple[Documents, ...] = ()


def repository_of(text: str, today: datetime.date, what: str) -> Repository:
    """Return the repository that somebody named in one line.

    It is called as the last two parts of its address.

    Args:
        text: Where it is; behind a ``#`` a day, a whole commit, or a tag.
        today: The day that is meant when none is named.
        what: What to call it in a message.

    Raises:
        InputError: It is not allowed.
    """
    address, hash_sign, pin = (part.strip() for part in text.rpartition("#"))
    if not hash_sign:
        address, pin = pin, today.isoformat()
    kind = "date" if _DAY.fullmatch(pin) else "commit" if _COMMIT.fullmatch(pin) else "tag"
    told = {"url": address, "name": name_of(address), kind: pin}
    found: Repository = checked(Repository, told, what)
    return found


def name_of(address: str) -> str:
    """Return what a repository is called by its address: its last two parts."""
    place = address.partition("://")[2] or address
    if is_path(address):
        with suppress(OSError, RuntimeError, ValueError):
            place = str(Path(address).expanduser().resolve())
    parts = re.split("[/:]", place.rstrip("/").removesuffix(".git"))
    named = [re.sub(r"[^A-Za-z0-9_.-]+", "-", part) for part in parts if part not in ("", ".", "..")]
    return "/".join(["local", *named][-2:])


def documents_of(text: str, what: str) -> Documents:
    """Return the documents that somebody named by their path.

    Args:
        text: The path.
        what: What to call it in a message.

    Raises:
        InputError: It is not allowed.
    """
    stem = re.sub(r"[^A-Za-z0-9_.-]+|^[_.-]+", "-", Path(text.strip()).name.removesuffix(".jsonl")).strip("-")
    told = {"path": text.strip(), "name": stem or "documents"}
    found: Documents = checked(Documents, told, what)
    return found


def distinct(repositories: Sequence[Repository]) -> tuple[Repository, ...]:
    """Return repositories with an alias for each whose documents' ids would begin as those of one before it."""
    found: list[Repository] = []
    for repository in repositories:
        if repository.prefix.lower() in {other.prefix.lower() for other in found}:
            alias = repository.name.replace("/", "-").lstrip("_.-")
            told = repository.model_dump(exclude_none=True)
            repository = checked(Repository, {**told, "alias": alias}, f"the alias of {repository.name}")
        found.append(repository)
    return tuple(found)


def write_new(answers: Answers, path: Path) -> Topic:
    """Write a topic file where none is, and return what it says.

    Args:
        answers: What it is to say.
        path: The file; relative paths of the answers, which start in the working folder, are written to start in its.

    Raises:
        InputError: Something is there already, or nothing can be put there, or the answers do not go together.
    """
    content = topic_text(answers, path.parent).encode()
    topic = parse_topic(content, path)
    _claim(path)
    try:
        with atomic_file(path) as work:
            work.write_bytes(content)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return topic


def refuse_there(path: Path) -> None:
    """Refuse a path at which something is.

    Raises:
        InputError: Something is.
    """
    with suppress(OSError, ValueError):  # a path that cannot be used, which writing refuses
        path.lstat()
        hint = "remove it first, or choose another path with --out"
        raise InputError(f"cannot write {shown_path(path)}", expected="a new file", got="one that is there", hint=hint)


def _claim(path: Path) -> None:
    """Put an empty file where none is, so that nobody's is replaced."""
    refuse_there(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("x").close()
    except (OSError, ValueError) as error:
        refuse_there(path)  # somebody else was quicker
        got = (getattr(error, "strerror", None) or "an unusable path").lower()
        raise InputError(f"cannot write {shown_path(path)}", got=got, hint="choose another place") from None


def topic_text(answers: Answers, folder: Path) -> str:
    """Return the text of a topic file.

    Args:
        answers: What it says.
        folder: Where it will be.
    """
    first, last = (
        f"{key}: {in_one_line(day)}" if day else f"# {key}: {example}"
        for key, day, example in (("from", answers.first, "2024-01"), ("to", answers.last, "2026-06-30"))
    )
    repositories = "".join(_repository(repository, folder) for repository in answers.repositories)
    documents = "".join(_documents(entry, folder) for entry in answers.documents)
    return TEXT.format(
        name=in_one_line(answers.name),
        domain=in_one_line(answers.domain),
        tags=in_one_line(list(answers.tags)),
        first=first,
        last=last,
        repositories="repositories:\n" + repositories if repositories else "repositories: []\n",
        documents="documents:\n" + documents if documents else NO_DOCUMENTS,
    )


def _repository(repository: Repository, folder: Path) -> str:
    url = _from(folder, repository.url) if is_path(repository.url) else repository.url
    kind, pin = next((kind, value) for kind in _PINS if (value := getattr(repository, kind)) is not None)
    told = {"url": url, "name": repository.name, kind: pin}
    if repository.alias:
        told["alias"] = repository.alias
    return _entry(told) + MORE


def _documents(entry: Documents, folder: Path) -> str:
    return _entry({"path": _from(folder, entry.path), "name": entry.prefix}) + "    # license: CC-BY-4.0\n"


def _entry(told: dict[str, Any]) -> str:
    """Return an entry of a list, a line for each of its keys."""
    lines = [f"{key}: {in_one_line(value)}\n" for key, value in told.items()]
    return "  - " + "    ".join(lines)


def _from(folder: Path, path: str) -> str:
    """Return a path as seen from a folder; both are seen from the working folder, or absolute."""
    if path.startswith("~") or Path(path).is_absolute() or folder.resolve() == Path.cwd():
        return path
    seen = os.path.relpath(path, folder)
    return seen if seen.startswith("..") else f"./{seen}"
