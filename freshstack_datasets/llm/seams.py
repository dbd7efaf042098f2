"""Behind what calls are sent and paid for: servers, stand-ins for them, and budgets."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
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
        reason: "timeout", "connection" or "bad-reply".
        detail: More of it, for people.
        sent: Whether the server may have taken it, and charge for it.
    """

    def __init__(self, reason: str, detail: str, *, sent: bool = True) -> None:
        super().__init__(detail)
        self.reason, self.detail, self.sent = reason, detail, sent


class Budget(Protocol):
    """What calls may cost, money or tokens."""

    def reserve(self, request: Request) -> str:
        """Set aside what a call may cost at most, before it is sent.

        Returns:
            "", or why it must not be sent.
        """

    def settle(
        self, request: Request, model: str, input_tokens: int | None, output_tokens: int | None
    ) -> Decimal | None:
        """Put what an answered call cost in the place of what was set aside; return its price, None when unknown.

        Args:
            request: The call.
            model: The model that answered, as the server says it.
            input_tokens: What it read; None where the server does not say.
            output_tokens: What it wrote; None where the server does not say.
        """

    def release(self, request: Request, *, sent: bool) -> None:
        """Let go of what was set aside for a call that was not answered.

        Args:
            request: The call.
            sent: Whether the server may have taken it, and charge for it.
        """
