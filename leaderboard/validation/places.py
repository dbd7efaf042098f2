"""What somebody named to be validated: submissions, folders of them, and run files by themselves."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from freshstack_datasets.errors import InputError, shown, shown_path
from leaderboard.boards.definition import Definition, read_definition
from leaderboard.boards.places import (
    DEFINITION,
    SUBMISSION,
    Place,
    place_of_board,
    submission_folders,
    wrong_in_name,
)
from leaderboard.boards.reading import boards_of
from leaderboard.validation.findings import Findings
from leaderboard.validation.folders import topic_of


@dataclass(frozen=True, slots=True)
class Named:
    """Something to validate.

    Args:
        path: A submission's folder, or a run file.
        label: What it is called in findings.
        board: The folder of its board; None where none is known.
    """

    path: Path
    label: str
    board: Path | None

    @property
    def is_run(self) -> bool:
        """Whether it is a run file by itself."""
        return not self.path.is_dir()

    @property
    def name(self) -> str:
        """The name of a submission's folder; what a run file by itself is called in findings."""
        return self.label if self.is_run else self.path.name


@dataclass(frozen=True, eq=False, slots=True)
class KnownBoard:
    """A board that can be validated for.

    Args:
        folder: Its folder.
        place: Its name and snapshot.
        definition: What it measures.
    """

    folder: Path
    place: Place
    definition: Definition


def named(
    paths: Iterable[Path], board: Path | None, root: Path, findings: Findings, top: Path | None = None
) -> list[Named]:
    """Return what some paths name: each submission in a folder of a board, or of boards.

    Args:
        paths: What was typed.
        board: The folder of the board that was typed; None where none was.
        root: The folder of submissions.
        findings: Takes what is not there.
        top: The top of the checkout, when all paths are submissions of a pull request: findings name files from there.
    """
    found: dict[str, Named] = {}
    for path in paths:
        for one in _named(path, board, root, findings, is_submission=top is not None):
            label = one.label if top is None else _label(one.path.resolve().relative_to(top))
            found.setdefault(label, replace(one, label=label))
    return list(found.values())


def read_known(folder: Path, findings: Findings) -> KnownBoard | None:
    """Return a board, None where it cannot be read, which is a finding.

    Args:
        folder: Its folder.
        findings: Takes what is wrong.
    """
    try:
        return KnownBoard(folder, place_of_board(folder), read_definition(folder))
    except InputError as error:
        findings.add("E103", _label(folder), error.what, expected=error.expected, got=error.got, fix=error.hint)
        return None


def check_name(one: Named, findings: Findings) -> None:
    """Say what is wrong with the name of a submission's folder."""
    wanted = wrong_in_name(one.name)
    if wanted is not None:
        findings.add("E102", one.label, "the folder", expected=wanted, got=shown(one.name))


def _named(path: Path, board: Path | None, root: Path, findings: Findings, *, is_submission: bool) -> list[Named]:
    label = _label(path)
    try:
        is_folder, is_there = path.is_dir(), path.exists() or path.is_symlink()
    except (OSError, ValueError):  # ValueError: a path with NUL
        is_folder = is_there = False
    if not is_there:
        findings.add(
            "E101", label, "what was named", expected="a submission's folder or a run file", got="nothing there"
        )
        return []
    if path.name in ("", ".."):  # of no name of its own, such as the folder one is in
        path = path.resolve()
    if not is_folder:
        return _run_file(path, label, board, findings)
    boards = [] if is_submission or _looks_like_submission(path) else _boards_in(path)
    if boards:
        return [Named(folder, _label(folder), one) for one in boards for folder in submission_folders(one)]
    return [Named(path, label, _board_of(path, board, root, findings))]


def _looks_like_submission(path: Path) -> bool:
    """Tell whether a folder is a submission's by where it is or what it holds, whatever else it holds."""
    return (path / SUBMISSION).exists() or (path.absolute().parent / DEFINITION).is_file()


def _boards_in(path: Path) -> list[Path]:
    """Return the board that a folder is, or the boards in the folder of one name, or of all."""
    found = [path] if (path / DEFINITION).is_file() else boards_of(path)
    return found or sorted(one.parent for one in path.glob(f"*/{DEFINITION}"))


def _run_file(path: Path, label: str, board: Path | None, findings: Findings) -> list[Named]:
    if topic_of(path.name) is None:
        what = "what was named"
        findings.add("E101", label, what, expected="a submission's folder or a run file", got=shown(path.name))
        return []
    above = path.absolute().parent.parent
    if board is None and (above / DEFINITION).is_file():
        board = above
    if board is None:
        findings.add("E103", label, "a run file by itself", expected="--board, such as freshstack/2024-10", got="none")
    return [Named(path, label, board)]


def _board_of(path: Path, board: Path | None, root: Path, findings: Findings) -> Path | None:
    """Return the board that a submission's folder is in, by the folders around it."""
    if board is not None:
        return board
    above = path.absolute().parent
    for candidate in (above, root / above.parent.name / above.name):
        if (candidate / DEFINITION).is_file():
            return candidate
    known = ", ".join(f"{one.parent.name}/{one.name}" for one in boards_of(root)[:5])
    expected = f"it in the folder of a board ({known})" if known else "it in the folder of a board"
    findings.add("E103", _label(path), "the submission", expected=expected, got=f"one in {shown_path(above)}")
    return None


def _label(path: Path) -> str:
    text = str(path)
    return text if text.isprintable() else shown_path(path)[1:-1]
