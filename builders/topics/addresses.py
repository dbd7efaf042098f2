"""Where a repository may be: a URL, ``user@host:path``, or a path on this machine; never with a secret in it."""

import os
import re
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from freshstack_datasets.errors import shown
from freshstack_datasets.typed_files.refused import RefusedError

EXPECTED = "https://…, ssh://…, user@host:path, file:///… or a path"

_LONGEST = 1_000
_NAMELESS = ("https", "http", "git")
"""Schemes of a host that is asked without a user's name."""

_UNPRINTED = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_HINT = "put the token into an environment variable named after the host, such as GIT_TOKEN_GITHUB_COM"


def checked(address: str, folder: Path | None = None) -> str:
    """Return the address of a repository, a path as an absolute one.

    As git has it, what has ``://`` is a URL, what has a colon before its first slash is on another host, and all else is
    a path. Other ways that git knows run programs (``ext::…``) and are refused.

    Args:
        address: What somebody wrote.
        folder: Where a relative path starts; it stays relative when not given.

    Raises:
        RefusedError: It is none that git should be given, or there is a name, a password or a token in it, which no message
            repeats.
    """
    if not address or len(address) > _LONGEST:
        raise RefusedError(f"1 to {_LONGEST:,} characters", f"{len(address):,}")
    first = address.partition("/")[0]
    if "::" in first.partition("[")[0] or address.startswith("-"):
        raise RefusedError(EXPECTED, "what git takes for a program or an option")
    if "://" in address:
        _check_url(address)
    elif ":" in first:
        _check_other_host(address)
    else:
        return _path(address, folder)
    if _UNPRINTED.search(address):
        raise RefusedError("an address without spaces and control characters", "one with such")
    return address


def is_path(address: str) -> bool:
    """Tell whether a repository's address is a path on this machine, and no URL.

    Args:
        address: A checked address.
    """
    return "://" not in address and ":" not in address.partition("/")[0]


def _check_url(address: str) -> None:
    try:
        url = urlsplit(address)
        host, _ = url.hostname or "", url.port
    except ValueError:
        raise RefusedError(EXPECTED, "a URL that cannot be read") from None
    if url.scheme not in (*_NAMELESS, "ssh", "file"):
        raise RefusedError(
            EXPECTED, f"{url.scheme}://…" if address.lower().startswith(f"{url.scheme}://") else "another one"
        )
    _check_user(url)
    if url.query or url.fragment or "?" in address or "#" in address:
        raise RefusedError("a URL without ? and #", "one with such", _HINT)
    if url.scheme == "file":
        if host not in ("", "localhost") or not url.path.startswith("/"):
            raise RefusedError("file:///…, of this machine", "another host")
    elif not _HOST.fullmatch(host) or not url.path.strip("/"):
        raise RefusedError("a URL with a host and a path", "none" if not host else "another one")


def _check_user(url: SplitResult) -> None:
    """Refuse a URL with more than the user's name that SSH needs."""
    user, at, _ = url.netloc.rpartition("@")
    named = at and not (url.scheme == "ssh" and _USER.fullmatch(user))
    if named or (url.scheme in _NAMELESS and "@" in url.path):  # a second URL behind the first, from a hasty paste
        raise RefusedError("a URL without a name or a password", "one with such", _HINT)


def _check_other_host(address: str) -> None:
    """Check what is on another host, reached by SSH: ``user@host:path``."""
    place, _, path = address.partition(":")
    user, at, host = place.rpartition("@")
    if "@" in path:
        raise RefusedError("user@host:path without a password", "an @ behind the colon", _HINT)
    if (at and not _USER.fullmatch(user)) or not _HOST.fullmatch(host) or not path or path.startswith("-"):
        raise RefusedError(EXPECTED, "another address")


def _path(address: str, folder: Path | None) -> str:
    if any(not letter.isprintable() for letter in address):
        raise RefusedError("a path that can be printed", shown(address))
    try:
        path = Path(address).expanduser()
    except RuntimeError:
        raise RefusedError("the home of a user of this machine", shown(address)) from None
    return str(path) if folder is None else os.path.normpath(folder / path)
