"""The front: all boards, and who leads on each."""

from collections.abc import Iterator
from dataclasses import dataclass

from leaderboard.boards.records import Entry
from leaderboard.site import addresses
from leaderboard.site.pages import Page, Published, Site, page


@dataclass(frozen=True, slots=True)
class Lead:
    """Who is ahead on a board.

    Args:
        measure: By which measure.
        entries: The systems of the first tier, which the data cannot tell apart; where none was tested, the one with
            the largest value.
        tested: Whether that was tested.
    """

    measure: str
    entries: tuple[Entry, ...]
    tested: bool


def pages(site: Site) -> Iterator[Page]:
    """Yield the front page."""
    leads = {published: lead(published) for published in site.published}
    yield page(site, addresses.HOME, "home.html", "Boards", here="boards", leads=leads)


def lead(published: Published) -> Lead | None:
    """Return who is ahead on all topics together by the board's first measure; None on a board without values."""
    board = published.board
    scope, measure = board.scopes[0], str(board.measures[0])
    verdict = published.verdict(scope, measure)
    if verdict is not None:
        first = tuple(board.entry(standing.entry_id) for standing in verdict.standings if standing.tier == 1)
        return Lead(measure, first, True)
    for entry in board.entries:
        scores = entry.scores(scope)
        if entry.ranked and scores is not None and measure in scores.measures:
            return Lead(measure, (entry,), False)
    return None
