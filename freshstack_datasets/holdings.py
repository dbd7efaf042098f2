"""What of the datasets is on this machine: fetched whole, looked through, and listed."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from freshstack_datasets import catalog
from freshstack_datasets.catalog import Listed, snapshot_order
from freshstack_datasets.errors import FreshStackError, HubError, InputError, SnapshotError, shown, shown_path
from freshstack_datasets.files import is_file_below
from freshstack_datasets.hub import cached, download, ledger
from freshstack_datasets.hub.pins import Pin, known_pin, moved
from freshstack_datasets.layouts.snapshot import FIRST
from freshstack_datasets.manifest import FILE, Manifest, read_manifest
from freshstack_datasets.places import converted, converted_folder, resolved
from freshstack_datasets.tables.schema import CORPUS
from freshstack_datasets.verification import Problem, verify


@dataclass(frozen=True)
class Held:
    """A snapshot that is on this machine.

    Args:
        manifest: Its description.
        folder: Where it is.
        bytes: The size of its files.
        renewed: Files that were damaged and have been fetched again.
        problems: What is wrong with it.
        note: What could not be looked at, and why; "" when all was.
    """

    manifest: Manifest
    folder: Path
    bytes: int
    renewed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Moved:
    """A snapshot whose tag points at another commit than it did when the snapshot was first used.

    Args:
        before: The commit that is used.
        now: The one that the tag points at.
    """

    before: Pin
    now: Pin

    def commits(self) -> tuple[str, str]:
        """Return the two commits, that which is used first."""
        (before,), (now,) = self.before.repositories, self.now.repositories
        return before.commit, now.commit


def fetch(name: str, snapshot: str | None = None) -> Held:
    """Bring all files of a snapshot to this machine, and fetch those again that are damaged.

    A tag that points at another commit than it did when the snapshot was first used is a problem, and nothing of that
    commit is fetched.

    Args:
        name: The dataset's name.
        snapshot: The snapshot; the newest when not given.

    Raises:
        UnknownNameError: There is no dataset or snapshot of that name.
        HubError: Files cannot be had.
        InputError: They are no snapshot, or cannot be converted into one.
    """
    found = resolved(name, snapshot)
    if isinstance(found, Path):  # it came with the package: there is nowhere to fetch it from
        return _held(found, None, problems=tuple(verify(found)))
    renewed = tuple(download.renew(found))
    problems, note = _of_tag(found)
    if found.layout == "oct-2024":
        download.originals(found)
        renewed += _discarded(found)
        return _held(converted(found), None, renewed=renewed)
    return _held(download.folder(found, anew=True), cached.cache(), renewed=renewed, problems=problems, note=note)


def moved_tag(name: str, snapshot: str | None = None) -> Moved | None:
    """Return where the tag of a snapshot has been moved; None where it is where it was, or used for the first time.

    Args:
        name: The dataset's name.
        snapshot: The snapshot; the newest when not given.

    Raises:
        UnknownNameError: There is no dataset or snapshot of that name.
        HubError: The Hub does not tell, the tag is gone, or this version of the package says which commit is right.
    """
    found = resolved(name, snapshot)
    if isinstance(found, Path) or known_pin(found.dataset, found.snapshot) is None:
        return None
    commit = moved(found)
    if commit is None:
        return None
    what = f"no other commit can be used for {found}"
    if not commit:
        raise HubError(what, expected="a tag that was moved", got="no such tag", hint="ask whoever published it")
    if not _may_be_accepted(found):
        got, hint = "another tag on the Hub", "install a newer freshstack-datasets"
        raise HubError(what, expected="the commit that this version knows", got=got, hint=hint)
    (at,) = found.repositories
    return Moved(found, replace(found, repositories=(replace(at, commit=commit),)))


def accept(tag: Moved) -> Held:
    """Bring all files of the commit that a tag was moved to, and use it for the snapshot from now on.

    Args:
        tag: The tag, as ``moved_tag`` found it.

    Raises:
        HubError: Files cannot be had; what was used stays in use.
        InputError: They are no snapshot of that name, or nothing can be recorded.
    """
    renewed = tuple(download.renew(tag.now))
    held = _held(download.folder(tag.now, anew=True), cached.cache(), renewed=renewed)
    (at,) = tag.now.repositories
    ledger.replace_commit(at.repository, tag.now.snapshot, at.commit)
    return held


def _may_be_accepted(pin: Pin) -> bool:
    """Tell whether a snapshot's commit is known by its record alone, and not from the catalog."""
    entry = catalog.published(pin.dataset).get(pin.snapshot)
    return entry is None or entry.commit is None


def _discarded(pin: Pin) -> tuple[str, ...]:
    """Remove what was made of the originals if it is damaged, so that it is made again, and return the damaged files.

    Raises:
        InputError: It cannot be removed.
    """
    folder = converted_folder(pin)
    if not os.path.lexists(folder):
        return ()
    try:
        damaged = sorted({problem.file for problem in verify(folder)})
    except SnapshotError:
        damaged = [FILE]
    try:
        if damaged:
            shutil.rmtree(folder)
    except OSError as error:
        what = f"{shown_path(folder)} is damaged and cannot be removed"
        raise InputError(what, got=(error.strerror or str(error)).lower(), hint="remove it by hand") from None
    return tuple(damaged)


def check(name: str, snapshot: str | None = None) -> Held:
    """Look into every file and row of a snapshot, and whether its tag points where it did; what lacks is fetched.

    Args:
        name: The dataset's name.
        snapshot: The snapshot; the newest when not given.

    Raises:
        UnknownNameError: There is no dataset or snapshot of that name.
        HubError: Files are not here and cannot be had.
        InputError: They are no snapshot, or cannot be converted into one.
    """
    found = resolved(name, snapshot)
    if isinstance(found, Path):
        return _held(found, None, problems=tuple(verify(found)))
    problems, note = _of_tag(found)
    if found.layout == "oct-2024":
        folder, root = converted(found), None
    else:
        folder, root = download.parts(found), cached.cache()
    problems += tuple(verify(folder, root=root))
    known = {problem.file for problem in problems if problem.code == "changed-file"}
    message = "is not what it was when it was downloaded"
    others = [Problem("changed-file", path, "", message) for _, path in download.changed(found) if path not in known]
    return _held(folder, root, problems=(*problems, *others), note=note)


def check_folder(folder: Path, snapshot: str | None = None) -> Held:
    """Look into every file and row of a snapshot in a folder.

    Args:
        folder: The folder.
        snapshot: The snapshot that it must be; any when not given.

    Raises:
        SnapshotError: It is no snapshot, or another one.
    """
    held = _held(folder, None, problems=tuple(verify(folder)))
    if snapshot not in (None, held.manifest.snapshot):
        raise SnapshotError(f"{folder}: snapshot", expected=shown(snapshot), got=held.manifest.snapshot)
    return held


def _of_tag(pin: Pin) -> tuple[tuple[Problem, ...], str]:
    """Return what is wrong with a snapshot's tag, and why that could not be looked at."""
    if known_pin(pin.dataset, pin.snapshot) is None:  # used for the first time, the tag was just asked for
        return (), ""
    try:
        now = moved(pin)
    except FreshStackError as error:  # what is here can be looked through all the same
        return (), f"where the tag {pin.snapshot} points was not looked at: {error.got or error}"
    if now is None:
        return (), ""
    (at,) = pin.repositories
    got = f"{now[:12]}, which is not used" if now else "no such tag"
    message = f"expected commit {at.commit[:12]}, as when it was first used, got {got}"
    if now and _may_be_accepted(pin):
        message += f"; if its publisher says that this is right: freshstack download {pin} --accept-moved"
    return (Problem("moved-tag", at.repository, pin.snapshot, message),), ""


def _held(
    folder: Path,
    root: Path | None,
    *,
    renewed: tuple[str, ...] = (),
    problems: tuple[Problem, ...] = (),
    note: str = "",
) -> Held:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return Held(read_manifest(folder, root), folder, size, renewed, problems, note)


def listed() -> tuple[list[Listed], dict[str, SnapshotError]]:
    """Return every snapshot that is known or on this machine, by dataset, the newest first; the Hub is not asked.

    Returns:
        The snapshots; and by dataset what is wrong with one that came with the package and cannot be read.
    """
    known, broken = catalog.listed()
    found = {(entry.dataset, entry.name): entry for entry in known}
    for name, snapshot in [*found]:
        pin = known_pin(name, snapshot)
        if pin is not None and pin.layout == "oct-2024":
            folder = converted_folder(pin)
            if is_file_below(folder / FILE, folder):
                found[name, snapshot] = _listed(name, snapshot, folder, None)
    for name in {*catalog.full_names(), *ledger.repositories()}:
        for snapshot, commit in cached.snapshots(name).items():
            if not found.get((name, snapshot), _NOT_HERE).cached:
                found[name, snapshot] = _listed(name, snapshot, cached.folder_of(name, commit), cached.cache())
    newest_first = sorted(found.values(), key=lambda entry: snapshot_order(entry.name), reverse=True)
    return sorted(newest_first, key=lambda entry: entry.dataset), broken


_NOT_HERE = Listed(dataset="", name="", cached=False, bytes=None)


def _listed(name: str, snapshot: str, folder: Path, root: Path | None) -> Listed:
    """Return a list's entry for a snapshot that is in a folder, or a part of it."""
    try:
        held = _held(folder, root)
    except SnapshotError:
        return Listed(dataset=name, name=snapshot, cached=False, bytes=None)
    paths = [file.path for table in (*FIRST, CORPUS.name) for file in held.manifest.table_files(table)]
    whole = all((folder / path).is_file() for path in paths)
    return Listed(dataset=name, name=snapshot, cached=whole, bytes=held.bytes)
