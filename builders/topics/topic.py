"""The typed topic: what a topic file says, checked."""

import datetime
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from builders.stackexchange.filters import parse_day
from builders.topics import addresses
from builders.topics.models import Models
from builders.topics.patterns import check_patterns, chooser
from builders.topics.pool import Filters, Pool
from builders.topics.questions import Questions
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.recipe import Model, Sha256, as_tuple
from freshstack_datasets.typed_files.refused import RefusedError, without_secrets

_WORD = "[A-Za-z0-9][A-Za-z0-9_.-]*"
_PART = r"(?!\.\.?(?:/|\Z))[A-Za-z0-9_.-]+"

_BAD_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|//|@\{|^[-/.]|/\.|(\.lock|[/.])(/|$)|\.lock/")
"""What git allows in no tag's name, and a hyphen in front, which a command would take for an option."""


def _matching(pattern: str, expected: str, longest: int = 200) -> AfterValidator:
    """Return a validator of texts that are of a form."""
    form = re.compile(pattern)

    def check(text: str) -> str:
        if len(text) > longest or not form.fullmatch(text):
            raise RefusedError(expected, shown(without_secrets(text)))
        return text

    return AfterValidator(check)


def _line(text: str) -> str:
    if not text.strip() or len(text) > 1_000 or not text.isprintable():
        raise RefusedError("a line of text", shown(text))
    return text


def _tag_name(text: str) -> str:
    if not text or len(text) > 250 or _BAD_REF.search(text):
        raise RefusedError("the name of a tag", shown(text))
    return text


def _url(text: str, info: ValidationInfo) -> str:
    return addresses.checked(text, (info.context or {}).get("folder"))


def _path(text: str, info: ValidationInfo) -> str:
    if "://" in text:
        raise RefusedError("the path of a JSONL file or a folder", "a URL")
    return addresses.checked(text if text.startswith(("/", "~")) else f"./{text}", (info.context or {}).get("folder"))


def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    check_patterns(patterns)
    return patterns


def _pinned_day(value: object) -> object:
    """Take a day as a text too."""
    if isinstance(value, datetime.date):
        return value
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise RefusedError("a day such as 2024-10-24", shown(value))
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise RefusedError("a day that there is", shown(value)) from None


def _first_day(value: object) -> object:
    return _day(value, end=False)


def _last_day(value: object) -> object:
    return _day(value, end=True)


def _day(value: object, *, end: bool) -> object:
    """Take a day, a month or a year as a text, and a year, which YAML reads as a number."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 9999:
        value = f"{value:04}"
    if not isinstance(value, str):
        return value
    try:
        return datetime.date.fromisoformat(parse_day(value, "", end=end))
    except InputError as error:
        raise RefusedError(error.expected, error.got) from None


_Line = Annotated[str, AfterValidator(_line)]
_Prefix = Annotated[str, _matching(_WORD, "letters and digits, with . _ - within")]
_Commit = Annotated[str, _matching("[0-9a-f]{40}|[0-9a-f]{64}", "a whole commit, 40 digits from 0 to f")]
_Patterns = Annotated[tuple[str, ...], BeforeValidator(as_tuple), AfterValidator(_patterns)]
Name = Annotated[str, _matching(f"{_WORD}(/{_WORD})?", "letters and digits, with . _ - within, or owner/name")]
Domain = _Line
Tags = Annotated[tuple[Annotated[_Line, Field(max_length=100)], ...], BeforeValidator(as_tuple)]
FirstDay = Annotated[datetime.date, BeforeValidator(_first_day)]
LastDay = Annotated[datetime.date, BeforeValidator(_last_day)]


class Repository(Model):
    """A repository whose files become documents.

    Args:
        url: Where it is: a URL, ``user@host:path``, or a path, absolute once a file was read.
        name: What it is called, owner and repository with a slash between them.
        commit: The commit to take, whole.
        tag: The tag to take.
        date: The day whose last commit is taken, by the clock of UTC, on the default branch.
        license: Its licence.
        alias: What its documents' ids begin with, in place of the last part of the name.
        include: Patterns of the files to take, see ``patterns.chooser``; all when there are none.
        exclude: Patterns of the files to leave out.
    """

    url: Annotated[str, AfterValidator(_url)]
    name: Annotated[str, _matching(f"{_PART}(/{_PART})+", "owner/repository")]
    commit: _Commit | None = None
    tag: Annotated[str, AfterValidator(_tag_name)] | None = None
    date: Annotated[datetime.date, BeforeValidator(_pinned_day)] | None = None
    license: _Line | None = None
    alias: _Prefix | None = None
    include: _Patterns = ()
    exclude: _Patterns = ()

    @model_validator(mode="after")
    def _is_pinned_once(self) -> Self:
        given = [name for name in ("commit", "tag", "date") if getattr(self, name) is not None]
        if len(given) != 1:
            raise RefusedError("one of commit, tag and date", " and ".join(given) or "none")
        return self

    @property
    def prefix(self) -> str:
        """What the ids of its documents begin with."""
        return self.alias or self.name.rpartition("/")[2]

    def chooser(self) -> Callable[[str], bool]:
        """Return what tells whether a file is taken, by its path inside the repository."""
        return chooser(self.include, self.exclude)


class Documents(Model):
    """Documents that are in no repository: a JSONL file, or a folder.

    Args:
        path: Where they are, absolute once a file was read.
        name: What their ids begin with, in place of the path's last part, without ``.jsonl``.
        license: Their licence.
        include: Patterns of the files of a folder to take, see ``patterns.chooser``; all when there are none.
        exclude: Patterns of the files to leave out.
    """

    path: Annotated[_Line, AfterValidator(_path)]
    name: _Prefix | None = None
    license: _Line | None = None
    include: _Patterns = ()
    exclude: _Patterns = ()

    @model_validator(mode="after")
    def _has_a_prefix(self) -> Self:
        if not re.fullmatch(_WORD, self.prefix):
            raise RefusedError("a name, since that of the path cannot begin an id", shown(self.prefix), "add name: …")
        return self

    @property
    def prefix(self) -> str:
        """What the ids of its documents begin with."""
        return self.name or Path(self.path).name.removesuffix(".jsonl")

    def chooser(self) -> Callable[[str], bool]:
        """Return what tells whether a file is taken, by its path inside the folder."""
        return chooser(self.include, self.exclude)


class Topic(Model):
    """What a benchmark is about and which sources it is made of.

    Args:
        name: What it is called, with the owner of its dataset in front where that is another than ours.
        domain: What it is about, in a few words.
        tags: The tags of its questions, any of which is enough; none lets every question pass.
        first: The first day of its questions.
        last: The last day.
        repositories: What its documents are made of.
        documents: Further documents.
        questions: How questions are chosen.
        models: Which models are asked, as far as it says; a recipe says the rest.
        pool: How the documents to judge are chosen, likewise.
        filter: Which questions are dropped in the end.
        digest: The sha256 of the file's bytes.
    """

    name: Name
    domain: Domain
    tags: Tags
    first: FirstDay | None = Field(None, alias="from")
    last: LastDay | None = Field(None, alias="to")
    repositories: Annotated[tuple[Repository, ...], BeforeValidator(as_tuple)] = ()
    documents: Annotated[tuple[Documents, ...], BeforeValidator(as_tuple)] = ()
    questions: Questions = Questions()
    models: Models = Models()
    pool: Pool = Pool()
    filter: Filters = Filters()
    digest: Sha256

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for told in self._misfits():
            raise told
        return self

    def _misfits(self) -> Iterator[RefusedError]:
        """Yield why members that are fine by themselves do not go together."""
        if self.first and self.last and self.first > self.last:
            yield RefusedError(f"a day from {self.first} on", str(self.last), place=("to",))
        if not self.repositories and not self.documents:
            yield RefusedError("repositories or documents", "neither")
        if place := _again([tag.lower() for tag in self.tags]):
            yield RefusedError("each tag once", shown(self.tags[place]), place=("tags", place))
        sources: list[Repository | Documents] = [*self.repositories, *self.documents]
        if place := _again([source.prefix.lower() for source in sources]):
            yield self._same_prefix(sources[place], place)

    def _same_prefix(self, source: Repository | Documents, place: int) -> RefusedError:
        """Return the error for a source whose documents' ids would begin as those of one before it."""
        number = place - len(self.repositories)
        key, at = ("alias", ("repositories", place)) if number < 0 else ("name", ("documents", number))
        expected = "ids that begin otherwise than those of another source"
        return RefusedError(expected, shown(source.prefix), f"give it a name for its ids: {key}: …", at)


def _again(names: list[str]) -> int:
    """Return the place of the first name that stands further in front too, 0 where there is none."""
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            return place
        seen.add(name)
    return 0
