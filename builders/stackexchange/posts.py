"""Stack Exchange posts, one at a time, out of a dump: each is typed and checked, or named as a row that is wrong."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from xml.parsers import expat

from builders.stackexchange.dump import Dump, RawRow
from freshstack_datasets.errors import shown

QUESTION, ANSWER = 1, 2

FABRICATED_IDS = (1_000_000_001, 1_000_000_010)
"""Of the question and the answer that were invented, when their owner is -1; meta.stackexchange.com/q/412018."""
FABRICATED_AS_WRITTEN = frozenset(str(number).encode() for number in FABRICATED_IDS)
"""The same as the bytes of a dump have them."""

_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)
_SCORE = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z?)?", re.ASCII)
_TAG_MARKS = re.compile(r"[<>|]+")
_VISIBLE_ID = re.compile(rb"\sId\s*=\s*[\"']([^\"'<]{1,40})[\"']")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Post:
    """A post of a dump, with the attributes that a builder needs.

    Args:
        line: Its line in the dump, from 1.
        post_id: Its id, positive.
        kind: Its type: 1 a question, 2 an answer, others as the dump's documentation lists them.
        date: When it was written, ISO 8601, "" when the dump does not say.
        score: Up-votes less down-votes, None when the dump does not say.
        body: Its HTML.
        title: A question's title, its white space reduced to single spaces.
        tags: A question's tags.
        accepted: The id of a question's accepted answer.
        parent: The id of an answer's question.
        owner: The id of the user who wrote it; None when the account is deleted.
        owner_name: The name that is left of a deleted account.
        license: Its licence, "" when the dump does not say.
    """

    line: int
    post_id: int
    kind: int
    date: str
    score: int | None
    body: str
    title: str
    tags: tuple[str, ...]
    accepted: int | None
    parent: int | None
    owner: int | None
    owner_name: str
    license: str

    @property
    def fabricated(self) -> bool:
        """Return whether this is one of the two invented posts that dumps since mid-2025 hold to mark copies."""
        return self.post_id in FABRICATED_IDS and self.owner == -1


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that is no post.

    Args:
        line: Its line in the dump, from 1.
        post_id: Its id as it stands there, "" when none can be seen.
        reason: What is wrong, one of a few phrases, to be counted by.
        detail: The same with the value that is wrong.
    """

    line: int
    post_id: str
    reason: str
    detail: str = ""


class SeenIds:
    """A set of positive integers that is small when they are dense: a bit each."""

    _PAGE = 8192

    def __init__(self) -> None:
        self._pages: dict[int, bytearray | set[int]] = {}

    def __contains__(self, number: int) -> bool:
        page = self._pages.get(number // self._PAGE)
        place = number % self._PAGE
        if isinstance(page, bytearray):
            return bool(page[place >> 3] & 1 << (place & 7))
        return page is not None and place in page

    def add(self, number: int) -> None:
        """Add a number.

        A page begins as a set and becomes bits when that is smaller, so that ids strewn far apart cost about as much
        as in a set.
        """
        page = self._pages.setdefault(number // self._PAGE, set())
        place = number % self._PAGE
        if isinstance(page, bytearray):
            page[place >> 3] |= 1 << (place & 7)
            return
        page.add(place)
        if len(page) > self._PAGE // 256:
            bits = bytearray(self._PAGE >> 3)
            for other in page:
                bits[other >> 3] |= 1 << (other & 7)
            self._pages[number // self._PAGE] = bits


class _RowError(Exception):
    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


def read_posts(dump: Dump, seen: SeenIds) -> Iterator[Post | BadRow]:
    """Yield every row of a dump as a post, or as a row that is wrong and why.

    Args:
        dump: The dump.
        seen: Filled with the id of every post that was yielded; an id that is in it already is a duplicate.

    Raises:
        InputError: The file cannot be read, or is no posts dump.
    """
    for row in dump.rows():
        post = read_post(row)
        if isinstance(post, Post):
            if post.post_id in seen:
                post = duplicate(post)
            else:
                seen.add(post.post_id)
        yield post


def read_post(row: RawRow) -> Post | BadRow:
    """Return a row as a post, or as a row that is wrong and why."""
    try:
        return _post(row)
    except _RowError as wrong:
        return BadRow(row.line, _visible_id(row.data), wrong.reason, wrong.detail)


def duplicate(post: Post) -> BadRow:
    """Return what is wrong with a post whose id another post before it has."""
    return BadRow(post.line, str(post.post_id), "duplicate Id", f"Id {post.post_id} was there before")


def split_tags(text: str) -> tuple[str, ...]:
    """Return the tags of a question, in either spelling: ``<a><b>`` or ``|a|b|``."""
    return tuple(tag for tag in (part.strip() for part in _TAG_MARKS.split(text)) if tag)


def _post(row: RawRow) -> Post:
    if row.wrong:
        raise _RowError(row.wrong)
    values = _attributes(row.data)
    kind = _number(values, "PostTypeId")
    post = Post(
        line=row.line,
        post_id=_number(values, "Id"),
        kind=kind,
        date=_date(values),
        score=_integer(values, "Score"),
        body=values.get("Body", ""),
        title=" ".join(values.get("Title", "").split()),
        tags=split_tags(values.get("Tags", "")),
        accepted=_number(values, "AcceptedAnswerId") if values.get("AcceptedAnswerId") else None,
        parent=_number(values, "ParentId") if kind == ANSWER else None,
        owner=_integer(values, "OwnerUserId"),
        owner_name=" ".join(values.get("OwnerDisplayName", "").split()),
        license=" ".join(values.get("ContentLicense", "").split()),
    )
    if kind > 99 or len(post.license) > 100 or not post.license.isprintable():
        raise _RowError("PostTypeId or ContentLicense is none that exists", shown(kind if kind > 99 else post.license))
    if kind == QUESTION and not post.title:
        raise _RowError("a question without Title")
    return post


def _attributes(data: bytes) -> dict[str, str]:
    """Return a row's attributes.

    The row is all that the parser sees: there is no place for a declaration, so no entity but XML's own five exists.
    """
    parser = expat.ParserCreate("utf-8")
    found: dict[str, str] = {}
    parser.StartElementHandler = lambda _, attributes: found.update(attributes)
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, UnicodeDecodeError) as error:
        raise _xml_problem(data, error) from None
    return found


def _xml_problem(data: bytes, error: Exception) -> _RowError:
    try:
        data.decode()
    except UnicodeDecodeError as undecodable:
        bad = data[undecodable.start : undecodable.start + 4]
        return _RowError("not UTF-8", f"byte {undecodable.start} of the row: {shown(bad)}")
    if control := _CONTROL.search(data):
        return _RowError("a control character", f"{shown(control.group())} at byte {control.start()} of the row")
    text = str(error).partition(":")[0]
    return _RowError("malformed XML", f"{text} at byte {getattr(error, 'offset', 0)} of the row")


def _number(values: dict[str, str], name: str) -> int:
    value = values.get(name)
    if value is None:
        raise _RowError(f"no {name}")
    if not _NUMBER.fullmatch(value) or not int(value):
        raise _RowError(f"{name} is no positive number", shown(value))
    return int(value)


def _integer(values: dict[str, str], name: str) -> int | None:
    value = values.get(name)
    if value is None or value == "":
        return None
    if not _SCORE.fullmatch(value):
        raise _RowError(f"{name} is no number", shown(value))
    return int(value)


def _date(values: dict[str, str]) -> str:
    value = values.get("CreationDate", "")
    if value:
        try:
            if not _DATE.fullmatch(value):
                raise ValueError
            datetime.fromisoformat(value)
        except ValueError:
            raise _RowError("CreationDate is no date", shown(value)) from None
    return value


def _visible_id(data: bytes) -> str:
    found = _VISIBLE_ID.search(data, 0, 2000)
    return found[1].decode("utf-8", "replace") if found else ""
