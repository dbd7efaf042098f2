"""Running a command in a process of its own: how long it takes, and the most memory that it and its children hold."""

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

_LOOK = 0.02
_SAID = 2_000


def measured(command: Sequence[str | Path], **variables: str) -> dict[str, float]:
    """Return the ``seconds`` and the peak ``memory`` in megabytes of a command; end the benchmark if it fails.

    ``cpu`` is the seconds that processors worked for it, which other work on the machine changes less.

    Args:
        command: The program and its arguments.
        variables: Environment variables besides those of this process.
    """
    start, before = time.perf_counter(), _worked()
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, env=os.environ | variables, stdout=said, stderr=said) as run,
    ):
        peak = 0.0
        while run.poll() is None:
            peak = max(peak, memory(run.pid))
            time.sleep(_LOOK)
        seconds = time.perf_counter() - start
        if run.returncode:
            said.seek(0)
            raise SystemExit(said.read().decode("utf-8", "replace")[-_SAID:])
    return {"seconds": seconds, "cpu": _worked() - before, "memory": peak}


def _worked() -> float:
    """Return the seconds that processors worked for the children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def memory(process: int) -> float:
    """Return the megabytes that a process and its children hold now, what they share counted once in each."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="utf-8").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0  # it has just ended
    return pages * os.sysconf("SC_PAGESIZE") / 1e6 + sum(memory(int(child)) for child in children)
