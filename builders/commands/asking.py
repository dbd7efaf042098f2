"""Options of every command that asks a model, and what they make: who is asked, and within which limits."""

import inspect
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli import console

if TYPE_CHECKING:
    from builders.pipeline.asking import Asking
    from builders.pipeline.settings import Settings
    from builders.topics import Topic
    from freshstack_datasets.llm.estimates import StageEstimate

WorkFolder = Annotated[
    Path, typer.Option("--work", metavar="DIR", help="The folder of the build, with what earlier stages made.")
]
Recipe = Annotated[
    str,
    typer.Option(
        "--recipe",
        metavar="NAME|FILE",
        help="What the topic file leaves unsaid: default, paper, or a file of yours.",
    ),
]
Replies = Annotated[
    Path | None,
    typer.Option(
        "--replies",
        metavar="FILE",
        help="The file in which replies are kept, so that nothing is asked twice; one in FRESHSTACK_HOME when not given.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say how many calls, tokens and USD it would take, and send nothing.")
]


@dataclass(frozen=True, slots=True)
class AskingOptions:
    """What the options say; a command has them by ``with_asking``.

    Args:
        llm: Where the models are.
        model: The model for every kind of call.
        key_from: The variable of the environment that holds the key.
        recipe: The recipe's name or file.
        replies: The file in which replies are kept.
        max_usd: The most money, as it was typed.
        max_tokens: The most tokens.
        price: The prices, as they were typed.
        concurrency: The most calls at once.
        requests_per_minute: The most calls in a minute.
        tokens_per_minute: The most tokens in a minute.
        timeout: Seconds that one call may take.
    """

    llm: Annotated[
        str,
        typer.Option(
            "--llm",
            metavar="URL|recorded:FILE|fake",
            help="Where the models are: a base URL such as http://localhost:8080/v1, a recording of what one said, or a "
            "stand-in that knows nothing; that of the topic file or the recipe when not given.",
        ),
    ] = ""
    model: Annotated[
        str,
        typer.Option("--model", metavar="NAME", help="The model for every kind of call, whatever the topic file says."),
    ] = ""
    key_from: Annotated[
        str,
        typer.Option(
            "--key-from",
            metavar="NAME",
            help="The variable of the environment that holds the key; that of the topic file or the recipe, which is "
            "OPENAI_API_KEY in ours, when not given.",
        ),
    ] = ""
    recipe: Recipe = ""
    replies: Replies = None
    max_usd: Annotated[
        str, typer.Option("--max-usd", metavar="USD", help="Send no call that may take the run beyond this much money.")
    ] = ""
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens", metavar="N", min=0, help="Send no call that may take the run beyond so many tokens."
        ),
    ] = None
    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="[MODEL=]IN,OUT|FILE.toml",
            help="What a model costs, USD for a million input and output tokens; 0,0 for one of your own. Or a file with a "
            "table for each model, which has input and output. Repeatable.",
        ),
    ] = None
    concurrency: Annotated[int, typer.Option("--concurrency", metavar="N", min=1, help="The most calls at once.")] = 16
    requests_per_minute: Annotated[
        float | None, typer.Option("--requests-per-minute", metavar="N", help="The most calls in a minute.")
    ] = None
    tokens_per_minute: Annotated[
        float | None, typer.Option("--tokens-per-minute", metavar="N", help="The most tokens in a minute.")
    ] = None
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="How long one call may take.")] = 600.0


USUAL = AskingOptions()
"""What counts where nothing is typed."""


def with_asking(command: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """Return a command with an option for each member of ``AskingOptions``, in the place of its parameter ``options``.

    Args:
        command: The command.
        without: The members that it has no option for.
    """
    group = [member.name for member in fields(AskingOptions) if member.name not in without]
    given = inspect.signature(AskingOptions).parameters
    own = inspect.signature(command, eval_str=True)
    parameters = [
        parameter
        for name, one in own.parameters.items()
        for parameter in ([given[member] for member in group] if name == "options" else [one])
    ]

    @wraps(command)
    def told(**values: Any) -> None:
        options = AskingOptions(**{name: values.pop(name) for name in group})
        command(**values, options=options)

    told.__dict__["__signature__"] = own.replace(parameters=parameters)
    return told


def asking_of(topic: "Topic", options: AskingOptions) -> "Asking":
    """Return what asks the models of a topic, as options say.

    Args:
        topic: The topic.
        options: What was typed.

    Raises:
        InputError: An option says what cannot be.
        UnknownNameError: There is no recipe of that name.
    """
    from builders.pipeline.settings import Settings

    told = options
    return asking_from(Settings.of(topic, told.recipe, llm=told.llm, model=told.model, key_from=told.key_from), told)


def asking_from(settings: "Settings", options: AskingOptions) -> "Asking":
    """Return what asks models that are chosen already, within the limits that options say.

    Args:
        settings: Which models are asked, and how.
        options: What was typed; what it says of models was heard before.

    Raises:
        InputError: An option says what cannot be.
    """
    from builders.pipeline.asking import Asking
    from freshstack_datasets.llm.budget import Budget, parse_usd
    from freshstack_datasets.llm.prices import parse_prices

    told = options
    return Asking(
        settings,
        replies=told.replies,
        budget=Budget(parse_usd(told.max_usd) if told.max_usd else None, told.max_tokens),
        prices=parse_prices(told.price or ()),
        concurrency=told.concurrency,
        requests_per_minute=told.requests_per_minute,
        tokens_per_minute=told.tokens_per_minute,
        timeout=told.timeout,
    )


def say_estimate(stages: "Iterable[StageEstimate | None]", as_json: bool) -> None:
    """Print what a run would cost, of which nothing was sent.

    Args:
        stages: Its stages; None for one that asks nobody.
        as_json: Whether as JSON.
    """
    from freshstack_datasets.llm.estimates import Estimate

    estimate = Estimate(tuple(stage for stage in stages if stage is not None))
    if as_json:
        console.say_json(estimate.to_json())
    else:
        console.say(str(estimate) if estimate.stages else "nothing is asked")


def say_dangers(asking: "Asking", *, pool: bool = False) -> None:
    """Say on standard error what people should know before anything is sent, such as that it travels in the clear.

    Args:
        asking: Who is asked.
        pool: Whether the servers of the pool's retrievers are, too.
    """
    several = asking.settings.pool.retrievers if pool else ()
    others = [asking.client_at(told.endpoint, told.key_from) for told in several if told.endpoint]
    for warning in dict.fromkeys(warning for client in (asking.client, *others) for warning in client.warnings):
        console.warn(warning)


def say_asked(asking: "Asking") -> None:
    """Say on standard error what became of the calls of a run, where there were any; also what was odd about them."""
    if lost := asking.store.found_lost if "store" in asking.__dict__ else {}:
        stages = ", ".join(f"{number:,} of {stage}" for stage, number in lost.items())
        calls = console.counted(sum(lost.values()), "calls")
        console.warn(f"{calls} under way when an earlier run was killed: {stages}; each may have been charged for")
    if "client" not in asking.__dict__:
        return
    counts = asking.client.counts
    if str(counts):
        console.message(f"asked {asking.endpoint}: {counts}")
    for told, number in () if asking.stand_in else sorted(counts.models.items()):
        console.warn(f"{console.counted(number, 'replies')} by another model than asked: {told}")
    for told, number in sorted(counts.odd.items()):
        console.warn(f"{console.counted(number, 'replies')}: {told}")
