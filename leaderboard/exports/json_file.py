"""A board as one JSON object: everything but the values per query."""

import json
from dataclasses import asdict
from typing import Any

from leaderboard.boards.records import Board, Entry, Scores
from leaderboard.exports.facts import facts_of
from leaderboard.verdicts.records import Verdict, Verdicts

SCHEMA_VERSION = 1


def board_json(board: Board, verdicts: Verdicts) -> str:
    """Return a board as JSON, every value in full; what is not known is null.

    Args:
        board: The board.
        verdicts: What is concluded from it.
    """
    told = {
        "schema_version": SCHEMA_VERSION,
        "board": board.name,
        "snapshot": board.snapshot,
        "title": board.title,
        "about": board.about,
        "updated": board.updated.isoformat(),
        "measures": [str(measure) for measure in board.measures],
        "topics": [asdict(topic) for topic in board.topics],
        "baseline": board.baseline,
        "resamples": verdicts.resamples,
        "seed": verdicts.seed,
        "systems": [_system(board, entry) for entry in board.entries],
        "verdicts": [_verdict(verdict) for verdict in verdicts.verdicts.values()],
        "agreement": [asdict(one) for one in verdicts.concordances],
        "left_out": [*board.warnings],
    }
    return json.dumps(told, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def _system(board: Board, entry: Entry) -> dict[str, Any]:
    shown = {scope: scores for scope in board.scopes if (scores := entry.scores(scope)) is not None}
    return {
        **facts_of(entry),
        "scores": {scope: _scores(scores) for scope, scores in shown.items()},
        "cutoff": {topic: asdict(cutoff) for topic, cutoff in entry.cutoff.items()},
    }


def _scores(scores: Scores) -> dict[str, Any]:
    return {
        "queries": scores.queries,
        "measures": {name: asdict(score) for name, score in scores.measures.items()},
        "judged": dict(scores.judged),
        "condensed": dict(scores.condensed),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "scope": verdict.scope,
        "measure": verdict.measure,
        "queries": verdict.queries,
        "standings": [asdict(standing) for standing in verdict.standings],
        "pairs": [asdict(pair) for pair in verdict.pairs.values()],
        "baseline": verdict.baseline,
        "holm": dict(verdict.holm),
    }
