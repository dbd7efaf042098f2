"""Reading gzip, however it was put together.

The standard library's reader looks at long names, at padding and at empty parts byte by byte, or part by part, in
Python: a file of fifty megabytes that holds nothing else would keep it busy for minutes.
"""

import zlib
from typing import BinaryIO

_GZIP = 31
"""What tells zlib that the data has gzip's head and tail; the tail's length and check are compared."""

_PIECE = 1 << 13
"""Bytes that are decompressed at once; what is left of them is copied for every part that ends within."""

MOST_EMPTY = 10_000
"""Parts in a row that may hold nothing."""


class Gunzip:
    """The bytes of a gzip file: those of all its parts, one after the other.

    Args:
        file: The file, open for reading.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rest = b""
        self._part = zlib.decompressobj(_GZIP)
        self._inside = self._begun = False
        self._empty = 0

    def read1(self, most: int) -> bytes:
        """Return some of the next bytes, b"" at the end.

        Args:
            most: How many at most.

        Raises:
            EOFError: The file ends within a part.
            zlib.error: It is damaged, or no gzip at all.
        """
        while True:
            self._rest = self._rest or self._file.read(_PIECE)
            if self._begun and not self._inside and self._rest:
                self._rest = self._rest.lstrip(b"\0")  # as tapes pad files
                if not self._rest:
                    continue
            if not self._rest and not self._inside:
                return b""
            ended = not self._rest
            data = self._decompressed(most)
            if data:
                self._empty = 0
                return data
            if ended and self._inside:
                raise EOFError
            if self._empty > MOST_EMPTY:
                raise zlib.error(f"more than {MOST_EMPTY:,} parts without a byte")

    def _decompressed(self, most: int) -> bytes:
        if not self._inside:
            self._part = zlib.decompressobj(_GZIP)
            self._inside = self._begun = True
        data = self._part.decompress(self._rest, most)
        self._rest = self._part.unconsumed_tail
        if self._part.eof:
            self._rest, self._inside = self._part.unused_data, False
            self._empty += 1
        return data
