"""The tags and days of all questions of a dump, several times as fast as posts are read.

Whole blocks of rows are checked by their bytes. A row of the usual form is one whose attributes are those of the public
dumps in their order; all else about it is such that reading it as a post could find nothing wrong. Any other row is
read as a post, so that the same questions are found, and the same rows are wrong.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from builders.stackexchange.blocks import SIZE, blocks
from builders.stackexchange.dump import Dump, RawRow, opened
from builders.stackexchange.posts import FABRICATED_AS_WRITTEN, QUESTION, BadRow, SeenIds, read_post, split_tags
from builders.stackexchange.reasons import FABRICATED
from freshstack_datasets.progress import track

Told = tuple[int, tuple[str, ...], str | None]
"""The id of a post; of a question its tags, and its day, ISO 8601, or ""; None for the day of any other post."""

_ID = rb"[1-9][0-9]{0,17}"
_COUNT = rb"(?:-?[0-9]{1,9})?"
_ANY = rb'[^"]*+'
"""Any value; it cannot reach into another row, since a row that has ``<`` twice is noticed."""
_TIME = rb"(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?Z?)?"
_USUAL = re.compile(
    rb'<row Id="(%b)" PostTypeId="([1-9])"(?: AcceptedAnswerId="(?:%b)?")?+(?: ParentId="(%b)")?+' % (_ID, _ID, _ID)
    + rb'(?: CreationDate="([0-9]{4}-[0-9]{2}-[0-9]{2})%b")?+' % _TIME
    + rb'(?: Score="%b")?+(?: ViewCount="%b")?+(?: Body="%b")?+' % (_COUNT, _ANY, _ANY)
    + rb'(?: OwnerUserId="%b")?+(?: OwnerDisplayName="%b")?+' % (_COUNT, _ANY)
    + rb'(?: LastEditorUserId="%b")?+(?: LastEditorDisplayName="%b")?+' % (_ANY, _ANY)
    + rb'(?: LastEditDate="%b")?+(?: LastActivityDate="%b")?+' % (_ANY, _ANY)
    + rb'(?: Title="(%b)")?+(?: Tags="(%b)")?+' % (_ANY, _ANY)
    + rb'(?: AnswerCount="%b")?+(?: CommentCount="%b")?+(?: FavoriteCount="%b")?+' % (_ANY, _ANY, _ANY)
    + rb'(?: ClosedDate="%b")?+(?: CommunityOwnedDate="%b")?+' % (_ANY, _ANY)
    + rb'(?: ContentLicense="[A-Za-z0-9 .-]{0,100}")?+ ?/>\s*(?=<|\Z)'
)
"""A row of the usual form: its id, its type, an answer's question, its day, a question's title and its tags."""

_STRANGE = re.compile(rb"[\t\n\r]|&(?![lg]t;)")
"""What is in no tags of the usual form."""
_NUMBERED = re.compile(rb"&#[^;]*;")
_OF_THREE = tuple(int.from_bytes(name, "little") for name in (b"lt;", b"gt;"))
_OF_FOUR = tuple(int.from_bytes(name, "little") for name in (b"amp;", b"#xA;", b"#xD;", b"#x9;"))
_OF_FIVE = tuple(int.from_bytes(name, "little") for name in (b"quot", b"apos"))
"""The references that dumps have, behind their ``&``, as numbers."""
_NO_LETTERS = (b"\xef\xbf\xbe", b"\xef\xbf\xbf")
"""What UTF-8 may hold, and XML may not."""


def questions(dump: Dump, read: Counter[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the tags of every question as they are written, and its day.

    Args:
        dump: The dump.
        read: Counts how many questions there are, and how many rows are wrong or invented.

    Raises:
        InputError: The dump cannot be read, or is none.
        UnsureError: It has to be read row by row; then nothing that was yielded counts.
    """
    seen, closed = SeenIds(), False
    with opened(dump.path) as (file, size, head):
        for block in track(blocks(file, head=head), -(-size // SIZE) or None, "reading the dump"):
            told: Iterable[Told] | None = _usual(block.data)
            if told is None:
                rows, ends = block.rows()
                told, closed = _with_care(rows, seen, read), closed or ends
            for number, tags, day in told:
                if number in seen:
                    read["malformed rows"] += 1
                    continue
                seen.add(number)
                if day is not None:
                    read["questions"] += 1
                    yield tags, day
    if not closed:
        read["malformed rows"] += 1


def _with_care(rows: Iterable[RawRow], seen: SeenIds, read: Counter[str]) -> Iterator[Told]:
    """Yield the posts of a block that has rows of another form; what is none is only counted."""
    for row in rows:
        if not row.wrong and (usual := _usual(row.data)):
            yield from usual
            continue
        post = read_post(row)
        if isinstance(post, BadRow):
            read["malformed rows"] += 1
        elif not post.fabricated:
            yield post.post_id, post.tags, post.date[:10] if post.kind == QUESTION else None
        elif post.post_id in seen:
            read["malformed rows"] += 1
        else:
            seen.add(post.post_id)
            read[FABRICATED] += 1


def _usual(data: bytes) -> list[Told] | None:
    """Return the posts of some rows, None when not all of them are of the usual form."""
    rows = _USUAL.findall(data)
    letters = np.frombuffer(data, np.uint8)
    if len(rows) != np.count_nonzero(letters == ord("<")) or not _is_sound(data, letters):
        return None
    found: list[Told] = []
    for number, kind, parent, written, title, labels in rows:
        day, tags = _day(written), None
        if kind == b"1" and day is not None and _is_title(title):
            tags = _tags(labels)
        elif kind != b"1" and (parent or kind != b"2"):
            tags = ()
        if day is None or tags is None or number in FABRICATED_AS_WRITTEN:
            return None
        found.append((int(number), tags, day if kind == b"1" else None))
    return found


def _is_sound(data: bytes, letters: NDArray[np.uint8]) -> bool:
    """Return whether bytes are UTF-8 that XML allows, with no references but the usual ones."""
    low = letters[letters < 32]
    if ((low != 9) & (low != 10) & (low != 13)).any() or any(no_letter in data for no_letter in _NO_LETTERS):
        return False
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    places = np.flatnonzero(letters == ord("&"))
    if not places.size:
        return True
    if places[-1] + 5 >= len(data):
        return False
    fours = np.ndarray(len(data) - 3, "<u4", data, strides=(1,))[places + 1]
    threes = fours & 0xFFFFFF
    others = (threes != _OF_THREE[0]) & (threes != _OF_THREE[1])
    places, fours = places[others], fours[others]
    known = (fours == _OF_FIVE[0]) | (fours == _OF_FIVE[1])
    known &= letters[places + 5] == ord(";")
    for four in _OF_FOUR:
        known |= fours == four
    return bool(known.all())


@lru_cache(100_000)
def _day(written: bytes) -> str | None:
    """Return a day, "" for none, None when there is no such day."""
    try:
        return date.fromisoformat(written.decode()).isoformat() if written else ""
    except ValueError:
        return None


@lru_cache(100_000)
def _tags(labels: bytes) -> tuple[str, ...] | None:
    """Return the tags that a value stands for, None when it is of no usual form."""
    if _STRANGE.search(labels):
        return None
    return split_tags(labels.decode().replace("&lt;", "<").replace("&gt;", ">"))


def _is_title(title: bytes) -> bool:
    """Return whether anything is left of a title without its white space."""
    return bool((_NUMBERED.sub(b" ", title) if b"&#" in title else title).decode().split())
