"""What a parse may cost, counted by what the parser asks and tells, never by seconds: the same on every machine.

Three things are counted. Steps: the parser reports every hundredth of its moves. Reads: some grammars look far ahead
within one move, and have to read for it. And trouble: within an error a move may cost as much as all before it, and so
may one where many readings of a text are followed. The parser tells of these in its log alone, which slows it down some
twenty times, so that one step of many is logged.
"""

import re
from typing import TYPE_CHECKING

from builders.chunking.deadline import Deadline

if TYPE_CHECKING:
    from tree_sitter import LogType, Parser, Point

_READ = 1_024
"""Bytes that the parser is given at once."""
_READS, _BYTES_A_READ = 5_000, 64
"""It may read so often, and once more for every so many bytes. Real files are read twice to five times, one of 86 kB
sixteen times."""
_STEPS, _BYTES_A_STEP = 5_000, 32
"""So many steps there may be up to any place, and one more for every so many bytes before it. Real files take a step for
200 bytes, dense ones of some length for 54, nested brackets for 14."""
_SAMPLE = 32
"""One step of so many is logged."""
_SKIPPED, _CROWDED = 10, 4
"""What a token that fits nowhere counts for, and a move while five or more readings are followed. A token that fits
counts for one, against them."""
_TROUBLE = 4_000
"""So much trouble there may be at a time in the steps that are logged. C++ comes to 1,000, Cython, which Python's grammar
reads with errors throughout, to 2,000 in 200 kB; what is in no language at all comes to 200 a step."""
_FOLLOWED = re.compile(r"process version:\d+, version_count:(?:[5-9]|\d\d)")


class Budget:
    """Feeds a parser and stops it when it costs too much.

    Args:
        raw: The text to be parsed.
        deadline: The time that this may take, as a last resort.
    """

    def __init__(self, raw: bytes, deadline: Deadline) -> None:
        self._raw = raw
        self._deadline = deadline
        self._reads = _READS + len(raw) // _BYTES_A_READ
        self._steps = 0
        self._trouble = 0
        self.spent = False
        """Whether the parse cost too much."""

    def read(self, at: int, _point: "Point") -> bytes:
        """Return the next bytes of the text, or none to a parser that read too often."""
        self._reads -= 1
        self.spent = self.spent or self._reads < 0
        return b"" if self.spent else self._raw[at : at + _READ]

    def stops(self, parser: "Parser", at: int) -> bool:
        """Return whether a parser that comes to that byte is to stop, and have it log the next step if it is time."""
        self._steps += 1
        if self._steps % _SAMPLE == 0:
            parser.logger = self._log
        elif self._steps % _SAMPLE == 1:
            del parser.logger
            self._trouble = max(0, self._trouble)
        self.spent = self.spent or self._trouble > _TROUBLE or self._steps > _STEPS + at // _BYTES_A_STEP
        return self.spent or self._deadline.passed()

    def _log(self, _kind: "LogType", message: str) -> None:
        if message.startswith("shift"):
            self._trouble -= 1
        elif message.startswith("skip_token"):
            self._trouble += _SKIPPED
        elif _FOLLOWED.match(message):
            self._trouble += _CROWDED
