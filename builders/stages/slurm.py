"""Waiting for Slurm, which takes a job and returns: the marks of its parts tell how far it is, its queue whether it is."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import sleep
from typing import Any

from freshstack_datasets.errors import InputError, shown

EVERY = 5.0
"""Seconds between two looks at the marks."""
_ASKED = 12
"""Looks without anything new, after which Slurm is asked whether the job is still there."""


def submitted(executor: Any, marks: Sequence[Path], said: Callable[[], list[str]]) -> Iterator[None]:
    """Submit a job, and yield as marks appear, until all are there, something went wrong, or the job is gone.

    Args:
        executor: datatrove's.
        marks: The files to wait for, none of which is there.
        said: Returns what went wrong so far.

    Raises:
        InputError: There is no Slurm, or it refuses the job.
    """
    if "SLURM_ARRAY_TASK_ID" in os.environ:  # datatrove would take this process for one of its tasks
        raise InputError("a job cannot be submitted from a task of another one", hint="run it on a login node")
    with _told():
        executor.run()
    left, quiet = set(marks), 0
    try:
        while left and not said():
            there = {mark for folder in {mark.parent for mark in left} for mark in folder.glob("*.done")} & left
            yield from (None for _ in there)
            left -= there
            quiet = 0 if there else quiet + 1
            if left and quiet and quiet % _ASKED == 0 and _is_gone(executor.job_id):
                left = {mark for mark in left if not mark.exists()}  # made since the last look
                return
            if left:
                sleep(EVERY)
    finally:
        if left:
            _run("scancel", str(executor.job_id))


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Say in one line that a job cannot be submitted."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError("there is no Slurm", got=f"no program {shown(str(error.filename))}") from None
    except subprocess.CalledProcessError as error:
        raise InputError("Slurm refuses the job", got=f"exit code {error.returncode} of sbatch") from None


def _is_gone(job: str) -> bool:
    """Tell whether Slurm knows nothing more of a job; not when it cannot be asked."""
    asked = _run("squeue", "--noheader", f"--jobs={job}")
    return asked is not None and (
        (asked.returncode == 0 and not asked.stdout.strip()) or "invalid job id" in asked.stderr.lower()
    )


def _run(*command: str) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
