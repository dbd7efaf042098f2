"""``python -m builders correct``: people's corrections of a snapshot as the next one of its month."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builders.commands.built import facts, say_built
from builders.commands.runs import read_runs
from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose

if TYPE_CHECKING:
    from builders.correcting.apply import Corrected
    from builders.correcting.corrections import CorrectionsError
    from builders.correcting.difference import Difference

SHOWN_QUERIES = 20
"""Values of single queries that are printed for a run; the others are counted."""


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "correct",
        epilog="Example: python -m builders correct langchain-2024-10 corrections.csv --out langchain-2024-10.1 "
        "--run bm25.trec",
    )(_correct)


def _correct(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a snapshot.")],
    corrections: Annotated[
        Path, typer.Argument(metavar="CORRECTIONS.CSV", help="A row for every value that is not right.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder for the corrected snapshot.")],
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", metavar="FILE", help="A run file, or several, to score before and after."),
    ] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Correct judgments, nuggets or questions of a snapshot, as the next one of its month: 2024-10.1, 2024-10.2.

    The documents stay as they are. provenance/corrections.jsonl says what was corrected, why, by whom and when; a
    table says what it does to the scores of runs. Unless every row can be applied, nothing is written.

    CORRECTIONS.CSV is in UTF-8, its first row has the names of the columns: kind, action, query_id, nugget_id, doc_id,
    field, old, new, reason, by, date. kind is judgment, nugget or question, action is change, add or remove, and date is
    a day such as 2024-11-30. Ids that the kind does not have are empty.

    A row is about one value. old is what the snapshot has, new what it should have. field is score for a judgment
    (0 or 1), text, position or importance for a nugget, and title, body, answer_text or any other for a question, whose
    text follows its title and body.

    What is removed is named with one of its values as old; its nuggets and judgments go with it. What is added takes a
    row for each value that it has: a nugget its text, a question its title and its body.
    """
    from builders.correcting.apply import correct
    from builders.correcting.corrections import CorrectionsError

    try:
        corrected = correct(folder, corrections, out, runs=read_runs(run or []))
    except CorrectionsError as error:
        _say_problems(error, as_json)
        raise
    for difference in corrected.differences:
        for warning in difference.warnings:
            console.warn(f"{difference.system}: {warning}")
    if as_json:
        console.say_json({"path": str(out), **facts(corrected.manifest), **_told(corrected)})
        return
    say_built(out, corrected.manifest)
    _say(corrected)


def _say_problems(error: "CorrectionsError", as_json: bool) -> None:
    """Print what is wrong with the corrections; one problem alone is in the line of the error."""
    from builders.correcting.corrections import LISTED

    if as_json:
        problems = [
            {"line": problem.line, "column": problem.column, "message": str(told)}
            for problem, told in zip(error.problems, error.told, strict=True)
        ]
        console.say_json({"ok": False, "problems": problems})
    if len(error.told) > 1:
        for told in error.told[:LISTED]:
            console.message(str(told))
        if len(error.told) > LISTED:
            console.message(f"and {len(error.told) - LISTED:,} more")


def _told(corrected: "Corrected") -> dict[str, Any]:
    before = corrected.before
    return {
        "ok": True,
        "corrects": {"snapshot": before.snapshot, "fingerprint": before.fingerprint},
        "corrected": {kind: dict(fates) for kind, fates in corrected.counts.items()},
        "runs": [difference.to_json() for difference in corrected.differences],
    }


def _say(corrected: "Corrected") -> None:
    """Print what was corrected and what that does to the scores."""
    before = corrected.before
    console.say(f"corrects {before.dataset}@{before.snapshot}, fingerprint {before.fingerprint[:12]}")
    fates = [
        console.counted(number, f"{kind} {fate}")
        for kind, numbers in corrected.counts.items()
        for fate, number in numbers.items()
        if number
    ]
    console.say(", ".join(fates))
    if not corrected.differences:
        return
    console.say("")
    columns = ("system", "measure", "before", "after", "difference", "queries changed")
    console.say_table(columns, _means(corrected.differences), right=columns[2:])
    for difference in corrected.differences:
        _say_queries(difference)


def _means(differences: "Sequence[Difference]") -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table of means: a system's name stands beside the first of its measures."""
    for difference in differences:
        for place, (name, found) in enumerate(difference.measures.items()):
            values = (f"{found.before:.4f}", f"{found.after:.4f}", f"{found.difference:+.4f}", len(found.queries))
            yield ("" if place else difference.system, name, *values)


def _say_queries(difference: "Difference") -> None:
    """Print the queries whose values change."""
    rows = [
        (query.query_id, name, _value(query.before), _value(query.after))
        for name, found in difference.measures.items()
        for query in found.queries
    ]
    if not rows:
        console.say(f"\n{difference.system}: no query changes")
        return
    rows.sort(key=lambda row: row[0])  # a query's measures stay together, in their order
    console.say(f"\n{difference.system}, what changes:\n")
    columns = ("query", "measure", "before", "after")
    console.say_table(columns, rows[:SHOWN_QUERIES], right=columns[2:])
    if len(rows) > SHOWN_QUERIES:
        console.say(f"and {len(rows) - SHOWN_QUERIES:,} more, which --json lists")


def _value(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
