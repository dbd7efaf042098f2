"""How long the systems of a board take for a query: each median with its tail, and the hardware that it was measured on."""

from freshstack_datasets.report import MISSING, Bar, Column, Part, bars, figure, table, time_text
from leaderboard.boards.records import Board, Entry
from leaderboard.submission.model import Latency

_MOST = 3
"""Kinds of hardware that a caption names; more are in the table alone."""


def timing(board: Board) -> str | None:
    """Return a figure of the times of queries, the quickest system first; None where nobody measured any.

    Args:
        board: The board. Its oracles are left out: they search with what no user has.
    """
    found = [(entry, latency) for entry in board.entries if entry.ranked and (latency := _latency(entry)) is not None]
    found.sort(key=lambda one: (one[1].query_ms_p50, one[0].name))
    if not found:
        return None
    rows = [_bar(entry.name, latency) for entry, latency in found]
    title = "Times of queries"
    about = f"{len(rows)} systems, the quickest median first, each with its 95th percentile where it is known."

    def draw(width: int) -> str:
        return bars(rows, title=title, about=about, width=width)

    return figure(draw, caption=_caption(board, [entry for entry, _ in found]), twin=_table(title, found))


def _latency(entry: Entry) -> Latency | None:
    return entry.submission.latency if entry.submission else None


def _hardware(entry: Entry) -> str:
    return (entry.submission.hardware if entry.submission else None) or ""


def _bar(name: str, latency: Latency) -> Bar:
    slow = latency.query_ms_p95
    return Bar(
        name,
        (Part("median", latency.query_ms_p50, time_text(latency.query_ms_p50)),),
        None if slow is None else Part("95th percentile", slow, time_text(slow)),
    )


def _caption(board: Board, entries: list[Entry]) -> str:
    """Return what the bars mean, and the hardware as far as a caption has room for it."""
    kinds = list(dict.fromkeys(_hardware(entry) or "hardware that nobody noted" for entry in entries))
    where = "hardware of many kinds, which the table names" if len(kinds) > _MOST else "; ".join(kinds)
    lines = "The bar is the median, and the line ends at the 95th percentile."
    return f"{board.title}, {board.snapshot}. {lines} Measured by those who handed them in, on: {where}."


def _table(title: str, found: list[tuple[Entry, Latency]]) -> str:
    heads = [Column("System"), *(Column(name, numeric=True) for name in ("Median", "95th percentile", "Index"))]
    rows = [
        [
            entry.name,
            time_text(latency.query_ms_p50),
            time_text(latency.query_ms_p95),
            time_text(None if latency.index_seconds is None else 1000 * latency.index_seconds),
            _hardware(entry) or MISSING,
        ]
        for entry, latency in found
    ]
    return table(title, [*heads, Column("Hardware")], rows)
