"""HTML of posts as text: code, lists, links, images, headings, quotes and tables stay readable, as Markdown.

- Code blocks are fenced, with their exact white space and their language; inline code stands in backticks.
- A link is ``[text](url)``, or the bare address where that is its text; an image is ``![alternative text](url)``.
- Bold and italics leave no marks: they would only get between words. Raised text gets a ``^``: 10^6 is not 106.
"""

import re
from typing import TYPE_CHECKING

from builders.html.markdown import MarkdownWriter, fence_for
from builders.html.tree import BLOCKS, address, content, language, walk
from freshstack_datasets.errors import MissingExtraError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_TAGS = 20_000
"""Tags that a body may have to be laid out; a browser's rules for misnested tags cost the square of their number."""

_MOST_COPIES = 200_000
_FORMATTING = re.compile(r"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/]", re.IGNORECASE)
_VISIBLE = re.compile(r"[^\s\u00ad\u200b-\u200f\u2060\ufeff]")
_TAG = re.compile(r"<[/!?a-zA-Z][^<>]*>?")
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}


def html_parser() -> "type[LexborHTMLParser]":
    """Return the parser's class.

    Raises:
        MissingExtraError: selectolax is not installed.
    """
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        raise MissingExtraError("selectolax", "build") from error
    return LexborHTMLParser


def html_to_text(html: str) -> str:
    """Return the text of a piece of HTML, laid out as Markdown.

    It never fails on bad HTML, and its time is bounded: a body with more than ``MOST_TAGS`` tags, or whose misnested
    tags would multiply, only loses its tags.

    Args:
        html: HTML as a browser takes it, a whole page or a part.

    Raises:
        MissingExtraError: selectolax is not installed.
    """
    parser = html_parser()
    if not html.isascii():
        html = html.encode("utf-8", "replace").decode()  # halves of surrogate pairs
    tags = html.count("<")
    root = None if tags > MOST_TAGS or _would_multiply(html, tags) else parser(html).body
    text = _without_tags(html) if root is None else _Layout().of(root)
    return text if _VISIBLE.search(text) else ""


def _would_multiply(html: str, tags: int) -> bool:
    """Return whether formatting tags that are never closed could be copied into too many other elements.

    Three of a kind are copied at most, by HTML's rules, unless their attributes differ.
    """
    return tags > 500 and len(_FORMATTING.findall(html)) * tags > _MOST_COPIES


def _without_tags(html: str) -> str:
    from html import unescape

    return unescape(_TAG.sub(" ", html)).strip()


class _Layout:
    """One walk over a tree, with a stack of its own: pages nest deeper than Python's."""

    def __init__(self) -> None:
        self._out = MarkdownWriter()
        self._links: list[tuple[int, str]] = []
        self._lists: list[int | None] = []  # the next number of every open list, None when it has none
        self._row: list[str] = []  # the cells so far of the open row; nested tables are laid out flat
        self._cells: list[int] = []  # the marks of open cells
        self._heads = 0  # header cells of the open row
        self._first_row = False

    def of(self, root: "LexborNode") -> str:
        for node, entering in walk(root):
            tag = node.tag or ""
            if tag == "-text":
                self._out.text(node.text_content or "")
            elif tag == "pre":
                if entering:
                    self._code_block(node)
            elif tag == "code":
                if entering and node.css_first("br, pre") is None:
                    self._code(content(node))
                elif entering:
                    self._code_block(node)
            elif self._cells and tag not in ("td", "th"):
                self._within_cell(node, tag, entering)
            else:
                self._element(node, tag, entering)
        self._end_links()
        return self._out.result()

    def _element(self, node: "LexborNode", tag: str, entering: bool) -> None:
        if tag in BLOCKS:
            self._block()
        elif tag in _HEADINGS:
            self._contained(entering, _HEADINGS[tag], "")
        elif tag == "blockquote":
            self._contained(entering, "> ", "> ")
        elif tag in ("ul", "ol", "menu"):
            self._list(node, tag, entering)
        elif tag == "li":
            self._item(entering)
        elif tag == "hr":
            if entering:
                self._block()
                self._out.text("---")
                self._block()
        elif tag in ("table", "tr", "td", "th"):
            self._table(tag, entering)
        else:
            self._inline(node, tag, entering)

    def _within_cell(self, node: "LexborNode", tag: str, entering: bool) -> None:
        """Lay out a cell's content on one line, whatever it is."""
        if tag in BLOCKS or tag in _HEADINGS or tag in ("blockquote", "ul", "ol", "menu", "li", "hr", "br", "tr"):
            self._out.text(" ")
        else:
            self._inline(node, tag, entering)

    def _inline(self, node: "LexborNode", tag: str, entering: bool) -> None:
        if tag == "a":
            self._link(node, entering)
        elif entering and tag == "img":
            self._image(node)
        elif entering and tag == "br":
            self._out.line_break()
        elif entering and tag == "sup":
            self._out.text("^")

    def _block(self, gap: int = 1) -> None:
        self._end_links()
        self._out.block(gap)

    def _contained(self, entering: bool, first: str, rest: str) -> None:
        self._block()
        if entering:
            self._out.enter(first, rest)
        else:
            self._out.leave()

    def _list(self, node: "LexborNode", tag: str, entering: bool) -> None:
        if entering:
            self._block(0 if self._lists else 1)
            start = node.attributes.get("start") or "1" if tag == "ol" else None
            self._lists.append(None if start is None else int(start) if re.fullmatch(r"[0-9]{1,6}", start) else 1)
        else:
            self._lists.pop()
            self._block(0 if self._lists else 1)

    def _item(self, entering: bool) -> None:
        self._block(0)
        if not entering:
            self._out.leave()
            return
        number = self._lists[-1] if self._lists else None
        mark = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1
        self._out.enter(mark, " " * len(mark))

    def _link(self, node: "LexborNode", entering: bool) -> None:
        if entering:
            self._links.append((self._out.mark(), address(node.attributes.get("href"))))
        elif self._links:
            self._end_link()

    def _end_links(self) -> None:
        while self._links:
            self._end_link()

    def _end_link(self) -> None:
        mark, url = self._links.pop()
        text = self._out.taken_from(mark)
        words = " ".join(text.split())
        if not url or not words:
            self._out.verbatim(text)
            return
        bare = words in (url, url.removeprefix("mailto:"))
        before, after = " " * text.startswith((" ", "\n")), " " * text.endswith((" ", "\n"))
        self._out.verbatim(f"{before}{words if bare else f'[{words}]({url})'}{after}")

    def _image(self, node: "LexborNode") -> None:
        alternative = " ".join((node.attributes.get("alt") or "").split())
        url = address(node.attributes.get("src"))
        self._out.verbatim(f"![{alternative}]({url})" if url else alternative)

    def _code(self, text: str) -> None:
        text = text.replace("\n", " ")
        if not text.strip():
            self._out.text(text)
            return
        fence = fence_for(text, 1)
        pad = " " if text.startswith("`") or text.endswith("`") else ""
        self._out.verbatim(f"{fence}{pad}{text}{pad}{fence}")

    def _code_block(self, node: "LexborNode") -> None:
        text = content(node)
        if self._cells:
            self._code(text.strip())
        elif text:
            self._end_links()
            self._out.code(text, language(node))

    def _table(self, tag: str, entering: bool) -> None:
        if tag in ("td", "th"):
            self._cell(tag, entering)
        elif tag == "tr":
            self._table_row(entering)
        else:
            self._block()
            self._first_row = entering

    def _table_row(self, entering: bool) -> None:
        self._block(0)
        if not entering and any(self._row):
            self._out.line(f"| {' | '.join(self._row)} |")
            if self._first_row and self._heads:
                self._out.line("| " + " | ".join("---" for _ in self._row) + " |")
            self._first_row = False
        self._row, self._heads = [], 0

    def _cell(self, tag: str, entering: bool) -> None:
        if entering:
            self._cells.append(self._out.mark())
            return
        mark = self._cells.pop()
        if self._cells:
            self._out.text(" ")
            return
        self._end_links()
        text = " ".join(self._out.taken_from(mark).split())
        self._row.append(text.replace("|", "\\|"))
        self._heads += tag == "th"
