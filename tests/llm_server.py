"""A language model's server on loopback that says what a test tells it to, byte for byte where need be.

    with Server(lambda asked: chat("hello")) as server:
        Client(server.url, store)

It holds no opinion on what is right: a test's script gets each request and returns an answer.
"""

import asyncio
import gzip
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Asked:
    """A request as it came.

    Args:
        number: Which one it is, from 0.
        path: Its path.
        headers: Its headers, names in lower case.
        body: Its JSON.
        raw: Its body.
    """

    number: int
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    raw: bytes

    @property
    def text(self) -> str:
        """The last message."""
        return self.body["messages"][-1]["content"]


@dataclass(frozen=True)
class Says:
    """What the server does.

    Args:
        body: The body; a mapping is written as JSON.
        status: The HTTP status.
        headers: Headers beside the length.
        length: The Content-Length, when it is to lie.
        parts: What is sent in place of a body, piece by piece, without a length, until it ends or the client is gone.
        after: Waited for before anything is said: a hang, as long as the test does not set it.
    """

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: dict(_JSON))
    length: int | None = None
    parts: Iterator[bytes] | None = None
    after: threading.Event | None = None


def chat(text: str | None, *, model: str = "m", finish: str | None = "stop", **whole: Any) -> Says:
    """Return a reply of a chat; ``message``, ``usage`` and other members of the whole may be given anew."""
    message = {"role": "assistant", "content": text, **whole.pop("message", {})}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return Says({"id": "x", "object": "chat.completion", "model": model, "choices": choices, "usage": usage, **whole})


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Says:
    """Return an error as OpenAI's server words it; headers with an underscore for each dash."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Says({"error": {"message": message, "code": code, "type": None}}, status, {**_JSON, **named})


def embedded(asked: Asked, vector: Callable[[str], Sequence[float]], **whole: Any) -> Says:
    """Return the embeddings of what was asked."""
    given = asked.body["input"]
    texts = [given] if isinstance(given, str) else given
    data = [{"object": "embedding", "index": at, "embedding": list(vector(text))} for at, text in enumerate(texts)]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return Says({"object": "list", "model": asked.body["model"], "data": data, "usage": usage, **whole})


def packed(says: Says) -> Says:
    """Return the same, packed as gzip."""
    body = gzip.compress(json.dumps(says.body).encode())
    return Says(body, says.status, {**says.headers, "content-encoding": "gzip"})


class Server:
    """A server in a thread of its own.

    Args:
        script: Returns what is said to a request; or what is said to one after the other, the last one from then on.
    """

    def __init__(self, script: Callable[[Asked], Says] | Sequence[Says]) -> None:
        self._script = script if callable(script) else lambda asked: script[min(asked.number, len(script) - 1)]
        self.asked: list[Asked] = []
        self.connections = 0
        self.under_way = self.most_under_way = 0
        self.arrived = threading.Semaphore(0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def texts(self) -> list[str]:
        """The last message of each request."""
        return [asked.text for asked in self.asked]

    def __enter__(self) -> "Server":
        self._thread.start()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self, port: int = 0) -> None:
        """Listen, at a port that was used before or at a new one."""
        listening = asyncio.start_server(self._serve, "127.0.0.1", port)
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Listen no longer, and drop all connections."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()

    async def _stop(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                asked = await self._read(reader)
                self.under_way += 1
                self.most_under_way = max(self.most_under_way, self.under_way)
                self.arrived.release()
                try:
                    if not await self._say(writer, self._script(asked)):
                        break
                finally:
                    self.under_way -= 1
        writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Asked:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:]) if name}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        asked = Asked(len(self.asked), head[0].split(" ")[1], headers, json.loads(raw), raw)
        self.asked.append(asked)
        return asked

    async def _say(self, writer: asyncio.StreamWriter, says: Says) -> bool:
        """Say something; return whether the connection may be used again."""
        if says.after is not None:
            while not says.after.is_set():
                await asyncio.sleep(0.005)
        body = says.body if isinstance(says.body, bytes) else json.dumps(says.body).encode()
        headers = dict(says.headers)
        if says.parts is None:
            headers["content-length"] = str(len(body) if says.length is None else says.length)
        lines = [f"HTTP/1.1 {says.status} X", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        async for part in _pieces(says.parts if says.parts is not None else iter([body])):
            writer.write(part)
            await writer.drain()
        return says.parts is None and says.length is None


async def _pieces(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
        await asyncio.sleep(0)
