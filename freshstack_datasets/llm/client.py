"""The client: asks what is not known yet, as often as it takes, and keeps every answer."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.llm.budget import Budget
from freshstack_datasets.llm.calls import Calls, Receipt, Work
from freshstack_datasets.llm.counting import Counts
from freshstack_datasets.llm.forms import Forms
from freshstack_datasets.llm.limits import Clock, Limits
from freshstack_datasets.llm.prices import Prices
from freshstack_datasets.llm.reading import Said, chat, line, same_model
from freshstack_datasets.llm.records import Answer, Call, Failed, Reply, Request
from freshstack_datasets.llm.refusals import trouble
from freshstack_datasets.llm.running import ask_all
from freshstack_datasets.llm.seams import Raw, Transport
from freshstack_datasets.llm.store import Store
from freshstack_datasets.llm.transport import Http

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

M = TypeVar("M", bound=BaseModel)
R = TypeVar("R")


class Client:
    """Asks one server, and no call twice that was answered.

    It belongs to one event loop at a time: that of ``ask_all``, which lets go of the connections at its end, or
    that of an ``async with`` block. Its numbers, in ``counts``, are those of all its life.

    Args:
        server: The base URL of a server that speaks as OpenAI's does, such as ``http://localhost:8080/v1``, or a
            stand-in for one.
        store: Where answers are kept.
        key_from: The environment's variable that holds the key; none is sent when it is not set.
        concurrency: The most calls at once.
        requests_per_minute: The most calls in a minute; any number when not given.
        tokens_per_minute: The most tokens in a minute, input and the longest output; any number when not given.
        timeout: Seconds that one call may take.
        retries: How often a call is sent again after a fault; being told to slow down is none as long as others are
            answered.
        budget: What calls may cost; anything when not given.
        prices: What models cost; unknown when not given.
        seed: What the random part of waiting depends on.
        clock: Where time comes from.

    Raises:
        InputError: A value is none that can be.
    """

    def __init__(
        self,
        server: str | Transport,
        store: Store,
        *,
        key_from: str = "OPENAI_API_KEY",
        concurrency: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        timeout: float = 600.0,
        retries: int = 6,
        budget: Budget | None = None,
        prices: Prices | None = None,
        seed: int = 0,
        clock: Clock | None = None,
    ) -> None:
        if retries < 0:
            raise InputError("tries of a call", expected="a whole number, 0 or more", got=shown(retries))
        transport = Http(server, key_from, timeout, concurrency) if isinstance(server, str) else server
        limits = Limits(concurrency, requests_per_minute, tokens_per_minute, seed=seed, clock=clock)
        self.concurrency, self.store, self.transport = concurrency, store, transport
        self.calls = Calls(
            transport,
            store,
            limits=limits,
            budget=budget or Budget(),
            price=cache(prices.known) if prices else lambda model, embeddings: None,
            retries=retries,
            timeout=timeout,
            key_from=key_from,
        )
        self._forms = Forms(self._reply, lambda request: self._known(request) is not None, self.counts)

    @property
    def counts(self) -> Counts:
        """What became of all calls so far."""
        return self.calls.counts

    @property
    def warnings(self) -> tuple[str, ...]:
        """What people should know before anything is sent, such as that it travels in the clear."""
        return tuple(filter(None, (getattr(self.transport, name, "") for name in ("warning", "keyless"))))

    async def ask(self, request: Request) -> Reply | Failed:
        """Return a reply in free text.

        Args:
            request: What is asked.

        Raises:
            EndpointError: The server answers no call.
        """
        return self._counted(await self._reply(request))

    async def ask_for(
        self, request: Request, shape: type[M], check: Callable[[M], str] | None = None
    ) -> Answer[M] | Failed:
        """Return a reply that fits a shape.

        What does not fit is asked for again, with what is wrong with it, and in the end is a failed call; it is never
        taken for an answer.

        Args:
            request: What is asked; its schema is that of the shape when it has none.
            shape: What the reply has to fit.
            check: What else it has to fulfil: returns "", or what is wrong, in words for the model.

        Raises:
            EndpointError: The server answers no call.
        """
        return self._counted(await self._forms.ask_for(request, shape, check))

    async def embed(self, texts: Sequence[str], model: str, **parameters: Any) -> "NDArray[np.float32]":
        """Return the embeddings of texts, one a row, in order.

        Args:
            texts: What is embedded; equal ones once.
            model: The embedding model, as the server knows it.
            parameters: What else is sent, such as ``dimensions``.

        Raises:
            EndpointError: The server does not embed one of them.
            BudgetError: They cost more than what is left.
        """
        from freshstack_datasets.llm.embeddings import embed

        return await embed(self.calls, texts, model, parameters)

    def run(self, requests: Iterable[Request], what: str) -> list[Reply | Failed]:
        """Return the replies to many requests, in order, while a bar shows what is done.

        Args:
            requests: What is asked.
            what: What is done, in a few words.

        Raises:
            EndpointError: The server answers no call.
        """
        return ask_all(self, [partial(_ask, request) for request in requests], what)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.calls.end()

    def _counted(self, result: R) -> R:
        if isinstance(result, Failed):
            self.counts.failed[result.reason] += 1
        return result

    async def _reply(self, request: Request) -> Reply | Failed:
        call, stored = await self._call(request)
        return call if isinstance(call, Failed) else _outcome(call, stored=stored)

    def _known(self, request: Request) -> Call | None:
        return self.store.get(request.digest, self.transport.endpoint)

    async def _call(self, request: Request) -> tuple[Call | Failed, bool]:
        """Return an answered call, and whether it came from the store."""
        if call := self._known(request):
            self.counts.stored += 1
            return call, True
        work = Work(request, _said, partial(self._keep, request))
        return await self.calls.shared(request, partial(self.calls.exchange, work)), False

    def _keep(self, request: Request, said: Said, receipt: Receipt) -> Call:
        hide = self.transport.hide
        self.counts.odd.update(said.odd)
        if not same_model(request.model, said.model):
            self.counts.models[f"{request.model} -> {hide(said.model)}"] += 1
        parameters = {**request.parameters, **({"schema": request.schema} if request.schema is not None else {})}
        call = Call(
            digest=request.digest,
            endpoint=self.transport.endpoint,
            stage=request.stage,
            prompt=request.prompt,
            asked=request.model,
            parameters=parameters,
            model=hide(said.model),
            text=hide(said.text),
            finish=hide(said.finish),
            input_tokens=said.input_tokens,
            output_tokens=said.output_tokens,
            usd=receipt.usd,
            attempts=receipt.attempts,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        return self.store.keep(call, receipt.note)


def _said(raw: Raw) -> Said:
    """Return what an answer says; a filter that turned a question away says that."""
    met = trouble(raw)
    return chat(raw.body) if met is None else Said(met.message, "content_filter", "", None, None)


def _outcome(call: Call, *, stored: bool) -> Reply | Failed:
    """Return what an answered call is worth."""
    if call.finish in ("refusal", "content_filter"):
        return Failed(call.digest, "refused", line(call.text) or call.finish, (call.digest,))
    if call.finish == "length":
        return Failed(call.digest, "cut-off", f"after {call.output_tokens or len(call.text)} tokens", (call.digest,))
    if not call.text.strip():
        return Failed(call.digest, "does-not-fit", "it says nothing", (call.digest,))
    return Reply(
        call.digest, call.text, call.model, call.input_tokens, call.output_tokens, call.usd, stored, call.attempts
    )


async def _ask(request: Request, client: Client) -> Reply | Failed:
    return await client.ask(request)
