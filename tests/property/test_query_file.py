"""Files of query texts: what is written is read, and whatever stands in one, it is read or refused."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from freshstack_datasets.cli.query_file import SUFFIXES, read_query_texts
from freshstack_datasets.errors import InputError

UNICODE = st.characters(exclude_categories=["Cs"])
IDS = st.text(UNICODE.filter(lambda c: c not in "\t\n\r"), min_size=1, max_size=8).filter(lambda i: i[0] != "\ufeff")
TEXTS = st.dictionaries(IDS, st.text(UNICODE, max_size=20), max_size=5)


def read(name: str, content: bytes) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return read_query_texts(path)


@given(TEXTS, st.booleans())
def test_json_gives_what_was_written(texts, ascii_only):
    content = json.dumps(texts, ensure_ascii=ascii_only).encode()
    assert read("q.json", content) == texts


@given(TEXTS, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_json_lines_give_what_was_written(texts, ascii_only, end):
    lines = (json.dumps({"query_id": q, "text": t, "more": 1}, ensure_ascii=ascii_only) for q, t in texts.items())
    assert read("q.jsonl", "".join(line + end for line in lines).encode()) == texts


@given(st.dictionaries(IDS, st.text(UNICODE.filter(lambda c: c not in "\n\r"), max_size=20), max_size=5))
def test_tab_separated_lines_give_what_was_written(texts):
    assert read("q.tsv", "".join(f"{q}\t{t}\n" for q, t in texts.items()).encode()) == texts


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(content=st.one_of(st.binary(max_size=60), st.text('{}[]":,\\ \t\n\rq1null', max_size=40).map(str.encode)))
@example(content=b"\xef\xbb\xbf")
@example(content=b'{"q1": ' + b"9" * 5000 + b"}")
@example(content=b'{"query_id": "\\ud800", "text": ""}')
@example(content=b"[" * 10_000)
def test_any_bytes_are_read_or_refused(suffix, content):
    texts, message = {}, ""
    try:
        texts = read(f"q{suffix}", content)
    except InputError as error:
        message = str(error)
    assert "\n" not in message
    assert all(isinstance(text, str) for text in texts.values())
