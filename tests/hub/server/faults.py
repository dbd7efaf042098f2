"""Faults that a test orders: requests that fail, are never answered, or whose answer is lost."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from tests.hub.server.messages import Answer, Request


@dataclass
class Fault:
    """What goes wrong with the next ``left`` requests whose decoded path and query match.

    Args:
        pattern: Searched in them.
        method: None for any.
        answer: What the client gets instead.
        left: How many requests are still to fail; ``math.inf`` for all.
        drop: The connection is closed and nothing answered.
        after: What was asked is done first, and then the answer lost.
    """

    pattern: re.Pattern[str]
    method: str | None
    answer: Answer
    left: float
    drop: bool
    after: bool

    def hits(self, request: Request) -> bool:
        """Return whether this request fails."""
        same = self.method in (None, request.method)
        return self.left > 0 and same and self.pattern.search(unquote(request.target)) is not None
