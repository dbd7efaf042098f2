"""Which function answers which request."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tests.hub.server import accounts, cards, downloads, lfs, reading, writing, xet
from tests.hub.server.messages import Answer, RefusedError, Request

if TYPE_CHECKING:
    from tests.hub.server.hub import TestHub

_REPOSITORY = "/api/datasets/{repo}"
_PIECES = {"repo": "[^/]+/[^/]+", "path": ".+"}
"""What a name in a route may be; others are one piece between slashes."""


def _route(
    method: str, path: str, function: Callable[..., Answer]
) -> tuple[str, re.Pattern[str], Callable[..., Answer]]:
    pieces = re.sub(r"\\{(\w+)\\}", lambda name: f"(?P<{name[1]}>{_PIECES.get(name[1], '[^/]+')})", re.escape(path))
    return method, re.compile(pieces), function


_ROUTES = [
    _route("GET", "/api/whoami-v2", accounts.whoami),
    _route("POST", "/api/validate-yaml", cards.validate),
    _route("POST", "/api/repos/create", writing.create),
    _route("GET", _REPOSITORY, reading.info),
    _route("GET", _REPOSITORY + "/revision/{revision}", reading.info),
    _route("GET", _REPOSITORY + "/refs", reading.refs),
    _route("GET", _REPOSITORY + "/commits/{revision}", reading.commits),
    _route("GET", _REPOSITORY + "/tree/{revision}", reading.tree),
    _route("GET", _REPOSITORY + "/tree/{revision}/{path}", reading.tree),
    _route("POST", _REPOSITORY + "/paths-info/{revision}", reading.paths_info),
    _route("POST", _REPOSITORY + "/preupload/{revision}", writing.preupload),
    _route("POST", _REPOSITORY + "/commit/{revision}", writing.commit),
    _route("POST", _REPOSITORY + "/branch/{name}", writing.create_branch),
    _route("POST", _REPOSITORY + "/tag/{revision}", writing.create_tag),
    _route("DELETE", _REPOSITORY + "/tag/{revision}", writing.delete_tag),
    _route("GET", _REPOSITORY + "/xet-read-token/{revision}", xet.read_token),
    _route("GET", _REPOSITORY + "/xet-write-token/{revision}", xet.write_token),
    _route("POST", "/datasets/{repo}.git/info/lfs/objects/batch", lfs.batch),
    _route("GET", "/datasets/{repo}/resolve/{revision}/{path}", downloads.resolve),
    _route("GET", "/objects/{sha256}", downloads.large_file),
    _route("PUT", "/objects/{sha256}", lfs.put),
    _route("POST", "/objects/{sha256}/verify", lfs.verify),
]


def answered(hub: "TestHub", request: Request) -> Answer:
    """Return the answer to a request; HEAD is answered as GET, of which only the head is sent."""
    method = "GET" if request.method == "HEAD" else request.method
    for known, pattern, function in _ROUTES:
        found = pattern.fullmatch(request.path)
        if found and known == method:
            # a name is decoded after the path is in pieces: the slashes of refs%2Fpr%2F1 are the name's own
            names = {name: unquote(piece) for name, piece in found.groupdict().items()}
            return function(hub, request, **names)
    raise RefusedError(404, f"No such page: {request.method} {request.path}")
