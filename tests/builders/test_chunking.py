"""From files to chunks: languages, encodings, notebooks, and files to stumble over."""

import json
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from builders.chunking import Chunk, Chunked, Chunker, Refused, chunk_id
from builders.tokens import encoding
from freshstack_datasets.errors import InputError, UnknownNameError
from tests.builders import mixed_tree

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def results() -> dict[str, Chunked | Refused]:
    chunker = Chunker()
    return {path: chunker.chunk(path, data) for path, data in mixed_tree.files().items()}


def count(text: str) -> int:
    return len(encoding("cl100k_base").encode_ordinary(text))


def assert_whole(result: Chunked, limit: int = 2048) -> None:
    """Check that chunks are what their places say, follow each other, and leave out only white space."""
    raw = result.text.encode()
    at = 0
    for chunk in result.chunks:
        assert chunk.text == result.text[chunk.start : chunk.end] == raw[chunk.start_byte : chunk.end_byte].decode()
        assert not result.text[at : chunk.start].strip()
        assert chunk.text.strip()
        assert chunk.tokens == count(chunk.text) <= limit
        at = chunk.end
    assert not result.text[at:].strip()


def test_every_file_is_cut_exactly_or_refused(results):
    for result in results.values():
        if isinstance(result, Chunked):
            assert_whole(result)


def test_what_has_no_text_is_refused_with_its_reason(results):
    assert {path: result.reason for path, result in results.items() if isinstance(result, Refused)} == {
        "odd/empty.py": "empty",
        "odd/blank.md": "empty",
        "odd/binary.dat": "binary",
        "odd/photo.py": "binary",
        "odd/broken.ipynb": "notebook",
        "odd/no_cells.ipynb": "notebook",
    }


@pytest.mark.parametrize("path, language", mixed_tree.LANGUAGES.items())
def test_every_language_is_cut_between_its_parts(results, path, language):
    result = results[path]
    assert (result.language, result.how) == (language, "syntax")
    # each file is one part after another; with the syntax known, a chunk holds whole ones alone, so that every chunk
    # begins as the file does, but for the numbers and, in SQL or PHP, the first line
    assert len(result.chunks) > 1
    part = mixed_tree.PIECES[path].split("{n}")[0].splitlines()[0]
    starts = {
        "src/app.php": ("<?php", "function", "?>"),
        "docs/guide.md": ("##", "- "),
        "docs/page.mdx": ("##", "<", "And"),
    }
    for chunk in result.chunks:
        assert chunk.text.lstrip().startswith(starts.get(path, (part.split("{")[0].split()[0],))), chunk.text[:60]


def test_texts_are_what_pythons_own_decoding_gives(results):
    files = mixed_tree.files()
    for path, name in {
        "odd/crlf.py": "utf-8",
        "odd/cr.txt": "utf-8",
        "odd/no_final_newline.py": "utf-8",
        "odd/bom.py": "utf-8-sig",
        "odd/utf16.txt": "utf-16",
        "odd/utf16_no_mark.cs": "utf-16-le",
        "odd/latin1.txt": "latin-1",
        "odd/日本/中文.txt": "utf-8",
    }.items():
        assert results[path].text == files[path].decode(name), path
        assert "".join(chunk.text for chunk in results[path].chunks) == files[path].decode(name)


@pytest.mark.parametrize(
    "text, name",
    [
        ("// Author: José García\nint main() { return 0; }\n" * 3, "cp1252"),
        ("/* Copyright \u00a9 2020 Foo */\nint x;\n" * 2, "latin-1"),
        ("int x = 1; // ±5µm\n" * 50, "latin-1"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy\n" * 30, "cp1250"),
        ("Привет мир, это файл с комментарием\n" * 30, "cp1251"),
        ("Привет мир, это файл с комментарием\n" * 30, "koi8-r"),
        ("これは日本語のコメントです。\n" * 30, "shift_jis"),
        ("これは日本語のコメントです。\n" * 30, "euc_jp"),
        ("这是一个中文注释\n" * 30, "gbk"),
        ("한국어 주석입니다\n" * 20, "euc_kr"),
    ],
)
def test_common_encodings_are_told_apart(text, name):
    assert Chunker().chunk("a.cpp", text.encode(name)).text == text


def test_nested_blocks_that_would_end_the_process_are_cut_as_text(results):
    assert results["odd/quoted.md"].how == "text"
    assert results["odd/lists.yaml"].how == "text"


def test_letters_that_would_end_the_process_are_hidden_from_the_grammar():
    # a variable's name that is the last letter of Unicode, in Bash
    result = Chunker().chunk("a.sh", "echo ${\U0010ffff}\n".encode() * 900)
    assert result.how == "syntax"
    assert_whole(result)


def test_a_list_of_60_000_numbers_has_about_as_many_chunks_as_it_has_tokens_for(results):
    numbers = results["odd/numbers.py"]
    assert numbers.how == "syntax"
    assert len(numbers.chunks) <= 1.05 * count(numbers.text) / 2048 + 1


def test_nothing_is_cut_from_a_file_that_fits():
    # six tokens: two line breaks, "x", " =", " ", "1", two line breaks
    whole = Chunker().chunk("a.py", b"\n\nx = 1\n\n")
    assert whole == Chunked("\n\nx = 1\n\n", "python", "whole", (Chunk(0, 9, 0, 9, "\n\nx = 1\n\n", 6),))


def test_offsets_are_those_of_characters_and_of_bytes():
    # 16 tokens a chunk: each line has 9 ("é" is one token, so is "ü"), so two lines do not fit
    text = "éé = 'ü'  # 1 2 3\n" * 2
    first, second = Chunker(limit=16).chunk("a.py", text.encode()).chunks
    assert (first.start, first.end, first.start_byte, first.end_byte) == (0, 18, 0, 21)
    assert (second.start, second.end, second.start_byte, second.end_byte) == (18, 36, 21, 42)


def test_a_heading_is_not_left_alone_before_a_section_that_just_fits():
    section = "".join(f"word{n} " for n in range(900))
    chunks = Chunker(limit=2000).chunk("a.md", f"# Heading\n\n{section}\n\n{section}\n".encode()).chunks
    assert min(chunk.tokens for chunk in chunks) > 2000 // 64


def test_notebooks_become_markdown_without_outputs_and_images(results):
    result = results["odd/notebook.ipynb"]
    assert result.how == "notebook"
    assert result.text.startswith("# Fließtext\n![x]()\n\n```python\nfor i in range(0):\n    print('größer als', i)\n")
    assert "iVBORw0KGgo" not in result.text
    assert "raw" not in result.text
    assert all(chunk.text.count("```") % 2 == 0 for chunk in result.chunks)  # no cell of it is cut


@pytest.mark.parametrize(
    "cells, text",
    [
        ([{"cell_type": "code", "source": ["a\n", "b"]}], "```python\na\nb\n```\n"),
        ([{"cell_type": "code", "source": "```x```"}], "````python\n```x```\n````\n"),
        ([{"cell_type": "markdown", "source": "\ud800"}], "\ufffd\n"),
        (
            [{"cell_type": "code", "source": "a"}, 7, {"cell_type": "markdown", "source": [1, "b"]}],
            "```python\na\n```\n\nb\n",
        ),
    ],
)
def test_cells_of_any_kind_are_read(cells, text):
    assert Chunker().chunk("a.ipynb", json.dumps({"cells": cells}).encode()).text == text


def test_a_notebook_of_format_3_is_read():
    sheet = {"cells": [{"cell_type": "heading", "level": 2, "source": "T"}, {"cell_type": "code", "input": "x"}]}
    content = {"nbformat": 3, "metadata": {}, "worksheets": [sheet]}
    assert Chunker().chunk("a.ipynb", json.dumps(content).encode()).text == "## T\n\n```python\nx\n```\n"


def test_a_cell_of_many_blank_lines_is_read_line_by_line():
    source = "a\n" + " \n" * 200_000 + "  ```\n"  # minutes, if each line were looked through to the last
    result = Chunker().chunk("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": source}]}).encode())
    assert result.text == f"````python\n{source.rstrip()}\n````\n"
    assert_whole(result)


@pytest.mark.parametrize("content", [b"[" * 100_000, b"[]", b'{"cells": 1}', b"<<<<<<< HEAD"])
def test_a_broken_notebook_is_refused(content):
    assert Chunker().chunk("a.ipynb", content).reason == "notebook"


@pytest.mark.parametrize(
    "path, head, language",
    [
        ("Makefile", "", "make"),
        ("docker/Dockerfile.dev", "", "dockerfile"),
        ("a/Gemfile", "", "ruby"),
        ("run", "#!/bin/bash -e\n", "bash"),
        ("run", "#!/usr/bin/env -S python3.12 -u\n", "python"),
        ("run", "#!/usr/bin/env node\n", "javascript"),
        ("run.txt", "#!/bin/bash\n", "text"),  # the name tells, so the first line does not
        ("run", "a line\n", "text"),
        ("A.PY", "", "python"),
        ("a.h", "", "cpp"),
        ("page.MDX", "", "mdx"),
    ],
)
def test_the_language_is_told_by_the_name_first(path, head, language):
    assert Chunker().chunk(path, (head + "x\n").encode()).language == language


def test_a_file_that_takes_too_long_is_given_up():
    assert Chunker(seconds_per_file=-1).chunk("a.py", b"x = 1\n" * 100).reason == "timeout"


def test_a_parse_of_too_many_steps_is_given_up_for_a_cut_as_text():
    # a table's bars and dashes are an error at every letter in Python
    table = b"|a" * 20_000 + b"\n" + b"|-" * 20_000
    assert Chunker().chunk("a.py", table).how == "text"


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00\xd8", b"\xff\xfe\x00", b"\xef\xbb\xbf\xff", b"\x81\x8d\x01\x02\x03\x04\x05"]
)
def test_bytes_that_are_no_text_are_refused(data):
    assert Chunker().chunk("a.txt", data).reason in ("encoding", "binary")


def test_a_limit_below_one_character_is_refused():
    with pytest.raises(InputError, match="expected 16 tokens or more, got 15"):
        Chunker(limit=15)


def test_a_tokenizer_that_does_not_exist_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'cl100k_base'"):
        Chunker(encoding="cl100k").chunk("a.txt", b"a")


def test_the_fast_tokenizer_gives_the_same_chunks(results):
    pytest.importorskip("quicktok")
    fast = Chunker(fast=True)
    for path, data in mixed_tree.files().items():
        assert fast.chunk(path, data) == results[path], path


@pytest.mark.parametrize("name", ["o200k_base", "o200k_harmony"])
def test_other_tokenizers_count_too(name):
    data = mixed_tree.repeated("src/app.cpp", 300).replace("template", "// 'ſ\n/ template").encode()
    for chunk in Chunker(encoding=name).chunk("a.cpp", data).chunks:
        assert chunk.tokens == len(encoding(name).encode_ordinary(chunk.text)) <= 2048


def test_ids_hold_no_line_break_and_stay_unique():
    chunk = Chunk(3, 9, 3, 9, "text", 1)
    paths = ["a\tb", "a%09b", "a%2509b", "a%b", "a\nb", "a\u2028b", "a%E2%80%A8b", "a\udcffb", "a%FFb", "a b", "ä#"]
    ids = [chunk_id("docs", path, chunk) for path in paths]
    assert ids == [
        "docs/a%09b_3_9", "docs/a%2509b_3_9", "docs/a%252509b_3_9", "docs/a%b_3_9", "docs/a%0Ab_3_9",
        "docs/a%E2%80%A8b_3_9", "docs/a%25E2%2580%25A8b_3_9", "docs/a%FFb_3_9", "docs/a%25FFb_3_9", "docs/a b_3_9",
        "docs/ä#_3_9",
    ]  # fmt: skip
    assert len({*ids}) == len(ids)


PRINTS = """
import hashlib
from builders.chunking import Chunker
from tests.builders import mixed_tree
chunker = Chunker()
print(hashlib.sha256(repr([chunker.chunk(*file) for file in sorted(mixed_tree.files().items())]).encode()).hexdigest())
"""


@pytest.mark.slow
def test_every_process_gives_the_same_chunks(results):
    digests = {
        subprocess.run(
            [sys.executable, "-c", PRINTS], cwd=ROOT, env={"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
    files = mixed_tree.files()
    chunk = pickle.loads(pickle.dumps(Chunker())).chunk
    with ProcessPoolExecutor(2) as pool:
        made = dict(zip(files, pool.map(chunk, files.keys(), files.values()), strict=True))
    assert made == results


@pytest.mark.slow
def test_a_line_of_20_megabytes_is_cut():
    result = Chunker().chunk("line.txt", mixed_tree.enormous())
    assert result.how == "text"
    assert "".join(chunk.text for chunk in result.chunks) == mixed_tree.enormous().decode()
    assert max(chunk.tokens for chunk in result.chunks) <= 2048
