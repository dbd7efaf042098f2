"""Where the snapshots of datasets that are known by name are: in the package, in the Hub's cache, or converted."""

import hashlib
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from freshstack_datasets import catalog
from freshstack_datasets.errors import InputError, shown
from freshstack_datasets.files import is_file_below
from freshstack_datasets.home import home
from freshstack_datasets.hub import cached, download
from freshstack_datasets.hub.pins import Pin, pin, sources
from freshstack_datasets.layouts import oct_2024
from freshstack_datasets.layouts.snapshot import FIRST
from freshstack_datasets.manifest import FILE, read_manifest

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """A folder that holds a snapshot in this package's layout.

    Args:
        folder: The folder.
        root: Below which its files may be links to; below the folder when None.
        bring: Sees to it that the files of a table, or a file of the build's trace by its path, are there; None where all
            are.
        snapshot: The snapshot that it must be; None where any will do.
    """

    folder: Path
    root: Path | None = None
    bring: Callable[[str], object] | None = None
    snapshot: str | None = None


def meant(name: str | Path, snapshot: str | None = None) -> tuple[str | Path, str | None]:
    """Return what somebody means by a name or a path: the name of a dataset or the path of a folder, and a snapshot.

    A text is meant as a path if it looks like one, or if no dataset is known by it and there is such a folder.

    Args:
        name: A dataset's name or a folder's path, perhaps with the snapshot, as in ``langchain@2024-10``.
        snapshot: The snapshot, if it is given apart.

    Raises:
        InputError: It can be neither, or two snapshots are given.
    """
    given: object = name  # whatever the annotation promised
    if not isinstance(given, str | Path) or "\0" in str(given):
        got = f"{shown(given)} ({type(given).__name__})"
        raise InputError("a dataset", expected="its name, or the path of a snapshot's folder", got=got)
    text = str(name)
    base, at, pinned = text.rpartition("@")
    if at and base and os.sep not in pinned and not _is_folder(text):
        if snapshot is not None and snapshot != pinned:
            raise InputError(f"snapshot of {shown(text)}", expected="one snapshot", got=f"also {shown(snapshot)}")
        text, snapshot = base, pinned
    return (Path(text) if isinstance(name, Path) or _means_folder(text) else text), snapshot


def _means_folder(name: str) -> bool:
    starts = ("./", "../", os.sep, f".{os.sep}", f"..{os.sep}")
    return name in (".", "..") or name.startswith(starts) or (name not in catalog.names() and _is_folder(name))


def _is_folder(name: str) -> bool:
    try:
        return bool(name) and Path(name).is_dir()
    except (OSError, ValueError):  # too long, or not to be encoded
        return False


def find(name: str, snapshot: str | None = None) -> Place:
    """Return where a snapshot is; what is needed at once of one on the Hub is downloaded.

    Args:
        name: The dataset's name.
        snapshot: The snapshot; the newest when not given.

    Raises:
        UnknownNameError: There is no dataset or snapshot of that name.
        HubError: It is not on this machine and cannot be had.
        SnapshotError: It is no snapshot.
    """
    found = resolved(name, snapshot)
    if isinstance(found, Path):
        return Place(found, snapshot=snapshot)
    if found.layout == "oct-2024":
        return Place(converted(found), snapshot=found.snapshot)
    folder = download.folder(found, FIRST)
    return Place(folder, cached.cache(), lambda name: download.folder(found, [name]), found.snapshot)


def resolved(name: str, snapshot: str | None = None) -> Path | Pin:
    """Return the folder of a snapshot that came with the package, or the commits of another one.

    Args:
        name: The dataset's name.
        snapshot: The snapshot; the newest when not given.

    Raises:
        UnknownNameError: There is no dataset or snapshot of that name.
        HubError: The Hub does not tell.
    """
    full = catalog.full_name(name)
    here = catalog.bundled().get(full)
    if here is not None and (snapshot is None or snapshot == read_manifest(here).snapshot):
        return here
    return pin(full, snapshot)


def converted(pin: Pin) -> Path:
    """Return the folder of a snapshot that is made of the originals, which is kept from then on.

    Args:
        pin: The snapshot.

    Raises:
        HubError: The originals are not on this machine and cannot be had.
        InputError: They cannot be converted.
    """
    folder = converted_folder(pin)
    if not is_file_below(folder / FILE, folder):
        corpus, queries = download.originals(pin)
        try:
            made = oct_2024.convert(corpus, queries, folder, dataset=pin.dataset, sources=sources(pin))
        except InputError:
            if not is_file_below(folder / FILE, folder):  # else another process was quicker
                raise
            return folder
        for code, count in sorted(made.found.items()):
            log.info("%s: %s %s", pin, count, code)
    return folder


def converted_folder(pin: Pin) -> Path:
    """Return the folder where a snapshot of originals is kept, or would be."""
    parts = [pin.dataset, pin.snapshot, str(oct_2024.VERSION), *(at.commit for at in pin.repositories)]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return home() / "converted" / pin.dataset.replace("/", "--") / f"{pin.snapshot}-{key}"
