"""Reading selectolax's tree of a page: a walk that nests as deep as the page does, and what single elements say."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LANGUAGE = re.compile(r"(?:^|\s)lang(?:uage)?-([A-Za-z0-9][\w+#.-]{0,30})")
_ADDRESS = re.compile(r"(?:https?:|ftp:|mailto:|/|#)", re.IGNORECASE)
_SILENT = frozenset({"head", "noscript", "script", "style", "template", "title", "-comment"})


def walk(root: "LexborNode") -> Iterator["tuple[LexborNode, bool]"]:
    """Yield every node on entering it, and elements again on leaving them; code, and what is never shown, as one."""
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag
        silent = tag in _SILENT
        if not silent:
            yield node, True
        child = None if silent or tag in ("-text", "pre", "code") else node.child
        while child is None and node is not None:
            if not silent and node.tag != "-text":
                yield node, False
            silent = False
            if node.mem_id == root.mem_id:
                return
            child = node.next
            if child is None:
                node = node.parent
        node = child


def content(node: "LexborNode") -> str:
    """Return all text within a node as it is, line breaks for ``<br>``."""
    parts: list[str] = []
    for inner in node.traverse(include_text=True):
        if inner.tag == "-text":
            parts.append(inner.text_content or "")
        elif inner.tag == "br":
            parts.append("\n")
    return "".join(parts)


def language(node: "LexborNode") -> str:
    """Return the language that a code block's class names, or that of the code element in it."""
    child = node.child
    for candidate in (node, child):
        if candidate is not None and candidate.tag in ("pre", "code"):
            found = _LANGUAGE.search(candidate.attributes.get("class") or "")
            if found and found[1] != "none":
                return found[1]
    return ""


def address(value: str | None) -> str:
    """Return an address that a link can hold, "" when it is none: scripts and images as data are not."""
    found = (value or "").strip()
    return re.sub(r"\s", "%20", found) if _ADDRESS.match(found) else ""
