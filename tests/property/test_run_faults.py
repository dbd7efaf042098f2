"""Looking through a run file for all faults agrees with reading it, and with looking at every line by itself."""

import gzip
import json
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import RunFileError
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import entries, notes, read_run, source, survey_run, write_run
from freshstack_datasets.runs.notes import KINDS
from freshstack_datasets.runs.oddities import order_of
from freshstack_datasets.runs.survey import Columns

SUFFIXES = (".trec", ".trec.gz", ".json", ".jsonl", ".parquet")
IDS = st.text("abcdé #", min_size=1, max_size=4).filter(lambda text: text.strip() == text and "  " not in text)
RUNS = st.dictionaries(
    st.text("qrs7", min_size=1, max_size=3),
    st.dictionaries(IDS, st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5),
    min_size=1,
    max_size=4,
)

NUMBERS = st.sampled_from(["1", "-2.5", "1e-7", "12.25E+3", "0.5"])


@given(
    numbers=st.lists(NUMBERS, min_size=1, max_size=8), size=st.integers(1, 12), suffix=st.sampled_from(SUFFIXES[:-1])
)
def test_a_file_is_read_the_same_however_it_is_cut_into_pieces(tmp_path_factory, numbers, size, suffix):
    path = tmp_path_factory.mktemp("cut") / f"run{suffix}"
    expected = {"q": {f"d{number}": float(text) for number, text in enumerate(numbers)}}
    if suffix == ".json":
        path.write_text('{"q": {' + ", ".join(f'"d{n}" : {text}' for n, text in enumerate(numbers)) + "}}")
    else:
        write_run(expected, path)
    with mock.patch.object(source, "CHUNK", size), mock.patch.object(source, "_LEAST", 1):
        assert read_run(path) == Run.from_dict(expected)


SPOILED = {
    "fields": "q\tQ0\td\t1",
    "rank": "q\tQ0\td\tfirst\t1.0\tt",
    "score": "q\tQ0\td\t1\thigh\tt",
    "not-finite": "q\tQ0\td\t1\tinf\tt",
    "id": "\tQ0\td\t1\t1.0\tt",
    "encoding": "q\tQ0\td\x00\t1\t1.0\tt",
    "empty-line": "",
}
"""A line of each kind of fault that a line can have."""


@given(run=RUNS, suffix=st.sampled_from(SUFFIXES))
def test_a_file_that_was_written_has_no_fault_and_the_same_run(tmp_path_factory, run, suffix):
    path = tmp_path_factory.mktemp("run") / f"run{suffix}"
    write_run(run, path)
    survey = survey_run(path)
    assert survey.faults == {}
    assert survey.run == Run.from_dict(run)
    assert survey.run == read_run(path)


@given(lines=st.lists(st.sampled_from([None, *SPOILED]), min_size=1, max_size=30), spaced=st.booleans())
def test_each_spoiled_line_is_a_fault_of_its_kind_at_its_place(tmp_path_factory, lines, spaced):
    path = tmp_path_factory.mktemp("run") / "run.trec"
    good = ("q{} Q0 d{} 1 1.0 t" if spaced else "q{}\tQ0\td{}\t1\t1.0\tt").format
    lines = [*lines, None]  # blank lines at the end do not count
    path.write_text("\n".join(SPOILED[kind] if kind else good(0, number) for number, kind in enumerate(lines)) + "\n")
    expected = {}
    for number, kind in enumerate(lines, 1):
        if kind:
            expected.setdefault(kind, []).append(number)
    survey = survey_run(path)
    assert {kind: [error.line for error in found.first] for kind, found in survey.faults.items()} == {
        kind: numbers[: notes.KEPT] for kind, numbers in expected.items()
    }
    assert {kind: found.count for kind, found in survey.faults.items()} == {
        kind: len(numbers) for kind, numbers in expected.items()
    }
    assert survey.columns.lines.tolist() == [number for number, kind in enumerate(lines, 1) if not kind]
    assert (survey.run is None) == bool(expected)


@given(
    pairs=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=20),
    bad=st.sets(st.integers(0, 19)),
    suffix=st.sampled_from([".trec", ".jsonl"]),
)
def test_every_entry_that_comes_again_is_found_at_its_line(tmp_path_factory, pairs, bad, suffix):
    path = tmp_path_factory.mktemp("run") / f"run{suffix}"
    lines, seen, again = [], set(), []
    for query, doc in pairs:
        if len(lines) in bad:
            lines.append("nonsense")  # moves all that follows by a line
        if (query, doc) in seen:
            again.append(len(lines) + 1)
        seen.add((query, doc))
        entry = {"query_id": f"q{query}", "doc_id": f"d{doc}", "score": 1.0}
        lines.append(f"q{query}\tQ0\td{doc}\t1\t1.0\tt" if suffix == ".trec" else json.dumps(entry))
    path.write_text("\n".join(lines) + "\n")
    found = survey_run(path).faults.get("duplicate", notes.Faults())
    assert found.count == len(again)
    assert [error.line for error in found.first] == again[: notes.KEPT]


@settings(max_examples=150)
@given(
    content=st.binary(max_size=300) | st.text('q\tQ0 d1.\n\r{}[]":,e-', max_size=300), suffix=st.sampled_from(SUFFIXES)
)
def test_a_file_has_a_fault_exactly_when_it_cannot_be_read(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("any") / f"run{suffix}"
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content) if suffix == ".trec.gz" else content)
    survey = survey_run(path)
    assert set(survey.faults) <= set(KINDS)
    if not survey.faults:
        assert survey.run == read_run(path)
        return
    assert survey.run is None
    with pytest.raises(RunFileError) as caught:
        read_run(path)
    assert str(caught.value) in {str(one) for found in survey.faults.values() for one in found.first}


ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 6), st.sampled_from([0.5, 1.0, 2.0])), max_size=12
)


@given(rows=ROWS)
def test_the_order_of_a_file_is_what_looking_at_every_entry_finds(rows):
    queries, docs, ranks, scores = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    columns = Columns(
        ["a", "b", "c"],
        ["d", "e", "f", "g"],
        np.array(queries, np.int32),
        np.array(docs, np.int32),
        np.array(scores, np.float64),
        np.array(ranks, np.int64),
        np.arange(1, len(rows) + 1),
    )
    order = order_of(columns)
    apart = [i for i in range(1, len(rows)) if queries[i] != queries[i - 1] and queries[i] in queries[:i]]
    rising = [i for i in range(1, len(rows)) if queries[i] == queries[i - 1] and scores[i] > scores[i - 1]]
    assert order.apart.tolist() == apart
    assert order.rising.tolist() == rising
    ranked = {q: sorted((i for i in range(len(rows)) if queries[i] == q), key=lambda i: ranks[i]) for q in set(queries)}
    base = 0 if ranked and all(ranks[entries[0]] == 0 for entries in ranked.values()) else 1
    wrong = {}
    for found in ranked.values():
        for place, i in enumerate(found):
            if ranks[i] != base + place or (place and scores[i] > scores[found[place - 1]]):
                wrong[i] = base + place
    assert dict(zip(order.misranked.tolist(), order.places.tolist(), strict=True)) == wrong
    assert order.misranked.tolist() == sorted(wrong)


def test_the_first_entry_of_each_id_is_found():
    columns = Columns(["a", "b", "c"], ["d"], np.array([1, 0, 1], np.int32), np.array([0, 0, 0], np.int32), np.ones(3))
    assert columns.first(columns.queries).tolist() == [1, 0, -1]
    assert columns.first(columns.docs).tolist() == [0]
    assert columns.counts().tolist() == [1, 2, 0]


def test_several_tags_are_told_with_their_first_lines(tmp_path):
    path = tmp_path / "run.trec"
    path.write_text("".join(f"q\tQ0\td{n}\t1\t1.0\t{tag}\n" for n, tag in enumerate(["one", "one", "two", "one"])))
    assert survey_run(path).tags == {"one": 1, "two": 3}
    path.write_text(path.read_text().replace("\t", "  "))  # line by line now
    assert survey_run(path).tags == {"one": 1, "two": 3}


@pytest.mark.parametrize("suffix", [".trec", ".jsonl", ".json", ".parquet"])
def test_more_entries_or_bytes_than_may_be_are_a_fault(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    write_run({"q": {f"d{number}": float(number) for number in range(100)}}, path)
    assert survey_run(path, most_entries=100).faults == {}
    assert set(survey_run(path, most_entries=99).faults) == {"large"}
    assert set(survey_run(path, most_kept=1_000).faults) == {"large"}


@pytest.mark.parametrize("suffix", [".trec", ".jsonl", ".json"])
def test_more_bytes_than_may_be_are_a_fault(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(source, "CHUNK", 1 << 10)
    monkeypatch.setattr(source, "_LEAST", 1 << 10)
    path = tmp_path / f"run{suffix}"
    write_run({"q": {f"d{number}": float(number) for number in range(1_000)}}, path)
    size = path.stat().st_size
    assert survey_run(path, most_bytes=size).faults == {}
    assert set(survey_run(path, most_bytes=size - 2_000).faults) == {"large"}


def test_faults_beyond_the_most_end_the_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(notes, "MOST_FAULTS", 50)
    path = tmp_path / "run.trec"
    path.write_text("nonsense\n" * 1_000)
    faults = survey_run(path).faults
    assert (faults["fields"].count, faults["many"].count) == (51, 1)
    assert faults["many"].first[0].line == 51


def test_a_file_that_repeats_itself_for_ever_is_left_early(tmp_path, monkeypatch):
    monkeypatch.setattr(entries, "MOST_FAULTS", 50)
    monkeypatch.setattr(entries, "_FIRST_CHECK", 100)
    path = tmp_path / "run.trec"
    path.write_text("q\tQ0\td\t1\t1.0\tt\n" * 1_000)
    survey = survey_run(path)
    # All 1,000 lines come at once and repeat the first; ten are kept with their lines, and one fault says why it ends.
    assert (survey.faults["duplicate"].count, survey.faults["many"].count, survey.whole) == (999, 1, False)
    assert [error.line for error in survey.faults["duplicate"].first] == list(range(2, 12))
