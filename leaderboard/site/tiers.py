"""Which systems the data can tell apart: tiers and ranks with their intervals, and how alike topics and measures order."""

from collections.abc import Iterator
from dataclasses import dataclass

from freshstack_datasets.report import NARROW, matrix_table, tau_matrix
from leaderboard.boards.records import Entry
from leaderboard.site import addresses, words
from leaderboard.site.pages import Page, Published, Site, page, scope_title
from leaderboard.verdicts.records import Concordance, Standing, Verdict


@dataclass(frozen=True, slots=True)
class Placed:
    """A system in a tier.

    Args:
        entry: The system.
        standing: Where it stands.
        starts: Whether it is the first of its tier.
    """

    entry: Entry
    standing: Standing
    starts: bool


@dataclass(frozen=True, slots=True)
class Tiers:
    """The systems by one measure on one scope, tier by tier.

    Args:
        verdict: The tests that tiers are made of.
        placed: The systems, by falling mean.
    """

    verdict: Verdict
    placed: tuple[Placed, ...]

    @property
    def first(self) -> tuple[Entry, ...]:
        """The systems of the first tier: the leader, and those that cannot be told from it."""
        return tuple(one.entry for one in self.placed if one.standing.tier == 1)


@dataclass(frozen=True, slots=True)
class ScopeTiers:
    """The tiers of one scope.

    Args:
        scope: The scope.
        title: What it is called for people.
        queries: How many queries it has.
        tiers: By each measure.
    """

    scope: str
    title: str
    queries: int
    tiers: tuple[Tiers, ...]


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike several orders of the same systems are.

    Args:
        title: What is compared, for people.
        systems: How many systems each order has.
        chart: The taus, as SVG.
        table: The same, as HTML.
    """

    title: str
    systems: int
    chart: str
    table: str


def pages(site: Site) -> Iterator[Page]:
    """Yield a page for each board on which systems were tested, or ordered in several ways at least."""
    for published in site.published:
        if has_page(published):
            board = published.board
            path = addresses.verdicts_page(board.name, board.snapshot)
            yield page(
                site,
                path,
                "verdicts.html",
                "Who is truly ahead",
                published=published,
                here="verdicts",
                scopes=tuple(scope_tiers(published)),
                alike=tuple(alike(published)),
            )


def has_page(published: Published) -> bool:
    """Whether a board has a page of verdicts."""
    return published.tested or any(concordance.systems > 1 for concordance in published.verdicts.concordances)


def scope_tiers(published: Published) -> Iterator[ScopeTiers]:
    """Yield the tiers of each scope on which systems were tested."""
    board = published.board
    for scope in board.scopes:
        verdicts = [published.verdict(scope, str(measure)) for measure in board.measures]
        found = tuple(_tiers(published, verdict) for verdict in verdicts if verdict is not None)
        if found:
            yield ScopeTiers(scope, scope_title(board, scope), found[0].verdict.queries, found)


def _tiers(published: Published, verdict: Verdict) -> Tiers:
    known = {entry.entry_id: entry for entry in published.board.entries}
    placed, before = [], None
    for standing in verdict.standings:
        placed.append(Placed(known[standing.entry_id], standing, standing.tier != before))
        before = standing.tier
    return Tiers(verdict, tuple(placed))


def alike(published: Published) -> Iterator[Alike]:
    """Yield how alike measures order the systems on each scope, and topics by each measure, where two or more do."""
    titles = {topic.name: topic.title for topic in published.board.topics}
    for concordance in published.verdicts.concordances:
        if concordance.systems > 1:
            yield _alike(published, concordance, titles)


def _alike(published: Published, concordance: Concordance, titles: dict[str, str]) -> Alike:
    if concordance.what == "measures":
        title = f"Measures, on {titles.get(concordance.within, 'all topics')}"
        names = [words.measure(name) for name in concordance.names]
    else:
        title = f"Topics, by {words.measure(concordance.within)}"
        names = [titles.get(name, name) for name in concordance.names]
    about = f"How alike {concordance.systems} systems are ordered; the numbers are in the cells."
    chart = tau_matrix(names, concordance.tau, title=title, about=about, width=NARROW)
    return Alike(title, concordance.systems, chart, matrix_table(title, names, concordance.tau))
