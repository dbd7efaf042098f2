"""How alike the orders are that measures, topics and snapshots put systems in, by Kendall's tau-b."""

import math
import re
from collections.abc import Sequence

import numpy as np

from freshstack_datasets.evaluation.standings import kendall_tau
from leaderboard.boards.records import Board, Entry
from leaderboard.verdicts.records import Concordance

BEFORE = re.compile(r"^(?:[0-9]{8}-|reported-)")
"""What an entry's id begins with, before the team and the system."""


def concordances(board: Board) -> tuple[Concordance, ...]:
    """Return how alike measures order the systems on each scope, and topics by each measure.

    All ranked systems take part that have every value; reported ones too.
    """
    measures = tuple(map(str, board.measures))
    topics = tuple(topic.name for topic in board.topics)
    ranked = [entry for entry in board.entries if entry.ranked]
    found = []
    for scope in board.scopes if len(measures) > 1 else ():
        orders = [[value_of(entry, scope, measure) for entry in ranked] for measure in measures]
        found.append(concordance("measures", scope, measures, orders))
    for measure in measures if len(topics) > 1 else ():
        orders = [[value_of(entry, topic, measure) for entry in ranked] for topic in topics]
        found.append(concordance("topics", measure, topics, orders))
    return tuple(found)


def concordance(
    what: str, within: str, names: tuple[str, ...], orders: Sequence[Sequence[float | None]]
) -> Concordance:
    """Return how alike several ways order those systems that have a value in each.

    Args:
        what: What the ways are.
        within: Where they are compared.
        names: The ways.
        orders: For each way, the value of each system; None where it has none.
    """
    shared = [values for values in zip(*orders, strict=True) if None not in values]
    tau = kendall_tau(np.array(shared, np.float64).reshape(-1, len(names)).T)
    rows = tuple(tuple(None if math.isnan(value) else value for value in row) for row in tau.tolist())
    return Concordance(what, within, names, len(shared), rows)


def value_of(entry: Entry, scope: str, measure: str) -> float | None:
    """Return the mean that an entry has by a measure on a scope; None where it has none."""
    scores = entry.scores(scope)
    score = None if scores is None else scores.measures.get(measure)
    return None if score is None else score.value


def lasting(board: Board) -> dict[str, Entry]:
    """Return the ranked systems of a board by what stays from one snapshot to the next: the id without its date.

    Of one that was handed in several times, the latest counts.
    """
    ranked = [entry for entry in board.entries if entry.ranked]
    ranked.sort(key=lambda entry: (entry.date, entry.entry_id))
    return {BEFORE.sub("", entry.entry_id): entry for entry in ranked}
