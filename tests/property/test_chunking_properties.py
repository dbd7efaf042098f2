"""Whatever a file holds: chunks are exact, complete, within the limit, and the same each time."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.chunking import Chunked, Chunker, chunk_id
from builders.tokens import encoding

PIECES = st.sampled_from([
    "def f(x):\n    return x\n\n", "x", " ", "\t", "\n", "\r\n", "\r", "\n\n", "    ", "é", "日本語", "👩‍👩‍👧", "e\u0301", "\u2028",
    "\u3000", "\u00a0", "\x0c", "\x0b", "\x85", "'s", "'ſ", "I'LL", "12345", "/", "//", "\n/", ".\n/", "}\n  }\n", "# Title\n", "- a\n",
    "> b\n", "```\n", "<div>", "</div>\n", "{", "}", "(", ")", "[", "]", ";\n", "\"", "`", "<|endoftext|>", "a" * 60, "=" * 80, " " * 90,
])  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=6), max_size=120).map("".join)
SUFFIXES = st.sampled_from(["py", "md", "rst", "html", "yaml", "js", "cpp", "sh", "txt", "json", "rb", "php", "vue"])
ENCODINGS = st.sampled_from(["cl100k_base", "o200k_base"])


@given(text=TEXTS, suffix=SUFFIXES, name=ENCODINGS, limit=st.integers(16, 120))
@settings(max_examples=300, deadline=None)
def test_chunks_are_exact_complete_and_within_the_limit(text, suffix, name, limit):
    chunker = Chunker(encoding=name, limit=limit)
    data = text.encode(errors="replace")
    result = chunker.chunk(f"a.{suffix}", data)
    if not isinstance(result, Chunked):
        assert not text.strip() or "\0" in text or data.startswith((b"\xef\xbb\xbf",))
        return
    raw = result.text.encode()
    assert result.text == data.decode("utf-8-sig")
    at = 0
    for chunk in result.chunks:
        assert chunk.text == result.text[chunk.start : chunk.end] == raw[chunk.start_byte : chunk.end_byte].decode()
        assert not result.text[at : chunk.start].strip()
        assert chunk.tokens == len(encoding(name).encode_ordinary(chunk.text)) <= limit
        at = chunk.end
    assert not result.text[at:].strip()
    ids = [chunk_id("docs", f"a.{suffix}", chunk) for chunk in result.chunks]
    assert len({*ids}) == len(ids)
    assert chunker.chunk(f"a.{suffix}", data) == result


@given(data=st.binary(max_size=400), suffix=SUFFIXES)
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_cut_or_refused(data, suffix):
    result = Chunker(limit=16).chunk(f"a.{suffix}", data)
    if isinstance(result, Chunked):
        assert "".join("".join(chunk.text for chunk in result.chunks).split()) == "".join(result.text.split())
    else:
        assert result.reason in ("empty", "binary", "encoding")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["cells", "source", "cell_type", "metadata", "worksheets", "language_info"]), inner
        )
    ),
    max_leaves=20,
)
CELLS = st.lists(
    st.fixed_dictionaries({"cell_type": st.sampled_from(["code", "markdown", "raw"]), "source": TEXTS | JSON}) | JSON
)


@given(cells=CELLS, other=JSON)
@settings(deadline=None)
def test_any_notebook_is_cut_exactly_or_refused(cells, other):
    for content in ({"cells": cells, "metadata": other}, other):
        result = Chunker(limit=40).chunk("a.ipynb", json.dumps(content).encode())
        if isinstance(result, Chunked):
            assert "".join("".join(chunk.text for chunk in result.chunks).split()) == "".join(result.text.split())
            assert all(chunk.text == result.text[chunk.start : chunk.end] for chunk in result.chunks)
        else:
            assert result.reason in ("notebook", "empty")


@given(name=ENCODINGS, texts=st.lists(TEXTS, min_size=2, max_size=2))
@settings(max_examples=300, deadline=None)
def test_words_begin_where_the_counter_says_so(name, texts):
    from builders.chunking.counting import tokenizer

    raw = "".join(texts).encode(errors="replace")
    counter = tokenizer(name, False)
    whole = counter.count(raw.decode())
    for at in range(len(raw)):
        if counter.begins_word(raw, at):
            assert counter.count(raw[:at].decode()) + counter.count(raw[at:].decode()) == whole, (raw, at)
