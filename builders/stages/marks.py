"""Parts and marks: which work is done, kept in files, so that whatever ends a run takes nothing of it away.

A mark holds the digest of what the part depends on and that of the part itself.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from builders.stages.records import Stage
from freshstack_datasets.files import atomic_file

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Job(Generic[S]):
    """A part that is to be made.

    Args:
        shard: What it is made of.
        part: Where it goes.
        key: The digest of all that it depends on.
    """

    shard: S
    part: Path
    key: str

    @property
    def mark(self) -> Path:
        """The file that says that the part is whole."""
        return self.part.with_suffix(".done")

    def is_made(self) -> bool:
        """Tell whether the part is there and whole, and was made of the same."""
        try:
            return bool(json.loads(self.mark.read_bytes()) == {"key": self.key, "part": _digest(self.part)})
        except (OSError, ValueError):
            return False

    def clear(self) -> None:
        """Remove what a process left that ended while it made the part."""
        for left in self.part.parent.glob(f".{self.part.name}-*"):
            left.unlink(missing_ok=True)

    @contextmanager
    def making(self) -> Iterator[Path]:
        """Yield a file that becomes the part, and then has its mark, when the block ends well."""
        with atomic_file(self.part) as work:
            yield work
            mark = {"key": self.key, "part": _digest(work)}
        with atomic_file(self.mark) as work:
            work.write_text(json.dumps(mark), encoding="utf-8")


def jobs(stage: Stage[S], shards: Sequence[S], home: Path) -> list[Job[S]]:
    """Return what a stage has to do for some shards, in their order.

    Args:
        stage: The stage.
        shards: The shards.
        home: The folder for parts and marks.
    """
    return [Job(shard, home / f"{at:06}.part", key_of(stage, shard)) for at, shard in enumerate(shards)]


def key_of(stage: Stage[S], shard: S) -> str:
    """Return the digest of all that a part depends on."""
    return hashlib.sha256(stage.key(shard).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
