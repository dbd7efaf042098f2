"""Scoring of submissions: the one place where the scores of a leaderboard come from."""

from leaderboard.scoring.belonging import changes_since, faults_of_scores
from leaderboard.scoring.files import per_query_of, read_scores
from leaderboard.scoring.records import ScoresFile
from leaderboard.scoring.reproducing import Reproduction, read_reproduction, write_reproduction
from leaderboard.scoring.scoring import score, write_scores

__all__ = [
    "Reproduction",
    "ScoresFile",
    "changes_since",
    "faults_of_scores",
    "per_query_of",
    "read_reproduction",
    "read_scores",
    "score",
    "write_reproduction",
    "write_scores",
]
