"""Whatever bytes a snapshot's files hold, verify lists problems and load says what is wrong; nothing else happens."""

import contextlib
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import FreshStackError
from freshstack_datasets.loading import load
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.snapshot import write_snapshot
from freshstack_datasets.tables.schema import TABLES
from freshstack_datasets.verification import verify


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "good"
    write_snapshot(
        folder,
        dataset="acme/toy",
        snapshot="2026-10",
        license="MIT",
        documents=[Document(f"d{i}", "t", f"text {i}", {"url": "https://x", "tokens": i}) for i in range(40)],
        queries=[Query(f"q{i}", "text", tags=("a", "b"), score=i) for i in range(5)],
        nuggets=[Nugget(f"n{i}", f"q{i}", 0, "fact") for i in range(5)],
        judgments=[
            Judgment("q0", "n0", "gone", 1),
            *(Judgment(f"q{i}", f"n{i}", f"d{i * j}", j % 2) for i in range(5) for j in range(1, 4) if i or j == 1),
        ],
        missing=["gone"],
    )
    return folder


def read_everything(folder):
    data = load(folder)
    _ = list(data.corpus), data.corpus.get_many(data.corpus.ids), list(data.queries), list(data.nuggets)
    _ = list(data.judgments), data.qrels


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(sorted(TABLES)),
    edits=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=8)), min_size=1, max_size=4
    ),
    cut=st.none() | st.floats(0, 1),
)
def test_damaged_tables_are_problems_and_never_a_traceback(good, tmp_path, name, edits, cut):
    folder = tmp_path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good, folder)
    path = folder / TABLES[name].file()
    original = path.read_bytes()
    content = bytearray(original)
    for place, new in edits:
        at = int(place * len(content))
        content[at : at + len(new)] = new
    if cut is not None:
        del content[int(cut * len(content)) :]
    path.write_bytes(content)
    problems = verify(folder)
    assert (bytes(content) == original) == (problems == [])
    assert all("\n" not in str(problem) for problem in problems)
    with contextlib.suppress(FreshStackError):
        read_everything(folder)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_manifest_is_a_problem_or_an_error_of_ours(good, tmp_path, data):
    folder = tmp_path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good, folder)
    content = bytearray((folder / "snapshot.json").read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at : at + 1] = data.draw(st.binary(max_size=3))
    (folder / "snapshot.json").write_bytes(content)
    with contextlib.suppress(FreshStackError):
        assert all("\n" not in str(problem) for problem in verify(folder))
    with contextlib.suppress(FreshStackError):
        read_everything(folder)
