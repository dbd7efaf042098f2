"""How a comparison is shown: the table, and in words what it means."""

from collections.abc import Iterator, Mapping
from typing import Any

COLUMNS = ("measure", "difference", "95 % interval", "p", "p (Holm)", "wins", "ties", "losses", "detectable")
SURE = 0.05
"""A difference is called one when chance would give so large a one less often than this, after Holm's correction."""


def rows(comparison: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table, a measure each."""
    for name, entry in comparison["measures"].items():
        interval = f"{entry['low']:+.4f} to {entry['high']:+.4f}"
        counts = (entry["wins"], entry["ties"], entry["losses"])
        p_values = (_chance(entry["p"]), _chance(entry["p_holm"]))
        yield (name, f"{entry['difference']:+.4f}", interval, *p_values, *counts, f"{entry['detectable']:.4f}")


def words(comparison: Mapping[str, Any], first: str, second: str) -> Iterator[str]:
    """Yield a sentence a measure that says what may be concluded.

    Args:
        comparison: As ``compare --json`` prints it.
        first: The name of the first run.
        second: The name of the second.
    """
    for name, entry in comparison["measures"].items():
        size = abs(entry["difference"])
        if entry["p_holm"] < SURE:
            better, worse = (first, second) if entry["difference"] > 0 else (second, first)
            yield f"{name}: {better} is better than {worse}, by {size:.4f}."
        else:
            yield (
                f"{name}: no difference is shown; the data would show one of {entry['detectable']:.4f}, "
                f"and this one is {size:.4f}."
            )


def _chance(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"
