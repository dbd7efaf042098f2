"""The files beside a submission: not trusted when they are read, and the verdict on a second run."""

import contextlib
import errno
import hashlib
import json
import os
from math import log2

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freshstack_datasets.errors import InputError
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.runs import read_run, write_run
from leaderboard.boards.definition import read_definition
from leaderboard.boards.reading import read_board
from leaderboard.scoring import per_query_of, read_reproduction, read_scores, write_reproduction, write_scores
from tests.leaderboard import made
from tests.leaderboard.test_scoring import ENTRY, RUN, board, toy


@pytest.fixture
def scored(tmp_path):
    """A submission that was scored."""
    folder = board(tmp_path, {"toy": toy(tmp_path / "toy")}, measures=("Recall@2",))
    one = made.made_submission(folder.parents[1], "made", made.SNAPSHOT, ENTRY, {"toy": RUN})
    write_scores(one, read_definition(folder))
    return one


def test_a_submission_that_was_not_scored_has_no_scores(scored):
    (scored / "scores.json").unlink()
    assert read_scores(scored) is None


def test_values_per_query_that_were_changed_are_refused(scored):
    scores = read_scores(scored)
    lines = (scored / "per_query.jsonl").read_text()
    (scored / "per_query.jsonl").write_text(lines.replace('"Recall@2": 0.5', '"Recall@2": 1.0'))
    for read in (lambda: read_scores(scored), lambda: per_query_of(scored, scores)):
        with pytest.raises(InputError, match=r"per_query\.jsonl: sha256, expected .*; score it again"):
            read()
    (scored / "per_query.jsonl").unlink()
    with pytest.raises(InputError, match="expected a file with the values per query, got none"):
        read_scores(scored)


def test_scores_in_the_folder_of_another_submission_are_refused(scored):
    other = scored.rename(scored.with_name("20261102-acme-bm25"))
    with pytest.raises(InputError, match=r"scores\.json: submission, expected 20261102-acme-bm25, got '20261101-acme"):
        read_scores(other)


@pytest.mark.parametrize("name", ["scores.json", "per_query.jsonl"])
def test_links_and_pipes_are_not_read(scored, tmp_path, name):
    (scored / name).rename(tmp_path / name)
    (scored / name).symlink_to(tmp_path / name)
    with pytest.raises(InputError, match=r"expected a file with .*, got a link"):
        read_scores(scored)
    (scored / name).unlink()
    os.mkfifo(scored / name)
    with pytest.raises(InputError, match=r"expected a file with .*, got something else"):
        read_scores(scored)


def test_a_disk_that_fails_is_one_line(scored, monkeypatch):
    def failing(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(hashlib, "file_digest", failing)
    with pytest.raises(InputError, match=r"cannot read .*per_query\.jsonl', .*got input/output error"):
        read_scores(scored)


def test_ids_of_every_kind_come_back(tmp_path):
    ids = ["q 1", "é\u2028\u0085x", '"q"\\', "\U0001f600", "a\x0b\x1cb"]
    data = toy(
        tmp_path / "toy",
        queries=[Query(one, "text") for one in ids],
        nuggets=[Nugget(f"n{place}", one, 0, "n") for place, one in enumerate(ids)],
        judgments=[Judgment(one, f"n{place}", "d1", 1) for place, one in enumerate(ids)],
    )
    folder = board(tmp_path, {"toy": data}, measures=("Recall@2",))
    runs = {"toy": {one: {"d1": 1.0} for one in ids}}
    one = made.made_submission(folder.parents[1], "made", made.SNAPSHOT, ENTRY, runs, suffix=".json")
    found = per_query_of(one, write_scores(one, read_definition(folder)))["toy"]
    assert sorted(found.query_ids) == sorted(ids)
    assert found.values[0].tolist() == [1.0] * len(ids)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "expected JSON"),
        (b"\xff\xfe", "expected JSON|unicode"),
        (b"[]", "scores.json, expected"),
        (b'{"schema_version": 2}', "schema_version"),
        (b"[" * 100_000, "expected JSON"),
        (b" " * 16_000_001, "at most 16,000,000 bytes"),
    ],
)
def test_other_content_is_refused_with_one_line(scored, content, complaint):
    (scored / "scores.json").write_bytes(content)
    with pytest.raises(InputError, match=complaint) as caught:
        read_scores(scored)
    assert "\n" not in str(caught.value)
    assert caught.value.hint == "score it again: python -m leaderboard score"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda told: told | {"more": 1}, "more"),
        (lambda told: told | {"seed": True}, "seed"),
        (lambda told: told | {"missing": ["x"]}, "null where a topic is missing"),
        (lambda told: told | {"per_query": told["per_query"] | {"file": "../per_query.jsonl"}}, "per_query.file"),
    ],
)
def test_members_that_are_not_allowed_are_named(scored, change, complaint):
    told = json.loads((scored / "scores.json").read_text())
    (scored / "scores.json").write_text(json.dumps(change(told)))
    with pytest.raises(InputError, match=complaint):
        read_scores(scored)


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        (("topics", "alpha", "measures", "Recall@50", "value"), 0.999, "alpha: Recall@50 is 0.999, and the mean of"),
        (("topics", "beta", "judged", "Judged@20"), 1.5, "beta: Judged@20 is 1.5, and the mean of its values is 0"),
        (("macro", "measures", "Coverage@20", "value"), 1, "macro: Coverage@20 is 1, and the mean of its values is 0"),
        (("macro", "judged", "Judged@10"), -0.5, "macro: Judged@10 is -0.5"),
        (("macro", "condensed", "Recall@50"), 0.99, "macro, on judged documents alone: Recall@50 is 0.99"),
        (("topics", "alpha", "measures", "Recall@50", "low"), 0.98, "low: expected at most high"),
        (("macro", "measures", "Recall@50", "high"), -1, "low: expected at most high"),
    ],
)
def test_a_score_that_somebody_typed_is_refused(boarded, place, value, complaint):
    told = json.loads((boarded / "scores.json").read_text())
    inner = told
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    (boarded / "scores.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match=complaint):
        per_query_of(boarded, read_scores(boarded))
    with pytest.raises(InputError, match=complaint):
        read_board(boarded.parent)


@pytest.fixture
def boarded(tmp_path):
    """A submission of two topics that was scored."""
    root = made.made_board(tmp_path, systems=1, topics=2)
    return root / made.BOARD / made.SNAPSHOT / made.entry_of(0)


def rewritten(folder, change):
    """Change the values per query and what the scores say of them, as somebody would who wants to cheat."""
    lines = change((folder / "per_query.jsonl").read_bytes())
    (folder / "per_query.jsonl").write_bytes(lines)
    told = json.loads((folder / "scores.json").read_text())
    told["per_query"]["sha256"] = hashlib.sha256(lines).hexdigest()
    (folder / "scores.json").write_text(json.dumps(told))
    return read_scores(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: lines.split(b"\n", 1)[1],  # a query less
        lambda lines: lines + lines.split(b"\n", 1)[0] + b"\n",  # one twice
        lambda lines: lines.replace(b'"Recall@2"', b'"Recall@3"'),
        lambda lines: lines.replace(b'"toy"', b'"other"'),
        lambda lines: lines.replace(b"0.5", b"NaN"),
        lambda lines: lines.replace(b"0.5", b"1e999"),
        lambda lines: lines.replace(b"0.5", b'"0.5"'),
        lambda lines: lines.replace(b"0.5", b"true"),
        lambda lines: lines.replace(b'"query": "q1"', b'"query": 1'),
        lambda lines: b"\n" + lines,
        lambda lines: b"[" * 50_000 + b"\n" + lines,
        lambda lines: b'"' + b"x" * 200_000 + b'"\n' + lines,
        lambda lines: b"",
    ],
)
def test_values_of_another_shape_are_refused(scored, change):
    scores = rewritten(scored, change)
    with pytest.raises(InputError, match=r"per_query\.jsonl.*score it again"):
        per_query_of(scored, scores)


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files_that_were_damaged_give_what_was_there_or_an_error(scored, data):
    name = data.draw(st.sampled_from(["scores.json", "per_query.jsonl"]))
    content = bytearray((scored / name).read_bytes())
    whole = bytes(content)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=6))
    (scored / name).write_bytes(content)
    with contextlib.suppress(InputError):
        scores = read_scores(scored)
        assert scores is not None
        assert per_query_of(scored, scores)["toy"].values.shape == (4, 3)
    (scored / name).write_bytes(whole)


def long_run(rank, depth=120):
    """Return a run with the one relevant document at a rank."""
    others = iter(f"x{number:03}" for number in range(depth))
    ranked = ["right" if place == rank else next(others) for place in range(1, depth + 1)]
    return {"q": {doc_id: float(-place) for place, doc_id in enumerate(ranked)}}


@pytest.fixture
def deep(tmp_path):
    """A submission whose one relevant document is at rank 99."""
    data = toy(
        tmp_path / "toy",
        documents=[Document("right", "", "text")],
        queries=[Query("q", "one")],
        nuggets=[Nugget("n", "q", 0, "n")],
        judgments=[Judgment("q", "n", "right", 1)],
    )
    folder = board(tmp_path, {"toy": data}, measures=("alpha_nDCG@120",))
    one = made.made_submission(folder.parents[1], "made", made.SNAPSHOT, ENTRY, {"toy": long_run(99)})
    write_scores(one, read_definition(folder))
    return one


def again(tmp_path, rank):
    folder = tmp_path / f"again {rank}"
    folder.mkdir()
    write_run(long_run(rank), folder / "toy.jsonl.gz")
    return folder


@pytest.mark.parametrize(
    ("rank", "verdict", "tier"),
    [(99, "identical", "reproduced"), (100, "reproduced", "reproduced"), (110, "failed", "scored")],
)
def test_a_second_run_is_identical_near_or_neither(deep, tmp_path, rank, verdict, tier):
    found = write_reproduction(deep, again(tmp_path, rank), read_definition(deep.parent))
    # The value is 1 / log2(rank + 1): from 99 to 100 it falls by 0.00033, from 99 to 110 by 0.0033.
    assert found.differences["toy"]["alpha_nDCG@120"] == pytest.approx(1 / log2(rank + 1) - 1 / log2(100), abs=1e-15)
    assert found.largest_difference == abs(found.differences["toy"]["alpha_nDCG@120"])
    assert found.verdict == verdict
    assert read_reproduction(deep) == found
    (entry,) = read_board(deep.parent).entries
    assert entry.tier == tier


def test_a_second_run_of_something_else_does_not_make_it_reproduced(deep, tmp_path):
    definition = read_definition(deep.parent)
    write_reproduction(deep, again(tmp_path, 99), definition)
    write_run(long_run(5), deep / "toy.trec")
    write_scores(deep, definition)
    (entry,) = read_board(deep.parent).entries
    assert (entry.tier, entry.reproduced) == ("scored", None)


def test_every_topic_that_was_submitted_must_be_run_again(tmp_path):
    root = made.made_board(tmp_path, systems=1, topics=2)
    folder = root / made.BOARD / made.SNAPSHOT / made.entry_of(0)
    other = tmp_path / "again"
    other.mkdir()
    write_run(read_run(folder / "alpha.trec"), other / "alpha.trec")
    with pytest.raises(InputError, match="expected a second run of every topic, got none of beta"):
        write_reproduction(folder, other, read_definition(folder.parent))
    assert read_reproduction(folder) is None
    (folder / "beta.trec").unlink()
    found = write_reproduction(folder, other, read_definition(folder.parent))
    assert (list(found.runs), found.verdict) == (["alpha"], "identical")


def test_a_reproduction_of_another_submission_is_refused(deep, tmp_path):
    write_reproduction(deep, again(tmp_path, 99), read_definition(deep.parent))
    other = deep.rename(deep.with_name("20261102-acme-bm25"))
    with pytest.raises(InputError, match=r"reproduction\.json, expected that of 20261102-acme-bm25"):
        read_reproduction(other)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"largest_difference": 0.0}, "largest_difference: expected"),
        ({"verdict": "reproduced"}, "verdict: expected what a largest difference of .* means, got reproduced"),
        ({"verdict": "identical", "largest_difference": 0.0003, "differences": {"toy": {"x": 0.0003}}}, "verdict"),
        ({"differences": {}}, "differences: expected those of each run"),
        ({"differences": {"toy": {}}}, "differences: expected those of each run"),
    ],
)
def test_a_reproduction_that_contradicts_itself_is_refused(deep, tmp_path, changes, complaint):
    write_reproduction(deep, again(tmp_path, 110), read_definition(deep.parent))  # it failed
    path = deep / "reproduction.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(InputError, match=complaint):
        read_board(deep.parent)


def test_a_reproduction_by_other_measures_does_not_count(deep, tmp_path):
    write_reproduction(deep, again(tmp_path, 99), read_definition(deep.parent))
    path = deep / "reproduction.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"differences": {"toy": {"Recall@1": 0.0}}}))
    (entry,) = read_board(deep.parent).entries
    assert entry.tier == "scored"


def test_runs_that_were_handed_in_are_no_second_runs(deep):
    with pytest.raises(InputError, match="--rerun, expected runs that were made once more, got those that were handed"):
        write_reproduction(deep, deep.parent / ".." / deep.parent.name / deep.name, read_definition(deep.parent))
