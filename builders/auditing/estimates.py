"""Shares and means with their intervals, as ratios of two sums over questions."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from freshstack_datasets.evaluation.agreement import interval_of_sums
from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.result import Interval


@dataclass(frozen=True, slots=True)
class Part:
    """What something adds to a ratio.

    Args:
        query_id: The question that it belongs to; questions are what intervals are drawn from.
        above: What it adds above the line.
        below: What it adds below it.
    """

    query_id: str
    above: float
    below: float = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and how far it can be trusted.

    Args:
        value: The value, None where it is not defined.
        interval: Its 95 % interval, None where there is none.
        of: What it is a share or a mean of: how many things.
    """

    value: float | None
    interval: Interval | None
    of: int

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        low, high = self.interval or (None, None)
        return {"value": self.value, "low": low, "high": high, "of": self.of}


def estimate(parts: Iterable[Part]) -> Estimate:
    """Return the sum of what is above the line over the sum of what is below it.

    The interval is a bootstrap's: questions are drawn, with all that people say of each, since nuggets of a question
    and what several people say of it are alike.

    Args:
        parts: What is summed.
    """
    sums: dict[str, list[float]] = {}
    for part in parts:
        above_below = sums.setdefault(part.query_id, [0.0, 0.0])
        above_below[0] += part.above
        above_below[1] += part.below
    table = np.array([pair for pair in sums.values() if pair[1]]).reshape(-1, 2)
    above, below = table.sum(axis=0).tolist()
    return Estimate(above / below if below else None, interval_of_sums(table, _ratios), round(below))


def _ratios(sums: Floats) -> Floats:
    """Return the ratios; what is below the line is more than 0 for each question."""
    ratios: Floats = sums[:, 0] / sums[:, 1]
    return ratios
