"""``python -m builders audit``: what it prints, where, how it ends, and the corrections that ``correct`` takes."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest

import freshstack_datasets as fsd
from builders.cli import main
from freshstack_datasets.verification import verify
from tests.builders.audited import all_good, but, fill_csv, save_json, write

NUGGETS = {"a": ["one", 'two, "quoted"\nlines'], "b": ["three"], "c": ["=four", "five"]}


@pytest.fixture
def made(tmp_path, monkeypatch, capsys):
    """A snapshot of three questions, in which Q numbers are those of the fixture's own mapping, and its sheets."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data", NUGGETS)
    assert main(["audit", "sample", "data", "--questions", "3", "--seed", "7", "--out", "sheets"]) == 0
    capsys.readouterr()
    return tmp_path


def numbers(made):
    """From a question's id to its name on the sheet."""
    rows = csv.DictReader(io.StringIO((made / "sheets" / "sheet.csv").read_text("utf-8-sig"), newline=""))
    return {row["id"]: row["row"] for row in rows if " " not in row["row"]}


def test_sample_writes_a_csv_and_a_page(made, capsys):
    assert main(["audit", "sample", "data", "--questions", "2", "--out", "more"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("more: sheet.html and sheet.csv, 2 questions, ")
    assert sorted(path.name for path in (made / "more").iterdir()) == ["sheet.csv", "sheet.html"]


@pytest.mark.parametrize("name", ["data", "."])
def test_without_a_folder_the_sheets_go_beside_the_snapshot(made, monkeypatch, capsys, name):
    if name == ".":
        monkeypatch.chdir("data")
    assert main(["audit", "sample", name, "--questions", "2", "--seed", "7"]) == 0
    assert capsys.readouterr().out.startswith(f"{made / 'data-audit'}: sheet.html and sheet.csv, 2 questions, ")
    assert sorted(path.name for path in (made / "data-audit").iterdir()) == ["sheet.csv", "sheet.html"]
    assert verify(made / "data") == []


def test_sample_says_in_json_what_it_drew(made, capsys):
    assert main(["audit", "sample", "data", "--questions", "3", "--seed", "9", "--out", "more", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    fingerprint = json.loads((made / "data" / "snapshot.json").read_text())["fingerprint"]
    assert told == {
        "path": "more",
        "dataset": "acme/audited",
        "snapshot": "2026-10",
        "fingerprint": fingerprint,
        "seed": 9,
        "questions": 3,
        "nuggets": 5,
        "documents": 3,
    }


def test_score_prints_measures_documents_positions_and_agreement(made, capsys):
    q = numbers(made)
    # ada: of a's two nuggets the second is minor; b lacks one. ben: nothing wrong but c's document
    ada = fill_csv(
        made / "sheets", made / "ada.csv", but({f"{q['a']} nugget 2: minor": "x", f"{q['b']} nuggets: missing": "1"})
    )
    ben = save_json(made / "sheets", made / "x.json", "ben", but({f"{q['c']} document: relevance": "not"}))
    assert main(["audit", "score", "data", ada.name, ben.name]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = [line.split() for line in out.splitlines()]
    assert lines[1] == ["3", "questions,", "from", "ada,", "ben"]
    values = {line[0]: line for line in lines if line}
    # precision by question: ada 1/2, 1, 1, ben 1, 1, 1 = 5.5/6; over all 9/10. recall: b of ada 1/2; over all 9/(9+1)
    assert values["precision"][1:3] == ["91.7", "%"]
    assert values["precision"][6:8] == ["90.0", "%"]
    assert values["recall"][1:3] == ["91.7", "%"]
    assert values["recall"][6:8] == ["90.0", "%"]
    assert values["groundedness"][1:3] == ["100.0", "%"]
    assert values["relevant"][1:3] == ["83.3", "%"]  # 5 of 6
    assert "minor: where a question has such a nugget (1 time): last 100.0 %, first or second 0.0 %, other 0.0 %" in out
    assert "hallucinated: where" not in out
    agreement = [line for line in lines if "kappa," in line]
    assert len(agreement) == 4
    # minor: one says x once, the other never: kappa 0, 4 of 5 the same
    assert [line for line in lines if line[:2] == ["minor", "alpha,"]]
    assert "0.000" in agreement[1]
    assert agreement[1][-3:] == ["80.0", "%", "5"]


def test_score_says_the_same_in_json(made, capsys):
    q = numbers(made)
    said = but({f"{q['a']} nugget 1: hallucinated": "yes"})
    fill_csv(made / "sheets", made / "ada.csv", said)
    assert main(["audit", "score", "data", "ada.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["annotators"], told["questions"]) == (True, ["ada"], 3)
    grounded = told["measures"]["groundedness"]
    # of a 1/2, of b and c 1; 4 of 5 in all. Of three questions, the mean of a resample is 1/2 at least: all a has 1/27
    assert grounded["by_question"] == {"value": pytest.approx(2.5 / 3), "low": 0.5, "high": 1.0, "of": 3}
    assert grounded["over_all"]["value"] == pytest.approx(4 / 5)
    assert told["positions"][0]["hallucinated"]["value"] == pytest.approx(1 / 3)
    assert told["positions"][1]["hallucinated"]["of"] == 2
    assert told["where"]["hallucinated"]["first or second"]["value"] == 1.0
    assert told["where"]["minor"]["last"] == {"value": None, "low": None, "high": None, "of": 0}
    assert told["relevance"]["relevant"]["value"] == 1.0
    assert told["agreement"] == {}
    assert told["corrections"] is None


def test_agreement_of_two_is_in_the_json(made, capsys):
    for name, said in (("ada", {"Q1 nuggets: missing": "1"}), ("ben", {})):
        fill_csv(made / "sheets", made / f"{name}.csv", but(said))
    assert main(["audit", "score", "data", "ada.csv", "ben.csv", "--json"]) == 0
    agreement = json.loads(capsys.readouterr().out)["agreement"]
    nothing = {"value": None, "low": None, "high": None}
    # all say the same of documents; of what is missing, ben always says 0, and two of three are the same
    assert agreement["relevance"]["alpha"] == {**nothing, "of": 3}
    (pair,) = agreement["missing"]["pairs"]
    assert pair["annotators"] == ["ada", "ben"]
    assert pair["same"] == {"value": pytest.approx(2 / 3), "low": 0.0, "high": 1.0, "of": 3}
    assert pair["kappa"]["value"] == 0.0
    # 0 0, 0 0, 0 1: one of six values is 1, so 1 - 5 * 2 / (36 - 25 - 1)
    assert agreement["missing"]["alpha"]["value"] == pytest.approx(0.0)


def test_a_coefficient_that_is_not_defined_is_told_as_none(made, capsys):
    for name in ("ada", "ben"):
        fill_csv(made / "sheets", made / f"{name}.csv", all_good)
    assert main(["audit", "score", "data", "ada.csv", "ben.csv"]) == 0
    assert ["minor", "alpha,", "all", "none", "5"] in [line.split() for line in capsys.readouterr().out.splitlines()]


def test_an_incomplete_sheet_is_refused_with_its_cells_named(made, capsys):
    fill_csv(made / "sheets", made / "ada.csv", but({"Q2 nuggets: missing": "", "Q3 document: relevance": "perhaps"}))
    assert main(["audit", "score", "data", "ada.csv", "--corrections", "c.csv"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    first, second, last = err.splitlines()
    assert first.startswith("ada.csv:")
    assert first.endswith(", Q2 nuggets: missing, expected a whole number from 0 to 999, got an empty cell")
    assert second.endswith(", Q3 document: relevance, expected relevant, partially or not, got 'perhaps'")
    assert last == (
        "error: the cells of 'ada.csv', expected an answer in each, got 1 empty, 1 with something else; nothing was scored"
    )
    assert not (made / "c.csv").exists()


def test_one_cell_alone_is_in_the_line_of_the_error(made, capsys):
    fill_csv(made / "sheets", made / "ada.csv", but({"Q2 nuggets: missing": ""}))
    assert main(["audit", "score", "data", "ada.csv"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "Q2 nuggets: missing, expected a whole number from 0 to 999, got an empty cell; nothing was scored"
    )


def test_of_many_cells_the_first_twenty_are_named_and_the_others_counted(made, capsys):
    # 5 nuggets have two cells each, 3 questions one, 3 documents one: 16 of each sheet
    paths = [fill_csv(made / "sheets", made / f"{name}.csv", lambda *_: "") for name in ("ada", "ben")]
    assert main(["audit", "score", "data", *map(str, paths)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 22
    assert lines[-2] == "and 12 more"
    assert "the cells of 2 sheets, expected an answer in each, got 32 empty" in lines[-1]
    assert main(["audit", "score", "data", *map(str, paths), "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert len(told["problems"]) == 32
    assert told["problems"][0]["file"] == str(paths[0])
    assert told["problems"][0]["cell"] == "Q1 nugget 1: hallucinated"


def test_a_sheet_of_another_snapshot_ends_with_exit_code_3(made, capsys):
    write(made / "other", {**NUGGETS, "a": ["one", "changed"]})
    fill_csv(made / "sheets", made / "ada.csv", all_good)
    assert main(["audit", "score", "other", "ada.csv"]) == 3
    assert "expected a sheet of acme/audited@2026-10#" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["audit"], "missing command; see python -m builders audit --help"),
        (["audit", "sample"], "missing argument 'DIR'"),
        (["audit", "sample", "data", "--out", "sheets"], "cannot write 'sheets', expected a new or an empty folder"),
        (
            ["audit", "sample", "data", "--questions", "4", "--out", "x"],
            "the number of questions, expected 1 to 3, got 4",
        ),
        (["audit", "sample", "nowhere", "--out", "x"], "nowhere"),
        (["audit", "score", "data"], "missing argument 'SHEET'"),
        (["audit", "score", "data", "no.csv"], "cannot read 'no.csv'"),
    ],
)
def test_what_goes_wrong_is_one_line_and_exit_code_2(made, capsys, arguments, message):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


def test_corrections_are_what_most_people_say_and_correct_takes_them(made, capsys):
    q = numbers(made)
    halluc, minor, not_relevant = "nugget {}: hallucinated", "nugget {}: minor", "document: relevance"
    everyone = {
        f"{q['a']} {minor.format(2)}": "yes",
        f"{q['b']} {halluc.format(1)}": "yes",  # b's only nugget
        f"{q['b']} {not_relevant}": "not",  # which goes with b
    }
    two = {
        f"{q['c']} {halluc.format(1)}": "yes",
        f"{q['c']} {not_relevant}": "not",
        f"{q['c']} {halluc.format(1)}".replace("hallucinated", "remark"): "=no such\nflag",
    }
    one = {
        f"{q['a']} {halluc.format(1)}": "yes",
        f"{q['a']} {not_relevant}": "not",
        f"{q['c']} {minor.format(2)}": "yes",
    }
    for name, said in (("ada", everyone | two), ("ben", everyone | two), ("cleo", everyone | one)):
        path = save_json(made / "sheets", made / f"{name}.json", name, but(said))
        told = json.loads(path.read_text())
        told["answers"] |= {cell: text for cell, text in said.items() if cell.endswith("remark")}
        path.write_text(json.dumps(told))
    assert main(["audit", "score", "data", "ada.json", "ben.json", "cleo.json", "--corrections", "c.csv"]) == 0
    assert capsys.readouterr().out.endswith("\nc.csv: 4 corrections\n")
    rows = list(csv.DictReader(io.StringIO((made / "c.csv").read_text(), newline="")))
    today = datetime.now(UTC).date().isoformat()
    assert [tuple(row.values()) for row in rows] == [
        (
            "nugget",
            "change",
            "a",
            "a_1",
            "",
            "importance",
            "",
            "okay",
            "audit: minor or redundant",
            "ada, ben, cleo",
            today,
        ),
        (
            "question",
            "remove",
            "b",
            "",
            "",
            "text",
            "Question b?",
            "",
            "audit: all nuggets hallucinated",
            "ada, ben, cleo",
            today,
        ),
        # its text looks as a formula, so its position stands for it
        (
            "nugget",
            "remove",
            "c",
            "c_0",
            "",
            "position",
            "0",
            "",
            "audit: hallucinated; ada: =no such flag; ben: =no such flag",
            "ada, ben",
            today,
        ),
        # the other judgment of the document goes with the first nugget
        (
            "judgment",
            "change",
            "c",
            "c_1",
            "c doc",
            "score",
            "1",
            "0",
            "audit: document not relevant",
            "ada, ben",
            today,
        ),
    ]

    assert main(["correct", "data", "c.csv", "--out", "out"]) == 0
    out = capsys.readouterr().out
    # removed: b with its nugget and two judgments, c_0 with two
    assert "1 judgment changed, 4 judgments removed, 1 nugget changed, 2 nuggets removed, 1 question removed" in out
    assert verify(made / "out") == []
    corrected = fsd.load(made / "out")
    assert [nugget.nugget_id for nugget in corrected.nuggets] == ["a_0", "a_1", "c_1"]
    assert [nugget.importance for nugget in corrected.nuggets] == [None, "okay", None]
    assert corrected.qrels == {"a": {"a doc": 2, "a other": 0}, "c": {"c doc": 0, "c other": 0}}


def test_where_nothing_is_to_be_corrected_no_file_is_made(made, capsys):
    fill_csv(made / "sheets", made / "ada.csv", all_good)
    assert main(["audit", "score", "data", "ada.csv", "--corrections", "c.csv"]) == 0
    assert capsys.readouterr().out.endswith("\nnothing is to be corrected\n")
    assert not (made / "c.csv").exists()
    fill_csv(made / "sheets", made / "ada.csv", but({"Q1 document: relevance": "not"}))
    assert main(["audit", "score", "data", "ada.csv", "--corrections", "c.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["corrections"] == len((made / "c.csv").read_text().splitlines()) - 1
