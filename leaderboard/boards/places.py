"""Where boards and submissions are, and how their folders and files are called."""

import datetime
import os
import re
from dataclasses import dataclass
from pathlib import Path

from freshstack_datasets.errors import InputError, shown, shown_path

SUBMISSIONS = Path(__file__).resolve().parents[1] / "submissions"
"""The folder of all boards; below it is ``<board>/<snapshot>/<submission>``."""

DEFINITION = "board.yaml"
REPORTED = "reported.json"
DETAILS = "reported-details.yaml"
"""The files of a board: what it measures, the rows that others published, and what is put right in those."""

SUBMISSION = "submission.yaml"
SCORES, PER_QUERY, REPRODUCTION = "scores.json", "per_query.jsonl", "reproduction.json"
COMPUTED = (SCORES, PER_QUERY, REPRODUCTION)
"""The files of a submission that scoring writes, and no submitter."""

_TEXT_SUFFIXES = (".trec", ".run", ".txt", ".json", ".jsonl")
RUN_SUFFIXES = (*_TEXT_SUFFIXES, *(f"{suffix}.gz" for suffix in _TEXT_SUFFIXES), ".parquet")
"""How the name of a run file may go on after its topic's."""

LONGEST = 100
"""Characters of a submission's name."""

_BOARD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SNAPSHOT = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])(?:\.[1-9][0-9]?)?")
_SUBMISSION = re.compile(r"([0-9]{8})(?:-[a-z0-9]+(?:\.[a-z0-9]+)*){2,}")


@dataclass(frozen=True, slots=True)
class Place:
    """What the folders of a board, or of a submission, say.

    Args:
        board: The board's name.
        snapshot: The snapshot.
        submission: The submission; "" where the folder is the board's.
    """

    board: str
    snapshot: str
    submission: str = ""


def place_of_board(folder: Path) -> Place:
    """Return which board a folder ``…/<board>/<snapshot>`` is of.

    Raises:
        InputError: It is not called so.
    """
    snapshot, board = _last_names(folder, 2)
    if not _BOARD.fullmatch(board):
        raise _misnamed(folder, "a board's name of small letters, digits and hyphens, such as nimbus", board)
    if not _SNAPSHOT.fullmatch(snapshot):
        raise _misnamed(folder, "a snapshot's name such as 2026-11", snapshot)
    return Place(board, snapshot)


def place_of_submission(folder: Path) -> Place:
    """Return which submission a folder ``…/<board>/<snapshot>/<submission>`` is.

    Raises:
        InputError: It is not called so.
    """
    (submission,) = _last_names(folder, 1)
    if (wanted := wrong_in_name(submission)) is not None:
        raise _misnamed(folder, wanted, submission)
    above = place_of_board(Path(_absolute(folder)).parent)
    return Place(above.board, above.snapshot, submission)


def wrong_in_name(name: str) -> str | None:
    """Return what was expected where the name of a submission's folder is not allowed; None when it is.

    Args:
        name: The name, ``yyyymmdd-team-system``.
    """
    found = _SUBMISSION.fullmatch(name)
    if found is None:
        return "yyyymmdd-team-system of small letters, digits, dots and hyphens"
    if len(name) > LONGEST:
        return f"at most {LONGEST} characters"
    try:
        datetime.datetime.strptime(found[1], "%Y%m%d")
    except ValueError:
        return "a day of the calendar, yyyymmdd, in front"
    return None


def submission_folders(board: Path) -> list[Path]:
    """Return the folders of a board's submissions, by name; those that begin with a dot are none."""
    return sorted(path for path in board.iterdir() if path.is_dir() and not path.name.startswith("."))


def run_files(folder: Path, topic: str) -> list[Path]:
    """Return a submission's run files of a topic: one, where it is right; by name.

    Args:
        folder: The submission.
        topic: The topic's name.
    """
    names = [f"{topic}{suffix}" for suffix in RUN_SUFFIXES]
    return [folder / name for name in sorted(names) if (folder / name).is_file()]


def near(path: Path) -> Path:
    """Return a path as one would type it: relative where it is below the folder that one is in."""
    return path.relative_to(Path.cwd()) if path.is_absolute() and path.is_relative_to(Path.cwd()) else path


def _last_names(folder: Path, number: int) -> list[str]:
    """Return the last names of a path, the very last first; "" where it has no more."""
    whole = Path(_absolute(folder))
    names = [part.name for part in (whole, *whole.parents)]
    return (names + [""] * number)[:number]


def _absolute(folder: Path) -> str:
    """Return a path in full, ``..`` taken out, links not followed: their names are not what was asked for."""
    return os.path.normpath(folder.absolute())


def _misnamed(folder: Path, expected: str, got: str) -> InputError:
    return InputError(f"the folder {shown_path(folder)}", expected=expected, got=shown(got))
