"""Reading selectolax's tree of a page: a walk that nests as deep as the page does, and what single elements say."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LANGUAGE = re.compile(r"(?:^|\s)lang(?:uage)?-([A-Za-z0-9][\w+#.-]{0,30})")
_NO_ADDRESS = re.compile(r"(?:javascript|vbscript|data):", re.IGNORECASE)
_IGNORED = re.compile(r"[\x00-\x20]+")
# fmt: off
BLOCKS = frozenset({
    "address", "article", "aside", "body", "caption", "center", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "main", "nav", "p", "section", "summary",
})
# fmt: on
_LINES = BLOCKS | {
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "menu",
    "ol",
    "pre",
    "table",
    "tr",
    "ul",
}
_SILENT = frozenset({"head", "noscript", "script", "style", "template", "title", "-comment"})


def walk(root: "LexborNode", *, whole: bool = False) -> Iterator["tuple[LexborNode, bool]"]:
    """Yield every node that is shown on entering it, and elements again on leaving them.

    Args:
        root: Where to begin.
        whole: Whether to go into code too, which else is yielded as one.
    """
    leaves = ("-text",) if whole else ("-text", "pre", "code")
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag
        silent = tag in _SILENT
        if not silent:
            yield node, True
        child = None if silent or tag in leaves else node.child
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
    """Return all text within a node as it is: line breaks for ``<br>`` and around blocks, images by their words."""
    parts: list[str] = []
    for inner, entering in walk(node, whole=True):
        tag = inner.tag
        if tag == "-text":
            parts.append(inner.text_content or "")
        elif tag == "br" and entering:
            parts.append("\n")
        elif tag == "img" and entering:
            parts.append(inner.attributes.get("alt") or "")
        elif tag in _LINES and inner.mem_id != node.mem_id and parts and not parts[-1].endswith("\n"):
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
    return "" if _NO_ADDRESS.match(_IGNORED.sub("", found)) else re.sub(r"\s", "%20", found)
