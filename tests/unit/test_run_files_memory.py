"""A bad file costs little memory and time, however large it is."""

import gzip
import os
import threading
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets.errors import RunFileError
from freshstack_datasets.runs import entries, parquet, read_run, scanner

MIB = 1 << 20
SIZE = 200  # MiB once unpacked; a reader that takes it in as a whole needs at least that
LIMIT = 64 * MIB


def bomb(path, head, filler, size=SIZE):
    """Write a gzip file of some kilobytes that unpacks to ``size`` MiB of the filler."""
    member = gzip.compress(filler * (MIB // len(filler)), compresslevel=1)
    path.write_bytes(gzip.compress(head) + member * size)
    return path


@pytest.mark.parametrize(
    "name, head, filler, message",
    [
        ("run.trec.gz", b"q Q0 d 1 1 t\n", b"x", ":2: a line, expected at most"),
        ("run.trec.gz", b"q Q0 d 1 1 t\nq Q0 e 1 ", b"9", ":2: a line, expected at most"),
        ("run.trec.gz", b"", b"q Q0 d 1 0.5 t\n", ":2: document 'd' of query 'q'"),
        ("run.trec.gz", b"", b"\0", ":1: a line, expected at most"),
        ("run.jsonl.gz", b"", b"[", ":1: a line, expected at most"),
        ("run.json.gz", b'{"q": {"', b"d", ":1: JSON, expected a document id in quotes"),
        ("run.json.gz", b'{"', b"q", ":1: JSON, expected a query id in quotes"),
        ("run.json.gz", b'{"q": {"d": 1', b"0", ":1: JSON, expected a finite number"),
        ("run.json.gz", b'{"q":\n', b'{"d":', ":2: JSON, expected a finite number"),
        ("run.json.gz", b'{"q":\n', b"[", ":2: JSON, expected an object of document id to score"),
        ("run.json.gz", b'{"q":', b" \n", f":{SIZE * MIB // 2 + 1}: JSON, expected an object of document id"),
        ("run.json.gz", b'{"q": {', b'"d": 1, ', ":1: document 'd', expected it once"),
    ],
)
def test_a_bad_file_is_refused_in_constant_memory(tmp_path, name, head, filler, message):
    path = bomb(tmp_path / name, head, filler)
    read = read_run  # what is imported at the first read is no matter here
    with pytest.raises(RunFileError):
        read(bomb(tmp_path / f"small.{name}", head, filler, 2))
    tracemalloc.start()
    try:
        with pytest.raises(RunFileError) as caught:
            read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert message in str(caught.value)
    assert peak < LIMIT


def test_parquet_that_unpacks_to_far_more_than_ids_need_is_refused_unread(tmp_path):
    table = pa.table({"query_id": ["q"], "doc_id": ["d" * 50 * MIB], "score": [1.0]})
    pq.write_table(table, tmp_path / "run.parquet", compression="zstd")
    assert (tmp_path / "run.parquet").stat().st_size < MIB
    del table
    before, peak = pa.total_allocated_bytes(), pa.default_memory_pool().max_memory()
    with pytest.raises(RunFileError, match="expected at most 1128576 bytes in 1 rows, got 524"):
        read_run(tmp_path / "run.parquet")
    assert pa.total_allocated_bytes() <= before + MIB
    assert pa.default_memory_pool().max_memory() == peak


@pytest.mark.parametrize("as_numbers", [True, False])
def test_a_long_id_that_parquet_holds_once_for_many_rows_is_not_repeated(tmp_path, as_numbers):
    ids = pa.DictionaryArray.from_arrays(pa.array([0] * SIZE), pa.array(["d" * MIB]))
    table = pa.table({"query_id": pa.array(["q"] * SIZE), "doc_id": ids, "score": pa.array([1.0] * SIZE)})
    pq.write_table(table, tmp_path / "run.parquet", store_schema=as_numbers, dictionary_pagesize_limit=2 * MIB)
    before = pa.default_memory_pool().max_memory()
    tracemalloc.start()
    try:
        with pytest.raises(RunFileError, match="row 1: document id, expected at most 10000 characters, got 1048576 by"):
            read_run(tmp_path / "run.parquet")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < LIMIT
    assert pa.default_memory_pool().max_memory() < before + LIMIT


def test_what_a_long_good_file_costs_is_its_entries(tmp_path):
    # 300,000 lines over 1,000 documents and 300 queries: 30 MiB of text, 4.8 MB at 16 bytes an entry.
    lines = [f"query-{i // 1000} Q0 {'d' * 80}{i % 1000} 1 {i % 997} tag\n" for i in range(300_000)]
    path = tmp_path / "run.trec.gz"
    path.write_bytes(gzip.compress("".join(lines).encode(), compresslevel=1))
    del lines
    tracemalloc.start()
    try:
        run = read_run(path)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(run.codes) == 300_000
    assert kept < 300_000 * 16 + 2 * MIB


GOOD = 20_000
"""Entries before they come again; readers hand on fewer at once, or would notice."""


def repeated(path, times, number=GOOD):
    """Write a file with the same good entries so many times, and an entry with a fault at its end."""
    if path.suffix == ".parquet":
        columns = {"query_id": ["q"] * number, "doc_id": [f"d{i}" for i in range(number)], "score": [1.0] * number}
        good = pa.table(columns)
        with pq.ParquetWriter(path, good.schema) as writer:
            for _ in range(times):
                writer.write_table(good)
            writer.write_table(pa.table({"query_id": ["q"], "doc_id": ["d"], "score": [np.nan]}))
        return path
    head, line, bad = {
        "a.trec.gz": ("", "q Q0 d{i} 1 1 t\n", "q Q0 d 1 x t\n"),
        "a.jsonl.gz": ("", '{{"query_id": "q", "doc_id": "d{i}", "score": 1}}\n', "{}"),
        "documents.json.gz": ('{"q":\n{', '"d{i}": 1,\n', '"d": null}}'),
        "queries.json.gz": ("{\n", '"q{i}": {{}},\n', "1"),
        "both.json.gz": ("{\n", '"q{i}": {{"d{i}": 1}},\n', "1"),
    }[path.name]
    good = "".join(line.format(i=i) for i in range(number))
    parts = [gzip.compress(part.encode(), compresslevel=1) for part in (head, good, bad)]
    path.write_bytes(parts[0] + parts[1] * times + parts[2])
    return path


@pytest.mark.parametrize(
    "name, message",
    [
        ("a.trec.gz", ":{n}: score, expected a finite number"),
        ("a.jsonl.gz", ":{n}: no query_id"),
        ("documents.json.gz", ":{m}: JSON, expected a finite number, got 'null"),
        ("queries.json.gz", ":{m}: JSON, expected a query id in quotes"),
        ("both.json.gz", ":{m}: JSON, expected a query id in quotes"),
        ("a.parquet", ": row {n}: score, expected a finite number"),
    ],
)
def test_good_entries_before_a_fault_are_not_kept_beyond_the_limit(tmp_path, monkeypatch, name, message):
    number = GOOD // 10 if name.startswith(("queries", "both")) else GOOD  # queries are slow under the measurement
    monkeypatch.setattr(entries, "KEPT_LIMIT", MIB // 4)
    for module in (parquet, scanner):
        monkeypatch.setattr(module, "_BATCH", GOOD // 2)
    peaks = []
    for times in (2, 10):
        path = repeated(tmp_path / name, times, number)
        tracemalloc.start()
        try:
            with pytest.raises(RunFileError) as caught:
                read_run(path)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        count = number * times
        # As the same documents come again, a fault at the end is found first only by a look at all that keeps none.
        assert message.format(n=count + 1, m=count + 2) in str(caught.value)
    # Eight times 20,000 entries of 16 bytes were 2.4 MiB; the file's own pieces come in slightly other sizes.
    assert peaks[1] < peaks[0] + 2 * MIB


def test_a_document_that_comes_twice_beyond_the_limit_is_found_when_the_file_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "KEPT_LIMIT", 0)
    lines = [f"q Q0 d{i} 1 1 t\n" for i in range(3)]
    (tmp_path / "a.trec").write_text("".join(lines) + lines[1])
    with pytest.raises(RunFileError, match=r"a\.trec:4: document 'd1' of query 'q', expected it once"):
        read_run(tmp_path / "a.trec")
    (tmp_path / "a.json").write_text('{"q": {"d": 1},\n"r": {},\n"q": {}}')
    with pytest.raises(RunFileError, match=r"a\.json:3: query 'q', expected it once, got it twice"):
        read_run(tmp_path / "a.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once_however_much_comes_out_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "KEPT_LIMIT", 0)
    os.mkfifo(tmp_path / "a.trec")
    writer = threading.Thread(target=(tmp_path / "a.trec").write_text, args=("q Q0 d 1 1 t\n",), daemon=True)
    writer.start()
    assert read_run(tmp_path / "a.trec").to_dict() == {"q": {"d": 1.0}}
    writer.join()
