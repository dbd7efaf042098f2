"""Cutting a text along its syntax tree: nodes that fit stay whole, and small neighbours are put together.

No function calls itself here: a tree can be deeper than Python's stack.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from builders.chunking.prose import Source, Span, cut_text, whole_letter

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOK = 4_096
"""Bytes that are looked at together for being blank."""
_OPENED, _BYTES_A_NODE = 10_000, 64
"""So many nodes are looked into, and one more for every so many bytes; what is too long within is then cut as text. A file
has one for 800 bytes or so, but a hundred thousand exclamation marks are as many nodes, each in the one before."""

Pieces = deque[Span]
"""Pieces that follow each other, no two neighbours of which fit into one."""


@dataclass(slots=True)
class _Open:
    """A node that is too long, on the way through its children.

    What is between two children belongs to the one before, but for the indentation of the one after.

    Args:
        children: The children.
        start: The node's first byte.
        end: The byte after its last.
        at: How many children are in pieces already.
        done: These pieces.
    """

    children: "Sequence[Node]"
    start: int
    end: int
    at: int = 0
    done: Pieces = field(default_factory=deque)


def cut_tree(source: Source, root: "Node", start: int, end: int, base: int = 0) -> Pieces:
    """Return pieces that follow each other from ``start`` to ``end`` and all fit.

    Args:
        source: The whole text.
        root: The tree of ``start`` to ``end``, which together do not fit.
        start: The first byte.
        end: The byte after the last.
        base: Where in the text the tree's own counting of bytes begins.
    """
    raw = source.counted.raw
    stack = [_Open([root], start, end)]
    left = _OPENED + (end - start) // _BYTES_A_NODE
    while True:
        source.deadline.check()
        top = stack[-1]
        if top.at == len(top.children):
            stack.pop()
            if not stack:
                return top.done
            stack[-1].done = join(source, stack[-1].done, top.done)
            continue
        first, last = _border(raw, top, top.at, base), _border(raw, top, top.at + 1, base)
        if _grown(source, top, first, base):
            continue
        children = top.children[top.at].children if left else ()
        top.at += 1
        if children:
            left -= 1
            stack.append(_Open(children, first, last))
        else:
            top.done = join(source, top.done, deque(cut_text(source, first, last)))


def _grown(source: Source, top: _Open, first: int, base: int) -> bool:
    """Put as many children as fit to the last piece, or else into a new one; return whether there were any.

    Args:
        source: The whole text.
        top: The node.
        first: Where its next child begins.
        base: Where in the text the tree's own counting of bytes begins.
    """
    many = len(top.children)
    for start in (top.done[-1][0], first) if top.done else (first,):
        furthest = source.furthest(start)
        at = bisect_right(
            range(many + 1),
            furthest,
            top.at + 1,
            many + 1,
            key=lambda child: _border(source.counted.raw, top, child, base),
        )
        if at > top.at + 1:
            last = _border(source.counted.raw, top, at - 1, base)
            if start < first:
                top.done[-1] = (start, last)
            elif first < last:
                top.done.append((first, last))
            top.at = at - 1
            return True
    return False


def _border(raw: bytes, node: _Open, child: int, base: int) -> int:
    """Return where a child begins, or after the last one the node ends."""
    if child == 0:
        return node.start
    if child == len(node.children):
        return node.end
    return max(node.start, min(node.end, _line_start(raw, node.children[child].start_byte + base, node.start)))


def join(source: Source, left: Pieces, right: Pieces) -> Pieces:
    """Return the pieces of both, the two that meet as one if they fit; either may be changed for it."""
    if not left or not right:
        return left or right
    if source.fits(left[-1][0], right[0][1]):
        left[-1] = (left[-1][0], right.popleft()[1])
    if len(left) >= len(right):
        left.extend(right)
        return left
    right.extendleft(reversed(left))
    return right


def _line_start(raw: bytes, at: int, least: int) -> int:
    """Return the start of the line if only white space is before that place in it, else the place."""
    begin = at
    while begin > least and raw[begin - 1] in b" \t":
        before = raw[max(least, begin - _LOOK) : begin]
        begin -= len(before) - len(before.rstrip(b" \t"))
    return begin if begin == 0 or raw[begin - 1] == 10 else whole_letter(raw, at)
