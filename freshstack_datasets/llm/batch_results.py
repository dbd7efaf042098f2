"""What comes back from batches: files of replies and of errors, in any order, which are trusted in nothing."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError, shown, shown_path
from freshstack_datasets.llm.prices import Price, Prices
from freshstack_datasets.llm.reading import Said, chat, parsed, same_model
from freshstack_datasets.llm.records import Call, Failed, Request
from freshstack_datasets.llm.refusals import trouble
from freshstack_datasets.llm.seams import Raw, Unanswered
from freshstack_datasets.llm.store import Store

LONGEST_LINE = 64 * 2**20
"""Bytes of a line of what comes back."""
NAMED = 20
"""How many of a kind are named; all are counted."""


@dataclass(slots=True)
class Named:
    """Things of a kind: all are counted, the first ones named.

    Args:
        number: How many there are.
        first: The names of the first ones.
    """

    number: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        """Count one more."""
        self.number += 1
        if len(self.first) < NAMED:
            self.first.append(name)


@dataclass(slots=True)
class BatchResults:
    """What came back.

    Args:
        kept: How many replies are new in the store.
        known: How many were there before, or came a second time and said the same.
        usd: What the new ones cost, as far as their price is known.
        failed: The calls that a server turned away, by their ids.
        missing: The calls that nothing came back for.
        contradicting: Replies to a call that was answered otherwise; the first one counts.
        unknown: Replies to what was not asked.
        unreadable: Lines that are no result.
        other_models: Replies of another model than the one that was asked.
    """

    kept: int = 0
    known: int = 0
    usd: Decimal = Decimal(0)
    failed: dict[str, Failed] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    contradicting: Named = field(default_factory=Named)
    unknown: Named = field(default_factory=Named)
    unreadable: Named = field(default_factory=Named)
    other_models: Named = field(default_factory=Named)

    def __str__(self) -> str:
        """Return a line for each kind of thing that came back."""
        missing, failed = Named(len(self.missing), list(self.missing[:NAMED])), Named(len(self.failed))
        failed.first = [f"{one.digest} ({one.reason}: {one.detail})" for one in list(self.failed.values())[:NAMED]]
        kinds = {
            "failed": failed,
            "without a result": missing,
            "answered twice, and not the same": self.contradicting,
            "answers to what was not asked": self.unknown,
            "lines that are no results": self.unreadable,
            "answers of another model": self.other_models,
        }
        lines = [f"{self.kept:,} new replies, {self.known:,} known ones"]
        for name, things in kinds.items():
            if things.number:
                more = f" and {things.number - len(things.first):,} more" if things.number > len(things.first) else ""
                lines.append(f"{things.number:,} {name}: {', '.join(things.first)}{more}")
        return "\n".join(lines)


def read_results(
    files: Sequence[Path], requests: Iterable[Request], store: Store, endpoint: str, prices: Prices | None = None
) -> BatchResults:
    """Put the replies of batches into the store, where the client finds them.

    What failed is not kept, so that the client asks it again. Files may be read again, and in any order.

    Args:
        files: The files of replies and of errors.
        requests: The calls that were asked for, taken one at a time.
        store: Where replies are kept.
        endpoint: Under which name: the base URL of the server that the client asks.
        prices: What models cost.

    Raises:
        InputError: A file cannot be read.
    """
    reader = _Reader(store, endpoint, prices)
    for request in requests:
        reader.ask(request)
    for path in files:
        for number, line in enumerate(_lines(path), 1):
            if line.strip():
                reader.take(line, f"{path.name}:{number}")
    return reader.done()


class _Reader:
    """Sorts what comes back, line by line."""

    def __init__(self, store: Store, endpoint: str, prices: Prices | None) -> None:
        self.results = BatchResults()
        self.asked: dict[str, Call] = {}
        self.answered: set[str] = set()
        self._store, self._endpoint, self._prices = store, endpoint, prices
        self._known: dict[str, Price | None] = {}

    def ask(self, request: Request) -> None:
        """Note a call that was asked, without its words, which may be long."""
        if request.digest not in self.asked:
            schema = {} if request.schema is None else {"schema": request.schema}
            self.asked[request.digest] = Call(
                digest=request.digest,
                endpoint=self._endpoint,
                stage=request.stage,
                prompt=request.prompt,
                asked=request.model,
                parameters={**request.parameters, **schema},
                model="",
                text="",
                finish="",
                input_tokens=None,
                output_tokens=None,
                usd=None,
                attempts=1,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
            )

    def take(self, line: bytes, place: str) -> None:
        """Sort a line of a file."""
        try:
            value = parsed(line)
        except Unanswered:
            return self.results.unreadable.add(place)
        digest = value.get("custom_id")
        if not isinstance(digest, str):
            return self.results.unreadable.add(place)
        if digest not in self.asked:
            return self.results.unknown.add(f"{place} {shown(digest)}")
        outcome = self._outcome(value, self.asked[digest])
        if isinstance(outcome, Failed):
            self.results.failed.setdefault(digest, outcome)
            return None
        return self._keep(outcome)

    def done(self) -> BatchResults:
        """Return what came back, once all is read."""
        left = [digest for digest in self.asked if digest not in self.answered]
        for digest in left:
            if self._store.get(digest, self._endpoint) is not None:
                self.answered.add(digest)
        results = self.results
        results.failed = {digest: one for digest, one in results.failed.items() if digest not in self.answered}
        results.missing = tuple(one for one in left if one not in self.answered and one not in results.failed)
        return results

    def _outcome(self, value: dict[str, Any], asked: Call) -> Call | Failed:
        """Return what a line says of a call."""
        if (error := value.get("error")) or not isinstance(value.get("response"), dict):
            words = error if isinstance(error, dict) else {}
            code, message = (shown(words.get(name, "")).strip("'\"") for name in ("code", "message"))
            reason = "timeout" if code == "batch_expired" else "bad-reply"
            return Failed(asked.digest, reason, f"{code} {message}".strip() or "no response", (asked.digest,))
        response = value["response"]
        status = response.get("status_code")
        status = status if type(status) is int and 100 <= status <= 599 else 502
        raw = Raw(status, {}, json.dumps(response.get("body")).encode())
        try:
            met = trouble(raw)
            if met and not met.filtered:
                return Failed(asked.digest, f"http-{met.status}", met.message, (asked.digest,))
            said = Said(met.message, "content_filter", "", None, None) if met else chat(raw.body)
        except Unanswered as unanswered:
            return Failed(asked.digest, unanswered.reason, str(unanswered), (asked.digest,))
        call = replace(
            asked,
            model=said.model,
            text=said.text,
            finish=said.finish,
            input_tokens=said.input_tokens,
            output_tokens=said.output_tokens,
        )
        return replace(call, usd=self._usd(call))

    def _keep(self, call: Call) -> None:
        self.answered.add(call.digest)
        before = self._store.get(call.digest, self._endpoint)
        if before is not None:
            if before.text == call.text:
                self.results.known += 1
            else:
                self.results.contradicting.add(call.digest)
            return
        self._store.keep(call)
        self.results.kept += 1
        self.results.usd += call.usd or 0
        if not same_model(call.asked, call.model):
            self.results.other_models.add(f"{shown(call.model)} for {shown(call.asked)}")

    def _usd(self, call: Call) -> Decimal | None:
        if call.asked not in self._known:
            self._known[call.asked] = self._prices.known(call.asked, batch=True) if self._prices else None
        price = self._known[call.asked]
        if price is None or call.input_tokens is None or call.output_tokens is None:
            return None
        return price.usd(call.input_tokens, call.output_tokens)


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; one that is too long as words that are no result."""
    try:
        with path.open("rb") as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                long = len(line) > LONGEST_LINE
                while long and not line.endswith(b"\n") and (rest := stream.readline(LONGEST_LINE)):
                    line = rest
                yield b"too long" if long else line
    except (OSError, ValueError) as error:
        got = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot read the results {shown_path(path)}", got=got) from None
