"""What ``corpus`` and ``questions`` write alike: one sorted table, and a file that says how it was made."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from freshstack_datasets.errors import MissingExtraError
from freshstack_datasets.recipe import Generator, Recipe, Source
from freshstack_datasets.tables.parquet import TableWriter
from freshstack_datasets.tables.schema import Table
from freshstack_datasets.tables.spool import Spool

OURS = "freshstack-datasets"


def installed(package: str) -> str:
    """Return the version of a package.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        raise MissingExtraError(package, "build") from None


def write_sorted(folder: Path, table: Table, records: Iterable[Any]) -> dict[str, Any]:
    """Write the records of a table, sorted by id, and return what is said of it.

    Args:
        folder: Where the table's own folder goes.
        table: The table.
        records: Its records, in any order; they are read once, and wait on disk.

    Raises:
        SnapshotError: Two records have one id, or there is none.
    """
    spool = Spool(folder / f".{table.name}.arrow", table, records)
    with TableWriter(folder, table) as writer:
        for group in spool.sorted_groups(table.group_rows):
            writer.write_group(group)
    spool.remove()
    sha256 = _sha256(folder / table.file())
    return {"file": table.file(), "rows": writer.rows, "digest": writer.digest(), "sha256": sha256}


def write_about(
    path: Path, dataset: str, sources: Sequence[Source], recipe: Recipe, table: dict[str, Any], counts: dict[str, int]
) -> None:
    """Write what a table was made of, and how, with the digests of the lists beside it, which are written before.

    Args:
        path: The file, in the folder of the table and of its lists of JSON lines.
        dataset: What the topic is called.
        sources: What it was made of.
        recipe: How.
        table: What is said of the table.
        counts: How many of what there are.
    """
    about = {
        "dataset": dataset,
        "sources": [source.model_dump(mode="json", exclude_none=True) for source in sources],
        "recipe": recipe.model_dump(mode="json", exclude_none=True),
        "generator": Generator(name=OURS, version=installed(OURS)).model_dump(mode="json"),
        "table": table,
        "lists": {one.name: _sha256(one) for one in sorted(path.parent.glob("*.jsonl"))},
        "counts": counts,
    }
    text = json.dumps(about, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
