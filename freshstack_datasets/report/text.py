"""Foreign text in SVG and HTML: whatever it holds, it is shown as text and cannot break a line or a page."""

import unicodedata

from freshstack_datasets.errors import InputError, shown

WIDE_LETTER = 1.0
"""The width of a Chinese, Japanese or Korean letter in font sizes."""

LETTER = 0.56
"""The width that a letter is taken to have, in font sizes: a little more than sans-serif fonts average."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_REVERSING = {chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_UNKNOWN = "\ufffd"


def plain(text: str) -> str:
    """Return the text on one line, without letters that XML forbids or that turn the direction of their neighbours.

    Args:
        text: Anything, from anyone. Tabs and line breaks become spaces; other such letters become U+FFFD.
    """
    return "".join(map(_letter, text))


def _letter(letter: str) -> str:
    if letter in "\t\n\r\x85\u2028\u2029":
        return " "
    unsafe = unicodedata.category(letter) in ("Cc", "Cs") or letter in _REVERSING
    return _UNKNOWN if unsafe or ord(letter) & 0xFFFE == 0xFFFE else letter


def escaped(text: str) -> str:
    """Return the text for the inside of an element or of a quoted attribute, in HTML as in SVG."""
    return "".join(_ENTITIES.get(letter, letter) for letter in plain(text))


def width_of(text: str, size: float) -> float:
    """Return how wide the text is, about, when it is set in a sans-serif font of that size."""
    return sum(map(_ems, text)) * size


def _ems(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    return WIDE_LETTER if unicodedata.east_asian_width(letter) in "WF" else LETTER


def shortened(text: str, room: float, size: float) -> str:
    """Return the text, or as much of its beginning as fits, with an ellipsis.

    Args:
        text: The text.
        room: How much room there is.
        size: The font's size, in the same unit.
    """
    text = plain(text)
    used, cut = 0.0, 0
    for count, letter in enumerate(text):
        used += _ems(letter) * size
        if used + LETTER * size <= room:
            cut = count + 1
        if used > room:
            return text[:cut].rstrip() + "…"
    return text


def checked_class(name: str) -> str:
    """Return the name of a class or an id; refuse what could leave its attribute."""
    if not name or not name.replace("-", "").replace(" ", "").isalnum() or not name.isascii():
        raise InputError(f"{shown(name)} is no class name", expected="ASCII letters, digits and hyphens")
    return name
