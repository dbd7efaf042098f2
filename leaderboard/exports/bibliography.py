"""A board, and each system on it, to be cited."""

import re

from freshstack_datasets.report import bibtex
from leaderboard.boards.records import Board, Entry
from leaderboard.verdicts.records import Verdicts


def board_bibtex(board: Board, _: Verdicts) -> str:
    """Return the board, the paper that it rests on, and its systems as BibTeX.

    Args:
        board: The board.
    """
    cited = bibtex(
        "misc",
        f"{board.name}-{board.snapshot}",
        {
            "title": board.title,
            "author": "The freshstack-datasets authors",
            "year": f"{board.updated.year}",
            "note": f"Leaderboard {board.name}/{board.snapshot}, updated {board.updated}",
        },
    )
    return "\n".join([cited, _PAPER, *(entry_bibtex(board, entry) for entry in board.entries)])


def entry_bibtex(board: Board, entry: Entry) -> str:
    """Return one system as BibTeX.

    Args:
        board: The board that it is on.
        entry: The system.
    """
    return bibtex(
        "misc",
        re.sub(r"[^A-Za-z0-9.:-]", "-", f"{board.name}-{board.snapshot}-{entry.entry_id}"),
        {
            "title": entry.name,
            "author": entry.team or None,
            "year": f"{entry.date.year}",
            "howpublished": entry.url,
            "note": f"On the leaderboard {board.name}/{board.snapshot}",
        },
    )


_PAPER = bibtex(
    "misc",
    "thakur2025freshstack",
    {
        "title": "FreshStack: Building Realistic Benchmarks for Evaluating Retrieval on Technical Documents",
        "author": "Nandan Thakur and Jimmy Lin and Sam Havens and Michael Carbin and Omar Khattab and Andrew Drozdov",
        "year": "2025",
        "eprint": "2504.13128",
        "archiveprefix": "arXiv",
    },
)
