"""Calls of a stage sent as batches before it is run, which large providers answer within a day at half the price.

Their replies go where the client finds them. What a batch left open the stage asks itself.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal
from pathlib import Path

from builders.pipeline.asking import Asking
from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import BudgetError, EndpointError, InputError, shown, shown_path
from freshstack_datasets.files import matching
from freshstack_datasets.llm.batch import write_batches
from freshstack_datasets.llm.batch_results import BatchResults, read_results
from freshstack_datasets.llm.batch_server import BatchServer, send_batches
from freshstack_datasets.llm.budget import dollars, most_input_tokens, most_output_tokens
from freshstack_datasets.llm.prices import HINT
from freshstack_datasets.llm.records import Request

EVERY = 60.0
"""Seconds between two looks at a batch."""
_LEFT = 10
"""A batch that leaves more than one call of so many open has not done what it was sent for."""

Calls = Callable[[], Iterable[Request]]


def check(asking: Asking) -> None:
    """Refuse to send batches where nobody takes them.

    Args:
        asking: Who is asked.

    Raises:
        InputError: It is no server.
    """
    where = asking.settings.endpoint
    if where.kind != "server":
        raise InputError("--batch", expected="a provider that takes batches", got=str(where))


def send(asking: Asking, calls: Calls, folder: Path, tell: Callable[[str], None]) -> BatchResults | None:
    """Send calls as batches, wait for them, and keep their replies; None where all were answered before.

    After any end, the same call goes on: nothing is sent twice.

    Args:
        asking: Who is asked, and what that may cost.
        calls: Returns the calls, each time the same.
        folder: Where the batches are written, with what was sent and came back.
        tell: Takes a line for people.

    Raises:
        InputError: Nobody is there who takes batches, or the folder has other ones.
        BudgetError: They may cost more than may be spent; nothing was sent.
        EndpointError: The provider does not answer them, or not in two days, or leaves many open.
    """
    check(asking)
    left = _unanswered(asking, calls)
    if not left:
        return None
    files = _written(asking, calls, left, folder, tell)
    server = BatchServer(asking.endpoint, asking.settings.endpoint.key_from)
    try:
        results = send_batches(files, server, every=EVERY, tell=tell)
    finally:
        server.close()
    found = read_results(results, calls(), asking.store, asking.endpoint, asking.prices)
    if found.kept:
        replies = asking.store.calls(left, asking.endpoint)
        tokens = sum((call.input_tokens or 0) + (call.output_tokens or 0) for call in replies)
        asking.budget.charge(tokens, found.usd, found.kept)
    for line in str(found).splitlines():
        tell(line)
    if len(still := _unanswered(asking, calls)) * _LEFT > len(left):
        raise EndpointError(
            f"{len(still):,} of {counted(len(left), 'calls')} in {shown_path(folder)} came back without a reply",
            hint="name another folder to send these once more, or leave out --batch to ask them one by one",
        )
    return found


def _unanswered(asking: Asking, calls: Calls) -> list[str]:
    """Return the ids of the calls that the store has no reply to."""
    ids = dict.fromkeys(call.digest for call in calls())
    return [one for one in ids if asking.store.get(one, asking.endpoint) is None]


def _written(
    asking: Asking, calls: Calls, left: Sequence[str], folder: Path, tell: Callable[[str], None]
) -> list[Path]:
    """Return the files of the calls: those of an earlier run, or new ones."""
    there = [path for path in matching(folder, "batch-*.jsonl") if re.fullmatch(r"batch-\d{4,}\.jsonl", path.name)]
    if there:
        if not set(left) <= {one for path in there for one in _held(path)}:
            what, hint = f"the batches in {shown_path(folder)}", "name another folder"
            raise InputError(what, expected="the calls of this stage", got="others", hint=hint)
        return there
    wanted = set(left)
    tell(_price(asking, {call.digest: _most(asking, call) for call in calls() if call.digest in wanted}.values()))
    files = write_batches(calls(), folder, answered=lambda digest: digest not in wanted)
    return [file.path for file in files]


def _held(path: Path) -> list[str]:
    """Return the ids of the calls in a file."""
    try:
        with path.open("rb") as stream:
            return [str(json.loads(line)["custom_id"]) for line in stream]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        hint = "name another folder"
        raise InputError(shown_path(path), expected="a batch of calls", got="something else", hint=hint) from None


def _most(asking: Asking, call: Request) -> tuple[int, Decimal | None]:
    """Return the most tokens that a call may have, and the most that it may cost in a batch; None when nobody knows.

    Raises:
        InputError: There is a limit, and nobody knows how much of it the call may take.
    """
    budget = asking.budget
    read, written = most_input_tokens(call.body), most_output_tokens(call)
    if written is None and (budget.max_usd, budget.max_tokens) != (None, None):
        hint = "set max_tokens or max_completion_tokens among its parameters"
        raise InputError("a request under a budget", expected="the most tokens of its answer", got="none", hint=hint)
    price = asking.prices.known(call.model, batch=True)
    if price is None and budget.max_usd is not None:
        raise InputError("--max-usd", expected="models whose price is known", got=shown(call.model), hint=HINT)
    return read + (written or 0), price.most(read, written) if price and written is not None else None


def _price(asking: Asking, most: Collection[tuple[int, Decimal | None]]) -> str:
    """Return what calls may cost at most, in words, and refuse it where it is more than may be spent."""
    budget, tokens = asking.budget, sum(one for one, _ in most)
    known = [usd for _, usd in most if usd is not None]
    usd = sum(known, Decimal(0))
    told = f"{counted(len(most), 'calls')} of up to {tokens:,} tokens, "
    told += f"at most {dollars(usd)}" if len(known) == len(most) else "at an unknown price"
    over = budget.max_usd is not None and budget.spent.usd + usd > budget.max_usd
    if over or (budget.max_tokens is not None and budget.spent.tokens + tokens > budget.max_tokens):
        option = f"--max-usd ${budget.max_usd:f}" if over else f"--max-tokens {budget.max_tokens:,}"
        what = f"the budget of {option} does not take the batches, which are sent as a whole"
        raise BudgetError(what, got=told, hint="nothing was sent")
    return f"sending batches: {told}; the same command goes on waiting after any end"
