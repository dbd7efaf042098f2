"""What a run will cost, said before anything is sent: calls, tokens and money, stage by stage."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from freshstack_datasets.errors import InputError
from freshstack_datasets.llm.budget import dollars, most_output_tokens
from freshstack_datasets.llm.prices import Price
from freshstack_datasets.llm.records import Request

BYTES_PER_TOKEN = 4
"""Bytes of English text that a token of the usual vocabularies has; code has fewer."""
MESSAGE = 4
"""Tokens that mark where a message begins and ends, and whose it is."""
_HEADER = ("stage", "endpoint", "model", "calls", "answered", "input tokens", "output tokens", "USD")


def rough_tokens(text: str) -> int:
    """Return about how many tokens a text has, for who has no tokenizer at hand."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """What one stage will cost with one model.

    Args:
        stage: What it is: nuggets, support …
        endpoint: Where it is sent.
        model: Who is asked.
        calls: The calls that will be sent.
        answered: The calls that need not be sent, as they were answered before.
        input_tokens: The tokens that will be sent.
        output_tokens: The tokens that are expected to come back.
        usd: What that costs, None where nobody knows the price.
        source: Who says what the model costs, "" where nobody does.
    """

    stage: str
    endpoint: str
    model: str
    calls: int
    answered: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will cost.

    Args:
        stages: Its stages, in their order.
    """

    stages: tuple[StageEstimate, ...]

    @property
    def usd(self) -> Decimal | None:
        """What all of it costs; None where the price of a stage with calls to send is unknown."""
        amounts = [stage.usd for stage in self.stages if stage.calls]
        return None if None in amounts else sum((usd for usd in amounts if usd is not None), Decimal(0))

    def __str__(self) -> str:
        """Return a table for people, with what it rests on."""
        rows = [_HEADER, *map(_row, self.stages), self._totals()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
        lines = [
            "  ".join(
                cell.ljust(width) if i < 3 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        sources = dict.fromkeys(f"{stage.model}: {stage.source}" for stage in self.stages if stage.source)
        if self.usd is None:
            sources["a price is unknown: give --price IN,OUT, USD for a million input and output tokens"] = ""
        return "\n".join([*(line.rstrip() for line in lines), *(["", *sources] if sources else [])])

    def to_json(self) -> dict[str, Any]:
        """Return the same for programs; money as text, since its digits count, and null where it is unknown."""
        stages = [
            {
                "stage": stage.stage,
                "endpoint": stage.endpoint,
                "model": stage.model,
                "calls": stage.calls,
                "answered": stage.answered,
                "input_tokens": stage.input_tokens,
                "output_tokens": stage.output_tokens,
                "usd": None if stage.usd is None else f"{stage.usd:f}",
                "price": stage.source,
            }
            for stage in self.stages
        ]
        names = ("calls", "answered", "input_tokens", "output_tokens")
        total: dict[str, Any] = {name: sum(getattr(stage, name) for stage in self.stages) for name in names}
        return {"stages": stages, "total": {**total, "usd": None if self.usd is None else f"{self.usd:f}"}}

    def _totals(self) -> Sequence[str]:
        names = ("calls", "answered", "input_tokens", "output_tokens")
        return (
            "total",
            "",
            "",
            *(f"{sum(getattr(stage, n) for stage in self.stages):,}" for n in names),
            dollars(self.usd),
        )


def estimate_stage(
    stage: str,
    endpoint: str,
    model: str,
    requests: Iterable[Request],
    price: Price | None,
    *,
    answered: Callable[[str], bool] = lambda digest: False,
    count: Callable[[str], int] = rough_tokens,
    output_tokens: int | None = None,
) -> StageEstimate:
    """Return what a stage will cost.

    Args:
        stage: What it is.
        endpoint: Where it is sent.
        model: Who is asked.
        requests: Its calls, taken one at a time; one that comes twice is sent once.
        price: What the model costs, None where nobody knows; that of a batch where the calls go in one.
        answered: Tells by a call's id whether it was answered before.
        count: Counts the tokens of a text.
        output_tokens: The tokens that an answer is expected to have; the most that each call allows when not given.

    Raises:
        InputError: Nobody says how many tokens an answer has.
    """
    calls = done = sent = came = 0
    usd = Decimal(0)
    seen: set[str] = set()
    for request in requests:
        if request.digest in seen:
            continue
        seen.add(request.digest)
        if answered(request.digest):
            done += 1
            continue
        tokens = _input_tokens(request, count)
        expected = _expected(request, output_tokens)
        calls, sent, came = calls + 1, sent + tokens, came + expected
        usd += price.usd(tokens, expected) if price else 0
    known = usd if price else None
    return StageEstimate(stage, endpoint, model, calls, done, sent, came, known, price.source if price else "")


def _expected(request: Request, output_tokens: int | None) -> int:
    """Return the tokens that an answer is expected to have, which are no more than it may have."""
    most = most_output_tokens(request)
    limits = [limit for limit in (output_tokens, most) if limit is not None]
    if not limits:
        hint = "set max_tokens or max_completion_tokens among its parameters"
        raise InputError("an estimate", expected="the tokens of an answer", got="none", hint=hint)
    return min(limits)


def _input_tokens(request: Request, count: Callable[[str], int]) -> int:
    """Return about how many tokens a request has: its messages, the schema, and the texts to embed."""
    given = request.parameters.get("input", ())
    texts = [given] if isinstance(given, str) else [text for text in given if isinstance(text, str)]
    texts += [message.content for message in request.messages]
    if request.schema is not None:
        texts.append(str(request.schema))
    return sum(map(count, texts)) + MESSAGE * len(request.messages)


def _row(stage: StageEstimate) -> Sequence[str]:
    numbers = (stage.calls, stage.answered, stage.input_tokens, stage.output_tokens)
    return (stage.stage, stage.endpoint, stage.model, *(f"{number:,}" for number in numbers), dollars(stage.usd))
