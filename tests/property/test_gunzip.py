"""Gzip read as the standard library reads it, and odd files of it without its slowness."""

import gzip
import io
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freshstack_datasets.runs.gunzip import MOST_EMPTY, Gunzip


def read(content: bytes, most: int = 1 << 22) -> bytes | None:
    """Return what a gzip file holds, None where it is damaged."""
    source, parts = Gunzip(io.BytesIO(content)), []
    try:
        while part := source.read1(most):
            assert len(part) <= most
            parts.append(part)
    except (EOFError, zlib.error):
        return None
    return b"".join(parts)


def by_the_library(content: bytes) -> bytes | None:
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error):
        return None


texts = st.binary(max_size=200) | st.integers(1, 300_000).map(lambda size: b"abc\n" * size)


@given(st.lists(texts, max_size=4), st.integers(0, 20), st.sampled_from([1, 1000, 1 << 22]))
def test_parts_and_padding_are_read_as_the_library_reads_them(contents, zeros, most):
    content = b"".join(map(gzip.compress, contents)) + b"\0" * zeros
    if not contents:
        content = b""
    sizes = sum(map(len, contents))
    assert read(content, most if sizes < 10_000 else 1 << 16) == b"".join(contents)


@given(st.binary(max_size=300), st.data())
def test_damage_is_found_wherever_the_library_finds_it(text, data):
    content = bytearray(gzip.compress(text) + gzip.compress(b"end"))
    place = data.draw(st.integers(10, len(content) - 1))  # behind the head, whose flags zlib looks at more closely
    if data.draw(st.booleans()):
        content[place] ^= data.draw(st.integers(1, 255))
    else:
        del content[place:]
    wanted = by_the_library(bytes(content))
    found = read(bytes(content))
    assert found is None if wanted is None else found in (wanted, None)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (gzip.compress(b"a") + b"\0" * 40_000_000, b"a"),
        (b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"n" * 40_000_000, None),  # a name without an end
        (gzip.compress(b"") * MOST_EMPTY + gzip.compress(b"a"), b"a"),
        (gzip.compress(b"") * 1_000_000, None),
    ],
)
def test_padding_names_and_empty_parts_take_no_time(content, text):
    # The library's reader takes a minute for each but the third.
    assert read(content) == text
