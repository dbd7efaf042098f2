"""What became of the calls of a run, in numbers."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from freshstack_datasets.llm.budget import dollars


@dataclass(slots=True)
class Counts:
    """The numbers of a client's life so far.

    Args:
        stored: Calls, and texts to embed, that were answered from the store.
        sent: How often something was sent, tries that failed included.
        answered: Calls that a server answered.
        again: Tries that failed and were made again, by reason.
        failed: Calls that failed, by reason.
        unfit: Replies that did not fit and were asked for again.
        slowed: How often the server asked all calls to slow down.
        models: Replies by another model than the one asked for, by "asked -> answered".
        odd: What was unusual about replies.
        refused_forms: Forms of reply that a model's server does not take, as "model: form".
        input_tokens: Tokens read for the calls that were answered, as far as the server says.
        output_tokens: Tokens written for them.
        usd: What they cost, as far as their price is known.
    """

    stored: int = 0
    sent: int = 0
    answered: int = 0
    again: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    unfit: int = 0
    slowed: int = 0
    models: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)
    refused_forms: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    usd: Decimal = Decimal(0)

    def answer(self, input_tokens: int | None, output_tokens: int | None, usd: Decimal | None) -> None:
        """Count a call that was answered.

        Args:
            input_tokens: What was read; None where the server does not say.
            output_tokens: What was written; None where the server does not say.
            usd: What it cost; None when nobody knows.
        """
        self.answered += 1
        self.input_tokens += input_tokens or 0
        self.output_tokens += output_tokens or 0
        self.usd += usd or 0

    def __str__(self) -> str:
        tokens = self.input_tokens + self.output_tokens
        kept_back = self.failed["budget"]
        failed = self.failed.total() - kept_back
        parts = [
            (self.answered, f"{self.answered:,} answered"),
            (self.stored, f"{self.stored:,} known"),
            (self.again.total(), f"{self.again.total():,} tried again"),
            (self.unfit, f"{self.unfit:,} asked again"),
            (failed, f"{failed:,} failed"),
            (kept_back, f"{kept_back:,} not sent"),
            (tokens, f"{tokens:,} tokens"),
            (self.usd, dollars(self.usd)),
        ]
        return ", ".join(text for number, text in parts if number)
