"""A page for each query: what it asks, which nuggets answer it, and what each system put where."""

import shlex
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlencode

from freshstack_datasets.records import language_code
from freshstack_datasets.report import NARROW, grid_key, nugget_grid
from leaderboard.boards.records import Board, Topic
from leaderboard.site import addresses, words
from leaderboard.site.pages import Page, Published, Site, escaped, page
from leaderboard.site.query_views import DEPTH, TOP, QueryView, Ranking, Shown, TopicQueries

LONGEST = 240
"""Characters of a question that are shown where its whole text is not."""


def topic_pages(site: Site, published: Published, topic: Topic) -> Iterator[Page]:
    """Yield the list of the queries of a topic, and a page for each query, where the dataset is at hand."""
    board = published.board
    dataset = site.dataset(board, topic)
    if dataset is None:
        return
    held = TopicQueries(board, topic, dataset, site.with_text)
    shared: dict[str, Any] = {
        "topic": topic,
        "topics": site.shown_topics(board),
        "here": "queries",
        "asked": asked,
        "show": lambda query_id: shlex.join(["freshstack", "show", f"{topic.dataset}@{board.snapshot}", query_id]),
        "language_code": language_code,
        "states": _STATES,
        "license": dataset.manifest.license if dataset.manifest else None,
    }
    measures = (*map(str, board.measures), "Judged@10")
    path = addresses.queries_page(board.name, board.snapshot, topic.name)
    lines = tuple(held.lines())
    yield page(site, path, "queries.html", f"Queries of {topic.title}", published=published, lines=lines, **shared)
    for view in held.views():
        query_id = view.query.query_id
        yield page(
            site,
            addresses.query_page(board.name, board.snapshot, topic.name, query_id),
            "query.html",
            f"Query {query_id}",
            published=published,
            view=view,
            depth=DEPTH,
            language=language_code(view.query.language or dataset.language),
            values=lambda ranking: _values(ranking, measures),
            firsts=lambda ranking, view=view: _firsts(ranking, len(view.nuggets)),
            places=_places,
            strip=_strip,
            ranks=_ranks,
            most_named=NAMED,
            most_listed=LISTED,
            keys=(grid_key(), grid_key(width=NARROW)),
            grid=lambda ranking, view=view: _grid(view, ranking),
            dispute=lambda one, view=view: dispute(site.repository, board, topic, view, one),
            **shared,
        )


def asked(text: str, title: str | None) -> str:
    """Return what a question is called in a list: its title, or the beginning of its text."""
    line = " ".join((title or text).split())
    return line if len(line) <= LONGEST else line[:LONGEST].rstrip() + "…"


LISTED = 12
"""Systems of which a query's page lists the documents by name; the grid and the table of ranks have all of them."""

NAMED = 6
"""Systems that are named beside a document."""

_STATES = {
    "relevant": ("yes", "✓ supports"),
    "not relevant": ("no", "✗ judged, no support"),
    "not judged": ("open", "? not judged"),
}
"""For each status, the class that colours it, and its mark with words."""


def _values(ranking: Ranking, measures: Sequence[str]) -> str:
    """Return a cell for each value of a system, as HTML."""
    return "".join(f'<td class="num">{words.number(ranking.values.get(measure))}</td>' for measure in measures)


def _firsts(ranking: Ranking, nuggets: int) -> str:
    """Return a cell for the first rank of each nugget, as HTML."""
    return "".join(_first(ranking.first(nugget)) for nugget in range(nuggets))


@cache
def _first(rank: int | None) -> str:
    if rank is None:
        return f'<td class="num"><span class="muted"><abbr title="Not within the first {DEPTH}">–</abbr></span></td>'
    return f'<td class="num{" found" if rank <= TOP else ""}">{rank}</td>'


def _places(ranking: Ranking) -> list[tuple[str, str]]:
    """Return the mark, as HTML, and the document of each place; a site may list millions of them."""
    return [(_mark(place.status, place.supports), place.doc_id) for place in ranking.places]


@lru_cache(4096)
def _mark(status: str, supports: frozenset[int]) -> str:
    kind, said = _STATES[status]
    return f'<span class="state {kind}">{said}{" " if supports else ""}{_numbered(supports)}</span>'


def _ranks(one: Shown) -> str:
    """Return the systems that rank a document best, as HTML."""
    named = one.ranks[:NAMED]
    return "".join(f'<span class="rank">{rank} <bdi>{escaped(entry.name)}</bdi></span>' for entry, rank in named)


def _strip(ranking: Ranking) -> str:
    """Return the cells of a row with a column for each rank, as HTML; it holds no foreign text, only numbers and marks."""
    cells = [_cell(place.status, place.supports) for place in ranking.places]
    return "".join(cells) + "<td></td>" * (DEPTH - len(cells))


@lru_cache(4096)
def _cell(status: str, supports: frozenset[int]) -> str:
    kind, said = _STATES[status]
    return f'<td class="{kind}">{_numbered(supports) or said[0]}</td>'


@lru_cache(4096)
def _numbered(nuggets: frozenset[int]) -> str:
    return ", ".join(str(nugget + 1) for nugget in sorted(nuggets))


def _grid(view: QueryView, ranking: Ranking) -> str:
    found = sum(1 for number in range(len(view.nuggets)) if ranking.first(number))
    return nugget_grid(
        [nugget.text for nugget in view.nuggets],
        ranking.places,
        title=f"Nuggets by rank: {ranking.entry.name}",
        about=f"{found} of {len(view.nuggets)} nuggets are supported within the first {len(ranking.places)} documents.",
        key=False,
        width=NARROW,
    )


def dispute(repository: str | None, board: Board, topic: Topic, view: QueryView, one: Shown) -> str | None:
    """Return the address of a new issue, filled in, that says which judgment is disputed; None without a repository.

    Args:
        repository: The page of the repository that takes disputes.
        board: The board.
        topic: The query's topic.
        view: The query.
        one: The document.
    """
    if repository is None:
        return None
    said = f"supports nugget {', '.join(map(str, one.numbers))}" if one.numbers else one.place.status
    lines = [
        f"Dataset: {topic.dataset}@{board.snapshot}#{topic.fingerprint or 'unknown'}",
        f"Query: {view.query.query_id}",
        f"Document: {one.place.doc_id}",
        f"Judged: {said}",
        f"Nuggets: {', '.join(nugget.nugget_id for nugget in view.nuggets)}",
        "",
        "What it should be, for which nugget, and why:",
        "",
    ]
    title = f"Disputed judgment: {topic.name}, query {view.query.query_id}"
    return f"{repository.rstrip('/')}/issues/new?{urlencode({'title': title, 'body': chr(10).join(lines)})}"
