"""Files as they are downloaded: whole or in ranges, large ones by way of another host."""

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.hub.server.accounts import opened
from tests.hub.server.messages import BYTES, Answer, RefusedError, Request

if TYPE_CHECKING:
    from tests.hub.server.hub import TestHub


def resolve(hub: "TestHub", request: Request, repo: str, revision: str, path: str) -> Answer:
    """Answer with a file, or for a large one with the address where it is."""
    commit = opened(hub, request, repo).at(revision)
    headers = {"X-Repo-Commit": commit.id}
    file = commit.files.get(path)
    if file is None:
        raise RefusedError(404, "Entry not found", "EntryNotFound", headers)
    headers["ETag"] = f'"{file.etag}"'
    if not file.sha256:
        return ranged(request, file.data, headers)
    headers |= {"X-Linked-ETag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
    in_xet = hub.objects.in_xet(file.sha256)
    if in_xet:
        token = f"{hub.url}/api/datasets/{repo}/xet-read-token/{commit.id}"
        headers |= {"X-Xet-Hash": in_xet.hash, "Link": f'<{token}>; rel="xet-auth"'}
    headers["Location"] = f"{hub.other_url}/objects/{file.sha256}?filename={quote(path, safe='')}"
    return Answer(302, headers=headers)


def large_file(hub: "TestHub", request: Request, sha256: str) -> Answer:
    """Answer with a large file; its address is a secret that needs no token."""
    return ranged(request, hub.objects.path(sha256), {"ETag": f'"{sha256}"'})


def ranged(request: Request, source: bytes | Path, headers: dict[str, str]) -> Answer:
    """Answer with all bytes of a source, or those that the request's ``Range`` names."""
    size = source.stat().st_size if isinstance(source, Path) else len(source)
    headers = headers | {"Accept-Ranges": "bytes"}
    asked = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
    if not asked or not (asked[1] or asked[2]):
        return Answer(200, _part(source, 0, size), headers, BYTES)
    if asked[1]:
        start, end = int(asked[1]), min(int(asked[2] or size), size - 1)
    else:
        start, end = max(0, size - int(asked[2])), size - 1
    if start > end:
        return Answer(416, headers=headers | {"Content-Range": f"bytes */{size}"})
    place = {"Content-Range": f"bytes {start}-{end}/{size}"}
    return Answer(206, _part(source, start, end + 1), headers | place, BYTES)


def _part(source: bytes | Path, start: int, end: int) -> bytes:
    if isinstance(source, bytes):
        return source[start:end]
    with source.open("rb") as stream:
        stream.seek(start)
        return stream.read(end - start)
