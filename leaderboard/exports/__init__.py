"""Boards for other programs: a function from a board, and what is concluded from it, to the text of a file."""

from collections.abc import Callable, Mapping

from leaderboard.boards.records import Board
from leaderboard.exports.bibliography import board_bibtex, entry_bibtex
from leaderboard.exports.csv_table import board_csv
from leaderboard.exports.json_file import board_json
from leaderboard.exports.markdown import board_markdown
from leaderboard.exports.published import left_out, published_json
from leaderboard.verdicts.records import Verdicts

__all__ = [
    "FORMATS",
    "board_bibtex",
    "board_csv",
    "board_json",
    "board_markdown",
    "entry_bibtex",
    "left_out",
    "published_json",
]

FORMATS: Mapping[str, tuple[str, Callable[[Board, Verdicts], str]]] = {
    "csv": ("board.csv", board_csv),
    "json": ("board.json", board_json),
    "bibtex": ("board.bib", board_bibtex),
    "markdown": ("board.md", board_markdown),
    "published": ("leaderboard_data.json", published_json),
}
"""From a format to the name of its file and to what makes it."""
