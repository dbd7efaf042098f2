"""What an evaluation gives: values per query, means, intervals, and the signature a score is to be quoted with."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from freshstack_datasets import __version__
from freshstack_datasets.errors import InputError, MeasureError, NotComparableError, UnknownNameError, shown
from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.measures import Measure

T = TypeVar("T")

TIE_RULE = "score falling, then document id falling"


class Interval(NamedTuple):
    """The two ends of a 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class ByMeasure(Mapping[str, T], Generic[T]):
    """Something for each measure, found by its printed form or by any other spelling of it.

    Args:
        measures: The measures that were computed.
        look: From a measure's place among them to its thing.
    """

    measures: tuple[Measure, ...]
    look: Callable[[int], T]

    def __getitem__(self, name: str | Measure) -> T:
        """Return what there is for a measure.

        Raises:
            UnknownNameError: It was not computed.
            MeasureError: There is no such measure.
        """
        measure = Measure.parse(name)
        if measure not in self.measures:
            raise UnknownNameError("measure in this result", str(measure), map(str, self.measures))
        return self.look(self.measures.index(measure))

    def __contains__(self, name: object) -> bool:
        try:
            return Measure.parse(name) in self.measures  # type: ignore[arg-type]  # it refuses what is no measure
        except MeasureError:
            return False

    def __iter__(self) -> Iterator[str]:
        return map(str, self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True, eq=False, repr=False)
class ByQuery(Mapping[str, float]):
    """The value of one measure for each query of the dataset, in the dataset's order.

    Args:
        numbers: The place of each query.
        array: float64 of shape (queries,).
    """

    numbers: Mapping[str, int]
    array: Floats

    def __getitem__(self, query_id: str) -> float:
        """Return the value for a query.

        Raises:
            UnknownNameError: The dataset has no such query.
        """
        place = self.numbers.get(query_id)
        if place is None:
            raise UnknownNameError("query", query_id, self.numbers)
        return float(self.array[place])

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"<{len(self)} values, mean {self.array.mean():.4f}>"


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The scores of one run on one dataset. Values are unrounded; only ``str`` rounds.

    Args:
        dataset: The dataset's name.
        snapshot: Its snapshot.
        fingerprint: What that snapshot holds; see the snapshot's manifest.
        system: Whose run it is.
        ties: Documents whose place in the ranking was decided by their id, because the one before has the same score.
        measures: What was computed.
        warnings: What the reader should know, a line each.
        query_ids: The queries of the dataset.
        values: float64 of shape (measures, queries).
        bounds: float64 of shape (measures, 2), the ends of the intervals, when they were asked for.
        resamples: Resamples of the bootstrap that made the intervals.
        seed: Its seed.
    """

    dataset: str
    snapshot: str
    fingerprint: str
    system: str
    ties: int
    measures: tuple[Measure, ...]
    warnings: tuple[str, ...]
    query_ids: tuple[str, ...] = field(repr=False)
    values: Floats = field(repr=False)
    bounds: Floats | None
    resamples: int
    seed: int

    @property
    def queries(self) -> int:
        """The number of queries that the means run over: all of the dataset."""
        return len(self.query_ids)

    @property
    def mean(self) -> ByMeasure[float]:
        """The mean of each measure over all queries of the dataset."""
        return ByMeasure(self.measures, lambda place: float(self.values[place].mean()))

    @property
    def per_query(self) -> ByMeasure[ByQuery]:
        """The value of each measure for each query."""
        return ByMeasure(self.measures, lambda place: ByQuery(self._numbers, self.values[place]))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {query_id: place for place, query_id in enumerate(self.query_ids)}

    def interval(self, name: str | Measure) -> Interval:
        """Return the 95 % interval of a measure's mean: a percentile bootstrap over the queries.

        Raises:
            InputError: The result was made without intervals.
            UnknownNameError: The measure was not computed.
        """
        bounds = self.bounds
        if bounds is None:
            raise InputError("this result has no intervals", hint="evaluate with intervals=True")
        return ByMeasure(self.measures, lambda place: Interval(*map(float, bounds[place])))[name]

    def signature(self, name: str | Measure) -> str:
        """Return what must be equal for two scores to be compared, to be quoted with the score.

        Raises:
            UnknownNameError: The measure was not computed.
        """
        measure = ByMeasure(self.measures, self.measures.__getitem__)[name]
        parts = (
            measure.spelled_out(),
            f"{self.dataset}@{self.snapshot}#{self.fingerprint}",
            f"queries {self.queries}",
            f"ties {TIE_RULE}",
            f"freshstack-datasets {__version__}",
        )
        return " | ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON can hold it; without intervals, their ends are None."""
        return {
            "dataset": self.dataset,
            "snapshot": self.snapshot,
            "fingerprint": self.fingerprint,
            "system": self.system,
            "queries": self.queries,
            "ties": self.ties,
            "measures": {str(measure): self._entry(measure) for measure in self.measures},
        }

    def _entry(self, measure: Measure) -> dict[str, Any]:
        low, high = (None, None) if self.bounds is None else self.interval(measure)
        return {"value": self.mean[measure], "low": low, "high": high, "signature": self.signature(measure)}

    def __str__(self) -> str:
        width = max(len(str(measure)) for measure in self.measures)
        lines = [f"{self.system} on {self.dataset}@{self.snapshot}, {self.queries} queries"]
        for measure in self.measures:
            line = f"  {measure!s:<{width}}  {self.mean[measure]:.4f}"
            lines.append(line if self.bounds is None else line + "  [{:.4f}, {:.4f}]".format(*self.interval(measure)))
        return "\n".join(lines + [f"  {warning}" for warning in self.warnings])

    def __repr__(self) -> str:
        return f"<Result {self.system!r} on {self.dataset}@{self.snapshot}: {self.mean!r}>"


def check_result(given: object) -> None:
    """Refuse what is no result, such as the run that one is made of.

    Raises:
        InputError: It is none.
    """
    if not isinstance(given, Result):
        raise InputError("a result", expected="what evaluate returns", got=f"{shown(given)} ({type(given).__name__})")


def macro_mean(results: Iterable[Result]) -> dict[str, float]:
    """Return the mean over datasets of each measure, every dataset counting the same.

    Args:
        results: One system's results, each on another dataset.

    Raises:
        NotComparableError: There is none, a dataset comes twice, or a measure is missing in one of them.
    """
    given = list(results)
    if not given:
        raise NotComparableError("a macro mean", expected="at least one result", got="none")
    names = [result.dataset for result in given]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise NotComparableError("a macro mean", expected="each dataset once", got=f"{shown(name)} twice")
    measures = list(dict.fromkeys(measure for result in given for measure in result.measures))
    for result in given:
        for measure in measures:
            if measure not in result.measures:
                raise NotComparableError(
                    "a macro mean",
                    expected="the same measures of every dataset",
                    got=f"no {measure} of {shown(result.dataset)}",
                )
    return {str(measure): float(np.mean([result.mean[measure] for result in given])) for measure in measures}
