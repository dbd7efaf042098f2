"""Scales from values to pixels, and the round numbers that their axes are marked with."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

_LEAST_SPAN = 1e-9
_ROUND = (1, 2, 5)
_SHORT = 60
"""Days whose axis is marked with days and not with months."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale.

    Args:
        low: The value at ``start``.
        high: The value at ``end``, larger than ``low``.
        start: The pixel of ``low``.
        end: The pixel of ``high``.
    """

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def widened(values: Iterable[float]) -> tuple[float, float]:
    """Return the least and the largest value, further apart where they are the same; 0 and 1 when there is none."""
    found = list(values)
    if not found:
        return 0.0, 1.0
    low, high = min(found), max(found)
    if high - low > _LEAST_SPAN * max(1.0, abs(low), abs(high)):
        return low, high
    room = max(0.05, abs(low) * 0.05)
    return low - room, high + room


def step_of(span: float, most: int) -> float:
    """Return the least step of 1, 2 or 5 times a power of ten that parts the span at most so often."""
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(step for step in (power * digit for digit in (*_ROUND, 10, 20)) if span / step <= most + 1e-9)


def linear(values: Iterable[float], start: float, end: float, most: int) -> tuple[Scale, list[tuple[float, str]]]:
    """Return a scale from one round number to another, and its marks with their texts.

    Args:
        values: All values that it has to hold.
        start: The pixel of the least.
        end: The pixel of the largest.
        most: How many steps there may be between the values, about.
    """
    low, high = widened(values)
    step = step_of(high - low, most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    scale = Scale(first * step, last * step, start, end)
    return scale, [(scale.at(count * step), f"{count * step:.{decimals}f}") for count in range(first, last + 1)]


def logarithmic(values: Iterable[float], start: float, end: float, most: int) -> tuple[Scale, list[float]]:
    """Return a scale of decimal logarithms with some room at both ends, and the round values on it.

    Args:
        values: All values that it has to hold, above 0.
        start: The pixel of its lower end.
        end: The pixel of its upper end.
        most: How many marks there may be.
    """
    logs = [math.log10(value) for value in values] or [0.0]
    low, high = min(logs), max(logs)
    room = max(0.06 * (high - low), 0.15)
    low, high = low - room, high + room
    return Scale(low, high, start, end), _decades(low, high, most)


def _decades(low: float, high: float, most: int) -> list[float]:
    for digits in ((1, 2, 3, 5, 7), _ROUND, (1, 3), (1,)):
        exponents = range(math.floor(low), math.ceil(high) + 1)
        marks = [digit * 10.0**exponent for exponent in exponents for digit in digits]
        inside = [mark for mark in marks if low <= math.log10(mark) <= high]
        if len(inside) <= most:
            return inside
    return inside[:: math.ceil(len(inside) / most)]


def days(found: Sequence[date], start: float, end: float, most: int) -> tuple[Scale, list[tuple[float, str]]]:
    """Return a scale of days, and the beginnings of months or years on it with their texts; of a short time, single days.

    Args:
        found: All days that it has to hold.
        start: The pixel of its lower end.
        end: The pixel of its upper end.
        most: How many marks there may be.
    """
    ordinals = [day.toordinal() for day in found] or [date(2025, 1, 1).toordinal()]
    low, high = min(ordinals), max(ordinals)
    room = max(7, round(0.04 * (high - low)))
    first, last = low, high
    low, high = max(low - room, 1), min(high + room, date.max.toordinal())
    scale = Scale(low, high, start, end)
    marks = _single_days(first, last, most // 2) if last - first < _SHORT else _beginnings(low, high, most)
    return scale, [(scale.at(day.toordinal()), text) for day, text in marks]


def _single_days(first: int, last: int, most: int) -> list[tuple[date, str]]:
    """Mark the first day, and others at the same distances."""
    every = next(every for every in (1, 2, 7, 14, 30, _SHORT) if (last - first) / every < most)
    return [(date.fromordinal(day), date.fromordinal(day).isoformat()) for day in range(first, last + 1, every)]


def _beginnings(low: int, high: int, most: int) -> list[tuple[date, str]]:
    first, last = date.fromordinal(low), date.fromordinal(high)
    months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    for every in (1, 3, 6, 12, 24, 60, 120, 1200, 12000):
        marked = [date(month // 12, month % 12 + 1, 1) for month in months if month % every == 0]
        inside = [day for day in marked if low <= day.toordinal() <= high]
        if len(inside) <= most:
            break
    return [(day, f"{day.year:04}" if every >= 12 else day.isoformat()[:7]) for day in inside]
