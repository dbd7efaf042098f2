"""What a system found for one query: which document, at which rank, supports which nugget."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.report.points import WIDE
from freshstack_datasets.report.svg import LINE, element, flowed, label, line, number, picture, rectangle, titled
from freshstack_datasets.report.tables import Column, table

_NAMES = 330.0
_FOUND = 70.0
_CELL = 24.0
_ROW = 24.0
_SIGNS = {
    "relevant": ("M-4.5-4.5h9v9h-9Z", "fs-relevant"),
    "not relevant": ("M-4-4L4 4M-4 4L4-4", "fs-irrelevant"),
    "not judged": ("M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z", "fs-unjudged"),
}
_DISC = "M-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0Z"


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


def nugget_grid(nuggets: Sequence[str], ranked: Sequence[Ranked], *, title: str, about: str, width: int = WIDE) -> str:
    """Return a grid with a row for each nugget and a column for each rank; a nugget's first document stands out.

    Args:
        nuggets: The query's nuggets; foreign text.
        ranked: The system's documents from the first rank on, as many as shall be shown (20 fit a phone).
        title: The chart's title.
        about: What it shows, for who cannot see it.
        width: ``WIDE`` or ``NARROW``.

    Raises:
        InputError: A document supports a nugget that there is not.
    """
    first = _first_ranks(nuggets, ranked)
    left = _NAMES if width >= WIDE else 22.0
    cell = min(_CELL, (width - left - _FOUND) / max(len(ranked), 1))
    legend, top = flowed(_legend(), width, 0.0)
    top += 2 * LINE + 8
    bottom = top + _ROW * len(nuggets)
    right = left + cell * len(ranked)
    body = [*legend, *_heads(ranked, left, cell, top, bottom)]
    for row, nugget in enumerate(nuggets):
        base = top + _ROW * row
        body.append(line(0, base, right + _FOUND, base, "fs-grid"))
        text = f"{row + 1} {nugget}" if width >= WIDE else str(row + 1)
        body.append(label(0, base + 16, text, "" if row in first else "fs-soft", room=left - 8))
        body += _supports(row, ranked, first, left, base, cell)
        found = f"rank {first[row]}" if row in first else "not found"
        body.append(label(right + 6, base + 16, found, "" if row in first else "fs-soft"))
    below, end = flowed(_key(nuggets) if width < WIDE else [], width, bottom + 6)
    return picture(width, end, title, about, [*body, *below])


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
    signs = [(_sign(status), f"judged {status}" if status != "not judged" else status) for status in _SIGNS]
    return [*signs, (_disc(True, 6), "supports the nugget first"), (_disc(False, 5), "supports it again")]


def _key(nuggets: Sequence[str]) -> list[tuple[str, str]]:
    return [(label(0, 4, str(row), "fs-strong", "middle"), nugget) for row, nugget in enumerate(nuggets, 1)]


def _sign(status: str) -> str:
    path, class_ = _SIGNS[status]
    return element("path", d=path, class_=class_)


def _disc(first: bool, radius: float) -> str:
    path = _DISC.format(r=number(radius), d=number(2 * radius))
    return element("path", d=path, class_="fs-first" if first else "fs-again")


def _heads(ranked: Sequence[Ranked], left: float, cell: float, top: float, bottom: float) -> Iterator[str]:
    """Draw the ranks, as far as there is room for their numbers, and what was judged of each document."""
    every = 1 if cell >= 18 else 5
    yield label(left + cell * len(ranked) + 6, top - LINE - 8, "rank", "fs-soft")
    for rank, document in enumerate(ranked, 1):
        middle = left + cell * (rank - 0.5)
        if rank % 2 == 0:
            yield rectangle(middle - cell / 2, top - LINE - 4, cell, bottom - top + LINE + 4, "fs-band")
        if rank % every == 0 or rank == 1:
            yield label(middle, top - LINE - 8, str(rank), "fs-soft fs-number", "middle")
        moved = element("g", _sign(document.status), transform=f"translate({number(middle)} {number(top - 12)})")
        yield titled(f"rank {rank}, {document.status}: {document.doc_id}", moved)


def _supports(
    row: int, ranked: Sequence[Ranked], first: dict[int, int], left: float, base: float, cell: float
) -> Iterator[str]:
    for rank, document in enumerate(ranked, 1):
        if row in document.supports:
            new = first[row] == rank
            at = f"translate({number(left + cell * (rank - 0.5))} {number(base + _ROW / 2)})"
            disc = element("g", _disc(new, min(7 if new else 5, cell / 2 - 1)), transform=at)
            yield titled(f"rank {rank} supports nugget {row + 1}: {document.doc_id}", disc)
