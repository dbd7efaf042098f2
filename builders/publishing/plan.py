"""What a commit would do: the files of a snapshot against those that a repository holds."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from builders.cards.render import render
from freshstack_datasets.errors import SnapshotError, shown, shown_path
from freshstack_datasets.manifest import FILE, Manifest, read_manifest
from freshstack_datasets.verification import Problem, verify

CARD = "README.md"
KEPT = ".gitattributes"
"""The one file of a repository that is not a snapshot's: it tells git which files are large."""

_STAND_IN = re.compile(r"(stand-in|fake)(?![a-z0-9])", re.IGNORECASE)


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

    def nothing(self) -> "Plan":
        """Return the plan for the same files when all of them are there."""
        return Plan((), tuple(sorted((*self.adds, *self.keeps), key=lambda file: file.path)), ())


@dataclass(frozen=True)
class Prepared:
    """A snapshot that may be published.

    Args:
        folder: Where it is.
        manifest: What it says of itself.
        files: Its files, with the card and its pictures, in the order of their paths.
    """

    folder: Path
    manifest: Manifest
    files: tuple[LocalFile, ...]

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


def prepare(folder: Path, repository: str | None = None) -> Prepared:
    """Look into every row of a snapshot, render its card, and return what would be published.

    Args:
        folder: The snapshot's folder.
        repository: Where it goes, ``organization/name``; the dataset's own name when not given.

    Raises:
        UnfitError: Something is wrong with it.
        SnapshotError: It is no snapshot, or no language model made its judgments but a stand-in.
        MissingExtraError: A package that cards are made with is not installed.
    """
    if problems := verify(folder):
        raise UnfitError(folder, problems)
    manifest = read_manifest(folder)
    _refuse_stand_ins(folder, manifest)
    card, pictures = render(folder, repository=repository)
    texts = {FILE: (folder / FILE).read_bytes(), CARD: card.encode(), **pictures}
    files = [LocalFile(file.path, file.size, file.sha256, folder / file.path) for file in manifest.files()]
    files += [LocalFile(path, len(text), hashlib.sha256(text).hexdigest(), text) for path, text in texts.items()]
    return Prepared(folder, manifest, tuple(sorted(files, key=lambda file: file.path)))


def _refuse_stand_ins(folder: Path, manifest: Manifest) -> None:
    """Refuse a snapshot that says of a model that it is none."""
    for stage, model in sorted(manifest.recipe.models.items()):
        if _STAND_IN.match(model):
            raise SnapshotError(
                f"{shown_path(folder)} is not published",
                expected="one that language models made",
                got=f"the stand-in {shown(model)} as the model of {shown(stage)}",
                hint="build it with a real model; a stand-in is for trying out the steps",
            )
