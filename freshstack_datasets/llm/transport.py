"""Calls over HTTP: sent once, bounded in time and size, and with a key that nothing but the server gets to see."""

import asyncio
import contextlib
import ipaddress
import logging
import os
import re
import zlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from freshstack_datasets.errors import EndpointError, InputError, MissingExtraError, shown
from freshstack_datasets.llm.records import Request
from freshstack_datasets.llm.seams import Raw, Unanswered

if TYPE_CHECKING:
    import httpx2

LARGEST_BODY = 16 * 2**20
"""Bytes of an answer, unpacked; a chat takes some thousand, 64 embeddings of 4,096 numbers six million."""
CONNECT = 15.0
"""Seconds to wait for a connection."""
_HIDDEN = 12
"""Characters from which on a key is a secret, and is looked for in what servers say: stand-ins are called "none"."""
_STEP = 2**18
_LOGGER = "httpcore2.http11"


class Key:
    """A key as the environment holds it, which shows itself to no one.

    Args:
        variable: The name of the environment's variable; no key when empty.

    Raises:
        InputError: Its value cannot be a key.
    """

    __slots__ = ("_value", "variable")

    def __init__(self, variable: str) -> None:
        self.variable = variable
        self._value = os.environ.get(variable, "").strip() if variable else ""
        if not (self._value.isascii() and self._value.isprintable()):
            raise InputError(f"the key in {variable}", expected="printable ASCII", got="something else, not shown")

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return f"Key({self.variable!r}, {'set' if self._value else 'not set'})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written anywhere")

    def prove(self, request: "httpx2.Request") -> "httpx2.Request":
        """Write into a request who asks."""
        if self._value:
            request.headers["authorization"] = f"Bearer {self._value}"
        return request

    def hide(self, text: str) -> str:
        """Return a text without the key, should it be in there."""
        return text.replace(self._value, "[key]") if len(self._value) >= _HIDDEN else text

    def hide_bytes(self, body: bytes) -> bytes:
        """Return the same of a body, before anybody looks into it."""
        return body.replace(self._value.encode(), b"[key]") if len(self._value) >= _HIDDEN else body

    def filter(self, record: logging.LogRecord) -> bool:
        """Take the key out of what a library logs: it logs the headers of answers, and a server may repeat the key."""
        record.msg, record.args = self.hide(record.getMessage()), None
        return True


class Http:
    """A server that speaks as OpenAI's does.

    The key is sent to the base URL's host alone: redirects are not followed, and a host on this machine is asked
    without the environment's proxies.

    Args:
        base_url: Where it is, such as ``http://localhost:8080/v1``.
        key_from: The environment's variable that holds the key; none is sent when it is not set.
        timeout: Seconds that one call may take, from connecting to the last byte.
        connections: The most connections at once.

    Raises:
        InputError: The base URL is none.
    """

    stand_in = False

    def __init__(self, base_url: str, key_from: str, timeout: float, connections: int) -> None:
        self.endpoint, self.local, self._plain = _checked(base_url)
        self._key = Key(key_from)
        if not 0 < timeout < float("inf"):
            raise InputError("seconds for a call", expected="a number above 0", got=shown(timeout))
        self._timeout, self._connections = timeout, connections
        self._client: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def warning(self) -> str:
        """What people should know before anything is sent; mostly nothing."""
        if self.local or not self._plain:
            return ""
        what = "the key and all that is asked travel" if self._key else "all that is asked travels"
        return f"{what} to {self.endpoint} in the clear, since it is http and not https"

    @property
    def keyless(self) -> str:
        """What people should know before anything is sent where the key that is named is not there; mostly nothing."""
        if self.local or self._key or not self._key.variable:
            return ""
        return f"no key is sent to {self.endpoint}, since {self._key.variable} is not set"

    def hide(self, text: str) -> str:
        """Return a text without the key, should it be in there."""
        return self._key.hide(text)

    async def send(self, request: Request) -> Raw:
        """Send a call once and return what came back, of whatever status.

        Raises:
            EndpointError: No call can be answered.
            Unanswered: This one was not.
            MissingExtraError: httpx2 is not installed.
        """
        try:
            import httpx2
        except ImportError:
            raise MissingExtraError("httpx2", "llm") from None
        body = request.body
        try:
            async with asyncio.timeout(self._timeout):
                return await self._exchange(self.endpoint + request.path, body)
        except (TimeoutError, httpx2.ReadTimeout, httpx2.WriteTimeout):
            raise Unanswered("timeout", f"no whole answer within {self._timeout:g} s") from None
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                hint = "name the file of your own authorities in SSL_CERT_FILE"
                raise EndpointError(f"the certificate of {self.endpoint} is not trusted", hint=hint) from None
            detail = f"cannot connect to {self.endpoint} ({self.hide(_said(error))})"
            raise Unanswered("connection", detail, sent=False) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
            detail = f"the connection to {self.endpoint} broke ({self.hide(_said(error))})"
            raise Unanswered("connection", detail) from None

    async def close(self) -> None:
        """Let go of the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
            logging.getLogger(_LOGGER).removeFilter(self._key)

    async def _exchange(self, url: str, body: bytes) -> Raw:
        if self._client is None or self._loop is not asyncio.get_running_loop():  # connections belong to one loop
            self._client, self._loop = self._opened(), asyncio.get_running_loop()
        client = self._client
        async with client.stream("POST", url, content=body, auth=self._key.prove) as response:
            coding = response.headers.get("content-encoding", "identity").strip().lower()
            text = await _whole(response.aiter_raw(), coding)
            named = {name.lower(): self.hide(value) for name, value in response.headers.items()}
            return Raw(response.status_code, named, self._key.hide_bytes(text))

    def _opened(self) -> "httpx2.AsyncClient":
        import httpx2

        logging.getLogger(_LOGGER).addFilter(self._key)
        json = "application/json"
        return httpx2.AsyncClient(
            headers={
                "accept": json,
                "accept-encoding": "gzip",
                "content-type": json,
                "user-agent": "freshstack-datasets",
            },
            timeout=httpx2.Timeout(self._timeout, connect=min(CONNECT, self._timeout), pool=None),
            limits=httpx2.Limits(max_connections=self._connections, max_keepalive_connections=self._connections),
            follow_redirects=False,
            trust_env=not self.local,
        )


async def _whole(chunks: AsyncIterator[bytes], coding: str) -> bytes:
    """Return a body unpacked, as long as it is of a bearable size.

    It is unpacked here, in steps, since the library would unpack whatever has arrived at once: a thousand times of it.
    """
    if coding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise Unanswered("bad-reply", f"the body is packed as {shown(coding)}, which was not asked for")
    packed = zlib.decompressobj(wbits=47) if coding not in ("identity", "") else None  # 47: gzip or zlib, as it says
    body = bytearray()
    async with contextlib.aclosing(chunks) as parts:  # type: ignore[type-var]  # it is a generator
        async for part in parts:
            while part:
                body += part if packed is None else _unpacked(packed, part)
                part = b"" if packed is None else packed.unconsumed_tail
                if len(body) > LARGEST_BODY:
                    raise Unanswered("bad-reply", f"the body is larger than {LARGEST_BODY:,} bytes")
    if packed is not None and not packed.eof:  # the end of the body may wait in there, and is one step at most
        body += _unpacked(packed, b"")
    if packed is not None and not packed.eof:
        raise Unanswered("bad-reply", "the packed body is cut off")
    return bytes(body)


def _unpacked(packed: "zlib._Decompress", part: bytes) -> bytes:
    try:
        return packed.decompress(part, _STEP)
    except zlib.error:
        raise Unanswered("bad-reply", "the packed body is damaged") from None


def _checked(base_url: str) -> tuple[str, bool, bool]:
    """Return a base URL in its one form, whether it is on this machine, and whether it is not encrypted."""
    expected = "a base URL such as http://localhost:8080/v1"
    hint = ""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if "@" in base_url:
        got, hint = "one that may hold a password", "keys are read from the environment alone"
    elif parts.query or parts.fragment:
        got, hint = "one with a query or a fragment", "keys are read from the environment alone"
    elif parts.path.rstrip("/").endswith(("/completions", "/embeddings", "/responses")):
        got, hint = shown(base_url), "leave out what comes after /v1"
    elif parts.scheme not in ("http", "https") or not host or not re.fullmatch(r"[!-~]+", base_url):
        got = shown(base_url)
    else:
        named = f"[{host}]" if ":" in host else host
        where = named if port in (None, 443 if parts.scheme == "https" else 80) else f"{named}:{port}"
        return f"{parts.scheme}://{where}{parts.path.rstrip('/')}", _is_local(host), parts.scheme == "http"
    raise InputError("the model's server", expected=expected, got=got, hint=hint)


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _said(error: Exception) -> str:
    return shown(str(error) or type(error).__name__).strip("'\"")
