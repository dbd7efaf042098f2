"""Across quarters: how a board's systems rank on each of its snapshots, side by side and never mixed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from leaderboard.boards.records import Board, Entry
from leaderboard.site import addresses
from leaderboard.site.pages import Page, Published, Site, page
from leaderboard.verdicts.concordance import lasting, value_of
from leaderboard.verdicts.deciding import across
from leaderboard.verdicts.records import Concordance, Standing


@dataclass(frozen=True, slots=True)
class Cell:
    """A system on one snapshot.

    Args:
        page: Its page.
        value: Its mean.
        rank: 1 and how many ranked systems have a larger mean.
        standing: Its place among those that were tested; None when it was not.
    """

    page: str
    value: float
    rank: int
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class Row:
    """A system on all snapshots.

    Args:
        name: What it is called on the newest snapshot that has it.
        team: Whose it is.
        cells: One a snapshot, None where it was not handed in.
    """

    name: str
    team: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """The snapshots side by side, by one measure.

    Args:
        measure: The measure's printed form.
        rows: The systems, by their rank on the newest snapshot; those that it lacks come last.
        tau: Kendall's tau-b of each snapshot and the one before it, and how many systems both have; the first is None.
    """

    measure: str
    rows: tuple[Row, ...]
    tau: tuple[tuple[float | None, int] | None, ...]


def pages(site: Site) -> Iterator[Page]:
    """Yield a page for each board that has several snapshots."""
    names = dict.fromkeys(published.board.name for published in site.published)
    for name in names:
        if site.has_quarters(name):
            newest_last = site.snapshots(name)[::-1]
            sides = tuple(side(newest_last, measure) for measure in _shared_measures(newest_last))
            yield page(
                site,
                addresses.quarters_page(name),
                "quarters.html",
                "Across quarters",
                published=newest_last[-1],
                here="quarters",
                snapshots=newest_last,
                sides=sides,
                changed=_topics_differ(newest_last),
            )


def _shared_measures(snapshots: Sequence[Published]) -> list[str]:
    """Return the measures of the newest snapshot that all others have as well."""
    return [
        measure
        for measure in map(str, snapshots[-1].board.measures)
        if all(measure in map(str, published.board.measures) for published in snapshots)
    ]


def _topics_differ(snapshots: Sequence[Published]) -> bool:
    """Whether the topics differ between snapshots, so that means over all of them are of different things."""
    return len({tuple(topic.name for topic in published.board.topics) for published in snapshots}) > 1


def side(snapshots: Sequence[Published], measure: str) -> Side:
    """Return the systems of several snapshots of one board by one measure, each on the board's first scope.

    Args:
        snapshots: The snapshots, the newest last.
        measure: The measure's printed form.
    """
    held = [lasting(published.board) for published in snapshots]
    columns = [_column(published, known, measure) for published, known in zip(snapshots, held, strict=True)]
    names = dict.fromkeys(name for known in reversed(held) for name in known)
    rows = []
    for name in names:
        cells = tuple(column.get(name) for column in columns)
        if any(cells):
            newest = next(known[name] for known in reversed(held) if name in known)
            rows.append(Row(newest.name, newest.team, cells))
    return Side(measure, tuple(sorted(rows, key=_order)), _taus([published.board for published in snapshots], measure))


def _order(row: Row) -> tuple[tuple[bool, int], ...]:
    """Return what sorts rows: the rank on the newest snapshot, then on the one before it, and so on."""
    return tuple((cell is None, cell.rank if cell else 0) for cell in reversed(row.cells))


def _column(published: Published, known: Mapping[str, Entry], measure: str) -> dict[str, Cell]:
    board = published.board
    scope = board.scopes[0]
    values = {name: value_of(entry, scope, measure) for name, entry in known.items()}
    ranked = [
        value for entry in board.entries if entry.ranked and (value := value_of(entry, scope, measure)) is not None
    ]
    verdict = published.verdict(scope, measure)
    return {
        name: Cell(
            addresses.system_page(board.name, board.snapshot, known[name].entry_id),
            value,
            1 + sum(1 for other in ranked if other > value),
            verdict.standing(known[name].entry_id) if verdict else None,
        )
        for name, value in values.items()
        if value is not None
    }


def _taus(boards: Sequence[Board], measure: str) -> tuple[tuple[float | None, int] | None, ...]:
    found: list[tuple[float | None, int] | None] = [None]
    for before, after in pairwise(boards):
        both = next((one for one in across([before, after]) if one.within == measure), None)
        found.append(None if both is None else _tau(both))
    return tuple(found)


def _tau(both: Concordance) -> tuple[float | None, int]:
    return both.tau[0][1], both.systems
