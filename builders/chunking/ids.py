"""Ids of chunks: ``repository/path_start_end``, in characters, no two the same whatever letters a path holds."""

import re

from builders.chunking.records import Chunk

_ESCAPED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|%(?=0[0-9A-F]|1[0-9A-F]|25|7F|[89A-F][0-9A-F])")
"""Letters that an id cannot hold, and a percent sign that would read as one of them."""


def chunk_id(prefix: str, path: str, chunk: Chunk) -> str:
    """Return the id of a chunk.

    A control character, a line break of any kind and a byte of a path that is no UTF-8 are written as ``%`` and two
    upper-case digits for each byte; so is a percent sign where the path itself has such a thing.

    Args:
        prefix: The last part of the repository's name, or its alias.
        path: The path in the repository; bytes that are no UTF-8 as ``os.fsdecode`` has them.
        chunk: The chunk.
    """
    return f"{prefix}/{_ESCAPED.sub(_percent, path)}_{chunk.start}_{chunk.end}"


def _percent(found: re.Match[str]) -> str:
    letter = found.group()
    errors = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"
    return "".join(f"%{byte:02X}" for byte in letter.encode(errors=errors))
