"""The two stages that ask no model, questions and corpus, made again only when what they depend on has changed.

What they depend on are parts of the topic file, not all of it: another pool needs no other questions.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from builders import corpus
from builders.corpus.sources import sources_of
from builders.outputs import OURS, installed
from builders.pipeline.records import Summary
from builders.pipeline.step import Made
from builders.pipeline.work import CORPUS, QUESTIONS, Work, is_whole
from builders.questions import build as questions_build
from builders.repositories import fetch
from builders.secrets import Allowed
from builders.topics import Topic
from freshstack_datasets.errors import InputError, shown_path

MADE_FROM = "made-from.json"
"""What a stage was made from, in its folder."""


@dataclass(frozen=True)
class Given:
    """What a build is given beside its topic, for the stages that ask no model.

    Args:
        posts: A dump or a forum's export.
        sources: A folder that ``fetch`` filled; None to fetch the repositories into the build's own folder.
        processes: How many processes work.
        allowed: Findings of secrets that are accepted.
        say: Takes a line for people.
    """

    posts: Path
    sources: Path | None = None
    processes: int = 1
    allowed: Allowed | None = None
    say: Callable[[str], None] = lambda _: None


class Source(Protocol):
    """A stage that asks no model."""

    @property
    def name(self) -> str:
        """What it is called; its folder too."""
        ...

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that its outcome depends on, as JSON values."""
        ...

    def build(self, work: Work, out: Path) -> None:
        """Make its folder."""
        ...


@dataclass(frozen=True)
class Questions:
    """The questions of a topic.

    Args:
        topic: The topic.
        given: What they are made from.
    """

    topic: Topic
    given: Given
    name: str = QUESTIONS

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that the questions depend on.

        Raises:
            InputError: The posts cannot be found.
        """
        told = self.topic.model_dump(mode="json", include={"name", "tags", "first", "last", "questions"})
        return {"version": installed(OURS), "topic": told, "posts": looks(self.given.posts)}

    def build(self, work: Work, out: Path) -> None:
        """Make the questions; see ``builders.questions.build``."""
        given = self.given
        questions_build.build(self.topic, given.posts, out, processes=given.processes, allowed=given.allowed)


@dataclass(frozen=True)
class Corpus:
    """The documents of a topic.

    Args:
        topic: The topic.
        given: What they are made from.
    """

    topic: Topic
    given: Given
    name: str = CORPUS

    def key(self, work: Work) -> Mapping[str, Any]:
        """Return all that the documents depend on; repositories that are not there yet are fetched.

        Raises:
            InputError: A repository cannot be had, or documents cannot be read.
        """
        bundles = self._bundles(work)
        if self.given.sources is None and self.topic.repositories:
            fetch(self.topic.repositories, bundles, say=self.given.say)
        sources = [source.key for source in sources_of(self.topic, bundles)]
        return {"name": self.topic.name, "settings": corpus.Settings().key, "sources": sources}

    def build(self, work: Work, out: Path) -> None:
        """Make the documents; see ``builders.corpus.build``."""
        given = self.given
        corpus.build(
            self.topic,
            out,
            sources=self._bundles(work),
            processes=given.processes,
            allowed=given.allowed,
            say=given.say,
        )

    def _bundles(self, work: Work) -> Path:
        return self.given.sources or work.path.absolute() / "sources"


def kept(stage: Source, work: Work) -> Summary | None:
    """Return what a stage says of itself when it was made of the very same and is whole, None when it was not."""
    return _kept(stage.name, stage.key(work), work)


def run(stage: Source, work: Work) -> Made:
    """Make a stage, unless it was made of the very same and is whole.

    Until it is whole the one before stays; parts of it are kept beside its folder, for the same call to go on with.

    Args:
        stage: The stage.
        work: The folder of the build.

    Raises:
        InputError: What it is made from cannot be read, or nothing is left of it.
        SecretsError: Something seems to be secret, and is not allowed.
    """
    key = stage.key(work)
    if found := _kept(stage.name, key, work):
        return Made(stage.name, found, kept=True)
    folder = work.path.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    out, new, before = (folder / f"{stage.name}{end}" for end in ("", ".new", ".before"))
    if not _made_from(new, key):  # else a run was ended between the last two steps
        shutil.rmtree(new, ignore_errors=True)
        stage.build(work, new)
    (new / MADE_FROM).write_text(json.dumps(key, indent=2, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    shutil.rmtree(before, ignore_errors=True)
    if out.exists():
        out.rename(before)
    new.rename(out)
    shutil.rmtree(before, ignore_errors=True)
    return Made(stage.name, _summary(work, stage.name), kept=False)


def looks(path: Path) -> list[list[Any]]:
    """Return the sizes and times of a file, or of all files of a folder: what changes when they do.

    A dump may have a hundred gigabytes, which are not read to see whether they are the same.

    Raises:
        InputError: Nothing is there.
    """
    try:
        files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
        found = [(one.relative_to(path).as_posix(), one.stat()) for one in files]
    except (OSError, ValueError) as error:
        got = (getattr(error, "strerror", None) or "an unusable path").lower()
        raise InputError(f"cannot read {shown_path(path)}", expected="posts", got=got) from None
    return [[name, of.st_size, of.st_mtime_ns] for name, of in found]


def _kept(name: str, key: Mapping[str, Any], work: Work) -> Summary | None:
    try:
        folder = work.folder(name)
        whole = is_whole(name, folder, work.about(name))
        return _summary(work, name) if whole and _made_from(folder, key) else None
    except (InputError, OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _made_from(folder: Path, key: Mapping[str, Any]) -> bool:
    """Tell whether a folder is whole, and was made from the very same."""
    try:
        told = json.loads((folder / MADE_FROM).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return bool(told == json.loads(json.dumps(key)))


def _summary(work: Work, name: str) -> Summary:
    return Summary(dict(work.about(name)["counts"]))
