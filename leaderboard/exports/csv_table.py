"""A board as one table of comma-separated values: a line for a system, a scope and a measure."""

from collections.abc import Iterator

from freshstack_datasets.report import csv_text
from leaderboard.boards.records import Board, Entry
from leaderboard.exports.facts import facts_of
from leaderboard.verdicts.records import Verdicts

_SCORES = ("scope", "measure", "value", "low", "high", "queries", "condensed", "judged_10", "judged_20", "judged_50")
_STANDING = ("rank", "rank_low", "rank_high", "tier_of_equals")


def board_csv(board: Board, verdicts: Verdicts) -> str:
    """Return a board as CSV: a heading, then a line for each system, scope and measure, every value in full.

    Args:
        board: The board.
        verdicts: What is concluded from it.
    """
    names = [*(facts_of(board.entries[0]) if board.entries else {})]
    heading = ["board", "snapshot", *names, *_SCORES, *_STANDING]
    rows = (row for entry in board.entries for row in _rows(board, verdicts, entry))
    return csv_text(heading, rows)


def _rows(board: Board, verdicts: Verdicts, entry: Entry) -> Iterator[list[str | float | None]]:
    told = [_cell(value) for value in facts_of(entry).values()]
    for scope in board.scopes:
        scores = entry.scores(scope)
        for measure in map(str, board.measures):
            if scores is None or (score := scores.measures.get(measure)) is None:
                continue
            judged = [scores.judged.get(f"Judged@{depth}") for depth in (10, 20, 50)]
            values = [score.value, score.low, score.high, scores.queries, scores.condensed.get(measure), *judged]
            yield [
                board.name,
                board.snapshot,
                *told,
                scope,
                measure,
                *values,
                *_standing(verdicts, scope, measure, entry),
            ]


def _standing(verdicts: Verdicts, scope: str, measure: str, entry: Entry) -> list[int | None]:
    verdict = verdicts.verdicts.get((scope, measure))
    found = verdict.standing(entry.entry_id) if verdict is not None else None
    return [None] * len(_STANDING) if found is None else [found.rank, found.rank_low, found.rank_high, found.tier]


def _cell(value: str | float | bool | None) -> str | float | None:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
