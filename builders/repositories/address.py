"""Where a repository is, as git is told, and the token for its host."""

import base64
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from builders.topics import addresses
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.typed_files.refused import RefusedError

TOKEN = "GIT_TOKEN"
"""How the names of the environment variables with tokens begin."""

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a repository is.

    Args:
        url: What git is given, "" for something on this machine.
        path: Where it is on this machine, None when it is elsewhere.
        protocol: What git may speak, "" on this machine.
        header: A line for HTTP with the token, "" without one; never shown.
        secrets: What must not be seen in any text.
    """

    url: str = ""
    path: Path | None = None
    protocol: str = ""
    header: str = field(default="", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def address_of(url: str, environment: Mapping[str, str] | None = None) -> Address:
    """Return where a repository is, with the token for its host.

    A token is ``user:token``, or the token alone; the user is then ``x-access-token``, which GitHub asks for and others
    do not mind. ``file://`` is read as a path, without the program that serves repositories to others.

    Args:
        url: What the topic gives.
        environment: Where tokens are looked for; the process's own when not given.

    Raises:
        InputError: It is no address that is taken, or its token cannot be sent there.
    """
    try:
        addresses.checked(url)
    except RefusedError as error:
        raise InputError("a repository's url", expected=error.expected, got=error.got, hint=error.hint) from None
    if addresses.is_path(url):
        return Address(path=Path(url).expanduser())
    if "://" not in url:
        return Address(url, protocol="ssh")
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Address(path=Path(unquote(parts.path)))
    host = parts.hostname or ""
    token = (os.environ if environment is None else environment).get(variable_of(host), "").strip()
    if not token or parts.scheme not in ("https", "http"):
        return Address(url, protocol=parts.scheme)
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise InputError(f"a token for {shown(url)}", expected="https://, which nobody can listen to", got="http://")
    return _with_token(url, parts.scheme, token, variable_of(host))


def _with_token(url: str, scheme: str, token: str, variable: str) -> Address:
    if not (token.isprintable() and token.isascii()):
        raise InputError(f"the token in {variable}", expected="letters, digits and signs on one line")
    pair = token if ":" in token else f"x-access-token:{token}"
    coded = base64.b64encode(pair.encode()).decode()
    secrets = (coded, pair, pair.partition(":")[2])
    return Address(url, None, scheme, f"Authorization: Basic {coded}", tuple(text for text in secrets if text))


def host_of(url: str) -> str:
    """Return the host that is asked for a repository, "" when it is on this machine."""
    if addresses.is_path(url) or url.startswith("file:"):
        return ""
    if "://" in url:
        return urlsplit(url).hostname or ""
    return url.partition(":")[0].rpartition("@")[2].lower()


def variable_of(host: str) -> str:
    """Return the name of the environment variable that holds the token for a host, and for no other one.

    It ends with the host in capital letters, with ``_`` for a dot or a colon and ``__`` for a hyphen:
    ``GIT_TOKEN_GITHUB_COM``.
    """
    return f"{TOKEN}_{re.sub(r'[^A-Z0-9_]', '_', host.upper().replace('-', '__'))}"
