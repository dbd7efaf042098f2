"""Boards as they are: a definition, the rows that others published, and every submission that was scored."""

from pathlib import Path

from leaderboard.boards.places import DEFINITION, SUBMISSIONS
from leaderboard.boards.records import Board


def boards_of(root: Path = SUBMISSIONS) -> list[Path]:
    """Return the folders of all boards, by name and then by snapshot.

    Args:
        root: The folder of submissions.
    """
    return sorted(path.parent for path in root.glob(f"*/*/{DEFINITION}"))


def read_board(folder: Path) -> Board:
    """Read a board.

    Submissions without scores are left out, and the board's warnings say so.

    Args:
        folder: ``…/<board>/<snapshot>``.

    Raises:
        InputError: Something in it cannot be read.
        NotComparableError: Two of its systems were scored on different data.
    """
    raise NotImplementedError
