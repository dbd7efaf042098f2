"""A quick look at rows of a dump, by their bytes: which of them matter.

A row of the usual form is told by one regular expression, and left alone unless it is wanted; any other is parsed. So
damage to the form of a row is seen everywhere, damage to what stands in its attributes only in rows that matter.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from builders.stackexchange.blocks import Block
from builders.stackexchange.dump import RawRow
from builders.stackexchange.filters import Filters
from builders.stackexchange.posts import ANSWER, FABRICATED_AS_WRITTEN, QUESTION, BadRow, Post, read_post

_KNOWN = re.compile(
    rb'<row Id="([1-9][0-9]{0,17})" PostTypeId="'
    rb'(?:1"(?>[^>]* Tags="([^"<>]*)")|2" ParentId="([1-9][0-9]{0,17})"|([3-9])")'
    rb"[^>]*/>\s*(?=<|\Z)"
)
"""A row of the usual form: its id; a question's tags, an answer's question, or what else it is.

What is between the quotes of ``Tags`` is the value of that attribute, if it holds no space and no equals sign, and if no
other attribute stands in single quotes, which no dump has: to tell would take twice the time. The last such place is
final: trying all would take the square of the time for a row that has many, and fit no other.
"""


_Known = tuple[bytes, bytes, bytes, bytes]


@dataclass(frozen=True, slots=True)
class Row:
    """A row that matters.

    Args:
        at: A number that grows from row to row of a block, and is less than its bytes.
        post: What it is; its line is that in the block.
        kind: As what it was counted.
    """

    at: int
    post: Post | BadRow
    kind: str


@dataclass(slots=True)
class Seen:
    """What was seen in a block.

    Args:
        rows: The rows that matter.
        low: The least number that an answer is looked for by.
        high: The greatest, 0 when there is none.
        counts: How many rows of each kind there are, by their type's number, "" for none that can be seen. Rows of
            the usual form count as what they say they are, whether they are parsed or not.
        closed: Whether the dump's end tag is there.
    """

    rows: list[Row] = field(default_factory=list)
    low: int = 0
    high: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    closed: bool = False

    def range_of(self, numbers: Collection[int]) -> None:
        """Take the least and the greatest of some numbers."""
        if numbers:
            self.low, self.high = min(numbers), max(numbers)


@dataclass(slots=True)
class _Candidate:
    at: int
    raw: RawRow
    known: _Known | None
    post: Post | BadRow | None = None


class Look:
    """Finds questions by their tags, and the answers to them that are wanted, which it learns on its way.

    Args:
        filters: Which questions to take. Those that have a tag of them are found, also when they fail otherwise.
        best: Whether all answers to a question are wanted, or only the accepted one.
        wanted: What answers are looked for by from the start: their ids, or those of their questions.
    """

    def __init__(self, filters: Filters, best: bool, wanted: Collection[int] = ()) -> None:
        self._filters, self._best = filters, best
        self._wanted = {str(number).encode() for number in wanted}
        self._tags = [f"|{tag}|" for tag in sorted(filters.tags)] or ["|"]

    def wants(self, post: Post) -> int:
        """Return what the answer to a question is looked for by, 0 when none is."""
        if post.kind != QUESTION or post.fabricated or self._filters.failed(post):
            return 0
        return post.post_id if self._best else post.accepted or 0

    def at(self, block: Block) -> Seen:
        """Look at the rows of a block.

        Raises:
            UnsureError: There is a comment, so that they might be none.
        """
        data = block.data
        rows: Sequence[_Known] = _KNOWN.findall(data)
        if len(rows) != block.count(b"<"):
            raw, closed = block.rows()
            seen = self._picked(raw)
            seen.closed = closed
            return seen
        if not rows:
            return Seen()
        ids, tags, parents, others = zip(*rows, strict=True)
        questions = _labels(tags)
        seen = Seen(counts=_counted(parents, others))
        seen.range_of(list(map(int, filter(None, parents) if self._best else ids)))
        if questions is None or self._matters(ids, questions, parents):
            seen.rows = self._usual(data, rows)
        return seen

    def at_rows(self, rows: Sequence[RawRow]) -> Seen:
        """Look at rows that were told from each other with care."""
        return self._picked(rows)

    def _matters(self, ids: Sequence[bytes], questions: str, parents: Sequence[bytes]) -> bool:
        """Return whether any row of a block may matter."""
        if self._has_tag(questions) or not FABRICATED_AS_WRITTEN.isdisjoint(ids):
            return True
        return not self._wanted.isdisjoint(parents if self._best else ids)

    def _usual(self, data: bytes, rows: Sequence[_Known]) -> list[Row]:
        """Return what matters of a block that holds no others than usual rows; most of them are left alone."""
        places = [found.span() for found in _KNOWN.finditer(data)]
        posts: dict[int, Post | BadRow] = {}
        for at, row in enumerate(rows):
            if self._asks(row):
                posts[at] = _read(data, *places[at])
                self._want(posts[at])
        number = 2 if self._best else 0
        for at, row in enumerate(rows):
            if row[number] in self._wanted and at not in posts:
                posts[at] = _read(data, *places[at])
        return [Row(at, posts[at], _kind_of(rows[at])) for at in sorted(posts) if self._is_found(posts[at])]

    def _want(self, post: Post | BadRow) -> None:
        """Look for the answers to a post from now on, if it is a question that is taken."""
        if isinstance(post, Post) and (number := self.wants(post)):
            self._wanted.add(str(number).encode())

    def _picked(self, raw: Sequence[RawRow]) -> Seen:
        """Look at each row: first for questions, then for answers, which may stand before theirs."""
        seen = Seen()
        candidates = [_Candidate(at, row, _known(row)) for at, row in enumerate(raw)]
        for one in candidates:
            if one.known is None or self._asks(one.known):
                one.post = read_post(one.raw)
                self._want(one.post)
        numbers = []
        for one in candidates:
            if one.known and one.post is None and one.known[2 if self._best else 0] in self._wanted:
                one.post = read_post(one.raw)
            numbers += self._number(one)
            kind = _kind(one)
            seen.counts[kind] += 1
            if one.post is not None and self._is_found(one.post):
                seen.rows.append(Row(one.at, one.post, kind))
        seen.range_of(numbers)
        return seen

    def _asks(self, known: _Known) -> bool:
        """Return whether a row of the usual form may be a question that was asked for, or one of the invented posts."""
        number, tags, parent, other = known
        if number in FABRICATED_AS_WRITTEN:
            return True
        if parent or other:
            return False
        questions = _labels([tags])
        return questions is None or self._has_tag(questions)

    def _has_tag(self, questions: str) -> bool:
        lowered = questions.lower()
        return any(tag in lowered for tag in self._tags)

    def _is_found(self, post: Post | BadRow) -> bool:
        if isinstance(post, BadRow) or post.fabricated:
            return True
        if post.kind == QUESTION and self._filters.tagged(post):
            return True
        if self._best:
            return post.kind == ANSWER and str(post.parent).encode() in self._wanted
        return str(post.post_id).encode() in self._wanted

    def _number(self, one: _Candidate) -> list[int]:
        """Return what a row can be looked for by as an answer."""
        if one.known is not None:
            number = one.known[2 if self._best else 0]
            return [int(number)] if number else []
        if not isinstance(one.post, Post):
            return []
        return [one.post.parent or 0] if self._best else [one.post.post_id]


def _known(row: RawRow) -> _Known | None:
    """Return what the quick look knows of a row, None when it has to be parsed."""
    found = None if row.wrong else _KNOWN.fullmatch(row.data)
    if found is None:
        return None
    number, tags, parent, other = (part or b"" for part in found.groups())
    return number, tags, parent, other


def _read(data: bytes, start: int, end: int) -> Post | BadRow:
    """Return what the row of a block between two places is."""
    return read_post(RawRow(1 + data.count(b"\n", 0, start), data[start:end].rstrip()))


def _labels(tags: Sequence[bytes]) -> str | None:
    """Return all tags of several values with bars around each, None when one of these is of no usual form."""
    try:
        text = (b"|" + b"|".join(tags) + b"|").replace(b"&lt;", b"|").replace(b"&gt;", b"|").decode()
    except UnicodeDecodeError:
        return None
    is_strange = "&" in text or "=" in text or len(text.split(None, 1)) > 1
    return None if is_strange else text


def _counted(parents: Sequence[bytes], others: Sequence[bytes]) -> Counter[str]:
    counts = Counter({kind.decode(): number for kind, number in Counter(others).items() if kind})
    counts[str(ANSWER)] = len(parents) - parents.count(b"")
    counts[str(QUESTION)] = len(others) - counts.total()
    return counts


def _kind(one: _Candidate) -> str:
    if one.known is None:
        return str(one.post.kind) if isinstance(one.post, Post) else ""
    return _kind_of(one.known)


def _kind_of(known: _Known) -> str:
    """Return what a row of the usual form says it is."""
    _, _, parent, other = known
    return other.decode() or str(ANSWER if parent else QUESTION)
