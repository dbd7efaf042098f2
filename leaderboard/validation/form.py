"""What is wrong with a run file by itself, whatever dataset it is for."""

from collections.abc import Mapping
from pathlib import Path

from freshstack_datasets.cli.console import counted
from freshstack_datasets.errors import shown
from freshstack_datasets.runs import Survey, survey_run
from freshstack_datasets.runs.notes import Faults
from freshstack_datasets.runs.oddities import order_of
from freshstack_datasets.runs.survey import Columns
from leaderboard.validation.codes import OF_FAULT
from leaderboard.validation.findings import Findings

INSIDE_BYTES = 500_000_000
"""Bytes of a run file once it is decompressed."""

DEEPEST = 10_000
"""Documents of a query, on the average of a topic's queries, that are looked at."""

ENTRIES = 5_000_000
"""Entries of a run file whose dataset is not known."""

KEPT_BYTES = 1 << 29
"""Bytes that the entries and ids of a run may take."""


def check_form(path: Path, file: str, queries: int | None, findings: Findings) -> Survey:
    """Look through a run file, and say what is wrong with it.

    Args:
        path: The file, known to be a plain one.
        file: What it is called in findings.
        queries: How many queries its dataset has; None where that is not known.
        findings: Takes what is wrong.
    """
    most = ENTRIES if queries is None else DEEPEST * queries
    survey = survey_run(path, most_bytes=INSIDE_BYTES, most_entries=most, most_kept=KEPT_BYTES)
    _add_faults(survey.faults, file, findings)
    _check_tags(survey.tags, file, findings)
    if not survey.faults:  # lines at fault are missing in the order
        _check_order(survey.columns, file, findings)
    return survey


def _add_faults(faults: Mapping[str, Faults], file: str, findings: Findings) -> None:
    for kind, found in faults.items():
        for number, error in enumerate(found.first, 1):
            count = 1 if number < len(found.first) else found.count - number + 1
            findings.add(
                OF_FAULT[kind],
                file,
                error.wrong,
                line=error.line,
                expected=error.expected,
                got=error.got,
                fix=error.hint,
                count=count,
            )


def _check_tags(tags: Mapping[str, int], file: str, findings: Findings) -> None:
    if len(tags) > 1:
        first, second, *others = tags
        got = f"{shown(first)} and then {shown(second)}" + (f", and {len(others)} more" if others else "")
        findings.add("E313", file, "the tag", line=tags[second], expected="the same on every line", got=got)


def _check_order(columns: Columns, file: str, findings: Findings) -> None:
    order = order_of(columns)
    for entries, what in (
        (order.apart, "of a query that stood before another one"),
        (order.rising, "with a score above that of the entry before"),
    ):
        if len(entries):
            line, query = columns.line(int(entries[0])), _query(columns, int(entries[0]))
            findings.add("W320", file, f"{counted(len(entries), 'entries')} {what}, first of {query}", line=line)
    if len(order.misranked):
        entry, place = int(order.misranked[0]), int(order.places[0])
        rank = -1 if columns.ranks is None else int(columns.ranks[entry])
        number, query = counted(len(order.misranked), "entries"), _query(columns, entry)
        what = f"{number} with a rank that is not the place by score, first of {query}"
        got = f"{rank}" if rank != place else f"{rank} for a score above that of the rank before"
        findings.add("W319", file, what, line=columns.line(entry), expected=f"{place}", got=got)


def _query(columns: Columns, entry: int) -> str:
    return f"query {shown(columns.query_ids[columns.queries[entry]])}"
