"""What a card says of a dataset, gathered from its snapshot, from the catalog, or from both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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

Sizes = tuple[int | None, int | None]
"""Questions and documents of a snapshot; None for what is not known."""


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
        published: What the catalog has of this very snapshot.
        manifest: What the snapshot says of itself; None where it is not on this machine.
        statistics: What was counted in it; None likewise.
        counted: The same of its tables, for ``datasets``.
        others: The dataset's other snapshots: their sizes by name, None where neither is known.
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
    others: Mapping[str, Sizes | None] = field(default_factory=dict)

    @property
    def original(self) -> KnownSnapshot | None:
        """What the catalog has of the original of October 2024 that this is, or a correction of; None for all others.

        Only of these is it known how the authors of FreshStack made them.
        """
        entry = catalog.published(self.name).get(self.snapshot.partition(".")[0])
        return entry if entry is not None and entry.layout == "oct-2024" else None

    @property
    def filtered(self) -> bool:
        """Whether the catalog's figures of questions are of this dataset, and not of the twin that keeps fewer."""
        return self.name in catalog.known()

    @property
    def told(self) -> KnownSnapshot | None:
        """What was published of this snapshot by others, or is all that there is; None where its own counts say all."""
        return self.published if self.manifest is None or self.published is self.original else None

    @property
    def documents(self) -> int:
        """How many documents it has."""
        return self.rows["corpus"]

    @property
    def queries(self) -> int | None:
        """How many queries it has, None where that is not known."""
        return self.rows.get("queries")

    def among(self, snapshots: Mapping[str, Sizes | None]) -> "Facts":
        """Return the same of a dataset that has these snapshots too.

        Args:
            snapshots: Sizes by name, None where they are not known, such as of the tags of its repository.
        """
        more = {name: sizes or self.others.get(name) for name, sizes in snapshots.items() if name != self.snapshot}
        return replace(self, others={**self.others, **more})


def of_folder(folder: Path) -> Facts:
    """Return what is known of the snapshot in a folder.

    Args:
        folder: The folder.

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
        others=_catalogued(data.name, data.snapshot),
    )


def of_catalog(name: str) -> Facts:
    """Return what is known of the newest catalogued snapshot of a dataset without the snapshot.

    Args:
        name: The full name of a dataset of the catalog; one that is unfiltered has its twin's corpus.
    """
    known = catalog.known()[name.removesuffix(catalog.UNFILTERED)]
    snapshot = max(catalog.published(name), key=catalog.snapshot_order)
    published = catalog.published(name)[snapshot]
    return Facts(
        name=name,
        snapshot=snapshot,
        license=known.license,
        languages=known.languages,
        about=known.description,
        sections={},
        rows={"corpus": published.documents, **({"queries": published.queries} if name in catalog.known() else {})},
        known=known,
        published=published,
        others=_catalogued(name, snapshot),
    )


def _catalogued(name: str, but: str) -> dict[str, Sizes | None]:
    """Return the sizes of a dataset's catalogued snapshots by name, but of one."""
    return {other: _sizes(name, entry) for other, entry in catalog.published(name).items() if other != but}


def _sizes(name: str, entry: KnownSnapshot) -> Sizes:
    return entry.queries if name in catalog.known() else None, entry.documents
