"""Cutting a text that no grammar reads: at a blank line, else a line, else a sentence, else a space, else anywhere."""

import re
from dataclasses import dataclass

from builders.chunking.counting import Counted
from builders.chunking.deadline import Deadline

_BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_LINE = re.compile(rb"\n")
_SENTENCE = re.compile(rb"[.!?;:][\"')\]]*[ \t]|\xe3\x80\x82|\xef\xbc\x81|\xef\xbc\x9f")  # or 。！？
_BETWEEN = re.compile(rb"[\s,;>)\]}]")
_PLACES = (_BLANK_LINE, _LINE, _SENTENCE, _BETWEEN)

Span = tuple[int, int]
"""The first byte of a piece and the one after its last."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text to be cut.

    Args:
        counted: The text with its tokens.
        limit: How many tokens a piece may have.
        most: How many bytes a piece may have: thousands of spaces are a few tokens, and nothing to read.
        deadline: The time that this may take.
    """

    counted: Counted
    limit: int
    most: int
    deadline: Deadline

    def furthest(self, start: int) -> int:
        """Return the last place up to which bytes from there can be one piece, as ``fits`` tells it."""
        return min(self.counted.reach(start, self.limit), start + self.most)

    def fits(self, start: int, end: int) -> bool:
        """Return whether these bytes can be one piece, as far as the whole text's tokens tell."""
        return end - start <= self.most and self.counted.about(start, end) <= self.limit


def whole_letter(raw: bytes, at: int) -> int:
    """Return the place, or the one before it, where a character begins."""
    while 0 < at < len(raw) and raw[at] & 0xC0 == 0x80:
        at -= 1
    return at


def cut_text(source: Source, start: int, end: int) -> list[Span]:
    """Return pieces that follow each other from ``start`` to ``end`` and all fit."""
    pieces = []
    while not source.fits(start, end):
        source.deadline.check()
        cut = _cut(source, start, end)
        pieces.append((start, cut))
        start = cut
    pieces.append((start, end))
    return pieces


def _cut(source: Source, start: int, end: int) -> int:
    """Return where the first piece ends: at the best place that leaves it more than half full."""
    raw = source.counted.raw
    furthest = min(source.counted.reach(start, source.limit), start + source.most, end)
    furthest = whole_letter(raw, furthest)
    if furthest <= start:  # a character of more tokens than a piece may have, which counting piece by piece can feign
        return min(end, start + 4 if whole_letter(raw, start + 4) == start else whole_letter(raw, start + 4))
    middle = start + (furthest - start) // 2
    for place in _PLACES:
        found = None
        for found in place.finditer(raw, middle, furthest):  # noqa: B007 - the last one is meant
            pass
        if found:
            return found.end()
    return furthest


_CRUMB = 64
"""A piece of less than this part of the limit is put to a neighbour."""


def without_crumbs(source: Source, pieces: list[Span]) -> list[Span]:
    """Return the pieces with none that is tiny, if there is another: a heading, say, before a section that just fits.

    A tiny piece and its neighbour are too long for one, so they are cut anew, at a good place near their middle.
    """
    whole: list[Span] = []
    for piece in pieces:
        if whole and _CRUMB * min(source.counted.about(*whole[-1]), source.counted.about(*piece)) < source.limit:
            start, end = whole.pop()[0], piece[1]
            allowed = -(-2 * source.counted.about(start, end) // 3)
            whole += cut_text(
                Source(source.counted, min(allowed, source.limit), source.most, source.deadline), start, end
            )
        else:
            whole.append(piece)
    return whole
