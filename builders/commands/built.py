"""What every build says of the snapshot it made."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freshstack_datasets.cli import console
from freshstack_datasets.errors import shown_path

if TYPE_CHECKING:
    from freshstack_datasets.manifest import Manifest


def facts(manifest: "Manifest") -> dict[str, Any]:
    """Return what every build says of its snapshot in JSON."""
    return {
        "dataset": manifest.dataset,
        "snapshot": manifest.snapshot,
        "fingerprint": manifest.fingerprint,
        "license": manifest.license,
        "tables": {name: {"rows": table.rows} for name, table in sorted(manifest.tables.items())},
    }


def say_built(out: Path, manifest: "Manifest") -> None:
    """Print what every build says of its snapshot as text."""
    tables = manifest.tables
    console.say(f"{out}: {manifest.dataset}@{manifest.snapshot}, fingerprint {manifest.fingerprint[:12]}")
    sizes = (console.counted(tables["queries"].rows, "queries"), console.counted(tables["corpus"].rows, "documents"))
    console.say(", ".join((*sizes, manifest.license)))


def listed(counts: Mapping[str, int]) -> str:
    """Return numbers with what they count, one after the other.

    Args:
        counts: From what is counted, in the plural, to its number.
    """
    return ", ".join(console.counted(count, name) for name, count in counts.items())


@contextmanager
def parts_told(out: Path) -> Iterator[None]:
    """Say when the block is interrupted that what is done is kept, and what goes on with it.

    Args:
        out: What is made in the block.
    """
    try:
        yield
    except KeyboardInterrupt:
        parts = out.with_name(f"{out.name}.parts")
        if parts.is_dir():
            console.message(f"what is done is kept in {shown_path(parts)}: the same command goes on")
        raise
