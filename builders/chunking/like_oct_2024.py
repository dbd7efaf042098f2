"""The chunks of the corpora published in October 2024: the same ids and texts, with what was wrong in them.

They were cut along syntax trees too. But the places that a tree counts in bytes were taken for characters, so that
ids and texts are shifted together after any letter beyond ASCII; pieces of a long leaf are counted from the leaf's
start; letters beyond ASCII are missing from ids; and many files were left out. This mode is there to compare with what
was published, and for nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from builders.chunking.deadline import Deadline, OutOfTimeError
from builders.chunking.grammars import nearly_as_it_is, parse
from builders.chunking.records import Chunk, Chunked, Refused
from builders.chunking.scripts_oct_2024 import script_of
from builders.tokens import encoding
from freshstack_datasets.errors import MissingExtraError

if TYPE_CHECKING:
    from tree_sitter import Node

_ENCODING = "cl100k_base"
_EXCLUDED = {".png", ".gif", ".bin", ".jpg", ".jpeg", ".mp4", ".csv", ".json"}
_CHARACTERS = 1_000_000
"""Files of so many characters or more were left out."""
_CHUNKS = 100
"""Files of more chunks were left out."""
_SLACK = 50
"""Neighbours were put together when so many tokens stayed free."""


class _StoppedError(Exception):
    """The published tools would have stopped at this file with an error."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a text, which is the file or one leaf of its tree, as places of characters."""

    content: str
    start: int
    end: int
    tokens: int


@dataclass(frozen=True)
class LikeOct2024:
    """Cuts files as those of October 2024 were cut.

    ``start`` and ``end`` of its chunks, and ``start_byte`` and ``end_byte``, are the two numbers of the published id;
    the text is what was published under it, which is the file's at these places only where all letters are ASCII.

    Of a notebook, ``text`` is the script that was made of it.

    Args:
        repository: Owner and name, which were counted with the path in front of every chunk.
        limit: How many tokens path and chunk may have together.
        seconds_per_file: After how long a file is given up.
    """

    repository: str
    limit: int = 2048
    seconds_per_file: float = 60.0

    def chunk(self, path: str, data: bytes) -> Chunked | Refused:
        """Return the chunks of a file, or why it had none.

        Args:
            path: Where the file is in its repository.
            data: What the file holds.

        Raises:
            MissingExtraError: A library is not installed.
        """
        if PurePosixPath(path).suffix.lower() in _EXCLUDED:
            return Refused("excluded", "files with this end were left out")
        if any(part.startswith(".") for part in path.split("/")):
            return Refused("excluded", "hidden files and folders were left out")
        try:
            text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            return Refused("encoding", "files that are no UTF-8 were left out")
        if len(text) >= _CHARACTERS:
            return Refused("too-large", f"files of {_CHARACTERS:,} characters or more were left out")
        if path.lower().endswith(".ipynb"):
            script = script_of(text)
            if isinstance(script, Refused):
                return script
            path, text = path.replace(".ipynb", ".py"), script
        try:
            return self._chunked(path, text)
        except OutOfTimeError:
            return Refused("timeout", f"it took more than {self.seconds_per_file:g} seconds")
        except _StoppedError:
            return Refused("stopped", "the published tools stopped at a chunk of too many tokens")

    def _chunked(self, path: str, text: str) -> Chunked | Refused:
        language = _language(f"{self.repository}/{path}")
        cutter = _Cutter(f"{self.repository}/{path}\n\n", self.limit, Deadline(self.seconds_per_file))
        if not text.strip():
            return Refused("empty", "nothing but white space")
        if language in (None, "text only"):
            how, pieces = "text", cutter.text(text)
        else:
            tree = parse(language, nearly_as_it_is(text), cutter.deadline)
            if tree is None:
                return Refused("no-grammar", f"files in {language} that no grammar read were left out")
            how, pieces = "syntax", cutter.tree(tree.root_node, text)
        if len(pieces) > _CHUNKS:
            return Refused("too-many-chunks", f"files of more than {_CHUNKS} chunks were left out")
        chunks = tuple(_chunk(piece) for piece in pieces if piece.content[piece.start : piece.end].strip())
        return Chunked(text, language or "text", how, chunks)


def published_id(prefix: str, path: str, chunk: Chunk) -> str:
    """Return the id that a chunk had, which several may share: without the letters of its path that are not ASCII.

    Args:
        prefix: The last part of the repository's name.
        path: The path in the repository.
        chunk: The chunk.
    """
    if path.lower().endswith(
        ".ipynb"
    ):  # the name was changed to that of a script, and back, wherever it has these letters
        path = path.replace(".ipynb", ".py").replace(".py", ".ipynb")
    return f"{prefix}/{path.encode('ascii', 'ignore').decode()}_{chunk.start}_{chunk.end}"


def _chunk(piece: _Piece) -> Chunk:
    text = piece.content[piece.start : piece.end]
    return Chunk(piece.start, piece.end, piece.start, piece.end, text, piece.tokens)


def _language(path: str) -> str | None:
    """Return the name that Pygments has for a file's language, in lower case, which was taken for a grammar's."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return str(get_lexer_for_filename(path).name).lower()
    except ClassNotFound:
        return None


@dataclass(slots=True)
class _Open:
    """A node that is too long, on the way through its children."""

    todo: "list[Node]"
    done: list[_Piece]


class _Cutter:
    """Cuts one file.

    Args:
        front: What is counted in front of every chunk.
        limit: How many tokens both may have.
        deadline: The time that this may take.
    """

    def __init__(self, front: str, limit: int, deadline: Deadline) -> None:
        encode = encoding(_ENCODING).encode_ordinary
        self._count: Callable[[str], int] = lambda text: len(encode(text))
        self._front = front
        self._limit = limit
        self.deadline = deadline

    def tree(self, root: "Node", text: str) -> list[_Piece]:
        """Return the pieces of a file by its syntax tree."""
        stack = [_Open([root], [])]
        while True:
            top = stack[-1]
            if not top.todo:
                stack.pop()
                if not stack:
                    return top.done
                stack[-1].done += self._merged(top.done, text)
                continue
            node = top.todo.pop()
            piece = self._piece(text, node.start_byte, node.end_byte)
            if piece.tokens <= self._limit:
                top.done.append(piece)
            elif children := node.children:
                stack.append(_Open(children[::-1], []))
            else:
                top.done += self.text(text[node.start_byte : node.end_byte])

    def text(self, content: str) -> list[_Piece]:
        """Return the pieces of a text, or of a leaf, as semchunk cuts it; places are counted from its start."""
        try:
            from semchunk.semchunk import chunk
        except ImportError as error:
            raise MissingExtraError("semchunk", "build") from error

        pieces: list[_Piece] = []
        start = 0
        for part in chunk(content, self._limit - self._count(self._front), self._timed, memoize=False):
            if self._count(str(part)) > self._limit - self._count(self._front):
                raise _StoppedError
            found = content.find(str(part), start)
            start = found + len(part) if found >= 0 else 0
            if found >= 0:
                pieces.append(self._piece(content, found, start))
        return pieces

    def _timed(self, text: str) -> int:
        self.deadline.check()
        return self._count(text)

    def _piece(self, content: str, start: int, end: int) -> _Piece:
        return _Piece(content, start, end, self._timed(self._front + content[start:end]))

    def _merged(self, pieces: list[_Piece], text: str) -> list[_Piece]:
        """Return the pieces of a node with small neighbours put together, as places of the file whatever they were."""
        if any(piece.tokens > self._limit for piece in pieces):
            raise _StoppedError
        merged: list[_Piece] = []
        for piece in pieces:
            if merged and merged[-1].tokens + piece.tokens < self._limit - _SLACK:
                both = self._piece(text, merged[-1].start, piece.end)
                if both.tokens <= self._limit:
                    merged[-1] = both
                    continue
            merged.append(piece)
        return merged
