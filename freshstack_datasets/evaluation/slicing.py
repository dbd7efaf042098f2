"""The scores of a result for parts of its queries: those of one type, of one tag, with so many nuggets."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from freshstack_datasets.errors import NotComparableError, UnknownNameError
from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.judgments import Judgments, Scorable, judgments_of
from freshstack_datasets.evaluation.measures import Measure
from freshstack_datasets.evaluation.result import ByMeasure, Interval, Result, check_result
from freshstack_datasets.evaluation.statistics import bootstrap_intervals
from freshstack_datasets.records import Query

Value = str | int | None

FEW = 20
"""Queries that a slice should have: below, one query alone can move a mean by more than 0.05."""

NUGGETS = "nuggets"
"""What slices by a query's number of nuggets are asked for with."""

COLUMNS = (*(member.name for member in fields(Query)), NUGGETS)
"""What slices can be made by."""


@dataclass(frozen=True, eq=False)
class Slice:
    """The scores of the queries that share a value.

    Args:
        value: The value; None for the queries that have none.
        measures: What was computed.
        query_ids: The queries, in the order of the result.
        values: float64 of shape (measures, queries).
        bounds: float64 of shape (measures, 2), the ends of the intervals, where there are any.
    """

    value: Value
    measures: tuple[Measure, ...]
    query_ids: tuple[str, ...] = field(repr=False)
    values: Floats = field(repr=False)
    bounds: Floats | None = field(repr=False)

    @property
    def queries(self) -> int:
        """The number of queries that the means run over."""
        return len(self.query_ids)

    @property
    def few(self) -> bool:
        """Whether there are fewer than 20 queries."""
        return self.queries < FEW

    @property
    def mean(self) -> ByMeasure[float]:
        """The mean of each measure over the queries of the slice."""
        return ByMeasure(self.measures, lambda place: float(self.values[place].mean()))

    def interval(self, name: str | Measure) -> Interval | None:
        """Return the 95 % interval of a measure's mean: a percentile bootstrap over the queries of the slice.

        Returns:
            None of a single query, which says nothing of how far others are from it, and None where the result was
            made without intervals.

        Raises:
            UnknownNameError: The measure was not computed.
        """
        return ByMeasure(self.measures, self._interval)[name]

    def _interval(self, place: int) -> Interval | None:
        return None if self.bounds is None else Interval(*map(float, self.bounds[place]))

    def to_json(self) -> dict[str, Any]:
        """Return the slice as JSON can hold it; the ends of an interval that is not there are None."""
        measures = {}
        for name, mean in self.mean.items():
            low, high = self.interval(name) or (None, None)
            measures[name] = {"value": mean, "low": low, "high": high}
        return {"value": self.value, "queries": self.queries, "few": self.few, "measures": measures}


def slices(result: Result, dataset: Scorable, by: str) -> tuple[Slice, ...]:
    """Split a result by a column of the queries, or by their number of nuggets.

    Each query is in one slice; only by ``tags`` is it in that of each of its tags, so that those slices overlap.
    Nothing is scored again.

    Args:
        result: The result.
        dataset: The dataset that it is of.
        by: A field of a query, such as ``type``, or ``nuggets``.

    Returns:
        A slice for each value: numbers first and by size, also where they are written as text, then texts in the order
        of their characters, and last the queries that have no value.

    Raises:
        UnknownNameError: There is no such column.
        NotComparableError: The result is of another dataset.
        InputError: The result or the dataset is none.
    """
    check_column(by)
    check_result(result)
    judgments = judgments_of(dataset)
    value_of = dict(zip(judgments.query_ids, _column(dataset, judgments, by), strict=True))
    if result.fingerprint != dataset.fingerprint or value_of.keys() != set(result.query_ids):
        raise NotComparableError(
            "slices of a result",
            expected=_one_on(dataset.name, dataset.snapshot, dataset.fingerprint),
            got=_one_on(result.dataset, result.snapshot, result.fingerprint),
        )
    places: defaultdict[Value, list[int]] = defaultdict(list)
    for place, query_id in enumerate(result.query_ids):
        for value in _each(value_of[query_id]):
            places[value].append(place)
    return tuple(_slice(result, value, places[value]) for value in sorted(places, key=_order))


def check_column(by: str) -> None:
    """Refuse a name that no slices can be made by, before anything is computed.

    Raises:
        UnknownNameError: It is neither a field of a query nor ``nuggets``.
    """
    if by not in COLUMNS:
        raise UnknownNameError("column of the queries", by, hint=f"known: {', '.join(COLUMNS)}")


def columns_with_values(dataset: Scorable) -> tuple[str, ...]:
    """Return the columns that some query has a value in, without id and text, of which each query has its own."""
    asked = [name for name in COLUMNS if name not in ("query_id", "text", NUGGETS)]
    columns = dataset.queries.columns(*asked)
    return (*(name for name, column in zip(asked, columns, strict=True) if _some(column)), NUGGETS)


def _some(column: Iterable[Any]) -> bool:
    return any(value is not None for values in column for value in _each(values))


def _column(dataset: Scorable, judgments: Judgments, by: str) -> list[Any]:
    if by == NUGGETS:
        return list(judgments.nugget_counts.tolist())
    (column,) = dataset.queries.columns(by)
    return column


def _each(value: Any) -> Iterable[Value]:
    """Return the slices of a query: of several tags each once, of none that of the queries without a value."""
    return (set(value) or (None,)) if isinstance(value, list | tuple) else (value,)


def _order(value: Value) -> tuple[int, int, str]:
    if value is None:
        return 2, 0, ""
    if isinstance(value, int):
        return 0, value, ""
    if value.isdecimal() and len(value) < 20:  # a text of thousands of digits is no number that Python would read
        return 0, int(value), value
    return 1, 0, value


def _slice(result: Result, value: Value, places: list[int]) -> Slice:
    values = np.ascontiguousarray(result.values[:, places])  # a mean is summed as that of a result is
    values.flags.writeable = False
    bounds = None
    if result.bounds is not None and len(places) > 1:
        bounds = bootstrap_intervals(values, result.resamples, result.seed)
    return Slice(value, result.measures, tuple(result.query_ids[place] for place in places), values, bounds)


def _one_on(name: str, snapshot: str, fingerprint: str) -> str:
    return f"one on {name}@{snapshot}#{fingerprint[:12]}"
