"""What the stages of a build ask models with: one client, one budget, one store of replies, and the settings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from builders.pipeline.settings import Kind, KindName, Settings
from builders.topics.pool import SAME
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import BudgetError, EndpointError
from freshstack_datasets.llm.budget import Budget
from freshstack_datasets.llm.client import Client
from freshstack_datasets.llm.fake import Script
from freshstack_datasets.llm.prices import Price, Prices
from freshstack_datasets.llm.prompts import Value
from freshstack_datasets.llm.records import Answer, Call, Failed, Reply, Request
from freshstack_datasets.llm.replay import parse_endpoint
from freshstack_datasets.llm.running import Job, ask_all
from freshstack_datasets.llm.seams import Transport
from freshstack_datasets.llm.store import Store, default_store

T = TypeVar("T")

STANDING = frozenset({"refused", "does-not-fit", "cut-off", "bad-reply"})
"""Reasons of failed calls that would fail again; all others are passing, but for ``TURNED_AWAY``."""
TURNED_AWAY = frozenset({"http-400", "http-403", "http-413", "http-422"})
"""Reasons that stand where the server answers other calls: it is about this one, which may be too long. Where it answers
none, it is about all of them, and how they are set; see ``takes_others``."""
_FEW = 2


class Asking:
    """Asks models on behalf of the stages of a build; one for a run of a command.

    Args:
        settings: How the build is set.
        replies: The file in which replies are kept; the usual one when not given.
        budget: What all calls together may cost; anything when not given.
        prices: The prices that somebody gave, by model.
        concurrency: The most calls at once.
        requests_per_minute: The most calls in a minute.
        tokens_per_minute: The most tokens in a minute.
        timeout: Seconds that one call may take.
        scripts: What a stand-in says, by kind of call.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        replies: Path | None = None,
        budget: Budget | None = None,
        prices: Mapping[str, Price] | None = None,
        concurrency: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        timeout: float = 600.0,
        scripts: Mapping[str, Script] | None = None,
    ) -> None:
        self.settings, self.budget = settings, budget or Budget()
        self._replies, self._given, self._scripts = replies, prices or {}, scripts
        self._concurrency, self._timeout = concurrency, timeout
        self._requests_per_minute, self._tokens_per_minute = requests_per_minute, tokens_per_minute
        self._kinds: dict[KindName, Kind] = {}
        self._clients: dict[str, Client] = {}

    @cached_property
    def store(self) -> Store:
        """Where replies are kept."""
        return Store(self._replies or default_store())

    @cached_property
    def transport(self) -> Transport:
        """What sends calls."""
        return self.settings.endpoint.opened(
            self.store, timeout=self._timeout, connections=self._concurrency, scripts=self._scripts
        )

    @property
    def endpoint(self) -> str:
        """Under which name replies are kept: the base URL, or the stand-in's or the recording's name."""
        return self.transport.endpoint

    @property
    def stand_in(self) -> bool:
        """Whether nobody real answers, so that nothing that is made of it may be published."""
        return self.transport.stand_in

    @cached_property
    def prices(self) -> Prices:
        """What models cost."""
        return self.settings.endpoint.prices(self._given)

    @cached_property
    def client(self) -> Client:
        """Who is asked."""
        return self._client(self.transport, self.settings.endpoint.key_from, self.prices)

    def client_at(self, place: str, key_from: str = "") -> Client:
        """Return who is asked elsewhere, with the same store, budget and limits.

        Args:
            place: A base URL, ``recorded:FILE``, ``fake``, or ``same`` for the one of all stages.
            key_from: The variable of the environment that holds the key there; no key is sent when not given.

        Raises:
            InputError: It is none of these.
        """
        if place == SAME:
            return self.client
        if place not in self._clients:
            where = parse_endpoint(place, key_from or "NO_KEY_IS_SENT")
            opened = where.opened(self.store, timeout=self._timeout, connections=self._concurrency)
            self._clients[place] = self._client(opened, key_from, where.prices(self._given))
        return self._clients[place]

    def prices_at(self, place: str) -> Prices:
        """Return what models cost elsewhere.

        Args:
            place: As ``client_at`` takes it.

        Raises:
            InputError: It is none of these.
        """
        return self.prices if place == SAME else parse_endpoint(place).prices(self._given)

    def kind(self, name: KindName) -> Kind:
        """Return what one kind of call is asked with; see ``Settings.kind``."""
        if name not in self._kinds:
            self._kinds[name] = self.settings.kind(name)
        return self._kinds[name]

    def request(self, kind: KindName, schema: Mapping[str, Any] | None = None, **values: Value) -> Request:
        """Return a call of a kind.

        Args:
            kind: The kind.
            schema: The JSON schema that the reply has to fit, None for free text.
            values: A value for each placeholder of its prompt.

        Raises:
            InputError: A value is missing, not asked for, or none that can stand in its place.
        """
        set_to = self.kind(kind)
        messages = set_to.prompt.render(**values)
        return Request(set_to.model, messages, set_to.parameters, schema, kind, set_to.prompt.digest)

    def all(self, jobs: Sequence[Job[T]], what: str, unit: str) -> list[T]:
        """Return what jobs return, in their order, several at once, while a bar shows what is done.

        Args:
            jobs: What asks.
            what: What is done, in a few words.
            unit: What the jobs are, in the plural.

        Raises:
            BudgetError: The budget refused calls; all others were made, and their replies are kept.
            EndpointError: The server answers no call.
        """
        before = self.client.counts.failed["budget"]
        results = ask_all(self.client, jobs, what, unit)
        if open_calls := self.client.counts.failed["budget"] - before:
            raise self._over(open_calls, what)
        return results

    def refuse_passing(self, results: Iterable[object]) -> None:
        """Refuse results of a stage among which a call failed that may be answered another time.

        So a stage that is done never depends on a server's mood. What stands, such as a refusal, is let through.

        Args:
            results: Failed calls, and others of which nothing is said; one for each call.

        Raises:
            BudgetError: The budget refused a call.
            EndpointError: Another call failed, for a reason that passes.
        """
        told = list(results)
        failed = [one for one in told if isinstance(one, Failed)]
        turned_away = sum(one.reason in TURNED_AWAY for one in failed)
        others = [one for one in told if not isinstance(one, Failed) or one.reason in STANDING]
        takes = takes_others(turned_away, len(others), any(map(is_new, others)))
        stands = STANDING | TURNED_AWAY if takes else STANDING
        self.refuse_open([one for one in failed if one.reason not in stands], len(told))

    def refuse_open(self, passing: Sequence[Failed], of: int) -> None:
        """Refuse calls that may be answered another time; see ``refuse_passing``.

        Args:
            passing: The calls.
            of: How many calls the stage makes.

        Raises:
            BudgetError: The budget refused a call.
            EndpointError: Another call failed.
        """
        if any(one.reason == "budget" for one in passing):
            raise self._over(len(passing), "")
        if passing:
            first = passing[0]
            raise EndpointError(
                f"{len(passing):,} of {counted(of, 'calls')} {'is' if len(passing) == 1 else 'are'} open",
                got=f"{first.reason} from {self.endpoint}" + (f" ({first.detail})" if first.detail else ""),
                hint="what was answered is kept, and the same command goes on there",
            )

    def key(self, *kinds: KindName) -> dict[str, Any]:
        """Return all that the replies to some kinds of calls depend on beside the calls' texts, as JSON values.

        Args:
            kinds: The kinds.
        """
        told: dict[str, Any] = {
            name: {"model": one.model, "parameters": dict(one.parameters), "prompt": one.prompt.digest}
            for name in kinds
            for one in [self.kind(name)]
        }
        return {"endpoint": self.endpoint, **told}

    def prompts(self, *kinds: KindName) -> dict[str, str]:
        """Return the digests of the prompts of some kinds of calls, by ``name@version``."""
        return {str(prompt): prompt.digest for prompt in (self.kind(name).prompt for name in kinds)}

    def calls(self, call_ids: Iterable[str]) -> Iterator[Call]:
        """Yield those of some calls that were answered, in the order asked, each once."""
        return self.store.calls(dict.fromkeys(call_ids), self.endpoint)

    def models(self, call_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the models that answered some calls, sorted."""
        return tuple(sorted({call.model for call in self.calls(call_ids)}))

    def close(self) -> None:
        """Close the file of replies; it is opened again when it is used again."""
        if "store" in self.__dict__:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _client(self, transport: Transport, key_from: str, prices: Prices) -> Client:
        return Client(
            transport,
            self.store,
            key_from=key_from,
            concurrency=self._concurrency,
            requests_per_minute=self._requests_per_minute,
            tokens_per_minute=self._tokens_per_minute,
            timeout=self._timeout,
            budget=self.budget,
            prices=prices,
        )

    def _over(self, open_calls: int, what: str) -> BudgetError:
        why = self.budget.refused
        calls, verb = counted(open_calls, "calls"), "is" if open_calls == 1 else "are"
        told = calls + (f" of {what}" if what else "") + f" {verb} open"
        if why is None:
            return BudgetError(told, hint="the same command goes on there")
        return BudgetError(f"{told}: {why.what}", expected=why.expected, got=why.got, hint=why.hint)


def takes_others(turned_away: int, others: int, new: bool) -> bool:
    """Tell whether a server takes other calls than those that it turned away.

    What it answered in an earlier run says little: its key may have run out since. But few calls among many may well be
    all that such a run left open, and then they stand.

    Args:
        turned_away: How many calls it turned away.
        others: How many it answered.
        new: Whether one of these was answered in this run.
    """
    return new or (others > 0 and turned_away <= max(_FEW, others // 10))


def is_new(result: object) -> bool:
    """Tell whether a result was answered in this run, as far as it says."""
    reply = result.reply if isinstance(result, Answer) else result
    return not (isinstance(reply, Reply) and reply.stored)
