"""How the slices of results are shown: one table with the whole first, and what its marks mean."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from freshstack_datasets.cli import console
from freshstack_datasets.errors import shown
from freshstack_datasets.evaluation import Interval, Result, Slice
from freshstack_datasets.evaluation.slicing import FEW, columns_with_values

if TYPE_CHECKING:
    from freshstack_datasets.loading import Dataset

ALL, NONE = "all", "(none)"
LONGEST = 40
"""Characters of a value that the table shows."""


def say(results: Sequence[Result], by: str, parts: Sequence[Sequence[Slice]]) -> None:
    """Print the table and what its reader must know.

    Args:
        results: The results.
        by: The column that their slices are made by.
        parts: The slices of each.
    """
    right = ("queries", "value", "95 % interval")
    console.say_table(("system", "measure", by, *right), _rows(results, parts), right=right)
    for note in _notes(by, parts[0]):  # the slices of all results are of the same queries
        console.say(note)


def entries(results: Sequence[Mapping[str, Any]], by: str, parts: Sequence[Sequence[Slice]]) -> list[dict[str, Any]]:
    """Return results as JSON holds them, each with its slices added.

    Args:
        results: The results as JSON holds them.
        by: The column that the slices are made by.
        parts: The slices of each.
    """
    return [
        {**result, "by": by, "slices": [part.to_json() for part in slices]}
        for result, slices in zip(results, parts, strict=True)
    ]


def doubt(data: "Dataset", by: str, slices: Sequence[Slice]) -> str:
    """Say that no query has a value in the column, and which columns have values; nothing when some query has."""
    if any(part.value is not None for part in slices):
        return ""
    return f"the queries of this dataset have no {by}; columns that have values: {', '.join(columns_with_values(data))}"


def _rows(results: Sequence[Result], parts: Sequence[Sequence[Slice]]) -> Iterator[tuple[str, ...]]:
    """Yield of each system and measure the mean over all queries, then that of each slice."""
    for result, slices in zip(results, parts, strict=True):
        for place, (name, mean) in enumerate(result.mean.items()):
            interval = result.interval(name) if result.queries > 1 else None
            yield "" if place else result.system, name, ALL, *_cells(result.queries, mean, interval)
            for part in slices:
                yield "", "", _label(part.value), *_cells(part.queries, part.mean[name], part.interval(name))


def _cells(queries: int, mean: float, interval: Interval | None) -> tuple[str, str, str]:
    ends = "-" if interval is None else f"{interval.low:.4f} to {interval.high:.4f}"
    return f"{'*' if queries < FEW else ''}{queries:,}", f"{mean:.4f}", ends


def _label(value: str | int | None) -> str:
    """Return a value as the table shows it; quoted where it would be taken for something else, or not seen."""
    if value is None:
        return NONE
    line = console.one_line(str(value), LONGEST)
    seen = any(letter.isprintable() for letter in line if letter != " ")  # what has no width is not
    return line if seen and line not in (ALL, NONE) else shown(value)


def _notes(by: str, slices: Sequence[Slice]) -> Iterator[str]:
    if any(part.few for part in slices):
        yield (
            f"* fewer than {FEW} queries: a single one can move the mean by more than {1 / FEW:.2f}, "
            "so differences between such slices say little"
        )
    query_ids = [query_id for part in slices for query_id in part.query_ids]
    if len(set(query_ids)) < len(query_ids):
        yield f"the slices overlap: a query with several {by} counts in the slice of each"
