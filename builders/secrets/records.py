"""Texts that are looked into, and what is found in them. Nothing here holds a secret."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A text with an id, or one of the pieces that a file was cut into.

    Args:
        id: The id of the document, query or nugget.
        text: What it says.
        line: The line of the file that it starts in, counted from 1; 0 for what is in no file, such as a title.
        start: Its first character in the file.
    """

    id: str
    text: str
    line: int = 1
    start: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """A place where a secret seems to be.

    Args:
        id: The id of the document, query or nugget; of a secret in several documents, the first one's.
        path: The file, or the column of a table; "" when it is in none.
        line: The line, counted from 1, of the file or else of the text; 0 when it is in an id, a path, a title or an
            address.
        kind: The rule that found it, such as ``github-pat``.
        digest: What the text was when this was found.
    """

    id: str
    path: str
    line: int
    kind: str
    digest: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is known by when it is accepted. No line: in the same text it is the same."""
        return self.id, self.kind, self.digest

    def __str__(self) -> str:
        line = f"{self.path}:{self.line}" if self.path else f"line {self.line}"
        place = line if self.line else self.path or "id, title or address"
        return f"{self.kind} in {self.id}, {place}"
