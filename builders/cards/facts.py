"""What a card says of a dataset, gathered from its snapshot, from the catalog, or from both."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders.cards.front_matter import counts
from builders.cards.statistics import Statistics, statistics
from freshstack_datasets import catalog
from freshstack_datasets.card import texts_of
from freshstack_datasets.catalog import KnownDataset, KnownSnapshot
from freshstack_datasets.loading import load
from freshstack_datasets.manifest import Manifest

CARD = "README.md"


@dataclass(frozen=True)
class Facts:
    """What is known of one snapshot.

    Args:
        name: The dataset's name.
        snapshot: The snapshot's name.
        license: The licence of the whole.
        languages: The languages of its texts, the most frequent one first.
        about: What those who made it say it is.
        sections: What else they say, from a heading to a text.
        rows: How many rows its tables have, as far as that is known.
        known: What the catalog has of the dataset.
        published: What the catalog has of the snapshot.
        manifest: What the snapshot says of itself; None where it is not on this machine.
        statistics: What was counted in it; None likewise.
        counted: The same of its tables, for ``datasets``.
        others: The names of the dataset's other snapshots.
    """

    name: str
    snapshot: str
    license: str
    languages: Sequence[str]
    about: str
    sections: Mapping[str, str]
    rows: Mapping[str, int]
    known: KnownDataset | None
    published: KnownSnapshot | None
    manifest: Manifest | None = None
    statistics: Statistics | None = None
    counted: Sequence[Mapping[str, Any]] = ()
    others: Collection[str] = field(default_factory=frozenset)

    @property
    def figures_published(self) -> bool:
        """Whether the catalog's figures are of this dataset; those of an unfiltered one are of the filtered."""
        return self.published is not None and self.name in catalog.known()

    @property
    def documents(self) -> int:
        """How many documents it has."""
        return self.rows["corpus"]

    @property
    def queries(self) -> int:
        """How many queries it has."""
        return self.rows["queries"]


def of_folder(folder: Path, snapshots: Collection[str] = ()) -> Facts:
    """Return what is known of the snapshot in a folder.

    Args:
        folder: The folder.
        snapshots: The names of more snapshots of the dataset, such as the tags of its repository.

    Raises:
        MissingExtraError: A package that counts tokens is not installed.
        SnapshotError: It is no snapshot, or cannot be read.
    """
    data = load(folder)
    manifest = data.manifest
    assert manifest is not None  # what is loaded from a folder has one
    known = catalog.known().get(data.name.removesuffix(catalog.UNFILTERED))
    path = folder / CARD
    about, sections = texts_of(path.read_text("utf-8", "replace")) if path.is_file() else ("", {})
    return Facts(
        name=data.name,
        snapshot=data.snapshot,
        license=manifest.license,
        languages=data.languages or (known.languages if known else ()),
        about=about or (known.description if known else ""),
        sections=sections,
        rows={name: table.rows for name, table in manifest.tables.items()},
        known=known,
        published=catalog.published(data.name).get(data.snapshot),
        manifest=manifest,
        statistics=statistics(data),
        counted=counts(folder, manifest),
        others={*snapshots, *catalog.published(data.name)} - {data.snapshot},
    )


def of_catalog(name: str) -> Facts:
    """Return what is known of the newest catalogued snapshot of a dataset without the snapshot.

    Args:
        name: The full name of a dataset whose figures are catalogued.
    """
    known = catalog.known()[name]
    snapshot = max(known.snapshots, key=catalog.snapshot_order)
    published = known.snapshots[snapshot]
    return Facts(
        name=name,
        snapshot=snapshot,
        license=known.license,
        languages=known.languages,
        about=known.description,
        sections={},
        rows={"corpus": published.documents, "queries": published.queries},
        known=known,
        published=published,
        others=known.snapshots.keys() - {snapshot},
    )
