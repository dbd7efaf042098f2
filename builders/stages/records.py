"""What a stage is."""

from pathlib import Path
from typing import Protocol, TypeVar

S_contra = TypeVar("S_contra", contravariant=True)


class Stage(Protocol[S_contra]):
    """Makes a part of each shard, which depends on nothing but the shard and on how the stage was set.

    It is sent to other processes, and so must be able to be pickled before its first shard.
    """

    @property
    def name(self) -> str:
        """What it is called; a folder is named so."""
        ...

    def key(self, shard: S_contra) -> str:
        """Return all that a shard's part depends on, as a text: inputs by their digests, and settings."""
        ...

    def make(self, shard: S_contra, part: Path) -> None:
        """Write the part of a shard to a file, the same bytes in every process."""
        ...

    def close(self) -> None:
        """Give back what is open, at the end of a process."""
        ...
