"""What a run may spend: asked before a call is sent, told after it, and never exceeded by calls that run at once.

What a call may cost at most is set aside before it is sent. When its cost is known, the rest is free again; when the
server does not say, all of it counts. So what was spent and what is set aside never are more than the budget together.
"""

import asyncio
import contextlib
import threading
from collections.abc import Collection
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from types import TracebackType
from typing import Self

from freshstack_datasets.errors import BudgetError, InputError, shown
from freshstack_datasets.llm.prices import HINT, Price
from freshstack_datasets.llm.records import EMBEDDINGS, Request

UNSEEN = 256
"""Tokens that a server may put around what is sent: marks of a message's beginning and end, a short preamble."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent so far.

    Args:
        calls: How many calls.
        tokens: Tokens of input and output.
        usd: Money; of calls whose price nobody knows, none.
    """

    calls: int = 0
    tokens: int = 0
    usd: Decimal = Decimal(0)


class Budget:
    """The most that a run may spend. One may serve several clients, event loops and threads.

    Args:
        max_usd: The money; no limit when not given.
        max_tokens: The tokens, of input and output together; no limit when not given.

    Raises:
        InputError: A limit is none.
    """

    def __init__(self, max_usd: Decimal | None = None, max_tokens: int | None = None) -> None:
        if max_usd is not None and not (max_usd.is_finite() and max_usd >= 0):
            raise InputError("--max-usd", expected="an amount of USD, 0 or more", got=shown(max_usd))
        if max_tokens is not None and max_tokens < 0:
            raise InputError("--max-tokens", expected="a whole number, 0 or more", got=shown(max_tokens))
        self.max_usd, self.max_tokens = max_usd, max_tokens
        self._spent = Spent()
        self._refused: BudgetError | None = None
        self._aside: set[Reservation] = set()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spent:
        """What was spent so far, without what is set aside."""
        return self._spent

    @property
    def refused(self) -> BudgetError | None:
        """Why the last call that was refused was; None when none was. Who ends a run for it raises it."""
        return self._refused

    def charge(self, tokens: int, usd: Decimal | None, calls: int = 1) -> None:
        """Count calls that were made before, such as those that were under way when a run was killed.

        Args:
            tokens: Their tokens.
            usd: What they cost, None when nobody knows.
            calls: How many they were.
        """
        with self._lock:
            self._add(calls, tokens, usd or Decimal(0))

    async def reserve(
        self, input_tokens: int, output_tokens: int | None, price: Price | None, model: str = ""
    ) -> "Reservation":
        """Set aside what a call may cost at most, before it is sent.

        While other calls under way may turn out cheaper than what is set aside for them, this waits for them. So who
        waits must hold no reservation: a call that is sent again settles or releases that of its first attempt before.

        Args:
            input_tokens: The most tokens that can be sent: see ``most_input_tokens``.
            output_tokens: The most tokens that can come back: see ``most_output_tokens``; None when there is no limit.
            price: What the model costs, None when nobody knows.
            model: The model's name, for a message.

        Raises:
            BudgetError: The call does not fit into what is left.
            InputError: There is a limit, and nobody knows how much of it the call may take.
        """
        if output_tokens is None and not (self.max_usd is None and self.max_tokens is None):
            hint = "set max_tokens or max_completion_tokens among its parameters"
            raise InputError(
                "a request under a budget", expected="the most tokens of its answer", got="none", hint=hint
            )
        if price is None and self.max_usd is not None:
            raise unpriced(model)
        wanted = Reservation(self, input_tokens, output_tokens or 0, price)
        while True:
            with self._lock:
                if self._fits(wanted, self._aside):
                    self._aside.add(wanted)
                    return wanted
                if not self._aside or not self._fits(wanted, ()):
                    self._refused = self._used_up(wanted)
                    raise self._refused
                told = asyncio.Event()
                self._waiting.append((asyncio.get_running_loop(), told))
            await told.wait()

    def settled(self, reservation: "Reservation", calls: int, tokens: int, usd: Decimal) -> None:
        """Count what a call cost in place of what was set aside for it, and wake those who wait; only once."""
        with self._lock:
            if reservation not in self._aside:
                return
            self._aside.remove(reservation)
            self._add(calls, tokens, usd)
            waiting, self._waiting = self._waiting, []
        for loop, told in waiting:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits there any more
                loop.call_soon_threadsafe(told.set)

    def _add(self, calls: int, tokens: int, usd: Decimal) -> None:
        spent = self._spent
        self._spent = Spent(spent.calls + calls, spent.tokens + tokens, spent.usd + usd)

    def _fits(self, wanted: "Reservation", aside: Collection["Reservation"]) -> bool:
        """Tell whether a call fits beside what was spent and what is set aside."""
        if self.max_tokens is not None:
            tokens = self._spent.tokens + sum(one.tokens for one in (*aside, wanted))
            if tokens > self.max_tokens:
                return False
        if self.max_usd is None:
            return True
        return sum((one.usd for one in (*aside, wanted)), self._spent.usd) <= self.max_usd

    def _used_up(self, wanted: "Reservation") -> BudgetError:
        spent = self._spent
        if self.max_tokens is not None and spent.tokens + wanted.tokens > self.max_tokens:
            option, limit = "--max-tokens", f"{self.max_tokens:,}"
            used, got = f"{spent.tokens:,}", f"{wanted.tokens:,} tokens"
        else:
            option, limit, used, got = "--max-usd", f"${self.max_usd:f}", dollars(spent.usd), dollars(wanted.usd)
        return BudgetError(
            f"the budget of {option} {limit} does not take another call",
            expected=f"at most what is left of it after {used}",
            got=f"a call of up to {got}",
            hint=f"run it again with a larger {option}: what was answered is kept and costs nothing",
        )


class Reservation:
    """What is set aside for one call.

    It is settled once: by ``settle``, by ``release``, or in full at the end of a ``with`` block that did neither, since
    a call that was sent may cost something whatever became of it.

    Args:
        budget: Whose.
        input_tokens: The most tokens that can be sent.
        output_tokens: The most tokens that can come back.
        price: What the model costs, None when nobody knows.
    """

    def __init__(self, budget: Budget, input_tokens: int, output_tokens: int, price: Price | None) -> None:
        self._budget, self._price = budget, price
        self.tokens = input_tokens + output_tokens
        self.usd = price.most(input_tokens, output_tokens) if price else Decimal(0)

    def settle(self, input_tokens: int | None = None, output_tokens: int | None = None) -> Decimal | None:
        """Count what the call cost, and return the money; None when nobody knows the price.

        Args:
            input_tokens: The tokens that the server says were sent.
            output_tokens: The tokens that the server says came back. Where it does not say both, all that was set aside
                counts; where it says more than that, what it says.
        """
        if input_tokens is None or output_tokens is None or input_tokens < 0 or output_tokens < 0:
            tokens, usd = self.tokens, self.usd
        else:
            tokens = input_tokens + output_tokens
            usd = self._price.usd(input_tokens, output_tokens) if self._price else Decimal(0)
        self._budget.settled(self, 1, tokens, usd)
        return usd if self._price else None

    def release(self) -> None:
        """Count nothing: the call was not sent, or turned away before it was worked on."""
        self._budget.settled(self, 0, 0, Decimal(0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.settle()


def unpriced(model: str) -> InputError:
    """Return what is wrong with a limit of money for a model whose price nobody knows.

    Args:
        model: Its name, "" where it does not matter.
    """
    got = f"{shown(model)}, whose price is not" if model else "one without"
    return InputError("--max-usd", expected="models whose price is known", got=got, hint=HINT)


def most_input_tokens(sent: bytes) -> int:
    """Return the most tokens that a request can have, as no tokenizer makes more tokens than there are bytes.

    Args:
        sent: The body of the request, all of it.
    """
    return len(sent) + UNSEEN


def most_output_tokens(request: Request) -> int | None:
    """Return the most tokens that a request lets the model answer with; None when it sets no limit."""
    if request.path == EMBEDDINGS:
        return 0
    limits = [request.parameters.get(name) for name in ("max_completion_tokens", "max_tokens")]
    return max((limit for limit in limits if type(limit) is int and limit >= 0), default=None)


def parse_usd(text: str) -> Decimal:
    """Return an amount of money that was typed, such as ``5`` or ``$2.50``.

    Args:
        text: What was typed.

    Raises:
        InputError: It is no amount, or below 0.
    """
    try:
        amount = Decimal(text.strip().removeprefix("$"))
        if amount.is_finite() and 0 <= amount < 10**12:
            return amount
    except InvalidOperation:
        pass
    raise InputError("an amount of USD", expected="a number such as 2.50, 0 or more", got=shown(text))


def dollars(usd: Decimal | None) -> str:
    """Return money for people: rounded up to cents, and to more places where it is less than one.

    Args:
        usd: The amount, None when nobody knows it.
    """
    if usd is None:
        return "unknown"
    step = Decimal("0.01") if usd >= Decimal("0.01") or usd == 0 else Decimal("0.000001")
    return f"${usd.quantize(step, rounding=ROUND_CEILING):,}"
