"""Corrections of a snapshot: what becomes of its records, its trace and the scores of runs."""

import json
import tracemalloc
from dataclasses import replace
from datetime import date
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.correcting.apply import correct
from builders.correcting.corrections import CorrectionsError
from freshstack_datasets.errors import InputError, SnapshotError
from freshstack_datasets.loading import load
from freshstack_datasets.ranking import Run
from freshstack_datasets.records import Document, Judgment, Nugget, Query
from freshstack_datasets.tables.schema import TABLES
from freshstack_datasets.verification import verify
from tests.builders.correcting import FLIP, JUDGMENTS, NUGGETS, QUERIES, RUN, row, write_pair, write_table


@pytest.fixture
def pair(tmp_path):
    write_pair(tmp_path / "pair")
    return tmp_path


def corrected(folder, *rows, out="out", of="pair", **more):
    """Apply rows to the snapshot in a folder, and open what they make of it."""
    told = correct(folder / of, write_table(folder / "c.csv", *rows), folder / out, **more)
    assert verify(folder / out) == []
    return told, load(folder / out)


def log(folder):
    lines = (folder / "provenance" / "corrections.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_flipped_judgment_changes_scores_as_worked_out_by_hand(pair):
    told, data = corrected(pair, FLIP, runs=[Run.from_dict(RUN, "alpha")])
    (effect,) = told.differences
    # q1, before: d1 supports nothing, d3 (n2) is at rank 2. DCG = 1/log2(3) = 0.630930, the ideal has d2 and d3:
    # 1 + 0.630930. One of two nuggets is covered, and one of the two relevant documents, d2 and d3, is found.
    # q1, after: d1 supports n1. DCG = 1 + 0.630930, the ideal has a third document, whose nugget was seen:
    # 1 + 0.630930 + 0.5/log2(4) = 1.880930. Both nuggets are covered, and two of three relevant documents found.
    # q2 scores 1 in all before and after; the means are over both.
    expected = {
        "alpha_nDCG@10": (0.630930 / 1.630930, 1.630930 / 1.880930),
        "Coverage@20": (1 / 2, 1.0),
        "Recall@50": (1 / 2, 2 / 3),
    }
    assert list(effect.measures) == list(expected)
    for name, (before, after) in expected.items():
        found = effect.measures[name]
        assert found.before == pytest.approx((before + 1) / 2, abs=1e-6)
        assert found.after == pytest.approx((after + 1) / 2, abs=1e-6)
        assert found.difference == pytest.approx((after - before) / 2, abs=1e-6)
        (query,) = found.queries
        assert query.query_id == "q1"
        assert (query.before, query.after) == (pytest.approx(before, abs=1e-6), pytest.approx(after, abs=1e-6))
    assert data.qrels == {"q1": {"d1": 1, "d2": 1, "d3": 1}, "q2": {"d4": 1}}
    assert effect.warnings == ()


def test_a_judgment_that_people_made_is_no_longer_that_of_a_models_call(pair):
    _, data = corrected(pair, FLIP)
    assert list(data.judgments) == [Judgment("q1", "n1", "d1", 1), *JUDGMENTS[1:]]
    (line,) = log(pair / "out")
    assert line["was"] == [
        {"kind": "judgment", "query_id": "q1", "nugget_id": "n1", "doc_id": "d1", "score": 0, "call_id": "c7"}
    ]


def test_the_log_says_what_was_what_is_why_who_and_when(pair):
    corrected(pair, row("question", "change", "q1", "tags", '["a", "b c"]', "[]", reason="naïve, «no»", by="Ada, B."))
    (line,) = log(pair / "out")
    assert line == {
        "snapshot": "2024-10.1",
        "kind": "question",
        "action": "change",
        "query_id": "q1",
        "field": "tags",
        "old": ["a", "b c"],
        "new": [],
        "reason": "naïve, «no»",
        "by": "Ada, B.",
        "date": "2024-11-02",
    }


def test_the_new_snapshot_names_the_old_one_and_keeps_where_it_came_from(pair):
    told, _ = corrected(pair, FLIP, created=date(2024, 11, 5))
    before = json.loads((pair / "pair" / "snapshot.json").read_text())
    after = json.loads((pair / "out" / "snapshot.json").read_text())
    assert (after["dataset"], after["snapshot"], after["created"]) == ("acme/pair", "2024-10.1", "2024-11-05")
    assert (after["license"], after["sources"]) == (before["license"], before["sources"])
    parameters = {"seed": 1, "corrects": "2024-10", "corrects_fingerprint": before["fingerprint"]}
    assert after["recipe"] == before["recipe"] | {"parameters": parameters}
    assert after["fingerprint"] == told.manifest.fingerprint != before["fingerprint"]
    assert told.before.fingerprint == before["fingerprint"]


def test_only_the_tables_that_follow_from_the_corrections_change(pair):
    told, _ = corrected(pair, FLIP)
    same = {name for name, table in told.before.tables.items() if table.digest == told.manifest.tables[name].digest}
    assert same == {"corpus", "queries", "nuggets"}
    for name in same:
        old, new = (next((pair / folder / name).iterdir()).read_bytes() for folder in ("pair", "out"))
        assert old == new


def test_the_trace_is_copied_and_the_card_keeps_what_it_said(pair):
    told, _ = corrected(pair, FLIP)
    names = ["calls.parquet", "corrections.jsonl", "dropped.jsonl", "pool.parquet"]
    assert [file.path for file in told.manifest.provenance] == [f"provenance/{name}" for name in names]
    for name in ("calls.parquet", "dropped.jsonl", "pool.parquet"):
        old, new = ((pair / folder / "provenance" / name).read_bytes() for folder in ("pair", "out"))
        assert old == new
    card = (pair / "out" / "README.md").read_text()
    assert "\n\nName the \\*authors\\*.\n\n" in card
    assert "\n## Limits\n\nFew.\n\n## Corrections\n\nPeople found mistakes in acme/pair@2024-10 " in card
    assert "corrects them: 1 judgment changed. provenance/corrections.jsonl says" in card


def test_a_correction_of_a_correction_is_the_next_one_and_goes_on_with_the_log(pair):
    corrected(pair, FLIP)
    back = FLIP | {"old": "1", "new": "0", "by": "bob"}
    told, data = corrected(pair, back, of="out", out="again")
    assert (data.snapshot, told.before.snapshot) == ("2024-10.2", "2024-10.1")
    assert told.manifest.recipe.parameters["corrects"] == "2024-10.1"
    lines = [(line["snapshot"], line["by"], line["old"], line["new"]) for line in log(pair / "again")]
    assert lines == [("2024-10.1", "ada", 0, 1), ("2024-10.2", "bob", 1, 0)]
    assert list(data.judgments) == [replace(JUDGMENTS[0], call_id=None), *JUDGMENTS[1:]]
    assert (pair / "again" / "README.md").read_text().count("## Corrections") == 1


@pytest.mark.parametrize("snapshot, after", [("2024-10.9", "2024-10.10"), ("2024-10.9998", "2024-10.9999")])
def test_the_number_of_a_correction_is_a_number(tmp_path, snapshot, after):
    write_pair(tmp_path / "pair", snapshot=snapshot)
    assert corrected(tmp_path, FLIP)[1].snapshot == after


def test_a_month_has_room_for_9999_corrections(tmp_path):
    write_pair(tmp_path / "pair", snapshot="2024-10.9999")
    with pytest.raises(InputError, match=r"snapshot 2024-10\.9999, expected fewer than 9,999 corrections, got 9999"):
        corrected(tmp_path, FLIP)


def test_the_same_corrections_give_the_same_tables(pair):
    first, _ = corrected(
        pair,
        FLIP,
        row("nugget", "add", "q2 n9", "text", "", "new"),
        row("judgment", "add", "q2 n9 d5", "score", "", "0"),
    )
    second = correct(pair / "pair", pair / "c.csv", pair / "second")
    assert first.manifest.tables == second.manifest.tables  # files and their bytes too
    assert first.manifest.provenance == second.manifest.provenance


def test_rows_in_another_order_give_the_same_tables(pair):
    rows = [
        FLIP,
        row("question", "remove", "q2", "text", "Why?"),
        row("judgment", "add", "q1 n2 d5", "score", "", "1"),
        row("nugget", "change", "q1 n2", "importance", "", "okay"),
    ]
    first, data = corrected(pair, *rows)
    second, _ = corrected(pair, *reversed(rows), out="second")
    assert first.manifest.fingerprint == second.manifest.fingerprint
    assert list(data.queries) == QUERIES[:1]
    assert list(data.nuggets) == [NUGGETS[0], replace(NUGGETS[1], importance="okay")]
    assert list(data.judgments) == [
        Judgment("q1", "n1", "d1", 1),
        JUDGMENTS[1],
        JUDGMENTS[2],
        Judgment("q1", "n2", "d5", 1),
    ]


def test_the_judgments_of_a_nugget_that_is_removed_go_with_it(pair):
    told, data = corrected(pair, row("nugget", "remove", "q1 n1", "text", "first"))
    assert list(data.nuggets) == NUGGETS[1:]
    assert list(data.judgments) == JUDGMENTS[2:]
    assert data.qrels == {"q1": {"d3": 1}, "q2": {"d4": 1}}
    assert told.counts["nuggets"] == {"changed": 0, "added": 0, "removed": 1}
    assert told.counts["judgments"] == {"changed": 0, "added": 0, "removed": 2}
    (line,) = log(pair / "out")
    assert (line["field"], line["old"], line["new"]) == ("text", "first", None)
    assert [(was["kind"], was.get("text"), was.get("doc_id")) for was in line["was"]] == [
        ("nugget", "first", None),
        ("judgment", None, "d1"),
        ("judgment", None, "d2"),
    ]


def test_the_nuggets_and_judgments_of_a_question_that_is_removed_go_with_it(pair):
    told, data = corrected(pair, row("question", "remove", "q1", "title", "How?"), runs=[Run.from_dict(RUN, "alpha")])
    assert (list(data.queries), list(data.nuggets), list(data.judgments)) == (QUERIES[1:], NUGGETS[2:], JUDGMENTS[3:])
    assert {kind: fates["removed"] for kind, fates in told.counts.items()} == {
        "judgments": 3,
        "nuggets": 2,
        "questions": 1,
    }
    coverage = told.differences[0].measures["Coverage@20"]
    assert (coverage.before, coverage.after) == (3 / 4, 1.0)  # the mean of 1/2 and 1, then 1 alone
    assert [(q.query_id, q.before, q.after) for q in coverage.queries] == [("q1", 1 / 2, None)]
    assert told.differences[0].warnings == (
        "left out, because the dataset does not have them: 1 of the run's queries ('q1')",
    )


def test_a_question_is_added_value_by_value(pair):
    told, data = corrected(
        pair,
        row("judgment", "add", "q0 n0 d5", "score", "", "1"),
        row("question", "add", "q0", "title", "", "=1+1?"),
        row("question", "add", "q0", "body", "", 'a "b",\nc'),
        row("question", "add", "q0", "tags", "", '["x", "ä"]'),
        row("question", "add", "q0", "score", "", "-3"),
        row("nugget", "add", "q0 n0", "text", "", "=2"),
        row("nugget", "add", "q0 n0", "importance", "", "okay"),
        runs=[Run.from_dict(RUN | {"q0": {"d5": 1.0}}, "alpha")],
    )
    new = Query("q0", '=1+1? a "b",\nc', title="=1+1?", body='a "b",\nc', tags=("x", "ä"), score=-3)
    assert list(data.queries) == [new, *QUERIES]
    assert list(data.nuggets) == [Nugget("n0", "q0", 0, "=2", "okay"), *NUGGETS]
    assert list(data.judgments) == [Judgment("q0", "n0", "d5", 1), *JUDGMENTS]
    assert told.counts["questions"] == {"changed": 0, "added": 1, "removed": 0}
    recall = told.differences[0].measures["Recall@50"]
    assert (recall.before, recall.after) == (3 / 4, pytest.approx((1 + 1 / 2 + 1) / 3))
    assert [(q.query_id, q.before, q.after) for q in recall.queries] == [("q0", None, 1.0)]


def test_an_added_nugget_comes_after_those_that_are_there_unless_it_says_where(pair):
    _, data = corrected(
        pair,
        row("nugget", "add", "q2 n8", "text", "", "eighth"),
        row("nugget", "add", "q2 n7", "text", "", "seventh"),
        row("nugget", "add", "q2 n6", "text", "", "sixth"),
        row("nugget", "add", "q2 n6", "position", "", "0"),
        *(row("judgment", "add", f"q2 n{i} d1", "score", "", "0") for i in (6, 7, 8)),
    )
    # n3 has position 4
    assert [(n.nugget_id, n.position) for n in data.nuggets_of("q2")] == [("n6", 0), ("n3", 4), ("n8", 5), ("n7", 6)]


@pytest.mark.parametrize(
    "query, field, old, new, becomes",
    [
        (Query("q", "A B", title="A", body="B"), "title", "A", "C", Query("q", "C B", title="C", body="B")),
        (Query("q", "A B\n", title="A", body="B\n"), "title", "A", "C", Query("q", "C B\n", title="C", body="B\n")),
        (Query("q", "A B", title="A", body="B\n"), "title", "A", "C", Query("q", "C B", title="C", body="B\n")),
        (Query("q", "A ", title="A", body=""), "body", "", "D", Query("q", "A D", title="A", body="D")),
        (Query("q", "A", title="A"), "body", "", "D", Query("q", "A D", title="A", body="D")),
        (Query("q", "A B", title="A", body="B"), "body", "B", "", Query("q", "A", title="A")),
        (Query("q", "other", title="A", body="B"), "body", "B", "D", Query("q", "other", title="A", body="D")),
        (Query("q", "other", title="A", body="B"), "text", "other", "D", Query("q", "D", title="A", body="B")),
        (Query("q", "A"), "text", "A", "D", Query("q", "D")),
        (Query("q", "A", score=3), "score", "3", "-4", Query("q", "A", score=-4)),
        (Query("q", "A", tags=("b", "a")), "tags", '["b","a"]', "", Query("q", "A")),
    ],
)
def test_the_text_of_a_question_follows_its_title_and_body_where_it_did(tmp_path, query, field, old, new, becomes):
    write_pair(
        tmp_path / "pair", queries=[query], nuggets=[Nugget("n", "q", 0, "")], judgments=[Judgment("q", "n", "d1", 1)]
    )
    _, data = corrected(tmp_path, row("question", "change", "q", field, old, new))
    assert list(data.queries) == [becomes]


def test_a_document_that_the_corpus_is_known_to_lack_can_be_judged_until_nobody_does(tmp_path):
    gone = Judgment("q2", "n3", "gone", 1)
    write_pair(tmp_path / "pair", judgments=[*JUDGMENTS, gone], missing=["gone"])
    told, data = corrected(tmp_path, row("judgment", "add", "q1 n2 gone", "score", "", "1"))
    assert told.manifest.missing == ("gone",)
    assert Judgment("q1", "n2", "gone", 1) in list(data.judgments)
    told, _ = corrected(tmp_path, row("judgment", "remove", "q2 n3 gone", "score", "1"), out="without")
    assert told.manifest.missing == ()


def test_ids_of_any_kind_are_found(tmp_path):
    odd = "=cmd|' /C'!A0, \"x\" #1 ä"
    write_pair(
        tmp_path / "pair",
        documents=[Document(odd, "", "")],
        queries=[Query(odd, "A")],
        nuggets=[Nugget(odd, odd, 0, "a")],
        judgments=[Judgment(odd, odd, odd, 1)],
    )
    ids = {"query_id": odd, "nugget_id": odd, "doc_id": odd}
    _, data = corrected(tmp_path, FLIP | ids | {"old": "1", "new": "0"})
    assert list(data.judgments) == [Judgment(odd, odd, odd, 0)]


REFUSED = {
    "an older state": (
        [FLIP | {"old": "1", "new": "0"}],
        "c.csv:2, old, expected '0', which the snapshot has, got '1'; look at it again",
    ),
    "an empty cell for a value": (
        [row("nugget", "change", "q1 n1", "importance", "", "okay")],
        "old, expected 'vital', which the snapshot has, got ''",
    ),
    "a question that is not there": (
        [row("question", "change", "q9", "title", "a", "b")],
        "query_id, expected a question of the snapshot, got 'q9'",
    ),
    "a nugget that is not there": (
        [row("nugget", "remove", "q1 n9", "text", "a")],
        "nugget_id, expected a nugget of the snapshot, got 'n9'",
    ),
    "a nugget of another question": (
        [row("nugget", "change", "q2 n1", "text", "first", "b")],
        "query_id, expected 'q1', whose nugget 'n1' is, got 'q2'",
    ),
    "a judgment of a nugget of another question": (
        [row("judgment", "add", "q2 n1 d1", "score", "", "1")],
        "query_id, expected 'q1', whose nugget 'n1' is, got 'q2'",
    ),
    "a judgment that is not there": (
        [row("judgment", "change", "q1 n1 d5", "score", "0", "1")],
        "doc_id, expected a document that was judged for the nugget, got 'd5'",
    ),
    "a document that is not there": (
        [row("judgment", "add", "q1 n1 d9", "score", "", "1")],
        "doc_id, expected a document of the corpus, got 'd9'",
    ),
    "a judgment that is there": (
        [row("judgment", "add", "q1 n1 d1", "score", "", "1")],
        "doc_id, expected the id of a new judgment, got 'd1', which is there",
    ),
    "a nugget that is there": (
        [row("nugget", "add", "q2 n1", "text", "", "a")],
        "nugget_id, expected the id of a new nugget, got 'n1', which is there",
    ),
    "a question that is there": (
        [row("question", "add", "q1", "title", "", "a")],
        "query_id, expected the id of a new question, got 'q1', which is there",
    ),
    "two new nuggets of one id": (
        [row("nugget", "add", "q1 n9", "text", "", "a"), row("nugget", "add", "q2 n9", "text", "", "b")],
        "c.csv:3, nugget_id, expected the id of a new nugget, got that of line 2",
    ),
    "two values for one": (
        [
            row("nugget", "change", "q1 n1", "text", "first", "a"),
            row("nugget", "change", "q1 n1", "text", "first", "b"),
        ],
        "c.csv:3, field, expected one row for each value, got text again, after line 2",
    ),
    "the same row twice": ([FLIP, FLIP], "c.csv:3, field, expected one row for each value, got score again"),
    "a removal twice": (
        [row("nugget", "remove", "q1 n1", "text", "first"), row("nugget", "remove", "q1 n1", "position", "0")],
        "c.csv:3, expected one row that removes it, got another one in line 2",
    ),
    "a change of what is removed": (
        [row("nugget", "remove", "q1 n1", "text", "first"), row("nugget", "change", "q1 n1", "text", "first", "b")],
        "c.csv:3, action, expected remove, as line 2 says of it, got change",
    ),
    "a judgment of a nugget that is removed": (
        [FLIP, row("nugget", "remove", "q1 n1", "text", "first")],
        "c.csv:2, nugget_id, expected a nugget that stays, got one that line 3 removes, with all that hangs on it",
    ),
    "a nugget of a question that is removed": (
        [row("question", "remove", "q1", "title", "How?"), row("nugget", "remove", "q1 n1", "text", "first")],
        "c.csv:3, query_id, expected a question that stays, got one that line 2 removes",
    ),
    "a text that follows": (
        [row("question", "change", "q1", "text", "How? Like so.", "a")],
        "field, expected title or body, of which the text is made, got text",
    ),
    "a question without its last nugget": (
        [FLIP, row("nugget", "remove", "q2 n3", "text", "third")],
        "c.csv:3, expected at least one nugget of question 'q2', got none is left",
    ),
    "a nugget without its last judgment": (
        [row("judgment", "remove", "q1 n1 d2", "score", "1"), row("judgment", "remove", "q1 n1 d1", "score", "0")],
        "c.csv:3, expected at least one judgment of nugget 'n1', got none is left",
    ),
    "a new nugget without judgment": (
        [row("nugget", "add", "q1 n9", "text", "", "a")],
        "c.csv:2, expected at least one judgment of nugget 'n9', got none is left",
    ),
    "a new question without nugget": (
        [row("question", "add", "q9", "title", "", "a")],
        "c.csv:2, expected at least one nugget of question 'q9', got none is left",
    ),
    "a new nugget without text": (
        [row("nugget", "add", "q1 n9", "importance", "", "okay")],
        "c.csv:2, expected a text of the nugget, got none",
    ),
    "a new question without text": (
        [row("question", "add", "q9", "author", "", "eve")],
        "c.csv:2, expected a text of the question, got none",
    ),
    "no question": (
        [row("question", "remove", "q1", "title", "How?"), row("question", "remove", "q2", "text", "Why?")],
        "c.csv:3, expected at least one question, got none is left",
    ),
}


@pytest.mark.parametrize(("rows", "says"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_with_its_line_and_column(pair, rows, says):
    table = write_table(pair / "c.csv", *rows)
    before = sorted(pair.rglob("*"))
    with pytest.raises(CorrectionsError) as raised:
        correct(pair / "pair", table, pair / "out")
    assert says in str(raised.value)
    assert "nothing was written" in str(raised.value)
    assert sorted(pair.rglob("*")) == before


def test_long_texts_are_shown_where_they_part(tmp_path):
    text = "x" * 5_000
    write_pair(tmp_path / "pair", nuggets=[Nugget("n1", "q1", 0, text + "a"), *NUGGETS[1:]])
    with pytest.raises(CorrectionsError) as raised:
        corrected(tmp_path, row("nugget", "change", "q1 n1", "text", text + "b", "c"))
    wanted = f"expected '{'x' * 20}a' from character 4,981 on, which the snapshot has, got '{'x' * 20}b' from character"
    assert wanted in str(raised.value)


def test_all_problems_are_told_by_line(pair):
    rows = [row("nugget", "change", f"q1 m{i}", "text", "a", "b") for i in range(30)]
    rows[20] = FLIP | {"new": "2"}
    with pytest.raises(CorrectionsError) as raised:
        corrected(pair, *rows)
    assert str(raised.value).endswith("c.csv', got 30 problems; nothing was written")
    assert [problem.line for problem in raised.value.problems] == list(range(2, 32))
    assert str(raised.value.told[20]).endswith("c.csv:22, new, expected 0 or 1, got '2'")


def test_a_snapshot_that_is_damaged_is_refused(pair):
    path = pair / "pair" / "provenance" / "pool.parquet"
    path.write_bytes(b"loop")
    with pytest.raises(
        SnapshotError, match=r"pair is not whole, .*got 1 problem, the first: provenance/pool.parquet: changed"
    ):
        corrected(pair, FLIP)
    assert not (pair / "out").exists()


def test_files_that_are_no_part_of_the_snapshot_are_left_behind(pair):
    (pair / "pair" / ".cache").mkdir()
    (pair / "pair" / ".cache" / "huggingface").write_text("as a download leaves it")
    corrected(pair, FLIP)
    assert not (pair / "out" / ".cache").exists()


def test_a_corpus_that_would_become_another_one_is_refused(pair):
    path = pair / "pair" / TABLES["corpus"].file()
    rows = pq.read_table(path).to_pylist()
    rows[0]["metadata"] = None  # which this package never writes: its documents have members, each of which may be null
    pq.write_table(pa.Table.from_pylist(rows, TABLES["corpus"].schema), path)
    lines = [json.dumps(row, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n" for row in rows]
    manifest = json.loads((pair / "pair" / "snapshot.json").read_text())
    manifest["tables"]["corpus"]["digest"] = sha256("".join(lines).encode()).hexdigest()
    told = manifest["tables"]["corpus"]["files"][0]
    told |= {"size": path.stat().st_size, "sha256": sha256(path.read_bytes()).hexdigest()}
    digests = "".join(f"{name} {table['digest']}\n" for name, table in sorted(manifest["tables"].items()))
    manifest["fingerprint"] = sha256(digests.encode()).hexdigest()
    (pair / "pair" / "snapshot.json").write_text(json.dumps(manifest))
    assert verify(pair / "pair") == []
    with pytest.raises(
        SnapshotError, match=r"the corpus of .*, expected the same rows as before, got others; a null for"
    ):
        corrected(pair, FLIP)
    assert not (pair / "out").exists()


def test_a_run_of_another_dataset_is_refused_before_anything_is_written(pair):
    with pytest.raises(InputError, match="the run shares no query with acme/pair@2024-10"):
        corrected(pair, FLIP, runs=[Run.from_dict({"x": {"d": 1.0}}, "alpha")])
    assert not (pair / "out").exists()


def test_a_run_that_fits_only_what_is_removed_leaves_nothing_behind(pair):
    remove = row("question", "remove", "q2", "text", "Why?")
    with pytest.raises(InputError, match=r"the run shares no query with acme/pair@2024-10\.1"):
        corrected(pair, remove, runs=[Run.from_dict({"q2": {"d4": 1.0}}, "alpha")])
    assert sorted(path.name for path in pair.iterdir()) == ["c.csv", "pair"]


def test_a_folder_that_is_taken_is_refused_before_anything_is_read(pair):
    with pytest.raises(InputError, match="expected a new or an empty folder"):
        correct(pair / "no", pair / "no.csv", pair / "pair")


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    peaks = []
    for count in (100, 300):  # 20 and 60 MB of text, which is read and written in pieces of at most 16 MB
        folder = tmp_path / str(count)
        folder.mkdir()
        write_pair(folder / "pair", documents=(Document(f"d{i}", "", "x" * 200_000) for i in range(count)))
        tracemalloc.start()
        try:
            corrected(folder, FLIP)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2_000_000


def test_a_card_that_cannot_be_read_does_not_matter(pair):
    (pair / "pair" / "README.md").write_bytes(b"\xff")
    corrected(pair, FLIP)
    assert "## Corrections" in (pair / "out" / "README.md").read_text()
    (pair / "pair" / "README.md").unlink()
    corrected(pair, FLIP, out="second")
