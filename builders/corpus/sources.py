"""What a corpus is made of: repositories, folders of documents and files of documents, all read the same way."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, unquote, urlsplit

from builders.chunking.pdf import reader
from builders.corpus.files import Files
from builders.corpus.records import Item
from builders.corpus.rows import Rows
from builders.repositories import LARGEST, Checkout, Passed, Pinned, SourceFile, opened
from builders.repositories.folder import Folder
from builders.repositories.lock import Lock, Locked
from builders.topics import Documents, Repository, Topic
from builders.topics.addresses import is_path
from freshstack_datasets.errors import InputError, shown, shown_path

_ENDS = ("md", "markdown", "txt", "html", "htm", "ipynb", "pdf")
READ = tuple("*." + "".join(f"[{letter}{letter.upper()}]" for letter in end) for end in _ENDS)
"""Files of a folder of documents that are read when the topic includes none by name: also ``MANUAL.PDF``."""


class Reading(Protocol):
    """A source that is open."""

    def listed(self) -> Iterator[dict[str, Any]]:
        """Yield what tells where each file or row is, in order; as JSON has it, with its ``path`` for people."""
        ...

    def read(self, listed: Iterable[dict[str, Any]]) -> Iterator[SourceFile | Passed | Item]:
        """Yield some of them."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """A repository or documents, at one state.

    Args:
        told: What the topic says of it.
        commit: The commit, None when it is no repository.
        date: The day of the commit, "" when nobody knows.
        digest: What the content is known by: the commit, or a digest of all files.
        bundles: The folder with its bundle, None when it is no repository.
        locked: What the folder's lock file says of it.
    """

    told: Repository | Documents
    commit: str | None
    date: str
    digest: str
    bundles: Path | None = None
    locked: Locked | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.told.name if isinstance(self.told, Repository) else self.told.prefix

    @property
    def key(self) -> str:
        """All that decides on what is read, as a text."""
        pdf = f" {reader()}" if isinstance(self.told, Documents) else ""
        return f"{self.told.model_dump_json()} {self.digest} {LARGEST} {READ}{pdf}"

    @property
    def address(self) -> str:
        """Where it is, for everybody: what is on this machine is named instead."""
        if isinstance(self.told, Documents) or is_path(self.told.url) or self.told.url.startswith("file:"):
            return self.name
        return self.told.url

    def page(self, path: str) -> str | None:
        """Return where people read a file, None where nobody knows how."""
        home = _on_github(self.told.url) if isinstance(self.told, Repository) else None
        return f"https://github.com/{home}/blob/{self.commit}/{quote(path)}" if home else None

    @contextmanager
    def opened(self) -> Iterator[Reading]:
        """Open it."""
        if isinstance(self.told, Repository):
            with opened(self.told, bundles=self.bundles, locked=self.locked) as checkout:
                yield Files(checkout)
        elif Path(self.told.path).is_dir():
            yield Files(_folder(self.told))
        else:
            yield Rows(Path(self.told.path))


def sources_of(topic: Topic, bundles: Path) -> list[Source]:
    """Return the sources of a topic, in its order.

    Args:
        topic: The topic.
        bundles: A folder that ``fetch`` filled.

    Raises:
        InputError: A repository is not in the folder, or documents cannot be read.
    """
    return [*_repositories(topic.repositories, bundles), *map(_documents, topic.documents)]


def _repositories(repositories: Sequence[Repository], bundles: Path) -> Iterator[Source]:
    lock = Lock.read(bundles) if repositories else Lock({})
    for told in repositories:
        found = lock.of(told)
        if found is None:
            hint = "fetch again: python -m builders fetch TOPIC.yaml --into DIR"
            raise InputError(f"{shown(told.name)} is not in {shown_path(bundles)} as the topic pins it", hint=hint)
        yield Source(told, found.commit, found.date, f"{found.commit} {found.sha256}", bundles, found)


def _documents(told: Documents) -> Source:
    path = Path(told.path)
    if path.is_dir():
        return Source(told, None, "", Folder(path).digest())
    try:
        if path.exists() and not path.is_file():  # reading a pipe might wait for ever
            raise OSError("neither")
        with path.open("rb") as file:
            return Source(told, None, "", f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}")
    except OSError as error:
        got = (error.strerror or str(error)).lower()
        raise InputError(f"cannot read {shown_path(path)}", expected="a folder or a JSONL file", got=got) from None


def _folder(told: Documents) -> Checkout:
    """Return a folder as a repository of the same files."""
    repository = Repository(
        url=told.path,
        name=f"documents/{told.prefix}",
        date=date.min,  # its content is known by its digest, not by a day
        alias=told.prefix,
        license=told.license,
        include=told.include or READ,
        exclude=told.exclude,
    )
    return Checkout(repository, Pinned(told.path, "", "", told.license), Folder(Path(told.path), pdfs=True))


def _on_github(url: str) -> str | None:
    """Return owner and name of a repository on GitHub, None when it is elsewhere."""
    if "://" in url:
        host, path = urlsplit(url).hostname, unquote(urlsplit(url).path)
    else:
        place, _, path = url.partition(":")
        host = place.rpartition("@")[2]
    parts = path.strip("/").removesuffix(".git").split("/")
    if host not in ("github.com", "www.github.com") or len(parts) != 2:
        return None
    return "/".join(map(quote, parts))
