"""Submissions that are made to break who looks at them: each is refused, quickly, and in bounded memory."""

import gzip
import os
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.runs import read_run, survey_run, write_run
from leaderboard.validation import form
from leaderboard.validation.codes import CODES
from tests.leaderboard import made
from tests.leaderboard.validating import codes, copied, report_of

MIB = 1 << 20
SUFFIXES = (".trec", ".trec.gz", ".json", ".json.gz", ".jsonl", ".jsonl.gz", ".parquet")


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    root = tmp_path_factory.mktemp("board")
    made.made_board(root, systems=3, topics=1)
    return root


@pytest.fixture
def folder(board, tmp_path):
    return copied(board, tmp_path)


def bomb(path, line, size):
    """Write gzip that stands for many times its size."""
    with path.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as stream:
        block = line * (MIB // len(line))
        for _ in range(size // len(block)):
            stream.write(block)


def peak_of(path):
    """Look at a run once, and return the codes and the most bytes that Python held meanwhile."""
    report_of(path)  # what is imported at the first use is no matter here
    tracemalloc.start()
    try:
        found = codes(report_of(path))
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "name, line, code",
    [
        ("alpha.trec.gz", b"\0" * 1024, "E305"),
        ("alpha.trec.gz", b" ", "E305"),
        ("alpha.trec.gz", b"\n", "E316"),
        ("alpha.json.gz", b" ", "E314"),
        ("alpha.json.gz", b"[", "E314"),
        ("alpha.jsonl.gz", b'{"a":', "E305"),
        ("alpha.trec.gz", b"q\tQ0\td\t1\t1.0\tt\n", "E312"),
    ],
)
def test_a_decompression_bomb_is_refused_in_little_memory(tmp_path, monkeypatch, name, line, code):
    monkeypatch.setattr(form, "INSIDE_BYTES", 40 * MIB)
    bomb(tmp_path / name, line, 60 * MIB)
    assert (tmp_path / name).stat().st_size < 2 * MIB
    found, peak = peak_of(tmp_path / name)
    assert found & {code, "E303"}
    assert peak < 150 * MIB


def test_more_bytes_than_may_be_inside_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(form, "INSIDE_BYTES", 10 * MIB)
    bomb(tmp_path / "alpha.trec.gz", b"\n", 20 * MIB)
    assert "E303" in codes(report_of(tmp_path / "alpha.trec.gz"))


def test_a_line_of_200_megabytes_is_refused_in_little_memory(tmp_path):
    with gzip.open(tmp_path / "alpha.trec.gz", "wb", compresslevel=1) as stream:
        for _ in range(200):
            stream.write(b"x" * MIB)
    found, peak = peak_of(tmp_path / "alpha.trec.gz")
    assert "E305" in found
    assert peak < 40 * MIB


def test_memory_is_bounded_by_the_topic_and_not_by_the_file(folder, monkeypatch):
    # 24 queries of at most 100 documents each: after 2,400 entries nothing more is kept, whatever the file holds.
    monkeypatch.setattr(form, "DEEPEST", 100)
    path = folder / "alpha.trec"
    with path.open("w") as file:
        for number in range(400_000):
            file.write(f"q{number % 24}\tQ0\td{number}\t1\t{-number}\tt\n")
    found, peak = peak_of(folder)
    assert "E303" in found
    assert peak < 100 * MIB
    # A line takes some 20 bytes, and Python would take 400,000 × 100 bytes for the ids alone.


def test_parquet_that_repeats_one_row_a_million_times_is_refused(tmp_path):
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3_000_000, np.int32)), ["x" * 1000])
    table = pa.table({"query_id": column, "doc_id": column, "score": np.zeros(3_000_000)})
    pq.write_table(table, tmp_path / "alpha.parquet", compression="zstd")
    assert (tmp_path / "alpha.parquet").stat().st_size < MIB
    assert codes(report_of(tmp_path / "alpha.parquet")) & {"E312", "E317", "E303"}


def test_json_that_is_very_deep_and_numbers_that_are_very_long_are_refused(tmp_path):
    (tmp_path / "alpha.json").write_text('{"q": {"d": ' + "9" * 1_000_000 + "}}")
    (tmp_path / "beta.json").write_text('{"q": ' + "[" * 1_000_000)
    (tmp_path / "gamma.jsonl").write_text('{"query_id": "q", "doc_id": "d", "score": ' + "9" * 100_000 + "}\n")
    (tmp_path / "delta.jsonl").write_text("[" * 100_000 + "\n")
    for path, expected in (
        ("alpha.json", "E3"),
        ("beta.json", "E314"),
        ("gamma.jsonl", "E310"),
        ("delta.jsonl", "E314"),
    ):
        assert [code for code in codes(report_of(tmp_path / path)) if code.startswith(expected)]


def test_a_device_that_never_ends_is_not_read(folder):
    (folder / "alpha.trec").unlink()
    (folder / "alpha.trec").symlink_to("/dev/zero")
    (folder / "submission.yaml").unlink()
    (folder / "submission.yaml").symlink_to("/dev/zero")
    assert {"E106"} <= codes(report_of(folder))


def test_a_thousand_files_are_enough(folder):
    for number in range(1_500):
        (folder / f"{number}.txt").write_text("")
    assert "E105" in codes(report_of(folder))


def test_a_name_that_is_no_utf8_is_told_safely(folder):
    with open(os.fsencode(folder) + b"/\xff\x1b.md", "wb"):  # noqa: PTH123  # a path of bytes
        pass
    report = report_of(folder)
    assert codes(report) == {"E105"}


@settings(max_examples=60)
@given(content=st.binary(max_size=400), suffix=st.sampled_from(SUFFIXES))
def test_any_bytes_at_all_give_coded_findings_alone(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("any") / f"alpha{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    assert codes(report_of(path)) <= set(CODES)


@pytest.fixture(scope="module")
def good(board):
    """The bytes of one good run in each format."""
    path = board / "submissions" / "made" / "2026-10" / "20261101-acme-bm25" / "alpha.trec"
    found = {}
    for suffix in SUFFIXES:
        target = board / f"good{suffix}"
        write_run(read_run(path), target)
        found[suffix] = target.read_bytes()
    return found


@settings(max_examples=80)
@given(data=st.data())
def test_a_submission_with_changed_bytes_gives_coded_findings_alone(board, good, tmp_path_factory, data):
    folder = copied(board, tmp_path_factory.mktemp("changed"))
    (folder / "alpha.trec").unlink()
    suffix = data.draw(st.sampled_from(SUFFIXES))
    (folder / f"alpha{suffix}").write_bytes(spoiled(good[suffix], data))
    told = (folder / "submission.yaml").read_bytes()
    if data.draw(st.booleans()):
        (folder / "submission.yaml").write_bytes(spoiled(told, data))
    report = report_of(folder)
    assert codes(report) <= set(CODES)
    for finding in report.findings:
        assert finding.message.isprintable()


def spoiled(content, data):
    """Change, take out or put in some bytes."""
    changed = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(changed) - 1)))
        kind = data.draw(st.sampled_from(["change", "cut", "insert", "end"]))
        piece = data.draw(st.binary(min_size=1, max_size=6))
        if kind == "change":
            changed[at : at + len(piece)] = piece
        elif kind == "cut":
            del changed[at : at + len(piece)]
        elif kind == "insert":
            changed[at:at] = piece
        else:
            del changed[at:]
    return bytes(changed)


def test_a_run_that_reads_well_gives_the_same_run_in_both_ways(good, tmp_path):
    for suffix, content in good.items():
        path = tmp_path / f"run{suffix}"
        path.write_bytes(content)
        survey = survey_run(path)
        assert survey.faults == {}
        assert survey.run == read_run(path)


def test_nothing_is_written_beside_a_submission(folder):
    before = sorted(path.name for path in folder.iterdir())
    report_of(folder)
    assert sorted(path.name for path in folder.iterdir()) == before
