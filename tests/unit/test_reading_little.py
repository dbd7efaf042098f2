"""What is not needed is neither read nor imported."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from freshstack_datasets import evaluate, load, write_snapshot
from freshstack_datasets.errors import SnapshotError
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.tables.records import Records
from freshstack_datasets.tables.schema import NUGGETS, QUERIES


@pytest.fixture
def folder(tmp_path):
    """One query with two nuggets; ``a`` supports the first, nothing the second."""
    write_snapshot(
        tmp_path / "s",
        dataset="freshstack/toy",
        snapshot="2026-10",
        license="CC0-1.0",
        documents=[Document("a", "", "text of a"), Document("b", "", "text of b")],
        queries=[Query("q", "why?", body="b" * 1_000)],
        nuggets=[Nugget("n1", "q", 0, "fact"), Nugget("n2", "q", 1, "other fact")],
        judgments=[Judgment("q", "n1", "a", 1), Judgment("q", "n2", "b", 0)],
    )
    return tmp_path / "s"


def spoil(path, column):
    """Overwrite the bytes of one column of a Parquet file of one row group."""
    group = pq.read_metadata(path).row_group(0)
    chunk = next(c for c in map(group.column, range(group.num_columns)) if c.path_in_schema == column)
    data = bytearray(path.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    data[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(data)


def test_scoring_reads_no_texts(folder):
    for table in (QUERIES, NUGGETS):
        spoil(folder / table.file(), "text")
    data = load(folder)
    # One of two nuggets is covered by the only document.
    assert evaluate({"q": {"a": 1.0}}, data, "Coverage@20", intervals=False).mean["Coverage@20"] == 0.5
    for records in (data.queries, data.nuggets):
        with pytest.raises(SnapshotError, match="cannot be read"):
            list(records)


def test_each_column_is_read_once():
    rows = pa.table([["n1", "n2"], ["q", "q"], pa.array([0, 1], pa.int32()), ["x", "y"], [None, None]], NUGGETS.schema)
    asked = []

    def read(names):
        asked.append(list(names))
        return rows.select(names)

    nuggets = Records(NUGGETS, 2, read)
    assert nuggets.columns("query_id", "nugget_id") == (["q", "q"], ["n1", "n2"])
    assert nuggets.columns("nugget_id", "text") == (["n1", "n2"], ["x", "y"])
    assert "n2" in nuggets
    assert list(nuggets) == [Nugget("n1", "q", 0, "x"), Nugget("n2", "q", 1, "y")]
    assert nuggets.arrow.equals(rows)
    assert asked == [["query-id", "_id"], ["text"], ["position", "importance"]]


SEARCH_AND_SCORE = """
import sys
import freshstack_datasets as fsd

data = fsd.load("nimbus")
assert all(data.nuggets_of(query.query_id) for query in data.queries)
run = fsd.BM25().index(data.corpus).search(data.queries, k=10)
assert fsd.evaluate(run, data).mean
assert data.corpus.get_many(data.corpus.ids[:2])
print("pandas" in sys.modules)
"""


def test_searching_and_scoring_do_not_import_pandas():
    pytest.importorskip("pandas", reason="Arrow cannot import what is not installed")
    done = subprocess.run([sys.executable, "-c", SEARCH_AND_SCORE], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "False\n"
