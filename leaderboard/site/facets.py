"""What a board can be filtered by: each system has one value of every facet, "not known" being one as well."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.boards.records import Entry

UNKNOWN = "not known"
NO_MODEL = "no model"

_SIZES = (("under 150M", 150e6), ("150M to 1B", 1e9), ("1B to 5B", 5e9), ("5B and more", float("inf")))


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter.

    Args:
        key: What it is called in addresses.
        title: What it is called for people.
        options: Its values, each with how many systems have it.
    """

    key: str
    title: str
    options: tuple[tuple[str, int], ...]


_ORDERS: Mapping[str, tuple[str, Sequence[str]]] = {
    "kind": ("Kind", ()),
    "size": ("Size", (NO_MODEL, *(name for name, _ in _SIZES))),
    "license": ("Licence", ()),
    "weights": ("Weights", ("open", "closed")),
    "tier": ("Evidence", ("reproduced", "scored", "reported")),
    "training": ("Trained on it", ("no", "yes", "unknown")),
    "setting": ("Setting", ("inference", "oracle")),
}
"""The facets: title, and the order of their values where that is not the alphabet."""


def values_of(entry: Entry) -> dict[str, str]:
    """Return the value of a system for every facet."""
    models = entry.parameters != 0
    return {
        "kind": entry.kind or UNKNOWN,
        "size": size_class(entry.parameters),
        "license": (entry.license or UNKNOWN) if models else NO_MODEL,
        "weights": (entry.openness or UNKNOWN) if models else NO_MODEL,
        "tier": entry.tier,
        "training": entry.trained_on_benchmark or "unknown",
        "setting": entry.setting,
    }


def size_class(parameters: int | None) -> str:
    """Return the range that a number of parameters is in."""
    if parameters is None:
        return UNKNOWN
    return next(name for name, end in _SIZES if parameters < end) if parameters else NO_MODEL


def facets(entries: Sequence[Entry]) -> tuple[Facet, ...]:
    """Return the filters, each with the values that there are."""
    known = [values_of(entry) for entry in entries]
    counts = {key: Counter(values[key] for values in known) for key in _ORDERS}
    return tuple(
        Facet(key, title, tuple((name, counts[key][name]) for name in _sorted(counts[key], order)))
        for key, (title, order) in _ORDERS.items()
    )


def _sorted(names: Mapping[str, int], order: Sequence[str]) -> list[str]:
    """Return names in an order, others after it by the alphabet, and what is not known at the end."""
    return sorted(names, key=lambda name: (name == UNKNOWN, order.index(name) if name in order else len(order), name))
