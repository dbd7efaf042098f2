"""The first ranks of any run file are those of its whole run."""

from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import RunFileError
from freshstack_datasets.runs import read_run, read_top, source, write_run

patient = settings(deadline=None, max_examples=60)  # the first read of a process imports Arrow's functions

NAMES = ["run.trec", "run.json", "run.jsonl.gz", "run.parquet"]
IDS = st.text(st.sampled_from("ab é日🜁_%"), min_size=1, max_size=4)
SCORES = st.sampled_from([-0.0, 0.0, 1.0, 1.0 + 2**-52, 0.5, -1e300])  # few, so that many tie
RUNS = st.dictionaries(
    IDS.filter(lambda value: " " not in value), st.dictionaries(IDS, SCORES, max_size=9), min_size=1, max_size=5
).filter(lambda run: any(run.values()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tops")


LINES = st.lists(
    st.tuples(st.sampled_from(["1", "2", "é"]), IDS, st.sampled_from([-0.0, 0.0, 1.0, 1.0 + 2**-52, 0.5])), min_size=1
)


@pytest.mark.parametrize("name", NAMES)
@given(run=RUNS, depth=st.integers(1, 7))
@example(run={"1": {"a": 1.0, "c": 1.0, "b": 1.0, "d": 0.5}, "2": {"a": -0.0, "b": 0.0}}, depth=1)
@patient
def test_the_first_ranks_of_a_file_are_those_of_the_whole_run(folder, name, run, depth):
    write_run(run, folder / name)
    assert read_top(folder / name, depth) == {q: tuple(d)[:depth] for q, d in read_run(folder / name).to_dict().items()}


@pytest.mark.parametrize("chunk", [64, source.CHUNK])
@given(lines=LINES.map(lambda lines: list({line[:2]: line for line in lines}.values())), depth=st.integers(1, 4))
@patient
def test_the_first_ranks_are_found_wherever_lines_stand_and_blocks_end(folder, chunk, lines, depth):
    text = "".join(f"{query_id}\tQ0\t{doc_id}\t1\t{score!r}\ttag\n" for query_id, doc_id, score in lines)
    (folder / "mixed.trec").write_bytes(text.encode())
    expected: dict[str, list[tuple[float, str]]] = {}
    for query_id, doc_id, score in lines:
        expected.setdefault(query_id, []).append((score, doc_id))
    with mock.patch.multiple(source, CHUNK=chunk, _LEAST=1):
        found = read_top(folder / "mixed.trec", depth)
    # Both the score and the document id fall: trec_eval's rule.
    assert found == {q: tuple(d for _, d in sorted(pairs)[::-1][:depth]) for q, pairs in expected.items()}


@pytest.mark.parametrize("score", ["NaN", "x", "1e999"])
def test_a_fault_far_below_the_first_ranks_is_found_as_well(folder, score):
    lines = [f"q\tQ0\td{i}\t{i}\t{-i}\ttag\n" for i in range(100)]
    (folder / "bad.trec").write_text("".join([*lines, f"q\tQ0\td100\t100\t{score}\ttag\n"]), encoding="utf-8")
    with pytest.raises(RunFileError) as error:
        read_top(folder / "bad.trec", 3)
    assert error.value.line == 101
