"""Where a judgment came from, told of a snapshot on the Hub: the trace is downloaded when it is asked for, not before."""

import json

import pytest

from tests.hub.reading import commands, load
from tests.unit.trace_made import write_traced

REPO = "freshstack/langchain"


@pytest.fixture
def freshstack(hub, client, tmp_path):
    """Run commands in one home, with the traced snapshot on the Hub."""
    hub.put(REPO, write_traced(tmp_path / "traced", dataset=REPO), tag="2026-10")

    def run(*lines, **options):
        return commands(client, *lines, home=tmp_path / "home", **options)

    run.home = tmp_path / "home"
    return run


def cached(home):
    return {path.relative_to(path.parents[1]).as_posix() for path in home.rglob("snapshots/*/*/*")}


def test_the_trace_is_brought_for_a_document_alone_and_the_corpus_never(hub, client, freshstack):
    load(client, f"{REPO}@2026-10", whole=False, home=freshstack.home)
    assert not [path for path in cached(freshstack.home) if path.startswith(("provenance/", "corpus/"))]
    ((code, facts, errors),) = freshstack(f"show {REPO}@2026-10 q1 d1 --json")
    assert (code, errors) == (0, "")
    assert (facts["dataset"], facts["calls"][0]["call_id"], facts["calls"][0]["supports"]) == (REPO, "c1", [0])
    assert [place["rank"] for place in facts["pool"]] == [4, 1]
    brought = [path for path in cached(freshstack.home) if path.startswith(("provenance/", "corpus/"))]
    assert sorted(brought) == ["provenance/calls.parquet", "provenance/pool.parquet"]
    hub.log.clear()
    ((code, again, _),) = freshstack(f"show {REPO}@2026-10 q1 d1 --json", offline=True)
    assert (code, again) == (0, facts)
    assert list(hub.log) == []


def test_a_damaged_trace_is_told_by_its_digest(client, freshstack):
    freshstack(f"show {REPO}@2026-10 q1 d1 --json")
    (file,) = freshstack.home.rglob("snapshots/*/provenance/calls.parquet")
    data = file.read_bytes()
    file.resolve().write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    code, facts, errors = freshstack(f"verify {REPO}@2026-10 --json")[0]
    assert code == 1, errors
    assert "provenance/calls.parquet" in json.dumps(facts)
