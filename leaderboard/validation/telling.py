"""A report as text for people, as JSON for programs, and as annotations of a pull request."""

from collections.abc import Iterator
from typing import Any

from freshstack_datasets.cli.console import counted, one_line
from leaderboard.validation.codes import CODES
from leaderboard.validation.findings import Finding, Report

_LONGEST = 1_000
"""Characters of a finding's message."""


def text_of(report: Report) -> Iterator[str]:
    """Yield a report's lines: a line a finding, and how many there are."""
    for finding in report.findings:
        yield line_of(finding.file, finding.line, finding.severity, finding.code, finding.message)
    for (file, code), number in report.more.items():
        yield line_of(file, 0, CODES[code].severity, code, f"and {number:,} more")
    yield summary(report)


def line_of(file: str, line: int, severity: str, code: str, message: str) -> str:
    """Return what was found in the one spelling that all commands have: ``place: severity code name: message``.

    Args:
        file: Where it is.
        line: Its line, from 1; 0 where there is none.
        severity: ``error`` or ``warning``.
        code: A code of ``validate``, whose name follows it, or a code in words.
        message: What is wrong.
    """
    place = _place(file) + (f":{line}" if line else "")
    title = f"{code} {CODES[code].name}" if code in CODES else code
    return f"{place}: {severity} {title}: {one_line(message, _LONGEST)}"


def _place(file: str) -> str:
    """Return a file for the beginning of a line, where a workflow would take some names for its commands."""
    name = one_line(file)
    return f"./{name}" if name.startswith((":", "#")) else name


def summary(report: Report) -> str:
    """Return how many errors and warnings there are, in a line."""
    told = f"{counted(report.count('error'), 'errors')}, {counted(report.count('warning'), 'warnings')}"
    number = len(report.checked)
    return f"{number:,} {'submission or run' if number == 1 else 'submissions or runs'}: {told}"


def json_of(report: Report) -> dict[str, Any]:
    """Return a report as one JSON object."""
    return {
        "ok": report.ok,
        "checked": list(report.checked),
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "findings": [_fields(finding) for finding in report.findings],
        "more": [{"code": code, "file": file, "count": number} for (file, code), number in report.more.items()],
    }


def annotations_of(report: Report) -> Iterator[str]:
    """Yield a report as commands of GitHub's workflows, which shows each at its line.

    Texts are escaped, so that nothing in a submission can end one command and begin another.
    """
    for finding in report.findings:
        yield _annotation(finding)
    for (file, code), number in report.more.items():
        properties = f"file={_property(one_line(file))},title={_property(f'{code} {CODES[code].name}')}"
        yield f"::{CODES[code].severity} {properties}::and {number:,} more"


def _annotation(finding: Finding) -> str:
    properties = f"file={_property(one_line(finding.file))}"
    if finding.line:
        properties += f",line={finding.line}"
    properties += f",title={_property(f'{finding.code} {finding.name}')}"
    return f"::{finding.severity} {properties}::{_data(one_line(finding.message, _LONGEST))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _fields(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "file": finding.file,
        "line": finding.line or None,
        "what": finding.what,
        "expected": finding.expected,
        "got": finding.got,
        "fix": finding.fix,
    }
