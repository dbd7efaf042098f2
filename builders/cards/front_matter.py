"""The YAML at the top of a card: what the Hub and ``datasets`` read of it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from freshstack_datasets.manifest import Manifest
from freshstack_datasets.tables.schema import QRELS, TABLES

_HUB_LICENSES = """
afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc
cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0
cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0
cdla-permissive-1.0 cdla-permissive-2.0 cdla-sharing-1.0 ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 gfdl gpl
gpl-2.0 gpl-3.0 isc lgpl lgpl-2.1 lgpl-3.0 lgpl-lr lppl-1.3c mit mpl-2.0 ms-pl ncsa odbl odc-by ofl-1.1 osl-3.0
pddl postgresql unlicense wtfpl zlib
"""
LICENSES = frozenset(_HUB_LICENSES.split())
"""What the Hub calls the licences that data may have; it refuses a card with any other."""

_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B")


def front_matter(
    name: str,
    license: str,
    languages: Sequence[str],
    tags: Sequence[str],
    documents: int,
    counted: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the YAML, without the lines around it.

    Args:
        name: What to show as its name.
        license: The licence of the whole.
        languages: The languages of its texts, ISO 639.
        tags: What to find it by, beside what all datasets of this kind have.
        documents: How many documents it has.
        counted: What ``counts`` says of its tables; left out when empty.
    """
    told = {
        **licensed(license),
        **({"language": list(languages)} if languages else {}),
        "pretty_name": name,
        "size_categories": [size_category(documents)],
        "task_categories": ["text-retrieval"],
        "task_ids": ["document-retrieval"],
        "tags": list(dict.fromkeys(["freshstack", "retrieval", "nuggets", *tags])),
        "configs": [
            {
                "config_name": table.name,
                **({"default": True} if table is QRELS else {}),
                "data_files": [{"split": table.split, "path": f"{table.name}/{table.split}-*.parquet"}],
            }
            for table in TABLES.values()
        ],
        **({"dataset_info": list(counted)} if counted else {}),
    }
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=10_000).rstrip("\n")


def counts(folder: Path, manifest: Manifest) -> list[dict[str, Any]]:
    """Return what ``datasets`` is told of each table: it refuses one with another number of rows.

    Args:
        folder: The folder of the snapshot.
        manifest: What it says of itself.
    """
    told = []
    for table in TABLES.values():
        files = manifest.table_files(table.name)
        unpacked = sum(_unpacked(folder / file.path) for file in files)
        rows = manifest.tables[table.name].rows
        told.append(
            {
                "config_name": table.name,
                "splits": [{"name": table.split, "num_bytes": unpacked, "num_examples": rows}],
                "download_size": sum(file.size for file in files),
                "dataset_size": unpacked,
            }
        )
    return told


def _unpacked(file: Path) -> int:
    """Return the bytes of a Parquet file's columns before compression, as it says itself."""
    told = pq.read_metadata(file)
    return sum(told.row_group(group).total_byte_size for group in range(told.num_row_groups))


def licensed(license: str) -> dict[str, Any]:
    """Return the members that name a licence: its identifier, those of several, or the name of one the Hub lacks.

    Args:
        license: An SPDX identifier or expression, or a name.
    """
    known = [part.strip().lower() for part in license.split(" AND ")]
    if all(part in LICENSES for part in known):
        return {"license": known[0] if len(known) == 1 else known}
    name = re.sub("[^a-z0-9.]+", "-", license.lower()).strip("-.")[:100]
    return {"license": "other", "license_name": name or "unnamed"}


def size_category(documents: int) -> str:
    """Return what the Hub calls a number of rows."""
    return _SIZES[min(max(len(str(documents)) - 3, 0), len(_SIZES) - 1)]
