"""Which questions a sheet asks, how it is written for spreadsheets, and how it comes back from them."""

import csv
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import freshstack_datasets as fsd
from builders.auditing.annotations import Filled, SheetsError
from builders.auditing.cells import Unit
from builders.auditing.csv_sheet import LONGEST, csv_text, safe_cell
from builders.auditing.reading import read_sheet, read_sheets
from builders.auditing.sampling import Sheet, draw
from builders.auditing.writing import write_sheets
from freshstack_datasets.errors import InputError, NotComparableError
from tests.builders.audited import all_good, but, fill_csv, save_json, sheet_rows, write

NUGGETS = {"a": ["one", "two"], "b": ["three"], "c": ["four"]}
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", '=HYPERLINK("http://x","y")']


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A snapshot of three questions, and the sheets of all of them."""
    folder = tmp_path_factory.mktemp("made")
    write(folder / "data", NUGGETS)
    write_sheets(folder / "data", folder / "sheets", questions=3, seed=7)
    return folder


def asked(sample):
    return [(item.query.query_id, item.document and item.document.doc_id) for item in sample.items]


def test_the_same_seed_asks_the_same_and_a_larger_number_the_same_and_more(tmp_path):
    data = write(tmp_path / "data", {f"q{i}": ["one"] for i in range(40)})
    five, ten = draw(data, 5, 7), draw(data, 10, 7)
    assert asked(ten)[:5] == asked(five)
    assert asked(five) != asked(draw(data, 5, 8))
    # of the sha256 of "7\tq0" to "7\tq39", those of "7\tq26", "7\tq20" and "7\tq37" are the smallest
    assert [query_id for query_id, _ in asked(draw(data, 3, 7))] == ["q26", "q20", "q37"]
    assert all(document == f"{query_id} doc" for query_id, document in asked(ten))  # the one that supports something


def test_a_question_without_a_document_that_the_corpus_has_is_asked_for_its_nuggets_alone(tmp_path):
    judgments = [fsd.Judgment("a", "a_0", "a doc", 0), fsd.Judgment("b", "b_0", "gone", 1)]
    data = write(tmp_path / "data", {"a": ["one"], "b": ["two"]}, judgments=judgments, missing=["gone"])
    assert {document for _, document in asked(draw(data, 2, 7))} == {None}
    write_sheets(tmp_path / "data", tmp_path / "sheets", questions=2, seed=7)
    assert not [row for row in sheet_rows(tmp_path / "sheets") if row["row"].endswith("document")]
    assert len(read_sheets(data, [fill_csv(tmp_path / "sheets", tmp_path / "ada.csv", all_good)])) == 1


@pytest.mark.parametrize("questions, seed, message", [(0, 7, "1 to 3"), (4, 7, "1 to 3"), (1, -1, "from 0")])
def test_a_number_of_questions_or_a_seed_that_cannot_be_is_refused(made, questions, seed, message):
    with pytest.raises(InputError, match=message):
        draw(fsd.load(made / "data"), questions, seed)


def test_a_sheet_is_named_by_all_that_draws_it():
    sheet = Sheet("a b@c=d", "2026-10.1", "0f" * 32, 60, 7)
    assert Sheet.parse(str(sheet)) == sheet
    assert Sheet.parse("a@2026-10#abc questions=1 seed=2") is None


def test_the_csv_has_question_answer_nuggets_and_a_document_and_says_what_is_asked(made):
    assert (made / "sheets" / "sheet.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    rows = sheet_rows(made / "sheets")
    [first] = [row["row"] for row in rows if row["text"] == "Question a?"]
    own = {row["row"].removeprefix(first).strip(): row for row in rows if row["row"].split()[0] == first}
    assert list(own) == ["", "answer", "nugget 1", "nugget 2", "nuggets", "document"]
    assert [own[name]["id"] for name in own] == ["a", "aa", "a_0", "a_1", "", "a doc"]
    assert own["answer"]["text"] == "Answer a."
    assert own["document"]["text"] == "Title of a\n\ndoc text"
    blank = {name: [column for column, cell in row.items() if cell == ""] for name, row in own.items()}
    assert blank["nugget 1"] == ["hallucinated", "minor", "remark"]
    assert blank["nuggets"] == ["id", "missing", "remark"]
    assert blank["document"] == ["relevance", "remark"]
    assert blank[""] == blank["answer"] == ["remark"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_for_a_spreadsheet(tmp_path, text):
    query = fsd.Query("=cmd|' /C calc'!A0", text, answer_text=text)
    nuggets = [fsd.Nugget("+n", query.query_id, 0, text)]
    documents = [fsd.Document("@d", text, text)]
    judgments = [fsd.Judgment(query.query_id, "+n", "@d", 1)]
    data = write(tmp_path / "data", {}, queries=[query], nuggets=nuggets, documents=documents, judgments=judgments)
    cells = [cell for row in csv.reader(io.StringIO(csv_text(draw(data, 1, 7)), newline="")) for cell in row]
    assert len(cells) == 6 * 9
    assert not [cell for cell in cells if cell.lstrip()[:1] in tuple("=+-@＝＋－＠") and cell]
    assert not [cell for cell in cells if cell[:1] in ("\t", "\r", "\n") and cell]


@given(st.text())
def test_any_text_stands_in_a_cell_that_a_spreadsheet_takes_as_text(text):
    cell = safe_cell(text)
    assert not cell or cell[0] not in "=+-@\t\r\n"
    assert not set(cell) & set(map(chr, [*range(9), *range(11, 32)]))


def test_a_text_that_no_spreadsheet_can_hold_is_cut_and_says_so():
    assert len(safe_cell("x" * 40_000)) == LONGEST
    assert safe_cell("x" * 40_000).endswith("(cut: the page has all of it)")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_sheet_is_read_as_any_spreadsheet_saves_it(made, tmp_path, delimiter, end, mark):
    wrong = but({"Q1 nugget 1: minor": "yes", "Q2 nuggets: missing": "3", "Q3 document: relevance": "partially"})
    path = fill_csv(made / "sheets", tmp_path / "ada.csv", wrong, delimiter, end, mark)
    (annotation,) = read_sheets(fsd.load(made / "data"), [path])
    one, two, three = annotation.sample.items
    assert annotation.annotator == "ada"
    assert {unit: value for unit, value in annotation.values.items() if value not in (False, 0, "relevant")} == {
        Unit("minor", one.query.query_id, one.nuggets[0].nugget_id): True,
        Unit("missing", two.query.query_id, ""): 3,
        Unit("relevance", three.query.query_id, three.document.doc_id): "partially",
    }


@pytest.mark.parametrize(
    "column, text, value",
    [
        *(("minor", text, True) for text in ("yes", "YES", " y ", "1", "1.0", "x", "X", "TRUE")),
        *(("minor", text, False) for text in ("no", "N", "0", "0.0", "FALSE")),
        *(("missing", text, 2) for text in ("2", " 2 ", "2.0", "2,0", "002")),
        *(("relevance", text, "not") for text in ("not", "Not relevant", "NOT")),
        *(("relevance", text, "partially") for text in ("partially", "partly", "Partially relevant")),
    ],
)
def test_answers_are_read_in_the_ways_that_spreadsheets_and_people_write_them(made, tmp_path, column, text, value):
    path = fill_csv(made / "sheets", tmp_path / "a.csv", lambda row, c: text if c == column else all_good(row, c))
    (annotation,) = read_sheets(fsd.load(made / "data"), [path])
    assert {found for unit, found in annotation.values.items() if unit.column == column} == {value}


@pytest.mark.parametrize(
    "cell, text",
    [
        *(("Q1 nugget 1: minor", text) for text in ("", " ", "maybe", "2", "n/a")),
        *(("Q1 nuggets: missing", text) for text in ("", "-1", "1.5", "many", "1e3", "٣", "1000")),
        *(("Q1 document: relevance", text) for text in ("", "yes", "rel")),
    ],
)
@pytest.mark.parametrize("save", [lambda s, p, a: fill_csv(s, p, a), lambda s, p, a: save_json(s, p, "ada", a)])
def test_a_cell_that_is_empty_or_holds_something_else_is_named(made, tmp_path, save, cell, text):
    path = save(made / "sheets", tmp_path / "ada", but({cell: text}))
    with pytest.raises(SheetsError) as caught:
        read_sheets(fsd.load(made / "data"), [path])
    assert [problem.cell for problem in caught.value.problems] == [cell]
    assert f", {cell}, expected " in str(caught.value)
    assert ("an empty cell" if not text.strip() else repr(text)) in str(caught.value)


def test_rows_that_are_gone_are_missing_and_their_cells_are_named(made, tmp_path):
    path = fill_csv(made / "sheets", tmp_path / "ada.csv", all_good)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if not line.startswith("Q2 nugget 1")) + "\n")
    with pytest.raises(SheetsError) as caught:
        read_sheets(fsd.load(made / "data"), [path])
    assert [p.cell for p in caught.value.problems] == ["Q2 nugget 1: hallucinated", "Q2 nugget 1: minor"]


def test_rows_may_be_sorted_and_columns_added(made, tmp_path):
    path = fill_csv(made / "sheets", tmp_path / "ada.csv", all_good)
    rows = list(csv.reader(io.StringIO(path.read_text(), newline="")))
    table = io.StringIO(newline="")
    csv.writer(table).writerows([[*rows[0], "my notes"], *([*row, "ok"] for row in reversed(rows[1:])), [""] * 10])
    path.write_text("sep=,\r\n" + table.getvalue(), newline="")
    assert len(read_sheets(fsd.load(made / "data"), [path])) == 1


def test_a_sheet_is_read_in_an_old_encoding_too_since_no_text_of_it_counts(made, tmp_path):
    path = fill_csv(made / "sheets", tmp_path / "ada.csv", all_good, ";")
    path.write_bytes(path.read_text().replace("Answer a.", "Réponse «a» – n°").encode("cp1252"))
    assert len(read_sheets(fsd.load(made / "data"), [path])) == 1


def test_a_quote_that_is_never_closed_is_told_with_its_line(made, tmp_path):
    path = fill_csv(made / "sheets", tmp_path / "ada.csv", all_good)
    header, rest = path.read_text().split("\n", 1)
    path.write_text(f'{header}\n"Q1{rest}'.replace('"\n', "\n"))
    with pytest.raises(InputError, match=r"ada\.csv:2, expected cells in quotes or without, got "):
        read_sheet(path)


def test_an_answer_where_none_is_asked_and_two_answers_to_one_question_are_named(made, tmp_path):
    path = fill_csv(made / "sheets", tmp_path / "ada.csv", all_good)
    rows = list(csv.reader(io.StringIO(path.read_text(), newline="")))
    rows[1][3] = "yes"  # hallucinated, of a question
    (nugget,) = [row for row in rows if row[0] == "Q1 nugget 1"]
    rows.append([*nugget[:4], "yes", *nugget[5:]])
    table = io.StringIO(newline="")
    csv.writer(table).writerows(rows)
    path.write_text(table.getvalue(), newline="")
    with pytest.raises(SheetsError) as caught:
        read_sheets(fsd.load(made / "data"), [path])
    told = {problem.cell: (problem.expected, problem.got) for problem in caught.value.problems}
    assert told == {
        "Q1: hallucinated": ("nothing", "'yes'"),
        "Q1 nugget 1: minor": ("one answer", "another one before"),
    }


def test_a_sheet_of_another_snapshot_is_refused(made, tmp_path):
    other = write(tmp_path / "data", {**NUGGETS, "a": ["one", "changed"]})
    path = fill_csv(made / "sheets", tmp_path / "ada.csv", all_good)
    with pytest.raises(NotComparableError, match=r"ada\.csv, expected a sheet of acme/audited@2026-10#.*, got one of"):
        read_sheets(other, [path])


def test_two_sheets_from_the_same_person_are_refused(made, tmp_path):
    paths = [
        fill_csv(made / "sheets", tmp_path / "Ada.csv", all_good),
        save_json(made / "sheets", tmp_path / "x.json", "ada", all_good),
    ]
    with pytest.raises(InputError, match="expected one sheet from each person, got another one from 'ada'"):
        read_sheets(fsd.load(made / "data"), paths)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"format": "x"}, "format, expected 'freshstack-datasets audit 1', got 'x'"),
        ({"annotator": " "}, "annotator, expected a name"),
        ({"annotator": None}, "annotator, expected a name"),
        ({"sheet": "x"}, "sheet, expected the name of a sheet"),
        ({"sheet": 1}, "sheet, expected the name of a sheet"),
        ({"answers": []}, "answers, expected an object"),
    ],
)
def test_a_saved_file_that_is_none_is_refused(made, tmp_path, change, message):
    path = save_json(made / "sheets", tmp_path / "x.json", "ada", all_good, **change)
    with pytest.raises(InputError, match=message):
        read_sheet(path)


def test_answers_of_a_saved_file_that_are_no_texts_or_that_nobody_asked_for_are_named(made, tmp_path):
    path = save_json(made / "sheets", tmp_path / "x.json", "ada", all_good)
    told = json.loads(path.read_text())
    told["answers"] |= {
        "Q1 nuggets: missing": 1,
        "Q9 nuggets: missing": "1",
        "__proto__": "x",
        "Q2 nugget 1: minor": {},
    }
    path.write_text(json.dumps(told))
    with pytest.raises(SheetsError) as caught:
        read_sheets(fsd.load(made / "data"), [path])
    cells = sorted(problem.cell.strip() for problem in caught.value.problems)
    assert cells == [": __proto__", "Q1 nuggets: missing", "Q2 nugget 1: minor", "Q9 nuggets: missing"]


@given(st.one_of(st.binary(), st.text().map(str.encode), st.text().map(lambda t: ("{" + t).encode())))
def test_whatever_a_file_holds_it_is_a_sheet_or_refused_in_one_line(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_sheet(path)
    assert "\n" not in str(caught.value)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_whatever_json_a_saved_file_has_for_answers_it_is_read_or_refused(value):
    sheet = str(Sheet("a", "2026-10", "0" * 64, 1, 1))
    told = {"format": "freshstack-datasets audit 1", "sheet": sheet, "annotator": "ada", "answers": value}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_text(json.dumps(told))
        if isinstance(value, dict):
            assert isinstance(read_sheet(path), Filled)
        else:
            with pytest.raises(InputError, match="answers, expected an object"):
                read_sheet(path)


def test_a_file_that_is_not_there_or_in_another_encoding_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_sheet(tmp_path / "no.csv")
    (tmp_path / "x.csv").write_bytes("row".encode("utf-16"))
    with pytest.raises(InputError, match="expected UTF-8, got UTF-16"):
        read_sheet(tmp_path / "x.csv")
    (tmp_path / "d.json").write_text('{"a":' + "[" * 100_000)
    with pytest.raises(InputError, match="expected JSON"):
        read_sheet(tmp_path / "d.json")


def test_a_csv_whose_rows_name_no_sheet_or_several_is_refused(made, tmp_path):
    path = fill_csv(made / "sheets", tmp_path / "ada.csv", all_good)
    text = path.read_text()
    for old, new, message in (("seed=7", "seed=x", "got "), ("seed=7", "seed=8", "got rows of several sheets")):
        count = -1 if new == "seed=x" else 1
        path.write_text(text.replace(old, new, count), newline="")
        with pytest.raises(InputError, match=f"column sheet, expected the name of the sheet in every row, {message}"):
            read_sheet(path)
