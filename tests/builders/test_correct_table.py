"""The table of corrections: what is read, and what of hostile files is told in words."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.correcting.cells import rows
from builders.correcting.corrections import COLUMNS, CorrectionsError, read_corrections
from freshstack_datasets.errors import InputError
from tests.builders.correcting import FLIP, write_table

HEAD = ",".join(COLUMNS)
GOOD = "judgment,change,q1,n1,d1,score,0,1,why,ada,2024-11-02"


def read(tmp_path, content):
    path = tmp_path / "c.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_corrections(path)


def told(tmp_path, content):
    """The problems of a file in words, each without the file's name."""
    _, problems = read(tmp_path, content)
    name = str(tmp_path / "c.csv") + ":"
    return [str(error).removeprefix(name) for error in CorrectionsError(tmp_path / "c.csv", problems).told]


cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text('",\r\n a', max_size=8)


@given(st.lists(st.lists(cells, min_size=2, max_size=5), max_size=6), st.sampled_from(["\r\n", "\n", "\r"]))
def test_what_the_standard_library_writes_is_read_as_it_was(table, end):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(table)
    assert [list(row.values) for row in rows(text.getvalue())] == table


@given(st.text('",\r\n ab', max_size=30))
def test_any_text_is_read_as_the_standard_library_reads_it_or_ends_in_a_row_that_says_why(text):
    found = list(rows(text))
    try:
        expected = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        assert found[-1].broken
        return
    assert not any(row.broken for row in found)
    assert [[] if row.values == ("",) else list(row.values) for row in found] == [
        [] if cells == [""] else cells for cells in expected
    ]


def test_a_row_has_the_line_on_which_it_begins():
    text = 'a,"1\n2\r\n3\r4",b\r\nc\n\n"d\n"\re'
    assert [(row.line, row.values) for row in rows(text)] == [
        (1, ("a", "1\n2\r\n3\r4", "b")),
        (5, ("c",)),
        (6, ("",)),
        (7, ("d\n",)),
        (9, ("e",)),
    ]


@pytest.mark.parametrize(
    "content",
    [
        f"{HEAD}\n{GOOD}\n",
        f"{HEAD}\r\n{GOOD}",
        f"{HEAD}\r{GOOD}\r",
        f"\ufeff{HEAD}\n{GOOD}\n",
        f"{HEAD}\n\n,,,,,,,,,,\n{GOOD}\n\n",
        '"' + HEAD.replace(",", '","') + '"\n"' + GOOD.replace(",", '","') + '"\n',
        "date,by,reason,new,old,field,doc_id,nugget_id,query_id,action,kind\n" + ",".join(GOOD.split(",")[::-1]) + "\n",
    ],
    ids=["line feeds", "as Windows", "as an old Mac", "with a mark", "with empty rows", "quoted", "in another order"],
)
def test_files_of_many_programs_are_read(tmp_path, content):
    corrections, problems = read(tmp_path, content)
    assert problems == []
    (found,) = corrections
    assert (found.kind, found.action, found.ids, found.field) == ("judgment", "change", ("q1", "n1", "d1"), "score")
    assert (found.old, found.new, found.reason, found.by, found.date) == ("0", "1", "why", "ada", "2024-11-02")


FILES = {
    "none": (None, "cannot read '.*c.csv', got no such file or directory; check the path"),
    "empty": (b"", "c.csv:1, the names of the columns, expected kind, action, .*, date, got '' instead"),
    "only the columns": (f"{HEAD}\n\n", "c.csv', expected at least one correction, got none below the names"),
    "a missing column": (HEAD.replace("reason,", ""), "c.csv:1, .*expected reason, got none of that name"),
    "a column called otherwise": (HEAD.replace("reason", "why"), "c.csv:1, .*expected reason, got 'why' instead"),
    "one column more": (HEAD + ",notes", "c.csv:1, .*expected the eleven columns, each once, got 'notes'; .*--help"),
    "a column twice": (HEAD + ",old", "c.csv:1, .*expected the eleven columns, each once, got old twice"),
    "other separators": (HEAD.replace(",", ";"), "c.csv:1, .*expected kind, .*, got 'kind;action;query_id;"),
    "a quote left open": ('kind,"action', "c.csv:1, .*expected cells separated by commas, got a quote that is never"),
    "UTF-16": (HEAD.encode("utf-16"), "c.csv', expected UTF-8, got UTF-16; save it as CSV in UTF-8"),
    "UTF-32": (HEAD.encode("utf-32"), "c.csv', expected UTF-8, got UTF-32"),
    "bytes of a picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "c.csv:1, the names of the columns, expected kind, "),
}


@pytest.mark.parametrize(("content", "says"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_such_table_is_refused(tmp_path, content, says):
    with pytest.raises(InputError, match=says):
        read_corrections(tmp_path / "c.csv") if content is None else read(tmp_path, content)


def test_a_path_that_cannot_be_one_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_corrections(tmp_path / "a\0b")
    with pytest.raises(InputError, match=r"cannot read .*got is a directory"):
        read_corrections(tmp_path)


ROWS = {
    "a kind": ({"kind": "judgement"}, ["kind, expected judgment, nugget or question, got 'judgement'"]),
    "an action": ({"action": "delete"}, ["action, expected change, add or remove, got 'delete'"]),
    "a field": ({"field": "text"}, ["field, expected one of score, got 'text'"]),
    "no id": ({"query_id": ""}, ["query_id, expected a non-empty string without tab or line break, got ''"]),
    "an id with a tab": ({"doc_id": "a\tb"}, ["doc_id, expected a non-empty string without tab .*, got 'a\\\\tb'"]),
    "an id too many": (
        {"kind": "nugget", "field": "position"},
        ["doc_id, expected an empty cell for a nugget, got 'd1'"],
    ),
    "a score": ({"new": "2"}, ["new, expected 0 or 1, got '2'"]),
    "a formula": ({"new": "=1"}, ["new, expected 0 or 1, got '=1'"]),
    "a number with a point": ({"new": "1.0"}, ["new, expected 0 or 1, got '1.0'"]),
    "digits of another script": ({"new": "١"}, ["new, expected 0 or 1, got '١'"]),
    "the same": ({"new": "0"}, ["new, expected another value than old, got the same"]),
    "the same in other digits": ({"new": "00"}, ["new, expected another value than old, got the same"]),
    "an old value of what is new": (
        {"action": "add"},
        ["old, expected an empty cell, since action is add, got '0'"],
    ),
    "a new value of what goes": (
        {"action": "remove"},
        ["new, expected an empty cell, since action is remove, got '1'"],
    ),
    "nothing of what goes": (
        {"action": "remove", "old": "", "new": ""},
        ["old, expected the score of what is to be removed, got an empty cell"],
    ),
    "no reason": ({"reason": " "}, ["reason, expected a text, got none"]),
    "nobody": ({"by": ""}, ["by, expected a text, got none"]),
    "a day of another land": ({"date": "11/2/2024"}, ["date, expected a day such as 2026-01-31, got '11/2/2024'"]),
    "a day that was not": ({"date": "2023-02-29"}, ["date, expected a day such as 2026-01-31, got '2023-02-29'"]),
    "a NUL": ({"reason": "a\0b"}, ["reason, expected a text, got a NUL in it"]),
    "a text for a terminal": ({"kind": "\x1b[2J\u202e"}, [r"kind, expected .*, got '\\x1b\[2J\\u202e'"]),
    "a huge cell": ({"by": "x" * 1_000_001}, ["by, expected at most 1,000,000 characters, got 1,000,001"]),
    "everything": (
        {"kind": "x", "action": "y", "by": "", "date": ""},
        ["kind, .*", "action, .*", "by, .*", "date, expected a day such as 2026-01-31, got ''"],
    ),
    "a text of nothing": (
        {"kind": "nugget", "doc_id": "", "field": "text", "new": ""},
        ["new, expected a text, got ''"],
    ),
    "an importance": (
        {"kind": "nugget", "doc_id": "", "field": "importance", "new": "very"},
        ["new, expected vital, okay or an empty cell, got 'very'"],
    ),
    "a position": (
        {"kind": "nugget", "doc_id": "", "field": "position", "new": "2147483648"},
        ["new, expected a whole number from 0 on, got '2147483648'"],
    ),
    "many digits": (
        {"kind": "question", "nugget_id": "", "doc_id": "", "new": "9" * 5_000},
        ["new, expected a whole number, or an empty cell, got '9+…"],
    ),
    "an id of a question": (
        {"kind": "question", "nugget_id": "", "doc_id": "", "field": "query_id"},
        ["field, expected one of text, title, .*, got 'query_id'"],
    ),
    **{
        f"tags {tags}": (
            {"kind": "question", "nugget_id": "", "doc_id": "", "field": "tags", "new": tags},
            [r'new, expected a JSON list such as \["a", "b"\], or an empty cell, got .*'],
        )
        for tags in ("a,b", '"a"', "[1]", '["\\ud800"]', "[" * 100_000)
    },
}


@pytest.mark.parametrize(("changes", "says"), ROWS.values(), ids=[name[:30] for name in ROWS])
def test_a_row_that_cannot_be_meant_is_told_with_line_and_column(tmp_path, changes, says):
    write_table(tmp_path / "c.csv", FLIP, FLIP | changes)
    found = told(tmp_path, (tmp_path / "c.csv").read_bytes())
    assert len(found) == len(says)
    for message, wanted in zip(found, says, strict=True):
        assert re.fullmatch(f"3, {wanted}", message), message


def test_bytes_that_are_no_utf_8_are_told_cell_by_cell(tmp_path):
    latin = f"{HEAD}\n{GOOD}\n{GOOD}\n".replace("why", "na\u00efve", 1).replace("ada", "Ren\u00e9").encode("latin-1")
    assert told(tmp_path, latin) == [
        "2, reason, expected UTF-8, got the byte 0xef",
        "2, by, expected UTF-8, got the byte 0xe9",
        "3, by, expected UTF-8, got the byte 0xe9",
    ]


@pytest.mark.parametrize(
    "line, says",
    [
        (
            GOOD.replace("why", '"why'),
            "3, reason, expected a cell in quotes or one without, got a quote that is never closed",
        ),
        (
            GOOD.replace("why", '"w"hy'),
            "3, reason, expected a cell in quotes or one without, got more after the closing quote",
        ),
        (GOOD.replace("why", "why, so"), "3, expected 11 cells, got 12; put cells with commas into quotes"),
        (GOOD.replace("why,", ""), "3, expected 11 cells, got 10; put cells with commas into quotes"),
        (GOOD + "," * 100 + '"', "3, expected a cell in quotes or one without, got a quote that is never closed"),
    ],
)
def test_a_row_of_other_cells_is_told_with_its_line(tmp_path, line, says):
    assert told(tmp_path, f"{HEAD}\n{GOOD}\n{line}\n") == [says]


def test_a_quote_left_open_ends_the_file_and_what_is_wrong_before_it_is_told(tmp_path):
    bad = GOOD.replace(",1,", ",7,")
    content = f"{HEAD}\n{bad}\n{GOOD.replace('why', chr(34) + 'why')}\n{bad}\n" + '""' * 100_000
    assert told(tmp_path, content) == [
        "2, new, expected 0 or 1, got '7'",
        "3, reason, expected a cell in quotes or one without, got a quote that is never closed",
    ]


def test_a_hundred_thousand_bad_rows_are_all_told(tmp_path):
    _, problems = read(tmp_path, f"{HEAD}\n" + (GOOD.replace("2024-11-02", "soon") + "\n") * 100_000)
    assert [problem.line for problem in problems] == list(range(2, 100_002))


def test_a_file_of_more_than_256_megabytes_is_refused(tmp_path):
    path = tmp_path / "c.csv"
    with path.open("wb") as file:
        file.truncate(256_000_001)  # a hole, which takes no room
    with pytest.raises(InputError, match="expected at most 256,000,000 bytes, got more; cut it in two"):
        read_corrections(path)
