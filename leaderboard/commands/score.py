"""``python -m leaderboard score``: the scores of submissions, computed from their runs and written beside them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshstack_datasets.cli import console
from freshstack_datasets.cli.console import Json, Verbose
from freshstack_datasets.cli.values import SeveralArguments
from freshstack_datasets.errors import FreshStackError, InputError, shown_path
from leaderboard.boards.places import SUBMISSIONS
from leaderboard.commands.options import Root

if TYPE_CHECKING:
    from leaderboard.scoring import Reproduction, ScoresFile
    from leaderboard.scoring.scoring import Datasets
    from leaderboard.scoring.topics import ScoredTopic

_KEPT = 16
"""Datasets that stay open, since most submissions are on the same few."""


def add_to(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command(
        "score",
        cls=SeveralArguments,
        epilog="Example: python -m leaderboard score leaderboard/submissions/nimbus/2026-11/20261130-freshstack-bm25",
    )(_score)


def _score(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="A submission's folder, or that of a board for all of it; or several."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Score every submission of every board.")] = False,
    first: Annotated[
        bool,
        typer.Option("--validate", help="Validate first, and score only what has no error; each run is read once."),
    ] = False,
    rerun: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Runs of one submission that were made once more, called by their topics: also write how far their "
            "scores are from those that were handed in.",
        ),
    ] = None,
    root: Root = SUBMISSIONS,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Compute the scores of submissions from their runs: scores.json and per_query.jsonl beside them.

    Means come with 95 % bootstrap intervals, with the shares of documents that were judged, with the scores on judged
    documents alone, and with those before and after the training cut-off of the models. Scoring again gives the same
    bytes. A submission that cannot be scored does not keep others from it.

    With --rerun, reproduction.json says whether the second runs are identical, within 0.0005, or neither; then the exit
    code is 1. It is 1 as well where --validate finds an error.
    """
    from freshstack_datasets.loading import load
    from freshstack_datasets.progress import track

    if every == bool(paths):
        got = "both" if every else "neither"
        raise InputError("what to score", expected="the folders of submissions, or --all", got=got)
    folders = _folders([root] if every else paths or [])
    if rerun is not None and len(folders) != 1:
        raise InputError("--rerun", expected="one submission", got=console.counted(len(folders), "submissions"))
    datasets = lru_cache(_KEPT)(load)
    done: list[_Done] = []
    worst = 0
    ready, wrong = _validated(folders, datasets) if first else ({}, set())
    for folder in track(folders, len(folders), "scoring"):
        if folder in wrong:
            continue
        try:
            done.append(_scored(folder, rerun, datasets, ready))
        except FreshStackError as error:
            if len(folders) == 1:
                raise
            console.message(f"error: {_plain(folder)}: {error}")
            worst = max(worst, error.exit_code)
    for one in done:
        for warning in one.warnings():
            console.warn(f"{_plain(one.folder)}: {warning}")
    if as_json:
        console.say_json({"submissions": [one.facts() for one in done], "failed": len(folders) - len(done)})
    elif done:
        _tell(done)
    failed = [one for one in done if one.reproduction is not None and one.reproduction.verdict == "failed"]
    if worst or failed or wrong:
        raise typer.Exit(max(worst, 1))


@dataclass(frozen=True, slots=True)
class _Done:
    """A submission that was scored.

    Args:
        folder: Its folder.
        scores: Its scores.
        before: What was known of it before: ``new``, ``same`` or ``changed``.
        measures: The board's measures, in its order.
        reproduction: How far a second run is from it, where there is one.
    """

    folder: Path
    scores: "ScoresFile"
    before: str
    measures: Sequence[str]
    reproduction: "Reproduction | None"

    def warnings(self) -> Iterator[str]:
        for name, topic in self.scores.topics.items():
            yield from (f"{name}: {warning}" for warning in topic.warnings)
        if self.scores.missing:
            yield f"no run of {', '.join(self.scores.missing)}, so there is no mean over all topics"

    def facts(self) -> dict[str, Any]:
        told = {"path": str(self.folder), "before": self.before, "scores": self.scores.model_dump(mode="json")}
        found = self.reproduction
        return told if found is None else told | {"reproduction": found.model_dump(mode="json")}


def _folders(paths: Sequence[Path]) -> list[Path]:
    """Return the folders of submissions in some folders, each once.

    Raises:
        InputError: There is none in one of them.
    """
    from leaderboard.boards.places import DEFINITION, SUBMISSION, submission_folders

    seen: dict[Path, None] = {}
    for path in paths:
        if (path / SUBMISSION).exists():
            seen[path] = None
            continue
        boards = sorted(found.parent for found in path.rglob(DEFINITION))
        folders = [folder for board in boards for folder in submission_folders(board)]
        found = [folder for folder in folders if (folder / SUBMISSION).exists()]
        if not found:
            wanted = f"a folder with {SUBMISSION}, or that of a board with such folders"
            raise InputError(_plain(path), expected=wanted, got="none", hint="check the path")
        seen.update(dict.fromkeys(found))
    return list(seen)


def _validated(folders: Sequence[Path], datasets: "Datasets") -> tuple[dict[Path, "ScoredTopic"], set[Path]]:
    """Return the scores of runs, and the submissions that have an error, the first of which is told."""
    from leaderboard.scoring.validated import score_validated

    found = score_validated(folders, datasets=datasets)
    for error in found.errors.values():
        place = f"{error.file}:{error.line}" if error.line else error.file
        console.message(f"error: {place}: {error.code}: {error.message}")
    if found.errors:
        console.message("python -m leaderboard validate tells all that is wrong with them")
    return found.ready, set(found.errors)


def _scored(folder: Path, rerun: Path | None, datasets: "Datasets", ready: "Mapping[Path, ScoredTopic]") -> _Done:
    """Score a submission, and the second runs of it where there are any."""
    from leaderboard.boards.definition import read_definition
    from leaderboard.boards.places import SCORES
    from leaderboard.scoring import write_reproduction, write_scores

    definition = read_definition(folder.absolute().parent)
    path = folder / SCORES
    old = path.read_bytes() if path.is_file() else None
    scores = write_scores(folder, definition, datasets=datasets, ready=ready)
    before = "new" if old is None else "same" if old == path.read_bytes() else "changed"
    reproduction = None if rerun is None else write_reproduction(folder, rerun, definition, datasets=datasets)
    return _Done(folder, scores, before, definition.measures, reproduction)


def _tell(done: Sequence[_Done]) -> None:
    """Print a table a board, and what second runs gave."""
    boards: dict[tuple[str, str], list[_Done]] = {}
    for one in done:
        boards.setdefault((one.scores.board, one.scores.snapshot), []).append(one)
    for (board, snapshot), several in boards.items():
        measures = several[0].measures
        console.say(f"{board} {snapshot}, means with 95 % intervals")
        columns = ("submission", *measures, "Judged@10", "scores.json")
        console.say_table(columns, [_row(one) for one in several], right=(*measures, "Judged@10"))
    for one in done:
        if (found := one.reproduction) is not None:
            told = f"{found.verdict}, largest difference of a mean {found.largest_difference:.6f}"
            console.say(f"{one.scores.submission}, run again: {told}")


def _row(one: _Done) -> list[str]:
    scores = one.scores
    if scores.macro is None:
        return [scores.submission, *["n/a" for _ in (*one.measures, "judged")], one.before]
    bounded = [scores.macro.measures[name] for name in one.measures]
    values = [f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]" for mean in bounded]
    return [scores.submission, *values, f"{scores.macro.judged['Judged@10']:.3f}", one.before]


def _plain(path: Path) -> str:
    return shown_path(path)[1:-1]
