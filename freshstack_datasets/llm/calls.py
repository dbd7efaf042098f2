"""One call from the store to the server and back: sent again where that may help, kept when it was answered."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeVar

from freshstack_datasets.errors import BudgetError, EndpointError, InputError
from freshstack_datasets.llm.budget import Budget, Reservation, most_input_tokens, most_output_tokens
from freshstack_datasets.llm.counting import Counts
from freshstack_datasets.llm.limits import Limits, retry_after
from freshstack_datasets.llm.prices import Price
from freshstack_datasets.llm.records import EMBEDDINGS, Failed, Request
from freshstack_datasets.llm.refusals import Trouble, trouble
from freshstack_datasets.llm.seams import Raw, Transport, Unanswered
from freshstack_datasets.llm.store import Store

T = TypeVar("T")


class Counted(Protocol):
    """What was read from an answer, with the tokens that it says."""

    @property
    def input_tokens(self) -> int | None:
        """What was read; None where the server does not say."""

    @property
    def output_tokens(self) -> int | None:
        """What was written; None where the server does not say."""


R = TypeVar("R", bound=Counted)
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is known of an answered call beside what it says.

    Args:
        note: The number of its note in the store, which goes when the answer is kept.
        attempts: How often it was sent.
        usd: What it cost; None when nobody knows.
    """

    note: int
    attempts: int
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Work(Generic[R, K]):
    """One call and what is done with its answer.

    Args:
        request: The call.
        read: Reads the server's answer, or raises ``Unanswered`` when it says nothing that can be used.
        keep: Keeps what was read, ends the note of the call in the same step, and returns what is kept.
    """

    request: Request
    read: Callable[[Raw], R]
    keep: Callable[[R, Receipt], K]


@dataclass(frozen=True, slots=True)
class RefusedForm(Failed):
    """A call that failed, perhaps for the form of reply that it asked for.

    Args:
        sure: Whether the server says that it is about the form.
    """

    sure: bool = False


_GRACE = 60.0
"""Seconds for which replies to what was sent are waited for when a run ends early."""
_ENOUGH = 16
"""Calls that are given up in a row, with no answer to any other in between, until the server is thought to be broken: each
of them took all its tries, and that for thousands may take days."""
_FEW = 2
"""How often, at most, a call is sent again that may have been charged for, or to a server that is not there, most likely,
since it never answered."""


class Calls:
    """Sends calls, within limits and a budget, and keeps what comes back.

    Args:
        transport: Where they go.
        store: Where answers are kept.
        limits: How many at once, and how fast.
        budget: What they may cost.
        price: What a model costs, asked for chats or for embeddings; None when nobody knows.
        retries: How often a call is sent again after a fault.
        timeout: Seconds that a call takes at most.
        key_from: The variable that the key is read from, for messages.
    """

    def __init__(
        self,
        transport: Transport,
        store: Store,
        *,
        limits: Limits,
        budget: Budget,
        price: Callable[[str, bool], Price | None],
        retries: int,
        timeout: float,
        key_from: str,
    ) -> None:
        self.transport, self.store, self.limits, self.budget = transport, store, limits, budget
        self.counts = Counts()
        self._price, self._retries, self._timeout, self._key_from = price, retries, timeout, key_from
        self._under_way: dict[str, asyncio.Task[Any]] = {}
        self._sent: set[asyncio.Task[Any]] = set()
        self._over: EndpointError | InputError | None = None
        self._ending, self._silence = False, 0

    async def shared(self, request: Request, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return what some work on a request returns, begun once for all that ask for it at the same time.

        Whoever asks may give up; the work goes on, since it is paid for.

        Args:
            request: The call.
            work: What is done; of one request always the same.
        """
        task = self._under_way.get(request.digest)
        if task is None:
            task = self._under_way[request.digest] = asyncio.create_task(work())
            task.add_done_callback(lambda done: self._finished(request.digest, done))
        result: T = await asyncio.shield(task)
        return result

    async def exchange(self, work: Work[R, K]) -> K | Failed:
        """Send a call until it is answered, or until that does not help.

        Args:
            work: The call.

        Raises:
            EndpointError: The server answers no call.
        """
        attempts = faults = 0
        digest, began = work.request.digest, self.counts.answered
        while True:
            before, attempts = self.counts.answered, attempts + 1
            result: K | Failed
            try:
                result = await self._once(work, attempts)
            except BudgetError as error:
                result = Failed(digest, "budget", str(error))
            except Unanswered as fault:
                if not (fault.busy and self.counts.answered > before):  # else others got their turns, and this one will
                    faults += 1
                if self._may_help(fault, faults):
                    self.counts.again[fault.reason] += 1
                    if not fault.busy:  # else all wait, in their turns
                        await self.limits.clock.sleep(max(self.limits.backoff(faults), fault.wait))
                    continue
                result = self._given_up(digest, fault, answered=self.counts.answered > began)
            return result

    async def end(self) -> None:
        """Send nothing more, wait a while for replies to what was sent, and let go of the connections."""
        self._ending = True
        sent = set(self._sent)
        for task in set(self._under_way.values()) - sent:
            task.cancel()
        try:
            if sent:
                await asyncio.wait(sent, timeout=_GRACE)
        finally:
            tasks = list(self._under_way.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._ending, self._over, self._silence = False, None, 0
            await self.transport.close()

    async def _once(self, work: Work[R, K], attempts: int) -> K | Failed:
        """Send a call once, in its turn and within the budget."""
        request, body, output = work.request, work.request.body, most_output_tokens(work.request)
        price = self._price(request.model, request.path == EMBEDDINGS)
        async with self.limits.turn(len(body) // 4 + (output or 0)):
            with await self.budget.reserve(most_input_tokens(body), output, price, request.model) as reserved:
                self._stop_here(reserved)
                note = self.store.begin(request.digest, self.transport.endpoint, request.stage, self._timeout)
                try:
                    raw = await self._sending(request, reserved)
                    met = trouble(raw)
                    said = work.read(raw) if met is None or met.filtered else None
                    if met is not None and said is None:
                        reserved.release()
                        refused = self._refused(request, raw, met)
                except Exception:  # but not the end of the process or of the run: then a reply may be on its way
                    self.store.end(note)
                    raise
                if said is not None:  # should it not be possible to keep it, its note stays: it is lost
                    return self._taken(work, said, note, attempts, reserved)
                self.store.end(note)
                return refused

    def _stop_here(self, reserved: Reservation) -> None:
        """Send nothing when the server is known to answer no call, or when the run is ending."""
        if self._over or self._ending:
            reserved.release()
            raise self._over or asyncio.CancelledError

    async def _sending(self, request: Request, reserved: Reservation) -> Raw:
        """Send a call; where it did not reach the server, nothing of what was set aside counts."""
        task = asyncio.current_task()
        assert task is not None  # it runs in one
        self._sent.add(task)
        self.counts.sent += 1
        try:
            return await self.transport.send(request)
        except Unanswered as fault:
            if not fault.sent:
                reserved.release()
            raise
        except EndpointError as error:
            reserved.release()
            self._over = error
            raise
        finally:
            self._sent.discard(task)

    def _taken(self, work: Work[R, K], said: R, note: int, attempts: int, reserved: Reservation) -> K:
        """Keep what a server answered."""
        self._silence = 0
        usd = reserved.settle(said.input_tokens, said.output_tokens)
        try:
            kept = work.keep(said, Receipt(note, attempts, usd))
        except InputError as error:  # such as that the disk is full: no other reply can be kept either
            self._over = error
            raise
        self.limits.answered()
        self.counts.answer(said.input_tokens, said.output_tokens, usd)
        return kept

    def _refused(self, request: Request, raw: Raw, met: Trouble) -> Failed:
        """Return what a refusal makes of a call, or raise what it means for others too."""
        said = self.transport.hide(met.message or met.code)
        reason = f"http-{met.status}"
        formed = request.schema is not None or "response_format" in request.parameters
        if formed and (met.about_form or met.perhaps_about_form):
            return RefusedForm(request.digest, reason, said, sure=met.about_form)
        if met.about_all or (met.status == 403 and not (self.counts.answered or self.counts.stored)):
            where = self.transport.hide(raw.headers.get("location", ""))
            self._over = met.error(self.transport.endpoint, self._key_from, where, said, request.model)
            raise self._over
        if not met.passing:
            return Failed(request.digest, reason, said)
        asked = retry_after(raw.headers, self.limits.clock.wall())
        if met.busy:
            self.counts.slowed += 1
            self.limits.slow_down(asked)
        raise Unanswered(reason, said, busy=met.busy, wait=asked or 0.0)

    def _may_help(self, fault: Unanswered, faults: int) -> bool:
        """Tell whether a call is sent again after some faults."""
        if self._ending:
            return False
        absent = fault.reason == "connection" and not fault.sent and not self.counts.answered
        few = absent or fault.reason in ("timeout", "bad-reply")
        return faults <= (min(_FEW, self._retries) if few else self._retries)

    def _given_up(self, digest: str, fault: Unanswered, *, answered: bool) -> Failed:
        """Return a failed call; where no call was answered while it was tried, raise what ends the run."""
        if fault.reason == "connection" and not fault.sent and not answered:
            hint = "check that the server runs, and the base URL; what was answered is kept"
            self._over = EndpointError(fault.detail, hint=hint)
        elif fault.busy and not answered:
            what = f"{self.transport.endpoint} is too busy to answer any call"
            hint = "run it again later, or with lower limits; what was answered is kept"
            self._over = EndpointError(what, got=f"{fault.reason} ({fault.detail})", hint=hint)
        self._silence += 1
        if self._silence >= _ENOUGH and not self._over:
            what = f"{self.transport.endpoint} answers no call any more"
            got = f"{self._silence} that failed in a row, the last one with {fault.reason} ({fault.detail})"
            self._over = EndpointError(
                what, got=got, hint="see what ails it and run it again; what was answered is kept"
            )
        if self._over:
            raise self._over
        return Failed(digest, fault.reason, fault.detail)

    def _finished(self, digest: str, task: asyncio.Task[Any]) -> None:
        del self._under_way[digest]
        if not task.cancelled():
            task.exception()  # whoever waited for it has it; when nobody did, nobody is to be told
