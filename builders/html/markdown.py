"""Writes Markdown piece by piece: blocks with blank lines between them, within lists and quotes.

Code keeps its exact white space and for that reason is never indented, not even within a list: what a snapshot holds is
read by retrievers and models, not drawn by a browser.
"""

import re
from dataclasses import dataclass

DEEPEST = 16
"""Lists and quotes within each other that still get a prefix; a page of hostile ones would else be all prefix."""

_BACKTICKS = re.compile(r"`+")


@dataclass
class _Container:
    first: str
    rest: str
    used: bool = False


def fence_for(text: str, least: int) -> str:
    """Return more backticks than any run of them in the text.

    Args:
        text: The text to stand between two of them.
        least: How many to return at least.
    """
    return "`" * max(least, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))


class MarkdownWriter:
    """Takes inline text and blocks in the order of a page and puts them together.

    White space in inline text is reduced as a browser does it; a block that holds nothing leaves nothing.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._inline: list[str] = []
        self._containers: list[_Container] = []
        self._deeper = 0  # containers within the deepest one
        self._gap = 0  # blank lines due before the next block

    def text(self, text: str) -> None:
        """Add inline text."""
        for space in "\n\t\r\f":
            text = text.replace(space, " ")
        while "  " in text:  # several times as fast as a regular expression
            text = text.replace("  ", " ")
        if text.startswith(" ") and (not self._inline or self._inline[-1].endswith((" ", "\n"))):
            text = text[1:]
        if text:
            self._inline.append(text)

    def verbatim(self, text: str) -> None:
        """Add inline text whose white space is kept, such as code."""
        if text:
            self._inline.append(text)

    def line_break(self) -> None:
        """Go on on a new line of the same block."""
        self._inline.append("\n")

    def mark(self) -> int:
        """Return the place in the current block where the next inline text goes."""
        return len(self._inline)

    def taken_from(self, mark: int) -> str:
        """Take back the inline text that was added since a mark."""
        text = "".join(self._inline[mark:])
        del self._inline[mark:]
        return text

    def block(self, gap: int) -> None:
        """End the current block, and let at least this many blank lines follow."""
        if self._inline:
            lines = "".join(self._inline).strip(" \n").split("\n")
            self._inline = []
            if lines != [""]:
                self._emit([line.strip(" ") for line in lines])
        self._gap = max(self._gap, gap)

    def code(self, text: str, language: str) -> None:
        """Add a block of code, white space and all."""
        fence = fence_for(text, 3)
        self.block(1)
        self._separate()
        for container in self._containers:
            if not container.used:  # an item that begins with code still shows its mark
                self._lines.append(self._prefix().rstrip(" "))
                break
        body = text if text.endswith("\n") else text + "\n"
        self._lines.append(f"{fence}{language}\n{body}{fence}")
        self._gap = 1

    def line(self, text: str) -> None:
        """Add a line that is a block of its own kind, such as a row of a table; no blank line follows by itself."""
        self.block(0)
        self._emit([text])

    def enter(self, first: str, rest: str) -> None:
        """Begin a list's item, a quote or a heading.

        Args:
            first: What stands before its first line.
            rest: What stands before its other lines.
        """
        if self._deeper or len(self._containers) >= DEEPEST:
            self._deeper += 1
        else:
            self._containers.append(_Container(first, rest))

    def leave(self) -> None:
        """End what was entered last."""
        if self._deeper:
            self._deeper -= 1
        else:
            self._containers.pop()

    def result(self) -> str:
        """Return all that was written."""
        self.block(0)
        return "\n".join(self._lines)

    def _emit(self, lines: list[str]) -> None:
        self._separate()
        self._lines += [(self._prefix() + line).rstrip(" ") for line in lines]

    def _separate(self) -> None:
        if self._lines and self._gap:
            self._lines.append("".join(c.rest for c in self._containers if c.used).rstrip(" "))
        self._gap = 0

    def _prefix(self) -> str:
        prefix = "".join(c.rest if c.used else c.first for c in self._containers)
        for container in self._containers:
            container.used = True
        return prefix
