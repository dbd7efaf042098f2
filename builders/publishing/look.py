"""What a dataset repository of the Hub holds, as seen from one commit."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from builders.publishing.plan import CARD, RemoteFile
from freshstack_datasets.errors import HubError, SnapshotError
from freshstack_datasets.manifest import FILE, Manifest, parse_manifest

if TYPE_CHECKING:
    from huggingface_hub import HfApi

MAIN = "main"
_PULL_REQUEST = "refs/pr/"
_MOST = 16_000_000
"""Bytes of a ``snapshot.json`` or of a card; what is larger is none."""


@dataclass(frozen=True)
class Seen:
    """A repository at one moment.

    Args:
        head: The newest commit of main.
        files: What main holds at that commit.
        branches: The branches and the commits that they point at.
        tags: The same of the tags.
        pull_requests: The same of the pull requests' numbers; empty unless they were asked for.
    """

    head: str
    files: tuple[RemoteFile, ...]
    branches: dict[str, str]
    tags: dict[str, str]
    pull_requests: dict[int, str]


@dataclass(frozen=True)
class Repository:
    """A dataset repository of the Hub.

    Args:
        name: ``organization/name``.
        api: The client that asks.
    """

    name: str
    api: "HfApi"
    _manifests: dict[str, Manifest | None] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Those that were asked for, by commit: a commit never changes."""

    @property
    def address(self) -> str:
        """Where people look at it."""
        return f"{self.api.endpoint}/datasets/{self.name}"

    def look(self, *, pull_requests: bool = False) -> Seen | None:
        """Return what it holds, None when there is none that this token may see.

        Args:
            pull_requests: Whether to list them too.
        """
        from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

        try:
            refs = self.api.list_repo_refs(self.name, repo_type="dataset", include_pull_requests=pull_requests)
        except GatedRepoError:
            raise
        except RepositoryNotFoundError:
            return None
        branches = {branch.name: branch.target_commit for branch in refs.branches}
        if MAIN not in branches:
            raise HubError(f"{self.name} has no branch {MAIN}", hint=f"make it anew at {self.address}")
        return Seen(
            head=branches[MAIN],
            files=self.files(branches[MAIN]),
            branches=branches,
            tags={tag.name: tag.target_commit for tag in refs.tags},
            pull_requests={
                int(found.ref.removeprefix(_PULL_REQUEST)): found.target_commit
                for found in refs.pull_requests or []
                if found.ref.removeprefix(_PULL_REQUEST).isdecimal()
            },
        )

    def is_private(self) -> bool:
        """Return whether only its owners see it."""
        return bool(self.api.dataset_info(self.name).private)

    def files(self, commit: str) -> tuple[RemoteFile, ...]:
        """Return the files of a commit."""
        from huggingface_hub.hf_api import RepoFile

        tree = self.api.list_repo_tree(self.name, recursive=True, revision=commit, repo_type="dataset")
        return tuple(
            RemoteFile(file.path, file.size, file.blob_id, file.lfs.sha256 if file.lfs else "")
            for file in tree
            if isinstance(file, RepoFile)
        )

    def manifest(self, commit: str) -> Manifest | None:
        """Return what the snapshot of a commit says of itself, None when the commit holds no snapshot."""
        if commit not in self._manifests:
            content = self._read(FILE, commit)
            try:
                self._manifests[commit] = parse_manifest(content) if content is not None else None
            except SnapshotError:
                self._manifests[commit] = None
        return self._manifests[commit]

    def card(self, commit: str) -> bytes:
        """Return the card of a commit, nothing when it has none."""
        return self._read(CARD, commit) or b""

    def _read(self, path: str, commit: str) -> bytes | None:
        """Return the beginning of a file of a commit, None when there is none."""
        from huggingface_hub.errors import RemoteEntryNotFoundError

        with tempfile.TemporaryDirectory() as folder:
            try:
                file = self.api.hf_hub_download(self.name, path, repo_type="dataset", revision=commit, cache_dir=folder)
            except RemoteEntryNotFoundError:
                return None
            with Path(file).open("rb") as stream:
                return stream.read(_MOST + 1)
