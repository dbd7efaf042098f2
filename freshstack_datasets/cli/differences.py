"""How a comparison is shown: the table, and in words what it means."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freshstack_datasets.evaluation import Comparison

COLUMNS = ("measure", "difference", "95 % interval", "p", "p (Holm)", "wins", "ties", "losses", "detectable")
SURE = 0.05
"""A difference is called one when chance would give so large a one less often than this, after Holm's correction."""


def rows(comparison: "Comparison") -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table, a measure each."""
    for name, found in comparison.measures.items():
        yield (
            name,
            f"{found.difference:+.4f}",
            f"{found.low:+.4f} to {found.high:+.4f}",
            _chance(found.p),
            _chance(found.p_holm),
            found.wins,
            found.ties,
            found.losses,
            f"{found.detectable:.4f}",
        )


def words(comparison: "Comparison") -> Iterator[str]:
    """Yield a sentence a measure that says what may be concluded."""
    first, second = comparison.systems
    for name, found in comparison.measures.items():
        size = f"{abs(found.difference):.4f}"
        if found.ties == comparison.queries:
            yield f"{name}: identical on every query."
        elif found.p_holm < SURE:
            better, worse = (first, second) if found.difference > 0 else (second, first)
            yield f"{name}: {better} is better than {worse}, by {size}."
        else:
            yield (
                f"{name}: no difference is shown: it is {size}, and {comparison.queries:,} queries reliably show only one "
                f"of {found.detectable:.4f} or more."
            )


def _chance(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"
