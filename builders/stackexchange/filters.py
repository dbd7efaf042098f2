"""Which questions to take: by tag, date and score."""

import calendar
import re
from dataclasses import dataclass
from datetime import date
from typing import Protocol, Self

from freshstack_datasets.errors import InputError, shown

_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?", re.ASCII)


UNTAGGED = "questions without any of the tags"


class Asked(Protocol):
    """What is known of a question."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags, as they are spelled."""
        ...

    @property
    def date(self) -> str:
        """When it was asked, ISO 8601, "" when nobody knows."""
        ...

    @property
    def score(self) -> int | None:
        """Its votes, None when nobody knows."""
        ...


@dataclass(frozen=True, slots=True)
class Filters:
    """Rules that a question must satisfy; those not given let everything pass.

    Args:
        tags: It has one of these, in small letters.
        first: The first day, ISO 8601.
        last: The last day, ISO 8601.
        min_score: Its least score.
    """

    tags: frozenset[str] = frozenset()
    first: str = ""
    last: str = ""
    min_score: int | None = None

    @classmethod
    def parsed(cls, tags: str | None, first: str | None, last: str | None, min_score: int | None) -> Self:
        """Return the rules that somebody typed.

        Args:
            tags: Tags, separated by commas.
            first: A day, a month or a year; its first day counts.
            last: The same; its last day counts.
            min_score: The least score.

        Raises:
            InputError: A value means nothing, or no day can satisfy both dates.
        """
        names = frozenset(name for name in (part.strip().lower() for part in (tags or "").split(",")) if name)
        if tags is not None and (not names or any("\ud800" <= c <= "\udfff" for c in tags)):
            raise InputError("--tags", expected="tags separated by commas", got=shown(tags))
        rules = cls(
            names,
            "" if first is None else parse_day(first, "--from", end=False),
            "" if last is None else parse_day(last, "--to", end=True),
            min_score,
        )
        if rules.first and rules.last and rules.first > rules.last:
            raise InputError(
                f"--from {rules.first} --to {rules.last}", expected="a first day that is not after the last"
            )
        return rules

    def tagged(self, question: Asked) -> bool:
        """Return whether a question has one of the tags."""
        return not self.tags or any(tag.lower() in self.tags for tag in question.tags)

    def failed(self, question: Asked) -> str:
        """Return the first rule that a question does not satisfy, in words; "" when it satisfies all."""
        if not self.tagged(question):
            return UNTAGGED
        day = question.date[:10]
        if self.first and day < self.first:
            return f"questions before {self.first}"
        if self.last and not "" < day <= self.last:
            return f"questions after {self.last}"
        if self.min_score is not None and (question.score is None or question.score < self.min_score):
            return f"questions with a score below {self.min_score}"
        return ""


def parse_day(text: str, option: str, *, end: bool) -> str:
    """Return a day, ISO 8601; of a month or a year its first day or its last.

    Args:
        text: ``2015-01-31``, ``2015-01`` or ``2015``.
        option: The option it was given to, for the message.
        end: Whether the last day is meant.

    Raises:
        InputError: There is no such day.
    """
    found = _DAY.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(part) if part else None for part in found.groups())
        assert year is not None, "the pattern's first group is not optional"
        month = month if month is not None else (12 if end else 1)
        day = day if day is not None else (calendar.monthrange(year, month)[1] if end else 1)
        return date(year, month, day).isoformat()
    except ValueError:
        raise InputError(
            option, expected="a day, a month or a year: 2015-01-31, 2015-01 or 2015", got=shown(text)
        ) from None
