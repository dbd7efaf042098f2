"""Upload of large files without xet: git's batch protocol, then one PUT an object."""

from typing import TYPE_CHECKING, Any

from tests.hub.server.accounts import sending
from tests.hub.server.messages import Answer, RefusedError, Request, answer

if TYPE_CHECKING:
    from tests.hub.server.hub import TestHub


def batch(hub: "TestHub", request: Request, repo: str) -> Answer:
    """Say where each object goes; one that is here needs no upload."""
    sending(hub, request, repo)
    objects: list[dict[str, Any]] = []
    for asked in request.json()["objects"]:
        sha256 = asked["oid"]
        objects.append({"oid": sha256, "size": asked["size"], "authenticated": True})
        if hub.objects.size(sha256) is None:
            there = f"{hub.other_url}/objects/{sha256}"
            objects[-1]["actions"] = {"upload": {"href": there}, "verify": {"href": f"{there}/verify"}}
    return answer({"transfer": "basic", "objects": objects}, kind="application/vnd.git-lfs+json")


def put(hub: "TestHub", request: Request, sha256: str) -> Answer:
    """Keep an object."""
    hub.objects.add(request.body, sha256)
    return Answer()


def verify(hub: "TestHub", request: Request, sha256: str) -> Answer:
    """Say whether an object arrived whole."""
    if hub.objects.size(sha256) != request.json()["size"]:
        raise RefusedError(404, f"No object {sha256} of that size")
    return Answer()
