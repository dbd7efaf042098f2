"""What corrections do to the scores of runs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from freshstack_datasets.evaluation import Result

SAME = 1e-9
"""Values of a query that differ by no more are the same."""


@dataclass(frozen=True, slots=True)
class QueryDifference:
    """The values of one measure for one query.

    Args:
        query_id: The query.
        before: The value before the corrections; None for a query that is new.
        after: The value after them; None for a query that is no more.
    """

    query_id: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class MeasureDifference:
    """What becomes of one measure.

    Args:
        before: The mean over all queries before the corrections.
        after: The mean after them.
        queries: The queries whose value is another one.
    """

    before: float
    after: float
    queries: tuple[QueryDifference, ...]

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Difference:
    """What becomes of the scores of one run.

    Args:
        system: The run's name.
        measures: From a measure to what becomes of it.
        warnings: What the reader should know of either score, a line each.
    """

    system: str
    measures: Mapping[str, MeasureDifference]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the difference as JSON can hold it."""
        measures = {
            name: {
                "before": found.before,
                "after": found.after,
                "difference": found.difference,
                "queries": [asdict(query) for query in found.queries],
            }
            for name, found in self.measures.items()
        }
        return {"system": self.system, "measures": measures}


def difference(before: Result, after: Result) -> Difference:
    """Return what becomes of the scores of a run.

    Args:
        before: Its result on the snapshot that is corrected.
        after: Its result on the corrected one, of the same measures.
    """
    measures = {
        name: MeasureDifference(before.mean[name], after.mean[name], _queries(before, after, name))
        for name in before.mean
    }
    return Difference(before.system, measures, tuple(dict.fromkeys((*before.warnings, *after.warnings))))


def _queries(before: Result, after: Result, name: str) -> tuple[QueryDifference, ...]:
    """Return the queries whose value changes, in the order of their ids."""
    old, new = dict(before.per_query[name]), dict(after.per_query[name])
    return tuple(
        QueryDifference(query_id, old.get(query_id), new.get(query_id))
        for query_id in sorted(old.keys() | new.keys())
        if not _same(old.get(query_id), new.get(query_id))
    )


def _same(before: float | None, after: float | None) -> bool:
    return before is not None and after is not None and abs(after - before) <= SAME
