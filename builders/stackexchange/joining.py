"""What was found in a dump, put together: every row that matters in the order of the dump, and the answers to each.

The rows stay in their parts. Memory holds six numbers of each, and six of each block of the dump.
"""

import json
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from builders.stackexchange.posts import BadRow, Post
from builders.stackexchange.selecting import Place

_MOST_OPEN = 64
_MOST_COMPARED = 10_000
"""Numbers that a block may hold before it is read again without asking for each."""

_Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Row:
    """A row that matters.

    Args:
        post: What it is.
        kind: As what it was counted.
        is_first: Whether it is the first of its id.
    """

    post: Post | BadRow
    kind: str
    is_first: bool


class Joined:
    """Rows that were found, in parts.

    Args:
        best: Whether answers are looked for by the ids of their questions, or by their own.
    """

    def __init__(self, best: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.closed = self.unsure = False
        self.lines = 0
        self._best = best
        self._parts: list[tuple[Path, int]] = []  # and how many lines of the dump stand before what it is of
        self._open: dict[int, BinaryIO] = {}
        self._rows = tuple(array("q") for _ in range(6))  # place, part, place in it, id, question's id, what it wants
        self._blocks = tuple(array("q") for _ in range(6))  # place, size, line, least and greatest number, range
        self._order: _Numbers = np.empty(0, np.int64)
        self._firsts: _Numbers = np.empty(0, np.int64)
        self._keys: _Numbers = np.empty(0, np.int64)

    def take(self, part: Path, line: int | None = None) -> None:
        """Take a part.

        Args:
            part: The part. Those of the first stage come in the order of their ranges.
            line: The lines before what it is of; all lines so far for a part of the first stage.
        """
        number = len(self._parts)
        self._parts.append((part, self.lines if line is None else line))
        place = 0
        with part.open("rb") as file:
            for data in file:
                told = json.loads(data)
                if "summary" not in told:
                    post = told.get("post", {})
                    answers = post.get("parent") or 0
                    row = (told["at"], number, place, post.get("post_id", 0), answers, told.get("wants", 0))
                    for column, value in zip(self._rows, row, strict=True):
                        column.append(value)
                elif line is None:
                    self._summarize(told["summary"], number)
                place += len(data)

    def _summarize(self, told: dict[str, Any], number: int) -> None:
        self.counts.update(told["counts"])
        self.closed |= told["closed"]
        self.unsure |= told["unsure"]
        self.lines += told["lines"]
        for block in told["blocks"]:
            for column, value in zip(self._blocks, (*block, number), strict=True):
                column.append(value)

    def wanted(self) -> tuple[int, ...]:
        """Return all that answers are looked for by, ascending."""
        return tuple(sorted(set(self._rows[5]) - {0}))

    def unread(self) -> Iterator[tuple[int, Place]]:
        """Yield the blocks that may hold an answer that was not looked for in them, with the lines before their range.

        A block was looked through for the answers to questions of itself and of those before it in its range.
        """
        starts, sizes, lines, lows, highs, ranges = map(np.asarray, self._blocks)
        wants, at = (np.asarray(self._rows[column]) for column in (5, 0))
        asked = np.flatnonzero(wants)
        asked = asked[np.argsort(wants[asked], kind="stable")]
        wants = wants[asked]
        homes = np.searchsorted(starts, at[asked], "right") - 1  # the block that each question stands in
        firsts, lasts = np.searchsorted(wants, lows), np.searchsorted(wants, highs, "right")
        for block in np.flatnonzero((highs > 0) & (firsts < lasts)).tolist():
            some = homes[firsts[block] : min(lasts[block], firsts[block] + _MOST_COMPARED)]
            was_looked_for = (some <= block) & (ranges[some] == ranges[block])
            if lasts[block] - firsts[block] > _MOST_COMPARED or not was_looked_for.all():
                place = Place(int(starts[block]), int(sizes[block]), int(lines[block]))
                yield self._parts[ranges[block]][1], place

    def rows(self) -> Iterator[Row]:
        """Yield all rows in the order of the dump, each once.

        After this, nothing can be taken.
        """
        at, ids, parents = (np.asarray(self._rows[column]) for column in (0, 3, 4))
        self._order = np.unique(at, return_index=True)[1]  # both stages may have found a row
        posts = self._order[ids[self._order] > 0]
        self._firsts = posts[np.sort(np.unique(ids[posts], return_index=True)[1])]
        keys = (parents if self._best else ids)[self._firsts]
        self._firsts = self._firsts[np.argsort(keys, kind="stable")]
        self._keys = np.sort(keys)
        is_first = np.zeros(len(at), bool)
        is_first[self._firsts] = True
        for row in self._order.tolist():
            yield Row(*self._row(row), bool(is_first[row]))

    def answers(self, wants: int) -> list[Post]:
        """Return the posts that may be an answer, in the order of the dump; to be called while ``rows`` goes on.

        Args:
            wants: What they are looked for by.
        """
        first, last = np.searchsorted(self._keys, wants), np.searchsorted(self._keys, wants, "right")
        found = [self._row(row)[0] for row in self._firsts[first:last].tolist()]
        return [post for post in found if isinstance(post, Post)]

    def close(self) -> None:
        """Close the parts."""
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _row(self, row: int) -> tuple[Post | BadRow, str]:
        part, place = self._rows[1][row], self._rows[2][row]
        file = self._opened(part)
        file.seek(place)
        told = json.loads(file.readline())
        line = self._parts[part][1] + told["line"]
        if "bad" in told:
            return BadRow(line, *told["bad"]), told["kind"]
        post = told["post"]
        return replace(Post(**{**post, "tags": tuple(post["tags"])}), line=line), told["kind"]

    def _opened(self, part: int) -> BinaryIO:
        if part not in self._open:
            if len(self._open) >= _MOST_OPEN:
                self._open.pop(next(iter(self._open))).close()
            self._open[part] = self._parts[part][0].open("rb")
        return self._open[part]
