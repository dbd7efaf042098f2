"""Systems side by side: each against its neighbours and the baseline, and any two to five that a reader chooses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from freshstack_datasets.cli.console import printable
from leaderboard.boards.records import MACRO, Board, Entry, Score
from leaderboard.site import addresses
from leaderboard.site.pages import Page, Published, Site, page, scope_title
from leaderboard.verdicts.records import Pair, Standing, Verdict

MOST = 5
"""Systems that are compared at once."""

_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Against:
    """Two systems and how they differ.

    Args:
        first: The first.
        second: The second.
        pair: The first minus the second.
        adjusted: The p-value, adjusted for all tests of the table that it stands in.
    """

    first: Entry
    second: Entry
    pair: Pair
    adjusted: float | None


@dataclass(frozen=True, slots=True)
class Compared:
    """What is shown of one measure on one scope without a choice.

    Args:
        verdict: The tests.
        neighbours: Each system and the next one below it.
        baseline: What all others are held against; None where it was not tested.
        against: All others against it, by falling mean.
    """

    verdict: Verdict
    neighbours: tuple[Against, ...]
    baseline: Entry | None
    against: tuple[Against, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A system that can be chosen.

    Args:
        entry: The system.
        tested: Whether it was tested against others on this scope.
    """

    entry: Entry
    tested: bool


@dataclass(frozen=True, slots=True)
class CompareView:
    """The systems of a board on one scope.

    Args:
        scope: The scope.
        title: What it is called for people.
        compared: What is shown of each measure.
        choices: The systems with a value on it, in the board's order.
        data: What the script chooses from, for JSON.
    """

    scope: str
    title: str
    compared: tuple[Compared, ...]
    choices: tuple[Choice, ...]
    data: Mapping[str, Any] = field(repr=False)


def pages(site: Site) -> Iterator[Page]:
    """Yield a page for each scope of all boards on which systems were tested."""
    for published in site.published:
        board = published.board
        shown = {topic.name for topic in site.shown_topics(board)}
        scopes = [scope for scope in board.scopes if any(scope == tested for tested, _ in published.verdicts.verdicts)]
        for scope in scopes:
            path = addresses.compare_page(board.name, board.snapshot, scope)
            view = compare_view(published, scope, path, scope in shown)
            title = f"Compare systems: {view.title}"
            yield page(site, path, "compare.html", title, published=published, view=view, scopes=scopes, here="compare")


def compare_view(published: Published, scope: str, path: str, with_queries: bool) -> CompareView:
    """Return what the page of a scope shows.

    Args:
        published: The board.
        scope: A topic, or ``MACRO``.
        path: Where the page is, for the links that the script writes.
        with_queries: Whether the queries of the scope have pages.
    """
    board = published.board
    choices = tuple(_choices(published, scope))
    return CompareView(
        scope,
        scope_title(board, scope),
        tuple(_compared(published, scope)),
        choices,
        _data(published, scope, choices, path, with_queries),
    )


def _verdicts(published: Published, scope: str) -> Iterator[tuple[str, Verdict]]:
    for measure in map(str, published.board.measures):
        verdict = published.verdict(scope, measure)
        if verdict is not None:
            yield measure, verdict


def _choices(published: Published, scope: str) -> Iterator[Choice]:
    tested = {standing.entry_id for _, verdict in _verdicts(published, scope) for standing in verdict.standings}
    for entry in published.board.entries:
        if entry.scores(scope) is not None:
            yield Choice(entry, entry.entry_id in tested)


def _compared(published: Published, scope: str) -> Iterator[Compared]:
    known = {entry.entry_id: entry for entry in published.board.entries}
    for _, verdict in _verdicts(published, scope):
        order = [standing.entry_id for standing in verdict.standings]
        base = verdict.baseline
        yield Compared(
            verdict,
            tuple(_against(known, verdict, *two) for two in pairwise(order)),
            known[base] if base is not None else None,
            tuple(_held(known, verdict, one, base) for one in order if base is not None and one != base),
        )


def _against(known: Mapping[str, Entry], verdict: Verdict, first: str, second: str) -> Against:
    pair = verdict.pair(first, second)
    return Against(known[first], known[second], pair, pair.p_max_t)


def _held(known: Mapping[str, Entry], verdict: Verdict, first: str, baseline: str) -> Against:
    return Against(known[first], known[baseline], verdict.pair(first, baseline), verdict.holm.get(first))


def _data(published: Published, scope: str, choices: Sequence[Choice], path: str, with_queries: bool) -> dict[str, Any]:
    """Return what the script needs; lists instead of objects, since there may be hundreds of pairs."""
    board = published.board
    entries = [choice.entry for choice in choices]
    number = {entry.entry_id: i for i, entry in enumerate(entries)}
    warnings = sorted({pair.warning for _, verdict in _verdicts(published, scope) for pair in verdict.pairs.values()})
    return {
        "scope": scope,
        "most": MOST,
        "measures": [str(measure) for measure in board.measures],
        "systems": [_system(board, choice, path) for choice in choices],
        "scores": {str(m): [_score(entry, scope, str(m)) for entry in entries] for m in board.measures},
        "standings": {
            measure: {str(number[one.entry_id]): _standing(one) for one in verdict.standings}
            for measure, verdict in _verdicts(published, scope)
        },
        "pairs": {
            measure: [
                [number[pair.first], number[pair.second], *_pair(pair), warnings.index(pair.warning)]
                for pair in verdict.pairs.values()
            ]
            for measure, verdict in _verdicts(published, scope)
        },
        "warnings": warnings,
        "queries": _queries(board, scope, entries, path, with_queries),
        "values": _values(board, scope, entries),
    }


def _system(board: Board, choice: Choice, path: str) -> dict[str, Any]:
    entry = choice.entry
    page_of = addresses.system_page(board.name, board.snapshot, entry.entry_id)
    told = {
        "id": entry.entry_id,
        "name": printable(entry.name),
        "team": printable(entry.team),
        "tier": entry.tier,
        "kind": entry.kind,
    }
    return {**told, "oracle": not entry.ranked, "tested": choice.tested, "page": addresses.between(path, page_of)}


def _score(entry: Entry, scope: str, measure: str) -> list[float | None] | None:
    scores = entry.scores(scope)
    score: Score | None = scores.measures.get(measure) if scores else None
    return None if score is None else [_short(score.value), _short(score.low), _short(score.high)]


def _standing(one: Standing) -> list[float]:
    return [one.rank, one.rank_low, one.rank_high, one.tier]


def _pair(pair: Pair) -> list[float | None]:
    numbers = (pair.difference, pair.low, pair.high, pair.p, pair.p_max_t, pair.effect)
    return [*map(_short, numbers), pair.wins, pair.ties, pair.losses, _short(pair.detectable)]


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _queries(
    board: Board, scope: str, entries: Sequence[Entry], path: str, with_queries: bool
) -> list[list[str | None]]:
    """Return the queries of a topic, each with the address of its page; none for all topics together."""
    held = next((entry.per_query[scope] for entry in entries if scope in entry.per_query), None)
    if scope == MACRO or held is None:
        return []
    found: list[list[str | None]] = []
    for query_id in held.query_ids:
        target = addresses.query_page(board.name, board.snapshot, scope, query_id)
        found.append([query_id, addresses.between(path, target) if with_queries else None])
    return found


def _values(board: Board, scope: str, entries: Sequence[Entry]) -> dict[str, list[list[float] | None]]:
    """Return by measure what each system has on each query, None for a system without values per query."""
    if scope == MACRO:
        return {}
    found: dict[str, list[list[float] | None]] = {}
    for measure in map(str, board.measures):
        found[measure] = []
        for entry in entries:
            held = entry.per_query.get(scope)
            row = None if held is None else held.values[held.measures.index(measure)].round(4).tolist()
            found[measure].append(row)
    return found
