"""``python -m builders audit``: sheets for people who look at a snapshot, and what they say."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralArguments

if TYPE_CHECKING:
    from builders.auditing.agreeing import Agreement
    from builders.auditing.annotations import SheetsError
    from builders.auditing.estimates import Estimate
    from builders.auditing.scores import Scores

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a snapshot.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to a command line."""
    group = typer.Typer(no_args_is_help=False)
    group.callback()(_audit)
    group.command(
        "sample",
        epilog="Example: python -m builders audit sample langchain-2026-10 --questions 60 --seed 7 --out sheets",
    )(_sample)
    group.command(
        "score",
        cls=SeveralArguments,
        epilog="Example: python -m builders audit score langchain-2026-10 ada.csv audit-ben.json "
        "--corrections corrections.csv",
    )(_score)
    app.add_typer(group, name="audit")


def _audit() -> None:
    """Let people look at nuggets and documents of a snapshot, and score what they say."""


def _sample(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option(metavar="SHEETS", help="A new folder for the sheets; DIR-audit when not given.")
    ] = None,
    questions: Annotated[int, typer.Option(metavar="N", help="How many questions to look at.")] = 60,
    seed: Annotated[int, typer.Option(metavar="N", help="Where the random draw starts.")] = 7,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Draw questions of a snapshot, and write a sheet that asks people about them.

    SHEETS then holds the same sheet twice, to fill in whichever is liked: sheet.csv for a spreadsheet, and sheet.html,
    one page that works in a browser without a network, on a phone too, keeps what is answered, and saves it to a file.

    For each nugget it asks whether it is hallucinated, and whether it is minor or redundant; for each question, how many
    nuggets are missing; and of one document that supports a nugget, whether it is relevant, partially or not. Cells with
    n/a are not to be filled in; remarks may be.

    Give everybody the same sheet. The same snapshot, number and seed give the same questions.
    """
    from builders.auditing.writing import write_sheets

    out = out or folder.absolute().with_name(f"{folder.absolute().name}-audit")
    sample = write_sheets(folder, out, questions=questions, seed=seed)
    counts = {
        "questions": len(sample.items),
        "nuggets": sum(len(item.nuggets) for item in sample.items),
        "documents": sum(item.document is not None for item in sample.items),
    }
    if as_json:
        sheet = sample.sheet
        named = {"dataset": sheet.dataset, "snapshot": sheet.snapshot, "fingerprint": sheet.fingerprint}
        console.say_json({"path": str(out), **named, "seed": seed, **counts})
        return
    console.say(f"{out}: sheet.html and sheet.csv, {', '.join(console.counted(n, what) for what, n in counts.items())}")


def _score(
    folder: Folder,
    sheets: Annotated[
        list[Path],
        typer.Argument(metavar="SHEET", help="Filled-in sheets, one from each person: CSV, or a saved file."),
    ],
    corrections: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv", help="Where to write what is to be corrected, for python -m builders correct."
        ),
    ] = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Score what people said of the nuggets and documents of a snapshot, with 95 % intervals.

    With N nuggets of a question, A hallucinated, B minor or redundant, and C missing: precision is (N - B) / N, recall
    (N - B) / (N - B + C), groundedness (N - A) / N. They are shown as means over questions, and for the sums over all of
    them. Errors are shown by position, and where they stand in the questions that have one.

    Of several people, Krippendorff's alpha and Cohen's kappa of each two say how far they agree. A CSV is from whom its
    file is named after, and may have been saved by any spreadsheet: commas, semicolons or tabs, yes and no, 1 and 0, x
    for yes. Unless every cell of every sheet has an answer, nothing is scored; cells are named.

    FILE.csv has what more than half of them say: hallucinated nuggets are removed, minor ones get the importance okay,
    and a document that is not relevant supports nothing.
    """
    from builders.auditing.agreeing import agreements
    from builders.auditing.annotations import SheetsError
    from builders.auditing.reading import read_sheets
    from builders.auditing.scores import scores
    from builders.auditing.writing import write_corrections
    from freshstack_datasets.loading import load

    dataset = load(folder)
    try:
        annotations = read_sheets(dataset, sheets)
    except SheetsError as error:
        _say_problems(error, as_json)
        raise
    found, agreed = scores(annotations), agreements(annotations)
    rows = None if corrections is None else write_corrections(corrections, dataset, annotations)
    people = [annotation.annotator for annotation in annotations]
    questions = len({item.query.query_id for annotation in annotations for item in annotation.sample.items})
    if as_json:
        named = {"dataset": dataset.name, "snapshot": dataset.snapshot, "fingerprint": dataset.fingerprint}
        agreement = {column: agreement.to_json() for column, agreement in agreed.items()}
        told = {"ok": True, **named, "annotators": people, "questions": questions, **found.to_json()}
        console.say_json({**told, "agreement": agreement, "corrections": rows})
        return
    console.say(f"{dataset.name}@{dataset.snapshot}, fingerprint {dataset.fingerprint[:12]}")
    console.say(f"{console.counted(questions, 'questions')}, from {', '.join(people)}")
    _say_scores(found)
    _say_agreement(agreed)
    if corrections is not None:
        what = f"{corrections}: {console.counted(rows or 0, 'corrections')}" if rows else "nothing is to be corrected"
        console.say(f"\n{what}")


def _say_problems(error: "SheetsError", as_json: bool) -> None:
    """Print which cells cannot be used; one alone is in the line of the error."""
    from builders.auditing.annotations import LISTED

    problems = error.problems
    if as_json:
        told = [
            {"file": str(one.path), "line": one.line or None, "cell": one.cell, "message": str(one.told)}
            for one in problems
        ]
        console.say_json({"ok": False, "problems": told})
    if len(problems) > 1:
        for problem in problems[:LISTED]:
            console.message(str(problem.told))
        if len(problems) > LISTED:
            console.message(f"and {len(problems) - LISTED:,} more")


def _say_scores(found: "Scores") -> None:
    """Print measures, relevance and errors by position."""
    measures = [(name, *_cells(one.by_question), *_cells(one.over_all)) for name, one in found.quality.items()]
    _say_figures(("measure", "by question", "interval", "over all", "its interval"), measures)
    grades = [(name, *_cells(one), one.of) for name, one in found.relevance.items()]
    _say_figures(("document", "share", "interval", "of"), grades)
    positions = [
        (one.position, *(cell for share in one.errors.values() for cell in _cells(share)), one.errors["minor"].of)
        for one in found.positions
    ]
    _say_figures(("nugget", "hallucinated", "interval", "minor", "its interval", "of"), positions)
    for error, places in found.where.items():
        if of := next(iter(places.values())).of:
            told = ", ".join(f"{place} {_percent(share)}" for place, share in places.items())
            console.say(f"\n{error}: where a question has such a nugget ({console.counted(of, 'times')}): {told}")


def _say_figures(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table of figures, after an empty line."""
    console.say("")
    console.say_table(columns, rows, right=columns[1:])


def _say_agreement(agreed: "dict[str, Agreement]") -> None:
    """Print how far people agree."""
    if not agreed:
        return
    console.say("")
    columns = ("agreement", "of", "value", "interval", "same", "cells")
    console.say_table(columns, list(_agreement_rows(agreed)), right=columns[2:])


def _agreement_rows(agreed: "dict[str, Agreement]") -> Iterator[Sequence[Any]]:
    for column, one in agreed.items():
        yield (column, "alpha, all", *_values(one.alpha), "", one.alpha.of)
        for pair in one.pairs:
            yield (
                "",
                f"kappa, {' and '.join(pair.annotators)}",
                *_values(pair.kappa),
                _percent(pair.same),
                pair.same.of,
            )


def _percent(share: "Estimate") -> str:
    return "none" if share.value is None else f"{100 * share.value:.1f} %"


def _cells(share: "Estimate") -> tuple[str, str]:
    """Return a share and its interval, in per cent."""
    if share.interval is None:
        return _percent(share), ""
    return _percent(share), f"{100 * share.interval.low:.1f} to {100 * share.interval.high:.1f}"


def _values(value: "Estimate") -> tuple[str, str]:
    """Return a coefficient and its interval."""
    told = "none" if value.value is None else f"{value.value:.3f}"
    return told, "" if value.interval is None else f"{value.interval.low:.3f} to {value.interval.high:.3f}"
