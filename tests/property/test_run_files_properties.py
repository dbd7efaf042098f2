"""Any run is the same after a file, and any file gives a run or one kind of error."""

import gzip
import json
import math
import unicodedata
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import RunError, RunFileError
from freshstack_datasets.ranking import Run
from freshstack_datasets.runs import FORMATS, entries, read_run, write_run

patient = settings(deadline=None, max_examples=60)  # the first read of a process imports Arrow's functions

NAMES = ["run.trec", "run.json", "run.jsonl", "run.trec.gz", "run.json.gz", "run.jsonl.gz", "run.parquet"]
TEXT_NAMES = [name for name in NAMES if name != "run.parquet"]

ODD_SIGNS = " \u00a0%#\"'\\{}:,/\u2028\u2029\x85\x0b\x0c\x1b\x1c\x1f\x7f\ufeffé日🜁_-1a"
IDS = st.one_of(
    st.text(st.sampled_from(ODD_SIGNS), min_size=1, max_size=8),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\0"), min_size=1, max_size=8),
)
QUERY_IDS = IDS.filter(lambda value: " " not in value and not value.startswith("\ufeff"))
SCORES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([5e-324, -5e-324, 1e308, -0.0, 0.0, 1.0, 1.0 + 2**-52, 0.1]),
)
RANKINGS = st.dictionaries(IDS, SCORES, max_size=6)


def not_empty(run):
    return any(run.values())


RUNS = st.dictionaries(QUERY_IDS, RANKINGS, min_size=1, max_size=5).filter(not_empty)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.mark.parametrize("name", NAMES)
@given(run=RUNS)
@example(run={"1": {"a  b   c": 1.0, " led": 0.5, "trailed  ": 0.25, " ": 0.125, "a\u00a0b": 0.0625}, "2": {}})
@example(run={"1": {"5% off #2": 5e-324, '"quoted" \\ back': 1e308, "é": -0.0, "日本": 0.0}})
@patient
def test_a_run_is_the_same_after_any_format(folder, name, run):
    write_run(run, folder / name)
    back = read_run(folder / name)
    # Not Run's own equality alone: that treats -0.0 and 0.0 as one, and leaves out queries without document.
    written = {(q, d): s.hex() for q, documents in run.items() for d, s in documents.items()}
    assert {(q, d): s.hex() for q, documents in back.to_dict().items() for d, s in documents.items()} == written
    assert back == Run.from_dict(run)


@given(run=RUNS)
@patient
def test_nested_json_keeps_queries_without_document(folder, run):
    write_run(run, folder / "run.json")
    assert read_run(folder / "run.json").query_ids == tuple(run)


@pytest.mark.parametrize("name", NAMES)
@given(run=RUNS)
@settings(max_examples=10, deadline=None)
def test_the_same_run_gives_the_same_bytes(folder, name, run):
    write_run(run, folder / name)
    once = (folder / name).read_bytes()
    write_run(Run.from_dict(run), folder / name)
    assert (folder / name).read_bytes() == once


@given(run=RUNS)
@patient
def test_trec_lines_have_six_fields_and_ranks_from_one(folder, run):
    write_run(Run.from_dict(run, "my system"), folder / "run.trec")
    rows = [line.split("\t") for line in (folder / "run.trec").read_bytes().decode().split("\n")[:-1]]
    assert all(len(row) == 6 and row[1] == "Q0" and row[5] == "my_system" for row in rows)
    for above, row in pairwise(rows):
        assert int(row[3]) == (int(above[3]) + 1 if row[0] == above[0] else 1)
        assert row[0] != above[0] or (float(row[4]), row[2]) <= (float(above[4]), above[2])


def hostile(sign):
    """Say whether a sign is a control sign, breaks or turns a line, or is half a sign."""
    return unicodedata.category(sign) in ("Cc", "Zl", "Zp", "Cs") or unicodedata.bidirectional(sign) in (
        *("LRE", "RLE", "LRO", "RLO", "PDF"),
        *("LRI", "RLI", "FSI", "PDI"),
    )


@pytest.mark.parametrize("file", ["run.jsonl", "run.parquet"])
@given(run=RUNS, name=st.text(min_size=1, max_size=10))
@patient
def test_a_run_name_comes_back_from_json_lines_and_parquet_without_its_hostile_signs(folder, file, run, name):
    write_run(Run.from_dict(run, name), folder / file)
    assert read_run(folder / file).name == "".join("_" if hostile(sign) else sign for sign in name)


@pytest.mark.parametrize("name", NAMES)
@given(run=RUNS)
@patient
def test_a_file_that_is_first_looked_through_gives_the_same_run(folder, name, run):
    write_run(Run.from_dict(run, "system"), folder / name)
    once = read_run(folder / name)
    with mock.patch.object(entries, "KEPT_LIMIT", 0):
        twice = read_run(folder / name)
    assert twice.to_dict() == once.to_dict()
    assert (twice.name, twice.query_ids) == (once.name, once.query_ids)


@given(run=RUNS, name=st.text(max_size=10))
@patient
def test_a_run_name_without_white_space_comes_back_from_a_trec_file(folder, run, name):
    write_run(Run.from_dict(run, name), folder / "run.trec")
    back = read_run(folder / "run.trec").name
    if name and not any(sign.isspace() or hostile(sign) for sign in name):
        assert back == name
    else:
        assert back
        assert len(back.split()) == 1


def read_or_refuse(path: Path) -> Run | None:
    try:
        return read_run(path)
    except RunFileError as error:
        text = str(error)
        assert text.startswith(str(path))
        assert "\n" not in text
        assert len(text) < 1000
        return None


@pytest.mark.parametrize("name", NAMES)
@given(data=st.binary(max_size=200))
@example(data=b"")
@example(data=b"\xef\xbb\xbf")
@example(data=b"\xff\xfe1\x00")
@example(data=b"\n\n\n")
@example(data=b"PAR1PAR1")
@example(data=b"PAR1\xff\xff\xff\x7fPAR1")
@patient
def test_random_bytes_give_a_run_or_an_error(folder, name, data):
    (folder / name).write_bytes(data)
    read_or_refuse(folder / name)


@pytest.mark.parametrize("name", TEXT_NAMES[3:])
@given(data=st.binary(max_size=200))
@patient
def test_random_bytes_that_were_zipped_give_a_run_or_an_error(folder, name, data):
    (folder / name).write_bytes(gzip.compress(data))
    read_or_refuse(folder / name)


@st.composite
def damages(draw, data):
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.integers(0, 6))
        data = data[:at] + draw(st.binary(max_size=6)) + data[at + size :]
    return data


@pytest.mark.parametrize("name", NAMES)
@given(run=RUNS, draw=st.data())
@patient
def test_a_damaged_file_gives_a_run_or_an_error(folder, name, run, draw):
    write_run(run, folder / name)
    data = draw.draw(damages((folder / name).read_bytes()))
    (folder / name).write_bytes(data)
    read_or_refuse(folder / name)


TREC_SIGNS = [
    "q",
    "d",
    "Q0",
    "1",
    "0.5",
    "-2",
    "1e3",
    "tag",
    " ",
    "  ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\u00a0",
    "nan",
    ".",
    "",
]


def by_the_rules(text: str) -> dict[tuple[str, str], float] | None:
    """Read TREC lines as the rules say, one line and one field after the other, None for a fault."""
    lines = text.split("\n")
    while lines and not lines[-1].strip(" \t\r"):
        lines.pop()
    found: dict[tuple[str, str], float] = {}
    for line in lines:
        line = line.removesuffix("\r")
        if line.count("\t") == 5:
            query_id, _, doc_id, rank, score, _ = line.split("\t")
        else:
            line = line.replace("\t", " \t ").strip(" \t")  # each tab is its own word, which no id may hold
            words = [word for word in line.split(" ") if word.strip("\t")]
            if len(words) < 6:
                return None
            query_id, rank, score = words[0], words[-3], words[-2]
            doc_id = line
            for word in words[:2]:
                doc_id = doc_id.strip(" \t").removeprefix(word)
            for word in reversed(words[-3:]):
                doc_id = doc_id.strip(" \t").removesuffix(word)
            doc_id = doc_id.strip(" \t")
        number = score.removeprefix("-") if score.startswith("-") else score
        whole = rank.removeprefix("-")
        if not (number[:1] in set("0123456789.") and whole.isdigit() and whole.isascii()):
            return None
        if not query_id or not doc_id or "\r" in line or "\t" in doc_id or (query_id, doc_id) in found:
            return None
        try:
            found[query_id, doc_id] = float(score)
        except ValueError:
            return None
    return found or None


@given(words=st.lists(st.sampled_from(TREC_SIGNS), max_size=40))
@example(words=["q", " ", "Q0", " ", "d", " ", "1", " ", "0.5", " ", "tag"])
@example(words=["q", "\t", "Q0", "\t", "d", " ", "d", "\t", "1", "\t", "0.5", "\t", "tag", "\r\n"])
@example(words=["q", " ", "Q0", " ", "d", "  ", "d", " ", "1", " ", "0.5", "\t", "tag"])
@settings(max_examples=500, deadline=None)
def test_trec_lines_are_cut_by_the_rules(folder, words):
    text = "".join(words)
    (folder / "words.trec").write_bytes(text.encode())
    run = read_or_refuse(folder / "words.trec")
    found = run and {(q, d): s for q, documents in run.to_dict().items() for d, s in documents.items()}
    assert found == by_the_rules(text)


FIELDS = st.sampled_from(
    ["q", "q1", "Q0", "d 1", "d", "d  2", "1", "-3", "0.5", "1e-3", "+.5", "5.", "inf", "1_0", "é", ""]
)


@given(
    rows=st.lists(st.lists(FIELDS, min_size=5, max_size=7), min_size=1, max_size=5), separator=st.sampled_from(" \t")
)
@settings(max_examples=300, deadline=None)
def test_many_lines_read_as_each_line_alone(folder, rows, separator):
    """Lines are read by columns when all of them are plain, and one by one otherwise: the outcome is one."""
    lines = [separator.join(["q", "Q0", f"doc{i}", "1", *row[4:]]) for i, row in enumerate(rows)]
    alone: dict[str, dict[str, float]] = {}
    for line in lines:
        (folder / "line.trec").write_bytes(line.encode())
        run = read_or_refuse(folder / "line.trec")
        if run is None:
            alone = {}
            break
        for query_id, documents in run.to_dict().items():
            alone.setdefault(query_id, {}).update(documents)
    (folder / "lines.trec").write_bytes("\n".join(lines).encode())
    together = read_or_refuse(folder / "lines.trec")
    assert (together.to_dict() if together else {}) == alone


NUMBERS = st.from_regex(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@pytest.mark.parametrize("separator", [" ", "\t", "  "])
@given(numbers=st.lists(NUMBERS.filter(str.isascii), min_size=1, max_size=8))
@patient
def test_a_score_is_the_double_nearest_to_what_is_written(folder, separator, numbers):
    fields = [["q", "Q0", f"d{i}", "1", number, "tag"] for i, number in enumerate(numbers)]
    (folder / "numbers.trec").write_text("\n".join(separator.join(row) for row in fields))
    run = read_or_refuse(folder / "numbers.trec")
    values = [float(number) for number in numbers]  # Python's float rounds correctly
    if all(map(math.isfinite, values)):
        assert run is not None
        assert {d: s.hex() for d, s in run["q"].items()} == {f"d{i}": v.hex() for i, v in enumerate(values)}
    else:
        assert run is None


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


PAIRS = st.lists(st.tuples(st.text(max_size=3), st.floats(0, 1)), max_size=2)  # such as a dictionary is made of


@given(
    value=JSON_VALUES
    | st.dictionaries(st.text(max_size=3), PAIRS, max_size=2)
    | st.dictionaries(st.text(max_size=3), st.dictionaries(st.text(max_size=3), st.floats()))
)
@settings(max_examples=300, deadline=None)
def test_nested_json_is_read_when_and_only_when_it_has_the_shape(folder, value):
    (folder / "value.json").write_text(json.dumps(value), "utf-8")
    run = read_or_refuse(folder / "value.json")
    try:
        expected = Run.from_dict(value) if isinstance(value, dict) else None
    except RunError:
        expected = None
    if expected is not None and (
        not len(expected) or any(isinstance(s, bool) for d in value.values() for s in d.values())
    ):
        expected = None  # a file without query, or with true for a number
    assert (run is None) == (expected is None)
    assert run is None or (run == expected and run.query_ids == tuple(value))


def test_every_format_is_in_these_tests():
    assert {name.split(".")[1] for name in NAMES} == set(FORMATS)
