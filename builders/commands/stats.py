"""``python -m builders stats``: what a benchmark holds, and how small a difference it can show, before it costs anything."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralArguments
from freshstack_datasets.errors import InputError, shown_path

if TYPE_CHECKING:
    from builders.statistics.given import Given
    from builders.statistics.power import Spread
    from builders.statistics.report import Report

UNKNOWN = "–"
_ROW = {
    "queries": "queries",
    "documents": "documents",
    "repositories": "repositories",
    "nuggets_per_query": "nuggets a query",
    "query_tokens": "tokens of a query",
    "answer_tokens": "tokens of an answer",
    "document_tokens": "tokens of a document",
    "query_code_percent": "queries with code",
    "answer_code_percent": "answers with code",
    "relevant_per_nugget": "relevant documents a nugget",
    "relevant_per_query": "relevant documents a query",
}
"""From a figure to its name in words, in the order of the paper's first table."""

_BASES = {
    "assumed": "The spread is assumed, as there are no runs: low for BM25 beside its fusion with a small embedding model, "
    "high for BM25 beside that model alone, as measured on Nimbus and a small Stack Exchange site. --spread takes another.",
    "given": "The spread is what --spread says.",
    "runs": "The spread is that of the runs: of the two that are most alike, and of the two that are least.",
}
"""In words, where the spread is from."""


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "stats",
        cls=SeveralArguments,
        epilog="Example: python -m builders stats questions corpus --pictures pictures",
    )(_stats)


def _stats(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR",
            help="A snapshot's folder or a dataset's name; or the folder that questions wrote, the one that corpus "
            "wrote, or both.",
        ),
    ],
    run: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A run on the snapshot; two or more tell how much systems differ on it."),
    ] = None,
    spread: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH",
            help="How the difference between two systems varies from question to question: a standard deviation, or "
            "a low and a high one.",
        ),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Put pictures of quarters and lengths there, as SVG.")
    ] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Count questions, documents and judgments, and tell how small a difference between two systems they can show.

    The first table is a row of the paper's Table 1, written as a column; what is not known yet is a dash. Lengths are in
    tokens of o200k_base. A text has code when it holds a fenced block of it.

    The last table says the smallest difference that a paired test finds four times in five, at the two-sided 5 % level,
    and how many questions smaller ones would need.
    """
    from builders.statistics.given import given
    from builders.statistics.report import report, to_json

    if pictures is not None and pictures.exists() and not pictures.is_dir():
        raise InputError(f"--pictures {shown_path(pictures)}", expected="a folder", got="a file")
    found = given(names)
    basis, spreads = _spreads(found, run or [], spread)
    told = report(found)
    drawn = _draw(told, pictures) if pictures is not None else []
    if as_json:
        console.say_json({**to_json(told, spreads, basis), "pictures": [str(path) for path in drawn]})
        return
    if found.data is not None:
        console.say(f"{told.name}, fingerprint {found.data.fingerprint[:12]}")
    _say_row(told)
    _say_lengths(told)
    _say_quarters(told)
    _say_powers(told, spreads, _BASES[basis])
    for path in drawn:
        console.say(str(path))


def _spreads(found: "Given", runs: Sequence[Path], typed: str | None) -> "tuple[str, Mapping[str, Spread]]":
    """Return where the spread of differences is from, and the spread of each measure."""
    from builders.statistics.power import ASSUMED, measured, parse_spread
    from freshstack_datasets.evaluation import evaluate
    from freshstack_datasets.runs import read_run

    if typed is not None:
        if runs:
            raise InputError("--spread", expected="no --run beside it, which tells the spread", got="both")
        return "given", dict.fromkeys(ASSUMED, parse_spread(typed))
    if not runs:
        return "assumed", ASSUMED
    if found.data is None:
        raise InputError("--run", expected="a snapshot, by whose judgments it is scored", got="none")
    results = [evaluate(read_run(path), found.data, intervals=False) for path in runs]
    for result in results:
        for warning in result.warnings:
            console.warn(f"{result.system}: {warning}")
    return "runs", measured(results)


def _draw(told: "Report", folder: Path) -> list[Path]:
    from freshstack_datasets.files import atomic_file

    paths = []
    for name, picture in told.pictures().items():
        with atomic_file(folder / name) as work:
            work.write_bytes(picture.svg)
        paths.append(folder / name)
    return paths


def _say_row(told: "Report") -> None:
    from builders.statistics.report import row

    columns = ("mean, or number", console.one_line(told.given.name))
    rows = [(words, _figure(name, row(told)[name])) for name, words in _ROW.items()]
    console.say_table(columns, rows, right=columns[1:])


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}" + (" %" if name.endswith("_percent") else "")


def _say_lengths(told: "Report") -> None:
    columns = ("tokens of", "number", "mean", "median", "longest")
    rows = [
        (kind, f"{of.texts:,}", f"{of.mean:,.1f}", f"{of.median:,.1f}", f"{of.longest:,}")
        for kind, of in told.lengths().items()
    ]
    if rows:
        console.say("")
        console.say_table(columns, rows, right=columns[1:])


def _say_quarters(told: "Report") -> None:
    from builders.statistics.quarters import named

    if told.questions is None:
        return
    quarters, undated = list(told.questions.quarters), told.questions.undated
    asked = "asked " + " to ".join(dict.fromkeys((named(quarters[0]), named(quarters[-1])))) if quarters else ""
    without = f"{console.counted(undated, 'questions')} without a date" if undated else ""
    if asked or without:
        console.say("")
        console.say(", ".join(filter(None, (asked, without))))


def _say_powers(told: "Report", spreads: "Mapping[str, Spread]", basis: str) -> None:
    from builders.statistics.power import DIFFERENCES
    from builders.statistics.report import powers

    if told.given.questions is None:
        return
    numbers = [told.given.questions, *([told.kept] if told.kept is not None else [])]
    shown = [console.counted(number, "questions") for number in numbers]
    if len(set(shown)) < len(shown):  # too few for the share to make a difference
        shown = shown[:1]
    rows = []
    for name, found, kept in powers(told, spreads):
        differences = [_range(of.difference, ".3f") for of in (found, kept) if of is not None]
        needed = [_range(found.needed[aim], ",") for aim in DIFFERENCES]
        rows.append((name, _range((found.spread.low, found.spread.high), ".2f"), *differences[: len(shown)], *needed))
    columns = ("measure", "spread", *shown, *(f"for {aim}" for aim in DIFFERENCES))
    console.say("")
    console.say("The smallest difference between two systems that is found four times in five, and questions needed:")
    console.say_table(columns, rows, right=columns[1:])
    for line in _remarks(told, basis):
        console.say(line)


def _remarks(told: "Report", basis: str) -> Iterator[str]:
    from builders.statistics.power import KEPT

    yield basis
    if told.kept is not None:
        yield f"The paper's filters left {100 * KEPT:.0f} % of its questions; of these they would leave {told.kept:,}."


def _range(ends: tuple[float, float] | None, form: str) -> str:
    if ends is None:
        return UNKNOWN
    low, high = (format(end, form) for end in ends)
    return low if low == high else f"{low}–{high}"
