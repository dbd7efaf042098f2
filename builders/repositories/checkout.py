"""The files of one repository, wherever it is: on a server, on this machine, in a bundle, or a plain folder."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from builders.repositories import bundle, keeping
from builders.repositories.address import address_of
from builders.repositories.folder import Folder
from builders.repositories.git import Git
from builders.repositories.local import borrow, repository_at
from builders.repositories.lock import Lock, Locked
from builders.repositories.records import Passed, Pinned, SourceFile
from builders.repositories.remote import Brought, bring
from builders.repositories.rules import Rules, by_content
from builders.repositories.tree import Entry, Missing, Tree
from builders.topics import Repository
from freshstack_datasets.errors import InputError, shown, shown_path

_AT_ONCE = 256
"""Files whose names are looked at together; their contents are still read one at a time."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A pinned state of a repository; nothing of it is written to places of its choosing.

    Args:
        repository: What the topic says of it.
        pinned: Where the files come from.
        source: A folder, or a repository of ours with the commit.
    """

    repository: Repository
    pinned: Pinned
    source: Folder | Brought

    @property
    def how(self) -> str:
        """How it came: ``shallow``, ``clone``, ``local``, ``bundle`` or ``folder``."""
        return "folder" if isinstance(self.source, Folder) else self.source.how

    def files(self) -> Iterator[SourceFile | Passed]:
        """Yield every file in the order of their paths' bytes: with its content, or why it is passed over.

        No more than one content is held at a time.

        Raises:
            InputError: The repository is damaged.
        """
        yield from self.read(self.listed())

    def listed(self) -> Iterator[tuple[Entry, Passed | None]]:
        """Yield every file in the same order, unread, with why it is passed over if its name or mode tells.

        Raises:
            InputError: The repository is damaged.
        """
        rules = Rules.of(self.repository)
        with self._listing() as listing:
            for entry in listing.entries():
                yield entry, rules.by_name(entry)

    def read(self, listed: Iterable[tuple[Entry, Passed | None]]) -> Iterator[SourceFile | Passed]:
        """Yield what ``files`` does, for some of what was ``listed``.

        Raises:
            InputError: The repository is damaged, or is not the one that was listed.
        """
        pdfs = isinstance(self.source, Folder) and self.source.pdfs
        with self._listing() as listing:
            reader, left = listing.reader(), iter(listed)
            while some := list(islice(left, _AT_ONCE)):
                contents = reader.read([entry for entry, passed in some if passed is None])
                for entry, passed in some:
                    yield passed or _read(entry, contents, pdfs)

    def bundled(self, target: Path, work: Path) -> None:
        """Write it as a bundle.

        Args:
            target: The file.
            work: A folder for what has to be made first.
        """
        brought = keeping.keep(self.source, work) if isinstance(self.source, Folder) else self.source
        bundle.write(brought, target)

    def _listing(self) -> Folder | Tree:
        if isinstance(self.source, Folder):
            return self.source
        return Tree(self.source.git, self.source.commit, whole=self.source.whole)


def _read(entry: Entry, contents: Iterator[bytes | Missing], pdfs: bool) -> SourceFile | Passed:
    path, data = entry.path.decode(), next(contents)
    passed = by_content(path, data, pdfs=pdfs)
    if passed is not None or isinstance(data, Missing):
        return passed or Passed(path, "too-large")
    return SourceFile(path, data, "100755" if entry.mode == "100755" else "100644")


@contextmanager
def opened(
    repository: Repository,
    *,
    bundles: Path | None = None,
    locked: Locked | None = None,
    environment: Mapping[str, str] | None = None,
    scratch: Path | None = None,
) -> Iterator[Checkout]:
    """Open a repository at the state that a topic pins.

    Args:
        repository: What the topic says of it.
        bundles: A folder that ``fetch`` filled; no network is then used. Without it, the repository is fetched.
        locked: What the folder's lock file says of it; it is looked up when not given, which takes long in a large one.
        environment: Where tokens for servers are looked for; the process's own when not given.
        scratch: A folder for what is fetched or unpacked; the system's for temporary files when not given.

    Raises:
        InputError: It cannot be had.
    """
    with tempfile.TemporaryDirectory(prefix="freshstack-", dir=scratch) as name:
        work = Path(name)
        yield _from_bundle(repository, bundles, locked, work) if bundles else _found(repository, work, environment)


def _from_bundle(repository: Repository, bundles: Path, locked: Locked | None, work: Path) -> Checkout:
    locked = locked or Lock.read(bundles).of(repository)
    if locked is None:
        hint = "fetch again: python -m builders fetch TOPIC.yaml --into DIR"
        raise InputError(f"{shown(repository.name)} is not in {shown_path(bundles)} as the topic pins it", hint=hint)
    brought = bundle.unpack(locked.checked(bundles), work)
    if brought.commit != locked.commit and not locked.commit.startswith("sha256:"):
        raise InputError(f"the bundle of {shown(repository.name)}", expected=locked.commit, got=brought.commit)
    return Checkout(repository, Pinned(repository.url, locked.commit, locked.date, repository.license), brought)


def _found(repository: Repository, work: Path, environment: Mapping[str, str] | None) -> Checkout:
    address = address_of(repository.url, environment)
    if address.path is None:
        brought = bring(repository, address, work)
    elif not address.path.is_dir():
        raise InputError(f"no folder or repository at {shown_path(address.path)}")
    elif theirs := repository_at(address.path):
        brought = borrow(repository, theirs, work)
    else:
        return _plain(repository, Folder(address.path.absolute()))
    day = _day(brought.git, brought.commit)
    return Checkout(repository, Pinned(repository.url, brought.commit, day, repository.license), brought)


def _plain(repository: Repository, folder: Folder) -> Checkout:
    if repository.date is None:
        pin = "commit" if repository.commit else "tag"
        what = f"{shown_path(folder.path)} is a plain folder, which has no {pin}"
        raise InputError(what, expected="a repository", hint="give the day of its content instead: date: …")
    pinned = Pinned(repository.url, folder.digest(), str(repository.date), repository.license)
    return Checkout(repository, pinned, folder)


def _day(git: Git, commit: str) -> str:
    """Return the day on which a commit was made, UTC, "" where it names none that is possible."""
    second = git.run("rev-list", "--no-commit-header", "--no-walk", "--format=%ct", commit).decode().strip()
    try:
        return datetime.fromtimestamp(int(second), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
