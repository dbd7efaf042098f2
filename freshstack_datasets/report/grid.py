"""What a system found for one query: which document, at which rank, supports which nugget."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.report.points import WIDE
from freshstack_datasets.report.svg import LINE, element, flowed, label, number, picture, titled
from freshstack_datasets.report.tables import Column, table

_NAMES = 330.0
_FOUND = 70.0
_CELL = 24.0
_ROW = 24.0
_SIGNS = {
    "relevant": ((-4.5, -4.5), "h9v9h-9Z", "fs-relevant"),
    "not relevant": ((-4.0, -4.0), "l8 8m-8 0l8-8", "fs-irrelevant"),
    "not judged": ((-5.0, 0.0), "a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z", "fs-unjudged"),
}
"""Where the sign of each status begins, how it goes on, and its class."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document of a ranking.

    Args:
        doc_id: The document; foreign text.
        judged: Whether it was judged for this very query.
        supports: The nuggets that it supports, counted from 0 in the query's order.
    """

    doc_id: str
    judged: bool
    supports: frozenset[int] = field(default_factory=frozenset)

    @property
    def status(self) -> str:
        """``relevant``, ``not relevant`` or ``not judged``."""
        if self.supports:
            return "relevant"
        return "not relevant" if self.judged else "not judged"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the cells of a grid go."""

    left: float
    cell: float
    top: float
    nuggets: int
    ranks: int

    @property
    def right(self) -> float:
        return self.left + self.cell * self.ranks

    @property
    def bottom(self) -> float:
        return self.row(self.nuggets)

    def row(self, row: int) -> float:
        """Return where the row of a nugget begins."""
        return self.top + _ROW * row

    def middle(self, rank: int) -> float:
        """Return the middle of the column of a rank."""
        return self.left + self.cell * (rank - 0.5)


def nugget_grid(
    nuggets: Sequence[str], ranked: Sequence[Ranked], *, title: str, about: str, key: bool = True, width: int = WIDE
) -> str:
    """Return a grid with a row for each nugget and a column for each rank; a nugget's first document stands out.

    Args:
        nuggets: The query's nuggets; foreign text.
        ranked: The system's documents from the first rank on, as many as shall be shown (20 fit a phone).
        title: The chart's title.
        about: What it shows, for who cannot see it.
        key: Whether it says what signs and numbers stand for; a page of many grids does so once, with ``grid_key``.
        width: ``WIDE`` or ``NARROW``.

    Raises:
        InputError: A document supports a nugget that there is not.
    """
    first = _first_ranks(nuggets, ranked)
    named = key and width >= WIDE
    left = _NAMES if named else 22.0
    cell = min(_CELL, (width - left - _FOUND) / max(len(ranked), 1))
    legend, top = flowed(_legend() if key else [], width, 0.0)
    place = _Place(left, cell, top + 2 * LINE + 8, len(nuggets), len(ranked))
    body = [*legend, *_ground(place), *_statuses(place, ranked)]
    for row, nugget in enumerate(nuggets):
        base = place.row(row)
        text = f"{row + 1} {nugget}" if named else str(row + 1)
        body.append(label(0, base + 16, text, "" if row in first else "fs-soft", room=left - 8 if named else 0.0))
        body += _supports(place, row, ranked, first)
        body.append(_found(place, row, first.get(row)))
    below, end = flowed(_nuggets(nuggets) if key and not named else [], width, place.bottom + 6)
    return picture(width, end, title, about, [*body, *below])


def grid_key(*, width: int = WIDE) -> str:
    """Return what the signs of grids stand for, as a chart of its own."""
    drawn, bottom = flowed(_legend(), width, 0.0)
    about = "; ".join(name for _, name in _legend())
    return picture(width, bottom, "What the signs stand for", about, drawn)


def grid_table(caption: str, nuggets: Sequence[str], ranked: Sequence[Ranked]) -> str:
    """Return the same as a table: each rank with its document, its status and the numbers of its nuggets."""
    _first_ranks(nuggets, ranked)
    heads = [Column("Rank"), Column("Document"), Column("Judgment"), Column("Supports nuggets")]
    rows = [
        [
            str(rank),
            document.doc_id,
            document.status,
            ", ".join(str(n + 1) for n in sorted(document.supports)) or "none",
        ]
        for rank, document in enumerate(ranked, 1)
    ]
    return table(caption, heads, rows)


def _first_ranks(nuggets: Sequence[str], ranked: Sequence[Ranked]) -> dict[int, int]:
    """Return the first rank at which each nugget is supported."""
    first: dict[int, int] = {}
    for rank, document in enumerate(ranked, 1):
        for nugget in sorted(document.supports):
            if not 0 <= nugget < len(nuggets):
                what = f"document {shown(document.doc_id)} supports a nugget that there is not"
                raise InputError(what, expected=f"0 to {len(nuggets) - 1}", got=shown(nugget))
            first.setdefault(nugget, rank)
    return first


def _legend() -> list[tuple[str, str]]:
    names = {"relevant": "judged relevant", "not relevant": "judged not relevant", "not judged": "not judged"}
    signs = [(_signs(status, [(0.0, 0.0)]), name) for status, name in names.items()]
    return [*signs, (_disc(0, 0, 6, new=True), "supports the nugget first"), (_disc(0, 0, 5, new=False), "again")]


def _nuggets(nuggets: Sequence[str]) -> list[tuple[str, str]]:
    return [(label(0, 4, str(row), "fs-strong", "middle"), nugget) for row, nugget in enumerate(nuggets, 1)]


def _signs(status: str, places: Iterable[tuple[float, float]]) -> str:
    """Draw the sign of a status at all its places, as one element: a page may have thousands."""
    return f'<path d="{"".join(_sign(status, *place) for place in places)}" class="{_SIGNS[status][2]}"/>'


@lru_cache(4096)
def _sign(status: str, x: float, y: float) -> str:
    (across, down), tail, _ = _SIGNS[status]
    return f"M{number(x + across)} {number(y + down)}{tail}"


@lru_cache(4096)
def _disc(x: float, y: float, radius: float, *, new: bool) -> str:
    return element("circle", cx=x, cy=y, r=radius, class_="fs-first" if new else "fs-again")


@lru_cache(4096)
def _found(place: _Place, row: int, rank: int | None) -> str:
    """Say beside a row at which rank its nugget is found."""
    text = "not found" if rank is None else f"rank {rank}"
    return label(place.right + 6, place.row(row) + 16, text, "fs-soft" if rank is None else "")


@lru_cache(64)
def _ground(place: _Place) -> tuple[str, ...]:
    """Draw what is the same in all grids of a query, once."""
    return tuple(_ranks(place))


def _ranks(place: _Place) -> Iterator[str]:
    """Draw the ground: every other rank, the lines between nuggets, and the numbers of ranks that there is room for."""
    top, height = place.top - LINE - 4, place.bottom - place.top + LINE + 4
    edges = [place.middle(rank) - place.cell / 2 for rank in range(2, place.ranks + 1, 2)]
    bands = "".join(
        f"M{number(at)} {number(top)}h{number(place.cell)}v{number(height)}h-{number(place.cell)}Z" for at in edges
    )
    if bands:
        yield element("path", d=bands, class_="fs-band")
    lines = "".join(f"M0 {number(place.row(row))}H{number(place.right + _FOUND)}" for row in range(place.nuggets))
    if lines:
        yield element("path", d=lines, class_="fs-grid")
    yield label(place.right + 6, place.top - LINE - 8, "rank", "fs-soft")
    every = 1 if place.cell >= 18 else 5
    for rank in range(1, place.ranks + 1):
        if rank % every == 0 or rank == 1:
            yield label(place.middle(rank), place.top - LINE - 8, str(rank), "fs-soft fs-number", "middle")


def _statuses(place: _Place, ranked: Sequence[Ranked]) -> Iterator[str]:
    for status in _SIGNS:
        ranks = [rank for rank, document in enumerate(ranked, 1) if document.status == status]
        if ranks:
            yield _signs(status, [(place.middle(rank), place.top - 12) for rank in ranks])


def _supports(place: _Place, row: int, ranked: Sequence[Ranked], first: Mapping[int, int]) -> Iterator[str]:
    for rank, document in enumerate(ranked, 1):
        if row in document.supports:
            new = first[row] == rank
            radius = min(7.0 if new else 5.0, place.cell / 2 - 1)
            disc = _disc(place.middle(rank), place.row(row) + _ROW / 2, radius, new=new)
            yield titled(f"rank {rank} supports nugget {row + 1}: {document.doc_id}", disc)
