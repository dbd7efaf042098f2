"""What changed, by day, as a page and as an Atom feed: who came to which board, and where it stands."""

import datetime
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from freshstack_datasets.report import plain, rank_text, score_text
from leaderboard.boards.records import Entry
from leaderboard.site import addresses, words
from leaderboard.site.pages import Page, Published, Site, page

FEED_LENGTH = 50
"""Events that a feed holds at most."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that changed.

    Args:
        day: When.
        key: What tells it from all other events, for good.
        board: The board's name and snapshot.
        title: What happened, in a few words; it holds foreign text.
        detail: A sentence more, "" for none.
        page: The page that shows it.
    """

    day: datetime.date
    key: str
    board: str
    title: str
    detail: str
    page: str


@dataclass(frozen=True, slots=True)
class Day:
    """The events of a day."""

    day: datetime.date
    events: tuple[Event, ...]


def pages(site: Site) -> Iterator[Page]:
    """Yield the changelog and the feed."""
    found = events(site)
    days = tuple(Day(day, tuple(group)) for day, group in groupby(found, key=lambda event: event.day))
    yield page(site, addresses.CHANGES, "changes.html", "Changes", here="changes", days=days)
    yield Page(addresses.FEED, feed(site, found[:FEED_LENGTH]))


def events(site: Site) -> list[Event]:
    """Return all that changed, the newest first."""
    found = [event for published in site.published for event in _events(published)]
    return sorted(found, key=lambda event: (-event.day.toordinal(), event.key))


def _events(published: Published) -> Iterator[Event]:
    board = published.board
    title = f"{board.name} {board.snapshot}"
    reported = [entry for entry in board.entries if entry.tier == "reported"]
    if reported:
        sources = ", ".join(sorted({entry.source for entry in reported if entry.source}))
        yield Event(
            max(entry.arrived for entry in reported),
            f"{board.name}/{board.snapshot}/reported",
            title,
            f"{len(reported)} systems as they were reported",
            f"Published in {sources}." if sources else "",
            addresses.board_page(board.name, board.snapshot),
        )
    for entry in board.entries:
        if entry.tier != "reported":
            yield Event(
                entry.date,
                f"{board.name}/{board.snapshot}/{entry.entry_id}",
                title,
                f"{entry.name} by {entry.team}" if entry.team else entry.name,
                _standing(published, entry),
                addresses.system_page(board.name, board.snapshot, entry.entry_id),
            )


def _standing(published: Published, entry: Entry) -> str:
    board = published.board
    scope, measure = board.scopes[0], str(board.measures[0])
    scores = entry.scores(scope)
    score = scores.measures.get(measure) if scores else None
    if score is None:
        return "Incomplete: it has no mean over all topics."
    said = f"{words.measure(measure)} {score_text(score.value)}"
    if not entry.ranked:
        return f"{said}; an oracle, without a rank."
    verdict = published.verdict(scope, measure)
    standing = verdict.standing(entry.entry_id) if verdict else None
    if standing is None:
        return f"{said}."
    return f"{said}, rank {rank_text(standing.rank_low, standing.rank_high)}."


def feed(site: Site, latest: list[Event]) -> str:
    """Return an Atom feed (RFC 4287) of some events.

    Ids are made of what an event is about, so that a reader sees it once, wherever the site is.

    Args:
        site: The site; without an address of its own, links are relative to the feed.
        latest: The events, the newest first.
    """
    base = site.base_url or ""
    updated = max((published.board.updated for published in site.published), default=datetime.date(1970, 1, 1))
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">',
        "<title>FreshStack leaderboard</title>",
        f"<id>{_id('feed')}</id>",
        f"<updated>{_instant(updated)}</updated>",
        "<author><name>FreshStack leaderboard</name></author>",
        f'<link rel="self" type="application/atom+xml" href={quoteattr(base + addresses.FEED)}/>',
        f'<link rel="alternate" type="text/html" href={quoteattr(base + addresses.CHANGES)}/>',
    ]
    for event in latest:
        lines += [
            "<entry>",
            f"<title>{_text(f'{event.board}: {event.title}')}</title>",
            f"<id>{_id(event.key)}</id>",
            f"<updated>{_instant(event.day)}</updated>",
            f'<link rel="alternate" type="text/html" href={quoteattr(base + event.page)}/>',
            f"<summary>{_text(event.detail or event.title)}</summary>",
            "</entry>",
        ]
    return "\n".join([*lines, "</feed>", ""])


def _text(text: str) -> str:
    return escape(plain(text))


def _id(key: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"freshstack-leaderboard:{key}").urn


def _instant(day: datetime.date) -> str:
    return f"{day.isoformat()}T00:00:00Z"
