"""The table of a board: a page for each scope and measure, so that all can be read without JavaScript."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from freshstack_datasets.evaluation import Measure
from leaderboard.boards.records import Board, Entry, Score, Scores
from leaderboard.site import addresses, words
from leaderboard.site.downloads import DOWNLOADS
from leaderboard.site.facets import Facet, facets, values_of
from leaderboard.site.pages import Page, Published, Site, page, scope_title
from leaderboard.verdicts.records import Standing, Verdict

JUDGED = (10, 20, 50)
"""The depths at which it is said how much was judged."""

STRIP, EDGE = 160, 6
"""The width of the drawing of an interval, and what stays free at its sides, in its own units."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Where the mean of a system and its interval stand on the axis that all rows share.

    Args:
        place: The mean.
        low: The low end, None where there is no interval.
        high: The high end.
    """

    place: str
    low: str | None
    high: str | None


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis of the drawings in a column.

    Args:
        low: Its low end, a multiple of 0.05.
        high: Its high end.
    """

    low: float
    high: float

    @classmethod
    def of(cls, scores: Iterable[Score]) -> "Axis":
        """Return the axis that holds all means and intervals; from 0 to 1 when there are none."""
        ends = [end for score in scores for end in (score.value, score.low, score.high) if end is not None] or [0, 1]
        low, high = math.floor(min(ends) * 20), math.ceil(max(ends) * 20)
        return cls(low / 20, (high if high > low else low + 1) / 20)

    def at(self, value: float) -> str:
        """Return where a value stands."""
        return f"{EDGE + (STRIP - 2 * EDGE) * (value - self.low) / (self.high - self.low):.1f}"

    def strip(self, score: Score) -> Strip:
        """Return where a mean and its interval stand."""
        if score.low is None or score.high is None:
            return Strip(self.at(score.value), None, None)
        return Strip(self.at(score.value), self.at(score.low), self.at(score.high))

    @property
    def grid(self) -> tuple[str, str, str]:
        """Where its ends and its middle are."""
        return self.at(self.low), self.at((self.low + self.high) / 2), self.at(self.high)


@dataclass(frozen=True, slots=True)
class Column:
    """A column that can be hidden, and sorted by.

    Args:
        key: What it is called in addresses.
        heading: What stands above it.
        about: What it holds, in a sentence.
        shown: Whether it is there from the start, where a script can hide others.
        falling: Whether the largest comes first when one sorts by it.
        numeric: Whether it holds numbers.
    """

    key: str
    heading: str
    about: str
    shown: bool = True
    falling: bool = False
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table.

    Args:
        entry: The system.
        scores: Its scores on the scope; None when it has none there.
        place: Its rank by value among all that have one and were not tested, where none was; None else.
        standing: Its rank, its interval and its tier, where it was tested.
        starts: Whether it is the first of a tier.
        strip: The drawing of its interval.
        missing: The titles of topics that it was not run on.
        against: Its lead over the baseline and the p-value of it, where both were tested.
        facets: What filters know of it.
    """

    entry: Entry
    scores: Scores | None
    place: int | None
    standing: Standing | None
    starts: bool
    strip: Strip | None
    missing: tuple[str, ...]
    against: tuple[float, float] | None
    facets: Mapping[str, str]


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """All that the page of one scope and measure shows."""

    scope: str
    measure: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    facets: tuple[Facet, ...]
    axis: Axis
    verdict: Verdict | None
    first_tier: tuple[Entry, ...]
    detectable: float | None

    @property
    def untested(self) -> int:
        """How many systems take part whose leads cannot be tested."""
        return sum(1 for row in self.rows if row.entry.ranked and row.strip is not None and row.standing is None)


def pages(site: Site) -> Iterator[Page]:
    """Yield the pages of the tables of all boards."""
    for published in site.published:
        for scope in published.board.scopes:
            for measure in map(str, published.board.measures):
                yield _page(site, published, scope, measure)


def _page(site: Site, published: Published, scope: str, measure: str) -> Page:
    board = published.board
    return page(
        site,
        addresses.view_page(board, scope, measure),
        "table.html",
        f"{scope_title(board, scope)} by {words.measure(measure)}",
        published=published,
        here="table",
        at=(scope, measure),
        table=table_of(published, scope, measure),
        measures=in_front(board, measure),
        downloads=DOWNLOADS,
    )


def table_of(published: Published, scope: str, measure: str) -> Table:
    """Return the table of a scope in the order of a measure.

    Args:
        published: The board and its verdicts.
        scope: A topic, or all of them.
        measure: The printed form of one of the board's measures.
    """
    board, verdict = published.board, published.verdict(scope, measure)
    entries = in_order(board.entries, scope, measure)
    known = [score for entry in entries if (score := score_of(entry, scope, measure)) is not None]
    axis = Axis.of(known)
    tested = {standing.entry_id: standing for standing in verdict.standings} if verdict else {}
    ranks = {} if verdict else places(entries, scope, measure)
    rows: list[Row] = []
    tier = None
    for entry in entries:
        standing, score = tested.get(entry.entry_id), score_of(entry, scope, measure)
        starts = standing is not None and tier is not None and standing.tier != tier
        tier = standing.tier if standing else tier
        rows.append(
            Row(
                entry,
                entry.scores(scope),
                ranks.get(entry.entry_id),
                standing,
                starts,
                axis.strip(score) if score else None,
                tuple(topic.title for topic in board.topics if topic.name not in entry.topics),
                _against(verdict, entry.entry_id),
                values_of(entry),
            )
        )
    first = tuple(board.entry(standing.entry_id) for standing in tested.values() if standing.tier == 1)
    columns = tuple(columns_of(board, rows, verdict, measure))
    return Table(scope, measure, tuple(rows), columns, facets(board.entries), axis, verdict, first, detectable(verdict))


def score_of(entry: Entry, scope: str, measure: str) -> Score | None:
    """Return the mean of a system on a scope; None when it has none there."""
    scores = entry.scores(scope)
    return None if scores is None else scores.measures.get(measure)


def in_order(entries: Iterable[Entry], scope: str, measure: str) -> list[Entry]:
    """Return systems by falling mean, those without one last, both else as they were."""

    def order(entry: Entry) -> tuple[bool, float]:
        score = score_of(entry, scope, measure)
        return score is None, -score.value if score else 0.0

    return sorted(entries, key=order)


def places(entries: Sequence[Entry], scope: str, measure: str) -> dict[str, int]:
    """Return 1 and how many have a larger mean, for all systems that take part and have a mean."""
    values = {
        entry.entry_id: score.value
        for entry in entries
        if entry.ranked and (score := score_of(entry, scope, measure)) is not None
    }
    falling = sorted(values.values(), reverse=True)
    return {entry_id: falling.index(value) + 1 for entry_id, value in values.items()}


def detectable(verdict: Verdict | None) -> float | None:
    """Return the smallest difference that would show between the first two systems."""
    if verdict is None or len(verdict.standings) < 2:
        return None
    first, second = verdict.standings[:2]
    return verdict.pair(first.entry_id, second.entry_id).detectable


def _against(verdict: Verdict | None, entry_id: str) -> tuple[float, float] | None:
    if verdict is None or verdict.baseline is None or entry_id not in verdict.holm:
        return None
    return verdict.pair(entry_id, verdict.baseline).difference, verdict.holm[entry_id]


def columns_of(board: Board, rows: Sequence[Row], verdict: Verdict | None, measure: str) -> Iterator[Column]:
    """Yield the columns behind the rank, from left to right; without a script, all are shown."""
    with_interval = any(row.strip is not None and row.strip.low is not None for row in rows)
    about = "The mean over all queries, and its 95 % bootstrap interval"
    chosen, *others = [
        Column(addresses.slug(name), words.measure(name), about, falling=True, numeric=True)
        for name in in_front(board, measure)
    ]
    yield chosen
    about = "The mean and its bootstrap interval, on an axis that all rows share"
    yield Column("interval", "95 % interval" if with_interval else "On one axis", about, falling=True)
    yield from others
    if verdict is not None and verdict.baseline is not None:
        about = f"The lead over {board.entry(verdict.baseline).name}, and its p-value by Holm"
        yield Column("baseline", "vs baseline", about, shown=False, falling=True, numeric=True)
    depth = nearest_depth(measure)
    known = any(row.scores is not None and row.scores.judged for row in rows)
    for k in JUDGED:
        about = f"The share of the first {k} documents that were judged for the very query"
        yield Column(f"judged-{k}", f"Judged@{k}", about, shown=known and k == depth, falling=True, numeric=True)
    yield from _told(dated=not known)


def in_front(board: Board, measure: str) -> list[str]:
    """Return the printed forms of the board's measures, the one that a table is ordered by first."""
    return sorted(map(str, board.measures), key=lambda name: name != measure)


def _told(*, dated: bool) -> Iterator[Column]:
    """Yield the columns of what is told of systems; as many are shown as there is room for on a desk."""
    yield Column("kind", "Kind", "What kind of system it is, by its last step")
    yield Column("size", "Size", "The parameters of all its models together", falling=True, numeric=True)
    yield Column("license", "Licence", "The licences of its models")
    yield Column("weights", "Weights", "Whether the weights of its models are public", shown=False)
    about = "Whether its models saw the questions, answers or judgments in training"
    yield Column("training", "Trained on it", about, shown=False)
    about = "The median time of a query, on the submitter's hardware"
    yield Column("latency", "Latency", about, shown=False, numeric=True)
    about = "The day of the submission, or of the release of a reported system"
    yield Column("date", "Date", about, shown=dated, falling=True)
    yield Column("evidence", "Evidence", "Reported elsewhere, scored from a run, or reproduced by a second run")


def nearest_depth(measure: str) -> int:
    """Return the depth of ``JUDGED`` that is nearest to where a measure ends."""
    cutoff = Measure.parse(measure).cutoff
    return min(JUDGED, key=lambda k: abs(k - cutoff))
