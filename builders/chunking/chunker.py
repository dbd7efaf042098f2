"""From one file to its chunks: the same ones in every process, within a time, whatever the file is."""

from dataclasses import dataclass

from builders.chunking.counting import Counted, tokenizer
from builders.chunking.deadline import Deadline, OutOfTimeError
from builders.chunking.decoding import decode
from builders.chunking.grammars import grammar_of, parse, plain
from builders.chunking.languages import NOTEBOOK, TEXT, language_of
from builders.chunking.notebooks import Cell, read_notebook
from builders.chunking.pdf import is_pdf, read_pdf
from builders.chunking.prose import Source, Span, cut_text, without_crumbs
from builders.chunking.records import Chunk, Chunked, Refused
from builders.chunking.syntax import Pieces, cut_tree, join
from freshstack_datasets.errors import InputError, shown

LEAST = 16
"""The smallest limit: any character has fewer tokens."""
_BYTES = 32
"""Bytes that a chunk may have for each token of the limit."""


@dataclass(frozen=True)
class Chunker:
    """Cuts files into chunks.

    Args:
        encoding: The tokenizer that counts, by tiktoken's name.
        limit: How many tokens a chunk may have.
        fast: Whether a faster tokenizer reads the files; the chunks are the same.
        seconds_per_file: After how long a file is given up. Its result then depends on the machine, so this is to
            keep one file from holding up a build, and no way to make one fast.

    Raises:
        InputError: The limit is too small for one character.
    """

    encoding: str = "cl100k_base"
    limit: int = 2048
    fast: bool = False
    seconds_per_file: float = 60.0

    def __post_init__(self) -> None:
        if self.limit < LEAST:
            raise InputError("a limit too small for chunks", expected=f"{LEAST} tokens or more", got=shown(self.limit))

    def chunk(self, path: str, data: bytes) -> Chunked | Refused:
        """Return the chunks of a file, or why it has none.

        Args:
            path: Where the file is in its repository; its name tells the language.
            data: What the file holds.

        Raises:
            MissingExtraError: A library or a vocabulary is not installed.
            UnknownNameError: tiktoken has no tokenizer of that name.
            InputError: The tokenizer cannot be had.
        """
        deadline = Deadline(self.seconds_per_file)
        made_of_pdf = is_pdf(path, data)
        try:
            text = read_pdf(data, deadline) if made_of_pdf else decode(data)
            if isinstance(text, Refused):
                return text
            if not text.strip():
                return Refused("empty", "nothing but white space")
            return self._chunked(TEXT if made_of_pdf else language_of(path, text), text, deadline)
        except OutOfTimeError:
            return Refused("timeout", f"it took more than {self.seconds_per_file:g} seconds")

    def _chunked(self, language: str, text: str, deadline: Deadline) -> Chunked | Refused:
        cells: tuple[Cell, ...] = ()
        if language == NOTEBOOK:
            notebook = read_notebook(text)
            if isinstance(notebook, Refused):
                return notebook
            text, cells = notebook.text, notebook.cells
        raw = text.encode()
        counter = tokenizer(self.encoding, self.fast)
        source = Source(Counted(text, raw, counter, deadline), self.limit, self.limit * _BYTES, deadline)
        how, spans = _spans(source, language, cells)
        chunks = _chunks(text, raw, [piece for span in spans for piece in _settled(source, span)], source)
        return Chunked(text, language, how, chunks)


def _spans(source: Source, language: str, cells: tuple[Cell, ...]) -> tuple[str, list[Span]]:
    """Return what the cuts follow, and pieces that fit as far as the whole text's tokens tell."""
    end = len(source.counted.raw)
    if source.fits(0, end):
        return "whole", [(0, end)]
    if language == NOTEBOOK:
        pieces: Pieces = Pieces()
        for cell in cells:
            pieces = join(source, pieces, _section(source, cell.language, cell.start, cell.end)[1])
        return "notebook", without_crumbs(source, list(pieces))
    how, pieces = _section(source, language, 0, end)
    return how, without_crumbs(source, list(pieces))


def _section(source: Source, language: str, start: int, end: int) -> tuple[str, Pieces]:
    """Return the pieces of a part that is in one language, and what its cuts follow."""
    if source.fits(start, end):
        return "text", Pieces([(start, end)])
    part = source.counted.raw[start:end]
    tree = parse(grammar_of(language), plain(part), source.deadline) if language != TEXT else None
    if tree is None:
        return "text", Pieces(cut_text(source, start, end))
    return "syntax", cut_tree(source, tree.root_node, start, end, base=start)


def _settled(source: Source, span: Span) -> list[tuple[int, int, int]]:
    """Return a piece with its tokens counted alone, cut further if these are too many after all."""
    settled = []
    stack = [(span, source.limit)]
    while stack:
        source.deadline.check()
        (start, end), allowed = stack.pop()
        tokens = source.counted.exactly(start, end)
        if tokens <= source.limit and end - start <= source.most:
            settled.append((start, end, tokens))
            continue
        # the whole text's tokens say fewer than there are: allow fewer of them, and fewer than these are at any rate
        allowed = max(1, min(allowed - (tokens - source.limit), (source.counted.about(start, end) + 1) // 2))
        smaller = Source(source.counted, allowed, source.most, source.deadline)
        stack.extend((part, allowed) for part in reversed(cut_text(smaller, start, end)))
    return settled


def _chunks(text: str, raw: bytes, pieces: list[tuple[int, int, int]], source: Source) -> tuple[Chunk, ...]:
    """Return the pieces that hold more than white space, with their places in characters."""
    chunks = []
    at = 0
    plain = len(text) == len(raw)
    for start, end, tokens in pieces:
        length = end - start if plain else len(raw[start:end].decode())
        piece = text[at : at + length]
        if not piece.isspace():
            chunks.append(Chunk(at, at + length, start, end, piece, tokens))
        at += length
    return tuple(chunks)
