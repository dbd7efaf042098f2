"""What becomes of a file: its chunks, or why it has none."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a file's text.

    Args:
        start: First character, counted from 0.
        end: The character after the last one.
        start_byte: The same as ``start`` in the bytes of the text as UTF-8.
        end_byte: The same as ``end`` in these bytes.
        text: The characters from ``start`` to ``end``, exactly.
        tokens: How many tokens the text has.
    """

    start: int
    end: int
    start_byte: int
    end_byte: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Chunked:
    """A file that was read, with its chunks in their order.

    Args:
        text: The file as text, which the chunks point into; of a notebook, the text that was made of its cells,
            and of a PDF that of its pages.
        language: What it is written in, such as ``python``; "text" when no name tells.
        how: What the cuts follow: "whole" (the file is one chunk), "syntax", "text" or "notebook".
        chunks: Not empty, and together all of the text but white space.
    """

    text: str
    language: str
    how: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that no chunks are made of.

    Args:
        reason: Which rule: "empty", "binary", "encoding", "notebook", "pdf", "scanned",
            "missing-extra", "timeout"; the compatible mode has its own.
        detail: What was found, for people.
    """

    reason: str
    detail: str
