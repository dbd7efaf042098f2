"""What a commit would do: the files of a snapshot against those that a repository holds."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from builders.cards.facts import Facts, Sizes, of_folder
from builders.cards.history import same_but_for_history
from builders.cards.render import written
from builders.publishing.secrets import refuse_secrets
from builders.publishing.stand_ins import refuse_stand_ins
from builders.secrets import Allowed
from freshstack_datasets.errors import SnapshotError, shown_path
from freshstack_datasets.manifest import FILE, Manifest, read_manifest
from freshstack_datasets.verification import Problem, verify

CARD = "README.md"
KEPT = ".gitattributes"
"""The one file of a repository that is not a snapshot's: it tells git which files are large."""


@dataclass(frozen=True)
class LocalFile:
    """A file of a snapshot.

    Args:
        path: Where it goes in the repository.
        size: Its bytes.
        sha256: Their digest.
        source: The file; or its bytes, where no file holds them.
    """

    path: str
    size: int
    sha256: str
    source: Path | bytes

    def git_id(self) -> str:
        """Return what git calls a file with these bytes."""
        digest = hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False)
        if isinstance(self.source, bytes):
            digest.update(self.source)
            return digest.hexdigest()
        with self.source.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()


@dataclass(frozen=True)
class RemoteFile:
    """A file of a repository at a commit.

    Args:
        path: Where it is.
        size: Its bytes.
        git_id: What git calls it.
        sha256: The digest of its bytes where git keeps only a pointer to them, else "".
    """

    path: str
    size: int
    git_id: str
    sha256: str = ""

    def same_as(self, file: LocalFile) -> bool:
        """Return whether it has the bytes of a file."""
        if self.sha256:
            return self.sha256 == file.sha256
        return self.size == file.size and self.git_id == file.git_id()


@dataclass(frozen=True)
class Plan:
    """What a commit does to the files of a repository, each kind in the order of the paths.

    Args:
        adds: Files that are new or get other bytes.
        keeps: Files that are there already with the same bytes.
        deletes: Files of an older snapshot, which go.
    """

    adds: tuple[LocalFile, ...]
    keeps: tuple[LocalFile, ...]
    deletes: tuple[RemoteFile, ...]

    @property
    def changes(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self.adds or self.deletes)

    @property
    def files(self) -> tuple[LocalFile, ...]:
        """What the repository holds afterwards, in the order of the paths."""
        return tuple(sorted((*self.adds, *self.keeps), key=lambda file: file.path))

    @property
    def only_card(self) -> bool:
        """Whether the card is all that it changes."""
        return [file.path for file in self.adds] == [CARD] and not self.deletes

    def nothing(self) -> "Plan":
        """Return the plan for the same files when all of them are there."""
        return Plan((), self.files, ())


@dataclass(frozen=True)
class Prepared:
    """A snapshot that may be published.

    Args:
        folder: Where it is.
        manifest: What it says of itself.
        known: What its card says.
        repository: Where its card says that it is; None for where its name says.
        files: Its files, with the card and its pictures, in the order of their paths.
    """

    folder: Path
    manifest: Manifest
    known: Facts
    repository: str | None
    files: tuple[LocalFile, ...]

    def among(self, snapshots: Mapping[str, Sizes | None]) -> "Prepared":
        """Return the same with a card that lists these snapshots too.

        Args:
            snapshots: What is published already: sizes by name, None where they are not known.
        """
        text, _ = written(self.known.among(snapshots), repository=self.repository)
        card = _text_file(CARD, text.encode())
        return replace(self, files=tuple(card if file.path == CARD else file for file in self.files))

    def same_text(self, path: str, there: bytes) -> bool:
        """Return whether a text that was rendered is what is there, whatever other snapshots a card lists.

        Args:
            path: Where it goes.
            there: The bytes that are there.
        """
        here = next(file.source for file in self.files if file.path == path)
        if path != CARD or not isinstance(here, bytes):
            return here == there
        return same_but_for_history(here.decode(), there.decode("utf-8", "replace"))

    def plan(self, there: Iterable[RemoteFile]) -> Plan:
        """Return what makes the files of a repository those of the snapshot and no others.

        Args:
            there: What the repository holds.
        """
        remote: Mapping[str, RemoteFile] = {file.path: file for file in there if file.path != KEPT}
        kept = {file.path for file in self.files if file.path in remote and remote[file.path].same_as(file)}
        ours = {file.path for file in self.files}
        return Plan(
            adds=tuple(file for file in self.files if file.path not in kept),
            keeps=tuple(file for file in self.files if file.path in kept),
            deletes=tuple(remote[path] for path in sorted(remote.keys() - ours)),
        )


class UnfitError(SnapshotError):
    """A snapshot with problems, which is not published.

    Args:
        folder: Where it is.
        problems: What ``verify`` found.
    """

    exit_code = 1

    def __init__(self, folder: Path, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(
            f"{shown_path(folder)} is not published",
            expected="a snapshot without problems",
            got=f"{len(problems)}, the first {problems[0]}",
            hint="build it again",
        )


def prepare(folder: Path, repository: str | None = None, allowed: Allowed | None = None) -> Prepared:
    """Look into every row of a snapshot, render its card, and return what would be published.

    Args:
        folder: The snapshot's folder.
        repository: Where it goes, ``organization/name``; the dataset's own name when not given.
        allowed: Findings of secrets that are accepted.

    Raises:
        UnfitError: Something is wrong with it.
        SecretsError: Something in its texts seems to be secret, and is not allowed.
        SnapshotError: It is no snapshot, or no language model made its judgments but a stand-in.
        MissingExtraError: A package that cards are made with is not installed.
    """
    if problems := verify(folder):
        raise UnfitError(folder, problems)
    manifest = read_manifest(folder)
    refuse_stand_ins(folder, manifest)
    refuse_secrets(folder, allowed or Allowed())
    known = of_folder(folder)
    card, pictures = written(known, repository=repository)
    texts = {FILE: (folder / FILE).read_bytes(), CARD: card.encode(), **pictures}
    files = [LocalFile(file.path, file.size, file.sha256, folder / file.path) for file in manifest.files()]
    files += [_text_file(path, text) for path, text in texts.items()]
    return Prepared(folder, manifest, known, repository, tuple(sorted(files, key=lambda file: file.path)))


def _text_file(path: str, text: bytes) -> LocalFile:
    return LocalFile(path, len(text), hashlib.sha256(text).hexdigest(), text)
