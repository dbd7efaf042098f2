"""How deep tags are nested in each other, before a grammar keeps all that are open at every one of its moves."""

import re

_TAG = re.compile(rb"<(/?)([A-Za-z][^\s/>]*)|(/>)")
_VOID = frozenset(
    b"area base br col embed hr img input link meta param source track wbr !doctype".split()  # what HTML never closes
)
_BESIDE = {
    b"p": {b"p"}, b"li": {b"li"}, b"tr": {b"tr"}, b"td": {b"td", b"th", b"tr"}, b"th": {b"td", b"th", b"tr"},
    b"dt": {b"dt", b"dd"}, b"dd": {b"dt", b"dd"},
}  # fmt: skip
"""By an open tag, those that end it."""
_KEPT = 50_000_000
"""How many open tags may be kept, in all moves together: 10,000 tags one in the other, or 500,000 at a depth of 100."""


def too_deep(raw: bytes) -> bool:
    """Return whether so many tags are open at so many places that a grammar would take long to keep them."""
    stack: list[bytes] = []
    open_: dict[bytes, int] = {}
    kept = 0
    for found in _TAG.finditer(raw):
        closes, name, itself = found.groups()
        name = stack[-1] if itself and stack else (name or b"").lower()
        if closes or itself:
            while open_.get(name):
                last = stack.pop()
                open_[last] -= 1
                if last == name:
                    break
        elif name not in _VOID:
            while stack and name in _BESIDE.get(stack[-1], ()):
                open_[stack.pop()] -= 1
            stack.append(name)
            open_[name] = open_.get(name, 0) + 1
        kept += len(stack)
        if kept > _KEPT:
            return True
    return False
