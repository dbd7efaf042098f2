"""One dataset repository: its files at each commit, and the branches, tags and pull requests that point at commits."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tests.hub.server.messages import RefusedError

GIT_ATTRIBUTES = "*.parquet filter=lfs diff=lfs merge=lfs -text\n*.gz filter=lfs diff=lfs merge=lfs -text\n"
"""What a new repository holds; a real one names more endings."""
LARGE_ENDINGS = (".parquet", ".gz")
LARGE = 10 * 1024 * 1024
"""Bytes above which every file is kept as a large one."""

_NO_REF = re.compile(r"^[./-]|\.\.|[\x00-\x20~^:?*\[\\]|@\{|/$|\.lock$|//|^refs/")


def is_large(path: str, size: int) -> bool:
    """Return whether a file is kept by its content's digest, with a pointer to it in git."""
    return size > LARGE or path.lower().endswith(LARGE_ENDINGS)


def blob_id(data: bytes) -> str:
    """Return git's id of a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass(frozen=True)
class File:
    """A file at a commit: its bytes, or for a large one (``sha256``) only what it is found by."""

    oid: str
    size: int
    data: bytes = b""
    sha256: str = ""
    pointer: int = 0

    @property
    def etag(self) -> str:
        """What tells its contents from others'."""
        return self.sha256 or self.oid


def regular(data: bytes) -> File:
    """Return a file that git itself keeps."""
    return File(blob_id(data), len(data), data)


def large(sha256: str, size: int) -> File:
    """Return a file of which git keeps a pointer only."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()
    return File(blob_id(pointer), size, sha256=sha256, pointer=len(pointer))


@dataclass(frozen=True)
class Commit:
    """All files of a repository at one time."""

    id: str
    parent: str | None
    title: str
    message: str
    date: str
    files: Mapping[str, File]


@dataclass
class Repository:
    """A dataset repository. ``refs`` holds full names: ``refs/heads/main``, ``refs/tags/2026-10``, ``refs/pr/1``."""

    name: str
    private: bool = False
    gated: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.add("refs/heads/main", {".gitattributes": regular(GIT_ATTRIBUTES.encode())}, "initial commit")

    @property
    def tags(self) -> dict[str, str]:
        """The tags' names and the commits that they point at."""
        start = "refs/tags/"
        return {ref.removeprefix(start): commit for ref, commit in self.refs.items() if ref.startswith(start)}

    @property
    def head(self) -> str:
        """The newest commit of main."""
        return self.refs["refs/heads/main"]

    def add(self, ref: str, files: Mapping[str, File], title: str, message: str = "") -> str:
        """Add a commit that holds exactly these files, let a ref point at it, and return its id."""
        parent = self.refs.get(ref)
        date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        told = [len(self.commits), parent, title, message, date, sorted((path, f.oid) for path, f in files.items())]
        commit = hashlib.sha1(json.dumps(told).encode()).hexdigest()
        self.commits[commit] = Commit(commit, parent, title, message, date, dict(files))
        self.refs[ref] = commit
        return commit

    def ref(self, revision: str) -> str | None:
        """Return the full name of a branch, a tag or a ref, None when there is none."""
        revision = "main" if revision == "HEAD" else revision
        full = (f"refs/heads/{revision}", f"refs/tags/{revision}", revision)
        return next((ref for ref in full if ref in self.refs), None)

    def at(self, revision: str) -> Commit:
        """Return the commit of a branch, a tag, a ref, or an id or its beginning."""
        ref = self.ref(revision)
        if ref:
            return self.commits[self.refs[ref]]
        if re.fullmatch("[0-9a-f]{7,40}", revision):
            found = [commit for commit in self.commits if commit.startswith(revision)]
            if len(found) == 1:
                return self.commits[found[0]]
        raise RefusedError(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    def changed(self, commit: Commit, adds: Mapping[str, File], deletes: Collection[str]) -> dict[str, File]:
        """Return the files of a commit after some were deleted (a folder ends with ``/``) and some added."""
        files = dict(commit.files)
        for path in deletes:
            gone = [name for name in files if name == path or (path.endswith("/") and name.startswith(path))]
            if not gone:
                raise RefusedError(404, f"A file with the name {path} does not exist", "EntryNotFound")
            for name in gone:
                del files[name]
        return {**files, **adds}

    def new_pull_request(self, commit: str) -> str:
        """Open a pull request that begins at a commit, and return its ref."""
        number = 1 + sum(ref.startswith("refs/pr/") for ref in self.refs)
        self.refs[f"refs/pr/{number}"] = commit
        return f"refs/pr/{number}"

    def tag(self, name: str, revision: str) -> None:
        """Let a new tag point at the commit of a revision."""
        self._new_ref(f"refs/tags/{name}", name, revision)

    def branch(self, name: str, revision: str) -> None:
        """Let a new branch begin at the commit of a revision."""
        self._new_ref(f"refs/heads/{name}", name, revision)

    def _new_ref(self, ref: str, name: str, revision: str) -> None:
        commit = self.at(revision).id
        if _NO_REF.search(name):
            raise RefusedError(400, f"Invalid reference: {name}")
        if ref in self.refs:
            raise RefusedError(409, f"Reference exists already: {ref}")
        self.refs[ref] = commit

    def untag(self, name: str) -> None:
        """Delete a tag."""
        if f"refs/tags/{name}" not in self.refs:
            raise RefusedError(404, f"Tag doesn't exist: {name}", "RevisionNotFound")
        del self.refs[f"refs/tags/{name}"]

    def replace_file(self, revision: str, path: str, file: File | None) -> None:
        """Change a file (None: remove it) within a commit that stays what it is called, which no client can do."""
        commit = self.at(revision)
        files = {name: kept for name, kept in commit.files.items() if name != path} | ({path: file} if file else {})
        self.commits[commit.id] = replace(commit, files=files)
