"""``python -m builders drift``: what has changed between two snapshots of a dataset."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from builders.commands.runs import read_runs
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralValues

SHOWN = 20
"""Nuggets, and repositories, that are printed; --json has all."""


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "drift",
        cls=SeveralValues,
        epilog="Example: python -m builders drift langchain-2026-07 langchain-2026-10 --before old/bm25.trec old/dense.trec "
        "--after new/bm25.trec new/dense.trec",
    )(_drift)


def _drift(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The earlier snapshot: a folder, or a name@snapshot.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The newer one.")],
    before: Annotated[
        list[Path] | None, typer.Option("--before", metavar="FILE", help="Runs on the earlier snapshot.")
    ] = None,
    after: Annotated[
        list[Path] | None,
        typer.Option("--after", metavar="FILE", help="Runs on the newer one, of the same names."),
    ] = None,
    retriever: Annotated[
        list[str] | None,
        typer.Option("--retriever", metavar="NAME", help="Search both with it: bm25, dense:MODEL … Repeatable."),
    ] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Tell what has changed between two snapshots of a dataset.

    Documents are known by their texts, so that one that moved in its file is not a new one. Of an edited one, the earlier text
    counts as edited and the newer one as new. Nuggets and repositories are those of the questions that both have with the
    same texts; in filtered snapshots every nugget has support, so give the unfiltered ones to see which lost it. Kendall's
    tau (tau-b) says how far both put systems into the same order: 1 for the same order, -1 for the reverse.
    """
    from builders.refreshing.drift import drift
    from builders.refreshing.sides import side_of
    from builders.refreshing.systems import scored, searched, systems
    from freshstack_datasets.loading import load

    data, newer = load(old), load(new)
    runs = scored(read_runs(before or []), data), scored(read_runs(after or []), newer)
    names = retriever or []
    scores = systems(
        runs[0] + searched(names, data.corpus, list(data.queries), data),
        runs[1] + searched(names, newer.corpus, list(newer.queries), newer),
    )
    told = {**drift(side_of(data), side_of(newer)).to_json(), "systems": scores.to_json()}
    if as_json:
        console.say_json(told)
    else:
        say_drift(told)


def say_drift(told: Mapping[str, Any]) -> None:
    """Print what drifted.

    Args:
        told: It as JSON values, with the scores of systems.
    """
    console.say(f"from {told['before']['name']} to {told['now']['name']}")
    console.say(f"questions: {_listed(told['questions'])}")
    for why, number in told["retired"].items():
        console.say(f"  {number:,} {why}")
    if kept_out := told.get("kept_out"):
        console.say(f"questions of the dump that are kept out: {sum(kept_out.values()):,}")
    for why, number in (kept_out or {}).items():
        console.say(f"  {number:,} {why.removeprefix('retired: ')}")
    for name in ("documents", "judgments"):
        console.say(f"{name}: {_listed(told[name])}")
    nuggets = told["nuggets"]
    plain = {name: number for name, number in nuggets.items() if isinstance(number, int)}
    console.say(f"nuggets of the questions that are kept: {_listed(plain)}")
    for name in ("gained", "lost"):
        _say_nuggets(name, nuggets[f"{name}_ones"])
    if told["repositories"]:
        console.say("")
        columns = ("repository", "nuggets before", "nuggets now", "documents before", "documents now")
        console.say_table(columns, _repositories(told["repositories"][:SHOWN]), right=columns[1:])
    if any(told["systems"]["scores"].values()):
        console.say("")
        columns = ("measure", "system", "before", "now", "Kendall's tau")
        console.say_table(columns, _systems(told["systems"]), right=columns[2:])


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items())


def _say_nuggets(name: str, nuggets: list[dict[str, str]]) -> None:
    for one in nuggets[:SHOWN]:
        console.say(f"  {name} support: {one['nugget']} {console.one_line(one['text'], 100)}")
    if len(nuggets) > SHOWN:
        console.say(f"  and {len(nuggets) - SHOWN:,} more")


def _repositories(shares: list[dict[str, Any]]) -> Iterator[tuple[object, ...]]:
    for one in shares:
        nuggets, documents = one["nuggets"], one["documents"]
        numbers = (nuggets["before"], nuggets["now"], documents["before"], documents["now"])
        yield (one["repository"], *(f"{number:,}" for number in numbers))


def _systems(told: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table of scores: tau stands beside the first system of its measure."""
    for measure, scores in told["scores"].items():
        tau = told["kendall_tau"][measure]
        for place, (system, values) in enumerate(scores.items()):
            first = (measure, "-" if tau is None else f"{tau:+.3f}") if place == 0 else ("", "")
            yield first[0], system, f"{values['before']:.4f}", f"{values['now']:.4f}", first[1]
