"""Our TREC run files, read by other people's readers."""

import gzip

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import read_run, write_run

# They split on white space, which to Python is more than space and tab; ids here have none of it.
IDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="\ufeff"), min_size=1, max_size=8)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, min_size=1, max_size=5), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@given(run=RUNS, name=st.text(max_size=6))
@settings(deadline=None, max_examples=200)
def test_pytrec_eval_and_ir_measures_read_what_we_write(folder, run, name):
    write_run(Run.from_dict(run, name), folder / "run.trec")
    with (folder / "run.trec").open(encoding="utf-8") as file:
        assert pytrec_eval.parse_run(file) == run
    theirs: dict[str, dict[str, float]] = {}
    for row in ir_measures.read_trec_run(str(folder / "run.trec")):
        theirs.setdefault(row.query_id, {})[row.doc_id] = row.score
    assert theirs == run


@given(run=RUNS, gap=st.sampled_from([" ", "\t", "  ", "\t\t"]), end=st.sampled_from(["\n", "\r\n"]))
@settings(deadline=None, max_examples=200)
def test_we_read_what_pytrec_eval_and_ir_measures_read(folder, run, gap, end):
    rows = [(q, "Q0", d, str(rank), str(s), "x") for q, ds in run.items() for rank, (d, s) in enumerate(ds.items())]
    text = "".join(gap.join(row) + end for row in rows)
    (folder / "theirs.run").write_bytes(text.encode())
    (folder / "theirs.run.gz").write_bytes(gzip.compress(text.encode()))
    expected = pytrec_eval.parse_run(text.splitlines())
    assert read_run(folder / "theirs.run").to_dict() == expected == run
    assert read_run(folder / "theirs.run.gz").to_dict() == expected
