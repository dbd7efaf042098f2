"""``python -m builders judge-holes``: the unjudged documents of runs, judged as the snapshot's own were."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builders.commands.asking import USUAL, AskingOptions, DryRun, asking_from, say_asked, say_dangers, with_asking
from builders.commands.runs import read_runs
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralValues
from freshstack_datasets.errors import BudgetError, InputError

if TYPE_CHECKING:
    from decimal import Decimal

    from builders.holes.filling import Filled
    from builders.holes.finding import Holes
    from builders.holes.judge import Judge
    from freshstack_datasets.llm.estimates import Estimate
    from freshstack_datasets.loading import Dataset
    from freshstack_datasets.ranking import Run

K = 20
SHOWN = 5
"""Ids that a warning names."""
_LIMIT = "--max-usd USD sets a limit"


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "judge-holes",
        cls=SeveralValues,
        epilog="Example: python -m builders judge-holes langchain-2026-10 --run mine.trec --out mine-judged --dry-run",
    )(with_asking(_judge_holes, without={"model", "recipe"}))


def _judge_holes(
    dataset: Annotated[
        str, typer.Argument(metavar="DIR", help="The folder of a snapshot, a dataset's name or name@snapshot.")
    ],
    run: Annotated[list[Path], typer.Option("--run", metavar="FILE", help="A run file, or several.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the judgments, an overlay.")],
    k: Annotated[int, typer.Option("--k", metavar="N", min=1, help="How many documents of each ranking count.")] = K,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Judge with this model on purpose, also where another one judged the snapshot, or nobody says which.",
        ),
    ] = "",
    options: AskingOptions = USUAL,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether the price is fine.")] = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Judge documents at the top of runs that a snapshot has no judgment of.

    So systems that did not help to build its pool are scored fairly. The documents are judged with the prompt, the model
    and the parameters that the snapshot's own documents were judged with, as its provenance/calls.parquet says. It does
    not say at which address: --llm does. What comes of it is an overlay, a folder of its own with a fingerprint of
    its own; the snapshot stays as it is. freshstack evaluate and compare take it with --overlay DIR, on this very snapshot
    alone.

    The price is shown first. On a terminal it has to be agreed to, unless --yes is given; elsewhere the command goes on
    with --yes, or where the price is known and within --max-usd. Without --llm the address is that of the recipe default,
    which is shown with the price and has to be agreed to on a terminal, whatever the price; elsewhere, and with --yes,
    nothing is sent. Every reply is kept: the same command, run again after any end, goes on there.

    To compare two systems that were not pooled, judge the holes of both in one overlay: scores with different
    overlays have different fingerprints, and are no fair comparison.
    """
    from builders.holes.filling import fill, priced
    from builders.holes.finding import holes_of
    from builders.holes.judge import judge_of
    from builders.pipeline.settings import read_recipe
    from freshstack_datasets.files import refuse_taken
    from freshstack_datasets.llm.estimates import Estimate
    from freshstack_datasets.loading import load

    if not dry_run:
        refuse_taken(out)
    runs, data = read_runs(run), load(dataset)
    holes, judge = holes_of(data, runs, k), judge_of(data, model)
    _say_holes(holes, data, runs, k, as_json)
    if not holes.groups:
        _say_none(holes, as_json)
        return
    usual = read_recipe().models
    with asking_from(
        judge.settings(options.llm or usual.endpoint, options.key_from or usual.key_from), options
    ) as asking:
        estimate = Estimate((priced(asking, data, holes),))
        if dry_run:
            _say_price(estimate, judge, holes, as_json)
            return
        say_dangers(asking)
        console.message(_price(estimate))
        if any(stage.calls for stage in estimate.stages):
            _agree(estimate, asking.budget.max_usd, yes=yes, unnamed="" if options.llm else asking.endpoint)
        try:
            filled = fill(asking, data, holes, judge, runs, k, out)
        finally:
            say_asked(asking)
        _say(filled, out, dataset, holes, as_json)


def _say_holes(holes: "Holes", data: "Dataset", runs: "Sequence[Run]", k: int, as_json: bool) -> None:
    """Say what of the runs can be judged, and what cannot."""
    for name, strange in holes.strange.items():
        console.warn(f"{name}: left out, because the dataset does not have them: {console.counted(strange, 'queries')}")
    for name, foreign in holes.foreign.items():
        some = ", ".join(foreign[:SHOWN]) + (", …" if len(foreign) > SHOWN else "")
        told = f"{console.counted(len(foreign), 'documents')} in the top {k}"
        console.warn(f"{name}: not judged, because the corpus does not have them: {told} ({some})")
    console.message(
        f"{data.name}@{data.snapshot}: {holes.documents:,} of the {console.counted(holes.top, 'documents')} in the top {k} "
        f"of {console.counted(len(runs), 'runs')} are unjudged, for {console.counted(len(holes.groups), 'questions')}"
    )


def _say_none(holes: "Holes", as_json: bool) -> None:
    if as_json:
        console.say_json({"path": None, **_told(holes)})
    else:
        console.say("nothing to judge, and no overlay is needed")


def _say_price(estimate: "Estimate", judge: "Judge", holes: "Holes", as_json: bool) -> None:
    if as_json:
        console.say_json({**estimate.to_json(), **_told(holes), "model": judge.model, "prompt": str(judge.prompt)})
    else:
        console.say(f"{estimate}\n\nwith the prompt {judge.prompt}; nothing was sent")


def _price(estimate: "Estimate") -> str:
    """Return the price in one line."""
    from freshstack_datasets.llm.budget import dollars

    (stage,) = estimate.stages
    if not stage.calls:
        return f"all {console.counted(stage.answered, 'calls')} were answered before: nothing is sent"
    told = f"{console.counted(stage.calls, 'calls')} to {stage.model} at {stage.endpoint}"
    if stage.answered:
        told += f", beside {stage.answered:,} that were answered before"
    tokens = f"{stage.input_tokens:,} tokens of input and about {stage.output_tokens:,} of output"
    return f"{told}: {tokens}, {'at an unknown price' if stage.usd is None else f'about {dollars(stage.usd)}'}"


def _agree(estimate: "Estimate", limit: "Decimal | None", *, yes: bool, unnamed: str) -> None:
    """See to it that somebody agrees to the price, and to the address where nobody named it.

    Raises:
        BudgetError: The price is more than ``--max-usd``.
        InputError: Nobody does.
    """
    from freshstack_datasets.llm.budget import dollars
    from freshstack_datasets.llm.prices import HINT

    usd, terminal = estimate.usd, sys.stdin is not None and sys.stdin.isatty()
    if unnamed and (yes or not terminal):
        hint = f"give it, also where it is {unnamed}; without it, this has to be agreed to on a terminal, without --yes"
        raise InputError("nobody said where to send the documents", expected="--llm URL", got="none", hint=hint)
    if not unnamed and (yes or usd == 0):
        return
    if terminal:
        if typer.confirm(
            f"Send documents to {unnamed}, at this price?" if unnamed else "Judge at this price?", err=True
        ):
            return
        raise InputError("nothing was judged", hint="--llm URL names another address" if unnamed else _LIMIT)
    if limit is None or usd is None:
        expected = "--yes, or --max-usd USD with a price that is known"
        got, hint = ("neither", "") if limit is None else ("a price that nobody knows", HINT)
        raise InputError("nobody agreed to the price", expected=expected, got=got, hint=hint)
    if usd > limit:
        got = f"about {dollars(usd)}"
        raise BudgetError("judging the holes", expected=f"at most the {dollars(limit)} of --max-usd", got=got)


def _say(filled: "Filled", out: Path, dataset: str, holes: "Holes", as_json: bool) -> None:
    overlay = filled.overlay
    for reason, number in sorted(filled.lacking.items()):
        console.warn(f"not judged: {console.counted(number, 'documents')} ({reason})")
    if as_json:
        told = {"fingerprint": overlay.fingerprint, "base": overlay.base, "judgments": overlay.table.rows}
        counts = {"counts": dict(filled.counts), "lacking": dict(filled.lacking)}
        console.say_json({"path": str(out), **told, **_told(holes), **counts})
        return
    relevant = (
        f"{filled.counts['relevant']:,} of {console.counted(filled.counts['labels'], 'documents')} support a nugget"
    )
    console.say(f"{out}: {relevant}; fingerprint {overlay.fingerprint[:12]}")
    console.say(f"score with it: freshstack evaluate {dataset} --overlay {out} {' '.join(_runs(overlay.runs))}")


def _runs(names: Sequence[str]) -> Iterator[str]:
    yield from ("--run FILE" for _ in names)


def _told(holes: "Holes") -> dict[str, object]:
    return {
        "unjudged": holes.documents,
        "top": holes.top,
        "questions": len(holes.groups),
        "foreign": {name: list(ids) for name, ids in holes.foreign.items()},
    }
