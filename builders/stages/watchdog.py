"""Ends a process that hangs where Python cannot interrupt it: in a library's own loop, which may hold Python's lock.

The watch is kept by a thread of Python's own that needs no lock. A process that it ended counts as one that crashed.
"""

import faulthandler
import os
from functools import cache
from typing import IO

PATIENCE = 180.0
"""Seconds that one piece of work may take: three times as long as Python's own limit for a file, which ends it in time
wherever it is asked."""

_watched: list[float] = []
"""In a process whose end does no harm: the patience that there is."""


def watch(patience: float = PATIENCE) -> None:
    """Let this process be ended from now on when it hangs."""
    _watched[:] = [patience]


def alive() -> None:
    """Begin a piece of work, where the process is watched; the time for the one before no longer counts."""
    if _watched:
        faulthandler.dump_traceback_later(_watched[0], exit=True, file=_nowhere())


def idle() -> None:
    """Count no time until the next piece of work."""
    if _watched:
        faulthandler.cancel_dump_traceback_later()


@cache
def _nowhere() -> IO[str]:
    return open(os.devnull, "w")  # noqa: PTH123  # open for as long as the process
