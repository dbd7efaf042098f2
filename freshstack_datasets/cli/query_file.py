"""What to search for: a text that every query has, or a file of texts.

``.json`` holds one object from query id to text, ``.jsonl`` an object ``{"query_id": …, "text": …}`` a line, ``.tsv``
a query id, a tab and its text a line. All are UTF-8.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from freshstack_datasets.cli import console
from freshstack_datasets.errors import FreshStackError, InputError, shown, shown_path
from freshstack_datasets.records import check_id

SEARCHED = ("text", "title", "body")
"""What whoever asks has written: the question or a part of it."""
ORACLES = ("answer", "nuggets")
"""What nobody who asks knows."""
SUFFIXES = (".json", ".jsonl", ".tsv")
LARGEST = 1 << 28
"""Bytes that such a file may have; a query's text for each of a million queries fits."""


def texts_for(path: Path, query_ids: Sequence[str]) -> dict[str, str]:
    """Return query id to text for all queries of a dataset; warn of queries that the dataset lacks.

    Args:
        path: The file.
        query_ids: The queries of the dataset.

    Raises:
        InputError: The file cannot be used, or lacks a query; the first is named.
    """
    texts = read_query_texts(path)
    for query_id in query_ids:
        if query_id not in texts:
            what = f"{path}: query {shown(query_id)}"
            raise InputError(what, expected="a text for every query of the dataset", got="none for this one")
    extra = len(texts.keys() - set(query_ids))
    if extra:
        console.warn(f"{path}: left out, because the dataset does not have them: {console.counted(extra, 'queries')}")
    return texts


def read_query_texts(path: Path) -> dict[str, str]:
    """Return query id to text.

    Raises:
        InputError: The file cannot be read, or holds something else; the first fault is named with its line.
    """
    if path.suffix not in SUFFIXES:
        raise InputError(
            f"--query {shown_path(path)}",
            expected=f"{', '.join((*SEARCHED, *ORACLES))} or a file that ends with {', '.join(SUFFIXES)}",
        )
    text = _text_of(path)
    rows = _of_json(path, text) if path.suffix == ".json" else _of_lines(path, text)
    texts: dict[str, str] = {}
    for line, name, value in rows:
        where = f"{path}:{line}" if line else str(path)
        try:
            query_id = check_id(name, "query")
        except FreshStackError as error:
            raise InputError(f"{where}: {error}") from None
        if not isinstance(value, str):
            raise InputError(f"{where}: query {shown(query_id)}", expected="a text", got=shown(value))
        if query_id in texts:
            raise InputError(f"{where}: query {shown(query_id)}", expected="each query once", got="it twice")
        texts[query_id] = value
    return texts


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(f"the file {shown_path(path)}", expected=f"at most {LARGEST} bytes", got="more")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: a text", expected="UTF-8", got=f"byte {error.start} that is not") from None
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot read {shown_path(path)}", got=shown(str(reason))) from None


def _of_json(path: Path, text: str) -> Iterator[tuple[int, object, object]]:
    members = _parsed(path, 1, text, tuple)  # a dictionary would hide an id that stands there twice
    if not isinstance(members, tuple):
        raise InputError(f"the file {path}", expected="one object from query id to text", got="something else")
    yield from ((0, query_id, value) for query_id, value in members)


def _of_lines(path: Path, text: str) -> Iterator[tuple[int, object, object]]:
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if not line:
            continue
        if path.suffix == ".tsv":
            query_id, tab, value = line.partition("\t")
            if not tab:
                raise InputError(f"{path}:{number}: a line", expected="query id, tab, text", got=shown(line))
            yield number, query_id, value
        else:
            entry = _parsed(path, number, line, dict)
            if not isinstance(entry, dict) or not {"query_id", "text"} <= entry.keys():
                raise InputError(f"{path}:{number}: a line", expected='{"query_id": …, "text": …}', got=shown(line))
            yield number, entry["query_id"], entry["text"]


def _parsed(path: Path, line: int, text: str, objects: type) -> object:
    """Parse JSON, with every object made by ``objects`` of its list of members."""
    try:
        return json.loads(text, object_pairs_hook=objects)
    except json.JSONDecodeError as error:
        line += error.lineno - 1
        raise InputError(f"{path}:{line}: JSON, {error.msg}", got=shown(text[error.pos : error.pos + 40])) from None
    except (ValueError, RecursionError) as error:  # numbers too long, objects too deep
        raise InputError(f"{path}:{line}: JSON", got=shown(str(error))) from None
