"""A board in the published schema of ``leaderboard_data.json``."""

import json
from typing import Any

from leaderboard.boards.published import AVERAGE, CLOSED, OPEN, ORACLE, published_key
from leaderboard.boards.records import Board, Entry, Scores
from leaderboard.verdicts.records import Verdicts

_DECIMALS = 3


def published_json(board: Board, _: Verdicts) -> str:
    """Return a board in the published schema: means with three decimals, and no word on how sure they are.

    Systems that lack a topic are left out, since the schema has no place for what is missing: see ``left_out``.

    Args:
        board: The board.
    """
    rows = [_row(board, entry) for entry in board.entries if entry not in left_out(board)]
    return json.dumps({"leaderboardData": rows}, indent=4, ensure_ascii=True, allow_nan=False) + "\n"


def left_out(board: Board) -> list[Entry]:
    """Return the systems that the published schema cannot hold."""
    measures = {str(measure) for measure in board.measures}
    return [
        entry
        for entry in board.entries
        if any(
            (scores := entry.scores(scope)) is None or not measures <= set(scores.measures) for scope in board.scopes
        )
    ]


def _row(board: Board, entry: Entry) -> dict[str, Any]:
    topics = {topic.name: _values(board, entry.topics[topic.name]) for topic in board.topics}
    average = entry.scores(board.scopes[0])
    return {
        "info": {
            "name": entry.name,
            "size": entry.size,
            "type": ORACLE if entry.setting == "oracle" else OPEN if entry.openness == "open" else CLOSED,
            "date": entry.date.isoformat(),
            "link": entry.url or "",
        },
        "datasets": topics | ({} if average is None else {AVERAGE: _values(board, average)}),
    }


def _values(board: Board, scores: Scores) -> dict[str, float]:
    return {published_key(measure): round(scores.measures[str(measure)].value, _DECIMALS) for measure in board.measures}
