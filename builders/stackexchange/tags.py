"""What the tags of a dump tell: which go together with one, and which are young and frequent.

A dump is read once; once more from the start if it has comments. Memory holds each tag once; which tags the questions
with the wanted one have waits in a nameless file once it is more than a few megabytes.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from tempfile import SpooledTemporaryFile
from typing import TypeVar

from builders.stackexchange import skimming
from builders.stackexchange.blocks import UnsureError
from builders.stackexchange.dump import Dump
from builders.stackexchange.posts import QUESTION, BadRow, SeenIds, read_posts
from builders.stackexchange.reasons import FABRICATED
from freshstack_datasets.errors import InputError, UnknownNameError, shown_path

_T = TypeVar("_T")

_MOST_TAGS = 1_000_000
"""Tags that a dump may have; Stack Overflow has 66,000."""

_MOST_LETTERS = 50_000_000
_IN_MEMORY = 8 << 20
_BLOCK = 1 << 18
_END = 0


@dataclass(slots=True)
class Use:
    """How a tag is used.

    Args:
        tag: The tag, in small letters.
        questions: How many questions have it.
        first: The day of the first of them, ISO 8601; "" when none has a date.
        last: The day of the last.
    """

    tag: str
    questions: int = 0
    first: str = ""
    last: str = ""

    def count(self, day: str) -> None:
        """Count one question more."""
        self.questions += 1
        if day:
            self.first = min(self.first or day, day)
            self.last = max(self.last, day)


@dataclass
class Together:
    """The tags that questions with one tag have besides it.

    Args:
        use: How the tag itself is used.
        others: The other tags, the most frequent first, those of one frequency by name.
        covered: How many of the questions have one of the others up to this one.
        read: What the dump holds, and what of it was left out.
    """

    use: Use
    others: list[Use]
    covered: list[int]
    read: Counter[str]


def together(dump: Dump, tag: str) -> Together:
    """Return the tags that go together with one.

    Args:
        dump: The dump.
        tag: The tag, small or capital letters.

    Raises:
        InputError: The dump cannot be read.
        UnknownNameError: No question has that tag.
    """
    return _read(dump, lambda questions, read: _together(dump, tag, questions, read))


def _together(dump: Dump, tag: str, questions: Iterator[tuple[list[str], str]], read: Counter[str]) -> Together:
    wanted, known = Use(tag.strip().lower()), _Known(dump)
    uses: dict[int, Use] = {}
    with SpooledTemporaryFile(_IN_MEMORY) as kept:
        for tags, day in questions:
            numbers = known.numbers(tags)
            if wanted.tag not in tags:
                continue
            wanted.count(day)
            del numbers[tags.index(wanted.tag)]
            for number in numbers:
                uses.setdefault(number, Use(known.names[number - 1])).count(day)
            numbers.append(_END)
            kept.write(numbers.tobytes())
        if not wanted.questions:
            raise UnknownNameError("tag", tag, known.names)
        order = sorted(uses, key=lambda number: (-uses[number].questions, uses[number].tag))
        kept.seek(0)
        covered = _covered(order, iter(lambda: kept.read(_BLOCK), b""))
    return Together(wanted, [uses[number] for number in order], covered, read)


def young(dump: Dump, since: str, least: int) -> tuple[list[Use], Counter[str]]:
    """Return the tags whose first question is young, the most frequent first, and what the dump holds.

    Args:
        dump: The dump.
        since: The first day on which a tag may have been used first, ISO 8601.
        least: How many questions a tag must have.

    Raises:
        InputError: The dump cannot be read.
    """
    uses, read = _read(dump, lambda questions, read: (_all(dump, questions), read))
    found = [use for use in uses if use.first >= since and use.questions >= least]
    return sorted(found, key=lambda use: (-use.questions, use.tag)), read


def _all(dump: Dump, questions: Iterator[tuple[list[str], str]]) -> list[Use]:
    known = _Known(dump)
    uses: list[Use] = []
    for tags, day in questions:
        for number in known.numbers(tags):
            if number > len(uses):
                uses.append(Use(known.names[number - 1]))
            uses[number - 1].count(day)
    return uses


def _read(dump: Dump, take: Callable[[Iterator[tuple[list[str], str]], Counter[str]], _T]) -> _T:
    """Return what is made of the tags of every question, each once in small letters, and of its day.

    Args:
        dump: The dump.
        take: Makes it; called again, with everything from the start, for a dump that has to be read row by row.
    """
    try:
        read = Counter[str]()
        return take(_once(skimming.questions(dump, read)), read)
    except UnsureError:
        read = Counter[str]()
        return take(_once(_row_by_row(dump, read)), read)


def _once(found: Iterator[tuple[tuple[str, ...], str]]) -> Iterator[tuple[list[str], str]]:
    return ((list(dict.fromkeys(tag.lower() for tag in tags)), day) for tags, day in found)


def _row_by_row(dump: Dump, read: Counter[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    for post in read_posts(dump, SeenIds()):
        if isinstance(post, BadRow):
            read["malformed rows"] += 1
        elif post.fabricated:
            read[FABRICATED] += 1
        elif post.kind == QUESTION:
            read["questions"] += 1
            yield post.tags, post.date[:10]


@dataclass
class _Known:
    """Gives every tag a number, from 1."""

    dump: Dump
    names: list[str] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)
    letters: int = 0

    def numbers(self, tags: Sequence[str]) -> "array[int]":
        """Return the numbers of tags.

        Raises:
            InputError: There are more of them than in any dump.
        """
        return array("L", (self.found.get(tag) or self._new(tag) for tag in tags))

    def _new(self, tag: str) -> int:
        self.letters += len(tag)
        if len(self.names) >= _MOST_TAGS or self.letters > _MOST_LETTERS:
            raise InputError(
                f"cannot count the tags of {shown_path(self.dump.path)}",
                expected=f"at most {_MOST_TAGS:,} tags, of {_MOST_LETTERS:,} letters together",
                got="more",
            )
        self.names.append(tag)
        self.found[tag] = len(self.names)
        return len(self.names)


def _covered(order: Sequence[int], blocks: Iterator[bytes]) -> list[int]:
    """Return how many questions have one of the tags up to each.

    Args:
        order: The tags' numbers, as they are ranked.
        blocks: The tags' numbers of all questions, behind each question's a mark.
    """
    ranks = {number: rank for rank, number in enumerate(order)}
    none = len(order)
    firsts = [0] * (none + 1)  # how many questions have this one as their best
    best = none
    for block in blocks:
        for number in array("L", block):
            if number != _END:
                best = min(best, ranks[number])
                continue
            firsts[best] += 1
            best = none
    total, covered = 0, []
    for first in firsts[:-1]:
        total += first
        covered.append(total)
    return covered
