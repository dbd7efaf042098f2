"""How many calls are sent at once and in a minute, and how all of them slow down when a server asks for it."""

import asyncio
import email.utils
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from freshstack_datasets.errors import InputError, shown

LONGEST_WAIT = 300.0
"""Seconds; what a server asks for beyond that is cut, since nobody waits for a day in front of a terminal."""
_LONGEST_BACKOFF = 60.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Where time comes from and how it is waited for; tests put their own in its place.

    Args:
        now: Seconds since some moment.
        wall: Seconds since 1970.
        sleep: Waits some seconds.
    """

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Limits:
    """Lets calls go one after the other, as fast as is allowed.

    A server that says 429 halves the number of calls at once, for all; each answer adds a little, until it is what it
    was. Nobody goes before the moment that the server named.

    Args:
        concurrency: The most calls at once.
        requests_per_minute: The most calls in a minute; any number when not given.
        tokens_per_minute: The most tokens in a minute; any number when not given.
        seed: What the random part of waiting depends on.
        clock: Where time comes from.

    Raises:
        InputError: A limit is no positive number.
    """

    def __init__(
        self,
        concurrency: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        seed: int = 0,
        clock: Clock | None = None,
    ) -> None:
        for name, value in (("requests a minute", requests_per_minute), ("tokens a minute", tokens_per_minute)):
            if value is not None and not 0 < value < float("inf"):
                raise InputError(name, expected="a number above 0", got=shown(value))
        if concurrency < 1:
            raise InputError("calls at once", expected="a whole number, 1 or more", got=shown(concurrency))
        self.clock = clock or Clock()
        self._most, self._allowed, self._active = concurrency, float(concurrency), 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._requests = _Pace(requests_per_minute)
        self._tokens = _Pace(tokens_per_minute)
        self._not_before, self._storm = 0.0, 0
        self._random = random.Random(seed)

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[None]:
        """Wait until a call may be sent, and count it as under way within the block.

        Args:
            tokens: How many tokens it may take, roughly.
        """
        await self._enter()
        try:
            await self._wait(tokens)
            yield
        finally:
            self._active -= 1
            self._let_in()

    def slow_down(self, asked: float | None) -> float:
        """Make all calls wait, since the server says that there are too many.

        Args:
            asked: The seconds that it asks for; None when it does not say, and 0 says nothing: it was asked too early.

        Returns:
            For how many seconds from now nobody goes.
        """
        now = self.clock.now()
        if now >= self._not_before:  # else it speaks of calls that were sent before it was first heard
            self._storm += 1
            self._allowed = max(1.0, self._allowed / 2)
        seconds = asked * (1 + self._random.random() / 10) if asked else self.backoff(self._storm)
        self._not_before = max(self._not_before, now + min(seconds, LONGEST_WAIT))
        return self._not_before - now

    def answered(self) -> None:
        """Let a few more calls go at once again, after an answer."""
        self._storm = 0
        if self._allowed < self._most:
            self._allowed = min(self._most, self._allowed + 1 / self._allowed)
            self._let_in()

    def backoff(self, tries: int) -> float:
        """Return the seconds to wait after some tries that failed: twice as many each time, give or take a half.

        Args:
            tries: How many failed, at least one.
        """
        return min(_LONGEST_BACKOFF, 2.0 ** min(tries - 1, 10)) * (0.5 + self._random.random())

    async def _enter(self) -> None:
        if self._active < int(self._allowed) and not self._queue:
            self._active += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was let in at the very moment in which it gave up
                self._active -= 1
                self._let_in()
            raise

    def _let_in(self) -> None:
        while self._queue and self._active < int(self._allowed):
            turn = self._queue.popleft()
            if not turn.cancelled():
                self._active += 1
                turn.set_result(None)

    async def _wait(self, tokens: int) -> None:
        while (wait := self._not_before - self.clock.now()) > 0:
            await self.clock.sleep(wait)
        now = self.clock.now()
        if (wait := max(self._requests.next(now, 1), self._tokens.next(now, tokens))) > 0:
            await self.clock.sleep(wait)
            await self._wait(0) if self._not_before > self.clock.now() else None


@dataclass(slots=True)
class _Pace:
    """So many in a minute, evenly; what is let go now is what the next one waits for.

    Args:
        per_minute: How many; any number when not given.
        free: From when on the next may go.
    """

    per_minute: float | None
    free: float = field(default=0.0, init=False)

    def next(self, now: float, amount: float) -> float:
        """Return how long to wait with some more."""
        if self.per_minute is None:
            return 0.0
        start = max(now, self.free)
        self.free = start + amount * 60 / self.per_minute
        return start - now


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """Return the seconds for which a server asks to wait; None when it does not say, or nothing that can be read.

    Args:
        headers: The headers of its answer, names in lower case.
        wall: Seconds since 1970, for servers that name a moment.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")[:100]
        try:
            seconds = float(value) / unit
        except ValueError:
            seconds = _moment(value) - wall if name == "retry-after" else float("nan")
        if seconds == seconds:  # no NaN
            return min(max(0.0, seconds), LONGEST_WAIT)
    return None


def _moment(text: str) -> float:
    """Return the moment that an HTTP date names, in seconds since 1970; NaN when it is none."""
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return float("nan")
