"""The fields of a post that somebody else wrote: each is checked and brought into one form, or refused."""

import re
from datetime import UTC, datetime
from typing import Literal

from builders.html.text import html_to_text
from freshstack_datasets.errors import RecordError, shown
from freshstack_datasets.records import check_id

Format = Literal["text", "markdown", "html"]

_LONGEST_ID = 500
_LONGEST_LINE = 2_000
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?P<time>[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?",
    re.ASCII,
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # not what joins letters or emoji, which cannot be seen either
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]+")


class BadEntryError(Exception):
    """An entry that is no question and no answer.

    Args:
        reason: What is wrong, one of a few phrases, to be counted by.
        detail: The same with the value that is wrong.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail

    def among(self, malformed: str) -> str:
        """Return what entries like this one are counted as.

        Args:
            malformed: What entries are called that are wrong in themselves.
        """
        return f"{malformed}: {self.reason}"


class LeftOutError(BadEntryError):
    """An entry that is well-formed but cannot be used; the reason says what such entries are."""

    def among(self, malformed: str) -> str:
        """Return what entries like this one are counted as."""
        return self.reason


def identifier(value: str | int) -> str:
    """Return an id as a text.

    Raises:
        BadEntryError: It is empty or very long, or holds a tab, a line break, a NUL or half a surrogate pair.
    """
    try:
        text = check_id(str(value), "post")
    except (RecordError, ValueError) as error:  # ValueError: a number of too many digits
        raise BadEntryError("an id that cannot be one", shown(str(error))) from None
    if len(text) > _LONGEST_ID or "\0" in text or not text.strip():
        raise BadEntryError("an id that cannot be one", shown(text))
    return text


def visible_id(value: object) -> str:
    """Return what can be shown of the id of an entry that is wrong, "" when none is to be seen."""
    found = value.get("id") if isinstance(value, dict) else None
    return line(str(found)[:100]) if isinstance(found, str) or (type(found) is int and abs(found) < 10**50) else ""


def day(value: str | None) -> str:
    """Return a date as ISO 8601 in UTC, or without a zone where none is known; "" for None.

    Raises:
        BadEntryError: It is no date.
    """
    if not value:
        return ""
    found = _DATE.fullmatch(value)
    try:
        if found is None:
            raise ValueError
        moment = datetime.fromisoformat(value)
        if found["zone"] and found["zone"] != "Z":
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadEntryError("a date that is none", shown(value)) from None
    if not found["time"]:
        return value
    return moment.replace(tzinfo=None).isoformat() + ("Z" if found["zone"] else "")


def line(value: str | None) -> str:
    """Return a text on one line, its white space reduced to single spaces; "" for None."""
    return " ".join(_CONTROL.sub(" ", whole(value)).split()) if value else ""


def address(value: str | None) -> str | None:
    """Return the address of a page.

    Raises:
        BadEntryError: It does not begin with ``http://`` or ``https://``, or holds what no address does.
    """
    if not value:
        return None
    if len(value) > _LONGEST_LINE or not value.isprintable() or not _ADDRESS.fullmatch(value):
        raise BadEntryError("an address that is none", shown(value))
    return value


def short(value: str | None) -> str | None:
    """Return a name, such as an author's or a licence's, on one line; None when nothing is left of it."""
    return line(value)[:_LONGEST_LINE] or None


def body(value: str | None, form: Format | None = None) -> str:
    """Return what a post says: HTML as text, all else as it is but for its line ends.

    Args:
        value: What it says.
        form: What it is written in; plain text when not given.
    """
    text = whole(value or "")
    return html_to_text(text) if form == "html" else text.replace("\r\n", "\n").replace("\r", "\n")


def whole(text: str) -> str:
    """Return a text with U+FFFD for each NUL and each half of a surrogate pair, which programs make that cut texts."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")
