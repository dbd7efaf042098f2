"""The datasets that are known by name, and where their snapshots lie."""

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from freshstack_datasets.errors import SnapshotError, UnknownNameError
from freshstack_datasets.manifest import FILE, read_manifest

OWNER = "freshstack"
_FILE = Path(__file__).with_name("catalog.toml")
_BUNDLED = Path(__file__).with_name("bundled")

_Text = Annotated[str, StringConstraints(min_length=1)]
_Tuple = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Repository(_Model):
    """A repository that a corpus was made of.

    Args:
        name: Owner and name.
        license: Its licence, as the source of the figures writes it.
    """

    name: _Text
    license: _Text


class KnownSnapshot(_Model):
    """A published snapshot.

    Args:
        source: Where the figures are from.
        queries: How many queries it has.
        documents: How many documents.
        nuggets_per_query: The mean, rounded to one place.
        repositories: What its corpus was made of.
    """

    source: _Text
    queries: Annotated[int, Field(gt=0)]
    documents: Annotated[int, Field(gt=0)]
    nuggets_per_query: Annotated[float, Field(gt=0)]
    repositories: Annotated[tuple[Repository, ...], _Tuple]


class KnownDataset(_Model):
    """A dataset that is known by name.

    Args:
        domain: What it is about.
        description: The same in a sentence.
        license: The licence of its texts as published.
        tags: The tags of its questions' topic.
        snapshots: From a snapshot's name to what is known of it.
    """

    domain: _Text
    description: _Text
    license: _Text
    tags: Annotated[tuple[_Text, ...], _Tuple]
    snapshots: dict[_Text, KnownSnapshot]


def snapshot_order(name: str) -> tuple[int, ...]:
    """Return what orders snapshots' names: 2026-09 < 2026-10 < 2026-10.1 < 2026-10.10."""
    return tuple(int(part) for part in name.replace("-", ".").split("."))


@cache
def known() -> Mapping[str, KnownDataset]:
    """Return the catalogued datasets by full name."""
    with _FILE.open("rb") as stream:
        entries = tomllib.load(stream)["datasets"]
    return {f"{OWNER}/{name}": KnownDataset.model_validate(entry) for name, entry in entries.items()}


def bundled() -> dict[str, Path]:
    """Return the folders of the snapshots that came with the package, by full name."""
    if not _BUNDLED.is_dir():
        return {}
    return {f"{OWNER}/{path.name}": path for path in sorted(_BUNDLED.iterdir()) if (path / FILE).is_file()}


def names() -> list[str]:
    """Return the names that ``load`` knows, bundled ones by their short name too."""
    return sorted({*known(), *bundled(), *(name.partition("/")[2] for name in bundled())})


class Listed(_Model):
    """A snapshot as a list shows it.

    Args:
        dataset: The dataset's full name.
        name: The snapshot's name.
        cached: Whether it is on this machine.
        bytes: The size of its files, None where it is not known.
    """

    dataset: str
    name: str
    cached: bool
    bytes: int | None


def listed() -> list[Listed]:
    """Return every snapshot that is known by name, by dataset, the newest first.

    Raises:
        SnapshotError: One that came with the package cannot be read.
    """
    return [snapshot for name in sorted({*known(), *bundled()}) for snapshot in _snapshots(name)]


def _snapshots(name: str) -> list[Listed]:
    """Return the snapshots of a dataset, the newest first."""
    here = {}
    if (folder := bundled().get(name)) is not None:
        manifest = read_manifest(folder)
        here[manifest.snapshot] = sum(file.size for file in manifest.files())
    there = known()[name].snapshots if name in known() else {}
    return [
        Listed(dataset=name, name=snapshot, cached=snapshot in here, bytes=here.get(snapshot))
        for snapshot in sorted({*here, *there}, key=snapshot_order, reverse=True)
    ]


def folder_of(name: str, snapshot: str | None = None) -> Path:
    """Return the folder of a dataset that is known by name.

    Args:
        name: Its full name, or the short name of a bundled one.
        snapshot: The snapshot; the newest when not given.

    Raises:
        UnknownNameError: There is no dataset or snapshot of that name.
        SnapshotError: It is known, but not on this machine.
    """
    here = bundled()
    full = name if name in known() or name in here else f"{OWNER}/{name}"
    if full in here and (snapshot is None or snapshot == read_manifest(here[full]).snapshot):
        return here[full]
    if full not in known() and full not in here:
        near = UnknownNameError("dataset", name, names()).hint
        more = "or give the folder of a snapshot"
        raise UnknownNameError("dataset", name, hint=f"{near} {more}" if near.endswith("?") else f"{near}, {more}")
    snapshots = [entry.name for entry in _snapshots(full)]
    if snapshot is not None and snapshot not in snapshots:
        raise UnknownNameError(f"snapshot of {full}", snapshot, snapshots)
    raise SnapshotError(
        f"{full}@{snapshot or snapshots[0]} is not on this machine",
        expected="a folder or a bundled snapshot, which is all that this version reads",
        got="the name of a published one",
        hint=f"give the path of a snapshot's folder, such as .{os.sep}{full.partition('/')[2]}",
    )
