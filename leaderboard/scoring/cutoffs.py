"""Scores before and after the training of a system's models ended: what it may have seen, and what it cannot have."""

import datetime
from collections.abc import Sequence

import numpy as np

from freshstack_datasets.evaluation.arrays import Floats
from freshstack_datasets.evaluation.statistics import bootstrap_intervals
from leaderboard.scoring.records import CutoffScores, Part, Unsure
from leaderboard.submission.model import UsedModel

_DAY = len("2025-01-31")


def cutoff_of(models: Sequence[UsedModel]) -> datetime.date | None:
    """Return the latest training cut-off of a system's models; None where it has none, or one is not known."""
    days = [model.training_cutoff for model in models]
    known = [day for day in days if day is not None]
    return max(known) if known and len(known) == len(days) else None


def cutoff_scores(
    cutoff: datetime.date,
    dates: Sequence[str | None],
    measures: Sequence[str],
    values: Floats,
    resamples: int,
    seed: int,
) -> CutoffScores:
    """Return the scores of the queries before and after a day.

    Args:
        cutoff: The day; its own queries are before.
        dates: When each query was asked, ISO 8601; one without a day is in neither part.
        measures: What was computed.
        values: float64 of shape (measures, queries).
        resamples: Resamples of the bootstrap.
        seed: Where its random numbers start.
    """
    days = [_day(date) for date in dates]
    before = [place for place, day in enumerate(days) if day is not None and day <= cutoff]
    after = [place for place, day in enumerate(days) if day is not None and day > cutoff]
    parts = [_part(measures, values, places, resamples, seed) for places in (before, after)]
    return CutoffScores(date=cutoff, before=parts[0], after=parts[1], undated=days.count(None))


def _day(date: str | None) -> datetime.date | None:
    """Return the day of a moment in its own time zone; None where there is none, as in a mere month."""
    try:
        return datetime.date.fromisoformat((date or "")[:_DAY])
    except ValueError:
        return None


def _part(measures: Sequence[str], values: Floats, places: list[int], resamples: int, seed: int) -> Part:
    if not places:
        return Part(queries=0, measures={})
    some = np.ascontiguousarray(values[:, places])
    several = len(places) > 1
    bounds = bootstrap_intervals(some, resamples, seed).tolist() if several else [(None, None)] * len(measures)
    means = {
        name: Unsure(value=float(row.mean()), low=low, high=high)
        for name, row, (low, high) in zip(measures, some, bounds, strict=True)
    }
    return Part(queries=len(places), measures=means)
