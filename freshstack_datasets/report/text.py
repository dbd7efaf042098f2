"""Foreign text in SVG and HTML: whatever it holds, it is shown as text and cannot break a line or a page."""

import html
import unicodedata
from functools import lru_cache

_EMS = {
    **dict.fromkeys("ijl|'`.,:;!", 0.32),
    **dict.fromkeys('ft()[]{}/\\-r" I', 0.4),
    **dict.fromkeys("mwMW@%…—", 0.96),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&#<>=+~", 0.76),
}
"""How wide letters are in font sizes: those of a wide sans-serif font, since a text must not run into the next."""

_LETTER = 0.64
_IDEOGRAPH = 1.0

_REVERSING = {chr(code) for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_UNKNOWN = "\ufffd"


def plain(text: str) -> str:
    """Return the text on one line, without letters that XML forbids or that turn the direction of their neighbours.

    Args:
        text: Anything, from anyone. Tabs and line breaks become spaces; other such letters become U+FFFD.
    """
    return text if text.isprintable() else "".join(map(_letter, text))


def _letter(letter: str) -> str:
    if letter in "\t\n\r\x85\u2028\u2029":
        return " "
    unsafe = unicodedata.category(letter) in ("Cc", "Cs") or letter in _REVERSING
    return _UNKNOWN if unsafe or ord(letter) & 0xFFFE == 0xFFFE else letter


def escaped(text: str) -> str:
    """Return the text for the inside of an element or of a quoted attribute, in HTML as in SVG."""
    return html.escape(plain(text))


def width_of(text: str, size: float) -> float:
    """Return how wide the text is, about, when it is set in a sans-serif font of that size."""
    return sum(map(_ems, text)) * size


@lru_cache(4096)
def _ems(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return _IDEOGRAPH
    return _EMS.get(letter, _LETTER)


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
        if used + _EMS["…"] * size <= room:
            cut = count + 1
        if used > room:
            return text[:cut].rstrip() + "…"
    return text
