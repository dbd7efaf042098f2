"""The numbers of each board for other programs, beside its pages."""

from collections.abc import Iterator

from leaderboard.exports import FORMATS
from leaderboard.site.pages import Page, Site

_TITLES = {"csv": "CSV", "json": "JSON", "bibtex": "BibTeX", "markdown": "Markdown"}

DOWNLOADS = tuple((file, _TITLES.get(name, file)) for name, (file, _) in FORMATS.items())
"""The files beside a board's page, and what the links to them say."""


def pages(site: Site) -> Iterator[Page]:
    """Yield the files of all boards."""
    for published in site.published:
        board = published.board
        for file, make in FORMATS.values():
            yield Page(f"{board.name}/{board.snapshot}/{file}", make(board, published.verdicts))
