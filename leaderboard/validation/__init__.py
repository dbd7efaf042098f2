"""Whether what somebody hands in is right: coded findings with file, line, what was expected and how to mend it."""

from leaderboard.validation.findings import Finding, Report
from leaderboard.validation.validating import CheckedRun, validate

__all__ = ["CheckedRun", "Finding", "Report", "validate"]
