"""From a server to a repository of ours that holds one commit, with as little as the server can be brought to send.

A commit or tag is fetched alone: no history, no file that is too large. A day is looked up in a history without trees
first. Servers that do none of this (old ones, those of plain files) are cloned whole, which always works.
"""

import re
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import Path

from builders.repositories.address import Address
from builders.repositories.git import FETCH_SECONDS, Git, GitError, new_repository, shown_end
from builders.repositories.records import LARGEST
from builders.topics import Repository
from freshstack_datasets.errors import InputError, shown

SMALL = f"--filter=blob:limit={LARGEST + 1}"
"""Leaves out files with more bytes than ``LARGEST``."""

_PINNED = "refs/pinned"
_NO_REF = "couldn't find remote ref"
_NO_NAME = "ambiguous argument"
_OTHER_NAMES = re.compile("mismatched algorithms|object format")
"""What git says when the server names objects by another digest than the repository that it fetches into."""
_VERSION_2 = b'"key":"negotiated-version","value":"2"'
"""What git writes down when the server spoke this version."""
_EVERYTHING = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


@dataclass(frozen=True, slots=True)
class Brought:
    """A repository of ours that holds a commit.

    Args:
        git: The repository.
        commit: The commit.
        how: How it came: ``shallow``, ``clone``, ``local``, ``bundle`` or ``folder``.
    """

    git: Git
    commit: str
    how: str

    @property
    def whole(self) -> bool:
        """Whether every file ought to be there, since none was left out for its size."""
        return self.how not in ("shallow", "bundle")


def bring(repository: Repository, address: Address, work: Path) -> Brought:
    """Fetch what a topic pins.

    Args:
        repository: The repository and its pin.
        address: Where it is.
        work: A folder for what is fetched.

    Raises:
        InputError: The server does not give it.
    """
    fetcher = _Fetcher(repository, address, work, "sha256" if len(repository.commit or "") == 64 else "sha1")
    try:
        try:
            return fetcher.brought()
        except GitError as refused:
            if repository.commit or not _OTHER_NAMES.search(refused.said):
                raise
            return replace(fetcher, form="sha256").brought()
    except GitError as error:
        raise fetcher.failed(error) from None


@dataclass(frozen=True, slots=True)
class _Fetcher:
    repository: Repository
    address: Address
    work: Path
    form: str

    def brought(self) -> Brought:
        """Fetch what is pinned alone, or everything from a server that does not give that."""
        try:
            return self.of_day() if self.repository.date is not None else self.shallow()
        except GitError as refused:
            if (_NO_REF in refused.said and self.repository.commit is None) or self._lacks_commit(refused):
                raise no_such(self.repository) from None
            if refused.late or _OTHER_NAMES.search(refused.said):
                raise
            first = refused
        try:
            return self.clone()
        except GitError as error:
            raise (error if error.late else first) from None

    def _lacks_commit(self, refused: GitError) -> bool:
        """Return whether a server is sure not to have the commit, so that all its history would not have it either.

        By version 2 of the protocol it gives any commit that it has. An older one may have it, and only not give it.
        """
        if not self.repository.commit or f"not our ref {self.repository.commit}" not in refused.said:
            return False
        return _VERSION_2 in self._trace().read_bytes()

    def _trace(self) -> Path:
        return self.work / "trace"

    def shallow(self, commit: str | None = None) -> Brought:
        """Fetch one commit with its files, and nothing else."""
        commit = commit or self.repository.commit
        wanted = commit or f"refs/tags/{self.repository.tag}"
        git = self._fetched("shallow", "--depth=1", SMALL, refs=[f"+{wanted}:{_PINNED}"])
        return Brought(git, commit_of(git, commit or _PINNED, self.repository), "shallow")

    def of_day(self) -> Brought:
        """Fetch the history alone, look up the day's commit, and fetch that."""
        history = self._fetched("history", "--filter=tree:0", refs=[f"+HEAD:{_PINNED}"])
        commit = at_day(history, _PINNED, self.repository)
        try:
            history.run("cat-file", "-e", f"{commit}^{{tree}}")
        except GitError:
            return self.shallow(commit)
        return Brought(history, commit, "clone")  # the server sent everything, asked or not

    def clone(self) -> Brought:
        """Fetch all branches and tags with everything in them."""
        refs = [*_EVERYTHING, *([f"+HEAD:{_PINNED}"] if self.repository.date else [])]
        git = self._fetched("clone", refs=refs)
        return Brought(git, pinned(git, self.repository, _PINNED), "clone")

    def _fetched(self, name: str, *options: str, refs: list[str]) -> Git:
        """Fetch into a new repository, which forgets where it came from, so that nothing can be fetched later."""
        shutil.rmtree(self.work / name, ignore_errors=True)
        bare = new_repository(self.work / name, self.form)
        settings = (bare.folder / "config").read_bytes()
        self._trace().unlink(missing_ok=True)
        there = Git(
            bare.folder, self.address.protocol, self.address.header, self.address.secrets, str(self._trace().absolute())
        )
        plain = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance")
        there.run("fetch", *plain, "--update-shallow", *options, "--", self.address.url, *refs, seconds=FETCH_SECONDS)
        (bare.folder / "config").write_bytes(settings)
        return bare

    def failed(self, error: GitError) -> InputError:
        """Return the error for people."""
        hint = "check the address, the pin and, where it is not public, the token in the environment"
        if "Could not resolve host" in error.said:
            hint = "check the address and the network; corpus --sources needs none, with what fetch brought elsewhere"
        hint = "try again later" if error.late else hint
        return InputError(f"cannot fetch {shown(self.address.url)}", got=shown_end(error.said), hint=hint)


def pinned(git: Git, repository: Repository, branch: str) -> str:
    """Return the commit that a topic pins in a repository with all its history.

    Args:
        git: The repository.
        repository: The pin.
        branch: The branch on which a day is looked up.

    Raises:
        InputError: There is none.
    """
    if repository.date is not None:
        return at_day(git, branch, repository)
    return commit_of(git, repository.commit or f"refs/tags/{repository.tag}", repository)


def commit_of(git: Git, name: str, repository: Repository) -> str:
    """Return the commit that a name stands for.

    Raises:
        InputError: There is none.
    """
    try:
        found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode().strip()
    except GitError:
        raise no_such(repository) from None
    if repository.commit and found != repository.commit:  # the name of a tag's own object
        raise no_such(repository)
    return found


def no_such(repository: Repository) -> InputError:
    """Return the error for a commit, a tag or a default branch that a repository does not have."""
    if repository.date is not None:
        hint = "pin a commit or a tag, if it is not empty"
        return InputError(f"{shown(repository.url)} has no default branch to look up a day in", hint=hint)
    kind = "commit" if repository.commit else "tag"
    return InputError(f"{shown(repository.url)} has no {kind} {shown(repository.commit or repository.tag)}")


def at_day(git: Git, branch: str, repository: Repository) -> str:
    """Return the last commit of a branch at the end of a day, UTC.

    Only commits that were the branch's own tip count: what a merge brought later was not there on the day.

    Raises:
        InputError: The branch has no commit of that time.
    """
    day = repository.date or date.max
    after = datetime.combine(day, time.max, UTC)
    walk = ("rev-list", "--first-parent", "--max-count=1", f"--min-age={int(after.timestamp())}")
    try:
        found = git.run(*walk, "--end-of-options", branch).decode().strip()
    except GitError as error:
        raise no_such(repository) if _NO_NAME in error.said else error from None
    if not found:
        is_cut = git.run("rev-parse", "--is-shallow-repository").strip() == b"true"
        hint = "its history is cut, as that of a shallow clone: take a whole one" if is_cut else ""
        raise InputError(f"{shown(repository.url)} has no commit at or before the end of {day}, UTC", hint=hint)
    return found
