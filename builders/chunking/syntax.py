"""Cutting a text along its syntax tree: nodes that fit stay whole, and small neighbours are put together.

No function calls itself here: a tree can be deeper than Python's stack.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from builders.chunking.prose import Source, Span, cut_text, whole_letter

if TYPE_CHECKING:
    from tree_sitter import Node

Pieces = deque[Span]
"""Pieces that follow each other, no two neighbours of which fit into one."""


@dataclass(slots=True)
class _Open:
    """A node that is too long, on the way through its children."""

    todo: "list[tuple[Node, int, int]]"
    done: Pieces = field(default_factory=deque)


def cut_tree(source: Source, root: "Node", start: int, end: int, base: int = 0) -> Pieces:
    """Return pieces that follow each other from ``start`` to ``end`` and all fit.

    Args:
        source: The whole text.
        root: The tree of ``start`` to ``end``.
        start: The first byte.
        end: The byte after the last.
        base: Where in the text the tree's own counting of bytes begins.
    """
    stack = [_Open([(root, start, end)])]
    while True:
        source.deadline.check()
        top = stack[-1]
        if not top.todo:
            stack.pop()
            if not stack:
                return top.done
            stack[-1].done = join(source, stack[-1].done, top.done)
            continue
        node, first, last = top.todo.pop()
        if source.fits(first, last):
            top.done = join(source, top.done, deque([(first, last)]))
        elif children := _tiles(source.counted.raw, node, first, last, base):
            stack.append(_Open(children))
        else:
            top.done = join(source, top.done, deque(cut_text(source, first, last)))


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


def _tiles(raw: bytes, node: "Node", start: int, end: int, base: int) -> "list[tuple[Node, int, int]]":
    """Return the children of a node with the bytes that each stands for, the last child first.

    What is between two children belongs to the one before, but for the indentation of the one after.
    """
    tiles: list[tuple[Node, int, int]] = []
    children = node.children
    for child in reversed(children[1:]):
        begin = max(start, min(end, _line_start(raw, child.start_byte + base, start)))
        if begin < end:
            tiles.append((child, begin, end))
            end = begin
    if children and start < end:
        tiles.append((children[0], start, end))
    return tiles


def _line_start(raw: bytes, at: int, least: int) -> int:
    """Return the start of the line if only white space is before that place in it, else the place."""
    begin = at
    while begin > least and raw[begin - 1] in b" \t":
        begin -= 1
    return begin if begin == 0 or raw[begin - 1] == 10 else whole_letter(raw, at)
