"""The quarters in which questions were asked, and which of them a picture can show."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

Quarter = tuple[int, int]
"""Year, and 1 to 4."""

MOST = 120
"""Quarters that are shown side by side, 30 years: with more, none could be told from the next."""

_MONTH = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])(?![0-9])")


@dataclass(frozen=True)
class Shown:
    """Quarters one after the other.

    Args:
        counts: From a quarter to its number of questions, those between without any too.
        before: Questions of earlier quarters.
        after: Questions of later ones.
    """

    counts: Mapping[Quarter, int]
    before: int
    after: int


def quarter_of(day: str | None) -> Quarter | None:
    """Return the quarter that a date lies in; None where there is no date, or one without a month.

    Args:
        day: A date in ISO 8601, with or without day and time; or whatever stands in its place.
    """
    found = _MONTH.match(day or "")
    return (int(found[1]), (int(found[2]) + 2) // 3) if found else None


def named(quarter: Quarter) -> str:
    """Return what a quarter is called: ``2023 Q1``."""
    year, number = quarter
    return f"{year:04} Q{number}"


def shown(quarters: Mapping[Quarter, int]) -> Shown:
    """Return the quarters from the first to the last, or those ``MOST`` that have the most questions.

    One date that is wrong by centuries, and anything may stand in a forum's export, would else make a line of them all.

    Args:
        quarters: From a quarter to its number of questions, at least one question.
    """
    numbers = {year * 4 + quarter - 1: count for (year, quarter), count in sorted(quarters.items())}
    first = max(numbers, key=lambda start: (_within(numbers, start), start)) if _wide(numbers) else min(numbers)
    last = max(number for number in numbers if number < first + MOST)
    return Shown(
        {(number // 4, number % 4 + 1): numbers.get(number, 0) for number in range(first, last + 1)},
        sum(count for number, count in numbers.items() if number < first),
        sum(count for number, count in numbers.items() if number > last),
    )


def _wide(numbers: Mapping[int, int]) -> bool:
    return max(numbers) - min(numbers) >= MOST


def _within(numbers: Mapping[int, int], first: int) -> int:
    """Return how many questions the quarters have that begin with one."""
    return sum(numbers.get(number, 0) for number in range(first, first + MOST))
