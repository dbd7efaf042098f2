"""What is shown of one system: what it is, what it scores, whom it can be told from, and where it is weak."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from leaderboard.boards.records import Board, CutoffPart, Entry, Score
from leaderboard.site import addresses
from leaderboard.site.facts import Fact, facts_of, reproduction_of, training_of
from leaderboard.site.pages import Page, Site, page, scope_title
from leaderboard.submission.model import UsedModel
from leaderboard.verdicts.records import Pair, Standing, Verdict, Verdicts

HARDEST = 10
"""Queries that are listed as a system's hardest."""


@dataclass(frozen=True, slots=True)
class Held:
    """A score and what is concluded from it.

    Args:
        measure: The measure's printed form.
        score: The mean; None where the system has none.
        standing: Where it stands among those that were tested; None when it was not.
        condensed: The mean on judged documents alone, None where it is not known.
    """

    measure: str
    score: Score | None
    standing: Standing | None
    condensed: float | None


@dataclass(frozen=True, slots=True)
class ScopeLine:
    """The scores on one scope.

    Args:
        scope: A topic, or ``MACRO``.
        title: What it is called for people.
        queries: How many queries the means run over, None where nobody said.
        held: A score for each measure of the board.
        judged: ``Judged@10`` and so on; empty where they are not known.
    """

    scope: str
    title: str
    queries: int | None
    held: tuple[Held, ...]
    judged: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Rival:
    """Another system that this one is held against.

    Args:
        relation: Why it is here: ``baseline``, ``next above`` or ``next below``.
        entry: The other system.
        pair: How the two differ, this one first.
        holm: The p-value against the baseline by Holm's method; None for others.
    """

    relation: str
    entry: Entry
    pair: Pair
    holm: float | None


@dataclass(frozen=True, slots=True)
class Rivals:
    """The rivals by one measure.

    Args:
        measure: The measure's printed form.
        rivals: The rivals.
    """

    measure: str
    rivals: tuple[Rival, ...]


@dataclass(frozen=True, slots=True)
class Hard:
    """A query and what the system has on it.

    Args:
        topic: Its topic.
        query_id: Its id.
        value: What the system has, by the board's first measure.
        others: The mean of the other tested systems; None when there is no other.
        best: The best of the others; None when there is no other.
    """

    topic: str
    query_id: str
    value: float
    others: float | None
    best: float | None


@dataclass(frozen=True, slots=True)
class CutoffLine:
    """The scores of a topic before and after a model's training ended.

    Args:
        title: The topic, for people.
        date: The day.
        before: The queries of that day and before.
        after: The queries after it.
        undated: Queries without a date.
    """

    title: str
    date: str
    before: CutoffPart
    after: CutoffPart
    undated: int


@dataclass(frozen=True, slots=True)
class SystemView:
    """One system of a board.

    Args:
        entry: The system.
        facts: What is known of it as a whole.
        models: The models that took part.
        training: What they may have seen.
        reproduce: How to make the runs again; empty for a reported row.
        scores: Its scores, a line a scope.
        missing: The titles of topics that it lacks.
        rivals: The baseline and its neighbours on the first scope, by measure.
        hardest: The queries on which it has least.
        cutoffs: Its scores before and after the training cut-off.
    """

    entry: Entry
    facts: tuple[Fact, ...]
    models: tuple[UsedModel, ...] = field(repr=False)
    training: tuple[Fact, ...]
    reproduce: tuple[Fact, ...]
    scores: tuple[ScopeLine, ...]
    missing: tuple[str, ...]
    rivals: tuple[Rivals, ...]
    hardest: tuple[Hard, ...]
    cutoffs: tuple[CutoffLine, ...]


def pages(site: Site) -> Iterator[Page]:
    """Yield a page for each system of all boards."""
    for published in site.published:
        board = published.board
        with_queries = {topic.name for topic in site.shown_topics(board)}
        for view in system_views(board, published.verdicts):
            path = addresses.system_page(board.name, board.snapshot, view.entry.entry_id)
            title = view.entry.name
            yield page(site, path, "system.html", title, published=published, view=view, with_queries=with_queries)


def system_views(board: Board, verdicts: Verdicts) -> Iterator[SystemView]:
    """Yield what is shown of each system of a board, in the board's order."""
    known = {entry.entry_id: entry for entry in board.entries}
    means = _means(board)
    for entry in board.entries:
        yield SystemView(
            entry,
            facts_of(entry),
            entry.submission.models if entry.submission else (),
            training_of(entry),
            reproduction_of(entry),
            tuple(_line(board, verdicts, entry, scope) for scope in board.scopes),
            tuple(topic.title for topic in board.topics if topic.name not in entry.topics),
            tuple(_rivals(board, verdicts, entry, known)),
            _hardest(entry, means),
            tuple(_cutoffs(board, entry)),
        )


def _line(board: Board, verdicts: Verdicts, entry: Entry, scope: str) -> ScopeLine:
    scores = entry.scores(scope)
    held = []
    for measure in map(str, board.measures):
        verdict = verdicts.verdicts.get((scope, measure))
        held.append(
            Held(
                measure,
                scores.measures.get(measure) if scores else None,
                verdict.standing(entry.entry_id) if verdict else None,
                scores.condensed.get(measure) if scores else None,
            )
        )
    return ScopeLine(
        scope,
        scope_title(board, scope),
        scores.queries if scores else None,
        tuple(held),
        scores.judged if scores else {},
    )


def _rivals(board: Board, verdicts: Verdicts, entry: Entry, known: Mapping[str, Entry]) -> Iterator[Rivals]:
    for measure in map(str, board.measures):
        verdict = verdicts.verdicts.get((board.scopes[0], measure))
        if verdict is not None and verdict.standing(entry.entry_id) is not None:
            rivals = [
                Rival(
                    relation,
                    known[other],
                    verdict.pair(entry.entry_id, other),
                    verdict.holm.get(entry.entry_id) if other == verdict.baseline else None,
                )
                for relation, other in _others(verdict, entry.entry_id)
            ]
            yield Rivals(measure, tuple(rivals))


def _others(verdict: Verdict, entry_id: str) -> Iterator[tuple[str, str]]:
    order = [standing.entry_id for standing in verdict.standings]
    place = order.index(entry_id)
    if verdict.baseline is not None and verdict.baseline != entry_id:
        yield "baseline", verdict.baseline
    for relation, at in (("next above", place - 1), ("next below", place + 1)):
        if 0 <= at < len(order) and order[at] != verdict.baseline:
            yield relation, order[at]


_Means = Mapping[tuple[str, str], Sequence[tuple[str, float]]]
"""By topic and query, the tested systems and what they have by the first measure."""


def _means(board: Board) -> _Means:
    means: dict[tuple[str, str], list[tuple[str, float]]] = {}
    measure = str(board.measures[0])
    for entry in board.entries:
        for topic, held in entry.per_query.items():
            if entry.ranked:
                row = held.values[held.measures.index(measure)].tolist()
                for query_id, value in zip(held.query_ids, row, strict=True):
                    means.setdefault((topic, query_id), []).append((entry.entry_id, value))
    return means


def _hardest(entry: Entry, means: _Means) -> tuple[Hard, ...]:
    """Return the queries with the least value; of equal ones, those that others do better on come first."""
    found = []
    for (topic, query_id), scored in means.items():
        own = next((value for entry_id, value in scored if entry_id == entry.entry_id), None)
        if own is not None:
            others = [value for entry_id, value in scored if entry_id != entry.entry_id]
            mean = sum(others) / len(others) if others else None
            found.append(Hard(topic, query_id, own, mean, max(others, default=None)))
    return tuple(sorted(found, key=lambda hard: (hard.value, -(hard.others or 0.0)))[:HARDEST])


def _cutoffs(board: Board, entry: Entry) -> Iterator[CutoffLine]:
    for topic in board.topics:
        cutoff = entry.cutoff.get(topic.name)
        if cutoff is not None:
            yield CutoffLine(topic.title, cutoff.date, cutoff.before, cutoff.after, cutoff.undated)
