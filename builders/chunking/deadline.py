"""The time that one file may take. Work asks now and then whether it is up, in any thread and on any system."""

import time


class OutOfTimeError(Exception):
    """The time for a file is up; it is caught where the file's result is made and never seen by callers."""


class Deadline:
    """A moment after which no more work is done.

    Args:
        seconds: How long from now.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds until then, never less than 0."""
        return max(0.0, self._end - time.monotonic())

    def passed(self) -> bool:
        """Return whether the time is up."""
        return time.monotonic() > self._end

    def check(self) -> None:
        """Do nothing while there is time.

        Raises:
            OutOfTimeError: There is none left.
        """
        if self.passed():
            raise OutOfTimeError
