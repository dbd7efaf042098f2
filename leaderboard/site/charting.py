"""The charts of a board: quality against size and time, by topic, and through the years."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from freshstack_datasets.report import (
    LATENCY,
    SIZE,
    Axis,
    Line,
    Point,
    Row,
    figure,
    heat_map,
    heat_table,
    history,
    points_table,
    rank_text,
    ranking,
    scatter,
)
from leaderboard.boards.records import Board, Entry, Topic
from leaderboard.site import addresses, words
from leaderboard.site.pages import Page, Published, Site, page, scope_title
from leaderboard.site.table import in_order, score_of
from leaderboard.site.timing import timing
from leaderboard.verdicts.records import Verdict


@dataclass(frozen=True, slots=True)
class Chart:
    """A section of the page.

    Args:
        key: What it is called in addresses.
        title: What it is called for people.
        about: What to look for, in a sentence or two.
        html: The figure, with its numbers as a table; None where there is nothing to draw.
    """

    key: str
    title: str
    about: str
    html: str | None


def pages(site: Site) -> Iterator[Page]:
    """Yield the pages of charts of all boards, one for each scope and measure."""
    for published in site.published:
        board = published.board
        for measure in map(str, board.measures):
            by_topic = _heat(board, measure)  # the same for every scope
            for scope in board.scopes:
                yield page(
                    site,
                    addresses.charts_page(board, scope, measure),
                    "charts.html",
                    f"Charts of {scope_title(board, scope)} by {words.measure(measure)}",
                    published=published,
                    here="charts",
                    at=(scope, measure),
                    charts=tuple(charts(published, scope, measure, by_topic)),
                )


def charts(published: Published, scope: str, measure: str, by_topic: str | None) -> Iterator[Chart]:
    """Yield the charts of a scope by a measure.

    Args:
        published: The board and its verdicts.
        scope: A topic, or all of them.
        measure: The printed form of one of the board's measures.
        by_topic: The map of systems and topics, where there is one.
    """
    board = published.board
    drawn = _Drawn(board, scope, measure)
    verdict = published.verdict(scope, measure)
    yield Chart(
        "ranking",
        "Who is ahead, and how surely" if verdict else "Who is ahead",
        "Intervals that overlap say little about a pair: systems of one tier cannot be told from the first of it."
        if verdict
        else "Nothing here was tested: neighbours may well be equally good.",
        drawn.in_rank(verdict),
    )
    yield Chart(
        "size",
        "Quality and size",
        "Up and to the left is better. The steps are the front, by means alone: no smaller system has a larger one.",
        drawn.against(SIZE, {entry.entry_id: entry.parameters for entry in board.entries}, "size"),
    )
    yield Chart(
        "latency",
        "Quality and latency",
        "The median time of a query as each submitter measured it, on hardware of their own: compare with care.",
        drawn.against(LATENCY, {entry.entry_id: entry.latency_ms for entry in board.entries}, "latency"),
    )
    yield Chart(
        "timing",
        "How long a query takes",
        "Each median with its tail, the quickest first: the same for every topic and measure.",
        timing(board),
    )
    yield Chart("topics", "Topic by topic", "An average hides much: orders differ from topic to topic.", by_topic)
    yield Chart(
        "history",
        "Through time",
        "The line is the largest mean so far, by the day of a submission, or of the release of a reported system.",
        drawn.through_time(),
    )


class _Drawn:
    """The systems of a scope as charts need them."""

    def __init__(self, board: Board, scope: str, measure: str) -> None:
        self.board, self.scope, self.measure = board, scope, words.measure(measure)
        self.where = scope_title(board, scope)
        found = [(entry, score_of(entry, scope, measure)) for entry in in_order(board.entries, scope, measure)]
        self.entries = [(entry, score) for entry, score in found if score is not None]
        self.oracles = [Line(entry.name, score.value) for entry, score in self.entries if not entry.ranked]
        held = [(entry, score) for entry, score in self.entries if entry.entry_id == board.baseline]
        self.lines = [*self.oracles, *(Line(f"baseline: {entry.name}", score.value) for entry, score in held)]
        self.groups = sorted({entry.kind for entry in board.entries if entry.ranked})
        self.fingerprint = fingerprint_of(board.topics, board.snapshot)

    def points(self, x: Mapping[str, float | None], notes: Mapping[str, str] | None = None) -> list[Point]:
        """Return the systems that take part, with a place on another axis and a few words beside it."""
        return [
            Point(
                entry.name,
                score.value,
                self.fingerprint,
                score.low,
                score.high,
                entry.kind,
                x.get(entry.entry_id),
                entry.date,
                (notes or {}).get(entry.entry_id, ""),
            )
            for entry, score in self.entries
            if entry.ranked
        ]

    def in_rank(self, verdict: Verdict | None) -> str | None:
        """Return the systems by falling value with their intervals, ranks and tiers; None where there is no system."""
        held = {one.entry_id: one for one in verdict.standings} if verdict else {}
        notes = {
            entry_id: f"rank {rank_text(one.rank_low, one.rank_high)}, tier {one.tier}"
            for entry_id, one in held.items()
        }
        points = self.points({}, notes)
        if not points:
            return None
        title = f"Systems by {self.measure}, {self.where}"
        about = f"{len(points)} systems, the largest mean first, each with its interval where it has one."

        def draw(width: int) -> str:
            return ranking(
                points, self.measure, title=title, about=about, lines=self.lines, groups=self.groups, width=width
            )

        twin = points_table(title, points, self.measure, lines=self.lines)
        return figure(draw, caption=self.caption(points), twin=twin)

    def against(self, axis: Axis, x: "dict[str, float | None] | dict[str, int | None]", what: str) -> str | None:
        """Return a scatter; None where nothing is known of any system."""
        points = self.points(dict(x))
        if all(point.x is None for point in points):
            return None
        title = f"{self.measure} against {what}, {self.where}"
        about = f"{len(points)} systems; {_unknown(points)} without a known {what} stand in a strip at the side."

        def draw(width: int) -> str:
            return scatter(
                points,
                axis,
                self.measure,
                title=title,
                about=about,
                lines=self.lines,
                groups=self.groups,
                width=width,
            )

        return figure(
            draw, caption=self.caption(points), twin=points_table(title, points, self.measure, axis, self.lines)
        )

    def through_time(self) -> str | None:
        """Return a history; None where there is no system."""
        points = self.points({})
        if not points:
            return None
        title = f"{self.measure} by date, {self.where}"
        about = f"{len(points)} systems by date, with the best so far as a line."

        def draw(width: int) -> str:
            return history(
                points, self.measure, title=title, about=about, lines=self.lines, groups=self.groups, width=width
            )

        return figure(
            draw, caption=self.caption(points), twin=points_table(title, points, self.measure, lines=self.lines)
        )

    def caption(self, points: Sequence[Point]) -> str:
        """Return what the bars and lines of a figure mean."""
        with_interval = sum(1 for point in points if point.low is not None)
        bars = "Bars are 95 % bootstrap intervals over the queries." if with_interval else "Reported without intervals."
        if 0 < with_interval < len(points):
            bars += " Systems without a bar were reported without their runs."
        named = ["oracles, which saw the answers"] if self.oracles else []
        named += ["the baseline"] if len(self.lines) > len(self.oracles) else []
        lines = f" Dotted lines: {', and '.join(named)}." if named else ""
        return f"{self.board.title}, {self.board.snapshot}. {bars}{lines}"


def _unknown(points: Sequence[Point]) -> int:
    return sum(1 for point in points if point.x is None)


def _heat(board: Board, measure: str) -> str | None:
    """Return a map of systems and topics; None where there is but one topic, which the table shows already."""
    if len(board.topics) < 2:
        return None
    entries = [entry for entry in in_order(board.entries, board.scopes[0], measure) if entry.topics]
    if not entries:
        return None
    fingerprint = fingerprint_of(board.topics, board.snapshot)
    rows = [Row(_label(one), _values(board, one, measure), fingerprint, not one.ranked) for one in entries]
    columns = [scope_title(board, scope) for scope in board.scopes]
    title = f"{words.measure(measure)} by topic"
    about = f"{len(rows)} systems in rows, {len(columns)} columns; darker is less, and the numbers are in the cells."

    def draw(width: int) -> str:
        return heat_map(rows, columns, words.measure(measure), title=title, about=about, width=width)

    caption = f"{board.title}, {board.snapshot}. n/a: no run for that topic."
    return figure(draw, caption=caption, twin=heat_table(title, rows, columns))


def _label(entry: Entry) -> str:
    return entry.name if entry.ranked or "oracle" in entry.name.lower() else f"{entry.name} (oracle)"


def _values(board: Board, entry: Entry, measure: str) -> tuple[float | None, ...]:
    scores = (score_of(entry, scope, measure) for scope in board.scopes)
    return tuple(score.value if score else None for score in scores)


def fingerprint_of(topics: Sequence[Topic], snapshot: str) -> str:
    """Return what data a board was scored on, all topics together."""
    return " ".join(topic.fingerprint or f"{topic.dataset}@{snapshot}" for topic in topics)
