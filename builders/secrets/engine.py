"""The library that knows what secrets look like, as it is used here: in this process, and without any network."""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from freshstack_datasets.errors import MissingExtraError

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

PACKAGE = "kingfisher-secret-scanner"
NOT_SCANNED = "not-scanned"
"""The kind of a finding that says that the library did not get through a text, so that somebody must look."""
_SECONDS = 60.0
"""After how long a text is given up."""
_OURS = Path(__file__).with_name("rules.yaml")
_ASSIGNED = "assigned-secret"
_STAND_IN = re.compile(
    r"(?:my|your|the|some|super|secret|pass(?:w(?:or)?d|phrase)?|pwd|change|me|user(?:name)?|token|key|foo|bar|[-_.])+",
    re.IGNORECASE,
)
"""Passwords in addresses that only show where one goes. The library knows more of them, and calls them unlikely."""


@dataclass(frozen=True, slots=True)
class Match:
    """A stretch of a text.

    Args:
        start: Its first byte in the text as UTF-8.
        end: The byte after the last one.
        line: Its line, counted from 1.
        kind: The rule.
    """

    start: int
    end: int
    line: int
    kind: str


def scanner() -> str:
    """Return the name and the version of the library, which its rules come with.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return f"{PACKAGE} {version(PACKAGE)}"
    except PackageNotFoundError:
        raise MissingExtraError(PACKAGE, "build") from None


def rules() -> str:
    """Return all that decides on what is found, as a text: the library with its rules, and ours.

    Raises:
        MissingExtraError: The library is not installed.
    """
    return f"{scanner()} {hashlib.sha256(_OURS.read_bytes()).hexdigest()}"


@cache
def library() -> "Scanner":
    """Return the library with its rules loaded, once in a process.

    It keeps compiled rules in the user's folder for caches, and compiles them, some seconds long, where it may not.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        from kingfisher_sdk import DetectionPolicy, Rules, Scanner
    except ImportError:
        raise MissingExtraError(PACKAGE, "build") from None
    # a comment that asks to be passed over may be anybody's
    return Scanner(Rules([_OURS]), policy=DetectionPolicy(inline_ignores=False))


def matches(data: bytes) -> list[Match]:
    """Return what seems to be secret, in the order of the text.

    The time grows with the text, but for texts made to be slow, which are given up with one match of ``NOT_SCANNED``.

    Args:
        data: The text as UTF-8.

    Raises:
        MissingExtraError: The library is not installed.
    """
    looking = library()
    try:
        found = looking.scan(data, timeout=_SECONDS)
    except Exception:  # of the library; its message may hold the text
        return [Match(0, 0, 1, NOT_SCANNED)]
    all_of_them = {
        Match(place["start_offset"], place["end_offset"], place["line"], _kind(one.rule_id))
        for one in found
        if one.visible and one.confidence != "low" and not _STAND_IN.fullmatch(one.captures.get("password", "!"))
        for place in (one.location,)
    }
    return list(_once(sorted(all_of_them, key=lambda one: (one.start, one.end, one.kind))))


def _kind(rule: str) -> str:
    """Return the last part of a rule's name, without the collection that it is of."""
    return rule.removeprefix("veles.secrets/").partition(".")[2] or rule.rpartition("/")[2]


def _once(found: list[Match]) -> Iterator[Match]:
    """Leave out what our own rule finds where one of the library's says more."""
    named = [one for one in found if one.kind != _ASSIGNED]
    starts, ends = [one.start for one in named], list(accumulate((one.end for one in named), max))
    for one in found:
        before = bisect_left(starts, one.end)
        if one.kind != _ASSIGNED or not before or ends[before - 1] <= one.start:
            yield one
