"""How findings are printed, and the page that explains their codes."""

import json
import re

import pytest

from freshstack_datasets.runs.notes import KINDS
from leaderboard.cli import main
from leaderboard.validation.codes import CODES, FILE, GROUPS, OF_FAULT, page
from leaderboard.validation.findings import Findings
from leaderboard.validation.telling import annotations_of, json_of, text_of
from tests.leaderboard import made

HOSTILE = "50 % of\r\n::error file=x,line=1::<script>alert(1)</script>\x1b[31m\u202e"


def report(**told):
    findings = Findings()
    findings.add(
        "E312", "a/b.trec", "a document", line=7, **{"expected": "it once", "got": "it twice", "fix": "go", **told}
    )
    findings.add("W410", "a/b.trec", "ties", fix="look")
    findings.add("E310", "a/b.trec", "a score", line=3, fix="mend", count=1_235)
    return findings.report(("a",))


def test_text_has_a_line_a_finding_and_the_counts():
    assert list(text_of(report())) == [
        "a/b.trec:3: error E310 not-finite: a score; mend",
        "a/b.trec:7: error E312 duplicate-document: a document, expected it once, got it twice; go",
        "a/b.trec: warning W410 ties: ties; look",
        "a/b.trec: error E310 not-finite: and 1,234 more",
        "1 submission or run: 1,236 errors, 1 warning",
    ]


def test_json_has_all_fields():
    told = json_of(report())
    assert (told["ok"], told["errors"], told["warnings"], told["checked"]) == (False, 1236, 1, ["a"])
    assert told["findings"][1] == {
        "code": "E312",
        "name": "duplicate-document",
        "severity": "error",
        "file": "a/b.trec",
        "line": 7,
        "what": "a document",
        "expected": "it once",
        "got": "it twice",
        "fix": "go",
    }
    assert told["findings"][2]["line"] is None
    assert told["more"] == [{"code": "E310", "file": "a/b.trec", "count": 1234}]


def test_annotations_are_commands_of_a_workflow():
    assert list(annotations_of(report())) == [
        "::error file=a/b.trec,line=3,title=E310 not-finite::a score; mend",
        "::error file=a/b.trec,line=7,title=E312 duplicate-document::a document, expected it once, got it twice; go",
        "::warning file=a/b.trec,title=W410 ties::ties; look",
        "::error file=a/b.trec,title=E310 not-finite::and 1,234 more",
    ]


def test_nothing_in_a_finding_can_end_a_line_or_begin_a_command():
    findings = Findings()
    findings.add("E312", HOSTILE, HOSTILE, line=7, got=HOSTILE)
    told = findings.report(())
    (annotation,) = annotations_of(told)
    # What ends a property is a comma or "::"; GitHub reads %2C, %3A and %25 as a comma, a colon and a percent sign.
    properties, _, message = annotation.removeprefix("::error ").partition("::")
    assert [one.partition("=")[0] for one in properties.split(",")] == ["file", "line", "title"]
    assert "%25 of" in message
    for line in (annotation, *text_of(told)):
        assert line.isprintable()


@pytest.mark.parametrize("name", ["::stop-commands::x", "##[error]x"])
def test_a_name_that_a_workflow_takes_for_a_command_does_not_begin_a_line(name):
    findings = Findings()
    findings.add("E501", name, "a path")
    assert next(text_of(findings.report(()))).startswith(f"./{name}: error")


def test_no_finding_of_one_code_is_kept_after_the_tenth():
    findings = Findings()
    for number in range(1_000):
        findings.add("E310", "a", "a score", line=number + 1)
    told = findings.report(())
    assert [one.line for one in told.findings] == list(range(1, 11))
    assert dict(told.more) == {("a", "E310"): 990}
    assert told.count("error") == 1_000


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_the_command_prints_each_format(tmp_path, capsys, form):
    assert main(["validate", str(tmp_path / "nowhere"), "--format", form]) == 1
    out = capsys.readouterr().out
    assert "E101" in out
    if form == "json":
        assert json.loads(out)["findings"][0]["code"] == "E101"


def test_the_help_shows_no_type_of_python_s(capsys):
    assert main(["validate", "--help"]) == 0
    assert "list[" not in capsys.readouterr().out


def test_a_board_whose_names_are_hostile_is_valid_and_its_names_do_no_harm(tmp_path, capsys):
    root = made.made_board(tmp_path, hostile=True, topics=1, scored=False)
    assert main(["validate", str(root)]) == 0
    assert "<script>" not in capsys.readouterr().out


def test_codes_are_letters_with_three_digits_and_names_of_their_own():
    assert all(re.fullmatch(r"[EW][1-5][0-9]{2}", code) for code in CODES)
    assert len({code[1:] for code in CODES}) == len(CODES)
    assert len({one.name for one in CODES.values()}) == len(CODES)
    assert {code[1] for code in CODES} == set(GROUPS)


def test_every_kind_of_fault_has_a_code():
    assert set(OF_FAULT) == set(KINDS)
    assert set(OF_FAULT.values()) <= set(CODES)


def test_the_page_of_codes_is_fresh():
    assert FILE.read_text(encoding="utf-8") == page(), "python -m leaderboard.validation writes it"


# A code keeps its meaning for ever: when this fails, give a new meaning a new code, and add it here.
STABLE = """
E101 no-such-place E102 folder-name E103 unknown-board E104 computed-file E105 odd-file E106 no-plain-file
E107 too-many-bytes E108 no-run E109 several-runs E110 unknown-topic W111 missing-topic E201 no-metadata
E202 unreadable-metadata E203 metadata-value E204 unknown-key E205 missing-key E206 placeholder E207 undeclared-oracle
E208 other-date W209 unknown-size W210 unknown-license W211 unknown-training E301 unreadable-run E302 damaged-compression
E303 too-much-inside E304 encoding E305 long-line E306 empty-line E307 fields E308 rank E309 score E310 not-finite
E311 bad-id E312 duplicate-document E313 several-tags E314 json E315 parquet E316 empty-run E317 too-many-faults
E318 run-content W319 ranks W320 unsorted E401 unknown-query E402 unknown-document E403 many-missing-queries
E404 other-fingerprint E405 identical-run E406 no-dataset W407 missing-queries W408 many-documents W409 few-documents
W410 ties W411 equal-scores W412 few-judged W413 above-oracle W414 near-identical E501 foreign-change
E502 changes-submission E503 no-submission
"""


def test_codes_keep_their_names():
    told = STABLE.split()
    assert {code: one.name for code, one in CODES.items()} == dict(zip(told[::2], told[1::2], strict=True))
