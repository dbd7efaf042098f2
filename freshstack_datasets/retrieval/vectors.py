"""The vectors of a corpus: made a block of documents at a time, kept on disk, and read memory-mapped."""

import hashlib
import json
import logging
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import length_hint
from pathlib import Path
from tempfile import TemporaryFile
from tokenize import TokenError

import numpy as np
from numpy.typing import NDArray

from freshstack_datasets.errors import InputError, RecordError, shown, shown_path
from freshstack_datasets.files import atomic_file
from freshstack_datasets.home import home
from freshstack_datasets.progress import track
from freshstack_datasets.records import Document
from freshstack_datasets.retrieval.encoders import Encoded, Encoder, Role
from freshstack_datasets.retrieval.given import collection

log = logging.getLogger(__name__)

FORMAT = 1
"""Raised whenever the way from a text to a vector that is kept changes."""
_LARGEST = 4
"""How many times more documents than is usual a block may have."""
_ROWS = 8192
_KEPT = re.compile(r"([0-9a-f]{32})-([0-9]{1,9})-([0-9a-f]{8})\.npy")
"""A block's file: the digest of what was encoded, how many texts were cut, and the checksum of the vectors."""


@dataclass(frozen=True)
class Vectors:
    """The vectors of a corpus.

    Args:
        doc_ids: The documents in ascending order.
        matrix: Their vectors in that order, one a row; on disk unless nothing may be kept.
        cut: How many documents are longer than the model takes.
    """

    doc_ids: tuple[str, ...]
    matrix: NDArray[np.float32]
    cut: int

    @cached_property
    def longest(self) -> float:
        """The length of the longest vector."""
        parts = (self.matrix[at : at + _ROWS].astype(np.float64) for at in range(0, len(self.matrix), _ROWS))
        return max((float(np.sqrt((part * part).sum(axis=1).max())) for part in parts), default=0.0)


class Maker:
    """Makes vectors of documents, and keeps every block, so that whoever was interrupted goes on behind the last one.

    Blocks begin where the texts themselves say so: in a corpus that has changed here and there, the other blocks are
    those that are kept.

    Args:
        encoder: Makes vectors of texts.
        prefix: What is put before a document; None for what the model itself asks for.
        normalised: Whether vectors are brought to the length of 1.
        keep: The folder for what is kept, None to keep nothing on disk.
    """

    def __init__(self, encoder: Encoder, prefix: str | None, *, normalised: bool, keep: Path | None) -> None:
        self._encoder, self._prefix, self._normalised = encoder, prefix, normalised
        self._folder = None if keep is None else keep / self._key()
        self._known = self._listed()

    def made(self, documents: Collection[Document]) -> Vectors:
        """Return the vectors of documents by their ``default_text``; one that says nothing has zeros.

        Raises:
            InputError: Something in the corpus is no document, or the encoder returns no vectors.
            RecordError: A document id comes twice.
        """
        collection(documents, "the corpus", "documents")
        taken: Iterable[Document] = documents
        if not self._encoder.shows_progress:
            taken = track(documents, length_hint(documents) or None, "encoding documents", "documents")
        doc_ids: list[str] = []
        blocks: list[Path | NDArray[np.float32]] = []
        dimensions = total = 0
        for ids, texts in _blocks(taken, self._encoder.at_once):
            block, width, cut = self._block(texts)
            if dimensions and width not in (0, dimensions):
                got = f"{dimensions} and {width} dimensions"
                raise InputError("an encoder's vectors", expected="one length", got=got)
            doc_ids += ids
            blocks.append(block)
            dimensions, total = dimensions or width, total + cut
        order = _order(doc_ids)
        matrix = self._space(len(doc_ids), dimensions)
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        start = 0
        for block in blocks:
            rows = mapped(block) if isinstance(block, Path) else block
            if rows is None:
                raise InputError(f"{shown_path(str(block))} has changed", hint="index the documents again")
            matrix[place[start : start + len(rows)], : rows.shape[1]] = rows
            start += len(rows)
        return Vectors(tuple(doc_ids[at] for at in order), matrix, total)

    def _block(self, texts: Sequence[str]) -> tuple[Path | NDArray[np.float32], int, int]:
        """Return where the vectors of some texts are kept, or the vectors, their length, and how many were cut."""
        digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]
        if (path := self._known.get(digest)) is not None:
            if (found := _whole(path, len(texts))) is not None:
                return path, found.shape[1], _cut(path)
            log.info("a block of vectors is damaged and made anew: %s", path)
            path.unlink(missing_ok=True)
        made = encoded(self._encoder, texts, "document", self._prefix)
        vectors = np.ascontiguousarray(unit(made.vectors) if self._normalised else made.vectors, "<f4")
        if self._folder is None or not vectors.size:
            return vectors, vectors.shape[1], made.cut
        path = self._folder / f"{digest}-{made.cut}-{_checksum(vectors):08x}.npy"
        try:
            with atomic_file(path) as work, work.open("wb") as stream:
                np.save(stream, vectors, allow_pickle=False)
        except (InputError, OSError) as error:
            log.warning("vectors are not kept: %s", error)
            self._folder = None
            return vectors, vectors.shape[1], made.cut
        return path, vectors.shape[1], made.cut

    def _space(self, rows: int, columns: int) -> NDArray[np.float32]:
        """Return room for all vectors, zeros: in a file that goes with the process, or in memory if none can be kept.

        The file is written before it is mapped: a disk that is full then says so.
        """
        if self._folder is None or not rows * columns:
            return np.zeros((rows, columns), np.float32)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self._folder) as file:
                zeros = np.zeros((min(rows, _ROWS), columns), "<f4").tobytes()
                for at in range(0, rows, _ROWS):
                    file.write(zeros[: (min(rows, at + _ROWS) - at) * columns * 4])
                file.flush()
                found: NDArray[np.float32] = np.memmap(file, "<f4", "r+", shape=(rows, columns))
        except OSError as error:
            log.warning("vectors stay in memory: %s", error)
            return np.zeros((rows, columns), np.float32)
        return found.view(np.ndarray)

    def _key(self) -> str:
        """Return a name that differs whenever the vectors of the same texts could."""
        told = [FORMAT, dict(self._encoder.identity), self._prefix, self._normalised]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]

    def _listed(self) -> dict[str, Path]:
        if self._folder is None or not self._folder.is_dir():
            return {}
        named = ((_KEPT.fullmatch(path.name), path) for path in self._folder.iterdir())
        return {match[1]: path for match, path in named if match}


def default_folder() -> Path:
    """Return the folder for vectors in the folder for what is kept between runs."""
    return home() / "embeddings"


def encoded(encoder: Encoder, texts: Sequence[str], role: Role, prefix: str | None) -> Encoded:
    """Return the vectors of texts, checked; a text that says nothing is not encoded, and has zeros.

    Raises:
        InputError: The encoder returns something else, or a number that is not finite.
    """
    saying = [at for at, text in enumerate(texts) if text.strip()]
    if not saying:
        return Encoded(np.zeros((len(texts), 0), np.float32))
    made = encoder.encode([texts[at] for at in saying], role, prefix)
    vectors = np.asarray(made.vectors, np.float32)
    if vectors.ndim != 2 or len(vectors) != len(saying) or not vectors.shape[1] or not np.isfinite(vectors).all():
        expected = f"{len(saying)} vectors of finite numbers"
        raise InputError("an encoder's vectors", expected=expected, got=f"{shown(vectors)} of shape {vectors.shape}")
    if len(saying) == len(texts):
        return Encoded(vectors, made.cut)
    every = np.zeros((len(texts), vectors.shape[1]), np.float32)
    every[saying] = vectors
    return Encoded(every, made.cut)


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors brought to the length of 1; those of zeros stay as they are."""
    doubles = vectors.astype(np.float64)
    lengths = np.sqrt((doubles * doubles).sum(axis=1, keepdims=True))
    return np.asarray(doubles / np.where(lengths > 0, lengths, 1), np.float32)


def mapped(path: Path) -> NDArray[np.float32] | None:
    """Return a file's vectors without reading them, None when it holds none; this never meets a pickle."""
    try:
        found = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, TokenError):  # the last from a damaged header, which numpy parses as Python
        return None
    return found.view(np.ndarray) if found.ndim == 2 and found.dtype == np.dtype("<f4") else None


def _whole(path: Path, rows: int) -> NDArray[np.float32] | None:
    """Return the vectors of a block, None when its file is not as it was written."""
    found, match = mapped(path), _KEPT.fullmatch(path.name)
    if found is None or match is None or len(found) != rows:
        return None
    return found if _checksum(found) == int(match[3], 16) else None


def _checksum(vectors: NDArray[np.float32]) -> int:
    return zlib.crc32(vectors.tobytes())


def _cut(path: Path) -> int:
    match = _KEPT.fullmatch(path.name)
    return int(match[2]) if match else 0


def _order(doc_ids: Sequence[str]) -> list[int]:
    """Return the places of ids in ascending order, when each comes once."""
    order = sorted(range(len(doc_ids)), key=doc_ids.__getitem__)
    for a, z in pairwise(order):
        if doc_ids[a] == doc_ids[z]:
            raise RecordError(f"document {shown(doc_ids[a])}", expected="each id once in the corpus", got="it twice")
    return order


def _blocks(documents: Iterable[Document], usual: int) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the ids and the texts of documents, a block at a time, which ends with a text that has a certain digest."""
    ids: list[str] = []
    texts: list[str] = []
    for document in documents:
        if not isinstance(document, Document):
            raise InputError("the corpus", expected="documents", got=f"{shown(document)} ({type(document).__name__})")
        ids.append(document.doc_id)
        texts.append(text := document.default_text())
        ends = zlib.crc32(text.encode("utf-8", "replace")) % usual == 0
        if ends or len(texts) >= _LARGEST * usual:
            yield ids, texts
            ids, texts = [], []
    if texts:
        yield ids, texts
