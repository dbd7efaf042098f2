"""Where each page of the site is, below its root, and how one page names another."""

import hashlib
import posixpath
import re
from functools import lru_cache

from leaderboard.boards.records import Board

HOME = "index.html"
ABOUT = "about.html"
CHANGES = "changes.html"
FEED = "changes.atom"

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


def board_page(board: str, snapshot: str) -> str:
    """Return where the table of a board is."""
    return f"{board}/{snapshot}/index.html"


def view_page(board: Board, scope: str, measure: str) -> str:
    """Return where the table of a scope is, in the order of a measure; of the first of both it is the board's page."""
    first = (scope, measure) == (board.scopes[0], str(board.measures[0]))
    return f"{board.name}/{board.snapshot}/" + ("index.html" if first else f"table.{scope}.{slug(measure)}.html")


def charts_page(board: Board, scope: str, measure: str) -> str:
    """Return where the charts of a scope are, by a measure."""
    first = (scope, measure) == (board.scopes[0], str(board.measures[0]))
    return f"{board.name}/{board.snapshot}/" + ("charts.html" if first else f"charts.{scope}.{slug(measure)}.html")


def slug(measure: str) -> str:
    """Return a measure's printed form as a part of a file's name: ``alpha_nDCG@10`` is ``alpha-ndcg-10``."""
    return re.sub(r"[^a-z0-9.]+", "-", measure.lower()).strip("-")


def verdicts_page(board: str, snapshot: str) -> str:
    """Return where it says which systems of a board cannot be told apart."""
    return f"{board}/{snapshot}/verdicts.html"


def compare_page(board: str, snapshot: str, scope: str) -> str:
    """Return where the systems of a board are set side by side, on one topic or on all of them."""
    return f"{board}/{snapshot}/compare/{scope}.html"


def system_page(board: str, snapshot: str, entry_id: str) -> str:
    """Return where one system of a board is described."""
    return f"{board}/{snapshot}/systems/{entry_id}.html"


def queries_page(board: str, snapshot: str, topic: str) -> str:
    """Return where the queries of a topic are listed."""
    return f"{board}/{snapshot}/queries/{topic}/index.html"


def query_page(board: str, snapshot: str, topic: str, query_id: str) -> str:
    """Return where one query is shown."""
    return f"{board}/{snapshot}/queries/{topic}/{file_of(query_id)}.html"


def quarters_page(board: str) -> str:
    """Return where the snapshots of a board are set side by side."""
    return f"{board}/quarters.html"


def file_of(query_id: str) -> str:
    """Return a file name, without its ending, for the page of a query.

    An id is opaque and foreign: it may hold slashes, be ``..``, or differ from another in case alone. One that is
    plain keeps its name, ``q-<id>``; any other becomes ``h-`` and its digest.

    Args:
        query_id: The query.
    """
    if _PLAIN.fullmatch(query_id):
        return f"q-{query_id}"
    return f"h-{hashlib.sha256(query_id.encode()).hexdigest()[:20]}"


def between(page: str, target: str) -> str:
    """Return a target's address as a page writes it: relative, so that it works on any host and from a folder.

    Args:
        page: The page that holds the link, below the root.
        target: What it leads to, below the root; a fragment stays.
    """
    path, mark, fragment = target.partition("#")
    return _relative(path, posixpath.dirname(page) or ".") + mark + fragment


@lru_cache(4096)
def _relative(path: str, folder: str) -> str:
    """Return a path as pages of a folder write it: thousands of them link to the same systems."""
    return posixpath.relpath(path, folder)
