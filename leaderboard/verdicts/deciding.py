"""From values per query to verdicts: who leads, by how much, and whether the lead is real."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from freshstack_datasets.errors import NotComparableError, shown
from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.comparison import SAME
from freshstack_datasets.evaluation.pairs import Pairs, compare_pairs
from freshstack_datasets.evaluation.standings import rank_intervals, tiers
from freshstack_datasets.evaluation.statistics import RESAMPLES, SEED, holm, middle
from freshstack_datasets.evaluation.strata import flipped_means, macro_means, resampled_means
from leaderboard.boards.records import MACRO, Board, Entry
from leaderboard.verdicts.concordance import concordance, concordances, lasting, value_of
from leaderboard.verdicts.records import Concordance, Pair, Standing, Verdict, Verdicts

Key: TypeAlias = tuple[str, str]

APART = 0.1
"""Two systems whose judged shares differ by more are hard to compare: the data knows one better than the other."""


def decide(board: Board, *, resamples: int = RESAMPLES, seed: int = SEED) -> Verdicts:
    """Test all scored systems of a board against each other, on every scope and by every measure.

    Oracles and reported rows take no part. A scope is left out with fewer than two systems that were scored on all of
    it, or fewer than two queries in a topic of it.

    Args:
        board: The board.
        resamples: Resamples of the bootstrap, and sign flips of the permutation test.
        seed: Where their random numbers start.

    Raises:
        NotComparableError: Two systems were not scored on the same queries, or one lacks a measure.
        InputError: ``resamples`` is not a positive number, or ``seed`` a negative one.
    """
    found: dict[Key, Verdict] = {}
    for scope in board.scopes:
        topics = tuple(topic.name for topic in board.topics) if scope == MACRO else (scope,)
        entries = [entry for entry in board.entries if entry.tested and all(map(entry.per_query.__contains__, topics))]
        if len(entries) > 1:
            found |= _decide_scope(board, scope, topics, entries, resamples, seed)
    return Verdicts(found, concordances(board), resamples, seed)


def across(boards: Sequence[Board]) -> list[Concordance]:
    """Return how alike several snapshots of one board order the systems that are on all of them.

    A system is the same where its team and name are: what ``lasting`` finds it by. The values are those on a board's
    first scope. Two snapshots given alone are compared by all that these two share.

    Args:
        boards: Snapshots of one board, in the order they are to be shown.

    Returns:
        One a measure that all of them have.
    """
    held = [lasting(board) for board in boards]
    shared = [name for name in held[0] if all(name in one for one in held)] if held else []
    measures = [str(measure) for measure in boards[0].measures] if boards else []
    names = tuple(board.snapshot for board in boards)
    found = []
    for measure in measures:
        if all(measure in map(str, board.measures) for board in boards):
            orders = [
                [value_of(one[name], board.scopes[0], measure) for name in shared]
                for board, one in zip(boards, held, strict=True)
            ]
            found.append(concordance("snapshots", measure, names, orders))
    return found


def _decide_scope(
    board: Board, scope: str, topics: tuple[str, ...], entries: Sequence[Entry], resamples: int, seed: int
) -> dict[Key, Verdict]:
    """Return the verdict of each measure; all measures see the same resamples and flips."""
    names = tuple(map(str, board.measures))
    strata = [_values(topic, names, entries) for topic in topics]
    queries = [values.shape[1] for values in strata]
    if min(queries) < 2:
        return {}
    drawn, flipped = resampled_means(strata, resamples, seed), flipped_means(strata, resamples, seed)
    means = macro_means(strata)
    scores = {entry.entry_id: entry.scores(scope) for entry in entries}
    judged = {entry_id: {} if held is None else held.judged for entry_id, held in scores.items()}
    found = {}
    for number, name in enumerate(names):
        held = range(number * len(entries), (number + 1) * len(entries))
        rows = sorted(held, key=lambda row: (-means[row], entries[row % len(entries)].entry_id))
        ids = [entries[row % len(entries)].entry_id for row in rows]
        pairs = compare_pairs([values[rows] for values in strata], drawn[rows], flipped[rows])
        baseline = board.baseline if board.baseline in ids else None
        found[scope, name] = Verdict(
            scope=scope,
            measure=name,
            queries=sum(queries),
            standings=_standings(ids, means[rows], drawn[rows], pairs),
            pairs=_pairs(ids, means[rows], pairs, judged),
            baseline=baseline,
            holm=_against(baseline, ids, pairs),
        )
    return found


def _values(topic: str, measures: Sequence[str], entries: Sequence[Entry]) -> Floats:
    """Return what the systems have on a topic: float64 of shape (measures * systems, queries), systems innermost."""
    query_ids = entries[0].per_query[topic].query_ids
    rows: list[list[Floats]] = []
    for entry in entries:
        held = entry.per_query[topic]
        if held.query_ids != query_ids:
            raise NotComparableError(
                f"topic {topic}",
                expected=f"the same queries of all systems, as of {shown(entries[0].entry_id)}",
                got=f"others of {shown(entry.entry_id)}",
                hint="score both again",
            )
        lacking = [name for name in measures if name not in held.measures]
        if lacking:
            raise NotComparableError(
                f"topic {topic}",
                expected=f"{lacking[0]} of all systems",
                got=f"none of {shown(entry.entry_id)}",
                hint="score it again",
            )
        rows.append([held.values[held.measures.index(name)] for name in measures])
    return np.array([one[number] for number in range(len(measures)) for one in rows], np.float64)


def _standings(ids: Sequence[str], means: Floats, drawn: Floats, pairs: Pairs) -> tuple[Standing, ...]:
    """Return where systems stand, which are given the best first."""
    apart = np.ones((len(ids), len(ids)))
    apart[pairs.first, pairs.second] = apart[pairs.second, pairs.first] = pairs.p_max_t
    ranked = rank_intervals(means, drawn)
    low, high = middle(drawn).T
    columns = (means, low, high, ranked.rank, ranked.low, ranked.high, ranked.first, ranked.few, tiers(apart))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Standing(entry_id, *row) for entry_id, row in zip(ids, rows, strict=True))


def _pairs(
    ids: Sequence[str], means: Floats, pairs: Pairs, judged: Mapping[str, Mapping[str, float]]
) -> dict[Key, Pair]:
    """Return each two of the systems, which are given the best first."""
    columns = {
        "difference": means[pairs.first] - means[pairs.second],
        "low": pairs.low,
        "high": pairs.high,
        "p": pairs.p,
        "p_max_t": pairs.p_max_t,
        "effect": pairs.effect,
        "wins": pairs.wins,
        "ties": pairs.ties,
        "losses": pairs.losses,
        "detectable": pairs.detectable,
    }
    found: dict[Key, Pair] = {}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    for first, second, row in zip(pairs.first.tolist(), pairs.second.tolist(), rows, strict=True):
        one, other = ids[first], ids[second]
        held = dict(zip(columns, row, strict=True))
        found[one, other] = Pair(first=one, second=other, **held, warning=_warning(judged[one], judged[other]))
    return found


def _against(baseline: str | None, ids: Sequence[str], pairs: Pairs) -> dict[str, float]:
    """Return the p-values of all others against the baseline, adjusted by Holm's method."""
    if baseline is None:
        return {}
    row = ids.index(baseline)
    its = (pairs.first == row) | (pairs.second == row)
    others = np.where(pairs.first == row, pairs.second, pairs.first)[its]
    return dict(zip((ids[other] for other in others.tolist()), holm(pairs.p[its]).tolist(), strict=True))


def _warning(one: Mapping[str, float], other: Mapping[str, float]) -> str:
    """Return what makes two systems hard to compare, from the shares of their documents that were judged."""
    apart = {name: abs(share - other[name]) for name, share in one.items() if name in other}
    far = [f"{name} differs by {gap:.2f}" for name, gap in apart.items() if gap > APART + SAME]
    return f"{', '.join(far)}: documents that nobody judged count as not relevant" if far else ""
