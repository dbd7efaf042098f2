"""Where calls go, as it is typed: to a server, to a recording of what one said, or to a stand-in for one."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

from freshstack_datasets.errors import EndpointError, InputError, shown, shown_path
from freshstack_datasets.llm.fake import Fake, Script
from freshstack_datasets.llm.prices import EVERY, Price, Prices
from freshstack_datasets.llm.recordings import Embedding, opened, read_recording, write_recording
from freshstack_datasets.llm.records import Call, Request
from freshstack_datasets.llm.seams import Raw, Transport
from freshstack_datasets.llm.store import Store
from freshstack_datasets.llm.transport import Http

KEY_FROM = "OPENAI_API_KEY"
"""The variable of the environment that holds the key where no other is named."""
FREE = Price(Decimal(0), Decimal(0), "nobody is asked")
"""What a recording and a stand-in cost."""
_RECORDED = "recorded:"

Kind = Literal["server", "recorded", "stand-in"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where calls go.

    Args:
        kind: A server, a recording or a stand-in.
        place: The server's base URL or the recording's file; "" for a stand-in.
        key_from: The variable of the environment that holds the server's key.
    """

    kind: Kind
    place: str = ""
    key_from: str = KEY_FROM

    def __str__(self) -> str:
        """Return it as it is typed."""
        return {"server": self.place, "recorded": _RECORDED + self.place, "stand-in": "fake"}[self.kind]

    def prices(self, given: Mapping[str, Price] | None = None) -> Prices:
        """Return what models cost there: nothing, where nobody is asked.

        Args:
            given: The prices that somebody gave, by model.
        """
        return Prices(self.place, given or {}) if self.kind == "server" else Prices(given={EVERY: FREE})

    def opened(
        self, store: Store, *, timeout: float, connections: int, scripts: Mapping[str, Script] | None = None
    ) -> Transport:
        """Return what sends calls there.

        Args:
            store: Where replies are kept; those of a recording are put into it.
            timeout: Seconds that one call to a server may take.
            connections: The most connections to a server at once.
            scripts: What a stand-in says, by stage.

        Raises:
            InputError: The recording cannot be read, or the base URL is none.
        """
        if self.kind == "server":
            return Http(self.place, self.key_from, timeout, connections)
        return recorded(Path(self.place), store) if self.kind == "recorded" else Fake(scripts)


def parse_endpoint(text: str, key_from: str = KEY_FROM) -> Endpoint:
    """Return where calls go, as ``--llm`` says it: a base URL, ``recorded:FILE`` or ``fake``.

    Args:
        text: What was typed.
        key_from: The variable of the environment that holds the key.

    Raises:
        InputError: It is none of the three.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", key_from):  # it may be the key itself, which is not shown
        raise InputError("where the key is", expected="the name of a variable of the environment", got="something else")
    if text == "fake":
        return Endpoint("stand-in")
    if text.startswith(_RECORDED):
        if not text.removeprefix(_RECORDED):
            raise InputError("--llm", expected="recorded:FILE", got=shown(text))
        return Endpoint("recorded", text.removeprefix(_RECORDED))
    if not text.startswith(("http://", "https://")):  # a key may have been typed here too
        raise InputError("--llm", expected="a base URL such as http://localhost:8080/v1, recorded:FILE or fake")
    return Endpoint("server", Http(text, key_from, 1, 1).endpoint, key_from)


class Recorded:
    """A recording, whose replies are in the store; whatever else is asked is an error, and no network is there.

    Args:
        path: Its file, for messages.
        endpoint: Under which name its replies are in the store.
    """

    stand_in = False

    def __init__(self, path: Path, endpoint: str) -> None:
        self._path, self.endpoint = path, endpoint

    async def send(self, request: Request) -> Raw:
        """Say that the recording has no reply: the client looks into the store before.

        Raises:
            EndpointError: Always.
        """
        raise EndpointError(
            f"{shown_path(self._path)} has no reply to the call {request.digest} of the stage {shown(request.stage)}",
            hint="the topic file, a prompt, a model or a setting is another one than when it was recorded; "
            "use the same ones, or ask a server and record it again",
        )

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def hide(self, text: str) -> str:
        """Return the text: there is no key."""
        return text


def recorded(path: Path, store: Store) -> Recorded:
    """Put what a recording holds into a store and return it.

    Its replies are kept there under a name made of its content, so that no other reply is taken for one of them.

    Args:
        path: The recording.
        store: Where the client looks for replies.

    Raises:
        InputError: It cannot be read, or is none.
    """
    with opened(path) as stream:
        name = _RECORDED + hashlib.file_digest(stream, "sha256").hexdigest()[:16]
    for one in read_recording(path):
        if isinstance(one, Call):
            store.keep(replace(one, endpoint=name))
        else:
            store.keep_vectors({one.digest: one.vector}, name)
    return Recorded(path, name)


def export(store: Store, endpoint: str, digests: Iterable[str], path: Path) -> int:
    """Write what a store holds of some calls and embeddings into a recording; return how many of them it holds.

    Memory holds the digests, and one reply at a time.

    Args:
        store: Where replies are kept.
        endpoint: Who was asked.
        digests: The ids of the calls, and of what was embedded.
        path: The recording's file; one that is there is replaced.

    Raises:
        InputError: It cannot be written.
    """
    return write_recording(path, _held(store, endpoint, sorted(set(digests))))


def _held(store: Store, endpoint: str, digests: Iterable[str]) -> Iterator[Call | Embedding]:
    """Yield what a store holds of some calls and embeddings, in the order asked."""
    for digest in digests:
        yield from store.calls([digest], endpoint)
        yield from (Embedding(digest, vector) for vector in store.vectors([digest], endpoint).values())
