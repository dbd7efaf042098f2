"""The routes that make and change repositories."""

import base64
import json
from typing import TYPE_CHECKING, Any

from tests.hub.server.accounts import account, writable
from tests.hub.server.messages import Answer, RefusedError, Request, answer
from tests.hub.server.repository import LARGE, File, Repository, is_large, large, regular

if TYPE_CHECKING:
    from tests.hub.server.hub import TestHub


def create(hub: "TestHub", request: Request) -> Answer:
    """Make a repository."""
    who, asked = account(hub, request), request.json()
    if asked.get("type") != "dataset":
        raise RefusedError(400, "Only datasets are kept here")
    name = f"{asked.get('organization') or (who.name if who else '')}/{asked['name']}"
    if not (who and who.role == "write" and who.owns(name)):
        raise RefusedError(
            403 if who else 401, f"You don't have the rights to create a dataset under {name.split('/')[0]}"
        )
    told = {"url": f"{hub.url}/datasets/{name}", "name": name}
    if name in hub.repos:
        return answer({**told, "error": "You already created this dataset repo"}, 409)
    hub.repos[name] = Repository(name, private=asked.get("visibility") == "private")
    return answer(told)


def preupload(hub: "TestHub", request: Request, repo: str, revision: str) -> Answer:
    """Say how each file is to be sent, and what stands at its path now."""
    files = writable(hub, request, repo).at(revision).files
    told = [
        {
            "path": asked["path"],
            "uploadMode": "lfs" if is_large(asked["path"], asked["size"]) else "regular",
            "shouldIgnore": False,
            "oid": files[asked["path"]].etag if asked["path"] in files else None,
        }
        for asked in request.json()["files"]
    ]
    return answer({"files": told})


def commit(hub: "TestHub", request: Request, repo: str, revision: str) -> Answer:
    """Add one commit to a branch, or open a pull request with it; all of it or nothing."""
    repository = writable(hub, request, repo)
    head, adds, deletes = _operations(hub, request.body)
    base, ref = repository.at(revision), repository.ref(revision)
    if not base.id.startswith(head.get("parentCommit") or ""):
        raise RefusedError(412, "A commit has happened since. Please refresh and try again.")
    if not request.says("create_pr") and (ref is None or ref.startswith("refs/tags/")):
        raise RefusedError(400, f"Invalid ref: {revision}: you can only commit to a branch")
    files = repository.changed(base, adds, deletes)
    page = f"{hub.url}/datasets/{repo}"
    told: dict[str, Any] = {"success": True, "hookOutput": ""}
    if request.says("create_pr"):
        ref = repository.new_pull_request(base.id)
        told["pullRequestUrl"] = f"{page}/discussions/{ref.rpartition('/')[2]}"
    made = repository.add(str(ref), files, head["summary"], head.get("description", ""))
    return answer({**told, "commitOid": made, "commitUrl": f"{page}/commit/{made}"})


def _operations(hub: "TestHub", body: bytes) -> tuple[dict[str, Any], dict[str, File], list[str]]:
    """Return a commit's head, the files that it adds and the paths that it deletes, from its lines of JSON."""
    head: dict[str, Any] = {}
    adds: dict[str, File] = {}
    deletes: list[str] = []
    for line in body.splitlines():
        said = json.loads(line)
        kind, value = said["key"], said["value"]
        if kind == "header":
            head = value
        elif kind == "file":
            adds[value["path"]] = _regular(value)
        elif kind == "lfsFile":
            adds[value["path"]] = _large(hub, value)
        elif kind in ("deletedFile", "deletedFolder"):
            deletes.append(value["path"].rstrip("/") + ("/" if kind == "deletedFolder" else ""))
        else:
            raise RefusedError(400, f"Unknown operation: {kind}")
    if not head.get("summary"):
        raise RefusedError(400, "A commit needs a summary")
    return head, adds, deletes


def _regular(value: dict[str, Any]) -> File:
    data = base64.b64decode(value["content"])
    if len(data) > LARGE:
        raise RefusedError(400, f"{value['path']}: files larger than 10 MiB are uploaded as large ones")
    return regular(data)


def _large(hub: "TestHub", value: dict[str, Any]) -> File:
    size = hub.objects.size(value["oid"])
    if size is None:
        raise RefusedError(400, f"{value['path']}: the pointer is to a file that nobody uploaded")
    return large(value["oid"], size)


def create_branch(hub: "TestHub", request: Request, repo: str, name: str) -> Answer:
    """Begin a new branch at a revision."""
    writable(hub, request, repo).branch(name, request.json().get("startingPoint") or "main")
    return answer({})


def create_tag(hub: "TestHub", request: Request, repo: str, revision: str) -> Answer:
    """Let a new tag point at a revision."""
    writable(hub, request, repo).tag(request.json()["tag"], revision)
    return answer({})


def delete_tag(hub: "TestHub", request: Request, repo: str, revision: str) -> Answer:
    """Delete a tag."""
    writable(hub, request, repo).untag(revision)
    return answer({})
