"""What is wrong in ``submission.yaml``, and what it does not say."""

import datetime
import re
from pathlib import Path

from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.typed_files import Content, Fault, content_of
from leaderboard.boards.places import SUBMISSION
from leaderboard.submission.model import Submission
from leaderboard.submission.reading import faults_of, parse_submission, read_bytes
from leaderboard.validation.findings import Findings

_CODE_OF = {"unreadable": "E202", "unknown key": "E204", "missing": "E205", "placeholder": "E206"}
_SEEN = re.compile(r"--query[= ]+['\"]?(answer|nuggets)\b")
"""The option by which ``freshstack retrieve`` searches with what a system must not see."""

_SCORES = re.compile(r"'(?:scores?|results?|metrics?|measures?|evaluation)'", re.IGNORECASE)
_COMPUTED = "leave it out: scores are computed from the runs"


def check_metadata(
    path: Path, file: str, folder_name: str, today: datetime.date, findings: Findings
) -> Submission | None:
    """Return what ``submission.yaml`` says, None where something in it is wrong.

    Args:
        path: The file, known to be a plain one.
        file: What it is called in findings.
        folder_name: The name of its folder, ``yyyymmdd-team-system``.
        today: The day that it must not be after.
        findings: Takes what is wrong.
    """
    try:
        content = read_bytes(path)
        faults = faults_of(content, today=today)
        for fault in faults:
            _add(fault, file, findings)
        if faults:
            return None
        told, submission = content_of(content, file), parse_submission(content, file)
    except InputError as error:
        findings.add("E202", file, error.what, expected=error.expected, got=error.got, fix=error.hint)
        return None
    _check_day(submission, told, file, folder_name, findings)
    _check_setting(submission, told, file, findings)
    _check_unknown(submission, told, file, findings)
    return submission


def add_undeclared(file: str, line: int, got: str, findings: Findings) -> None:
    """Say that a system searched with what it says that it did not see."""
    expected = "setting: oracle, where answers or nuggets were searched with"
    findings.add("E207", file, "the setting", line=line, expected=expected, got=got)


def _add(fault: Fault, file: str, findings: Findings) -> None:
    code = _CODE_OF.get(fault.kind, "E203")
    what = fault.place or SUBMISSION
    if code == "E204":
        what = f"the unknown key {fault.got}" + (f" in {fault.place}" if fault.place else "")
    got = "" if code == "E204" else fault.got
    fix = _COMPUTED if code == "E204" and _SCORES.match(fault.got) else fault.hint
    findings.add(code, file, what, line=fault.line, expected=fault.expected, got=got, fix=fix)


def _check_day(submission: Submission, told: Content, file: str, folder_name: str, findings: Findings) -> None:
    day = f"{submission.date:%Y%m%d}"
    if re.match(r"[0-9]{8}-", folder_name) and not folder_name.startswith(day):
        line = told.line(("date",))
        got = f"a folder called {shown(folder_name)}"
        findings.add("E208", file, "date", line=line, expected=f"a folder that begins with {day}", got=got)


def _check_setting(submission: Submission, told: Content, file: str, findings: Findings) -> None:
    searched = _SEEN.search(submission.reproduce.command)
    if submission.system.setting == "inference" and searched:
        line = told.line(("system", "setting"))
        add_undeclared(file, line, f"setting: inference, and a command with --query {searched[1]}", findings)


def _check_unknown(submission: Submission, told: Content, file: str, findings: Findings) -> None:
    for number, model in enumerate(submission.models):
        for member, code in (("parameters", "W209"), ("license", "W210")):
            if getattr(model, member) is None:
                line = told.line(("models", number, member))
                findings.add(code, file, f"models[{number}].{member}", line=line, got="null")
    for member in ("on_benchmark", "on_its_questions_site"):
        if getattr(submission.training, member) == "unknown":
            line = told.line(("training", member))
            findings.add("W211", file, f"training.{member}", line=line, expected="yes or no", got="unknown")
