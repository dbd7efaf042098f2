"""Behind what calls are answered: a server, or a stand-in for one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from freshstack_datasets.llm.records import Request


@dataclass(frozen=True, slots=True)
class Raw:
    """A server's answer, of any status, before anybody looked into it.

    Args:
        status: The HTTP status.
        headers: Its headers, names in lower case.
        body: Its body, of a bounded size.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Where calls go: a server, or a stand-in for one."""

    @property
    def endpoint(self) -> str:
        """Under which name replies are kept: the base URL, or the stand-in's name."""

    @property
    def stand_in(self) -> bool:
        """Whether nobody real answers, so that nothing that is made of it may be published."""

    async def send(self, request: Request) -> Raw:
        """Send a call once and return what came back, of whatever status.

        Raises:
            EndpointError: No call can be answered.
            Unanswered: This one was not.
        """

    async def close(self) -> None:
        """Let go of the connections; the next call opens new ones."""

    def hide(self, text: str) -> str:
        """Return a text without the key, should it be in there."""


class Unanswered(Exception):  # noqa: N818  # it is caught by the client alone, which makes a failed call of it
    """A call that was sent and of which no whole answer came back.

    Args:
        reason: "timeout", "connection", "bad-reply", or "http-" with the status.
        detail: More of it, for people.
        sent: Whether the server may have taken it, and charge for it.
        busy: Whether it has too much to do, so that all calls wait.
        wait: Seconds to wait for at least before it is sent again.
    """

    def __init__(self, reason: str, detail: str, *, sent: bool = True, busy: bool = False, wait: float = 0.0) -> None:
        super().__init__(detail)
        self.reason, self.detail, self.sent, self.busy, self.wait = reason, detail, sent, busy, wait
