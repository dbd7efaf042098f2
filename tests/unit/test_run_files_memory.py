"""A bad file costs little memory and time, however large it is."""

import gzip
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets.errors import RunFileError
from freshstack_datasets.runs import read_run

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
