"""Findings, and how they are gathered: a file with a million faults gives ten of them and a number."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from leaderboard.validation.codes import CODES, Severity

KEPT = 10
"""Findings of one code that are kept of a file; the others are counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or may be.

    Texts of a submission in it are made safe to print, and are not made safe for anything else.

    Args:
        code: One of ``CODES``.
        file: The file or folder, as it was named.
        line: The line, from 1; 0 where there is none.
        what: What is wrong.
        expected: What would have been right; "" where ``what`` says it.
        got: What was found instead.
        fix: How to mend it.
    """

    code: str
    file: str
    line: int
    what: str
    expected: str
    got: str
    fix: str

    @property
    def severity(self) -> Severity:
        """Whether it keeps a submission out."""
        return CODES[self.code].severity

    @property
    def name(self) -> str:
        """Its code in words."""
        return CODES[self.code].name

    @property
    def message(self) -> str:
        """All that it says on one line, but for code and place."""
        parts = [self.what]
        if self.expected:
            parts.append(f"expected {self.expected}")
        if self.got:
            parts.append(f"got {self.got}")
        return ", ".join(parts) + f"; {self.fix}"


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a validation.

    Args:
        checked: What was looked at, as it was named: submissions, and run files by themselves.
        findings: What was found, in that order, errors of a file before its warnings.
        more: How many more findings there are than those told, by file and code.
    """

    checked: tuple[str, ...]
    findings: tuple[Finding, ...]
    more: Mapping[tuple[str, str], int]

    def count(self, severity: Severity) -> int:
        """Return how many errors, or warnings, there are, those included that are not told."""
        told = sum(finding.severity == severity for finding in self.findings)
        return told + sum(number for (_, code), number in self.more.items() if CODES[code].severity == severity)

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.count("error")


class Findings:
    """Gathers findings."""

    def __init__(self) -> None:
        self._kept: dict[str, list[Finding]] = {}
        self._counts: defaultdict[tuple[str, str], int] = defaultdict(int)

    def add(
        self,
        code: str,
        file: str,
        what: str,
        *,
        line: int = 0,
        expected: str = "",
        got: str = "",
        fix: str = "",
        count: int = 1,
    ) -> None:
        """Add a finding.

        Args:
            code: One of ``CODES``.
            file: The file or folder, as it is named.
            what: What is wrong.
            line: Its line.
            expected: What would have been right.
            got: What was found instead.
            fix: How to mend it; what the code says when not given.
            count: How many such findings this one stands for.
        """
        kept = self._kept.setdefault(file, [])
        if self._counts[file, code] < KEPT:
            kept.append(Finding(code, file, line, what, expected, got, fix or CODES[code].fix))
            self._counts[file, code] += 1
            count -= 1
        self._counts[file, code] += count

    def report(self, checked: tuple[str, ...]) -> Report:
        """Return all of them."""
        findings = [
            finding
            for kept in self._kept.values()
            for finding in sorted(kept, key=lambda one: (one.severity, one.line, one.code))
        ]
        told: defaultdict[tuple[str, str], int] = defaultdict(int)
        for finding in findings:
            told[finding.file, finding.code] += 1
        more = {key: number - told[key] for key, number in self._counts.items() if number > told[key]}
        return Report(checked, tuple(findings), more)
