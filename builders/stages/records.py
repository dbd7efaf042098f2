"""What a stage is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

S_contra = TypeVar("S_contra", contravariant=True)
S = TypeVar("S")


class Stage(Protocol[S_contra]):
    """Makes a part of each shard, which depends on nothing but the shard and on how the stage was set.

    It is sent to other processes, and so must be able to be pickled before its first shard.
    """

    @property
    def name(self) -> str:
        """What it is called; a folder is named so."""
        ...

    def key(self, shard: S_contra) -> str:
        """Return all that a shard's part depends on, as a text: inputs by their digests, settings, and ``code``."""
        ...

    def make(self, shard: S_contra, part: Path) -> None:
        """Write the part of a shard to a file, the same bytes in every process."""
        ...

    def close(self) -> None:
        """Give back what is open, at the end of a process."""
        ...


@runtime_checkable
class Divisible(Stage[S], Protocol[S]):
    """A stage whose work may end its process, by a crash in a library or for want of memory.

    It is never done in the process that asked for it, not even with one process, so that the result is the same.
    """

    def pieces(self, shard: S) -> Sequence[S]:
        """Return what a shard consists of, in order; its part is the parts of these, one behind the other."""
        ...

    def give_up(self, shard: S, part: Path) -> None:
        """Write the part of a shard of one piece that ends every process that works on it."""
        ...
