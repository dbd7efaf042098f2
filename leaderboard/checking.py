"""Whether all that is published holds together: submissions are valid, scored, and their scores are of their runs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from freshstack_datasets.errors import FreshStackError
from freshstack_datasets.loading import Dataset, load
from leaderboard.boards.definition import Definition, read_definition
from leaderboard.boards.places import REPRODUCTION, SCORES, SUBMISSION, submission_folders
from leaderboard.boards.reading import read_board
from leaderboard.boards.records import Board
from leaderboard.scoring import ScoresFile, faults_of_scores, read_reproduction, read_scores, score
from leaderboard.validation import validate
from leaderboard.validation.codes import CODES, Severity

_ROUNDED = 0.001
"""How far the mean of values of three decimals may be from a mean that was rounded itself: half of it each."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that does not hold together.

    Args:
        code: What kind of problem it is: ``unreadable``, ``not-comparable``, ``not-scored``, ``changed``, ``rescored``,
            ``reproduction``, ``average``, ``left-out``, or a code of ``validate``.
        file: Where it is.
        message: What is wrong, on one line.
        is_error: Whether nothing should be published with it.
        line: Its line, from 1; 0 where there is none.
        count: How many it stands for: a file with very many faults tells the first of them.
    """

    code: str
    file: str
    message: str
    is_error: bool = True
    line: int = 0
    count: int = 1

    @property
    def severity(self) -> Severity:
        """How bad it is, in the word that is printed."""
        return "error" if self.is_error else "warning"


def check_boards(
    folders: Sequence[Path], root: Path, *, rescore: bool = False, datasets: Callable[[str, str], Dataset] = load
) -> Iterator[Problem]:
    """Yield all that does not hold together on boards.

    Args:
        folders: The folders of the boards.
        root: The folder of submissions.
        rescore: Whether every submission is scored again: its scores must be the same to the last digit.
        datasets: Opens a dataset by name and snapshot.
    """
    for folder in folders:
        try:
            definition = read_definition(folder)
        except FreshStackError as error:
            yield Problem("unreadable", str(folder), str(error))
            continue
        for path in submission_folders(folder):
            yield from _submission(path, definition, datasets if rescore else None)
        yield from _invalid(folder, root, datasets)
        yield from _whole(folder)


def _submission(
    folder: Path, definition: Definition, datasets: Callable[[str, str], Dataset] | None
) -> Iterator[Problem]:
    """Yield what is wrong with the scores of one submission."""
    if not (folder / SUBMISSION).is_file():
        return  # validation says so
    file = str(folder / SCORES)
    try:
        scores = read_scores(folder)
        if scores is None:
            yield Problem("not-scored", file, f"there is none; python -m leaderboard score {folder}")
            return
        yield from (Problem("changed", file, fault) for fault in faults_of_scores(folder, scores, definition))
        yield from _reproduction(folder, scores)
        if datasets is not None:
            yield from _again(folder, scores, score(folder, definition, datasets=datasets))
    except FreshStackError as error:
        yield Problem("unreadable" if error.exit_code == 2 else "not-comparable", str(folder), str(error))


def _reproduction(folder: Path, scores: ScoresFile) -> Iterator[Problem]:
    """Yield why a submission that was run again does not count as reproduced."""
    found, file = read_reproduction(folder), str(folder / REPRODUCTION)
    if found is None:
        return
    scored = {name: topic.run.sha256 for name, topic in scores.topics.items()}
    if {name: run.original for name, run in found.runs.items()} != scored:
        yield Problem("reproduction", file, "it is of other runs than those that were scored", is_error=False)
    elif found.verdict == "failed":
        moved = f"run again, it had a mean that was off by {found.largest_difference:.4f}"
        yield Problem("reproduction", file, moved, is_error=False)


def _again(folder: Path, before: ScoresFile, after: ScoresFile) -> Iterator[Problem]:
    text = before.to_json()
    if before.evaluator != after.evaluator:
        old, new = (f"{found.evaluator.name} {found.evaluator.version}" for found in (before, after))
        yield Problem("rescored", str(folder / SCORES), f"it was scored by {old}, and this is {new}", is_error=False)
        text = before.model_copy(update={"evaluator": after.evaluator}).to_json()
        text = text.replace(f'| {old}"', f'| {new}"')  # each signature ends with it
    if text != after.to_json():
        yield Problem("rescored", str(folder / SCORES), "scored again, it has other scores")


def _invalid(folder: Path, root: Path, datasets: Callable[[str, str], Dataset]) -> Iterator[Problem]:
    """Yield what validation finds."""
    if not submission_folders(folder):
        return
    report = validate([folder], root=root, datasets=datasets)
    for one in report.findings:
        yield Problem(one.code, one.file, one.message, is_error=one.severity == "error", line=one.line)
    for (file, code), number in report.more.items():
        is_error = CODES[code].severity == "error"
        yield Problem(code, file, f"and {number:,} more", is_error=is_error, count=number)


def _whole(folder: Path) -> Iterator[Problem]:
    """Yield what is wrong with a board as a whole."""
    try:
        board = read_board(folder)
    except FreshStackError as error:
        yield Problem("unreadable" if error.exit_code == 2 else "not-comparable", str(folder), str(error))
        return
    yield from (Problem("left-out", str(folder), warning, is_error=False) for warning in board.warnings)
    yield from _averages(board)


def _averages(board: Board) -> Iterator[Problem]:
    """Yield the published means over all topics that are none of the published values."""
    for entry in board.entries:
        if entry.tier != "reported" or entry.macro is None:
            continue
        for name, found in entry.macro.measures.items():
            mean = fmean(scores.measures[name].value for scores in entry.topics.values())
            if abs(mean - found.value) > _ROUNDED:
                said = f"{entry.entry_id} says {name} {found.value:.3f} over all topics, whose mean is {mean:.4f}"
                yield Problem("average", str(board.folder), said, is_error=False)
