"""What calls of a model cost: from a package that carries prices, or as somebody says.

Nothing is looked up on a network. A price that is not known is an error, and never 0.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import InputError, MissingExtraError, shown, shown_path

LARGEST = Decimal(1_000_000)
"""USD for a million tokens; what is more is a mistake."""
_FILE = ".toml"
LARGEST_FILE = 1_000_000
"""Bytes of a file of prices."""
EVERY = ""
"""The name under which a price for all models is kept."""
BATCH_FACTOR = Decimal("0.5")
"""What a batch costs of the same calls one by one, where nothing else is known: all large providers halve."""

HINT = "give --price IN,OUT, USD for a million input and output tokens, and 0,0 for a model that costs nothing"
"""What to do about a price that nobody knows."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Other prices for calls with many input tokens; they count for all tokens of such a call.

    Args:
        over: The input tokens that a call must have more of.
        input: USD for a million input tokens.
        output: USD for a million output tokens.
    """

    over: int
    input: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs.

    Args:
        input: USD for a million input tokens.
        output: USD for a million output tokens.
        source: Who says so.
        call: USD for each call beside its tokens.
        tiers: Other prices for long calls, the shortest first.
    """

    input: Decimal
    output: Decimal
    source: str
    call: Decimal = Decimal(0)
    tiers: tuple[Tier, ...] = ()

    def usd(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return what one call costs.

        Args:
            input_tokens: The tokens that were sent; those of a cache count as all others.
            output_tokens: The tokens that came back, thoughts included.
        """
        input_rate, output_rate = self._rates(input_tokens)[-1]
        return self.call + (input_rate * input_tokens + output_rate * output_tokens).scaleb(-6)

    def most(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Return what one call costs at most that has so many tokens or fewer."""
        rates = self._rates(input_tokens)
        dearest = max(rate[0] for rate in rates) * input_tokens + max(rate[1] for rate in rates) * output_tokens
        return self.call + dearest.scaleb(-6)

    def _rates(self, input_tokens: int) -> list[tuple[Decimal, Decimal]]:
        """Return the prices of calls with up to so many input tokens; the last one is that of exactly so many."""
        longer = [(tier.input, tier.output) for tier in self.tiers if input_tokens > tier.over]
        return [(self.input, self.output), *longer]

    def halved(self) -> "Price":
        """Return the price of the same calls in a batch, as it usually is."""
        tiers = tuple(Tier(tier.over, tier.input * BATCH_FACTOR, tier.output * BATCH_FACTOR) for tier in self.tiers)
        source = f"half of {self.source}, as batches usually cost"
        input_rate, output_rate = self.input * BATCH_FACTOR, self.output * BATCH_FACTOR
        return replace(
            self, input=input_rate, output=output_rate, source=source, call=self.call * BATCH_FACTOR, tiers=tiers
        )


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of models at one address.

    Args:
        url: Where the models are; "" when that does not matter.
        given: From a model to the price that somebody gave for it, which goes before any other; that of ``EVERY`` is
            for all models that have none of their own.
    """

    url: str = ""
    given: Mapping[str, Price] = field(default_factory=dict)

    def of(self, model: str, embeddings: bool = False, *, batch: bool = False) -> Price:
        """Return what a model costs.

        Args:
            model: Its name, as it is sent.
            embeddings: Whether it is asked for embeddings, which are no output that costs anything.
            batch: Whether the calls go in a batch.

        Raises:
            InputError: Nobody says what it costs.
            MissingExtraError: The package with the prices is not installed.
        """
        price = self.known(model, embeddings, batch=batch)
        if price is None:
            where = f" at {shown(self.url)}" if self.url else ""
            raise InputError(f"the price of the model {shown(model)}{where} is unknown", hint=HINT)
        return price

    def known(self, model: str, embeddings: bool = False, *, batch: bool = False) -> Price | None:
        """Return what a model costs, None when nobody says it; see ``of``."""
        if given := self.given.get(model) or self.given.get(EVERY):
            return given.halved() if batch else given
        plain = _listed(model, self.url, embeddings, {})
        if plain is None or not batch:
            return plain
        listed = _listed(model, self.url, embeddings, {"processing": "batch"})
        cheaper = listed is not None and (listed.input, listed.output) != (plain.input, plain.output)
        return listed if listed is not None and cheaper else plain.halved()


def _listed(model: str, url: str, embeddings: bool, context: dict[str, str]) -> Price | None:
    """Return the price that the package has for a model, None when it has none.

    At an address of a provider that it knows, only that provider's prices count. At any other, which is a company's
    gateway or a machine of one's own, the model's name decides.
    """
    try:
        import genai_prices
    except ImportError as error:
        raise MissingExtraError("genai-prices", "llm") from error
    usage = genai_prices.Usage(input_tokens=0, output_tokens=0)
    known = _provider_at(url)
    try:
        found = genai_prices.calc_price(usage, model, provider_id=known, price_context=context or None)
    except (LookupError, ValueError):  # ValueError: a price there that is none
        return None
    prices: Any = found.model_price
    input_rate, output_rate = prices.input_mtok, prices.output_mtok
    if output_rate is None and embeddings:
        output_rate = Decimal(0)
    if input_rate is None or output_rate is None:
        return None
    name = f"genai-prices {genai_prices.__version__}, {found.provider.id} {found.model.id}"
    source = f"{name}, batch" if context else name
    call = _base(prices.requests_kcount or Decimal(0)).scaleb(-3)
    return Price(_base(input_rate), _base(output_rate), source, call, _tiers(input_rate, output_rate))


def _provider_at(url: str) -> str | None:
    """Return the package's name of the provider at an address, None when it knows none there."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider(None, None, url).id if url else None
    except LookupError:
        return None


def _base(rate: Any) -> Decimal:
    """Return the price of short calls, of one that may have tiers."""
    return rate if isinstance(rate, Decimal) else Decimal(rate.base)


def _tiers(input_rate: Any, output_rate: Any) -> tuple[Tier, ...]:
    """Return the tiers of two prices, of which either may have some."""

    def at(rate: Any, start: int) -> Decimal:
        return max(((0, _base(rate)), *_steps(rate, start)))[1] if not isinstance(rate, Decimal) else rate

    starts = {start for rate in (input_rate, output_rate) for start, _ in _steps(rate)}
    return tuple(Tier(start, at(input_rate, start), at(output_rate, start)) for start in sorted(starts))


def _steps(rate: Any, last: int | None = None) -> list[tuple[int, Decimal]]:
    """Return the starts of a price's tiers with their prices, up to a start."""
    tiers = [] if isinstance(rate, Decimal) else rate.tiers
    return [(tier.start, tier.price) for tier in tiers if last is None or tier.start <= last]


def parse_prices(texts: Iterable[str]) -> dict[str, Price]:
    """Return the prices that options give.

    Args:
        texts: What was typed: ``2.5,10`` for all models, ``gpt-4o=2.5,10`` for one, or a file whose name ends with
            ``.toml`` for those of which it tells, as ``read_prices`` reads it.

    Raises:
        InputError: One cannot be read, or is for a model that another one is for.
    """
    prices: dict[str, Price] = {}
    for text in texts:
        for model, price in (read_prices(Path(text)) if text.endswith(_FILE) else _typed(text)).items():
            if model in prices:
                got = f"two for {shown(model) if model else 'all'}"
                raise InputError("a price", expected="one for each model", got=got)
            prices[model] = price
    return prices


def _typed(text: str) -> dict[str, Price]:
    """Return the price that an option gives."""
    found = re.fullmatch(r"(?:(.+)=)?([^=,]+),([^=,]+)", text)
    if not found:
        raise InputError("a price", expected="IN,OUT, MODEL=IN,OUT or FILE.toml", got=shown(text), hint=HINT)
    return {(found[1] or EVERY).strip(): Price(_rate(found[2]), _rate(found[3]), "given")}


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices of a small TOML file: a table for each model, with ``input`` and ``output``.

    Args:
        path: The file.

    Raises:
        InputError: It cannot be read, or holds something else.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise ValueError(f"more than {LARGEST_FILE:,} bytes")
        tables = tomllib.loads(content.decode(), parse_float=Decimal)
    except (OSError, ValueError, RecursionError) as error:
        got = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read the prices {shown_path(path)}", got=shown(got)) from None
    for model, table in tables.items():
        if not isinstance(table, dict) or table.keys() != {"input", "output"}:
            what = f"{shown_path(path)}: the prices of {shown(model)}"
            raise InputError(what, expected="input and output, in USD for a million tokens", got=shown(table))
    source = f"given in {path.name}"
    return {model: Price(_rate(table["input"]), _rate(table["output"]), source) for model, table in tables.items()}


def _rate(value: object) -> Decimal:
    """Return USD for a million tokens."""
    try:
        if isinstance(value, str | int | Decimal) and not isinstance(value, bool):
            rate = Decimal(value)
            if rate.is_finite() and 0 <= rate <= LARGEST:
                return rate
    except (InvalidOperation, ValueError):
        pass
    raise InputError("a price", expected=f"a number from 0 to {LARGEST:,}", got=shown(value))
