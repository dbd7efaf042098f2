"""What lies in a submission's folder. Nothing is opened before it is known to be a plain file that may be so large."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from freshstack_datasets.errors import UnknownNameError, shown
from leaderboard.boards.places import COMPUTED, RUN_SUFFIXES, SUBMISSION
from leaderboard.validation.findings import Findings

FILE_BYTES = 50_000_000
"""Bytes that a file may have; a run of 200 queries with 1,000 documents each has some 15 million, before gzip."""

FOLDER_BYTES = 150_000_000
"""Bytes that all files of a submission may have together."""

_MOST_FILES = 1_000
"""Names of a folder that are looked at."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The usable files of a submission.

    Args:
        metadata: ``submission.yaml``, None where there is none.
        runs: The run file of each topic that has one alone.
    """

    metadata: Path | None
    runs: dict[str, Path]


def listed(folder: Path, label: str, topics: Sequence[str], findings: Findings, *, handed_in: bool) -> Listed:
    """Look at what lies in a submission's folder.

    Args:
        folder: The folder.
        label: What it is called in findings.
        topics: The topics of its board; none where the board is not known.
        findings: Takes what is wrong.
        handed_in: Whether it is being handed in, so that it must not hold scores.
    """
    metadata, runs, refused, total = None, dict[str, list[Path]](), set[str](), 0
    for name in _names(folder, label, findings):
        path, file = folder / name, f"{label}/{name}"
        size = _size(path, file, findings)
        if name in COMPUTED:
            if handed_in:
                findings.add("E104", file, "a file of scores", expected="runs alone, which scores are computed from")
            continue
        if size is None:
            refused.add(name)
            continue
        total += size
        if name == SUBMISSION:
            metadata = path
        elif (topic := topic_of(name)) is None:
            expected = f"{SUBMISSION}, and runs that end with {', '.join(RUN_SUFFIXES[:5])} (also with .gz) or .parquet"
            findings.add("E105", file, "a file that is none of a submission's", expected=expected)
        elif topics and topic not in topics:
            add_unknown_topic(file, topic, topics, findings)
        else:
            runs.setdefault(topic, []).append(path)
    if total > FOLDER_BYTES:
        findings.add("E107", label, "its files", expected=f"at most {FOLDER_BYTES:,} bytes", got=f"{total:,}")
    if metadata is None and SUBMISSION not in refused:
        findings.add("E201", label, "a submission", expected=f"the file {SUBMISSION}", got="none")
    _add_missing(label, topics, runs, {topic_of(name) for name in refused}, findings)
    return Listed(metadata, {topic: paths[0] for topic, paths in runs.items() if len(paths) == 1})


def plain_size(path: Path) -> int | None:
    """Return the bytes of a plain file; None for a link, a folder, a device, or where nothing is."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def check_file(path: Path, file: str, findings: Findings) -> bool:
    """Tell whether a file may be opened, and say why where it may not."""
    return _size(path, file, findings) is not None


def add_unknown_topic(file: str, topic: str, topics: Sequence[str], findings: Findings) -> None:
    """Say that a run file is named after no topic of the board."""
    hint = UnknownNameError("topic", topic, topics).hint
    expected = f"the name of a topic: {', '.join(topics)}"
    findings.add("E110", file, "the name of a run file", expected=expected, got=shown(topic), fix=hint)


def topic_of(name: str) -> str | None:
    """Return the topic that a run file is named after; None where a file's name is not that of a run."""
    suffix = max((one for one in RUN_SUFFIXES if name.endswith(one)), key=len, default=None)
    return name.removesuffix(suffix) if suffix else None


def _names(folder: Path, label: str, findings: Findings) -> list[str]:
    names: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(names) == _MOST_FILES:
                findings.add("E105", label, "a submission", expected=f"at most {_MOST_FILES} files", got="more")
                break
            names.append(entry.name)
    return sorted(names)


def _size(path: Path, file: str, findings: Findings) -> int | None:
    """Return the bytes of a file that may be opened; None for any other."""
    size = plain_size(path)
    if size is None:
        findings.add("E106", file, "what is there", expected="a plain file", got=_kind(path))
    elif size > FILE_BYTES:
        findings.add("E107", file, "a file", expected=f"at most {FILE_BYTES:,} bytes", got=f"{size:,}")
        size = None
    return size


def _kind(path: Path) -> str:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return "nothing that can be looked at"
    kinds = (
        (stat.S_ISLNK, "a link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for test, name in kinds if test(mode)), "a device")


def _add_missing(
    label: str, topics: Sequence[str], runs: dict[str, list[Path]], refused: set[str | None], findings: Findings
) -> None:
    """Say which runs are missing, but for topics with a run that was refused: that was told of it already."""
    for topic, paths in runs.items():
        if len(paths) > 1:
            got = ", ".join(shown(path.name)[1:-1] for path in paths)
            findings.add("E109", label, f"the topic {shown(topic)[1:-1]}", expected="one run file", got=got)
    missing = [topic for topic in topics if topic not in runs and topic not in refused]
    if not runs and not refused.intersection(topics):
        expected = f"a run file a topic: {', '.join(topics)}" if topics else "a run file a topic"
        findings.add("E108", label, "a submission", expected=expected, got="none")
    elif missing:
        findings.add("W111", label, "topics without a run", expected=f"all of {', '.join(topics)}",
                     got=f"none of {', '.join(missing)}")  # fmt: skip
