"""The routes that say what a repository holds."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from tests.hub.server.accounts import opened, visible
from tests.hub.server.cards import front_matter
from tests.hub.server.messages import Answer, RefusedError, Request, answer
from tests.hub.server.repository import Commit, File, Repository

if TYPE_CHECKING:
    from tests.hub.server.hub import TestHub


def info(hub: "TestHub", request: Request, repo: str, revision: str = "main") -> Answer:
    """Describe a repository at a revision."""
    repository = visible(hub, request, repo)
    commit = repository.at(revision)
    blobs = request.says("blobs")
    card = commit.files.get("README.md")
    first = min(repository.commits.values(), key=lambda commit: commit.date)
    told = {
        "_id": hashlib.sha1(repo.encode()).hexdigest()[:24],
        "id": repo,
        "author": repo.split("/")[0],
        "sha": commit.id,
        "createdAt": first.date,
        "lastModified": commit.date,
        "private": repository.private,
        "gated": "manual" if repository.gated else False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "cardData": front_matter(card.data.decode()) if card else {},
        "siblings": [_sibling(path, file, blobs) for path, file in sorted(commit.files.items())],
    }
    return answer(told, headers={"X-Repo-Commit": commit.id})


def _sibling(path: str, file: File, blobs: bool) -> dict[str, Any]:
    if not blobs:
        return {"rfilename": path}
    kept = {"lfs": {"sha256": file.sha256, "size": file.size, "pointerSize": file.pointer}} if file.sha256 else {}
    return {"rfilename": path, "size": file.size, "blobId": file.oid, **kept}


def refs(hub: "TestHub", request: Request, repo: str) -> Answer:
    """Name the branches and tags, and when asked for the pull requests."""
    repository = visible(hub, request, repo)
    told = {"branches": _refs(repository, "refs/heads/"), "tags": _refs(repository, "refs/tags/"), "converts": []}
    if request.says("include_prs"):
        told["pullRequests"] = _refs(repository, "refs/pr/")
    return answer(told)


def _refs(repository: Repository, start: str) -> list[dict[str, str]]:
    return [
        {"name": ref.removeprefix(start), "ref": ref, "targetCommit": commit}
        for ref, commit in sorted(repository.refs.items())
        if ref.startswith(start)
    ]


def commits(hub: "TestHub", request: Request, repo: str, revision: str) -> Answer:
    """List the commits up to a revision, the newest first."""
    repository = visible(hub, request, repo)
    told, commit = [], repository.at(revision)
    while True:
        said = {"title": commit.title, "message": commit.message, "date": commit.date}
        told.append({"id": commit.id, **said, "authors": [{"user": "somebody"}]})
        if commit.parent is None:
            return answer(told)
        commit = repository.commits[commit.parent]


def tree(hub: "TestHub", request: Request, repo: str, revision: str, path: str = "") -> Answer:
    """List the folders and files of a folder, a page at a time."""
    commit = opened(hub, request, repo).at(revision)
    recursive, expand = request.says("recursive"), request.says("expand")
    entries = list(_entries(commit, path, recursive))
    if path and not entries:
        raise RefusedError(404, f"{path} does not exist on {revision}", "EntryNotFound")
    if expand:
        last = {"id": commit.id, "title": commit.title, "date": commit.date}
        entries = [{**entry, "lastCommit": last} for entry in entries]
    start = int(request.query.get("cursor", "0"))
    end = start + hub.page_size
    headers = {"X-Repo-Commit": commit.id}
    if end < len(entries):
        asked = f"recursive={recursive}&expand={expand}&cursor={end}"
        headers["Link"] = f'<{hub.url}{request.path}?{asked}>; rel="next"'
    return answer(entries[start:end], headers=headers)


def _entries(commit: Commit, folder: str, recursive: bool) -> Iterable[dict[str, Any]]:
    """Yield what is in a folder, in the order of the paths."""
    start = f"{folder}/" if folder else ""
    seen: set[str] = set()
    for path, file in sorted(commit.files.items()):
        if not path.startswith(start):
            continue
        names = path.removeprefix(start).split("/")
        for depth in range(1, len(names) if recursive else min(2, len(names))):
            inner = start + "/".join(names[:depth])
            if inner not in seen:
                seen.add(inner)
                yield _folder(inner, commit.files)
        if recursive or len(names) == 1:
            yield _file(path, file)


def _file(path: str, file: File) -> dict[str, Any]:
    kept = {"lfs": {"oid": file.sha256, "size": file.size, "pointerSize": file.pointer}} if file.sha256 else {}
    return {"type": "file", "path": path, "oid": file.oid, "size": file.size, **kept}


def _folder(path: str, files: Mapping[str, File]) -> dict[str, Any]:
    inside = sorted((name, file.oid) for name, file in files.items() if name.startswith(f"{path}/"))
    return {"type": "directory", "path": path, "oid": hashlib.sha1(repr(inside).encode()).hexdigest(), "size": 0}


def paths_info(hub: "TestHub", request: Request, repo: str, revision: str) -> Answer:
    """Describe the files and folders that are asked for, leaving out what does not exist."""
    files = opened(hub, request, repo).at(revision).files
    paths = [path.strip("/") for path in parse_qs(request.body.decode()).get("paths", [])]
    folders = {path for path in paths if any(name.startswith(f"{path}/") for name in files)}
    return answer(
        [
            _file(path, files[path]) if path in files else _folder(path, files)
            for path in paths
            if path in {*files, *folders}
        ]
    )
