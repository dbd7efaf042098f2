"""Run files that a command takes."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freshstack_datasets.ranking import Run


def read_runs(paths: Sequence[Path]) -> "list[Run]":
    """Return the runs of files; those of one name are told apart by their files.

    Args:
        paths: The files.

    Raises:
        RunError: One cannot be read.
    """
    from freshstack_datasets.runs import read_run

    runs = [read_run(path) for path in paths]
    times = Counter(run.name for run in runs)
    return [
        run if times[run.name] == 1 else run.named(f"{run.name} ({path})")
        for path, run in zip(paths, runs, strict=True)
    ]
