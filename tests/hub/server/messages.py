"""What a client asks and what it is answered, apart from how either travels."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import parse_qsl

JSON = "application/json"
BYTES = "application/octet-stream"


@dataclass(frozen=True)
class Request:
    """One request; ``target`` is the path and the query as they came, percent-encoded."""

    method: str
    target: str
    headers: Message  # finds a name in any case
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path, still encoded: an encoded slash is part of a name."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The parameters."""
        return dict(parse_qsl(self.target.partition("?")[2]))

    def json(self) -> Any:
        """Return what the body says, {} when there is none."""
        return json.loads(self.body or b"{}")

    def says(self, name: str) -> bool:
        """Return whether a parameter of the query is true."""
        return self.query.get(name, "").lower() in ("1", "true")


@dataclass(frozen=True)
class Answer:
    """One answer; its length and its body's kind are put to the headers when it is sent."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = JSON


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None, kind: str = JSON) -> Answer:
    """Return a value as an answer in JSON."""
    return Answer(status, json.dumps(value).encode(), headers or {}, kind)


class RefusedError(Exception):
    """What was asked cannot be; ``code`` is the Hub's own word for it, by which its clients tell errors apart."""

    def __init__(self, status: int, message: str, code: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.headers = status, message, code, headers or {}

    def answer(self) -> Answer:
        """Return the answer that says so."""
        code = {"X-Error-Code": self.code} if self.code else {}
        return answer({"error": self.message}, self.status, {"X-Error-Message": self.message, **code, **self.headers})
