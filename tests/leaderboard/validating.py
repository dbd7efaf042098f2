"""A board with submissions that nothing is wrong with, and ways to spoil them."""

import datetime
import shutil
from collections.abc import Callable
from pathlib import Path

import yaml

from leaderboard.validation import Report, validate

ENTRY = "20261103-acme-large-embed"
"""A submission of the made board with two topics, a model and TREC files."""

TODAY = datetime.date(2026, 12, 31)


def copied(board_root: Path, target: Path) -> Path:
    """Copy the submissions of a made board, and return the folder of ``ENTRY``."""
    shutil.copytree(board_root / "submissions", target / "submissions")
    return target / "submissions" / "made" / "2026-10" / ENTRY


def report_of(*paths: Path, **told) -> Report:
    """Validate paths, on a day on which all made submissions are of the past."""
    return validate(paths, today=TODAY, **told)


def found(report: Report) -> list[tuple[str, str, int]]:
    """Return code, name of the file and line of each finding."""
    return [(one.code, Path(one.file).name, one.line) for one in report.findings]


def codes(report: Report) -> set[str]:
    """Return the codes of all findings."""
    return {one.code for one in report.findings}


def edit(path: Path, change: Callable[[list[list[str]]], None]) -> None:
    """Change the lines of a TREC file, each a list of its six fields."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    change(lines)
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")


def retell(folder: Path, change: Callable[[dict], None]) -> None:
    """Change what submission.yaml says."""
    path = folder / "submission.yaml"
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(told)
    path.write_text(yaml.safe_dump(told, sort_keys=False, allow_unicode=True), encoding="utf-8")
